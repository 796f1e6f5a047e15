// SPDX-License-Identifier: GPL-2.0-only
/*
 * xoshiro256** and splitmix64, from the authors' descriptions; both are in the public domain.
 */
#include "lab/rng.h"

#include "core/fixed.h"
#include "lab/rng_tables.h"

/* ln(2) << 32 */
#define LN2_Q32 UINT64_C(2977044472)

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void lab_rng_seed(struct lab_rng *r, uint64_t seed, uint64_t stream)
{
	/* Both are hashed before they meet, so that (seed, stream) and (seed + 1, stream - 1) have
	 * nothing in common. */
	uint64_t state = splitmix64(&seed);
	int i;

	stream = ~stream;
	state ^= splitmix64(&stream);
	for (i = 0; i < 4; i++)
		r->s[i] = splitmix64(&state);
}

static uint64_t rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

uint64_t lab_rng_u64(struct lab_rng *r)
{
	uint64_t *s = r->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

uint64_t lab_rng_below(struct lab_rng *r, uint64_t n)
{
	uint64_t hi, lo;

	/* The high half of a product: values differ in likelihood by less than n / 2^64. */
	weir_mul128(lab_rng_u64(r), n, &hi, &lo);
	return hi;
}

uint64_t lab_log2_q32(uint64_t x)
{
	unsigned int whole = weir_log2(x);
	uint64_t fraction = whole < 63 ? x << (63 - whole) << 1 : x << 1;
	unsigned int i = (unsigned int)(fraction >> (64 - LAB_LOG2_BITS));
	uint64_t rest = fraction << LAB_LOG2_BITS >> 32;
	uint64_t step = lab_log2_table[i + 1] - lab_log2_table[i];

	/* step < 2^25 and rest < 2^32 */
	return ((uint64_t)whole << 32) + lab_log2_table[i] + (step * rest >> 32);
}

uint64_t lab_rng_exp(struct lab_rng *r, uint64_t mean)
{
	/* -log2(u / 2^64), u in 1..2^64-1: more than 0, at most 64, in 32 fraction bits. */
	uint64_t u = lab_rng_u64(r) | 1, hi, lo;
	uint64_t bits = (UINT64_C(64) << 32) - lab_log2_q32(u);

	weir_mul128(bits, LN2_Q32, &hi, &lo); /* below 2^70: the nats, in 64 fraction bits */
	bits = hi << 32 | lo >> 32;
	weir_mul128(bits, mean, &hi, &lo);
	return hi >> 32 ? UINT64_MAX : hi << 32 | lo >> 32;
}
