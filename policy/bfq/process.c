/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: which queue a request goes to. Sync requests of a context go to its own queue, or to the one
 * that it shares; those without a context share one of the group. Async requests of a group go to
 * one queue for each ioprio.
 *
 * A queue lies in the storage of the context that made it, and others may share it. When that
 * context goes, or moves to another group, they go back to their own queues, and requests that are
 * left in it go to their context's own queue, or to the group's queue of those without a context. In
 * the kernel the shared queue stays until the last of them leaves; if they still cooperate they find
 * each other again. O(requests in that queue).
 */
#include "policy/bfq/internal.h"

void bfq_process_use(struct bfq_process *p, struct bfq_queue *q)
{
	p->sync = q;
	list_push_back(&q->sharers, &p->sharer);
	q->nr_sharers++;
}

void bfq_process_unuse(struct bfq_process *p)
{
	list_unlink(&p->sharer);
	p->sync->nr_sharers--;
	p->sync = NULL;
}

/* Whoever has no context may always come again. */
bool bfq_is_orphan(const struct bfq_queue *q)
{
	struct bfq_process *p;

	if (!q->owner)
		return false;
	list_for_each(p, &q->sharers, struct bfq_process, sharer)
		if (!p->ctx->exited)
			return false;
	return true;
}

struct ioprio {
	enum bfq_class class;
	uint8_t level;
};

/* The request's, else its context's, else that of most. */
static struct ioprio ioprio_of(const struct weir_rq *rq)
{
	uint8_t class = rq->ioprio_class, level = rq->ioprio_level;

	if (class == WEIR_IOPRIO_NONE && rq->ctx) {
		class = rq->ctx->ioprio_class;
		level = rq->ctx->ioprio_level;
	}
	if (level >= BFQ_LEVELS)
		level = BFQ_LEVELS - 1;
	if (class == WEIR_IOPRIO_RT)
		return (struct ioprio){BFQ_RT, level};
	if (class == WEIR_IOPRIO_BE)
		return (struct ioprio){BFQ_BE, level};
	if (class == WEIR_IOPRIO_IDLE)
		return (struct ioprio){BFQ_IDLE, BFQ_LEVELS - 1};
	return (struct ioprio){BFQ_BE, BFQ_LEVEL_NORMAL};
}

static struct bfq_queue *async_queue(struct bfq_group *g, struct ioprio prio)
{
	return prio.class == BFQ_IDLE ? &g->async_idle : &g->async[prio.class][prio.level];
}

struct bfq_queue *bfq_async_of(struct bfq *bfq, const struct bfq_queue *q)
{
	(void)bfq;
	if (!q->owner || q->coop)
		return NULL;
	return async_queue(q->group, (struct ioprio){q->owner->class, q->owner->level});
}

/* Its process; NULL: nobody's, or of one that is in another group now. */
static struct bfq_process *process_of(const struct weir_rq *rq)
{
	return rq->ctx && rq->ctx->group == rq->group ? bfq_process(rq->ctx) : NULL;
}

static void create(struct bfq *bfq, struct bfq_process *p, struct bfq_group *g, struct ioprio prio)
{
	bfq_queue_init(bfq, &p->home, g, true);
	p->home.owner = p;
	bfq_queue_set_ioprio(&p->home, prio.class, prio.level);
	bfq_entity_first_weight(&p->home.entity);
	p->home.short_think = prio.class != BFQ_IDLE;
	p->class = (uint8_t)prio.class;
	p->level = prio.level;
	bfq_process_use(p, &p->home);
	bfq_coop_created(bfq, p);
}

struct bfq_queue *bfq_queue_for(struct bfq *bfq, struct weir_rq *rq)
{
	struct bfq_group *g = bfq_group(rq->group);
	struct bfq_process *p = process_of(rq);
	struct ioprio prio = ioprio_of(rq);
	struct bfq_queue *to;

	if (!weir_rq_is_sync(rq))
		return async_queue(g, prio);
	if (!p) {
		bfq_queue_set_ioprio(&g->anonymous, prio.class, prio.level);
		return &g->anonymous;
	}
	if (!p->sync)
		create(bfq, p, g, prio);
	else
		bfq_coop_split(bfq, p);
	if (p->class != prio.class || p->level != prio.level) {
		p->class = (uint8_t)prio.class;
		p->level = prio.level;
		bfq_queue_set_ioprio(p->sync, prio.class, prio.level);
	}
	if (p->sync->just_created)
		bfq_burst_created(bfq, p->sync);
	to = bfq_coop_find(bfq, p, rq->sector);
	if (to)
		bfq_coop_join(bfq, p, to);
	return p->sync;
}

struct bfq_queue *bfq_queue_for_bio(struct bfq *bfq, const struct weir_rq *bio)
{
	struct bfq_group *g = bfq_group(bio->group);
	struct bfq_process *p = process_of(bio);
	struct bfq_queue *to;

	if (!weir_rq_is_sync(bio))
		return async_queue(g, ioprio_of(bio));
	if (!p)
		return &g->anonymous;
	if (!p->sync)
		return NULL;
	to = bfq_coop_find(bfq, p, bio->sector);
	if (to)
		bfq_coop_join(bfq, p, to);
	return p->sync;
}

/* ---- the end of a context's queue ---- */

static void into_idle_queue(struct bfq *bfq, struct bfq_queue *q)
{
	if (q->busy)
		return;
	q->entity.service = 0;
	q->entity.budget = weir_max64(q->max_budget, bfq_charge_of(bfq, q, q->next));
	q->backlogged_ns = bfq->now;
	q->service_backlogged = 0;
	q->non_blocking = false;
	bfq_add_busy(bfq, q);
}

/* A request that is queued or in the driver belongs to another queue of its group from now on. */
static void transfer(struct bfq *bfq, struct weir_rq *rq, struct bfq_queue *to)
{
	struct bfq_rq *brq = bfq_rq(rq);
	struct bfq_queue *q = brq->q;
	uint64_t expires_ns = brq->expires_ns;

	if (rq->state == WEIR_RQ_DISPATCHED) {
		list_unlink(&brq->all);
		q->dispatched--;
		bfq_count_pending(bfq, q);
		brq->q = to;
		list_push_back(&to->all, &brq->all);
		to->dispatched++;
		bfq_count_pending(bfq, to);
		return;
	}
	bfq_queue_take(bfq, rq);
	list_unlink(&brq->all);
	bfq_queue_add(bfq, to, rq);
	brq->expires_ns = expires_ns;
	into_idle_queue(bfq, to);
}

static struct bfq_queue *new_queue_of(const struct weir_rq *rq, const struct bfq_process *leaving)
{
	struct bfq_group *g = bfq_group(rq->group);
	struct bfq_process *p = process_of(rq);

	return p && p != leaving && p->home.group == g ? &p->home : &g->anonymous;
}

/* Nothing and nobody names the queue any more. */
static void retire(struct bfq *bfq, struct bfq_process *p)
{
	struct bfq_queue *q = &p->home;

	if (!q->group)
		return;
	while (!list_is_empty(&q->sharers))
		bfq_coop_go_home(bfq, list_first(&q->sharers, struct bfq_process, sharer));
	bfq_coop_forget(bfq, q);
	bfq_waker_forget(bfq, q);
	bfq_burst_leave(q);
	while (!list_is_empty(&q->all)) {
		struct weir_rq *rq = list_first(&q->all, struct bfq_rq, all)->rq;

		transfer(bfq, rq, new_queue_of(rq, p));
	}
	if (q == bfq->served)
		bfq_expire(bfq, q, false, BFQ_NO_MORE_REQUESTS);
	bfq_queue_unposition(q);
	bfq_entity_forget(&q->entity);
	*q = (struct bfq_queue){.group = NULL};
}

static void leave(struct bfq *bfq, struct bfq_process *p)
{
	bfq->now = weir_max64(weir_now(bfq->w), 1);
	bfq_idle_check(bfq);
	if (p->sync)
		bfq_process_unuse(p);
	bfq_coop_leave(p);
	retire(bfq, p);
}

void bfq_ctx_online(struct weir *w, struct weir_ctx *ctx)
{
	(void)w;
	bfq_process(ctx)->ctx = ctx;
}

void bfq_ctx_offline(struct weir *w, struct weir_ctx *ctx)
{
	leave(weir_policy_data(w), bfq_process(ctx));
}

void bfq_ctx_moved(struct weir *w, struct weir_ctx *ctx, struct weir_group *from)
{
	(void)from;
	leave(weir_policy_data(w), bfq_process(ctx));
}
