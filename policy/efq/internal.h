/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the files of efq. efq.c has the whole story and the hooks; tree.c knows whose turn it is,
 * turn.c how long it lasts, leaf.c what goes within it, settings.c what can be set.
 */
#ifndef WEIR_POLICY_EFQ_INTERNAL_H
#define WEIR_POLICY_EFQ_INTERNAL_H

#include "core/assert.h"
#include "core/fixed.h"
#include "core/group.h"
#include "core/heap.h"
#include "core/list.h"
#include "core/rbtree.h"
#include "core/spi_state.h"
#include "policy/anticipatory/internal.h"
#include "policy/deadline.h"
#include "policy/noop.h"
#include "policy/order.h"

enum {
	/* The range of io.weight in V9, and the weight at which virtual time is disk time. */
	EFQ_MIN_WEIGHT = 1,
	EFQ_MAX_WEIGHT = 1000,
	EFQ_UNIT_WEIGHT = 500,
};

enum {
	EFQ_LEAF,
	EFQ_FAIRNESS,
	EFQ_SLICE_SYNC,
	EFQ_SLICE_ASYNC,
	EFQ_SLICE_IDLE,
	EFQ_GROUP_IDLE,
	EFQ_CHARGE,
	EFQ_NR_GROUP_REQUESTS,
	EFQ_CONGESTION,
	/* The leaf orders' own. */
	EFQ_DEADLINE_READ_EXPIRE,
	EFQ_DEADLINE_WRITE_EXPIRE,
	EFQ_WRITES_STARVED,
	EFQ_FIFO_BATCH,
	EFQ_FRONT_MERGES,
	EFQ_ANTIC_READ_EXPIRE,
	EFQ_ANTIC_WRITE_EXPIRE,
	EFQ_READ_BATCH_EXPIRE,
	EFQ_WRITE_BATCH_EXPIRE,
	EFQ_ANTIC_EXPIRE,
};

enum {
	EFQ_CHARGE_TIME,
	EFQ_CHARGE_SECTORS,
	EFQ_CHARGE_REQUESTS,
};

enum {
	EFQ_CONGESTION_V8,
	EFQ_CONGESTION_V9,
};

/* A queue, or a group, among the others of one parent. */
struct efq_entity {
	struct weir_heap_item turn; /* in the parent's heap while it is busy */
	uint64_t vdisktime;	    /* ns at EFQ_UNIT_WEIGHT */
	uint32_t weight;
};

union efq_leaf {
	struct noop_queue noop;
	struct deadline_queue deadline;
	struct antic_queue anticipatory;
};

struct efq_group {
	struct weir_group *group;
	struct efq_entity own;	 /* its queue: among its children, in its own tree */
	struct efq_entity child; /* the group itself, in its parent's tree */
	uint64_t min_vdisktime;	 /* of its tree */

	/* The queue. */
	uint32_t nr_queued, nr_in_device;
	bool last_sync; /* the last that was dispatched */
	bool ended;	/* a sync one has completed */
	uint64_t last_end_ns;
	struct antic_mean think;
	union efq_leaf leaf;

	struct weir_list all; /* in efq->groups */
};

struct efq {
	const struct weir_order *order;
	struct deadline_device deadline;
	struct antic_device antic;
	struct weir_list express; /* rq->link */
	struct weir_list groups;
	uint32_t generation; /* of leaf queues: a change of order begins another */
	uint32_t nr_busy;    /* queues in the trees */

	/* The turn. */
	struct efq_group *active; /* or NULL */
	uint64_t began_ns;
	bool slice_runs; /* from the first completion on */
	uint64_t slice_start_ns, slice_end_ns;
	uint64_t idle_until_ns; /* it has nothing left, and is waited for; 0: it isn't */
	uint64_t turn_sectors, turn_requests;
};

/* In rq->policy, behind what the leaf's order has there. */
struct efq_rq {
	struct weir_rb by_seq; /* while the order is changed */
	uint32_t generation;
	bool express;
};

_Static_assert(ORDER_RQ_BYTES + sizeof(struct efq_rq) <= WEIR_RQ_POLICY_BYTES,
	       "does not fit into a request");

static inline struct efq_rq *efq_rq(struct weir_rq *rq)
{
	return (struct efq_rq *)((char *)rq->policy + ORDER_RQ_BYTES);
}

static inline const struct efq_rq *efq_rq_const(const struct weir_rq *rq)
{
	return (const struct efq_rq *)((const char *)rq->policy + ORDER_RQ_BYTES);
}

static inline struct efq_group *efq_group(const struct weir_group *g)
{
	return g->policy;
}

static inline uint64_t efq_ms(const struct weir *w, unsigned int index)
{
	return weir_policy_tunable(w, index) * WEIR_NS_PER_MS;
}

/* ---- tree.c ---- */

void efq_tree_init(struct efq_group *eg);
void efq_read_weights(struct efq_group *eg);
/* Its queue begins, or ceases, to compete. */
void efq_tree_add(struct efq *e, struct efq_group *eg);
void efq_tree_del(struct efq *e, struct efq_group *eg);
static inline bool efq_in_tree(const struct efq_group *eg)
{
	return weir_heap_has(&eg->own.turn);
}
/* Its queue has had so much, and with it all groups that it is in. */
void efq_tree_charge(struct efq_group *eg, uint64_t amount);
/* Whose turn it is; some queue is busy. */
struct efq_group *efq_tree_first(struct weir *w);

/* ---- turn.c ---- */

/* Who is to be asked for a request; NULL with a verdict: nobody, now. Something is queued. */
struct efq_group *efq_turn(struct weir *w, struct efq *e, struct weir_verdict *v);
void efq_turn_end(struct weir *w, struct efq *e);
void efq_queue_arrived(struct weir *w, struct efq *e, struct weir_rq *rq);
void efq_queue_left(struct weir *w, struct efq *e, struct weir_rq *rq);
void efq_queue_completed(struct weir *w, struct efq *e, struct weir_rq *rq);

/* ---- leaf.c ---- */

void efq_leaf_init(struct weir *w, struct efq *e, struct efq_group *eg);
void efq_leaf_exit(struct efq *e, struct efq_group *eg);
/* The order that the tunable says, with all that is queued. O(n log n) */
void efq_leaf_change(struct weir *w, struct efq *e);
const struct weir_order *efq_leaf_order(const struct weir *w);

/* ---- settings.c ---- */

extern const struct weir_tunable efq_tunables[];
/* What the leaf orders are told of their tunables. */
void efq_load_settings(struct weir *w, struct efq *e);
void efq_places(struct weir *w, const struct weir_group *g, enum weir_dir dir,
		struct weir_places *out);

#endif
