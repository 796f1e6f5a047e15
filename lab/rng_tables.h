/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Logarithms as integers, for random distributions: a table of 257 values and straight lines
 * between them err by less than 3 x 10^-6, far below what any run can see.
 */
#ifndef LAB_RNG_TABLES_H
#define LAB_RNG_TABLES_H

#include <stdint.h>

#define LAB_LOG2_BITS 8
#define LAB_LOG2_STEPS (1 << LAB_LOG2_BITS)

/* log2(1 + i / LAB_LOG2_STEPS) << 32 */
extern const uint64_t lab_log2_table[LAB_LOG2_STEPS + 1];

/* log2(x) << 32, x > 0; never too large. */
uint64_t lab_log2_q32(uint64_t x);

#endif
