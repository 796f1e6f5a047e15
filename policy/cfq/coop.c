/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CFQ: processes and their queues. Each process has a queue of its own for sync requests. Processes
 * that read one stream together are found by where their next requests are: near the head, when
 * one of them has run dry. Then the queue of the one with fewer processes is redirected to the
 * other, and they join with their next requests. When a shared queue has become seeky, they part
 * again.
 *
 * A queue lives within its process, here, so it can't outlive it as the original's do. If a process
 * ends, or goes to another group, whoever else is in its queue goes on in that of another of them,
 * with all that is queued and in the driver. Without anybody, it goes to the group's anonymous
 * process. That is O(n log n) in the requests of the queue; only then.
 *
 * For the same reason the one whose queue it is doesn't leave a shared queue: the others do.
 */
#include "policy/cfq/internal.h"

static void enter(struct cfq_proc *p, struct cfq_queue *q)
{
	p->queue = q;
	list_push_back(&q->procs, &p->in_queue);
	q->nr_procs++;
}

static void leave(struct cfq_proc *p)
{
	list_unlink(&p->in_queue);
	p->queue->nr_procs--;
	p->queue = NULL;
}

static void redirect(struct cfq_queue *q, struct cfq_queue *to)
{
	if (q->redirect)
		list_unlink(&q->redirected);
	q->redirect = to;
	if (to)
		list_push_back(&to->incoming, &q->redirected);
}

void cfq_proc_init(struct cfq_proc *p, struct weir_ctx *ctx, struct cfq_group *cg, uint64_t now)
{
	p->ctx = ctx;
	p->think.last_end_ns = now;
	cfq_queue_init(&p->own, cg, true);
	enter(p, &p->own);
}

/* ---- joining and parting ---- */

struct cfq_queue *cfq_close_cooperator(const struct cfq *c, const struct cfq_queue *q)
{
	struct cfq_queue *other;

	if (!cfq_tunable(c, CFQ_CLOSE_COOPERATOR) || q->class == CFQ_IDLE || !q->sync ||
	    cfq_is_seeky(q) || q->group->nr_queues == 1)
		return NULL;
	other = cfq_position_close(c, q->level);
	if (!other || other->group != q->group || !other->sync || cfq_is_seeky(other) ||
	    (other->class == CFQ_RT) != (q->class == CFQ_RT))
		return NULL;
	return other;
}

void cfq_coop_join(struct cfq_queue *q, struct cfq_queue *with)
{
	if (!with->nr_procs)
		return;
	/* To the end of the chain, unless that leads back. */
	for (; with->redirect; with = with->redirect)
		if (with->redirect == q)
			return;
	if (!q->nr_procs || !with->nr_procs || with == q)
		return;
	if (with->nr_procs >= q->nr_procs)
		redirect(q, with);
	else
		redirect(with, q);
}

/* Back to its own queue, which is as new if nobody else is there. */
static void part(struct cfq_proc *p)
{
	struct cfq_queue *own = &p->own;

	leave(p);
	redirect(own, NULL);
	if (!own->nr_procs && !own->nr_queued && !own->nr_in_driver) {
		own->seeks = 0;
		own->last_end = 0;
		own->deep = false;
		own->coop = false;
		own->split = false;
		own->idle_window = own->class != CFQ_IDLE;
	}
	enter(p, own);
}

struct cfq_queue *cfq_proc_queue(struct cfq_proc *p)
{
	struct cfq_queue *q = p->queue, *to;

	if (q->coop && q->split) {
		if (q->nr_procs == 1) {
			q->coop = false;
			q->split = false;
		} else if (q != &p->own) {
			part(p);
		}
	}
	to = p->queue->redirect;
	if (to) {
		leave(p);
		enter(p, to);
		to->coop = true;
	}
	return p->queue;
}

/* ---- a queue whose process goes ---- */

static void hand_over_requests(struct cfq *c, struct cfq_queue *q, struct cfq_queue *to)
{
	struct weir_rq *rq;

	while (!list_is_empty(&q->fifo)) {
		rq = list_first(&q->fifo, struct weir_rq, link);
		cfq_queue_take(c, rq);
		cfq_queue_add(c, to, rq);
	}
	while (!list_is_empty(&q->in_driver)) {
		rq = list_first(&q->in_driver, struct weir_rq, link);
		list_unlink(&rq->link);
		list_push_back(&to->in_driver, &rq->link);
		cfq_rq(rq)->queue = to;
	}
	to->nr_in_driver += q->nr_in_driver;
	q->nr_in_driver = 0;
	if (cfq_is_busy(q))
		cfq_busy_remove(c, q);
	if (to->nr_queued && !cfq_is_busy(to))
		cfq_busy_add(c, to);
}

static void hand_over(struct cfq *c, struct cfq_queue *q, struct cfq_queue *to)
{
	struct weir_list *procs = &q->procs;

	if (c->active == q)
		cfq_expire(c, false);
	while (!list_is_empty(procs)) {
		struct cfq_proc *p = list_first(procs, struct cfq_proc, in_queue);

		leave(p);
		enter(p, to);
	}
	to->coop = to->coop || to->nr_procs > 1;
	redirect(q, NULL);
	redirect(to, NULL);
	while (!list_is_empty(&q->incoming))
		redirect(list_first(&q->incoming, struct cfq_queue, redirected), to);
	hand_over_requests(c, q, to);
}

void cfq_proc_leave(struct cfq *c, struct cfq_proc *p)
{
	struct cfq_queue *own = &p->own, *to = &own->group->anonymous.own;

	if (c->active_proc == p)
		c->active_proc = NULL;
	leave(p);
	if (!list_is_empty(&own->procs))
		to = &list_first(&own->procs, struct cfq_proc, in_queue)->own;
	hand_over(c, own, to);
}
