/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that a process has mapped, each with all its mappings, and how
 * to open them: deleted ones, memfds and files of other mount namespaces
 * too.  What an object holds (ELF or not) is not looked at here.
 */
#ifndef DP_OBJECTS_H
#define DP_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "proc/maps.h"
#include "proc/process.h"

/* One mapped file of one process; all is borrowed from its dp_objects. */
struct dp_object {
	uint64_t dev;              /* as the maps say it, see dp_map.dev */
	uint64_t ino;              /* never 0 */
	struct dp_bytes path;      /* as the kernel prints it for this process;
	                            * NUL follows; no " (deleted)" of the kernel */
	bool deleted;              /* no longer reachable under that path */
	bool exec;                 /* at least one mapping is executable */
	const struct dp_map *maps; /* nmaps of them, ascending by start; the
	                            * path of these is empty */
	size_t nmaps;              /* at least 1 */
};

/* All objects of one process; dp_objects_deinit() frees. */
struct dp_objects {
	struct dp_vec objs;  /* struct dp_object, by lowest mapping */
	struct dp_vec maps;  /* struct dp_map, what the objects point into */
	struct dp_buf names; /* what the paths point into */
	size_t nbad;         /* lines that were not understood */
	uint64_t bad_off;    /* offset of the first of them, or DP_NOOFF */
};

enum dp_objects_flag {
	DP_OBJECTS_ALL = 1 /* those without an executable mapping, too */
};

/*
 * Group a maps text.  Pure: `deleted` is what the text says.  Lines that
 * cannot be read are counted; the rest is used.  Fails only for want of
 * memory or past DP_MAX_MAPS lines; *o_ret is untouched then.
 */
bool dp_objects_parse(struct dp_bytes maps, unsigned flags,
                      struct dp_objects *o_ret, struct dp_err *e);

/*
 * For each object whose path ends in " (deleted)", ask the file system of
 * the process: a file of exactly that name with the inode of the mapping
 * means that this is its name and nothing is deleted; anything else,
 * missing permission included, leaves it deleted and the path cut.
 */
void dp_objects_confirm(const struct dp_process *p, struct dp_objects *o);

/* dp_process_maps(), dp_objects_parse() and dp_objects_confirm() in one. */
bool dp_objects_read(const struct dp_process *p, unsigned flags,
                     struct dp_objects *o_ret, struct dp_err *e);
void dp_objects_deinit(struct dp_objects *o);

/* The way that led to an open object. */
enum dp_object_via {
	DP_VIA_MAP_FILES, /* /proc/PID/map_files/START-END */
	DP_VIA_EXE,       /* /proc/PID/exe */
	DP_VIA_ROOT,      /* /proc/PID/root and the path */
	DP_VIA_PATH       /* the path, in the same mount namespace: a chroot
	                   * shortens the root but not what the maps print */
};

/* An opened object; the fd belongs to the caller. */
struct dp_object_file {
	int fd; /* O_RDONLY, close on exec, a regular file */
	enum dp_object_via via;
	bool dev_differs; /* accepted by the second rule below */
	struct stat st;   /* of fd */
};

/*
 * True if `st` is the file of object `o`: a regular file with the inode of
 * the maps, and either
 *   1. the device of the maps, or
 *   2. another device, when one of the two is an anonymous one (major 0:
 *      btrfs shows stat another device for each subvolume, overlayfs may
 *      show the maps the layer's device) and the file, rounded up to pages,
 *      holds each mapped range.
 * This keeps out a namesake that took the path; a full proof is for the
 * build-id.  *differs_ret says that it took the second rule.
 */
bool dp_object_is(const struct dp_object *o, const struct stat *st,
                  bool *differs_ret);

/*
 * Open the file of object `o`.  Ways are tried in the order of the enum,
 * and what each finds must pass dp_object_is(); map_files needs
 * CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN.  A file is looked at with
 * O_PATH before it is opened, so no FIFO or device is ever opened.
 * On failure *f_ret is untouched and `e` holds the reason of the last way
 * that said more than "not found".
 */
bool dp_object_open(const struct dp_process *p, const struct dp_object *o,
                    struct dp_object_file *f_ret, struct dp_err *e);

#endif /* DP_OBJECTS_H */
