/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: all levels together. A group is an entity among its siblings while something below it is
 * active; it asks for the budget of whoever goes next in it. Service is charged to the queue and to
 * every group above.
 *
 * From the root down to the queue in service, one entity of each level is served: it is in no tree,
 * and what goes on below it needs no change above, since its times are set anew when its turn ends.
 *
 * All O(depth of the tree x log of the entities of a level).
 */
#include "policy/bfq/internal.h"

/* The group that e is in, as an entity; NULL: that is the root. */
static struct bfq_entity *parent_of(const struct bfq_entity *e)
{
	return e->in->entity.in ? &e->in->entity : NULL;
}

static uint64_t budget_of_next(struct bfq_entity *group)
{
	const struct bfq_entity *next = bfq_level_first(bfq_group_of(group));

	return next ? next->budget : 0;
}

/* Someone below e has come, or goes with another budget: the groups above follow. */
static void follow(struct bfq_entity *e, bool backdate)
{
	for (; e; e = parent_of(e)) {
		uint64_t budget;

		if (e->place == BFQ_SERVED)
			return;
		budget = budget_of_next(e);
		if (e->place == BFQ_WAITING || e->place == BFQ_ELIGIBLE) {
			if (e->budget == budget)
				return;
			bfq_entity_rebudget(e, budget);
		} else {
			e->budget = budget;
			bfq_entity_wake(e, backdate);
		}
	}
}

void bfq_sched_activate(struct bfq_queue *q, bool backdate)
{
	bfq_entity_wake(&q->entity, backdate);
	follow(parent_of(&q->entity), backdate);
}

void bfq_sched_rebudget(struct bfq_queue *q, uint64_t budget)
{
	bfq_entity_rebudget(&q->entity, budget);
	follow(parent_of(&q->entity), false);
}

void bfq_sched_deactivate(struct bfq_queue *q)
{
	struct bfq_entity *e = &q->entity;

	weir_assert(e->place == BFQ_WAITING || e->place == BFQ_ELIGIBLE);
	do {
		bfq_entity_sleep(e);
		e = parent_of(e);
	} while (e && e->place != BFQ_SERVED && !bfq_group_of(e)->nr_active);
	follow(e, false);
}

void bfq_sched_charge(struct bfq *bfq, struct bfq_queue *q, uint64_t sectors)
{
	struct bfq_entity *e;

	if (!q->service_backlogged)
		q->first_io_ns = bfq->now;
	q->service_backlogged += sectors;
	if (bfq_is_raised(q))
		q->raise.service += sectors;
	for (e = &q->entity; e; e = parent_of(e))
		bfq_entity_charge(e, sectors);
}

struct bfq_queue *bfq_sched_serve(struct bfq *bfq)
{
	struct bfq_group *g = bfq->root;

	for (;;) {
		struct bfq_entity *e = bfq_level_serve(bfq, g);

		if (e->is_queue)
			return bfq_queue_of(e);
		g = bfq_group_of(e);
	}
}

void bfq_sched_unserve(struct bfq_queue *q, bool requeue)
{
	struct bfq_entity *e = &q->entity;

	for (; e; e = parent_of(e)) {
		e->in->served = NULL;
		if (!e->is_queue) {
			requeue = bfq_group_of(e)->nr_active;
			if (requeue)
				e->budget = budget_of_next(e);
		}
		if (requeue) {
			bfq_entity_requeue(e);
		} else {
			bfq_entity_sleep(e);
			if (!e->is_queue)
				e->service = 0;
		}
	}
}

struct bfq_queue *bfq_sched_first(const struct bfq *bfq)
{
	const struct bfq_group *g = bfq->root;

	for (;;) {
		struct bfq_entity *e = bfq_level_first(g);

		/* Others beside the served one's group come first; else within it. */
		if (!e)
			e = g->served;
		if (!e)
			return NULL;
		if (e->is_queue)
			return e->place == BFQ_SERVED ? NULL : bfq_queue_of(e);
		g = bfq_group_of(e);
	}
}
