/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters and histograms of a group's own requests, always on. Ancestors are summed on reading.
 *
 * Histogram buckets are 32 bits, to keep 10,000 groups in memory: when one is full, all buckets of
 * that histogram are halved, which keeps percentiles; counts and sums are kept apart in 64 bits.
 */
#ifndef WEIR_CORE_STATS_H
#define WEIR_CORE_STATS_H

#include <weir/stats.h>

#include "core/fixed.h"

struct weir_bins {
	uint32_t bucket[WEIR_HIST_BUCKETS];
};

struct weir_stats {
	struct weir_dir_stats dir[WEIR_NR_DIRS];
	uint64_t flushes;
	struct weir_bins *bins; /* [dir][kind], WEIR_NR_DIRS x WEIR_NR_HISTS of them */
};

static inline unsigned int weir_hist_index(uint64_t value_ns)
{
	unsigned int log, sub;

	if (value_ns < UINT64_C(1) << WEIR_HIST_MIN_BITS)
		return 0;
	if (value_ns >= UINT64_C(1) << WEIR_HIST_MAX_BITS)
		return WEIR_HIST_BUCKETS - 1;
	log = weir_log2(value_ns);
	sub = (unsigned int)(value_ns >> (log - WEIR_HIST_SUB_BITS)) &
	      ((1u << WEIR_HIST_SUB_BITS) - 1);
	return ((log - WEIR_HIST_MIN_BITS) << WEIR_HIST_SUB_BITS) + sub;
}

void weir_bins_halve(struct weir_bins *b);

static inline void weir_bins_add(struct weir_bins *b, uint64_t value_ns)
{
	uint32_t *bucket = &b->bucket[weir_hist_index(value_ns)];

	if (__builtin_expect(*bucket == UINT32_MAX, 0))
		weir_bins_halve(b);
	++*bucket;
}

int weir_stats_init(struct weir_stats *s, const struct weir_host *host);
void weir_stats_free(struct weir_stats *s, const struct weir_host *host);
/* A removed child's counters become the parent's own. */
void weir_stats_fold(struct weir_stats *into, const struct weir_stats *from);

#endif
