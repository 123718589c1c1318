/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An object is printed when it is whole: the relocations of a site come
 * behind it, and what is shown is the link-time address.
 */
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "../common/cli.h"
#include "../common/machine.h"
#include "record/resolve.h"

struct text {
	FILE *out;
	struct dp_buf object; /* the records of the open object, binary */
	struct dp_vec at;     /* size_t: where each begins */
	struct dp_vec provs;  /* size_t: provider records, by id */
	struct dp_vec probes; /* size_t: probe records, by id */
	struct dp_vec relocs; /* struct dp_rec_reloc, by id */
	struct dp_vec dofs;   /* uint64_t: vaddr, by id */
	bool wrap32;          /* of the open object */
};

struct text *
text_create(FILE *out)
{
	struct text *t = calloc(1, sizeof *t);

	if (t != NULL)
		t->out = out;
	return t;
}

void
text_destroy(struct text *t)
{
	if (t == NULL)
		return;
	dp_buf_deinit(&t->object);
	dp_vec_deinit(&t->at);
	dp_vec_deinit(&t->provs);
	dp_vec_deinit(&t->probes);
	dp_vec_deinit(&t->relocs);
	dp_vec_deinit(&t->dofs);
	free(t);
}

static bool
record_at(const struct text *t, size_t at, struct dp_record *rec)
{
	struct dp_bytes b = { t->object.p + at, t->object.n - at };
	struct dp_rd rd = dp_rd_init(b, DP_LE);
	struct dp_err e = DP_ERR_INIT;

	b.n = dp_rd_u32(&rd);
	return dp_record_decode(b, rec, &e);
}

static bool
remember(struct dp_vec *v, size_t at)
{
	size_t *slot = dp_vec_push(v, sizeof *slot);

	if (slot != NULL)
		*slot = at;
	return slot != NULL;
}

/* File one record under what the printing will ask for. */
static bool
index_record(struct text *t, size_t at, const struct dp_record *rec)
{
	struct dp_rec_reloc *reloc;
	uint64_t *vaddr;

	switch (rec->type) {
	case DP_REC_PROVIDER:
		return remember(&t->provs, at);
	case DP_REC_PROBE:
		return remember(&t->probes, at);
	case DP_REC_RELOC:
		reloc = dp_vec_push(&t->relocs, sizeof *reloc);
		if (reloc != NULL)
			*reloc = rec->reloc;
		return reloc != NULL;
	case DP_REC_DOF:
		vaddr = dp_vec_push(&t->dofs, sizeof *vaddr);
		if (vaddr != NULL)
			*vaddr = rec->dof.vaddr;
		return vaddr != NULL;
	default:
		return true;
	}
}

static void
print(struct text *t, struct dp_bytes s)
{
	cli_print(t->out, s);
}

static void
print_object(struct text *t, const struct dp_rec_object *o)
{
	static const char *const types[] = { "", "relocatable", "executable",
		                             "shared" };

	print(t, o->path);
	if (o->member.n != 0) {
		(void)fputc('(', t->out);
		print(t, o->member);
		(void)fputc(')', t->out);
	}
	(void)fprintf(t->out, "  [%s %s%s%s%s%s]\n",
	              dp_word(DP_LIST_format, o->format),
	              machine_name(o->machine, o->class),
	              o->e_type > 0 && o->e_type < 4 ? " " : "",
	              o->e_type < 4 ? types[o->e_type] : "",
	              o->origin == DPR_ORIGIN_MEMORY ? ", memory" : "",
	              o->deleted ? ", deleted" : "");
}

static uint64_t
resolved(const struct text *t, uint64_t value, uint32_t first, uint32_t n)
{
	const struct dp_rec_reloc *r;
	struct dp_bases link = { .wrap32 = t->wrap32 };

	if (n == 0 || first >= t->relocs.n || n > t->relocs.n - first)
		return value;
	r = DP_VEC_AT(&t->relocs, struct dp_rec_reloc, first);
	if (r->dof < t->dofs.n)
		link.dof = *DP_VEC_AT(&t->dofs, uint64_t, r->dof);
	return dp_resolve(value, r, n, &link);
}

/* provider:module:function:name, the module being the last path part. */
static void
print_name(struct text *t, struct dp_bytes path, const struct dp_rec_probe *pr)
{
	struct dp_record rec;
	const uint8_t *slash = memrchr(path.p, '/', path.n);

	if (slash != NULL) {
		path.n -= (size_t)(slash + 1 - path.p);
		path.p = slash + 1;
	}
	if (pr->provider < t->provs.n &&
	    record_at(t, *DP_VEC_AT(&t->provs, size_t, pr->provider), &rec))
		print(t, rec.provider.name);
	(void)fputc(':', t->out);
	print(t, path);
	(void)fputc(':', t->out);
	print(t, pr->function);
	(void)fputc(':', t->out);
	print(t, pr->name);
}

static void
print_types(struct text *t, const struct dp_strs *types)
{
	struct dp_bytes s;

	(void)fputs(" (", t->out);
	for (size_t at = 0; dp_strs_next(types, &at, &s);) {
		print(t, s);
		if (at < types->run.n)
			(void)fputs(", ", t->out);
	}
	(void)fputc(')', t->out);
}

static void
print_site(struct text *t, struct dp_bytes path, const struct dp_rec_site *s)
{
	struct dp_bytes args;
	struct dp_record probe;

	if (s->probe >= t->probes.n ||
	    !record_at(t, *DP_VEC_AT(&t->probes, size_t, s->probe), &probe))
		return;
	(void)fprintf(t->out, "  0x%" PRIx64 " %s ",
	              resolved(t, s->addr, s->reloc, s->nreloc),
	              dp_word(DP_LIST_sitekind, s->kind));
	print_name(t, path, &probe.probe);
	if (probe.probe.translated.n != 0)
		print_types(t, &probe.probe.translated);
	args = s->args;
	while (args.n != 0 && args.p[args.n - 1] == ' ')
		args.n--;
	if (args.n != 0) {
		(void)fputc(' ', t->out);
		print(t, args);
	}
	if (s->sem_nreloc != 0)
		(void)fprintf(t->out, " semaphore 0x%" PRIx64,
		              resolved(t, s->sem, s->sem_reloc, s->sem_nreloc));
	if (!s->attachable) {
		(void)fputs(" [", t->out);
		print(t, s->why);
		(void)fputc(']', t->out);
	}
	(void)fputc('\n', t->out);
}

static void
print_helper(struct text *t, const struct dp_rec_helper *h)
{
	(void)fprintf(t->out, "  pid %" PRIu32 " bias 0x%" PRIx64 "\n", h->pid,
	              h->addr);
}

static void
print_reason(struct text *t, const struct dp_rec_error *r)
{
	if (r->offset != DP_NOOFF)
		(void)fprintf(t->out, "at 0x%" PRIx64 ": ", r->offset);
	print(t, r->message);
	(void)fputc('\n', t->out);
}

static void
print_error(struct text *t, const struct dp_rec_error *r)
{
	(void)fputs("  error: ", t->out);
	print_reason(t, r);
}

/* One that belongs to no object says of what input it speaks. */
static void
print_error_outside(struct text *t, const struct dp_rec_error *r)
{
	(void)fputs("error: ", t->out);
	if (r->input.n != 0) {
		print(t, r->input);
		(void)fputs(": ", t->out);
	}
	print_reason(t, r);
}

static void
print_all(struct text *t)
{
	struct dp_bytes path = { (const uint8_t *)"", 0 };
	struct dp_record rec;

	for (size_t i = 0; i < t->at.n; i++) {
		if (!record_at(t, *DP_VEC_AT(&t->at, size_t, i), &rec))
			continue;
		switch (rec.type) {
		case DP_REC_OBJECT:
			path = rec.object.path;
			print_object(t, &rec.object);
			break;
		case DP_REC_SITE:
			print_site(t, path, &rec.site);
			break;
		case DP_REC_HELPER:
			print_helper(t, &rec.helper);
			break;
		case DP_REC_ERROR:
			print_error(t, &rec.error);
			break;
		default:
			break;
		}
	}
}

static void
reset(struct text *t)
{
	t->object.n = 0;
	t->at.n = t->provs.n = t->probes.n = t->relocs.n = t->dofs.n = 0;
}

static bool
take(struct text *t, struct dp_bytes whole, const struct dp_record *rec)
{
	size_t at;

	if (rec->type == DP_REC_OBJECT) {
		reset(t);
		t->wrap32 = rec->object.class == 32;
	}
	if (rec->type == DP_REC_HEADER || rec->type == DP_REC_END)
		return true;
	if (rec->type == DP_REC_ERROR && t->at.n == 0) {
		print_error_outside(t, &rec->error);
		return true;
	}
	at = t->object.n;
	if (!dp_buf_add(&t->object, whole.p, whole.n) ||
	    !remember(&t->at, at) || !index_record(t, at, rec))
		return false;
	if (rec->type == DP_REC_OBJECT_END) {
		print_all(t);
		reset(t);
	}
	return true;
}

bool
text_write(void *ctx, struct dp_bytes b, struct dp_err *e)
{
	struct text *t = ctx;

	while (b.n != 0) { /* a writer hands over whole records */
		struct dp_rd rd = dp_rd_init(b, DP_LE);
		struct dp_bytes whole = { b.p, dp_rd_u32(&rd) };
		struct dp_record rec;

		if (!dp_record_decode(whole, &rec, e))
			return false;
		if (!take(t, whole, &rec))
			return dp_err_set(e, DP_ENOMEM, DP_NOOFF,
			                  "out of memory");
		b.p += whole.n;
		b.n -= whole.n;
	}
	if (fflush(t->out) != 0)
		return dp_err_errno(e, errno, "write");
	return true;
}
