/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the files of BFQ. bfq.c has the whole story and the hooks; the constants are in
 * constants.h, each with its reason.
 *
 *	tree.c      one level: virtual time, who is eligible, who goes next
 *	sched.c     the levels together: activation, selection, charging, expiry
 *	busy.c      the books of busy and pending queues that decide whether a scenario is symmetric
 *	queue.c     a queue's requests: sector order, FIFO, which goes next, what it is charged
 *	budget.c    a turn: its budget, its timeout, its end
 *	rate.c      how fast the device is at best, and what follows from that
 *	classify.c  what a queue is like: seeky, thinking, I/O bound; is the device queueing?
 *	burst.c     queues that are created together
 *	raise.c     weight raising
 *	idle.c      when the device is kept idle for a queue, and how long
 *	inject.c    requests of others into that time; wakers
 *	arrive.c    a request arrives, and its queue may get busy
 *	coop.c      queues of cooperating processes become one, and part again
 *	process.c   contexts, their queues, and what is left of both when they go
 *	group.c     groups and their weights
 *	serve.c     which queue is served, and dispatching from it
 */
#ifndef WEIR_POLICY_BFQ_INTERNAL_H
#define WEIR_POLICY_BFQ_INTERNAL_H

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

/* ---- tree.c ---- */

void bfq_trees_init(struct bfq_group *g);
/* It becomes active. backdate: it was waited for, and may go on as if it had never been away. */
void bfq_entity_wake(struct bfq_entity *e, bool backdate);
/* It has never been active: its weight is what was set. */
void bfq_entity_first_weight(struct bfq_entity *e);
/* Active, not served: its budget is another. */
void bfq_entity_rebudget(struct bfq_entity *e, uint64_t budget);
/* It was served and goes back among the active ones. */
void bfq_entity_requeue(struct bfq_entity *e);
/* No longer active; it was served, or waited in a tree. keep: until V has passed its finish. */
void bfq_entity_sleep(struct bfq_entity *e, bool keep);
/* Out of the tree of the former, if it is there: its storage goes. */
void bfq_entity_forget(struct bfq_entity *e);
/* It got so many sectors of service: the level's time goes on. */
void bfq_entity_charge(struct bfq_entity *e, uint64_t sectors);
/* A pending change of its weight takes effect; it is active or served. */
void bfq_entity_reweigh(struct bfq_entity *e);
/* Who would go next in that group, without side effects; NULL: nobody is active. */
struct bfq_entity *bfq_level_first(const struct bfq_group *g);
/* The same, and it is served from now on. */
struct bfq_entity *bfq_level_serve(struct bfq *bfq, struct bfq_group *g);

/* ---- sched.c: all levels ---- */

void bfq_sched_activate(struct bfq_queue *q, bool backdate);
/* The queue is not served, and leaves. */
void bfq_sched_deactivate(struct bfq_queue *q);
/* Active, not served. */
void bfq_sched_rebudget(struct bfq_queue *q, uint64_t budget);
void bfq_sched_charge(struct bfq *bfq, struct bfq_queue *q, uint64_t sectors);
/* Someone is active and nobody is served. */
struct bfq_queue *bfq_sched_serve(struct bfq *bfq);
/* The served one is no longer; requeue: it stays active, with the budget that its entity has. */
void bfq_sched_unserve(struct bfq_queue *q, bool requeue);
/* The queue that would go next after the served one; NULL: none. */
struct bfq_queue *bfq_sched_first(const struct bfq *bfq);

/* ---- busy.c ---- */

void bfq_add_busy(struct bfq *bfq, struct bfq_queue *q);
/* It is not served. */
void bfq_del_busy(struct bfq *bfq, struct bfq_queue *q);
/* The same of the served one, which has left the levels. */
void bfq_served_no_longer_busy(struct bfq *bfq, struct bfq_queue *q);
/* Busy, or with requests in the driver? To follow each change of that, and of its weight. */
void bfq_count_pending(struct bfq *bfq, struct bfq_queue *q);
/* Weights, classes or groups differ among the busy; q may be NULL. */
bool bfq_is_asymmetric(const struct bfq *bfq, const struct bfq_queue *q);

/* ---- queue.c ---- */

void bfq_queue_init(struct bfq *bfq, struct bfq_queue *q, struct bfq_group *g, bool sync);
void bfq_queue_set_ioprio(struct bfq_queue *q, enum bfq_class class, uint8_t level);
void bfq_queue_add(struct bfq *bfq, struct bfq_queue *q, struct weir_rq *rq);
/* A queued request leaves for the driver (it stays in q->all), or for good. */
void bfq_queue_take(struct bfq *bfq, struct weir_rq *rq);
/* Sectors that it is charged with. */
uint64_t bfq_charge_of(const struct bfq *bfq, const struct bfq_queue *q, const struct weir_rq *rq);
/* Its next request is another or has grown: budget and position follow. */
void bfq_queue_next_changed(struct bfq *bfq, struct bfq_queue *q);
/* A queued request begins elsewhere now: it grew at its front. */
void bfq_queue_moved_request(struct bfq *bfq, struct weir_rq *rq);
void bfq_queue_unposition(struct bfq_queue *q);

/* ---- budget.c ---- */

uint32_t bfq_max_budget(const struct bfq *bfq);
void bfq_begin_turn(struct bfq *bfq, struct bfq_queue *q);
bool bfq_timed_out(const struct bfq *bfq, const struct bfq_queue *q);
/* The time from which bfq_may_time_out() says yes, as things are. */
uint64_t bfq_may_time_out_ns(const struct bfq_queue *q);
bool bfq_may_time_out(const struct bfq *bfq, const struct bfq_queue *q);
/* compensate: what counts is the time up to the beginning of the idle wait. */
void bfq_expire(struct bfq *bfq, struct bfq_queue *q, bool compensate, enum bfq_reason why);

/* ---- rate.c ---- */

void bfq_rate_init(struct bfq *bfq);
void bfq_rate_dispatched(struct bfq *bfq, const struct bfq_queue *q, const struct weir_rq *rq);
void bfq_rate_completed(struct bfq *bfq);
/* max_budget, timeout_sync or the device were set. */
void bfq_rate_apply(struct bfq *bfq);
/* How long interactive queues are raised. */
uint64_t bfq_raise_length_ns(const struct bfq *bfq);

/* ---- classify.c ---- */

bool bfq_is_seek(const struct bfq *bfq, uint64_t last_sector, const struct weir_rq *rq);
bool bfq_is_seeky(const struct bfq_queue *q);
bool bfq_is_totally_seeky(const struct bfq_queue *q);
void bfq_update_think_time(struct bfq *bfq, struct bfq_queue *q);
void bfq_update_short_think(struct bfq *bfq, struct bfq_queue *q);
void bfq_update_seeks(struct bfq *bfq, struct bfq_queue *q, const struct weir_rq *rq);
void bfq_update_io_bound(struct bfq *bfq, struct bfq_queue *q);
void bfq_update_queueing(struct bfq *bfq);

/* ---- burst.c ---- */

void bfq_burst_created(struct bfq *bfq, struct bfq_queue *q);
void bfq_burst_leave(struct bfq_queue *q);

/* ---- raise.c ---- */

struct bfq_arrival {
	bool interactive, soft_rt, deserves, in_burst;
	uint32_t coeff_before;
};

void bfq_raise_on_arrival(struct bfq *bfq, struct bfq_queue *q, const struct bfq_arrival *a);
void bfq_raise_async(struct bfq *bfq, struct bfq_queue *q);
void bfq_raise_seeky(struct bfq *bfq, struct bfq_queue *q);
/* After each dispatch of the served queue: is the period over? */
void bfq_raise_check(struct bfq *bfq, struct bfq_queue *q);
void bfq_raise_end(struct bfq *bfq, struct bfq_queue *q);
/* low_latency was switched off. */
void bfq_raise_end_all(struct bfq *bfq);
/* The queue goes on with the state of another; both may be busy. */
void bfq_raise_hand_over(struct bfq *bfq, struct bfq_queue *from, struct bfq_queue *to);
/* A process is back in its own queue. */
void bfq_raise_resume(struct bfq *bfq, struct bfq_queue *q, const struct bfq_raise *saved,
		      bool in_large_burst);
uint64_t bfq_soft_rt_next_ns(const struct bfq *bfq, const struct bfq_queue *q);

/* ---- idle.c ---- */

bool bfq_idling_boosts(const struct bfq *bfq, const struct bfq_queue *q);
bool bfq_better_to_idle(const struct bfq *bfq, const struct bfq_queue *q);
bool bfq_must_idle(const struct bfq *bfq, const struct bfq_queue *q);
void bfq_idle_begin(struct bfq *bfq);
/* Has the wait ended by now? Then the queue's turn ends. At each entry. */
void bfq_idle_check(struct bfq *bfq);

/* ---- inject.c ---- */

void bfq_inject_reset(struct bfq *bfq, struct bfq_queue *q);
void bfq_inject_arrival(struct bfq *bfq, struct bfq_queue *q);
void bfq_inject_completed(struct bfq *bfq, struct bfq_queue *q, struct weir_rq *rq);
/* A queue to take one request of, while the served one has none; or NULL. */
struct bfq_queue *bfq_inject_choose(struct bfq *bfq);
/* When one may go although the served queue's limit is still 0; WEIR_NEVER: not so. */
uint64_t bfq_inject_relents_ns(const struct bfq *bfq);
void bfq_waker_check(struct bfq *bfq, struct bfq_queue *q);
void bfq_waker_set(struct bfq_queue *q, struct bfq_queue *waker);
/* Nobody's waker any more, and none of its own. */
void bfq_waker_forget(struct bfq *bfq, struct bfq_queue *q);

/* ---- arrive.c ---- */

void bfq_arrive(struct bfq *bfq, struct bfq_queue *q, struct weir_rq *rq);

/* ---- coop.c ---- */

/* Where q's process should go with a request there: another queue, or NULL. */
struct bfq_queue *bfq_coop_find(struct bfq *bfq, struct bfq_process *p, uint64_t sector);
/* The process leaves its queue for that one. */
void bfq_coop_join(struct bfq *bfq, struct bfq_process *p, struct bfq_queue *to);
/* Back to its own queue, whatever the reason. */
void bfq_coop_go_home(struct bfq *bfq, struct bfq_process *p);
/* If its queue has got seeky, it is better alone. */
void bfq_coop_split(struct bfq *bfq, struct bfq_process *p);
/* Its queue was just created: by the same parent as the last one? */
void bfq_coop_created(struct bfq *bfq, struct bfq_process *p);
/* Nobody comes here any more, and nobody goes elsewhere from here. */
void bfq_coop_forget(struct bfq *bfq, struct bfq_queue *q);
/* The process has no plans any more. */
void bfq_coop_leave(struct bfq_process *p);

/* ---- process.c ---- */

struct bfq_queue *bfq_queue_for(struct bfq *bfq, struct weir_rq *rq);
/* Where a bio of that kind would go as things are; NULL: a queue that does not exist yet. */
struct bfq_queue *bfq_queue_for_bio(struct bfq *bfq, const struct weir_rq *bio);
/* Is no living process behind it? */
bool bfq_is_orphan(const struct bfq_queue *q);
void bfq_process_use(struct bfq_process *p, struct bfq_queue *q);
void bfq_process_unuse(struct bfq_process *p);
/* The async queue that this process's writes go to. */
struct bfq_queue *bfq_async_of(struct bfq *bfq, const struct bfq_queue *q);
void bfq_ctx_online(struct weir *w, struct weir_ctx *ctx);
void bfq_ctx_offline(struct weir *w, struct weir_ctx *ctx);
void bfq_ctx_moved(struct weir *w, struct weir_ctx *ctx, struct weir_group *from);

/* ---- group.c ---- */

void bfq_group_online(struct weir *w, struct weir_group *g);
void bfq_group_offline(struct weir *w, struct weir_group *g);
void bfq_group_changed(struct weir *w, struct weir_group *g, unsigned int what);

/* ---- serve.c ---- */

/* The queue to dispatch from; NULL with the verdict: nothing goes now. */
struct bfq_queue *bfq_select(struct bfq *bfq, struct weir_verdict *v);
struct weir_rq *bfq_dispatch_from(struct bfq *bfq, struct bfq_queue *q);
void bfq_completed(struct bfq *bfq, struct weir_rq *rq);
/* It comes back from the driver unserved. */
void bfq_uncounted(struct bfq *bfq, struct weir_rq *rq);

#endif
