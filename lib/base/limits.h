/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every limit on what an input may ask for, in one place.  Each one is
 * tested at the limit and one past it.  Sizes are bytes unless said.
 */
#ifndef DP_LIMITS_H
#define DP_LIMITS_H

enum {
	/* the record stream */
	DP_MAX_RECORD = 128 << 20,    /* one record, header included */
	DP_MAX_JSON_LINE = 384 << 20, /* one NDJSON line: hex doubles bytes */
	DP_MAX_STR = 1 << 20,         /* one string field of a record */
	DP_MAX_JSON_VALUES = 8192,    /* '[', '{' and ',' in one NDJSON line */

	/* DOF */
	DP_MAX_DOF_SIZE = 64 << 20, /* loadsz, and filesz, of one DOF */
	DP_MAX_DOF_SECS = 1 << 16,  /* section headers in one DOF */
	DP_MAX_DOF_SITES = 1 << 20, /* sites that one DOF may spell out */
	DP_MAX_DOF_TYPES = 1 << 20, /* type strings one DOF may spell out */
	DP_MAX_DOF_NAME = 63,       /* provider and probe: dtrace's own */
	DP_MAX_DOF_FUNC = 1023,     /* mangled names outgrow dtrace's 127 */
	DP_MAX_DOF_TYPE = 127,      /* one native or translated type */

	/* notes */
	DP_MAX_NOTE_DESC = 1 << 20,   /* descriptor of one note */
	DP_MAX_NOTES = 1 << 22,       /* notes in one object */
	DP_MAX_ARGS = 255,            /* operands in one argument string */
	DP_MAX_USDT_PROBES = 1 << 16, /* probes in one "prov" note */

	/* what a stream says of one object, and the parser has to keep */
	DP_MAX_ELFRELS = 1 << 22,
	DP_MAX_SYMBOLS = 1 << 22,
	DP_MAX_HELPERS = 1 << 20,

	/* objects */
	DP_MAX_ELF_SECS = 1 << 20,      /* section headers of one ELF */
	DP_MAX_ELF_PHDRS = 1 << 16,     /* program headers of one ELF */
	DP_MAX_ELF_SECTION = 256 << 20, /* a section that is read whole */
	DP_MAX_ELF_NAMES = 16 << 20,    /* the names of sections, in a walk */
	DP_MAX_SYMTAB = 1 << 30,        /* a symbol table or its strings */
	DP_MAX_DEBUGDATA = 256 << 20,   /* .gnu_debugdata, unpacked */
	DP_MAX_DEBUGFILE = 1 << 30,  /* a debug file found by .gnu_debuglink */
	DP_MAX_SCAN = 256 << 20,     /* PT_LOAD bytes searched for bare DOF */
	DP_MAX_SEGMENTS = 2048,      /* PT_LOAD and PT_TLS of one object */
	DP_MAX_RAW_BYTES = 1 << 30,  /* raw sections of one object, in all */
	DP_MAX_AR_MEMBERS = 1 << 20, /* members of one archive */
	DP_MAX_FAT_ARCHS = 64,       /* slices of one fat Mach-O */
	DP_MAX_MACHO_CMDS = 1 << 16, /* load commands of one Mach-O */
	DP_MAX_STDIN = 1 << 30,      /* an object read from standard input */

	/* processes and trees */
	DP_MAX_MAPS = 1 << 20,    /* mappings of one process */
	DP_MAX_MEMSCAN = 1 << 30, /* anonymous memory searched for DOF */
	DP_MAX_PATH = 1 << 16,    /* a path in a list or a maps file */
	DP_MAX_DEPTH = 4096,      /* nested directories of one walk */
	DP_MAX_THREADS = 256,
};

#endif /* DP_LIMITS_H */
