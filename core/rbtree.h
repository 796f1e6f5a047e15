/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sorted set as a red-black tree, with the nodes inside their owners: no allocation, and every
 * operation O(log n) at worst.
 *
 * Nodes carry their key. Equal keys are allowed and keep their order of insertion, so that a walk
 * gives the same answers wherever the nodes lie in memory.
 */
#ifndef WEIR_CORE_RBTREE_H
#define WEIR_CORE_RBTREE_H

#include <weir/types.h>

struct weir_rb {
	struct weir_rb *parent; /* NULL: the root of the tree */
	struct weir_rb *child[2];
	uint64_t key;
	bool red;
};

struct weir_rb_tree {
	struct weir_rb *root;
};

static inline void weir_rb_init(struct weir_rb_tree *tree)
{
	tree->root = NULL;
}

static inline bool weir_rb_is_empty(const struct weir_rb_tree *tree)
{
	return !tree->root;
}

/* Goes after all nodes of the same key. */
void weir_rb_insert(struct weir_rb_tree *tree, struct weir_rb *node, uint64_t key);
/* The node is in the tree. Its key may be out of order by now: it isn't looked at. */
void weir_rb_erase(struct weir_rb_tree *tree, struct weir_rb *node);

/* First in order, or NULL. */
struct weir_rb *weir_rb_first(const struct weir_rb_tree *tree);
/* First whose key is at least the given one, or NULL. */
struct weir_rb *weir_rb_at_or_after(const struct weir_rb_tree *tree, uint64_t key);
/* Neighbours in order, or NULL. O(1) amortised over a walk. */
struct weir_rb *weir_rb_next(const struct weir_rb *node);
struct weir_rb *weir_rb_prev(const struct weir_rb *node);

#endif
