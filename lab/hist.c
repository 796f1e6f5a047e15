// SPDX-License-Identifier: GPL-2.0-only
/* The reading side of the latency histogram: see hist.h. */
#include "lab/hist.h"

#include <string.h>

#define PERCENT_MICRO 100000000u

void lab_lat_init(struct lab_lat *l)
{
	memset(l, 0, sizeof(*l));
	l->min_ns = UINT64_MAX;
}

void lab_lat_merge(struct lab_lat *into, const struct lab_lat *from)
{
	unsigned int i;

	into->nr += from->nr;
	into->sum_ns += from->sum_ns;
	into->sum_squares += from->sum_squares;
	if (from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	for (i = 0; i < LAB_HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
}

uint64_t lab_hist_value_ns(unsigned int index)
{
	unsigned int shift;

	if (index < 2 * LAB_HIST_PER_GROUP)
		return index;
	shift = (index >> LAB_HIST_BITS) - 1;
	return ((uint64_t)(index - (shift << LAB_HIST_BITS)) << shift) + (UINT64_C(1) << shift) / 2;
}

uint64_t lab_lat_percentile_ns(const struct lab_lat *l, uint32_t percent_micro)
{
	uint64_t seen = 0, value = 0;
	unsigned int i;

	if (!l->nr)
		return 0;
	if (percent_micro >= PERCENT_MICRO)
		return l->max_ns;
	for (i = 0; i < LAB_HIST_BUCKETS; i++) {
		if (!l->bucket[i])
			continue;
		seen += l->bucket[i];
		value = lab_hist_value_ns(i);
		if ((lab_u128)seen * PERCENT_MICRO >= (lab_u128)l->nr * percent_micro)
			break;
	}
	/* A middle may lie outside of what was seen; the extremes are known exactly. */
	if (value > l->max_ns || (i >= LAB_HIST_BUCKETS - 1 && seen == l->nr))
		return l->max_ns;
	return value < l->min_ns ? l->min_ns : value;
}

double lab_lat_mean_ns(const struct lab_lat *l)
{
	return l->nr ? (double)l->sum_ns / (double)l->nr : 0;
}

/* The largest root with root * root <= x. */
static uint64_t root128(lab_u128 x)
{
	uint64_t root = 0;
	int bit;

	for (bit = 63; bit >= 0; bit--) {
		uint64_t more = root | UINT64_C(1) << bit;

		if ((lab_u128)more * more <= x)
			root = more;
	}
	return root;
}

/* Integers up to the last step: the difference of two large floats would be noise. */
double lab_stddev(uint64_t nr, uint64_t sum, lab_u128 sum_squares)
{
	const unsigned int fraction_bits = 10;
	lab_u128 variance, mean;

	if (nr < 2)
		return 0;
	if (sum_squares <= ~(lab_u128)0 / nr) {
		variance = sum_squares * nr - (lab_u128)sum * sum;
		variance /= (lab_u128)nr * (nr - 1);
	} else {
		mean = sum / nr;
		variance = sum_squares / nr - mean * mean;
	}
	/* Below 2^68, as latencies of more than 2^34 ns are not of interest; larger ones lose bits.
	 */
	if (variance >> (128 - 2 * fraction_bits))
		return (double)root128(variance);
	return (double)root128(variance << 2 * fraction_bits) / (1u << fraction_bits);
}
