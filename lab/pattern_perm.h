/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A random order of 0..n-1 in which each number occurs once, without a table: a Feistel network
 * over the smallest power of two that holds n. Results of n or more are fed in again; as the
 * network is a bijection, that ends, after less than two rounds in the mean.
 */
#ifndef LAB_PATTERN_PERM_H
#define LAB_PATTERN_PERM_H

#include "lab/rng.h"

#define LAB_PERM_ROUNDS 4

struct lab_perm {
	uint64_t n;
	uint32_t low_bits;
	uint64_t low_mask, high_mask;
	uint64_t key[LAB_PERM_ROUNDS];
};

/* n > 0 */
void lab_perm_init(struct lab_perm *p, uint64_t n, struct lab_rng *rng);

static inline uint64_t lab_perm_round(uint64_t half, uint64_t key)
{
	return (half + key) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

/* i < n */
static inline uint64_t lab_perm_at(const struct lab_perm *p, uint64_t i)
{
	do {
		uint64_t low = i & p->low_mask, high = i >> p->low_bits;

		high ^= lab_perm_round(low, p->key[0]) & p->high_mask;
		low ^= lab_perm_round(high, p->key[1]) & p->low_mask;
		high ^= lab_perm_round(low, p->key[2]) & p->high_mask;
		low ^= lab_perm_round(high, p->key[3]) & p->low_mask;
		i = high << p->low_bits | low;
	} while (i >= p->n);
	return i;
}

#endif
