/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Anticipatory: the queue. Each class has its requests twice, by position and by expiry, and knows
 * which one the arm should come to next: a one-way elevator that may go back a little. What is ahead
 * counts by its distance, what is up to 512 MiB behind counts twice, and what is farther behind only
 * comes when there is nothing else.
 */
#include "policy/anticipatory/internal.h"

enum {
	BACK_SECTORS = 1024 * 1024,
	BACK_PENALTY = 2,
};

/* How far from `last`; *wraps: too far behind for the arm to go back. */
static uint64_t effort(uint64_t last, const struct weir_rq *rq, bool *wraps)
{
	*wraps = false;
	if (rq->sector >= last)
		return rq->sector - last;
	if (last - rq->sector <= BACK_SECTORS)
		return (last - rq->sector) * BACK_PENALTY;
	*wraps = true;
	return 0;
}

/* The one of two of a class that goes first; either may be NULL. */
static struct weir_rq *choose(const struct antic_class *c, struct weir_rq *a, struct weir_rq *b)
{
	uint64_t of_a, of_b;
	bool a_wraps, b_wraps;

	if (!a || !b || a == b)
		return a ? a : b;
	of_a = effort(c->last_sector, a, &a_wraps);
	of_b = effort(c->last_sector, b, &b_wraps);
	if (a_wraps != b_wraps)
		return a_wraps ? b : a;
	if (a_wraps)
		return a->sector <= b->sector ? a : b;
	if (of_a != of_b)
		return of_a < of_b ? a : b;
	return a->sector >= b->sector ? a : b;
}

/* What goes next, if not rq, which is the next by now: one of its neighbours. */
static struct weir_rq *choose_without(struct antic_class *c, struct weir_rq *rq)
{
	struct weir_rb *node = &antic_rq(rq)->node, *after = weir_rb_next(node);

	if (!after)
		after = weir_rb_first(&c->tree);
	return choose(c, after == node ? NULL : antic_rq_at(after),
		      antic_rq_at(weir_rb_prev(node)));
}

void antic_take(struct antic_queue *q, struct weir_rq *rq)
{
	struct antic_rq *arq = antic_rq(rq);
	struct antic_class *c = &q->class[arq->class];

	if (c->next == rq)
		c->next = choose_without(c, rq);
	list_unlink(&rq->link);
	weir_rb_erase(&c->tree, &arq->node);
}

/* Into the tree. Who has the same place makes room, and is on its way to the device. */
static void place(struct antic_queue *q, struct weir_rq *rq)
{
	struct antic_rq *arq = antic_rq(rq);
	struct antic_class *c = &q->class[arq->class];
	struct weir_rq *there = antic_rq_at(weir_rb_at_or_after(&c->tree, rq->sector));

	if (there && there->sector == rq->sector) {
		antic_book(q, there);
		antic_rq(there)->where = ANTIC_MOVED;
		list_push_back(&q->moved, &there->link);
	}
	weir_rb_insert(&c->tree, &arq->node, rq->sector);
}

static void queue_insert(struct weir *w, void *queue, struct weir_rq *rq)
{
	struct antic_queue *q = queue;
	struct antic_rq *arq = antic_rq(rq);
	struct antic_process *p = antic_process_of(rq);
	struct antic_class *c;
	uint64_t now = weir_now(w);

	antic_look_at_clock(q, now);
	arq->rq = rq;
	arq->where = ANTIC_QUEUED;
	arq->class = weir_rq_is_sync(rq) ? ANTIC_SYNC : ANTIC_ASYNC;
	arq->expires_ns = weir_add_sat(now, q->device->expire_ns[arq->class]);
	c = &q->class[arq->class];
	if (p) {
		antic_learn(q->device, p, rq, now);
		p->nr_queued++;
	}
	place(q, rq);
	list_push_back(&c->fifo, &rq->link);
	c->next = choose(c, rq, c->next);
	antic_arrived(q, rq, now);
}

/* It was booked, and won't complete: not so that the queue hears of it. */
static void unbook(struct weir *w, struct antic_queue *q, struct weir_rq *rq)
{
	if (q->reader && q->reader == antic_process_of(rq)) {
		antic_stop(q);
		antic_set_reader(q, NULL);
	}
	antic_one_less(q, weir_now(w));
}

static void queue_remove(struct weir *w, void *queue, struct weir_rq *rq)
{
	struct antic_queue *q = queue;
	struct antic_process *p = antic_process_of(rq);

	if (p)
		p->nr_queued--;
	if (antic_rq(rq)->where == ANTIC_QUEUED) {
		antic_take(q, rq);
		return;
	}
	list_unlink(&rq->link);
	unbook(w, q, rq);
}

/* ---- merging ---- */

static bool queue_may_merge(const struct weir_rq *rq)
{
	return ((const struct antic_rq *)rq->policy)->where == ANTIC_QUEUED;
}

static struct weir_rq *queue_find_front(struct weir *w, void *queue, const struct weir_rq *bio)
{
	struct antic_queue *q = queue;
	struct antic_class *c = &q->class[weir_rq_is_sync(bio) ? ANTIC_SYNC : ANTIC_ASYNC];

	(void)w;
	return antic_rq_at(weir_rb_at_or_after(&c->tree, weir_rq_end(bio)));
}

/*
 * The original doesn't look whether it is still the best to go next, nor does this; but the next
 * must be in the tree, so it isn't asked while it is out.
 */
static void queue_merged(struct weir *w, void *queue, struct weir_rq *rq, enum weir_merge kind)
{
	struct antic_queue *q = queue;
	struct antic_class *c = &q->class[antic_rq(rq)->class];

	(void)w;
	if (kind != WEIR_MERGE_FRONT)
		return;
	weir_rb_erase(&c->tree, &antic_rq(rq)->node);
	place(q, rq);
	if (!c->next)
		c->next = rq;
}

/* The survivor inherits the earlier expiry, and the place in the list that goes with it. */
static void queue_joining(struct weir *w, void *queue, struct weir_rq *first,
			  struct weir_rq *second)
{
	struct antic_rq *a = antic_rq(first), *b = antic_rq(second);

	(void)w;
	(void)queue;
	if (b->expires_ns >= a->expires_ns)
		return;
	a->expires_ns = b->expires_ns;
	list_unlink(&first->link);
	list_replace(&second->link, &first->link);
	list_init(&second->link); /* for its removal, which follows */
}

static struct weir_rq *queue_latter(void *queue, struct weir_rq *rq)
{
	(void)queue;
	return queue_may_merge(rq) ? antic_rq_at(weir_rb_next(&antic_rq(rq)->node)) : NULL;
}

static struct weir_rq *queue_former(void *queue, struct weir_rq *rq)
{
	(void)queue;
	return queue_may_merge(rq) ? antic_rq_at(weir_rb_prev(&antic_rq(rq)->node)) : NULL;
}

/* ---- its user's turns ---- */

static void queue_init(struct weir *w, void *queue, void *device)
{
	struct antic_queue *q = queue;
	unsigned int n;

	__builtin_memset(q, 0, sizeof(*q));
	q->device = device;
	list_init(&q->moved);
	for (n = 0; n < ANTIC_CLASSES; n++) {
		weir_rb_init(&q->class[n].tree);
		list_init(&q->class[n].fifo);
		q->class[n].last_check_ns = weir_now(w);
	}
	q->batch = ANTIC_SYNC;
	q->batch_ends_ns = weir_add_sat(weir_now(w), q->device->batch_ns[ANTIC_SYNC]);
}

static void queue_exit(void *queue)
{
	antic_set_reader(queue, NULL);
}

static void queue_undispatch(struct weir *w, void *queue, struct weir_rq *rq)
{
	unbook(w, queue, rq);
}

/* Batches last as long as they have the device. */
static void queue_turn_begins(struct weir *w, void *queue)
{
	struct antic_queue *q = queue;
	uint64_t away_ns = weir_now(w) - q->turn_ended_ns;

	if (!q->turn_ended_ns)
		return;
	q->turn_ended_ns = 0;
	q->batch_ends_ns = weir_add_sat(q->batch_ends_ns, away_ns);
	q->writes_began_ns = weir_add_sat(q->writes_began_ns, away_ns);
}

static void queue_turn_ends(struct weir *w, void *queue)
{
	struct antic_queue *q = queue;

	antic_look_at_clock(q, weir_now(w));
	antic_stop(q);
	q->turn_ended_ns = weir_now(w);
}

const struct weir_order weir_order_anticipatory = {
	.init = queue_init,
	.exit = queue_exit,
	.insert = queue_insert,
	.remove = queue_remove,
	.dispatch = antic_dispatch,
	.complete = antic_complete,
	.undispatch = queue_undispatch,
	.turn_begins = queue_turn_begins,
	.turn_ends = queue_turn_ends,
	.may_merge = queue_may_merge,
	.find_front = queue_find_front,
	.merged = queue_merged,
	.joining = queue_joining,
	.latter = queue_latter,
	.former = queue_former,
};
