/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: which queue is served, dispatching from it, and what a completion means for it.
 */
#include "policy/bfq/internal.h"

/* It has nothing, and isn't given up yet. Another's request may go meanwhile; NULL: nothing goes. */
static struct bfq_queue *hold(struct bfq *bfq, struct weir_verdict *v)
{
	struct bfq_queue *other = bfq_inject_choose(bfq), *q = bfq->served;
	uint64_t relents_ns = bfq_inject_relents_ns(bfq);

	if (other)
		return other;
	v->why = WEIR_STALL_IDLE;
	/* Else its last completion begins the wait. */
	if (!q->waiting)
		return NULL;
	v->at_ns = bfq->idle_end_ns;
	if (relents_ns > bfq->now)
		v->at_ns = weir_min64(v->at_ns, relents_ns);
	if (!bfq_must_idle(bfq, q))
		v->at_ns = weir_min64(v->at_ns, bfq_may_time_out_ns(q));
	return NULL;
}

/* Something is queued. Each turn that ends here was one without a request that could go. */
struct bfq_queue *bfq_select(struct bfq *bfq, struct weir_verdict *v)
{
	for (;;) {
		struct bfq_queue *q = bfq->served;

		if (!q) {
			q = bfq_sched_serve(bfq);
			bfq_begin_turn(bfq, q);
		}
		if (bfq_may_time_out(bfq, q) && !bfq_must_idle(bfq, q)) {
			bfq_expire(bfq, q, false, BFQ_BUDGET_TIMEOUT);
		} else if (q->next) {
			if (bfq_charge_of(bfq, q, q->next) <= bfq_budget_left(q)) {
				q->waiting = false;
				return q;
			}
			bfq_expire(bfq, q, false, BFQ_BUDGET_EXHAUSTED);
		} else if (q->waiting || (q->dispatched && bfq_better_to_idle(bfq, q))) {
			return hold(bfq, v);
		} else {
			bfq_expire(bfq, q, false, BFQ_NO_MORE_REQUESTS);
		}
	}
}

struct weir_rq *bfq_dispatch_from(struct bfq *bfq, struct bfq_queue *q)
{
	struct weir_rq *rq = q->next;
	bool serves = q == bfq->served;

	bfq_sched_charge(bfq, q, bfq_charge_of(bfq, q, rq));
	if (serves && bfq->measure_next) {
		bfq->measure_next = false;
		bfq->measured = rq;
	}
	bfq_rate_dispatched(bfq, q, rq);
	q->dispatched++;
	bfq->in_driver++;
	bfq_queue_take(bfq, rq);
	if (!serves)
		return rq;
	bfq_raise_check(bfq, q);
	if (q->entity.class == BFQ_IDLE && bfq_total_busy(bfq) > 1)
		bfq_expire(bfq, q, false, BFQ_BUDGET_EXHAUSTED);
	return rq;
}

/* The served queue has one less to wait for. */
static void served_completed(struct bfq *bfq, struct bfq_queue *q)
{
	if (bfq_must_idle(bfq, q)) {
		/* Also beyond its time: it is due what it waits for. */
		if (!q->dispatched)
			bfq_idle_begin(bfq);
		return;
	}
	if (bfq_may_time_out(bfq, q))
		bfq_expire(bfq, q, false, BFQ_BUDGET_TIMEOUT);
	else if (bfq_is_empty(q) && (!q->dispatched || !bfq_better_to_idle(bfq, q)))
		bfq_expire(bfq, q, false, BFQ_NO_MORE_REQUESTS);
}

void bfq_uncounted(struct bfq *bfq, struct weir_rq *rq)
{
	struct bfq_queue *q = bfq_rq(rq)->q;

	if (!q) {
		bfq->express_in_driver--;
		return;
	}
	weir_assert(q->dispatched && bfq->in_driver);
	list_unlink(&bfq_rq(rq)->all);
	if (bfq->measured == rq)
		bfq->measured = NULL;
	q->dispatched--;
	bfq->in_driver--;
	if (!q->dispatched && !q->busy) {
		q->budget_end_ns = bfq->now;
		bfq_count_pending(bfq, q);
	}
}

void bfq_completed(struct bfq *bfq, struct weir_rq *rq)
{
	struct bfq_queue *q = bfq_rq(rq)->q;

	if (q) {
		bfq_inject_completed(bfq, q, rq);
		bfq_update_queueing(bfq);
	}
	bfq_uncounted(bfq, rq);
	if (!q)
		return;
	q->last_end_ns = bfq->now;
	bfq_rate_completed(bfq);
	/* Shared queues complete so much that they would seem to wake everybody. */
	bfq->last_completed = q->coop ? NULL : q;
	if (q->softrt_update && !q->dispatched && bfq_is_empty(q) &&
	    q->raise.kind != BFQ_INTERACTIVE)
		q->soft_rt_ns = bfq_soft_rt_next_ns(bfq, q);
	if (q == bfq->served)
		served_completed(bfq, q);
}
