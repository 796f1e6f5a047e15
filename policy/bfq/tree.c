/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: one class of one level, by B-WF2Q+. An entity with weight w that is to have b sectors from
 * start time S finishes at F = S + b / w; the level's time V goes on by x / (sum of weights) with
 * every x sectors that are served below it. Whoever has S <= V is eligible, and among those the
 * smallest F goes first.
 *
 * The kernel has one tree by F that knows the smallest S of each part. Here there are two: who is
 * eligible, by F, and who waits to be, by S. V only grows, so each moves over once in each turn, and
 * the first to go is the first of a tree. Answers are the same; equal times go in the order in which
 * they came to stand there.
 *
 * What goes idle ahead of its time (F > V) stays among the former ones, and in the sum of weights,
 * until V has caught up: whoever returns early goes on from its F and not from V.
 *
 * All O(log n), settling amortised over activations.
 */
#include "policy/bfq/internal.h"

static struct bfq_tree *tree_of(const struct bfq_entity *e)
{
	return &e->in->tree[e->class];
}

/* sectors are below 2^42: see BFQ_VTIME_SHIFT. */
static uint64_t delta(uint64_t sectors, uint64_t weight)
{
	return weir_div64(sectors << BFQ_VTIME_SHIFT, weight);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return weir_vtime_before(a, b) ? b : a;
}

static struct bfq_entity *entity_of(struct weir_rb *node)
{
	return weir_container_of(node, struct bfq_entity, node);
}

void bfq_trees_init(struct bfq_group *g)
{
	unsigned int class;

	for (class = 0; class < BFQ_NR_CLASSES; class ++) {
		weir_rb_init(&g->tree[class].waiting);
		weir_rb_init(&g->tree[class].eligible);
		weir_rb_init(&g->tree[class].former);
	}
}

/* V has grown: who waited may be eligible, and who is remembered may be forgotten. */
static void settle(struct bfq_tree *t)
{
	struct weir_rb *node;

	while ((node = weir_rb_first(&t->waiting)) && !weir_vtime_before(t->vtime, node->key)) {
		struct bfq_entity *e = entity_of(node);

		weir_rb_erase(&t->waiting, node);
		weir_rb_insert(&t->eligible, node, e->finish);
		e->place = BFQ_ELIGIBLE;
	}
	while ((node = weir_rb_first(&t->former)) && !weir_vtime_before(t->vtime, node->key)) {
		struct bfq_entity *e = entity_of(node);

		weir_rb_erase(&t->former, node);
		e->place = BFQ_NOWHERE;
		t->weights -= e->weight;
	}
}

/* Among the active ones, by its times. */
static void enter(struct bfq_entity *e)
{
	struct bfq_tree *t = tree_of(e);

	if (weir_vtime_before(t->vtime, e->start)) {
		e->place = BFQ_WAITING;
		weir_rb_insert(&t->waiting, &e->node, e->start);
	} else {
		e->place = BFQ_ELIGIBLE;
		weir_rb_insert(&t->eligible, &e->node, e->finish);
	}
}

/* Out of the tree that it is in; the sum of weights stays. */
static void leave(struct bfq_entity *e)
{
	struct bfq_tree *t = tree_of(e);

	if (e->place == BFQ_WAITING)
		weir_rb_erase(&t->waiting, &e->node);
	else if (e->place == BFQ_ELIGIBLE)
		weir_rb_erase(&t->eligible, &e->node);
	else if (e->place == BFQ_FORMER)
		weir_rb_erase(&t->former, &e->node);
	e->place = BFQ_NOWHERE;
}

/* It counts in the weights and is in no tree. In a new class, it begins at that one's time. */
void bfq_entity_reweigh(struct bfq_entity *e)
{
	struct bfq_tree *before = tree_of(e);
	uint32_t coeff = e->is_queue ? bfq_queue_of(e)->raise.coeff : 1;

	if (!e->weight_changed)
		return;
	e->weight_changed = false;
	before->weights -= e->weight;
	e->class = e->new_class;
	e->base_weight = e->new_weight;
	e->weight = e->base_weight * coeff;
	tree_of(e)->weights += e->weight;
	if (tree_of(e) != before)
		e->start = tree_of(e)->vtime;
	if (e->is_queue)
		bfq_count_pending(weir_policy_data(e->in->group->w), bfq_queue_of(e));
}

void bfq_entity_first_weight(struct bfq_entity *e)
{
	e->class = e->new_class;
	e->base_weight = e->new_weight;
	e->weight = e->new_weight;
	e->weight_changed = false;
}

void bfq_entity_wake(struct bfq_entity *e, bool backdate)
{
	struct bfq_tree *t = tree_of(e);
	uint64_t earliest = t->vtime, shift;
	bool back = backdate && weir_vtime_before(e->finish, t->vtime);

	if (back)
		earliest = e->finish;
	if (e->place == BFQ_FORMER) {
		leave(e);
		e->start = later(earliest, e->finish);
	} else {
		weir_assert(e->place == BFQ_NOWHERE);
		e->start = earliest;
		t->weights += e->weight;
	}
	bfq_entity_reweigh(e);
	t = tree_of(e);
	e->finish = e->start + delta(e->budget, e->weight);
	/* As if it had never been away, but not before what others have been promised since. */
	if (back && weir_vtime_before(e->finish, t->vtime)) {
		shift = t->vtime - e->finish;
		if (e->is_queue)
			shift = weir_div64(shift, bfq_queue_of(e)->raise.coeff);
		e->start += shift;
		e->finish += shift;
	}
	enter(e);
	e->in->nr_active++;
}

void bfq_entity_rebudget(struct bfq_entity *e, uint64_t budget)
{
	leave(e);
	e->budget = budget;
	e->finish = e->start + delta(budget, e->weight);
	enter(e);
}

void bfq_entity_requeue(struct bfq_entity *e)
{
	weir_assert(e->place == BFQ_SERVED);
	e->place = BFQ_NOWHERE;
	e->start += delta(e->service, e->weight);
	e->service = 0;
	bfq_entity_reweigh(e);
	e->finish = e->start + delta(e->budget, e->weight);
	enter(e);
}

void bfq_entity_sleep(struct bfq_entity *e)
{
	struct bfq_tree *t = tree_of(e);

	if (e->place == BFQ_SERVED)
		e->finish = e->start + delta(e->service, e->weight);
	leave(e);
	e->in->nr_active--;
	if (weir_vtime_before(t->vtime, e->finish)) {
		e->place = BFQ_FORMER;
		weir_rb_insert(&t->former, &e->node, e->finish);
	} else {
		t->weights -= e->weight;
	}
}

void bfq_entity_forget(struct bfq_entity *e)
{
	if (e->place != BFQ_FORMER)
		return;
	tree_of(e)->weights -= e->weight;
	leave(e);
}

void bfq_entity_charge(struct bfq_entity *e, uint64_t sectors)
{
	struct bfq_tree *t = tree_of(e);

	e->service += sectors;
	weir_assert(t->weights);
	t->vtime += delta(sectors, t->weights);
	settle(t);
}

static struct bfq_entity *tree_first(const struct bfq_tree *t)
{
	struct weir_rb *node = weir_rb_first(&t->eligible);

	if (!node)
		node = weir_rb_first(&t->waiting);
	return node ? entity_of(node) : NULL;
}

struct bfq_entity *bfq_level_first(const struct bfq_group *g)
{
	struct bfq_entity *e = NULL;
	unsigned int class;

	for (class = 0; class < BFQ_NR_CLASSES && !e; class ++)
		e = tree_first(&g->tree[class]);
	return e;
}

/* Nobody is served below g. If nobody is eligible either, V jumps to the first who waits. */
struct bfq_entity *bfq_level_serve(struct bfq *bfq, struct bfq_group *g)
{
	struct bfq_entity *e = bfq_level_first(g), *idle = tree_first(&g->tree[BFQ_IDLE]);
	struct bfq_tree *t;

	weir_assert(e && !g->served);
	if (bfq_passed(bfq, g->idle_class_ns, BFQ_IDLE_CLASS_NS)) {
		if (idle)
			e = idle;
		g->idle_class_ns = bfq->now;
	}
	t = tree_of(e);
	if (weir_vtime_before(t->vtime, e->start)) {
		t->vtime = e->start;
		settle(t);
		/* Among those that begin at the same time the smallest finish goes. */
		e = tree_first(t);
	}
	leave(e);
	e->place = BFQ_SERVED;
	g->served = e;
	return e;
}
