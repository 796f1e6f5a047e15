/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the files of mclock. mclock.c has the whole story and the hooks; tags.c knows when a
 * request is due, may go, and whose turn it is by weight.
 */
#ifndef WEIR_POLICY_MCLOCK_INTERNAL_H
#define WEIR_POLICY_MCLOCK_INTERNAL_H

#include "core/assert.h"
#include "core/fixed.h"
#include "core/group.h"
#include "core/list.h"
#include "core/rbtree.h"
#include "core/spi.h"
#include "core/spi_state.h"

enum {
	/*
	 * Proportional tags are device time / weight, in ns << P_SHIFT, with the remainder kept. They
	 * never wrap: at a weight of 1 that would take 36 years of the whole device.
	 */
	MCLOCK_P_SHIFT = 4,
	/* Cost of a request with unit_cost, as if in ns: can be divided by many a weight. */
	MCLOCK_UNIT_COST = 1008000,
	/* Requests of a batch are so near to each other: 4 MB. */
	MCLOCK_NEAR_SECTORS = 8192,
};

/* No tag is further away than this: 73 years. */
#define MCLOCK_FAR_NS (UINT64_C(1) << 61)

enum {
	MCLOCK_DEPTH,
	MCLOCK_ANTICIPATION,
	MCLOCK_BURST,
	MCLOCK_BATCH,
	MCLOCK_OVER_LIMIT,
	MCLOCK_UNIT_COST_EACH,
};

/* A rate of bytes or requests, and the tag that it gives to the first request of a queue. */
struct mclock_clock {
	uint64_t rate;	   /* per second; 0 is none */
	uint64_t since_ns; /* that it has been the rate: no tag is before */
	uint64_t prev_ns;  /* tag of the last that went; 0 is none */
	uint64_t rest;	   /* of the division, for the next */
	uint64_t tag_ns, cost_ns, next_rest;
};

enum {
	MCLOCK_BYTES,
	MCLOCK_IOS,
	MCLOCK_NR_CLOCKS,
};

/* Requests of one direction of a group. Its tags are those of its first. */
struct mclock_queue {
	struct weir_list fifo; /* rq->link */
	struct mclock_group *mg;
	struct mclock_clock reserve[MCLOCK_NR_CLOCKS]; /* due when the first of them is */
	struct mclock_clock limit[MCLOCK_NR_CLOCKS];   /* may go when all of them let it */
	struct weir_rb reserved; /* in mclock->reserved, by R, if it has one */
	struct weir_rb limited;	 /* in mclock->limited, by L, until that is past */
	uint64_t last_arrival_ns;
	bool in_reserved, in_limited;
	bool ready; /* has something, and its limit lets it go */
};

struct mclock_group {
	struct weir_group *group;
	struct mclock_queue queue[WEIR_NR_DIRS];
	struct mclock_queue *first; /* what would go by weight; NULL: nothing waits */
	struct weir_rb active;	    /* in mclock->active, by P, while something waits */
	struct weir_rb ready;	    /* in mclock->ready, by P, while something is ready */
	bool in_active, in_ready;
	uint64_t p_prev, p; /* of the last that went; of the first */
	uint64_t p_joined;  /* where the others were when it had its first */
	uint64_t p_rest;    /* of the division that gave p_prev */
};

struct mclock {
	struct weir_list express; /* rq->link */
	struct weir_rb_tree reserved, limited, active, ready;
	uint64_t p_time; /* what real time is to R and L: P of the last that went by weight */
	uint64_t p_max;
	uint32_t in_device;
	struct mclock_queue *batch; /* the last that was served, or NULL */
	uint32_t batched;	    /* how many it has had without a break */
	uint64_t batch_end;	    /* sector after the last of them */
};

/* In rq->policy. */
struct mclock_rq {
	uint64_t arrival_ns;
	bool express;
};

_Static_assert(sizeof(struct mclock_rq) <= WEIR_RQ_POLICY_BYTES, "does not fit into a request");

static inline struct mclock_rq *mclock_rq(struct weir_rq *rq)
{
	return (struct mclock_rq *)rq->policy;
}

static inline struct mclock_queue *mclock_queue_of(const struct weir_rq *rq)
{
	return &((struct mclock_group *)rq->group->policy)
			->queue[weir_op_dir((enum weir_op)rq->op)];
}

static inline struct weir_rq *mclock_first(const struct mclock_queue *q)
{
	return list_is_empty(&q->fifo) ? NULL : list_first(&q->fifo, struct weir_rq, link);
}

/* ---- tags.c ---- */

/* From the group's attributes. Tags of what waits must be computed again. */
void mclock_read_rates(struct mclock_group *mg, uint64_t now);
/* The first of the queue is another, or has grown, or has other rates. O(log n) */
void mclock_retag(struct weir *w, struct mclock *m, struct mclock_queue *q);
/* The group is about to get something, and had nothing: it joins at the level of the others. */
void mclock_join(const struct mclock *m, struct mclock_group *mg);
/* The first of q, still in it, goes; the next one's tags will follow its tags. */
void mclock_charge(struct weir *w, struct mclock *m, struct mclock_queue *q, bool by_weight);
/* What its limit lets go by now competes by weight. Nobody sees when that is noticed. */
void mclock_promote(struct weir *w, struct mclock *m);

#endif
