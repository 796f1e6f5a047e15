/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the files of mq-deadline. mq-deadline.c has the whole story and the hooks; choose.c knows
 * which request goes.
 */
#ifndef WEIR_POLICY_MQ_DEADLINE_INTERNAL_H
#define WEIR_POLICY_MQ_DEADLINE_INTERNAL_H

#include "core/assert.h"
#include "core/fixed.h"
#include "core/spi.h"
#include "core/spi_state.h"
#include "policy/sorted.h"

enum {
	MQD_READ_EXPIRE,
	MQD_WRITE_EXPIRE,
	MQD_WRITES_STARVED,
	MQD_FIFO_BATCH,
	MQD_FRONT_MERGES,
	MQD_ASYNC_DEPTH,
	MQD_PRIO_AGING_EXPIRE,
};

enum mqd_level_nr {
	MQD_LEVEL_RT,
	MQD_LEVEL_BE,
	MQD_LEVEL_IDLE,
	MQD_NR_LEVELS,
};

struct mqd_level {
	struct weir_sorted dir[WEIR_NR_DIRS];
	uint64_t latest_sector[WEIR_NR_DIRS]; /* where the last dispatched request began */
	uint32_t nr;			      /* inserted and not completed */
};

struct mq_deadline {
	struct mqd_level level[MQD_NR_LEVELS];
	struct weir_list express; /* rq->link */
	struct weir_list outside; /* waiting for a place: rq->link */
	uint32_t nr_places;	  /* taken, of async_depth */
	uint32_t batching;	  /* requests that the current batch has had */
	uint32_t starved;	  /* times that waiting writes have stood back */
	enum weir_dir last_dir;	  /* of the current batch */
};

enum mqd_where {
	MQD_SORTED,
	MQD_EXPRESS,
	MQD_OUTSIDE,
};

/* In rq->policy. */
struct mqd_rq {
	struct weir_sorted_rq sorted;
	uint8_t level, where;
	bool has_place; /* of async_depth */
};

_Static_assert(sizeof(struct mqd_rq) <= WEIR_RQ_POLICY_BYTES, "does not fit into a request");

static inline struct mqd_rq *mqd_rq(struct weir_rq *rq)
{
	return (struct mqd_rq *)rq->policy;
}

static inline enum weir_dir mqd_dir_of(const struct weir_rq *rq)
{
	return weir_op_dir((enum weir_op)rq->op);
}

static inline enum mqd_level_nr mqd_level_by_class(uint8_t ioprio_class)
{
	return ioprio_class == WEIR_IOPRIO_RT	  ? MQD_LEVEL_RT
	       : ioprio_class == WEIR_IOPRIO_IDLE ? MQD_LEVEL_IDLE
						  : MQD_LEVEL_BE;
}

static inline struct mqd_level *mqd_level_of(struct mq_deadline *md, struct weir_rq *rq)
{
	return &md->level[mqd_rq(rq)->level];
}

static inline struct weir_sorted *mqd_sorted_of(struct mq_deadline *md, struct weir_rq *rq)
{
	return &mqd_level_of(md, rq)->dir[mqd_dir_of(rq)];
}

static inline uint64_t mqd_expire_ns(const struct weir *w, enum weir_dir dir)
{
	return weir_policy_tunable(w, dir == WEIR_READ ? MQD_READ_EXPIRE : MQD_WRITE_EXPIRE) *
	       WEIR_NS_PER_MS;
}

/* ---- mq-deadline.c ---- */

/* The first that waits for a place gets one, whether there is one or not. There is one waiting. */
void mqd_let_in_one(struct weir *w, struct mq_deadline *md);

/* ---- choose.c ---- */

struct mqd_choice {
	struct weir_rq *rq; /* NULL: none */
	bool begins;	    /* with a new batch */
};

/* What goes next, not from the express list. Changes nothing. */
struct mqd_choice mqd_choose(const struct weir *w, const struct mq_deadline *md);
/* For a drain: anything, the higher levels first. */
struct mqd_choice mqd_choose_any(struct weir *w, struct mq_deadline *md);
/* Nothing goes now: when aging may change that, at the earliest. */
uint64_t mqd_ages_at_ns(const struct weir *w, const struct mq_deadline *md);

#endif
