/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: injection. While the device is kept idle for the queue in service, requests of others may use
 * it, if that doesn't make the queue's own requests slower. In this order:
 *
 *	the process's own writes; its waker; a queue that it wakes;
 *	any other, up to a number in the driver that is learned for each queue.
 *
 * Learned: the time from a request's arrival in the empty queue to its completion, without injection,
 * is the baseline. With injection it may be 1.5 times that: above, the number goes down by one;
 * below, up by one.
 *
 * A waker is a queue whose completions this one's arrivals follow: a journal thread and a process
 * that syncs. Keeping the device idle for the one and not serving the other would wait for nothing.
 */
#include "policy/bfq/internal.h"

void bfq_inject_reset(struct bfq *bfq, struct bfq_queue *q)
{
	q->base_service_ns = 0;
	bfq->measured = NULL;
	q->inject_limit = q->short_think ? 0 : 1;
	q->inject_changed_ns = bfq->now;
}

/* A request arrives: is it one to measure with? */
void bfq_inject_arrival(struct bfq *bfq, struct bfq_queue *q)
{
	if (bfq->now >= q->inject_changed_ns + BFQ_INJECT_RESET_NS)
		bfq_inject_reset(bfq, q);
	if (q != bfq->served || bfq->now < q->inject_changed_ns + BFQ_INJECT_STEP_NS)
		return;
	/* Either for the baseline, or with others in the driver that were injected. */
	if (bfq->in_driver && !(q->base_service_ns && bfq->injected))
		return;
	bfq->measured_ns = bfq->now;
	bfq->measure_next = true;
	if (!bfq->in_driver)
		bfq->injected = false;
}

/* Before it is counted. */
void bfq_inject_completed(struct bfq *bfq, struct bfq_queue *q, struct weir_rq *rq)
{
	uint64_t total_ns, limit_ns = q->base_service_ns * 3 / 2;
	uint32_t before = q->inject_limit;
	bool alone = bfq->in_driver == 1;

	if (bfq->measured != rq)
		return;
	total_ns = bfq->now - bfq->measured_ns;
	if (q->base_service_ns && bfq->injected) {
		if (total_ns >= limit_ns && before) {
			q->inject_limit--;
			q->inject_changed_ns = bfq->now;
		} else if (total_ns < limit_ns && before <= bfq->depth_max) {
			q->inject_limit++;
		}
	}
	if ((!q->base_service_ns && alone) || total_ns < q->base_service_ns) {
		if (!q->base_service_ns)
			q->inject_limit = before ? before : 1;
		q->base_service_ns = total_ns;
	} else if (!bfq->injected && alone) {
		q->base_service_ns = total_ns;
	}
	bfq->measured = NULL;
	bfq->injected = false;
}

/* It has something that it can pay for. */
static bool can_give(const struct bfq *bfq, const struct bfq_queue *q)
{
	return q && q->busy && q->next && bfq_charge_of(bfq, q, q->next) <= bfq_budget_left(q);
}

static bool is_large(const struct weir_rq *rq)
{
	return rq->nr_sectors >= BFQ_SMALL_ON_FLASH;
}

/* Not where the wait is for throughput, nor against the one raised queue that answers quickly. */
static bool others_may(const struct bfq *bfq)
{
	const struct bfq_queue *q = bfq->served;

	return !bfq_idling_boosts(bfq, q) &&
	       (!bfq_is_raised(q) || bfq->nr_busy_raised > 1 || !q->short_think);
}

/* A raised queue may be waited for longer than others. */
uint64_t bfq_inject_relents_ns(const struct bfq *bfq)
{
	const struct bfq_queue *q = bfq->served;

	if (q->inject_limit || q->base_service_ns || !q->waiting || !others_may(bfq))
		return WEIR_NEVER;
	return weir_add_sat(bfq->idle_start_ns, bfq->slice_idle_ns);
}

static struct bfq_queue *any_other(struct bfq *bfq, const struct bfq_queue *served)
{
	bool always = !bfq_is_raised(served) || !served->short_think;
	uint32_t limit = served->inject_limit, left = BFQ_INJECT_SEARCH;
	struct bfq_queue *q;

	/* It has been waited for so long in vain that one can do no harm. */
	if (bfq->now >= bfq_inject_relents_ns(bfq))
		limit = 1;
	if (bfq->in_driver >= limit)
		return NULL;
	list_for_each(q, &bfq->active, struct bfq_queue, active) {
		if (!left--)
			break;
		if (q == served || !can_give(bfq, q) || (!always && !bfq_is_raised(q)))
			continue;
		if (!bfq->rotational && is_large(q->next) && bfq->in_driver)
			continue;
		bfq->injected = true;
		return q;
	}
	return NULL;
}

struct bfq_queue *bfq_inject_choose(struct bfq *bfq)
{
	const struct bfq_queue *served = bfq->served;
	struct bfq_queue *async = bfq_async_of(bfq, served), *woken = NULL;

	if (can_give(bfq, async) && bfq_rq(async->next)->rq->ctx == served->owner->ctx)
		return async;
	if (can_give(bfq, served->waker))
		return served->waker;
	if (!list_is_empty(&served->woken))
		woken = list_first(&served->woken, struct bfq_queue, woken_by);
	if (can_give(bfq, woken))
		return woken;
	return others_may(bfq) ? any_other(bfq, served) : NULL;
}

/* ---- wakers ---- */

void bfq_waker_set(struct bfq_queue *q, struct bfq_queue *waker)
{
	list_unlink(&q->woken_by);
	list_init(&q->woken_by);
	q->waker = waker;
	q->maybe_waker = 0;
	if (waker)
		list_push_front(&waker->woken, &q->woken_by);
}

/* A request arrives in an empty queue. */
void bfq_waker_check(struct bfq *bfq, struct bfq_queue *q)
{
	struct bfq_queue *last = bfq->last_completed;

	if (!last || last == q || q->short_think ||
	    bfq->now - bfq->last_completion_ns >= BFQ_WAKER_NS)
		return;
	if (last->number != q->maybe_waker ||
	    bfq->now > q->waker_since_ns + BFQ_WAKER_WINDOW * bfq->slice_idle_ns) {
		q->maybe_waker = last->number;
		q->waker_hits = 0;
		q->waker_since_ns = bfq->now;
	}
	if (++q->waker_hits == BFQ_WAKER_HITS)
		bfq_waker_set(q, last);
}

void bfq_waker_forget(struct bfq *bfq, struct bfq_queue *q)
{
	bfq_waker_set(q, NULL);
	while (!list_is_empty(&q->woken))
		bfq_waker_set(list_first(&q->woken, struct bfq_queue, woken_by), NULL);
	if (bfq->last_completed == q)
		bfq->last_completed = NULL;
}
