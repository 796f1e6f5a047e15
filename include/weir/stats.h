/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happened to a group. The same for every policy. Identities that a test holds:
 *
 *   inserted  = completed + merged + removed + waiting + in flight       (per direction)
 *   sum(wait_ns[]) = backlogged_ns                                       (to the nanosecond)
 *   device_ns of a node = its own requests' + its children's
 */
#ifndef WEIR_STATS_H
#define WEIR_STATS_H

#include <weir/types.h>

/*
 * Histogram: log2 with 8 sub-buckets, from 1.024 us to 68.7 s; below and above are clamped into the
 * first and last bucket. A bucket's value is its upper bound, so percentiles err upwards by at most
 * one eighth.
 */
#define WEIR_HIST_SUB_BITS 3
#define WEIR_HIST_MIN_BITS 10
#define WEIR_HIST_MAX_BITS 36
#define WEIR_HIST_BUCKETS ((WEIR_HIST_MAX_BITS - WEIR_HIST_MIN_BITS) << WEIR_HIST_SUB_BITS)

struct weir_hist {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t max_ns;
	uint64_t bucket[WEIR_HIST_BUCKETS];
};

struct weir_dir_stats {
	uint64_t inserted, completed, removed;
	uint64_t merged;	/* requests absorbed by another before dispatch */
	uint64_t requeued;	/* re-insertions and re-issues */
	uint64_t bytes;		/* completed */
	uint64_t device_ns;	/* charged at dispatch and merge, by the profile */
	uint32_t waiting;	/* held or queued now */
	uint32_t in_flight;	/* dispatched now */
	uint64_t queue_wait_ns; /* sum over dispatched requests, insert to dispatch */
	uint64_t queue_wait_max_ns;
	uint64_t service_ns; /* sum over completed requests, dispatch to completion */
	uint64_t service_max_ns;
};

struct weir_group_stats {
	struct weir_dir_stats dir[WEIR_NR_DIRS];
	uint64_t flushes; /* completed; they also count in dir[WEIR_WRITE], with 0 bytes */
	uint64_t backlogged_ns;
	uint64_t wait_ns[WEIR_NR_WAITS];
	uint64_t entitled_ns; /* integral of the group's share over in_use_ns */
	uint64_t in_use_ns;   /* time with something queued in the policy or in flight, anywhere */
	uint64_t active_ns;   /* time queued, held, in flight, or within its claim */
	/* Floor, cumulative: what was missing to it, in bytes and requests, by reason. */
	uint64_t floor_backlogged_ns;
	uint64_t floor_deficit_device_bytes, floor_deficit_device_ios;
	uint64_t floor_deficit_demand_bytes, floor_deficit_demand_ios;
	/* Latency target, over the periods of 100 ms that had samples. */
	uint64_t latency_periods, latency_missed;
	int64_t latency_blocker; /* id of the group in the way, maybe its own; -1: none */
};

/* The node and all below it. O(subtree). */
void weir_group_read_stats(struct weir_group *g, uint64_t now, struct weir_group_stats *out);
/*
 * The node's own requests only: counters and entitlement. Waits, floor and latency stay those of
 * the node, which only has one of each. O(depth).
 */
void weir_group_read_own_stats(struct weir_group *g, uint64_t now, struct weir_group_stats *out);

/* What the group's own requests of one direction are doing just now. */
struct weir_load {
	uint32_t queued, held, in_flight;
};
/* O(1), and without any effect: no time passes. */
void weir_group_read_load(const struct weir_group *g, enum weir_dir dir, struct weir_load *out);

enum weir_hist_kind {
	WEIR_HIST_QUEUE_WAIT,
	WEIR_HIST_SERVICE,
	WEIR_NR_HISTS,
};
void weir_group_read_hist(struct weir_group *g, enum weir_dir dir, enum weir_hist_kind kind,
			  struct weir_hist *out);
void weir_hist_add(struct weir_hist *h, uint64_t value_ns);
/* ppm: parts per million, 990000 is p99. 0 for an empty histogram. */
uint64_t weir_hist_percentile_ns(const struct weir_hist *h, uint32_t ppm);

/* All counters of all groups back to zero; what is in flight or waiting stays counted. O(n). */
void weir_stats_reset(struct weir *w, uint64_t now);

const char *weir_wait_cause_name(enum weir_wait_cause cause);

#endif
