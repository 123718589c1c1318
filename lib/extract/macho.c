/* SPDX-License-Identifier: BSD-2-Clause */
/* A Mach-O image, or the slices of a fat one, to the records of objects. */
#include <elf.h>

#include "base/limits.h"
#include "extract/state.h"
#include "usdt/macho.h"

/* Header and load commands into x->scratch. */
static bool
load_commands(struct dp_extractor *x, struct dp_image *im, struct dp_macho *m,
              struct dp_err *what)
{
	uint64_t n = 0;

	return dp_src_measure(&im->src, what) &&
	       dp_macho_size(im->head, &n, what) &&
	       dp_src_load(&im->src, 0, n, &x->scratch, what) &&
	       dp_macho_open(dp_buf_bytes(&x->scratch), m, what);
}

/* MH_OBJECT and so on as the ELF types that mean the same. */
static uint16_t
elf_type(uint32_t filetype)
{
	switch (filetype) {
	case 1:
		return ET_REL;
	case 2:
		return ET_EXEC;
	case 6:
	case 8:
		return ET_DYN;
	default:
		return ET_NONE;
	}
}

static bool
has_dof(const struct dp_macho *m, struct dp_err *what)
{
	struct dp_macho_it it = dp_macho_iter(m);
	struct dp_macho_item item;
	bool more = false;

	while (dp_macho_next(&it, &item, &more, what) && more)
		if (item.kind == DP_MACHO_SECTION && item.is_dof &&
		    item.size != 0)
			return true;
	return false;
}

static bool
put_object(struct dp_extractor *x, const struct dp_macho *m,
           const struct dp_rec_object *fs, struct dp_err *e)
{
	struct dp_macho_it it = dp_macho_iter(m);
	struct dp_err what = DP_ERR_INIT; /* the items will tell */
	struct dp_rec_object o = *fs;
	struct dp_macho_item item;
	bool more = false;

	o.machine = m->machine;
	o.e_type = elf_type(m->filetype);
	o.class = m->word == 4 ? 32 : 64;
	o.format = DPR_FORMAT_MACHO;
	o.order = m->order == DP_BE ? DPR_ORDER_MSB : DPR_ORDER_LSB;
	while (dp_macho_next(&it, &item, &more, &what) && more) {
		if (item.kind == DP_MACHO_UUID)
			o.build_id = item.text;
		else if (item.kind == DP_MACHO_ID_DYLIB &&
		         item.text.n <= DP_MAX_STR)
			o.soname = item.text;
	}
	return dp_put_object(x->out, &o, e);
}

static bool
put_segment(struct dp_extractor *x, const struct dp_macho_item *s,
            struct dp_err *e)
{
	struct dp_rec_segment r = {
		.vaddr = s->addr,
		.fileoff = s->off,
		.filesz = s->size,
		.memsz = s->vmsize,
		.p_type = PT_LOAD,
		/* Mach: read 1, write 2, execute 4 */
		.flags = (s->initprot & 1 ? PF_R : 0) |
		         (s->initprot & 2 ? PF_W : 0) |
		         (s->initprot & DP_MACHO_PROT_X ? PF_X : 0),
	};

	return dp_put_segment(x->out, &r, e);
}

static bool
put_section(struct dp_extractor *x, struct dp_image *im,
            const struct dp_macho_item *s, struct dp_err *e)
{
	struct dp_rec_rawdof first = { .vaddr = s->addr, .fileoff = s->off };
	struct dp_err what = DP_ERR_INIT;

	x->name.n = 0;
	if (!dp_buf_add(&x->name, s->segname.p, s->segname.n) ||
	    !dp_buf_str(&x->name, ",") ||
	    !dp_buf_add(&x->name, s->sectname.p, s->sectname.n))
		return dp_extract_nomem(e);
	first.section = dp_buf_bytes(&x->name);
	if (!dp_src_load(&im->src, s->off, s->size, &x->data, &what))
		return dp_image_complain(x, im, DPR_REACH_DOF, &what, e);
	return dp_put_dofs(x, im, &first, NULL, e);
}

/* Segments first: the sites of a DOF may lie in any of them. */
static bool
put_items(struct dp_extractor *x, struct dp_image *im, const struct dp_macho *m,
          enum dp_macho_kind kind, struct dp_err *e)
{
	struct dp_macho_it it = dp_macho_iter(m);
	struct dp_err what = DP_ERR_INIT;
	struct dp_macho_item item;
	bool more = false, ok = true;

	while (ok && dp_macho_next(&it, &item, &more, &what) && more) {
		if (item.kind != kind)
			continue;
		if (kind == DP_MACHO_SEGMENT)
			ok = put_segment(x, &item, e);
		else if (item.is_dof && item.size != 0)
			ok = put_section(x, im, &item, e);
	}
	if (!ok || what.code == DP_OK || kind == DP_MACHO_SEGMENT)
		return ok; /* the second pass tells of it */
	return dp_image_complain(x, im, DPR_REACH_OBJECT, &what, e);
}

bool
dp_extract_macho(struct dp_extractor *x, struct dp_image *im, struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;
	struct dp_rec_object o;
	struct dp_macho m;
	bool some;

	if (!load_commands(x, im, &m, &what))
		return dp_image_complain(x, im, DPR_REACH_OBJECT, &what, e);
	some = (x->opts->sources & DP_EXTRACT_DOF) && has_dof(&m, &what);
	if (!some && what.code != DP_OK)
		return dp_image_complain(x, im, DPR_REACH_OBJECT, &what, e);
	if (!some && !x->opts->empty)
		return true;
	if (!dp_image_object(im, &o, &what))
		return dp_image_complain(x, im, DPR_REACH_OBJECT, &what, e);
	return put_object(x, &m, &o, e) &&
	       put_items(x, im, &m, DP_MACHO_SEGMENT, e) &&
	       put_items(x, im, &m, DP_MACHO_SECTION, e) &&
	       dp_image_end(x, im, e);
}

static const char *
slice_name(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86_64";
	case EM_386:
		return "i386";
	case EM_AARCH64:
		return "arm64";
	case EM_ARM:
		return "arm";
	case EM_PPC:
		return "ppc";
	case EM_PPC64:
		return "ppc64";
	default:
		return "other";
	}
}

static bool
one_slice(struct dp_extractor *x, const struct dp_image *im,
          const struct dp_fat_slice *s, struct dp_err *e)
{
	struct dp_image slice = {
		.in = im->in,
		.src = dp_src_fd(im->src.fd, im->src.off + s->off, s->size),
		.member = dp_cstr(slice_name(s->machine)),
		.depth = im->depth + 1,
	};
	struct dp_err what = DP_ERR_INIT;

	x->head.n = 0;
	if (!dp_src_some(&slice.src, 0, &x->head, DP_MACHO_HEAD, &what))
		return dp_image_complain(x, &slice, DPR_REACH_OBJECT, &what, e);
	slice.head = dp_buf_bytes(&x->head);
	return dp_extract_macho(x, &slice, e);
}

bool
dp_extract_fat(struct dp_extractor *x, struct dp_image *im, struct dp_err *e)
{
	struct dp_err what = DP_ERR_INIT;
	struct dp_buf table = { 0 };
	uint64_t n = 0;
	struct dp_fat fat;
	bool ok = true;

	if (!dp_src_measure(&im->src, &what) ||
	    !dp_fat_size(im->head, &n, &what) ||
	    !dp_src_load(&im->src, 0, n, &table, &what) ||
	    !dp_fat_open(dp_buf_bytes(&table), &fat, &what)) {
		ok = dp_image_complain(x, im, DPR_REACH_OBJECT, &what, e);
		fat.n = 0;
	}
	for (uint32_t i = 0; ok && i < fat.n; i++) {
		struct dp_fat_slice s;

		what = (struct dp_err)DP_ERR_INIT;
		ok = dp_fat_slice(&fat, i, im->src.size, &s, &what)
		             ? one_slice(x, im, &s, e)
		             : dp_image_complain(x, im, DPR_REACH_OBJECT, &what,
		                                 e);
	}
	dp_buf_deinit(&table);
	return ok;
}
