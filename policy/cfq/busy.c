/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CFQ: queues that have something to do. Each is in the service tree of its class and type, in its
 * group, in the order of a key that is nearly a time: when it would be fair that it goes.
 *
 * A queue that runs empty in its slice stays busy until the slice is over: it is what the idling is
 * about. So an active queue is always busy, and other busy queues always have something.
 *
 * Beside that, queues are sorted by where on the disk they would go on, a tree for each level of
 * priority, for the search of cooperators.
 */
#include "policy/cfq/internal.h"

struct cfq_tree *cfq_tree_of(struct cfq_group *cg, unsigned int class, unsigned int type)
{
	return class == CFQ_IDLE ? &cg->idle : &cg->tree[class][type];
}

static struct cfq_queue *queue_of(struct weir_rb *node)
{
	return node ? weir_container_of(node, struct cfq_queue, by_key) : NULL;
}

struct cfq_queue *cfq_tree_first(const struct cfq_tree *t)
{
	return queue_of(weir_rb_first(&t->rb));
}

uint32_t cfq_nr_busy_in(const struct cfq_group *cg, unsigned int class)
{
	if (class == CFQ_IDLE)
		return cg->idle.count;
	return cg->tree[class][CFQ_ASYNC].count + cg->tree[class][CFQ_NOIDLE].count +
	       cg->tree[class][CFQ_SYNC].count;
}

uint32_t cfq_nr_busy_async(const struct cfq_group *cg)
{
	return cg->tree[CFQ_RT][CFQ_ASYNC].count + cg->tree[CFQ_BE][CFQ_ASYNC].count;
}

/* ---- keys ---- */

static struct weir_rb *last_of(const struct weir_rb_tree *tree)
{
	struct weir_rb *node = tree->root;

	while (node && node->child[1])
		node = node->child[1];
	return node;
}

/*
 * Higher levels have longer slices, so they come earlier: by the difference, for each of the other
 * queues. A group's first queue is not counted yet when it comes, so for it this is negative; the
 * original has that, too.
 */
static int64_t key_offset(const struct cfq *c, const struct cfq_queue *q)
{
	int64_t others = (int64_t)q->group->nr_queues - 1;

	return others *
	       (int64_t)(cfq_slice_base(c, true, 0) - cfq_slice_base(c, q->sync, q->level));
}

static uint64_t key_of(const struct cfq *c, struct cfq_queue *q, const struct cfq_tree *t)
{
	uint64_t key = CFQ_KEY_BIAS + cfq_now(c);

	if (q->class == CFQ_IDLE) {
		const struct weir_rb *last = last_of(&t->rb);

		if (last && last != &q->by_key)
			key = last->key;
		return key + CFQ_IDLE_DELAY_MS * WEIR_NS_PER_MS;
	}
	key += (uint64_t)key_offset(c, q) - (uint64_t)q->residual_ns;
	q->residual_ns = 0;
	return key;
}

/* ---- places ---- */

static void take_place(struct cfq_queue *q)
{
	if (!q->tree)
		return;
	weir_rb_erase(&q->tree->rb, &q->by_key);
	q->tree->count--;
	q->tree = NULL;
}

static void give_place(struct cfq_queue *q, struct cfq_tree *t, uint64_t key)
{
	take_place(q);
	q->tree = t;
	t->count++;
	weir_rb_insert(&t->rb, &q->by_key, key);
}

static struct cfq_tree *its_tree(struct cfq_queue *q)
{
	return cfq_tree_of(q->group, q->class, cfq_type_of(q));
}

void cfq_busy_add(struct cfq *c, struct cfq_queue *q)
{
	struct cfq_tree *t = its_tree(q);

	weir_assert(!q->tree);
	c->nr_busy++;
	c->nr_busy_sync += q->sync;
	give_place(q, t, key_of(c, q, t));
	cfq_group_queue_added(c, q->group);
	cfq_position_changed(c, q);
}

void cfq_busy_remove(struct cfq *c, struct cfq_queue *q)
{
	weir_assert(q->tree);
	take_place(q);
	cfq_group_queue_removed(c, q->group);
	c->nr_busy--;
	c->nr_busy_sync -= q->sync;
	cfq_position_changed(c, q);
}

void cfq_busy_resort(struct cfq *c, struct cfq_queue *q)
{
	struct cfq_tree *t = its_tree(q);
	uint64_t key = key_of(c, q, t);

	/* Who has the same key in the same tree keeps its place among equals. */
	if (q->tree != t || key != q->by_key.key)
		give_place(q, t, key);
	cfq_position_changed(c, q);
}

void cfq_busy_to_front(struct cfq *c, struct cfq_queue *q)
{
	struct cfq_tree *t = its_tree(q);
	const struct cfq_queue *first = cfq_tree_first(t);
	uint64_t key = first ? first->by_key.key : CFQ_KEY_BIAS + cfq_now(c);

	give_place(q, t, key - CFQ_FRONT_MS * WEIR_NS_PER_MS);
}

/* ---- positions ---- */

void cfq_position_changed(struct cfq *c, struct cfq_queue *q)
{
	if (q->positions) {
		weir_rb_erase(q->positions, &q->by_position);
		q->positions = NULL;
	}
	if (!q->next || !q->tree || q->class == CFQ_IDLE)
		return;
	q->positions = &c->positions[q->level];
	weir_rb_insert(q->positions, &q->by_position, q->next->sector);
}

bool cfq_is_close(const struct cfq *c, uint64_t sector)
{
	uint64_t distance = sector > c->position ? sector - c->position : c->position - sector;

	return distance <= CFQ_CLOSE_SECTORS;
}

struct cfq_queue *cfq_position_close(const struct cfq *c, unsigned int level)
{
	const struct weir_rb_tree *tree = &c->positions[level];
	struct weir_rb *after = weir_rb_at_or_after(tree, c->position), *before, *near = after;

	before = after ? weir_rb_prev(after) : last_of(tree);
	if (!after || (before && c->position - before->key < after->key - c->position))
		near = before;
	if (!near || !cfq_is_close(c, near->key))
		return NULL;
	return weir_container_of(near, struct cfq_queue, by_position);
}
