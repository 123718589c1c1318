/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/openreg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

int
dp_open_regular(int pathfd, struct stat *st_ret)
{
	char name[64];
	struct stat st;
	int fd;

	if (fstat(pathfd, &st) != 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	(void)snprintf(name, sizeof name, "/proc/self/fd/%d", pathfd);
	do
		fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd >= 0)
		*st_ret = st;
	return fd;
}
