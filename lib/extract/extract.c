/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file is, and who reads it. */
#include "extract/extract.h"

#include <errno.h>
#include <stdlib.h>

#include "base/limits.h"
#include "elf/archive.h"
#include "elf/gate.h"
#include "extract/state.h"

enum {
	MAX_ARCHIVES = 3,  /* archives inside archives */
	MAX_KEPT = 1 << 20 /* of a buffer, from one file to the next */
};

bool
dp_extract_nomem(struct dp_err *e)
{
	return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
}

struct dp_extractor *
dp_extractor_create(const struct dp_extract_opts *opts, struct dp_writer *out)
{
	struct dp_extractor *x = calloc(1, sizeof *x);

	if (x == NULL)
		return NULL;
	x->opts = opts;
	x->out = out;
	return x;
}

void
dp_extractor_destroy(struct dp_extractor *x)
{
	if (x == NULL)
		return;
	dp_buf_deinit(&x->scratch);
	dp_buf_deinit(&x->head);
	dp_buf_deinit(&x->data);
	dp_buf_deinit(&x->name);
	dp_buf_deinit(&x->text);
	dp_buf_deinit(&x->id);
	dp_buf_deinit(&x->key);
	dp_buf_deinit(&x->label);
	dp_strmap_deinit(&x->sent);
	dp_vec_deinit(&x->biases);
	dp_vec_deinit(&x->loads);
	free(x);
}

uint64_t
dp_extractor_found(const struct dp_extractor *x)
{
	return x->found;
}

uint64_t
dp_extractor_errors(const struct dp_extractor *x)
{
	return x->errors;
}

static bool
put_error(struct dp_extractor *x, struct dp_bytes input,
          enum dp_word_reach reach, const struct dp_err *what, struct dp_err *e)
{
	x->errors++;
	if (x->opts->complain != NULL)
		x->opts->complain(x->opts->ctx, input, what);
	return dp_put_err(x->out, input, reach, what, e);
}

bool
dp_extract_error(struct dp_extractor *x, struct dp_bytes input,
                 const struct dp_err *what, struct dp_err *e)
{
	return put_error(x, input, DPR_REACH_OBJECT, what, e);
}

bool
dp_image_complain(struct dp_extractor *x, const struct dp_image *im,
                  enum dp_word_reach reach, const struct dp_err *what,
                  struct dp_err *e)
{
	struct dp_buf *b = &x->label;

	if (what->code == DP_ENOMEM) {
		*e = *what;
		return false;
	}
	if (im->member.n == 0)
		return put_error(x, im->in->path, reach, what, e);
	b->n = 0;
	if (!dp_buf_add(b, im->in->path.p, im->in->path.n) ||
	    !dp_buf_str(b, "(") || !dp_buf_add(b, im->member.p, im->member.n) ||
	    !dp_buf_str(b, ")"))
		return dp_extract_nomem(e);
	return put_error(x, dp_buf_bytes(b), reach, what, e);
}

static int64_t
nanoseconds(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool
dp_image_object(const struct dp_image *im, struct dp_rec_object *o_ret,
                struct dp_err *e)
{
	size_t longest =
		im->in->path.n > im->member.n ? im->in->path.n : im->member.n;
	struct stat st;

	if (longest > DP_MAX_STR)
		return dp_err_set(e, DP_ELIMIT, DP_NOOFF, "name of %zu bytes",
		                  longest);
	if (fstat(im->in->fd, &st) != 0)
		return dp_err_errno(e, errno, "fstat");
	*o_ret = (struct dp_rec_object){
		.dev = st.st_dev,
		.ino = st.st_ino,
		.size = im->src.size == DP_SRC_UNKNOWN ? (uint64_t)st.st_size
		                                       : im->src.size,
		.member_off = im->src.off,
		.mtime_ns = nanoseconds(st.st_mtim),
		.ctime_ns = nanoseconds(st.st_ctim),
		.order = DPR_ORDER_NONE,
		.origin = DPR_ORIGIN_FILE,
		.deleted = im->in->deleted,
		.path = im->in->path,
		.member = im->member,
	};
	return true;
}

bool
dp_image_end(struct dp_extractor *x, const struct dp_image *im,
             struct dp_err *e)
{
	const struct dp_rec_object_end end = { 0 };

	if (im->nraw != 0)
		x->found++;
	return dp_put_object_end(x->out, &end, e);
}

static bool one_image(struct dp_extractor *x, struct dp_image *im,
                      struct dp_err *e);

/*
 * Members one by one; a broken one ends the archive, not what came before.
 */
static bool /* NOLINTNEXTLINE(misc-no-recursion): MAX_ARCHIVES deep at most */
read_archive(struct dp_extractor *x, struct dp_image *im, struct dp_err *e)
{
	struct dp_buf name = { 0 }, head = { 0 };
	struct dp_err what = DP_ERR_INIT;
	struct dp_ahead ahead = { 0 };
	struct dp_ar_member m;
	struct dp_ar ar = { 0 };
	bool more = false, ok = true;

	im->src.ahead = &ahead;
	if (!dp_ar_open(&ar, &im->src, &what))
		goto out;
	while (ok && dp_ar_next(&ar, &m, &more, &what) && more) {
		struct dp_image member = { .in = im->in,
			                   .src = dp_ar_src(&ar, &m),
			                   .depth = im->depth + 1 };

		name.n = head.n = 0;
		if ((im->member.n != 0 &&
		     (!dp_buf_add(&name, im->member.p, im->member.n) ||
		      !dp_buf_str(&name, "/"))) ||
		    !dp_buf_add(&name, m.name.p, m.name.n)) {
			ok = dp_extract_nomem(e);
			break;
		}
		if (m.head.n != 0 ? !dp_buf_add(&head, m.head.p, m.head.n)
		                  : !dp_src_some(&member.src, 0, &head,
		                                 DP_GATE_HEAD, &what))
			break;
		member.member = dp_buf_bytes(&name);
		member.head = dp_buf_bytes(&head);
		ok = one_image(x, &member, e);
	}
out:
	dp_ar_close(&ar);
	im->src.ahead = NULL;
	dp_buf_deinit(&ahead.buf);
	dp_buf_deinit(&name);
	dp_buf_deinit(&head);
	if (!ok || what.code == DP_OK)
		return ok;
	return dp_image_complain(x, im, DPR_REACH_OBJECT, &what, e);
}

/* A file of bare DOF is an object of its own. */
static bool
read_bare(struct dp_extractor *x, struct dp_image *im, struct dp_err *e)
{
	const struct dp_rec_rawdof first = { 0 };
	struct dp_err what = DP_ERR_INIT;
	struct dp_rec_object o;

	if (!(x->opts->sources & DP_EXTRACT_DOF))
		return true;
	if (!dp_src_measure(&im->src, &what) ||
	    !dp_src_load(&im->src, 0, im->src.size, &x->data, &what) ||
	    !dp_image_object(im, &o, &what))
		return dp_image_complain(x, im, DPR_REACH_OBJECT, &what, e);
	return dp_put_object(x->out, &o, e) &&
	       dp_put_dofs(x, im, &first, NULL, e) && dp_image_end(x, im, e);
}

/* What the gate must have found for each source. */
static unsigned
wanted(unsigned sources, unsigned flags)
{
	unsigned want = 0;

	if (sources & DP_EXTRACT_DOF)
		want |= DP_GATE_DOF | DP_GATE_NOSHDR;
	if (sources & DP_EXTRACT_STAPSDT)
		want |= DP_GATE_SDT;
	if (sources & DP_EXTRACT_USDT)
		want |= DP_GATE_USDT;
	return want & flags;
}

static bool
read_elf(struct dp_extractor *x, struct dp_image *im, struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;
	unsigned flags = 0;

	if (!dp_gate(&im->src, im->head, &x->scratch, &flags, &what))
		return dp_image_complain(x, im, DPR_REACH_OBJECT, &what, e);
	flags = wanted(x->opts->sources, flags);
	if (flags == 0 && !x->opts->empty)
		return true;
	return dp_extract_elf(x, im, flags, e);
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): read_archive() ends it */
one_image(struct dp_extractor *x, struct dp_image *im, struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;

	switch (dp_magic_of(im->head)) {
	case DP_MAGIC_ELF:
		return read_elf(x, im, e);
	case DP_MAGIC_AR:
		if (im->depth < MAX_ARCHIVES)
			return read_archive(x, im, e);
		(void)dp_err_set(&what, DP_ELIMIT, 0,
		                 "more than %d archives in each other",
		                 MAX_ARCHIVES);
		break;
	case DP_MAGIC_MACHO:
		return dp_extract_macho(x, im, e);
	case DP_MAGIC_FAT:
		return dp_extract_fat(x, im, e);
	case DP_MAGIC_DOF:
		return read_bare(x, im, e);
	case DP_MAGIC_AR_THIN:
		if (!im->in->named || im->depth != 0)
			return true;
		(void)dp_err_set(&what, DP_EUNSUP, DP_NOOFF,
		                 "thin archive: give its members, they are "
		                 "files of their own");
		break;
	default:
		if (!im->in->named || im->depth != 0)
			return true;
		(void)dp_err_set(&what, DP_EFORMAT, 0,
		                 "not an ELF, Mach-O, archive or DOF");
	}
	return dp_image_complain(x, im, DPR_REACH_OBJECT, &what, e);
}

/* One large file must not cost its memory for ever, in every thread. */
static void
shed(struct dp_extractor *x)
{
	struct dp_buf *const bufs[] = { &x->scratch, &x->head, &x->data,
		                        &x->name,    &x->text, &x->label };

	for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++)
		if (bufs[i]->cap > MAX_KEPT)
			dp_buf_deinit(bufs[i]);
}

bool
dp_extract_file(struct dp_extractor *x, const struct dp_extract_input *in,
                struct dp_err *e)
{
	struct dp_image im = {
		.in = in,
		.src = dp_src_fd(in->fd, 0, DP_SRC_UNKNOWN),
		.head = in->head,
	};
	struct stat st;
	bool ok;

	if (in->only_dev && fstat(in->fd, &st) == 0 && st.st_dev != in->dev)
		return true; /* a file mounted over one of the tree */
	ok = one_image(x, &im, e);
	shed(x);
	return ok;
}

/* The last part of a path; "[heap]" and its like are none. */
static struct dp_bytes
memory_module(struct dp_bytes path)
{
	if (path.n != 0 && path.p[0] == '/') {
		const uint8_t *slash = memrchr(path.p, '/', path.n);

		path.n -= (size_t)(slash + 1 - path.p);
		path.p = slash + 1;
	}
	return path;
}

bool
dp_extract_memory(struct dp_extractor *x, const struct dp_memory_dof *m,
                  struct dp_err *e)
{
	const struct dp_rec_rawdof dof = { .vaddr = m->addr,
		                           .bytes = m->bytes };
	struct dp_rec_object o = {
		.size = m->bytes.n,
		.order = DPR_ORDER_NONE,
		.origin = DPR_ORIGIN_MEMORY,
		.path = m->path,
	};
	struct dp_rec_helper h = {
		.start_time = m->live.start_time,
		.dof = m->addr,
		.pidns = m->live.pidns,
		.pid = m->live.pid,
		.nspid = m->live.nspid,
		.module = memory_module(m->path),
	};
	struct dp_image im = { .nraw = 1 };

	return dp_put_object(x->out, &o, e) && dp_put_rawdof(x->out, &dof, e) &&
	       dp_put_helper(x->out, &h, e) && dp_image_end(x, &im, e);
}
