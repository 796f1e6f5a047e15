// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admission: who has no place in the pool waits behind the others of its group and direction, and
 * nobody of another group behind it. The core says when to ask again; that may happen in the middle
 * of any call, so it is only noted there and acted upon afterwards.
 *
 * Congestion has no signal of its own: as long as somebody waits for its end, each place given back
 * is a reason to look.
 */
#include <stdlib.h>

#include "lab/blkhost.h"

/* r gets its place, or waits for it. */
bool host_admit(struct lab_host *h, struct host_rq *r, uint64_t now_ns)
{
	struct weir_group *g = r->rq.group;
	enum weir_dir dir = weir_op_dir((enum weir_op)r->rq.op);
	struct host_queue *q = &host_group(h, g)->wait[dir];

	if (!q->head && weir_admit(h->weir, g, dir, (uint32_t)weir_rq_bytes(&r->rq), now_ns)) {
		r->admitted = true;
		return true;
	}
	h->stats.admit_waits++;
	r->next = NULL;
	if (q->head)
		q->tail->next = r;
	else
		q->head = r;
	q->tail = r;
	return false;
}

static void add_woken(struct lab_host *h, struct host_queue *q)
{
	q->woken = true;
	q->next_woken = NULL;
	if (h->woken)
		h->woken_tail->next_woken = q;
	else
		h->woken = q;
	h->woken_tail = q;
}

/* Called by the core. */
void host_wake(void *priv, struct weir_group *g, enum weir_dir dir)
{
	struct lab_host *h = priv;
	struct host_queue *q = &host_group(h, g)->wait[dir];

	if (!q->woken)
		add_woken(h, q);
}

/* The first of the queue gets its place, if there is one. */
static bool admit_first(struct lab_host *h, struct host_queue *q, uint64_t now_ns)
{
	struct host_rq *r = q->head;

	if (!r || !weir_admit(h->weir, q->group, q->dir, (uint32_t)weir_rq_bytes(&r->rq), now_ns))
		return false;
	r->admitted = true;
	q->head = r->next;
	host_enter(h, r, now_ns);
	return true;
}

/*
 * A place each, in turn, as tasks that are woken one after another would: a queue that took all it can
 * get would be the first to be refused, and so the first to be woken for the next place.
 */
void host_admit_woken(struct lab_host *h, uint64_t now_ns)
{
	struct host_queue *q;

	if (h->admitting) /* a merge gave a place back: the loop below will see it */
		return;
	h->admitting = true;
	while ((q = h->woken)) {
		h->woken = q->next_woken;
		q->woken = false;
		if (admit_first(h, q, now_ns) && !q->woken)
			add_woken(h, q);
	}
	h->admitting = false;
}

static void wake_uncongested(struct lab_host *h)
{
	struct host_waiter **link = &h->waiters, *w;

	while ((w = *link)) {
		if (weir_congested(w->group, w->dir)) {
			link = &w->next;
			continue;
		}
		*link = w->next;
		lab_event_at(h->engine, w->ev, lab_now(h->engine));
		free(w);
	}
	h->waiters_tail = link;
}

/* r gives its place back. */
void host_release(struct lab_host *h, struct host_rq *r, uint64_t now_ns)
{
	if (r->admitted) {
		r->admitted = false;
		weir_release(h->weir, r->rq.group, weir_op_dir((enum weir_op)r->rq.op), now_ns);
	}
	if (h->woken)
		host_admit_woken(h, now_ns);
	if (h->waiters)
		wake_uncongested(h);
}

bool lab_host_congested(struct lab_host *h, struct weir_group *g, enum weir_dir dir)
{
	return h->pooled && weir_congested(g, dir);
}

void lab_host_wait_uncongested(struct lab_host *h, struct weir_group *g, enum weir_dir dir,
			       struct lab_event *ev)
{
	struct host_waiter *w;

	if (!lab_host_congested(h, g, dir)) {
		lab_event_at(h->engine, ev, lab_now(h->engine));
		return;
	}
	w = host_alloc(sizeof(*w));
	w->group = g;
	w->dir = dir;
	w->ev = ev;
	*h->waiters_tail = w;
	h->waiters_tail = &w->next;
}
