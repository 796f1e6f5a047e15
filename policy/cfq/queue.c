/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CFQ: the requests of one queue. They wait in a tree by position and in a list by arrival, and one
 * of them is known as the best for the head. Those in the driver are listed as well, since a queue
 * may have to hand them over (coop.c).
 */
#include "policy/cfq/internal.h"

void cfq_queue_init(struct cfq_queue *q, struct cfq_group *cg, bool sync)
{
	*q = (struct cfq_queue){
		.group = cg,
		.sync = sync,
		.class = CFQ_BE,
		.level = CFQ_LEVEL_NORM,
		.idle_window = sync,
	};
	weir_rb_init(&q->sorted);
	list_init(&q->fifo);
	list_init(&q->in_driver);
	list_init(&q->procs);
	list_init(&q->redirected);
	list_init(&q->incoming);
}

static struct weir_rq *rq_of(struct weir_rb *node)
{
	return node ? weir_container_of(node, struct cfq_rq, by_sector)->rq : NULL;
}

/* How far a request is, as the head sees it; false: only after a turn around. */
static bool within_reach(const struct cfq *c, const struct weir_rq *rq, uint64_t from,
			 uint64_t *cost)
{
	/* A KiB is two sectors. */
	uint64_t back_max = 2 * cfq_tunable(c, CFQ_BACK_SEEK_MAX);

	if (rq->sector >= from) {
		*cost = rq->sector - from;
		return true;
	}
	*cost = from - rq->sector;
	if (*cost > back_max)
		return false;
	*cost *= cfq_tunable(c, CFQ_BACK_SEEK_PENALTY);
	return true;
}

/*
 * The better of the two, of which one may be NULL: metadata, or what costs the head less. The
 * original asks first which is sync; here all of a queue are, or none.
 */
static struct weir_rq *choose(const struct cfq *c, struct weir_rq *a, struct weir_rq *b,
			      uint64_t from)
{
	uint64_t a_cost, b_cost;
	bool a_near, b_near;

	if (!a || !b || a == b)
		return a ? a : b;
	if ((a->flags ^ b->flags) & WEIR_RQ_META)
		return a->flags & WEIR_RQ_META ? a : b;
	a_near = within_reach(c, a, from, &a_cost);
	b_near = within_reach(c, b, from, &b_cost);
	if (a_near != b_near)
		return a_near ? a : b;
	/* Both behind: from the lower one on, it is one long seek for all. */
	if (!a_near)
		return a->sector <= b->sector ? a : b;
	if (a_cost != b_cost)
		return a_cost < b_cost ? a : b;
	return a->sector >= b->sector ? a : b;
}

/* Which would follow this one: a neighbour, or the first of all behind the last. */
static struct weir_rq *after(const struct cfq *c, const struct cfq_queue *q, struct weir_rq *rq)
{
	struct weir_rq *next = cfq_queue_latter(rq);

	if (!next)
		next = rq_of(weir_rb_first(&q->sorted));
	return choose(c, next == rq ? NULL : next, cfq_queue_former(rq), rq->sector);
}

static void set_next(struct cfq *c, struct cfq_queue *q, struct weir_rq *rq)
{
	q->next = rq;
	cfq_position_changed(c, q);
}

static void sort_in(struct cfq *c, struct cfq_queue *q, struct weir_rq *rq)
{
	weir_rb_insert(&q->sorted, &cfq_rq(rq)->by_sector, rq->sector);
	set_next(c, q, choose(c, q->next, rq, c->position));
}

void cfq_queue_add(struct cfq *c, struct cfq_queue *q, struct weir_rq *rq)
{
	cfq_rq(rq)->queue = q;
	list_push_back(&q->fifo, &rq->link);
	q->nr_queued++;
	c->nr_queued++;
	if (rq->flags & WEIR_RQ_META)
		q->nr_meta++;
	sort_in(c, q, rq);
}

void cfq_queue_take(struct cfq *c, struct weir_rq *rq)
{
	struct cfq_queue *q = cfq_rq(rq)->queue;

	if (q->next == rq)
		set_next(c, q, after(c, q, rq));
	weir_rb_erase(&q->sorted, &cfq_rq(rq)->by_sector);
	list_unlink(&rq->link);
	q->nr_queued--;
	c->nr_queued--;
	if (rq->flags & WEIR_RQ_META)
		q->nr_meta--;
}

void cfq_queue_moved(struct cfq *c, struct weir_rq *rq)
{
	struct cfq_queue *q = cfq_rq(rq)->queue;

	weir_rb_erase(&q->sorted, &cfq_rq(rq)->by_sector);
	sort_in(c, q, rq);
}

struct weir_rq *cfq_queue_at(const struct cfq_queue *q, uint64_t sector)
{
	return rq_of(weir_rb_at_or_after(&q->sorted, sector));
}

struct weir_rq *cfq_queue_latter(struct weir_rq *rq)
{
	return rq_of(weir_rb_next(&cfq_rq(rq)->by_sector));
}

struct weir_rq *cfq_queue_former(struct weir_rq *rq)
{
	return rq_of(weir_rb_prev(&cfq_rq(rq)->by_sector));
}

void cfq_queue_dispatch(struct cfq *c, struct weir_rq *rq)
{
	struct cfq_queue *q = cfq_rq(rq)->queue;

	/* Also when this one went for its age: the head is here now. */
	set_next(c, q, after(c, q, rq));
	cfq_queue_take(c, rq);
	list_push_back(&q->in_driver, &rq->link);
	q->nr_in_driver++;
	cfq_group(rq->group)->in_driver++;
	c->in_flight[q->sync]++;
	c->in_driver++;
	c->position = weir_rq_end(rq);
}

void cfq_queue_left_driver(struct cfq *c, struct weir_rq *rq)
{
	struct cfq_queue *q = cfq_rq(rq)->queue;

	weir_assert(q->nr_in_driver && c->in_driver && c->in_flight[q->sync]);
	list_unlink(&rq->link);
	q->nr_in_driver--;
	cfq_group(rq->group)->in_driver--;
	c->in_flight[q->sync]--;
	c->in_driver--;
}
