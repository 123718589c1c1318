/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/libver.h"

#include <elfutils/version.h>

int
dp_libelf_version(void)
{
	return _ELFUTILS_VERSION;
}
