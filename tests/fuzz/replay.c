/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzz target over files and directories, with any compiler: what a
 * fuzzer has found stays found.  Each input is in a heap block of exactly
 * its size, so that a sanitizer or valgrind sees what is read behind it.
 */
#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { OPEN_DIRS = 32 };

static unsigned long inputs; /* nftw() gives its callback no argument */

/* False with errno when the file cannot be read whole. */
static bool
run_file(const char *path, size_t size)
{
	uint8_t *p = malloc(size != 0 ? size : 1);
	FILE *f = fopen(path, "rb");
	bool ok = p != NULL && f != NULL && fread(p, 1, size, f) == size;

	if (ok) {
		(void)LLVMFuzzerTestOneInput(p, size);
		inputs++;
	}
	if (f != NULL)
		(void)fclose(f);
	free(p);
	return ok;
}

static int
visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_DNR || type == FTW_NS) {
		fprintf(stderr, "replay: %s: not readable\n", path);
		return 1;
	}
	if (type != FTW_F || !S_ISREG(st->st_mode))
		return 0;
	if (run_file(path, (size_t)st->st_size))
		return 0;
	fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
	return 1;
}

int
main(int argc, char **argv)
{
	const uint8_t nothing[1] = { 0 };

	if (argc < 2) {
		fprintf(stderr, "usage: %s FILE|DIRECTORY...\n", argv[0]);
		return 2;
	}
	(void)LLVMFuzzerTestOneInput(nothing, 0);
	for (int i = 1; i < argc; i++) {
		errno = 0;
		if (nftw(argv[i], visit, OPEN_DIRS, FTW_PHYS) != 0) {
			fprintf(stderr, "replay: %s: %s\n", argv[i],
			        errno != 0 ? strerror(errno) : "given up");
			return 2;
		}
	}
	printf("%lu inputs\n", inputs);
	return inputs == 0;
}
