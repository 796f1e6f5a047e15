/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The limits stage: io.max, before every policy.
 *
 * Problem: ceilings in bytes and requests per second at any node of the tree, exact within 1 % from
 * 1 IOPS and 4 KiB/s upwards, also while they change; one group's ceiling must not hold another's
 * requests; what a parent's ceiling lets through is split among its children by weight.
 *
 * Model: each direction has a tree of flows that mirrors the group tree. A request that may not go
 * yet is held in its group's own flow. A flow is open when both its clocks (bytes and requests)
 * have come; letting a request through moves a clock on by size / rate: virtual scheduling, the
 * exact form of a token bucket (ITU-T I.371 GCRA). The remainder of each division is kept, so rates
 * do not drift. A flow that has something to offer stands either in its parent's `ready` heap, by
 * virtual time in device time / weight, or, while it is closed, in the instance's timer heap. One
 * release walks from the root to the smallest tags and charges every level of the path at once, so
 * nothing is charged that does not go.
 *
 * Credit: a flow that had something to offer may catch up on LATE_NS of the host's lateness, or on
 * half of what the request costs it, if that is more: 0.8 % of a second, or 0.5 % of the time that
 * 100 requests take. It had something to offer if a request was held in its subtree, or if the
 * group was refused a place in the pool and comes only now. One that had nothing gets SLACK_NS, and
 * only where a request costs it less than CREDIT_INTERVAL_NS: at 3,000 IOPS 4 ms are 12 requests,
 * 0.4 % of a second, while at 1 IOPS no request comes early.
 *
 * Worked example: parent 20 MB/s, two children of 15 MB/s each and equal weight, all backlogged.
 * The parent opens each 50 ns a byte; it takes from the child with the smaller tag, which then is
 * closed for 66 ns a byte: never longer than until its next turn. So each gets 10 MB/s.
 */
#ifndef WEIR_CORE_LIMITS_H
#define WEIR_CORE_LIMITS_H

#include <weir/group.h>

#include "core/heap.h"

enum {
	/* How much of the host's lateness a flow may catch up on: a thread's wake-up and its turn. */
	WEIR_LIMIT_LATE_NS = 8000000,
	/* The same without backlog, where it is not known who was late; and what may join. */
	WEIR_LIMIT_SLACK_NS = 4000000,
	/* Without backlog, slack is given only to requests that cost the flow less than this. */
	WEIR_LIMIT_CREDIT_INTERVAL_NS = 1000000,
};

/* One clock: the time at which the next request may pass, and the fraction lost by division. */
struct weir_limit_clock {
	uint64_t rate; /* per second, or WEIR_UNLIMITED */
	uint64_t next_ns;
	uint64_t rest;
};

struct weir_flow {
	struct weir_limit_clock bytes, ios;
	struct weir_list held; /* own requests, by `link` */
	uint32_t nr_held;
	uint32_t nr_pending;		  /* requests held in the subtree */
	struct weir_heap ready;		  /* children's flows and the own requests, by tag */
	struct weir_heap_entry ready_one; /* of ready, while there are no children */
	uint64_t vtime;			  /* tag of the last that was let through */
	uint64_t tag, own_tag;
	struct weir_heap_item in_ready, own_in_ready, in_timer;
	bool limited; /* has a rate of its own */
	bool refused; /* a place in the pool, since the group's last request: someone waits outside */
};

struct weir_rq;

int weir_limits_group_init(struct weir_group *g);
void weir_limits_group_exit(struct weir_group *g);
/* attr.max of g changed. What the old rate still had to wait for is converted. O(log n). */
void weir_limits_changed(struct weir_group *g, uint64_t now);
/* Bytes that a ceiling sees: a discard or zeroing moves no data; it counts as one sector. */
uint64_t weir_limit_bytes(const struct weir_rq *rq);
/* Is the request free to go at once? If so it is charged. O(depth). */
bool weir_limits_pass(struct weir_rq *rq, uint64_t now);
/* Charges without asking: flushes, metadata, head insertions, merges. Debt delays what follows. */
void weir_limits_charge(struct weir_group *g, enum weir_dir dir, uint64_t bytes, uint32_t ios,
			uint64_t now);
/* Holds a request that may not pass. O(depth log n). */
void weir_limits_hold(struct weir_rq *rq, uint64_t now);
/* A held request leaves without passing. */
void weir_limits_unhold(struct weir_rq *rq, uint64_t now);
/*
 * The next request that is free to go, charged and unlinked; NULL if none is now. Its release_ns
 * says since when it was free: earlier than now if the host is late.
 */
struct weir_rq *weir_limits_next(struct weir *w, uint64_t now);
/* Drain: the next held request, whatever its limits. */
struct weir_rq *weir_limits_force(struct weir *w, uint64_t now);
/* Earliest time at which weir_limits_next() can give something, or WEIR_NEVER. O(1). */
uint64_t weir_limits_when(const struct weir *w);
/*
 * May held requests of g become one with so many bytes, counted as so many? It will pass in one
 * piece, so it may be no more than could come early anyway. O(depth).
 */
bool weir_limits_may_join(const struct weir_group *g, enum weir_dir dir, uint64_t bytes,
			  uint32_t ios);
/* May a bio merge into a request that has passed already? Not while its group is being held. */
bool weir_limits_may_grow(const struct weir_group *g, enum weir_dir dir, uint64_t now);
/* Clocks begin afresh; nothing is held. */
void weir_limits_reset(struct weir *w);

#endif
