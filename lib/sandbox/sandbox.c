/* SPDX-License-Identifier: BSD-2-Clause */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "sandbox/filter.h"
#include "sandbox/landlock.h"

/* What is done here is done to one thread: others would stay free. */
static bool
alone(struct dp_err *e)
{
	struct stat st;

	/* Links: ".", the entry in the parent, and one a thread. */
	if (stat("/proc/self/task", &st) == 0 && st.st_nlink > 3)
		return dp_err_set(e, DP_EUSAGE, DP_NOOFF,
		                  "sandbox entered with threads running");
	return true;
}

static bool
no_new_privs(struct dp_err *e)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ||
	       dp_err_errno(e, errno, "no_new_privs");
}

bool
dp_sandbox_pipe(struct dp_err *e)
{
	if (!alone(e) || !no_new_privs(e))
		return false;
	if (dp_landlock_abi() > 0 && !dp_landlock_enter(false, e))
		return false;
	return dp_filter_load(DP_FILTER_PIPE, e);
}

bool
dp_sandbox_reader(struct dp_err *e)
{
	if (!alone(e) || !no_new_privs(e))
		return false;
	if (dp_landlock_abi() > 0 && !dp_landlock_enter(true, e))
		return false;
	return dp_filter_load(DP_FILTER_READER, e);
}

/* Needs CAP_SETPCAP; who lacks it cannot gain from the set, see above. */
static bool
drop_bounding(bool keep, struct dp_err *e)
{
	for (int cap = 0; cap_get_bound(cap) >= 0; cap++) {
		if (keep && cap == CAP_DAC_READ_SEARCH)
			continue;
		if (cap_drop_bound(cap) == 0)
			continue;
		if (errno == EPERM)
			return true;
		return dp_err_errno(e, errno, "bounding set");
	}
	return true;
}

static bool
set_caps(bool keep, struct dp_err *e)
{
	const cap_value_t dac = CAP_DAC_READ_SEARCH;
	cap_flag_value_t had = CAP_CLEAR;
	cap_t now = cap_get_proc(), want = cap_init();
	bool ok = false;

	if (now == NULL || want == NULL) {
		(void)dp_err_errno(e, errno, "capabilities");
		goto out;
	}
	if (keep && (cap_get_flag(now, dac, CAP_PERMITTED, &had) != 0 ||
	             cap_set_flag(want, CAP_PERMITTED, 1, &dac, had) != 0 ||
	             cap_set_flag(want, CAP_EFFECTIVE, 1, &dac, had) != 0)) {
		(void)dp_err_errno(e, errno, "CAP_DAC_READ_SEARCH");
		goto out;
	}
	if (cap_set_proc(want) != 0) {
		(void)dp_err_errno(e, errno, "capabilities");
		goto out;
	}
	ok = true;
out:
	(void)cap_free(now);
	(void)cap_free(want);
	return ok;
}

bool
dp_sandbox_drop_caps(bool keep_dac_read, struct dp_err *e)
{
	if (!alone(e) || !no_new_privs(e))
		return false;
	if (!drop_bounding(keep_dac_read, e))
		return false;
	/* Before 4.3 there is no ambient set, and so nothing in it. */
	if (cap_reset_ambient() != 0 && errno != EINVAL)
		return dp_err_errno(e, errno, "ambient set");
	return set_caps(keep_dac_read, e);
}

void
dp_sandbox_query(struct dp_sandbox_state *s_ret)
{
	s_ret->no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
	s_ret->seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
	s_ret->landlock_abi = dp_landlock_abi();
}
