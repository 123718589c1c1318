/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DWARF numbers are those of each machine's psABI, or for arm, ppc and s390
 * its DWARF supplement.  Rows are in the order of likely use: the search is
 * a plain walk over eight-byte keys.
 */
#include "usdt/regs.h"

#include <elf.h>
#include <string.h>

/* clang-format off */
/* One row: general, high byte (ah), program counter, zero, vector. */
#define ROW(name, num, width, shift, cls) { #name, num, width, shift, cls }
#define R(name, num, width)    ROW(name, num, width, 0, DP_REG_GP)
#define HI(name, num)          ROW(name, num, 1, 8, DP_REG_GP)
#define PC(name, num, width)   ROW(name, num, width, 0, DP_REG_PC)
#define ZERO(name, num, width) ROW(name, num, width, 0, DP_REG_ZERO)
#define VEC(name, num, width)  ROW(name, num, width, 0, DP_REG_VEC)

static const struct dp_reg x86_64_regs[] = {
	R(rax, 0, 8), R(rdx, 1, 8), R(rcx, 2, 8), R(rbx, 3, 8), R(rsi, 4, 8),
	R(rdi, 5, 8), R(rbp, 6, 8), R(rsp, 7, 8), R(r8, 8, 8), R(r9, 9, 8),
	R(r10, 10, 8), R(r11, 11, 8), R(r12, 12, 8), R(r13, 13, 8),
	R(r14, 14, 8), R(r15, 15, 8), R(eax, 0, 4), R(edx, 1, 4), R(ecx, 2, 4),
	R(ebx, 3, 4), R(esi, 4, 4), R(edi, 5, 4), R(ebp, 6, 4), R(esp, 7, 4),
	R(r8d, 8, 4), R(r9d, 9, 4), R(r10d, 10, 4), R(r11d, 11, 4),
	R(r12d, 12, 4), R(r13d, 13, 4), R(r14d, 14, 4), R(r15d, 15, 4),
	PC(rip, 16, 8), PC(eip, 16, 4), R(ax, 0, 2), R(dx, 1, 2), R(cx, 2, 2),
	R(bx, 3, 2), R(si, 4, 2), R(di, 5, 2), R(bp, 6, 2), R(sp, 7, 2),
	R(r8w, 8, 2), R(r9w, 9, 2), R(r10w, 10, 2), R(r11w, 11, 2),
	R(r12w, 12, 2), R(r13w, 13, 2), R(r14w, 14, 2), R(r15w, 15, 2),
	R(al, 0, 1), R(dl, 1, 1), R(cl, 2, 1), R(bl, 3, 1), R(sil, 4, 1),
	R(dil, 5, 1), R(bpl, 6, 1), R(spl, 7, 1), R(r8b, 8, 1), R(r9b, 9, 1),
	R(r10b, 10, 1), R(r11b, 11, 1), R(r12b, 12, 1), R(r13b, 13, 1),
	R(r14b, 14, 1), R(r15b, 15, 1), HI(ah, 0), HI(dh, 1), HI(ch, 2),
	HI(bh, 3), VEC(xmm0, 17, 16), VEC(xmm1, 18, 16), VEC(xmm2, 19, 16),
	VEC(xmm3, 20, 16), VEC(xmm4, 21, 16), VEC(xmm5, 22, 16),
	VEC(xmm6, 23, 16), VEC(xmm7, 24, 16), VEC(xmm8, 25, 16),
	VEC(xmm9, 26, 16), VEC(xmm10, 27, 16), VEC(xmm11, 28, 16),
	VEC(xmm12, 29, 16), VEC(xmm13, 30, 16), VEC(xmm14, 31, 16),
	VEC(xmm15, 32, 16), VEC(xmm16, 67, 16), VEC(xmm17, 68, 16),
	VEC(xmm18, 69, 16), VEC(xmm19, 70, 16), VEC(xmm20, 71, 16),
	VEC(xmm21, 72, 16), VEC(xmm22, 73, 16), VEC(xmm23, 74, 16),
	VEC(xmm24, 75, 16), VEC(xmm25, 76, 16), VEC(xmm26, 77, 16),
	VEC(xmm27, 78, 16), VEC(xmm28, 79, 16), VEC(xmm29, 80, 16),
	VEC(xmm30, 81, 16), VEC(xmm31, 82, 16), VEC(ymm0, 17, 32),
	VEC(ymm1, 18, 32), VEC(ymm2, 19, 32), VEC(ymm3, 20, 32),
	VEC(ymm4, 21, 32), VEC(ymm5, 22, 32), VEC(ymm6, 23, 32),
	VEC(ymm7, 24, 32), VEC(ymm8, 25, 32), VEC(ymm9, 26, 32),
	VEC(ymm10, 27, 32), VEC(ymm11, 28, 32), VEC(ymm12, 29, 32),
	VEC(ymm13, 30, 32), VEC(ymm14, 31, 32), VEC(ymm15, 32, 32),
	VEC(ymm16, 67, 32), VEC(ymm17, 68, 32), VEC(ymm18, 69, 32),
	VEC(ymm19, 70, 32), VEC(ymm20, 71, 32), VEC(ymm21, 72, 32),
	VEC(ymm22, 73, 32), VEC(ymm23, 74, 32), VEC(ymm24, 75, 32),
	VEC(ymm25, 76, 32), VEC(ymm26, 77, 32), VEC(ymm27, 78, 32),
	VEC(ymm28, 79, 32), VEC(ymm29, 80, 32), VEC(ymm30, 81, 32),
	VEC(ymm31, 82, 32), VEC(zmm0, 17, 64), VEC(zmm1, 18, 64),
	VEC(zmm2, 19, 64), VEC(zmm3, 20, 64), VEC(zmm4, 21, 64),
	VEC(zmm5, 22, 64), VEC(zmm6, 23, 64), VEC(zmm7, 24, 64),
	VEC(zmm8, 25, 64), VEC(zmm9, 26, 64), VEC(zmm10, 27, 64),
	VEC(zmm11, 28, 64), VEC(zmm12, 29, 64), VEC(zmm13, 30, 64),
	VEC(zmm14, 31, 64), VEC(zmm15, 32, 64), VEC(zmm16, 67, 64),
	VEC(zmm17, 68, 64), VEC(zmm18, 69, 64), VEC(zmm19, 70, 64),
	VEC(zmm20, 71, 64), VEC(zmm21, 72, 64), VEC(zmm22, 73, 64),
	VEC(zmm23, 74, 64), VEC(zmm24, 75, 64), VEC(zmm25, 76, 64),
	VEC(zmm26, 77, 64), VEC(zmm27, 78, 64), VEC(zmm28, 79, 64),
	VEC(zmm29, 80, 64), VEC(zmm30, 81, 64), VEC(zmm31, 82, 64),
	VEC(mm0, 41, 8), VEC(mm1, 42, 8), VEC(mm2, 43, 8), VEC(mm3, 44, 8),
	VEC(mm4, 45, 8), VEC(mm5, 46, 8), VEC(mm6, 47, 8), VEC(mm7, 48, 8),
};

static const struct dp_reg i386_regs[] = {
	R(eax, 0, 4), R(ecx, 1, 4), R(edx, 2, 4), R(ebx, 3, 4), R(esp, 4, 4),
	R(ebp, 5, 4), R(esi, 6, 4), R(edi, 7, 4), PC(eip, 8, 4), R(ax, 0, 2),
	R(cx, 1, 2), R(dx, 2, 2), R(bx, 3, 2), R(sp, 4, 2), R(bp, 5, 2),
	R(si, 6, 2), R(di, 7, 2), R(al, 0, 1), R(cl, 1, 1), R(dl, 2, 1),
	R(bl, 3, 1), HI(ah, 0), HI(ch, 1), HI(dh, 2), HI(bh, 3),
	VEC(xmm0, 21, 16), VEC(xmm1, 22, 16), VEC(xmm2, 23, 16),
	VEC(xmm3, 24, 16), VEC(xmm4, 25, 16), VEC(xmm5, 26, 16),
	VEC(xmm6, 27, 16), VEC(xmm7, 28, 16), VEC(ymm0, 21, 32),
	VEC(ymm1, 22, 32), VEC(ymm2, 23, 32), VEC(ymm3, 24, 32),
	VEC(ymm4, 25, 32), VEC(ymm5, 26, 32), VEC(ymm6, 27, 32),
	VEC(ymm7, 28, 32), VEC(zmm0, 21, 64), VEC(zmm1, 22, 64),
	VEC(zmm2, 23, 64), VEC(zmm3, 24, 64), VEC(zmm4, 25, 64),
	VEC(zmm5, 26, 64), VEC(zmm6, 27, 64), VEC(zmm7, 28, 64),
	VEC(mm0, 29, 8), VEC(mm1, 30, 8), VEC(mm2, 31, 8), VEC(mm3, 32, 8),
	VEC(mm4, 33, 8), VEC(mm5, 34, 8), VEC(mm6, 35, 8), VEC(mm7, 36, 8),
};

static const struct dp_reg aarch64_regs[] = {
	R(x0, 0, 8), R(x1, 1, 8), R(x2, 2, 8), R(x3, 3, 8), R(x4, 4, 8),
	R(x5, 5, 8), R(x6, 6, 8), R(x7, 7, 8), R(x8, 8, 8), R(x9, 9, 8),
	R(x10, 10, 8), R(x11, 11, 8), R(x12, 12, 8), R(x13, 13, 8),
	R(x14, 14, 8), R(x15, 15, 8), R(x16, 16, 8), R(x17, 17, 8),
	R(x18, 18, 8), R(x19, 19, 8), R(x20, 20, 8), R(x21, 21, 8),
	R(x22, 22, 8), R(x23, 23, 8), R(x24, 24, 8), R(x25, 25, 8),
	R(x26, 26, 8), R(x27, 27, 8), R(x28, 28, 8), R(x29, 29, 8),
	R(x30, 30, 8), R(sp, 31, 8), R(w0, 0, 4), R(w1, 1, 4), R(w2, 2, 4),
	R(w3, 3, 4), R(w4, 4, 4), R(w5, 5, 4), R(w6, 6, 4), R(w7, 7, 4),
	R(w8, 8, 4), R(w9, 9, 4), R(w10, 10, 4), R(w11, 11, 4), R(w12, 12, 4),
	R(w13, 13, 4), R(w14, 14, 4), R(w15, 15, 4), R(w16, 16, 4),
	R(w17, 17, 4), R(w18, 18, 4), R(w19, 19, 4), R(w20, 20, 4),
	R(w21, 21, 4), R(w22, 22, 4), R(w23, 23, 4), R(w24, 24, 4),
	R(w25, 25, 4), R(w26, 26, 4), R(w27, 27, 4), R(w28, 28, 4),
	R(w29, 29, 4), R(w30, 30, 4), R(wsp, 31, 4),
	ZERO(xzr, DP_REG_NODWARF, 8), ZERO(wzr, DP_REG_NODWARF, 4),
	VEC(v0, 64, 16), VEC(v1, 65, 16), VEC(v2, 66, 16), VEC(v3, 67, 16),
	VEC(v4, 68, 16), VEC(v5, 69, 16), VEC(v6, 70, 16), VEC(v7, 71, 16),
	VEC(v8, 72, 16), VEC(v9, 73, 16), VEC(v10, 74, 16), VEC(v11, 75, 16),
	VEC(v12, 76, 16), VEC(v13, 77, 16), VEC(v14, 78, 16), VEC(v15, 79, 16),
	VEC(v16, 80, 16), VEC(v17, 81, 16), VEC(v18, 82, 16), VEC(v19, 83, 16),
	VEC(v20, 84, 16), VEC(v21, 85, 16), VEC(v22, 86, 16), VEC(v23, 87, 16),
	VEC(v24, 88, 16), VEC(v25, 89, 16), VEC(v26, 90, 16), VEC(v27, 91, 16),
	VEC(v28, 92, 16), VEC(v29, 93, 16), VEC(v30, 94, 16), VEC(v31, 95, 16),
	VEC(q0, 64, 16), VEC(q1, 65, 16), VEC(q2, 66, 16), VEC(q3, 67, 16),
	VEC(q4, 68, 16), VEC(q5, 69, 16), VEC(q6, 70, 16), VEC(q7, 71, 16),
	VEC(q8, 72, 16), VEC(q9, 73, 16), VEC(q10, 74, 16), VEC(q11, 75, 16),
	VEC(q12, 76, 16), VEC(q13, 77, 16), VEC(q14, 78, 16), VEC(q15, 79, 16),
	VEC(q16, 80, 16), VEC(q17, 81, 16), VEC(q18, 82, 16), VEC(q19, 83, 16),
	VEC(q20, 84, 16), VEC(q21, 85, 16), VEC(q22, 86, 16), VEC(q23, 87, 16),
	VEC(q24, 88, 16), VEC(q25, 89, 16), VEC(q26, 90, 16), VEC(q27, 91, 16),
	VEC(q28, 92, 16), VEC(q29, 93, 16), VEC(q30, 94, 16), VEC(q31, 95, 16),
	VEC(d0, 64, 8), VEC(d1, 65, 8), VEC(d2, 66, 8), VEC(d3, 67, 8),
	VEC(d4, 68, 8), VEC(d5, 69, 8), VEC(d6, 70, 8), VEC(d7, 71, 8),
	VEC(d8, 72, 8), VEC(d9, 73, 8), VEC(d10, 74, 8), VEC(d11, 75, 8),
	VEC(d12, 76, 8), VEC(d13, 77, 8), VEC(d14, 78, 8), VEC(d15, 79, 8),
	VEC(d16, 80, 8), VEC(d17, 81, 8), VEC(d18, 82, 8), VEC(d19, 83, 8),
	VEC(d20, 84, 8), VEC(d21, 85, 8), VEC(d22, 86, 8), VEC(d23, 87, 8),
	VEC(d24, 88, 8), VEC(d25, 89, 8), VEC(d26, 90, 8), VEC(d27, 91, 8),
	VEC(d28, 92, 8), VEC(d29, 93, 8), VEC(d30, 94, 8), VEC(d31, 95, 8),
	VEC(s0, 64, 4), VEC(s1, 65, 4), VEC(s2, 66, 4), VEC(s3, 67, 4),
	VEC(s4, 68, 4), VEC(s5, 69, 4), VEC(s6, 70, 4), VEC(s7, 71, 4),
	VEC(s8, 72, 4), VEC(s9, 73, 4), VEC(s10, 74, 4), VEC(s11, 75, 4),
	VEC(s12, 76, 4), VEC(s13, 77, 4), VEC(s14, 78, 4), VEC(s15, 79, 4),
	VEC(s16, 80, 4), VEC(s17, 81, 4), VEC(s18, 82, 4), VEC(s19, 83, 4),
	VEC(s20, 84, 4), VEC(s21, 85, 4), VEC(s22, 86, 4), VEC(s23, 87, 4),
	VEC(s24, 88, 4), VEC(s25, 89, 4), VEC(s26, 90, 4), VEC(s27, 91, 4),
	VEC(s28, 92, 4), VEC(s29, 93, 4), VEC(s30, 94, 4), VEC(s31, 95, 4),
	VEC(h0, 64, 2), VEC(h1, 65, 2), VEC(h2, 66, 2), VEC(h3, 67, 2),
	VEC(h4, 68, 2), VEC(h5, 69, 2), VEC(h6, 70, 2), VEC(h7, 71, 2),
	VEC(h8, 72, 2), VEC(h9, 73, 2), VEC(h10, 74, 2), VEC(h11, 75, 2),
	VEC(h12, 76, 2), VEC(h13, 77, 2), VEC(h14, 78, 2), VEC(h15, 79, 2),
	VEC(h16, 80, 2), VEC(h17, 81, 2), VEC(h18, 82, 2), VEC(h19, 83, 2),
	VEC(h20, 84, 2), VEC(h21, 85, 2), VEC(h22, 86, 2), VEC(h23, 87, 2),
	VEC(h24, 88, 2), VEC(h25, 89, 2), VEC(h26, 90, 2), VEC(h27, 91, 2),
	VEC(h28, 92, 2), VEC(h29, 93, 2), VEC(h30, 94, 2), VEC(h31, 95, 2),
	VEC(b0, 64, 1), VEC(b1, 65, 1), VEC(b2, 66, 1), VEC(b3, 67, 1),
	VEC(b4, 68, 1), VEC(b5, 69, 1), VEC(b6, 70, 1), VEC(b7, 71, 1),
	VEC(b8, 72, 1), VEC(b9, 73, 1), VEC(b10, 74, 1), VEC(b11, 75, 1),
	VEC(b12, 76, 1), VEC(b13, 77, 1), VEC(b14, 78, 1), VEC(b15, 79, 1),
	VEC(b16, 80, 1), VEC(b17, 81, 1), VEC(b18, 82, 1), VEC(b19, 83, 1),
	VEC(b20, 84, 1), VEC(b21, 85, 1), VEC(b22, 86, 1), VEC(b23, 87, 1),
	VEC(b24, 88, 1), VEC(b25, 89, 1), VEC(b26, 90, 1), VEC(b27, 91, 1),
	VEC(b28, 92, 1), VEC(b29, 93, 1), VEC(b30, 94, 1), VEC(b31, 95, 1),
};

static const struct dp_reg arm_regs[] = {
	R(r0, 0, 4), R(r1, 1, 4), R(r2, 2, 4), R(r3, 3, 4), R(r4, 4, 4),
	R(r5, 5, 4), R(r6, 6, 4), R(r7, 7, 4), R(r8, 8, 4), R(r9, 9, 4),
	R(r10, 10, 4), R(r11, 11, 4), R(r12, 12, 4), R(r13, 13, 4),
	R(r14, 14, 4), PC(r15, 15, 4), R(sb, 9, 4), R(sl, 10, 4), R(fp, 11, 4),
	R(ip, 12, 4), R(sp, 13, 4), R(lr, 14, 4), PC(pc, 15, 4),
	VEC(s0, 64, 4), VEC(s1, 65, 4), VEC(s2, 66, 4), VEC(s3, 67, 4),
	VEC(s4, 68, 4), VEC(s5, 69, 4), VEC(s6, 70, 4), VEC(s7, 71, 4),
	VEC(s8, 72, 4), VEC(s9, 73, 4), VEC(s10, 74, 4), VEC(s11, 75, 4),
	VEC(s12, 76, 4), VEC(s13, 77, 4), VEC(s14, 78, 4), VEC(s15, 79, 4),
	VEC(s16, 80, 4), VEC(s17, 81, 4), VEC(s18, 82, 4), VEC(s19, 83, 4),
	VEC(s20, 84, 4), VEC(s21, 85, 4), VEC(s22, 86, 4), VEC(s23, 87, 4),
	VEC(s24, 88, 4), VEC(s25, 89, 4), VEC(s26, 90, 4), VEC(s27, 91, 4),
	VEC(s28, 92, 4), VEC(s29, 93, 4), VEC(s30, 94, 4), VEC(s31, 95, 4),
	VEC(d0, 256, 8), VEC(d1, 257, 8), VEC(d2, 258, 8), VEC(d3, 259, 8),
	VEC(d4, 260, 8), VEC(d5, 261, 8), VEC(d6, 262, 8), VEC(d7, 263, 8),
	VEC(d8, 264, 8), VEC(d9, 265, 8), VEC(d10, 266, 8), VEC(d11, 267, 8),
	VEC(d12, 268, 8), VEC(d13, 269, 8), VEC(d14, 270, 8), VEC(d15, 271, 8),
	VEC(d16, 272, 8), VEC(d17, 273, 8), VEC(d18, 274, 8), VEC(d19, 275, 8),
	VEC(d20, 276, 8), VEC(d21, 277, 8), VEC(d22, 278, 8), VEC(d23, 279, 8),
	VEC(d24, 280, 8), VEC(d25, 281, 8), VEC(d26, 282, 8), VEC(d27, 283, 8),
	VEC(d28, 284, 8), VEC(d29, 285, 8), VEC(d30, 286, 8), VEC(d31, 287, 8),
	VEC(q0, DP_REG_NODWARF, 16), VEC(q1, DP_REG_NODWARF, 16),
	VEC(q2, DP_REG_NODWARF, 16), VEC(q3, DP_REG_NODWARF, 16),
	VEC(q4, DP_REG_NODWARF, 16), VEC(q5, DP_REG_NODWARF, 16),
	VEC(q6, DP_REG_NODWARF, 16), VEC(q7, DP_REG_NODWARF, 16),
	VEC(q8, DP_REG_NODWARF, 16), VEC(q9, DP_REG_NODWARF, 16),
	VEC(q10, DP_REG_NODWARF, 16), VEC(q11, DP_REG_NODWARF, 16),
	VEC(q12, DP_REG_NODWARF, 16), VEC(q13, DP_REG_NODWARF, 16),
	VEC(q14, DP_REG_NODWARF, 16), VEC(q15, DP_REG_NODWARF, 16),
};

static const struct dp_reg ppc64_regs[] = {
	R(r0, 0, 8), R(r1, 1, 8), R(r2, 2, 8), R(r3, 3, 8), R(r4, 4, 8),
	R(r5, 5, 8), R(r6, 6, 8), R(r7, 7, 8), R(r8, 8, 8), R(r9, 9, 8),
	R(r10, 10, 8), R(r11, 11, 8), R(r12, 12, 8), R(r13, 13, 8),
	R(r14, 14, 8), R(r15, 15, 8), R(r16, 16, 8), R(r17, 17, 8),
	R(r18, 18, 8), R(r19, 19, 8), R(r20, 20, 8), R(r21, 21, 8),
	R(r22, 22, 8), R(r23, 23, 8), R(r24, 24, 8), R(r25, 25, 8),
	R(r26, 26, 8), R(r27, 27, 8), R(r28, 28, 8), R(r29, 29, 8),
	R(r30, 30, 8), R(r31, 31, 8), VEC(f0, 32, 8), VEC(f1, 33, 8),
	VEC(f2, 34, 8), VEC(f3, 35, 8), VEC(f4, 36, 8), VEC(f5, 37, 8),
	VEC(f6, 38, 8), VEC(f7, 39, 8), VEC(f8, 40, 8), VEC(f9, 41, 8),
	VEC(f10, 42, 8), VEC(f11, 43, 8), VEC(f12, 44, 8), VEC(f13, 45, 8),
	VEC(f14, 46, 8), VEC(f15, 47, 8), VEC(f16, 48, 8), VEC(f17, 49, 8),
	VEC(f18, 50, 8), VEC(f19, 51, 8), VEC(f20, 52, 8), VEC(f21, 53, 8),
	VEC(f22, 54, 8), VEC(f23, 55, 8), VEC(f24, 56, 8), VEC(f25, 57, 8),
	VEC(f26, 58, 8), VEC(f27, 59, 8), VEC(f28, 60, 8), VEC(f29, 61, 8),
	VEC(f30, 62, 8), VEC(f31, 63, 8), VEC(v0, 77, 16), VEC(v1, 78, 16),
	VEC(v2, 79, 16), VEC(v3, 80, 16), VEC(v4, 81, 16), VEC(v5, 82, 16),
	VEC(v6, 83, 16), VEC(v7, 84, 16), VEC(v8, 85, 16), VEC(v9, 86, 16),
	VEC(v10, 87, 16), VEC(v11, 88, 16), VEC(v12, 89, 16), VEC(v13, 90, 16),
	VEC(v14, 91, 16), VEC(v15, 92, 16), VEC(v16, 93, 16), VEC(v17, 94, 16),
	VEC(v18, 95, 16), VEC(v19, 96, 16), VEC(v20, 97, 16), VEC(v21, 98, 16),
	VEC(v22, 99, 16), VEC(v23, 100, 16), VEC(v24, 101, 16),
	VEC(v25, 102, 16), VEC(v26, 103, 16), VEC(v27, 104, 16),
	VEC(v28, 105, 16), VEC(v29, 106, 16), VEC(v30, 107, 16),
	VEC(v31, 108, 16),
};

static const struct dp_reg ppc_regs[] = {
	R(r0, 0, 4), R(r1, 1, 4), R(r2, 2, 4), R(r3, 3, 4), R(r4, 4, 4),
	R(r5, 5, 4), R(r6, 6, 4), R(r7, 7, 4), R(r8, 8, 4), R(r9, 9, 4),
	R(r10, 10, 4), R(r11, 11, 4), R(r12, 12, 4), R(r13, 13, 4),
	R(r14, 14, 4), R(r15, 15, 4), R(r16, 16, 4), R(r17, 17, 4),
	R(r18, 18, 4), R(r19, 19, 4), R(r20, 20, 4), R(r21, 21, 4),
	R(r22, 22, 4), R(r23, 23, 4), R(r24, 24, 4), R(r25, 25, 4),
	R(r26, 26, 4), R(r27, 27, 4), R(r28, 28, 4), R(r29, 29, 4),
	R(r30, 30, 4), R(r31, 31, 4), VEC(f0, 32, 8), VEC(f1, 33, 8),
	VEC(f2, 34, 8), VEC(f3, 35, 8), VEC(f4, 36, 8), VEC(f5, 37, 8),
	VEC(f6, 38, 8), VEC(f7, 39, 8), VEC(f8, 40, 8), VEC(f9, 41, 8),
	VEC(f10, 42, 8), VEC(f11, 43, 8), VEC(f12, 44, 8), VEC(f13, 45, 8),
	VEC(f14, 46, 8), VEC(f15, 47, 8), VEC(f16, 48, 8), VEC(f17, 49, 8),
	VEC(f18, 50, 8), VEC(f19, 51, 8), VEC(f20, 52, 8), VEC(f21, 53, 8),
	VEC(f22, 54, 8), VEC(f23, 55, 8), VEC(f24, 56, 8), VEC(f25, 57, 8),
	VEC(f26, 58, 8), VEC(f27, 59, 8), VEC(f28, 60, 8), VEC(f29, 61, 8),
	VEC(f30, 62, 8), VEC(f31, 63, 8), VEC(v0, 1124, 16), VEC(v1, 1125, 16),
	VEC(v2, 1126, 16), VEC(v3, 1127, 16), VEC(v4, 1128, 16),
	VEC(v5, 1129, 16), VEC(v6, 1130, 16), VEC(v7, 1131, 16),
	VEC(v8, 1132, 16), VEC(v9, 1133, 16), VEC(v10, 1134, 16),
	VEC(v11, 1135, 16), VEC(v12, 1136, 16), VEC(v13, 1137, 16),
	VEC(v14, 1138, 16), VEC(v15, 1139, 16), VEC(v16, 1140, 16),
	VEC(v17, 1141, 16), VEC(v18, 1142, 16), VEC(v19, 1143, 16),
	VEC(v20, 1144, 16), VEC(v21, 1145, 16), VEC(v22, 1146, 16),
	VEC(v23, 1147, 16), VEC(v24, 1148, 16), VEC(v25, 1149, 16),
	VEC(v26, 1150, 16), VEC(v27, 1151, 16), VEC(v28, 1152, 16),
	VEC(v29, 1153, 16), VEC(v30, 1154, 16), VEC(v31, 1155, 16),
};

static const struct dp_reg s390_regs[] = {
	R(r0, 0, 8), R(r1, 1, 8), R(r2, 2, 8), R(r3, 3, 8), R(r4, 4, 8),
	R(r5, 5, 8), R(r6, 6, 8), R(r7, 7, 8), R(r8, 8, 8), R(r9, 9, 8),
	R(r10, 10, 8), R(r11, 11, 8), R(r12, 12, 8), R(r13, 13, 8),
	R(r14, 14, 8), R(r15, 15, 8), VEC(f0, 16, 8), VEC(f1, 20, 8),
	VEC(f2, 17, 8), VEC(f3, 21, 8), VEC(f4, 18, 8), VEC(f5, 22, 8),
	VEC(f6, 19, 8), VEC(f7, 23, 8), VEC(f8, 24, 8), VEC(f9, 28, 8),
	VEC(f10, 25, 8), VEC(f11, 29, 8), VEC(f12, 26, 8), VEC(f13, 30, 8),
	VEC(f14, 27, 8), VEC(f15, 31, 8), VEC(v0, 16, 16), VEC(v1, 20, 16),
	VEC(v2, 17, 16), VEC(v3, 21, 16), VEC(v4, 18, 16), VEC(v5, 22, 16),
	VEC(v6, 19, 16), VEC(v7, 23, 16), VEC(v8, 24, 16), VEC(v9, 28, 16),
	VEC(v10, 25, 16), VEC(v11, 29, 16), VEC(v12, 26, 16), VEC(v13, 30, 16),
	VEC(v14, 27, 16), VEC(v15, 31, 16), VEC(v16, 68, 16), VEC(v17, 72, 16),
	VEC(v18, 69, 16), VEC(v19, 73, 16), VEC(v20, 70, 16), VEC(v21, 74, 16),
	VEC(v22, 71, 16), VEC(v23, 75, 16), VEC(v24, 76, 16), VEC(v25, 80, 16),
	VEC(v26, 77, 16), VEC(v27, 81, 16), VEC(v28, 78, 16), VEC(v29, 82, 16),
	VEC(v30, 79, 16), VEC(v31, 83, 16),
};

static const struct dp_reg riscv_regs[] = {
	ZERO(zero, 0, 8), R(ra, 1, 8), R(sp, 2, 8), R(gp, 3, 8), R(tp, 4, 8),
	R(t0, 5, 8), R(t1, 6, 8), R(t2, 7, 8), R(s0, 8, 8), R(s1, 9, 8),
	R(a0, 10, 8), R(a1, 11, 8), R(a2, 12, 8), R(a3, 13, 8), R(a4, 14, 8),
	R(a5, 15, 8), R(a6, 16, 8), R(a7, 17, 8), R(s2, 18, 8), R(s3, 19, 8),
	R(s4, 20, 8), R(s5, 21, 8), R(s6, 22, 8), R(s7, 23, 8), R(s8, 24, 8),
	R(s9, 25, 8), R(s10, 26, 8), R(s11, 27, 8), R(t3, 28, 8), R(t4, 29, 8),
	R(t5, 30, 8), R(t6, 31, 8), R(fp, 8, 8), ZERO(x0, 0, 8), R(x1, 1, 8),
	R(x2, 2, 8), R(x3, 3, 8), R(x4, 4, 8), R(x5, 5, 8), R(x6, 6, 8),
	R(x7, 7, 8), R(x8, 8, 8), R(x9, 9, 8), R(x10, 10, 8), R(x11, 11, 8),
	R(x12, 12, 8), R(x13, 13, 8), R(x14, 14, 8), R(x15, 15, 8),
	R(x16, 16, 8), R(x17, 17, 8), R(x18, 18, 8), R(x19, 19, 8),
	R(x20, 20, 8), R(x21, 21, 8), R(x22, 22, 8), R(x23, 23, 8),
	R(x24, 24, 8), R(x25, 25, 8), R(x26, 26, 8), R(x27, 27, 8),
	R(x28, 28, 8), R(x29, 29, 8), R(x30, 30, 8), R(x31, 31, 8),
	VEC(ft0, 32, 8), VEC(ft1, 33, 8), VEC(ft2, 34, 8), VEC(ft3, 35, 8),
	VEC(ft4, 36, 8), VEC(ft5, 37, 8), VEC(ft6, 38, 8), VEC(ft7, 39, 8),
	VEC(fs0, 40, 8), VEC(fs1, 41, 8), VEC(fa0, 42, 8), VEC(fa1, 43, 8),
	VEC(fa2, 44, 8), VEC(fa3, 45, 8), VEC(fa4, 46, 8), VEC(fa5, 47, 8),
	VEC(fa6, 48, 8), VEC(fa7, 49, 8), VEC(fs2, 50, 8), VEC(fs3, 51, 8),
	VEC(fs4, 52, 8), VEC(fs5, 53, 8), VEC(fs6, 54, 8), VEC(fs7, 55, 8),
	VEC(fs8, 56, 8), VEC(fs9, 57, 8), VEC(fs10, 58, 8), VEC(fs11, 59, 8),
	VEC(ft8, 60, 8), VEC(ft9, 61, 8), VEC(ft10, 62, 8), VEC(ft11, 63, 8),
	VEC(f0, 32, 8), VEC(f1, 33, 8), VEC(f2, 34, 8), VEC(f3, 35, 8),
	VEC(f4, 36, 8), VEC(f5, 37, 8), VEC(f6, 38, 8), VEC(f7, 39, 8),
	VEC(f8, 40, 8), VEC(f9, 41, 8), VEC(f10, 42, 8), VEC(f11, 43, 8),
	VEC(f12, 44, 8), VEC(f13, 45, 8), VEC(f14, 46, 8), VEC(f15, 47, 8),
	VEC(f16, 48, 8), VEC(f17, 49, 8), VEC(f18, 50, 8), VEC(f19, 51, 8),
	VEC(f20, 52, 8), VEC(f21, 53, 8), VEC(f22, 54, 8), VEC(f23, 55, 8),
	VEC(f24, 56, 8), VEC(f25, 57, 8), VEC(f26, 58, 8), VEC(f27, 59, 8),
	VEC(f28, 60, 8), VEC(f29, 61, 8), VEC(f30, 62, 8), VEC(f31, 63, 8),
};
/* clang-format on */

#define TABLE(rows) (rows), sizeof(rows) / sizeof((rows)[0])

static const struct machine {
	uint16_t machine;
	uint8_t word; /* bytes of a full register; 0: those of an address */
	const struct dp_reg *regs;
	size_t nregs;
} machines[] = {
	{ EM_X86_64, 8, TABLE(x86_64_regs) },
	{ EM_386, 4, TABLE(i386_regs) },
	{ EM_AARCH64, 8, TABLE(aarch64_regs) },
	{ EM_ARM, 4, TABLE(arm_regs) },
	{ EM_PPC64, 8, TABLE(ppc64_regs) },
	{ EM_PPC, 4, TABLE(ppc_regs) },
	{ EM_S390, 0, TABLE(s390_regs) },
	{ EM_RISCV, 0, TABLE(riscv_regs) },
};

static const struct machine *
machine_find(uint16_t machine)
{
	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}

const struct dp_reg *
dp_reg_find(uint16_t machine, struct dp_bytes name)
{
	const struct machine *m = machine_find(machine);
	char key[sizeof m->regs->name] = { 0 };
	size_t at = 0;

	/* PowerPC assembly may leave the letter out: 3 is r3 */
	if ((machine == EM_PPC64 || machine == EM_PPC) && name.n > 0 &&
	    name.p[0] >= '0' && name.p[0] <= '9')
		key[at++] = 'r';
	if (m == NULL || name.n == 0 || name.n >= sizeof key - at ||
	    memchr(name.p, '\0', name.n) != NULL)
		return NULL;
	memcpy(key + at, name.p, name.n);
	for (size_t i = 0; i < m->nregs; i++)
		if (memcmp(m->regs[i].name, key, sizeof key) == 0)
			return &m->regs[i];
	return NULL;
}

const struct dp_reg *
dp_reg_at(uint16_t machine, unsigned i)
{
	const struct machine *m = machine_find(machine);

	return m == NULL || i >= m->nregs ? NULL : &m->regs[i];
}

unsigned
dp_reg_word(uint16_t machine, unsigned addr_width)
{
	const struct machine *m = machine_find(machine);

	if (m == NULL)
		return 0;
	return m->word != 0 ? m->word : addr_width == 4 ? 4 : 8;
}
