/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Seeded random numbers, integers only, so that every compiler draws the same ones. splitmix64 to
 * seed, xoshiro256** to draw (Blackman and Vigna, 2018).
 */
#ifndef LAB_RNG_H
#define LAB_RNG_H

#include <stdint.h>

struct lab_rng {
	uint64_t s[4];
};

/* stream tells apart generators of one seed. */
void lab_rng_seed(struct lab_rng *r, uint64_t seed, uint64_t stream);
uint64_t lab_rng_u64(struct lab_rng *r);
/* Uniform in 0..n-1, n > 0, without bias worth naming (n < 2^48). */
uint64_t lab_rng_below(struct lab_rng *r, uint64_t n);
/* Exponentially distributed with the given mean, by an integer logarithm table. */
uint64_t lab_rng_exp(struct lab_rng *r, uint64_t mean);

#endif
