/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Were a group's floor and latency target met? The same judge for every policy, also for those that
 * do not know either.
 *
 * Both are judged over windows of 100 ms. Floor: what completed in the subtree against rate x
 * window. What is missing is split by the time that the group was backlogged in the window: that
 * part is the device's (or the policy's) fault, the rest is demand that did not come; and all of it
 * is demand in a direction in which nothing was asked. Latency: missed when more than a tenth of
 * the window's completions took longer, insert to completion, than the target.
 *
 * A window ends with the first completion in the group 100 ms or more after its begin, which still
 * counts in it, and is judged over its real length: so windows hold whole requests, and a steady
 * stream has no better and worse ones. A change of either attribute ends it, too; and so does
 * reading, if nothing has for 200 ms. O(1) per event, O(depth) where ancestors have floors.
 */
#ifndef WEIR_CORE_JUDGE_H
#define WEIR_CORE_JUDGE_H

#include <weir/request.h>
#include <weir/stats.h>

#define WEIR_JUDGE_WINDOW_NS UINT64_C(100000000)

struct weir_judge {
	bool on;			     /* has a floor or a latency target */
	uint64_t since_ns, backlogged_at_ns; /* start of the window, backlogged_ns at that time */
	uint64_t bytes[WEIR_NR_DIRS], ios[WEIR_NR_DIRS];
	uint32_t nr_rqs[WEIR_NR_DIRS]; /* of the subtree, inserted since it is judged */
	/* In this window there were such for asked_ns, and are again since then. */
	uint64_t asked_ns[WEIR_NR_DIRS], asked_since_ns[WEIR_NR_DIRS];
	uint64_t floor_backlogged_ns;
	uint64_t deficit_device_bytes, deficit_device_ios;
	uint64_t deficit_demand_bytes, deficit_demand_ios;
	uint32_t samples, over;
	uint64_t latency_periods, latency_missed;
	int64_t blocker;
};

/* low or latency_target are about to change: what was until now is judged by the old. */
void weir_judge_changing(struct weir_group *g, uint64_t now);
/* They changed. */
void weir_judge_changed(struct weir_group *g, uint64_t now);
/* A request of g was inserted; left, in whatever way. Only if the instance judges anybody. */
void weir_judge_insert(struct weir_group *g, enum weir_dir dir);
void weir_judge_left(struct weir_group *g, enum weir_dir dir);
/* A request of g completed. Only if the instance judges anybody (w->nr_judged). */
void weir_judge_complete(struct weir_group *g, const struct weir_rq *rq, uint64_t now);
void weir_judge_read(struct weir_group *g, uint64_t now, struct weir_group_stats *out);
void weir_judge_reset(struct weir_group *g, uint64_t now);
/* For policies: who stands in the way of g's target. */
void weir_judge_blocker(struct weir_group *g, int64_t blocker);

#endif
