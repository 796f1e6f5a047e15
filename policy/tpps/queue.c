/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TPPS: the queues of processes. One per context, in the group that the context belongs to, and one
 * per group for requests without a context. Sync and async requests are in lists of their own, and
 * the numbers of their arrival make one list of them again, so that the option sync_first can be
 * changed with requests queued.
 *
 * A context that moves leaves what it has queued to the anonymous queue, in O(1): the requests
 * aren't touched, they find out by the generation that they noted when they were queued.
 */
#include "policy/tpps/internal.h"

void tpps_queue_init(struct tpps_queue *q)
{
	list_init(&q->fifo[TPPS_ASYNC]);
	list_init(&q->fifo[TPPS_SYNC]);
}

static bool queue_is_empty(const struct tpps_queue *q)
{
	return list_is_empty(&q->fifo[TPPS_ASYNC]) && list_is_empty(&q->fifo[TPPS_SYNC]);
}

struct tpps_queue *tpps_queue_of(struct weir_rq *rq)
{
	const struct tpps_rq *trq = tpps_rq(rq);
	struct tpps_queue *q;

	if (!trq->anonymous) {
		q = rq->ctx->policy;
		if (q->generation == trq->generation)
			return q;
	}
	return &tpps_group(rq->group)->anonymous;
}

void tpps_queue_changed(struct tpps *tpps, struct tpps_group *tg, struct tpps_queue *q)
{
	bool has_some = !queue_is_empty(q);

	if (has_some == q->taking_turns)
		return;
	q->taking_turns = has_some;
	if (has_some) {
		list_push_back(&tg->turns, &q->turn);
		if (!tg->nr_turns++) {
			weir_rb_insert(&tpps->busy, &tg->busy, tg->appearance);
			tpps->nr_busy++;
		}
	} else {
		list_unlink(&q->turn);
		if (!--tg->nr_turns) {
			weir_rb_erase(&tpps->busy, &tg->busy);
			tpps->nr_busy--;
		}
	}
}

void tpps_queue_came_alive(struct tpps *tpps, struct tpps_group *tg, struct tpps_queue *q)
{
	if (q->alive)
		return;
	q->alive = true;
	tg->nr_queues++;
	if (!tg->appearance)
		tg->appearance = ++tpps->appearances;
}

void tpps_queue_died(struct tpps *tpps, struct tpps_group *tg, struct tpps_queue *q)
{
	if (!q->alive)
		return;
	q->alive = false;
	tg->nr_queues--;
	tpps_count_weight(tpps, tg);
}

void tpps_queue_append(struct tpps *tpps, struct tpps_queue *q, struct weir_rq *rq)
{
	tpps_rq(rq)->arrival = ++tpps->arrivals;
	list_push_back(&q->fifo[weir_rq_is_sync(rq) ? TPPS_SYNC : TPPS_ASYNC], &rq->link);
}

struct weir_rq *tpps_queue_first(const struct weir *w, struct tpps_queue *q)
{
	struct weir_rq *sync, *async;

	if (list_is_empty(&q->fifo[TPPS_ASYNC]))
		return list_first(&q->fifo[TPPS_SYNC], struct weir_rq, link);
	async = list_first(&q->fifo[TPPS_ASYNC], struct weir_rq, link);
	if (list_is_empty(&q->fifo[TPPS_SYNC]))
		return async;
	sync = list_first(&q->fifo[TPPS_SYNC], struct weir_rq, link);
	if (tpps_option(w, TPPS_SYNC_FIRST) || tpps_rq(sync)->arrival < tpps_rq(async)->arrival)
		return sync;
	return async;
}

void tpps_queue_take(struct tpps *tpps, struct weir_rq *rq)
{
	struct tpps_queue *q = tpps_queue_of(rq);

	list_unlink(&rq->link);
	tpps_queue_changed(tpps, tpps_group(rq->group), q);
}

static void splice(struct weir_list *from, struct weir_list *to)
{
	if (list_is_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

void tpps_queue_splice(struct tpps_queue *from, struct tpps_queue *to)
{
	splice(&from->fifo[TPPS_ASYNC], &to->fifo[TPPS_ASYNC]);
	splice(&from->fifo[TPPS_SYNC], &to->fifo[TPPS_SYNC]);
}
