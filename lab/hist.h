/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Client latencies, as fine as fio's: 29 groups of 64 buckets over nanoseconds, so that a value is
 * known within 1/128 and fio's tools can merge our bins with theirs.
 *
 * Below 128 ns each value has a bucket of its own; from there on each doubling has 64. A bucket is
 * reported as its middle; values of 2^34 ns and more all lie in the last group.
 */
#ifndef LAB_HIST_H
#define LAB_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAB_HIST_BITS 6
#define LAB_HIST_PER_GROUP (1u << LAB_HIST_BITS)
#define LAB_HIST_GROUPS 29
#define LAB_HIST_BUCKETS (LAB_HIST_GROUPS * LAB_HIST_PER_GROUP)

/* The sum of squares of 2^31 latencies of an hour each fits into 128 bits. */
__extension__ typedef unsigned __int128 lab_u128;

struct lab_lat {
	uint64_t nr;
	uint64_t min_ns, max_ns; /* min_ns is UINT64_MAX while nr is 0 */
	uint64_t sum_ns;
	lab_u128 sum_squares;
	uint64_t bucket[LAB_HIST_BUCKETS];
};

static inline unsigned int lab_hist_index(uint64_t ns)
{
	unsigned int shift, index;

	if (ns < 2 * LAB_HIST_PER_GROUP)
		return (unsigned int)ns;
	/* The highest bit and the six below it remain; each further halving is one group more. */
	shift = 63u - (unsigned int)__builtin_clzll(ns) - LAB_HIST_BITS;
	index = (shift << LAB_HIST_BITS) + (unsigned int)(ns >> shift);
	return index < LAB_HIST_BUCKETS ? index : LAB_HIST_BUCKETS - 1;
}

static inline void lab_lat_add(struct lab_lat *l, uint64_t ns)
{
	l->nr++;
	l->sum_ns += ns;
	l->sum_squares += (lab_u128)ns * ns;
	if (ns < l->min_ns)
		l->min_ns = ns;
	if (ns > l->max_ns)
		l->max_ns = ns;
	l->bucket[lab_hist_index(ns)]++;
}

void lab_lat_init(struct lab_lat *l);
void lab_lat_merge(struct lab_lat *into, const struct lab_lat *from);

/* What a bucket stands for: its middle. */
uint64_t lab_hist_value_ns(unsigned int index);
/* The smallest value such that percent_micro (percent x 10^6) of all are not above it. 0: no
 * values. */
uint64_t lab_lat_percentile_ns(const struct lab_lat *l, uint32_t percent_micro);
double lab_lat_mean_ns(const struct lab_lat *l);
/* Deviation of the sample: over nr - 1. */
double lab_stddev(uint64_t nr, uint64_t sum, lab_u128 sum_squares);
static inline double lab_lat_stddev_ns(const struct lab_lat *l)
{
	return lab_stddev(l->nr, l->sum_ns, l->sum_squares);
}

#endif
