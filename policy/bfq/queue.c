/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: the requests of a queue. Sorted by sector for throughput, in a list by age so that none waits
 * for ever, and one of them is the next: the oldest once in each turn if it has expired, else the
 * nearest to where the head is, with steps backwards counting back_seek_penalty times and allowed
 * over back_seek_max only. Sync goes before async, metadata before data.
 */
#include "policy/bfq/internal.h"

void bfq_queue_init(struct bfq *bfq, struct bfq_queue *q, struct bfq_group *g, bool sync)
{
	struct bfq_entity *e = &q->entity;

	q->group = g;
	q->number = ++bfq->nr_created;
	e->in = g;
	e->is_queue = true;
	q->sync = sync;
	weir_rb_init(&q->sorted);
	list_init(&q->fifo);
	list_init(&q->all);
	list_init(&q->woken);
	list_init(&q->woken_by);
	list_init(&q->heirs);
	list_init(&q->heir);
	list_init(&q->stables);
	list_init(&q->sharers);
	list_init(&q->burst);
	q->raise.coeff = 1;
	q->raise.since_ns = bfq->now;
	q->soft_rt_ns = bfq->now;
	q->max_budget = 2 * bfq_max_budget(bfq) / 3;
	q->just_created = sync;
	q->short_think = sync;
	q->io_bound = true;
	q->created_ns = bfq->now;
	q->io_start_ns = bfq->now;
	q->last_end_ns = bfq->now;
	q->inject_changed_ns = bfq->now;
	q->seek_history = 1; /* the first request surely is one */
	bfq_queue_set_ioprio(q, BFQ_BE, BFQ_LEVEL_NORMAL);
	bfq_entity_first_weight(e);
}

void bfq_queue_set_ioprio(struct bfq_queue *q, enum bfq_class class, uint8_t level)
{
	struct bfq_entity *e = &q->entity;
	uint32_t weight = BFQ_WEIGHT_OF_LEVEL * (BFQ_LEVELS - (uint32_t)level);

	q->level = level;
	if (e->new_class == class && e->new_weight == weight)
		return;
	e->new_class = (uint8_t) class;
	e->new_weight = weight;
	e->weight_changed = true;
}

uint64_t bfq_charge_of(const struct bfq *bfq, const struct bfq_queue *q, const struct weir_rq *rq)
{
	if (q->sync || bfq_is_raised(q) || bfq_is_asymmetric(bfq, q))
		return rq->nr_sectors;
	return (uint64_t)rq->nr_sectors * BFQ_ASYNC_CHARGE;
}

/* ---- which goes next ---- */

/* Distance as seen from `last`; false: it is behind, too far to go back. */
static bool distance(const struct bfq *bfq, const struct weir_rq *rq, uint64_t last, uint64_t *is)
{
	uint64_t back_max = bfq_tunable(bfq, BFQ_BACK_SEEK_MAX) * 2;

	if (rq->sector >= last) {
		*is = rq->sector - last;
		return true;
	}
	*is = (last - rq->sector) * bfq_tunable(bfq, BFQ_BACK_SEEK_PENALTY);
	return last - rq->sector <= back_max;
}

/* The better of two, either of which may be NULL. */
static struct weir_rq *better(const struct bfq *bfq, struct weir_rq *a, struct weir_rq *b,
			      uint64_t last)
{
	uint64_t from_a, from_b;
	bool near_a, near_b;

	if (!a || !b || a == b)
		return a ? a : b;
	if (weir_rq_is_sync(a) != weir_rq_is_sync(b))
		return weir_rq_is_sync(a) ? a : b;
	if ((a->flags ^ b->flags) & WEIR_RQ_META)
		return a->flags & WEIR_RQ_META ? a : b;
	near_a = distance(bfq, a, last, &from_a);
	near_b = distance(bfq, b, last, &from_b);
	if (near_a != near_b)
		return near_a ? a : b;
	/* Both far behind: from the lowest on, with one seek back. */
	if (!near_a)
		return a->sector <= b->sector ? a : b;
	if (from_a != from_b)
		return from_a < from_b ? a : b;
	return a->sector >= b->sector ? a : b;
}

/* The oldest, if it has expired and has not been looked at in this turn. */
static struct weir_rq *expired(const struct bfq *bfq, struct bfq_queue *q)
{
	struct weir_rq *rq;

	if (q->fifo_checked)
		return NULL;
	q->fifo_checked = true;
	rq = list_first(&q->fifo, struct weir_rq, link);
	return bfq->now >= bfq_rq(rq)->expires_ns ? rq : NULL;
}

/* What goes after rq, which is about to leave; it is not alone. */
static struct weir_rq *next_after(const struct bfq *bfq, struct bfq_queue *q, struct weir_rq *rq)
{
	struct weir_rq *old, *after, *before;

	old = expired(bfq, q);
	if (old && old != rq)
		return old;
	after = bfq_rq_of(weir_rb_next(&bfq_rq(rq)->node));
	before = bfq_rq_of(weir_rb_prev(&bfq_rq(rq)->node));
	if (!after) {
		after = bfq_rq_of(weir_rb_first(&q->sorted));
		if (after == rq)
			after = NULL;
	}
	return better(bfq, after, before, rq->sector);
}

/* ---- coming and going ---- */

void bfq_queue_unposition(struct bfq_queue *q)
{
	if (q->positioned)
		weir_rb_erase(&q->group->positions, &q->position);
	q->positioned = false;
}

/* Where cooperators are looked for. On flash nobody looks. */
static void position(const struct bfq *bfq, struct bfq_queue *q)
{
	bfq_queue_unposition(q);
	if (!q->next || bfq->flash || q->into || !q->owner || q->entity.class == BFQ_IDLE)
		return;
	weir_rb_insert(&q->group->positions, &q->position, q->next->sector);
	q->positioned = true;
}

void bfq_queue_next_changed(struct bfq *bfq, struct bfq_queue *q)
{
	uint64_t budget;

	position(bfq, q);
	if (!q->next || !q->busy || q == bfq->served)
		return;
	budget = weir_max64(q->max_budget, bfq_charge_of(bfq, q, q->next));
	budget = weir_max64(budget, q->entity.service);
	if (budget != q->entity.budget)
		bfq_sched_rebudget(q, budget);
}

void bfq_queue_add(struct bfq *bfq, struct bfq_queue *q, struct weir_rq *rq)
{
	struct bfq_rq *brq = bfq_rq(rq);
	unsigned int expire = weir_rq_is_sync(rq) ? BFQ_FIFO_EXPIRE_SYNC : BFQ_FIFO_EXPIRE_ASYNC;
	struct weir_rq *before = q->next;

	brq->rq = rq;
	brq->q = q;
	brq->expires_ns = weir_add_sat(bfq->now, bfq_tunable(bfq, expire) * WEIR_NS_PER_MS);
	weir_rb_insert(&q->sorted, &brq->node, rq->sector);
	list_push_back(&q->fifo, &rq->link);
	list_push_back(&q->all, &brq->all);
	q->nr_queued++;
	bfq->nr_queued++;
	q->next = better(bfq, q->next, rq, bfq->last_sector);
	if (q->next != before)
		bfq_queue_next_changed(bfq, q);
}

void bfq_queue_take(struct bfq *bfq, struct weir_rq *rq)
{
	struct bfq_rq *brq = bfq_rq(rq);
	struct bfq_queue *q = brq->q;

	if (q->next == rq)
		q->next = q->nr_queued > 1 ? next_after(bfq, q, rq) : NULL;
	weir_rb_erase(&q->sorted, &brq->node);
	list_unlink(&rq->link);
	q->nr_queued--;
	bfq->nr_queued--;
	if (!q->nr_queued && q->busy && q != bfq->served) {
		bfq_queue_unposition(q);
		bfq_del_busy(bfq, q);
		/* Neither holds for a turn that it has had. */
		q->entity.budget = 0;
		q->entity.service = 0;
		return;
	}
	bfq_queue_next_changed(bfq, q);
}

void bfq_queue_moved_request(struct bfq *bfq, struct weir_rq *rq)
{
	struct bfq_rq *brq = bfq_rq(rq);
	struct bfq_queue *q = brq->q;

	weir_rb_erase(&q->sorted, &brq->node);
	weir_rb_insert(&q->sorted, &brq->node, rq->sector);
	q->next = better(bfq, q->next, rq, bfq->last_sector);
	bfq_queue_next_changed(bfq, q);
}
