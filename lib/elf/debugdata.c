/* SPDX-License-Identifier: BSD-2-Clause */
/* .gnu_debugdata: a small ELF with symbols, packed with xz. */
#include <elf.h>
#include <lzma.h>

#include "base/limits.h"
#include "elf/debugfile.h"

enum {
	STEP = 64 << 10,
	LZMA_MEMORY = 128 << 20, /* xz -9 needs 65 MiB */
};

/* Unpack until the stream ends. */
static bool
unpack(lzma_stream *s, struct dp_buf *buf, struct dp_err *e)
{
	lzma_ret ret = LZMA_OK;
	size_t room;

	while (ret == LZMA_OK) {
		if (buf->n >= DP_MAX_DEBUGDATA)
			return dp_err_set(e, DP_ELIMIT, DP_NOOFF,
			                  ".gnu_debugdata unpacks to more "
			                  "than %d bytes",
			                  DP_MAX_DEBUGDATA);
		if (!dp_buf_reserve(buf, STEP))
			return dp_err_set(e, DP_ENOMEM, DP_NOOFF,
			                  "out of memory");
		room = DP_MAX_DEBUGDATA - buf->n;
		room = room < buf->cap - buf->n ? room : buf->cap - buf->n;
		s->next_out = buf->p + buf->n;
		s->avail_out = room;
		ret = lzma_code(s, LZMA_FINISH);
		buf->n += room - s->avail_out;
	}
	if (ret == LZMA_STREAM_END)
		return true;
	if (ret == LZMA_MEM_ERROR)
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	if (ret == LZMA_MEMLIMIT_ERROR)
		return dp_err_set(e, DP_ELIMIT, DP_NOOFF,
		                  ".gnu_debugdata needs too much memory");
	return dp_err_set(e, DP_EFORMAT, DP_NOOFF,
	                  ".gnu_debugdata is not whole xz (error %d)",
	                  (int)ret);
}

bool
dp_debugdata_read(const struct dp_elf *elf, struct dp_buf *buf,
                  struct dp_err *e)
{
	const struct dp_elf_sec *sec = dp_elf_sec_named(elf, ".gnu_debugdata");
	lzma_stream s = LZMA_STREAM_INIT;
	struct dp_buf packed = { 0 };
	bool ok = false;

	buf->n = 0;
	if (sec == NULL || sec->type == SHT_NOBITS || sec->size == 0)
		return true;
	if (!dp_elf_sec_read(elf, sec, &packed, e))
		goto out;
	if (lzma_stream_decoder(&s, LZMA_MEMORY, 0) != LZMA_OK) {
		(void)dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
		goto out;
	}
	s.next_in = packed.p;
	s.avail_in = packed.n;
	ok = unpack(&s, buf, e);
out:
	if (!ok)
		buf->n = 0;
	lzma_end(&s);
	dp_buf_deinit(&packed);
	return ok;
}
