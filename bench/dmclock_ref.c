// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reference dmClock queue (Gulati, Merchant, Varman: mClock, OSDI 2010), for the benchmark alone.
 *
 * Every client has a reservation, a weight and a limit, and the request at the head of its queue
 * carries three tags, one for each:
 *
 *	R = max(t, R' + (rho + cost) / reservation)	when its reservation is due
 *	P = max(t, P' + (delta + cost) / weight)	its place in proportional sharing
 *	L = max(t, L' + (delta + cost) / limit)		when its limit lets it go
 *
 * Three heaps hold the clients by their heads: by R; by L, those that are not ready first; and by
 * P, those that are ready first. Pulling serves the smallest R if that is due, else marks as ready
 * what its limit lets go and serves the smallest P among the ready, taking that service off the
 * client's reservation. Tags are computed late, when a request becomes the head of its queue.
 *
 * It is meant to be a fair opponent: no lock, no allocation, no lookup by name, no clock is read,
 * requests are linked in place, and heaps are arrays with the clients' places noted in them.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bench/dmclock_ref.h"

struct tag {
	double reservation_s, proportion_s, limit_s;
	double arrival_s;
	bool ready;
};

enum heap_kind {
	HEAP_RESERVATION,
	HEAP_LIMIT,
	HEAP_READY,
	NR_HEAPS,
};

struct client {
	struct dmc_rq *head, **tail;
	struct tag tag; /* of the head */
	struct tag prev;
	double reservation_inv, weight_inv, limit_inv; /* 0: no rate */
	double prop_delta_s;
	uint32_t id;
	bool idle;
	uint32_t at[NR_HEAPS];
};

struct dmc_queue {
	struct client *client;
	uint32_t nr;
	struct client **heap[NR_HEAPS];
};

/* ---- heaps: binary, all clients are always in all three ---- */

/* Clients without a request sink to the bottom of each heap. */
static bool before(enum heap_kind kind, const struct client *a, const struct client *b)
{
	double x, y;

	if (!a->head || !b->head)
		return a->head && !b->head;
	switch (kind) {
	case HEAP_RESERVATION:
		x = a->tag.reservation_s;
		y = b->tag.reservation_s;
		break;
	case HEAP_LIMIT:
		if (a->tag.ready != b->tag.ready)
			return !a->tag.ready;
		x = a->tag.limit_s;
		y = b->tag.limit_s;
		break;
	default:
		if (a->tag.ready != b->tag.ready)
			return a->tag.ready;
		x = a->tag.proportion_s + a->prop_delta_s;
		y = b->tag.proportion_s + b->prop_delta_s;
		break;
	}
	if (x < y)
		return true;
	/* Equal: the earlier arrival. */
	return !(y < x) && a->tag.arrival_s < b->tag.arrival_s;
}

static void put(struct dmc_queue *q, enum heap_kind kind, uint32_t at, struct client *c)
{
	q->heap[kind][at] = c;
	c->at[kind] = at;
}

static void adjust(struct dmc_queue *q, enum heap_kind kind, struct client *c)
{
	struct client **heap = q->heap[kind];
	uint32_t at = c->at[kind], child;

	while (at && before(kind, c, heap[(at - 1) / 2])) {
		put(q, kind, at, heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	while ((child = 2 * at + 1) < q->nr) {
		if (child + 1 < q->nr && before(kind, heap[child + 1], heap[child]))
			child++;
		if (!before(kind, heap[child], c))
			break;
		put(q, kind, at, heap[child]);
		at = child;
	}
	put(q, kind, at, c);
}

static void adjust_all(struct dmc_queue *q, struct client *c)
{
	adjust(q, HEAP_RESERVATION, c);
	adjust(q, HEAP_LIMIT, c);
	adjust(q, HEAP_READY, c);
}

/* ---- tags ---- */

static double next_tag(double now_s, double prev_s, double inv, uint32_t units, double none)
{
	double tag_s;

	if (inv == 0)
		return none;
	tag_s = prev_s + units * inv;
	return tag_s > now_s ? tag_s : now_s;
}

/* The head's tags; they become the base of the next one's. */
static void tag_head(struct client *c)
{
	const struct dmc_rq *rq = c->head;
	struct tag *t = &c->tag;

	t->arrival_s = rq->arrival_s;
	t->ready = false;
	t->reservation_s = next_tag(rq->arrival_s, c->prev.reservation_s, c->reservation_inv,
				    rq->rho + rq->cost, INFINITY);
	t->proportion_s = next_tag(rq->arrival_s, c->prev.proportion_s, c->weight_inv,
				   rq->delta + rq->cost, INFINITY);
	t->limit_s = next_tag(rq->arrival_s, c->prev.limit_s, c->limit_inv, rq->delta + rq->cost,
			      -INFINITY);
	c->prev = *t;
}

/*
 * A client that was idle joins at the level of the others: its proportional tags are real times,
 * the others' may be far ahead or behind.
 */
static void join(struct dmc_queue *q, struct client *c, double now_s)
{
	double lowest_s = INFINITY;
	uint32_t i;

	for (i = 0; i < q->nr; i++) {
		const struct client *other = &q->client[i];
		double level_s;

		if (other == c || other->idle)
			continue;
		level_s = (other->head ? other->tag : other->prev).proportion_s +
			  other->prop_delta_s;
		if (level_s < lowest_s)
			lowest_s = level_s;
	}
	if (isfinite(lowest_s))
		c->prop_delta_s = lowest_s - now_s;
	c->idle = false;
}

/* ---- the queue ---- */

void dmc_add(struct dmc_queue *q, struct dmc_rq *rq, double now_s)
{
	struct client *c = &q->client[rq->client];
	bool first = !c->head;

	if (c->idle)
		join(q, c, now_s);
	rq->arrival_s = now_s;
	rq->next = NULL;
	*c->tail = rq;
	c->tail = &rq->next;
	if (first) {
		tag_head(c);
		adjust_all(q, c);
	}
}

static struct dmc_rq *pop(struct dmc_queue *q, struct client *c, bool by_weight)
{
	struct dmc_rq *rq = c->head;

	c->head = rq->next;
	if (!c->head)
		c->tail = &c->head;
	/* Served by weight: its reservation must not pay for that. */
	if (by_weight && c->reservation_inv != 0)
		c->prev.reservation_s -= (rq->rho + rq->cost) * c->reservation_inv;
	if (c->head)
		tag_head(c);
	adjust_all(q, c);
	return rq;
}

/* What its limit lets go by now competes by weight. */
static void promote(struct dmc_queue *q, double now_s)
{
	for (;;) {
		struct client *c = q->heap[HEAP_LIMIT][0];

		if (!c->head || c->tag.ready || c->tag.limit_s > now_s)
			return;
		c->tag.ready = true;
		adjust(q, HEAP_READY, c);
		adjust(q, HEAP_LIMIT, c);
	}
}

struct dmc_rq *dmc_pull(struct dmc_queue *q, double now_s, enum dmc_phase *phase, double *when_s)
{
	struct client *c = q->heap[HEAP_RESERVATION][0];

	if (!c->head) {
		*phase = DMC_NONE;
		return NULL;
	}
	if (c->tag.reservation_s <= now_s) {
		*phase = DMC_RESERVATION;
		return pop(q, c, false);
	}
	promote(q, now_s);
	c = q->heap[HEAP_READY][0];
	if (c->tag.ready && isfinite(c->tag.proportion_s)) {
		*phase = DMC_PRIORITY;
		return pop(q, c, true);
	}
	*phase = DMC_FUTURE;
	*when_s = q->heap[HEAP_RESERVATION][0]->tag.reservation_s;
	if (!q->heap[HEAP_LIMIT][0]->tag.ready && q->heap[HEAP_LIMIT][0]->tag.limit_s < *when_s)
		*when_s = q->heap[HEAP_LIMIT][0]->tag.limit_s;
	return NULL;
}

static void init_client(struct client *c, uint32_t id, const struct dmc_client_info *info)
{
	c->id = id;
	c->tail = &c->head;
	c->idle = true;
	c->reservation_inv = info->reservation > 0 ? 1 / info->reservation : 0;
	c->weight_inv = info->weight > 0 ? 1 / info->weight : 0;
	c->limit_inv = info->limit > 0 ? 1 / info->limit : 0;
}

struct dmc_queue *dmc_new(uint32_t nr, const struct dmc_client_info *info)
{
	struct dmc_queue *q = calloc(1, sizeof(*q));
	uint32_t i, kind;

	if (!q)
		return NULL;
	q->nr = nr;
	q->client = calloc(nr, sizeof(*q->client));
	for (kind = 0; kind < NR_HEAPS; kind++)
		q->heap[kind] = calloc(nr, sizeof(struct client *));
	if (!q->client || !q->heap[0] || !q->heap[1] || !q->heap[2]) {
		dmc_free(q);
		return NULL;
	}
	for (i = 0; i < nr; i++) {
		init_client(&q->client[i], i, &info[i]);
		for (kind = 0; kind < NR_HEAPS; kind++)
			put(q, kind, i, &q->client[i]);
	}
	return q;
}

void dmc_free(struct dmc_queue *q)
{
	uint32_t kind;

	for (kind = 0; kind < NR_HEAPS; kind++)
		free(q->heap[kind]);
	free(q->client);
	free(q);
}
