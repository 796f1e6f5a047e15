/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the files of BFQ. bfq.c has the whole story and the hooks; the constants are in
 * constants.h, each with its reason, what is kept in state.h.
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

#include "policy/bfq/state.h"

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
/* No longer active; it was served, or waited in a tree. Remembered until V has passed its finish. */
void bfq_entity_sleep(struct bfq_entity *e);
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
