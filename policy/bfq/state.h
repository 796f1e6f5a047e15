/* SPDX-License-Identifier: GPL-2.0-only */
/* BFQ: what is kept of entities, queues, processes, groups and the device. */
#ifndef WEIR_POLICY_BFQ_STATE_H
#define WEIR_POLICY_BFQ_STATE_H

#include "core/assert.h"
#include "core/fixed.h"
#include "core/group.h"
#include "core/list.h"
#include "core/rbtree.h"
#include "core/spi.h"
#include "core/spi_state.h"
#include "policy/bfq/constants.h"

enum {
	BFQ_FIFO_EXPIRE_SYNC,
	BFQ_FIFO_EXPIRE_ASYNC,
	BFQ_BACK_SEEK_MAX,
	BFQ_BACK_SEEK_PENALTY,
	BFQ_SLICE_IDLE,
	BFQ_SLICE_IDLE_US,
	BFQ_MAX_BUDGET,
	BFQ_TIMEOUT_SYNC,
	BFQ_STRICT_GUARANTEES,
	BFQ_LOW_LATENCY,
};

enum bfq_class {
	BFQ_RT,
	BFQ_BE,
	BFQ_IDLE,
	BFQ_NR_CLASSES,
};

enum bfq_place {
	BFQ_NOWHERE,
	BFQ_FORMER,   /* idle, and its finish time is still ahead: it counts in the weights */
	BFQ_WAITING,  /* active, its start time is ahead */
	BFQ_ELIGIBLE, /* active, may be picked */
	BFQ_SERVED,   /* on the way from the root to the queue in service */
};

struct bfq_group;
struct bfq_process;

/* What a level orders: a queue, or a group among its siblings. */
struct bfq_entity {
	struct weir_rb node;
	struct bfq_group *in; /* the group that it is in; NULL: the root */
	uint64_t start, finish;
	uint64_t service, budget; /* sectors of this turn */
	uint32_t weight, base_weight, new_weight;
	uint8_t class, new_class;
	uint8_t place;
	bool is_queue, weight_changed;
};

/* One class of one level. */
struct bfq_tree {
	struct weir_rb_tree waiting;  /* by start */
	struct weir_rb_tree eligible; /* by finish */
	struct weir_rb_tree former;   /* by finish */
	uint64_t vtime, weights;
};

enum bfq_raised {
	BFQ_NOT_RAISED,
	BFQ_INTERACTIVE,
	BFQ_SOFT_RT,
};

/* Times are 0 for "long ago". */
struct bfq_raise {
	uint8_t kind; /* of enum bfq_raised */
	uint32_t coeff;
	uint64_t since_ns; /* the period began; not raised: it ended, or was looked at */
	uint64_t length_ns;
	uint64_t interactive_since_ns; /* soft real-time: of the period that it interrupts */
	uint64_t service;	       /* sectors since it is interactive */
};

struct bfq_queue {
	struct bfq_entity entity;
	struct bfq_group *group;   /* NULL: not in use yet */
	struct bfq_process *owner; /* whose storage it is in; NULL: a group's */
	struct weir_rb_tree sorted;
	struct weir_list fifo; /* rq->link */
	struct weir_list all;  /* queued and in the driver */
	struct weir_rq *next;
	struct weir_list active; /* in bfq->active while busy */
	uint32_t nr_queued, dispatched;
	uint64_t number; /* of its creation */
	uint64_t max_budget;
	uint8_t level; /* of ioprio */
	uint8_t busy_class;
	uint8_t pending_level;
	bool sync, busy, pending, pending_weighs;
	bool just_created, fifo_checked, waiting, non_blocking, softrt_update;
	bool short_think, io_bound, in_large_burst;
	bool coop, split;
	bool positioned; /* in the group's tree of positions */

	uint64_t created_ns, budget_end_ns; /* the latter also: since when it is without requests */
	uint64_t turn_ns, first_io_ns, split_ns;
	uint64_t backlogged_ns, service_backlogged; /* when it last got busy; sectors since */
	uint64_t soft_rt_ns;			    /* soft real-time if it gets busy later */
	struct bfq_raise raise;

	uint64_t last_end_sector;
	uint32_t seek_history;
	uint64_t think_samples, think_total, think_mean_ns, last_end_ns;
	uint64_t io_start_ns, idle_total_ns;

	uint32_t inject_limit;
	uint64_t inject_changed_ns, base_service_ns;
	struct bfq_queue *waker;
	uint64_t maybe_waker; /* its number */
	uint32_t waker_hits;
	uint64_t waker_since_ns;
	struct weir_list woken;	   /* queues whose waker this is */
	struct weir_list woken_by; /* in that list of the waker's */

	struct weir_rb position;
	struct bfq_queue *into; /* its processes are to go to that one */
	struct weir_list heirs; /* queues that name this one in `into` */
	struct weir_list heir;
	struct weir_list stables; /* processes that name this one in `stable` */
	struct weir_list sharers; /* processes whose sync requests go here */
	uint32_t nr_sharers;
	struct weir_list burst; /* in bfq->burst, or alone */
};

struct bfq_process {
	struct weir_ctx *ctx;
	struct bfq_queue home;
	struct bfq_queue *sync; /* home, or another's home; NULL: nothing asked for yet */
	struct weir_list sharer;
	struct bfq_queue *stable; /* to merge with later */
	struct weir_list stable_of;
	struct bfq_raise saved; /* of home, while away */
	uint8_t class, level;	/* of ioprio, as last seen */
	bool stably_merged;
};

struct bfq_group {
	struct bfq_entity entity;
	struct weir_group *group;
	struct bfq_tree tree[BFQ_NR_CLASSES];
	struct bfq_entity *served;
	uint32_t nr_active; /* entities, the one that is served among them */
	uint32_t nr_pending;
	uint64_t idle_class_ns;
	struct weir_rb_tree positions; /* queues by next->sector */
	struct bfq_queue *last_created;
	struct bfq_queue anonymous; /* sync, of those without a context */
	struct bfq_queue async[2][BFQ_LEVELS], async_idle;
};

struct bfq_rate {
	uint64_t peak; /* sectors/us << 16 */
	uint32_t samples, sequential;
	uint64_t sectors, first_ns, last_ns, max_sectors;
};

struct bfq {
	struct weir *w;
	struct bfq_group *root;
	uint64_t now;
	struct weir_list express; /* rq->link */
	struct bfq_queue *served;
	uint64_t idle_end_ns, idle_start_ns; /* while served->waiting */
	uint32_t in_driver, express_in_driver, nr_queued;
	struct weir_list active;
	uint64_t nr_created;
	uint32_t nr_busy[BFQ_NR_CLASSES], nr_busy_raised;
	uint32_t nr_pending_of_level[BFQ_LEVELS];
	uint32_t groups_pending;

	uint64_t slice_idle_ns;
	uint32_t max_budget, budgets_assigned;
	bool rotational, strict;

	int8_t queueing; /* -1: not known */
	bool flash;	 /* not rotational, and it queues */
	uint32_t depth_samples, depth_max;

	uint64_t last_sector, served_last_sector, last_completion_ns;
	struct bfq_queue *last_completed;
	struct bfq_rate rate;

	struct weir_list burst;
	uint32_t burst_size;
	bool large_burst;
	uint64_t burst_ns;
	struct bfq_group *burst_group;

	bool measure_next, injected;
	struct weir_rq *measured;
	uint64_t measured_ns;
};

/* In rq->policy. */
struct bfq_rq {
	struct weir_rb node;
	struct weir_list all;
	struct weir_rq *rq;
	struct bfq_queue *q; /* NULL: express */
	uint64_t expires_ns;
};

_Static_assert(sizeof(struct bfq_rq) <= WEIR_RQ_POLICY_BYTES, "does not fit into a request");

enum bfq_reason {
	BFQ_TOO_IDLE,
	BFQ_BUDGET_TIMEOUT,
	BFQ_BUDGET_EXHAUSTED,
	BFQ_NO_MORE_REQUESTS,
	BFQ_PREEMPTED,
};

static inline struct bfq_rq *bfq_rq(struct weir_rq *rq)
{
	return (struct bfq_rq *)rq->policy;
}

static inline const struct bfq_rq *bfq_rq_const(const struct weir_rq *rq)
{
	return (const struct bfq_rq *)rq->policy;
}

static inline struct weir_rq *bfq_rq_of(struct weir_rb *node)
{
	return node ? weir_container_of(node, struct bfq_rq, node)->rq : NULL;
}

static inline struct bfq_group *bfq_group(const struct weir_group *g)
{
	return g->policy;
}

static inline struct bfq_process *bfq_process(const struct weir_ctx *ctx)
{
	return ctx->policy;
}

static inline struct bfq_queue *bfq_queue_of(struct bfq_entity *e)
{
	return weir_container_of(e, struct bfq_queue, entity);
}

static inline struct bfq_group *bfq_group_of(struct bfq_entity *e)
{
	return weir_container_of(e, struct bfq_group, entity);
}

static inline uint64_t bfq_tunable(const struct bfq *bfq, unsigned int index)
{
	return weir_policy_tunable(bfq->w, index);
}

/* Is it longer ago? 0 is long ago. */
static inline bool bfq_passed(const struct bfq *bfq, uint64_t since_ns, uint64_t interval_ns)
{
	return !since_ns || bfq->now > weir_add_sat(since_ns, interval_ns);
}

static inline uint32_t bfq_total_busy(const struct bfq *bfq)
{
	return bfq->nr_busy[BFQ_RT] + bfq->nr_busy[BFQ_BE] + bfq->nr_busy[BFQ_IDLE];
}

static inline bool bfq_is_raised(const struct bfq_queue *q)
{
	return q->raise.coeff > 1;
}

static inline bool bfq_is_empty(const struct bfq_queue *q)
{
	return !q->nr_queued;
}

static inline uint64_t bfq_budget_left(const struct bfq_queue *q)
{
	const struct bfq_entity *e = &q->entity;

	return e->budget > e->service ? e->budget - e->service : 0;
}

/* Default weight: nobody has asked for another. */
static inline bool bfq_is_default_weight(const struct bfq_queue *q)
{
	return q->entity.new_weight == BFQ_WEIGHT_OF_LEVEL * (BFQ_LEVELS - BFQ_LEVEL_NORMAL);
}

#endif
