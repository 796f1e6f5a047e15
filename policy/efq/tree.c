/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * efq: whose turn it is. Each group has a tree of what competes in it: its children, and its own
 * queue. What is served moves on in virtual time by amount x 500 / weight, itself and each group
 * above it; the earliest is next, from the root down.
 *
 * Who comes back gets the later of its own time and the tree's minimum: a pause gives nothing and
 * takes nothing, and a short one doesn't wipe out what was had before it.
 */
#include "policy/clamp.h"
#include "policy/efq/internal.h"

/* More at once isn't counted, so that products stay far from 2^63: 18 minutes. */
#define MOST_CHARGE (UINT64_C(1) << 40)

static struct efq_group *parent_of(const struct efq_group *eg)
{
	return eg->group->parent ? efq_group(eg->group->parent) : NULL;
}

void efq_read_weights(struct efq_group *eg)
{
	const struct weir_group *g = eg->group;

	eg->own.weight = weir_clamp_weight(g, "efq", "own weight", g->attr.own_weight,
					   EFQ_MIN_WEIGHT, EFQ_MAX_WEIGHT);
	eg->child.weight = weir_clamp_weight(g, "efq", "weight", g->attr.weight, EFQ_MIN_WEIGHT,
					     EFQ_MAX_WEIGHT);
}

void efq_tree_init(struct efq_group *eg)
{
	/* Ties: the own queue first, then children in order of their creation. The root's id is 0. */
	weir_heap_item_init(&eg->own.turn, 0);
	weir_heap_item_init(&eg->child.turn, eg->group->id);
	efq_read_weights(eg);
}

static void add(struct efq_group *tree, struct efq_entity *en)
{
	if (weir_vtime_before(en->vdisktime, tree->min_vdisktime))
		en->vdisktime = tree->min_vdisktime;
	weir_heap_push(&tree->group->turn, &en->turn, en->vdisktime);
}

void efq_tree_add(struct efq *e, struct efq_group *eg)
{
	struct efq_group *up;

	add(eg, &eg->own);
	e->nr_busy++;
	for (up = parent_of(eg); up && !weir_heap_has(&eg->child.turn); up = parent_of(eg)) {
		add(up, &eg->child);
		eg = up;
	}
}

void efq_tree_del(struct efq *e, struct efq_group *eg)
{
	struct efq_group *up;

	weir_heap_remove(&eg->group->turn, &eg->own.turn);
	e->nr_busy--;
	for (up = parent_of(eg); up && !weir_heap_min(&eg->group->turn); up = parent_of(eg)) {
		weir_heap_remove(&up->group->turn, &eg->child.turn);
		eg = up;
	}
}

static void charge(struct efq_group *tree, struct efq_entity *en, uint64_t amount)
{
	struct weir_heap *turns = &tree->group->turn;

	en->vdisktime += weir_div64(amount * EFQ_UNIT_WEIGHT, en->weight);
	weir_heap_update(turns, &en->turn, en->vdisktime);
	if (weir_vtime_before(tree->min_vdisktime, weir_heap_min_key(turns)))
		tree->min_vdisktime = weir_heap_min_key(turns);
}

void efq_tree_charge(struct efq_group *eg, uint64_t amount)
{
	struct efq_group *up;

	amount = weir_min64(amount, MOST_CHARGE);
	charge(eg, &eg->own, amount);
	for (up = parent_of(eg); up; up = parent_of(eg)) {
		charge(up, &eg->child, amount);
		eg = up;
	}
}

struct efq_group *efq_tree_first(struct weir *w)
{
	struct efq_group *eg = efq_group(w->root);

	for (;;) {
		struct weir_heap_item *first = weir_heap_min(&eg->group->turn);

		weir_assert(first);
		if (first == &eg->own.turn)
			return eg;
		eg = weir_container_of(first, struct efq_group, child.turn);
	}
}
