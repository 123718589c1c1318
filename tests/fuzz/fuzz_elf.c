/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All of lib/elf on one object or archive: from memory, and every second
 * time (by the length) from a file, which takes another way to the bytes.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/elfexercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct dp_src src = dp_src_mem((struct dp_bytes){ data, n });
	int fd = -1;

	if (n % 2 == 1) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		promise(fd >= 0);
		promise(write(fd, data, n) == (ssize_t)n);
		src = dp_src_fd(fd, 0, DP_SRC_UNKNOWN);
	}
	exercise(&src);
	if (fd >= 0)
		(void)close(fd);
	return 0;
}
