/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least that a scan of a tree can do: read every directory by its
 * descriptor, and open, read 64 bytes of and close every regular file.  One
 * thread, one file system, no links.  It prints how many files it read.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	RAW_BYTES = 64 << 10, /* of one getdents64 call */
	HEAD = 64             /* bytes of a file */
};

struct scan {
	dev_t dev;
	uint64_t files;
	uint64_t read; /* bytes, so that the reads count for something */
};

static void
one_file(struct scan *s, int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char head[HEAD];
	ssize_t n;

	if (fd == -1)
		return;
	n = pread(fd, head, sizeof head, 0);
	if (n > 0)
		s->read += (uint64_t)n;
	s->files++;
	(void)close(fd);
}

/* Takes the descriptor; -1, and another file system, is passed over. */
static void
one_dir(struct scan *s, int fd)
{
	struct stat st;
	ssize_t n;
	char *raw;

	if (fd == -1)
		return;
	raw = malloc(RAW_BYTES);
	if (raw == NULL || fstat(fd, &st) != 0 || st.st_dev != s->dev)
		goto out;
	while ((n = getdents64(fd, raw, RAW_BYTES)) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *de = (const void *)(raw + at);

			at += de->d_reclen;
			if (de->d_type == DT_REG)
				one_file(s, fd, de->d_name);
			else if (de->d_type == DT_DIR &&
			         strcmp(de->d_name, ".") != 0 &&
			         strcmp(de->d_name, "..") != 0)
				one_dir(s,
				        openat(fd, de->d_name,
				               O_RDONLY | O_DIRECTORY |
				                       O_CLOEXEC | O_NOFOLLOW));
		}
	}
out:
	free(raw);
	(void)close(fd);
}

int
main(int argc, char **argv)
{
	struct scan s = { 0 };
	struct stat st;
	int fd;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: floor DIRECTORY\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1 || fstat(fd, &st) != 0) {
		perror(argv[1]);
		return 2;
	}
	s.dev = st.st_dev;
	one_dir(&s, fd);
	(void)printf("%ju files, %ju bytes\n", (uintmax_t)s.files,
	             (uintmax_t)s.read);
	return fflush(stdout) == 0 ? 0 : 2;
}
