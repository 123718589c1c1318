/* SPDX-License-Identifier: BSD-2-Clause */
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The numbers are the same on all architectures since Linux 5.13. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self  446
#endif

enum {
	CREATE_VERSION = 1 << 0, /* flag: only tell the ABI */
	FS_READ_FILE = 1 << 2,
	FS_READ_DIR = 1 << 3,
	FS_TRUNCATE = 1 << 14
};

/* Kernels before ABI 4 know `fs` only, but take more when it is 0. */
struct ruleset_attr {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

/* What each ABI added to the rights that a ruleset can handle. */
struct step {
	int abi;
	struct ruleset_attr added;
};

/* clang-format off */
static const struct step steps[] = {
	{ 1, { 0x1fff, 0, 0 } }, /* execute, read, write, remove, make */
	{ 2, { 1 << 13, 0, 0 } }, /* link or rename across directories */
	{ 3, { 1 << 14, 0, 0 } }, /* truncate */
	{ 4, { 0, 0x3, 0 } },     /* TCP bind and connect */
	{ 5, { 1 << 15, 0, 0 } }, /* ioctl on devices */
	{ 6, { 0, 0, 0x3 } },     /* abstract sockets, signals */
};
/* clang-format on */

int
dp_landlock_abi(void)
{
	long abi =
		syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);

	return abi > 0 ? (int)abi : 0;
}

static struct ruleset_attr
handled(int abi)
{
	struct ruleset_attr a = { 0, 0, 0 };

	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		if (steps[i].abi > abi)
			break;
		a.fs |= steps[i].added.fs;
		a.net |= steps[i].added.net;
		a.scoped |= steps[i].added.scoped;
	}
	return a;
}

bool
dp_landlock_enter(bool read_all, struct dp_err *e)
{
	struct ruleset_attr a = handled(dp_landlock_abi());
	bool ok = false;
	int fd;

	/*
	 * What is not handled stays allowed, at no cost.  A rule that grants
	 * reading below "/" would be looked for along the whole path of each
	 * file opened, and makes opening a third dearer; so would truncation,
	 * which every open asks for, and which the filter refuses.
	 */
	if (read_all)
		a.fs &= ~(uint64_t)(FS_READ_FILE | FS_READ_DIR | FS_TRUNCATE);
	fd = (int)syscall(SYS_landlock_create_ruleset, &a, sizeof a, 0);
	if (fd < 0)
		return dp_err_errno(e, errno, "Landlock ruleset");
	if (syscall(SYS_landlock_restrict_self, fd, 0) != 0) {
		(void)dp_err_errno(e, errno, "Landlock");
		goto out;
	}
	ok = true;
out:
	(void)close(fd);
	return ok;
}
