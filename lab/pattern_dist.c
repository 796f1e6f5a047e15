// SPDX-License-Identifier: GPL-2.0-only
/* Skewed distributions as integer tables: see pattern_dist.h. */
#include "lab/pattern_dist.h"

#include <stdlib.h>

#include "lab/rng_tables.h"

#define MICRO 1000000

enum {
	EXACT_BITS = 6, /* ranks below 2^6 have a stretch each */
	STEP_BITS = 5,	/* stretches per doubling */
	ROOM = (1 << EXACT_BITS) + (64 << STEP_BITS) + 1,
	/* Likelihood of the hottest stretch. Sums stay below 2^48, which lab_rng_below() wants. */
	SCALE_BITS = 36,
	MANTISSA_BITS = 31,
	NORMAL_DRAWS = 12, /* variance of their sum: 12 x 1/12 */
};

__extension__ typedef __int128 s128;

/* 2^(y + SCALE_BITS) for y <= 0 in 32 fraction bits, by searching the logarithm. */
static uint64_t power_of_two(int64_t y)
{
	int64_t whole = y >> 32;
	uint64_t fraction = (uint64_t)y & UINT32_MAX;
	uint64_t mantissa = UINT64_C(1) << MANTISSA_BITS;
	int bit, shift;

	for (bit = MANTISSA_BITS - 1; bit >= 0; bit--) {
		uint64_t more = mantissa | UINT64_C(1) << bit;

		if (lab_log2_q32(more) - ((uint64_t)MANTISSA_BITS << 32) <= fraction)
			mantissa = more;
	}
	shift = SCALE_BITS - MANTISSA_BITS + (int)(whole < -64 ? -64 : whole);
	if (shift >= 0)
		return mantissa << shift;
	return shift > -64 ? mantissa >> -shift : 0;
}

static bool make_stretches(struct lab_ranks *r, uint64_t n)
{
	uint64_t at = 0;

	r->first = malloc(ROOM * sizeof(*r->first));
	r->before = malloc(ROOM * sizeof(*r->before));
	if (!r->first || !r->before) {
		lab_ranks_free(r);
		return false;
	}
	r->nr = 0;
	while (at < n) {
		unsigned int bits = at >> EXACT_BITS ? 63u - (unsigned int)__builtin_clzll(at) : 0;
		uint64_t step = bits > STEP_BITS ? UINT64_C(1) << (bits - STEP_BITS) : 1;

		r->first[r->nr++] = at;
		at += step;
	}
	r->first[r->nr] = n;
	return true;
}

/* log2 of the likelihood of ranks first..end-1: their number times that of the one in the middle.
 */
static int64_t zipf_log(uint64_t first, uint64_t end, uint32_t theta_micro)
{
	/* Twice the middle, counted from 1, so that it is an integer. */
	int64_t middle = (int64_t)lab_log2_q32(first + end + 1) - ((int64_t)1 << 32);

	return (int64_t)lab_log2_q32(end - first) - (int64_t)((s128)middle * theta_micro / MICRO);
}

bool lab_ranks_zipf(struct lab_ranks *r, uint64_t n, uint32_t theta_micro)
{
	int64_t largest = INT64_MIN;
	uint64_t sum = 0;
	uint32_t i;

	if (!make_stretches(r, n))
		return false;
	for (i = 0; i < r->nr; i++) {
		int64_t log = zipf_log(r->first[i], r->first[i + 1], theta_micro);

		if (log > largest)
			largest = log;
	}
	for (i = 0; i < r->nr; i++) {
		r->before[i] = sum;
		sum += power_of_two(zipf_log(r->first[i], r->first[i + 1], theta_micro) - largest);
	}
	r->before[r->nr] = sum;
	return true;
}

bool lab_ranks_pareto(struct lab_ranks *r, uint64_t n, uint32_t h_micro)
{
	const int64_t log_million = (int64_t)lab_log2_q32(MICRO);
	int64_t log_n = (int64_t)lab_log2_q32(n);
	int64_t cold = (int64_t)lab_log2_q32(MICRO - h_micro) - log_million;
	int64_t hot = (int64_t)lab_log2_q32(h_micro) - log_million;
	uint32_t i;

	if (!make_stretches(r, n))
		return false;
	r->before[0] = 0;
	for (i = 1; i < r->nr; i++) {
		s128 log = (s128)((int64_t)lab_log2_q32(r->first[i]) - log_n) * cold / hot;

		r->before[i] = power_of_two(log < -((s128)64 << 32) ? -((int64_t)64 << 32)
								    : (int64_t)log);
	}
	r->before[r->nr] = UINT64_C(1) << SCALE_BITS;
	return true;
}

void lab_ranks_free(struct lab_ranks *r)
{
	free(r->first);
	free(r->before);
	r->first = NULL;
	r->before = NULL;
}

uint64_t lab_ranks_draw(const struct lab_ranks *r, struct lab_rng *rng)
{
	uint64_t u = lab_rng_below(rng, r->before[r->nr]);
	uint32_t low = 0, high = r->nr;
	uint64_t span;

	/* before[low] <= u < before[high] */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (r->before[middle] <= u)
			low = middle;
		else
			high = middle;
	}
	span = r->first[low + 1] - r->first[low];
	return r->first[low] + (span > 1 ? lab_rng_below(rng, span) : 0);
}

uint64_t lab_normal_draw(struct lab_rng *rng, uint64_t n, uint64_t center, uint32_t percent_micro)
{
	int64_t sum = -((int64_t)NORMAL_DRAWS << 31); /* minus the mean */
	s128 at;
	int i;

	for (i = 0; i < NORMAL_DRAWS; i++)
		sum += (int64_t)(lab_rng_u64(rng) >> 32);
	/* sum is a standard deviate in 32 fraction bits; n < 2^48, percent < 2^27: below 2^113 */
	at = (s128)sum * (int64_t)n / ((int64_t)100 * MICRO) * percent_micro / ((s128)1 << 32);
	at = (at + (s128)center) % (int64_t)n;
	return (uint64_t)(at < 0 ? at + (s128)n : at);
}
