/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a group waited.
 *
 * Problem: each nanosecond in which a node has a request that is inserted and not dispatched
 * belongs to exactly one of seven causes, for every node of the tree, at O(1) an event.
 *
 * Most causes are the same for all groups that wait: the device is full, or kept idle, or the host
 * has not asked. So the instance keeps one clock per such state, of which one runs at a time
 * (weir_wait_set()). A node copies the clocks when it becomes ready (has something queued in the
 * policy) and takes the differences when it no longer is. Two things are a node's own:
 *
 *   - all that waits is held by a ceiling: then time runs into `ceiling`, not from the clocks,
 *     until the ceiling lets go; what passes from then until the host asks is `host`;
 *   - it is on the path to the request that goes next: while the device is full, that time is
 *     `device` instead of `share` or `floor`. Only one path is next at a time, and its nodes are
 *     told when that changes, or when one of them ceases to be ready.
 *
 * Example: A and B are backlogged, the device is full from 100 to 400 ns, A is next. At 400 A's
 * request goes. A: device 300. B: share 300. Both sum to the 300 ns that they were backlogged.
 */
#ifndef WEIR_CORE_WAIT_H
#define WEIR_CORE_WAIT_H

#include <weir/stats.h>

#include "core/assert.h"

/* States of the instance, each with a clock. */
enum weir_wait_state {
	WEIR_CLOCK_HOST,
	WEIR_CLOCK_IDLE,
	WEIR_CLOCK_LATENCY,
	WEIR_CLOCK_SHARE, /* full; others than the next wait for their turn */
	WEIR_CLOCK_FLOOR, /* full; others than the next wait for its floor */
	WEIR_NR_CLOCKS,
	WEIR_NR_PLAIN_CLOCKS = WEIR_CLOCK_SHARE, /* those that are the same for all */
};

struct weir_wait_clocks {
	enum weir_wait_state state;
	uint64_t clock_ns[WEIR_NR_CLOCKS];
	struct weir_group *next;	       /* leaf end of the path that goes next, or NULL */
	uint64_t next_share_ns, next_floor_ns; /* up to these clocks its time is in the nodes */
};

/*
 * What is touched while the node stays backlogged. share_ns and floor_ns are what those clocks
 * showed when the node became ready, moved on by the time in which it was next, which is in
 * device_ns.
 */
struct weir_wait {
	uint32_t nr_ready; /* own requests in the policy, and children with such below them */
	uint32_t nr_held;  /* own requests that a ceiling holds, and the same */
	uint64_t share_ns, floor_ns;
	uint64_t device_ns; /* the sum, instead of wait_ns[WEIR_WAIT_DEVICE] */
};

/* What is touched when it begins or ceases to be so. */
struct weir_wait_sums {
	uint64_t backlogged_since_ns, held_since_ns;
	uint64_t plain_ns[WEIR_NR_PLAIN_CLOCKS];
	uint64_t backlogged_ns;
	uint64_t wait_ns[WEIR_NR_WAITS];
};

/* The instance's time moves on: O(1). */
static inline void weir_wait_advance(struct weir_wait_clocks *c, uint64_t passed_ns)
{
	c->clock_ns[c->state] += passed_ns;
}

static inline void weir_wait_set(struct weir_wait_clocks *c, enum weir_wait_state state)
{
	c->state = state;
}

static inline bool weir_wait_is_backlogged(const struct weir_wait *wt)
{
	return wt->nr_ready || wt->nr_held;
}

/*
 * The first own request of a node waits in the policy, or the last ceases to. Both tell the parent,
 * if it is its first or last child: O(depth). wait_count.h has what comes before.
 */
weir_seldom void weir_wait_ready_begin(struct weir_group *g, uint64_t free_ns, uint64_t now);
weir_seldom void weir_wait_ready_end(struct weir_group *g, uint64_t now);
/* One more or less of g's own requests is held by a ceiling. What is let go is ready first. */
void weir_wait_held_inc(struct weir_group *g, uint64_t now);
void weir_wait_held_dec(struct weir_group *g, uint64_t now);

/* g's request is the next to go. O(depth of the one before); O(1) if it was already. */
void weir_wait_set_next(struct weir_wait_clocks *c, struct weir_group *g);
/* g's storage goes. */
void weir_wait_forget(struct weir_wait_clocks *c, struct weir_group *g);

/* Sums up to now, without changing the state. */
void weir_wait_read(const struct weir_group *g, uint64_t now, uint64_t *backlogged_ns,
		    uint64_t wait_ns[WEIR_NR_WAITS]);
void weir_wait_reset(struct weir_group *g, uint64_t now);

#endif
