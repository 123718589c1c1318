/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes back the macros of one reading of schema/records.def.  No guard:
 * it is included after each. */
#undef RECORD
#undef U8
#undef U16
#undef U32
#undef N64
#undef S64
#undef X32
#undef X64
#undef BOOL
#undef ENUM
#undef STR
#undef BYTES
#undef STRS
#undef U8S
#undef ENDRECORD
