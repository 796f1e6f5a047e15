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

#include "core/assert.h"
#include "core/fixed.h"
#include "core/memory.h"

struct weir_bins {
	uint32_t bucket[WEIR_HIST_BUCKETS];
};

/*
 * One cache line, which every request touches; what they have in common with struct weir_dir_stats
 * is described there. The number inserted is the sum of what became of them.
 */
struct weir_counters {
	uint64_t completed, bytes, device_ns;
	uint64_t queue_wait_ns, queue_wait_max_ns;
	uint64_t service_ns, service_max_ns;
	uint32_t waiting, in_flight;
};

struct weir_rare_counters {
	uint64_t merged, removed, requeued;
};

/* All that requests of one direction are counted in. */
struct weir_tally {
	struct weir_counters count;
	struct weir_bins bins[WEIR_NR_HISTS];
} __attribute__((aligned(WEIR_LINE_BYTES)));

struct weir_stats {
	struct weir_rare_counters rare[WEIR_NR_DIRS];
	uint64_t flushes;
};

static inline unsigned int weir_hist_index(uint64_t value_ns)
{
	const uint64_t least = UINT64_C(1) << WEIR_HIST_MIN_BITS;
	const uint64_t end = UINT64_C(1) << WEIR_HIST_MAX_BITS;
	const unsigned int first = (WEIR_HIST_MIN_BITS - WEIR_HIST_SUB_BITS + 1)
				   << WEIR_HIST_SUB_BITS;
	unsigned int shift;

	/* What lies outside belongs to the first bucket or the last. */
	if (weir_unlikely(value_ns - least >= end - least))
		return value_ns < least ? 0 : WEIR_HIST_BUCKETS - 1;
	/* What is left of the value, 8 to 15, adds the sub-bucket and one more power of two. */
	shift = weir_log2(value_ns) - WEIR_HIST_SUB_BITS;
	return (shift << WEIR_HIST_SUB_BITS) + (unsigned int)(value_ns >> shift) - first;
}

/* *bucket was full, and is 0 after one more. */
weir_seldom void weir_bins_overflow(struct weir_bins *b, uint32_t *bucket);

static inline void weir_bins_add(struct weir_bins *b, uint64_t value_ns)
{
	uint32_t *bucket = &b->bucket[weir_hist_index(value_ns)];

	if (__builtin_expect(!++*bucket, 0))
		weir_bins_overflow(b, bucket);
}

/* A removed child's counters become its parent's own. */
void weir_stats_fold(struct weir_group *into, struct weir_group *from);

#endif
