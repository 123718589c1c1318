/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/inflate.h"

#include <gelf.h>
#include <libelf.h>
#include <pthread.h>

#include "base/limits.h"
#include "elf/hdr.h"

enum {
	EHDR_32 = 52,
	EHDR_64 = 64,
	RATIO = 1032, /* no zlib stream grows by more */
};

static void
put(struct dp_buf *b, uint64_t v, unsigned width, enum dp_order order)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < width; i++)
		bytes[order == DP_LE ? i : width - 1 - i] =
			(uint8_t)(v >> (8 * i));
	(void)dp_buf_add(b, bytes, width); /* room was reserved */
}

static void
put_shdr(struct dp_buf *b, const struct dp_elf *elf,
         const struct dp_elf_sec *sec)
{
	put(b, 0, 4, elf->order);
	put(b, sec->type, 4, elf->order);
	put(b, sec->flags, elf->word, elf->order);
	put(b, 0, elf->word, elf->order);
	put(b, sec->off, elf->word, elf->order);
	put(b, sec->size, elf->word, elf->order);
	put(b, 0, 4, elf->order);
	put(b, 0, 4, elf->order);
	put(b, 1, elf->word, elf->order);
	put(b, 0, elf->word, elf->order);
}

/* An ELF file with `in` as its section 1. */
static bool
make_image(const struct dp_elf *elf, struct dp_bytes in, struct dp_buf *b)
{
	const uint32_t shdr_len = dp_shdr_len(elf->word);
	const uint32_t hdr = elf->word == 4 ? EHDR_32 : EHDR_64;
	struct dp_elf_sec sec = { 0 };

	if (!dp_buf_reserve(b, hdr + 2 * shdr_len + in.n))
		return false;
	(void)dp_buf_add(b, ELFMAG, SELFMAG);
	put(b, elf->word == 4 ? ELFCLASS32 : ELFCLASS64, 1, elf->order);
	put(b, elf->order == DP_LE ? ELFDATA2LSB : ELFDATA2MSB, 1, elf->order);
	put(b, EV_CURRENT, 1, elf->order);
	put(b, 0, 8, elf->order);
	put(b, 0, 1, elf->order);
	put(b, ET_REL, 2, elf->order);
	put(b, elf->machine, 2, elf->order);
	put(b, EV_CURRENT, 4, elf->order);
	put(b, 0, elf->word, elf->order);
	put(b, 0, elf->word, elf->order);
	put(b, hdr, elf->word, elf->order);
	put(b, 0, 4, elf->order);
	put(b, hdr, 2, elf->order);
	put(b, 0, 2, elf->order);
	put(b, 0, 2, elf->order);
	put(b, shdr_len, 2, elf->order);
	put(b, 2, 2, elf->order);
	put(b, 0, 2, elf->order);
	put_shdr(b, elf, &sec);
	sec.type = SHT_PROGBITS;
	sec.flags = SHF_COMPRESSED;
	sec.off = hdr + 2 * shdr_len;
	sec.size = in.n;
	put_shdr(b, elf, &sec);
	(void)dp_buf_add(b, in.p, in.n);
	return true;
}

/* A compression header. */
struct chdr {
	uint32_t type; /* ELFCOMPRESS_* */
	uint64_t size; /* unpacked */
};

static bool
read_chdr(const struct dp_elf *elf, struct dp_bytes in, struct chdr *c_ret,
          struct dp_err *e)
{
	struct dp_rd r = dp_rd_init(in, elf->order);
	uint32_t type = dp_rd_u32(&r);
	uint64_t size;

	if (elf->word == 8)
		(void)dp_rd_u32(&r); /* ch_reserved */
	size = dp_rd_word(&r, elf->word);
	(void)dp_rd_word(&r, elf->word); /* ch_addralign */
	if (!dp_rd_ok(&r))
		return dp_err_set(e, DP_EFORMAT, 0,
		                  "compression header is cut");
	if (size > DP_MAX_ELF_SECTION)
		return dp_err_set(e, DP_ELIMIT, 0, "%ju bytes unpacked",
		                  (uintmax_t)size);
	if (type == ELFCOMPRESS_ZLIB && size / RATIO > in.n)
		return dp_err_set(e, DP_EFORMAT, 0,
		                  "%zu bytes cannot unpack to %ju", in.n,
		                  (uintmax_t)size);
	c_ret->type = type;
	c_ret->size = size;
	return true;
}

/* libelf wants to be told the version before its first use. */
static void
tell_version(void)
{
	(void)elf_version(EV_CURRENT);
}

/* Let libelf unpack section 1 of the image. */
static bool
unpack(Elf *image, struct chdr c, struct dp_buf *buf, struct dp_err *e)
{
	Elf_Scn *scn = elf_getscn(image, 1);
	Elf_Data *data;

	if (scn == NULL || elf_compress(scn, 0, 0) < 0)
		return dp_err_set(
			e, c.type == ELFCOMPRESS_ZLIB ? DP_EFORMAT : DP_EUNSUP,
			0, "cannot unpack (type %u): %s", c.type,
			elf_errmsg(-1));
	data = elf_rawdata(scn, NULL);
	if (data == NULL || data->d_size != c.size)
		return dp_err_set(e, DP_EFORMAT, 0,
		                  "unpacks to another size than %ju",
		                  (uintmax_t)c.size);
	if (!dp_buf_add(buf, data->d_buf, data->d_size))
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	return true;
}

bool
dp_inflate(const struct dp_elf *elf, struct dp_bytes in, struct dp_buf *buf,
           struct dp_err *e)
{
	/* no state of ours: it makes a call happen once in a process */
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct dp_buf image = { 0 };
	Elf *handle = NULL;
	struct chdr c = { 0 };
	bool ok = false;

	buf->n = 0;
	if (!read_chdr(elf, in, &c, e))
		return false;
	(void)pthread_once(&once, tell_version);
	if (!make_image(elf, in, &image)) {
		(void)dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
		goto out;
	}
	handle = elf_memory((char *)image.p, image.n);
	if (handle == NULL) {
		(void)dp_err_set(e, DP_ENOMEM, DP_NOOFF, "libelf: %s",
		                 elf_errmsg(-1));
		goto out;
	}
	ok = unpack(handle, c, buf, e);
out:
	if (handle != NULL)
		(void)elf_end(handle);
	dp_buf_deinit(&image);
	return ok;
}
