/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the files of TPPS. tpps.c has the whole story and the hooks; weights.c knows whose weight
 * counts, queue.c has the queues of processes, pull.c the rule that shares the driver.
 */
#ifndef WEIR_POLICY_TPPS_INTERNAL_H
#define WEIR_POLICY_TPPS_INTERNAL_H

#include "core/assert.h"
#include "core/fixed.h"
#include "core/group.h"
#include "core/list.h"
#include "core/rbtree.h"
#include "core/spi.h"
#include "core/spi_state.h"

enum {
	TPPS_MIN_QUOTA = 8, /* smaller quotas aren't worth a pull */
	/* blkcg's range; the original's default of 500 doesn't matter, only ratios do. */
	TPPS_MIN_WEIGHT = 10,
	TPPS_MAX_WEIGHT = 1000,
};

enum {
	TPPS_MAIL_FORMULA,
	TPPS_ACTIVE_WEIGHTS_ONLY,
	TPPS_CARRY_REMAINDER,
	TPPS_ROTATE_GROUPS,
	TPPS_SYNC_FIRST,
	TPPS_NR_REQUESTS,
};

enum {
	TPPS_ASYNC,
	TPPS_SYNC,
	TPPS_NR_FIFOS,
};

struct tpps_queue {
	struct weir_list fifo[TPPS_NR_FIFOS]; /* rq->link */
	struct weir_list turn;		      /* in group->turns while a fifo has something */
	bool taking_turns;
	bool alive;	     /* counts as one of its group's processes */
	uint32_t generation; /* of a context's queue: how often it has left a group */
};

struct tpps_group {
	struct weir_group *group;
	struct weir_rb busy;	/* in tpps->busy, by appearance, while `turns` has something */
	struct weir_list turns; /* queues with something to take, next one first */
	uint32_t nr_turns;
	uint32_t nr_queues; /* living */
	uint32_t nr_queued; /* in fifos and pulled */
	uint32_t in_driver;
	uint32_t weight;
	uint64_t appearance;  /* number of its first request; 0: none yet */
	bool in_total;	      /* weight counts in total_weight */
	bool in_active_total; /* and in active_weight */
	bool bonus;	      /* one more, from carried remainders */
	uint64_t carried;     /* remainders of quota * weight, less than the total weight */
	struct tpps_queue anonymous;
};

struct tpps {
	struct weir_rb_tree busy;
	struct weir_list pulled; /* taken and on the way to the driver: rq->link */
	uint64_t total_weight, active_weight;
	uint64_t appearances;
	uint64_t arrivals;
	uint64_t rotation; /* appearance of the group that began the last pull */
	uint32_t nr_busy;
	uint32_t in_driver;
	bool completed; /* since remainders were last carried */
};

/* In rq->policy. */
struct tpps_rq {
	uint64_t arrival;
	uint32_t generation; /* its queue's, then; another now: the queue has left without it */
	bool anonymous;
	bool pulled;
	bool fence; /* among the pulled: never overtaken by sorting */
};

_Static_assert(sizeof(struct tpps_rq) <= WEIR_RQ_POLICY_BYTES, "does not fit into a request");

static inline struct tpps_rq *tpps_rq(struct weir_rq *rq)
{
	return (struct tpps_rq *)rq->policy;
}

static inline struct tpps_group *tpps_group(const struct weir_group *g)
{
	return g->policy;
}

static inline bool tpps_option(const struct weir *w, unsigned int index)
{
	return weir_policy_tunable(w, index);
}

static inline struct tpps_group *tpps_group_of(struct weir_rb *node)
{
	return weir_container_of(node, struct tpps_group, busy);
}

/* ---- weights.c ---- */

/* Must follow each change of a group's queues, requests and number in the driver. */
void tpps_count_weight(struct tpps *tpps, struct tpps_group *tg);
/* From the group's attributes, clamped, with a note if so. */
void tpps_read_weight(struct tpps_group *tg);

/* ---- queue.c ---- */

void tpps_queue_init(struct tpps_queue *q);
/* The queue that a queued request is in; for one that is being inserted, the queue to put it in. */
struct tpps_queue *tpps_queue_of(struct weir_rq *rq);
/* It has got something, or has lost its last: it joins or leaves its group's turns. */
void tpps_queue_changed(struct tpps *tpps, struct tpps_group *tg, struct tpps_queue *q);
void tpps_queue_came_alive(struct tpps *tpps, struct tpps_group *tg, struct tpps_queue *q);
void tpps_queue_died(struct tpps *tpps, struct tpps_group *tg, struct tpps_queue *q);
void tpps_queue_append(struct tpps *tpps, struct tpps_queue *q, struct weir_rq *rq);
/* The next to be taken; the queue has something. */
struct weir_rq *tpps_queue_first(const struct weir *w, struct tpps_queue *q);
/* A queued request that has not been pulled leaves its queue. */
void tpps_queue_take(struct tpps *tpps, struct weir_rq *rq);
/* Everything in the one goes to the end of the other. */
void tpps_queue_splice(struct tpps_queue *from, struct tpps_queue *to);

/* ---- pull.c ---- */

/* The group that begins a pull. There is a busy one. */
struct weir_rb *tpps_first_busy(const struct weir *w, const struct tpps *tpps);
/* One request of each queue in turn, up to `most`. Returns how many. */
uint32_t tpps_pull_from_group(struct weir *w, struct tpps *tpps, struct tpps_group *tg,
			      uint64_t most);
/*
 * One pull by the rule; there is a busy group. Returns how many requests were taken; with none,
 * *next is the group that is nearest to being given something.
 */
uint32_t tpps_pull(struct weir *w, struct tpps *tpps, struct weir_group **next);

#endif
