/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Red-black tree. The rules: the root is black; a red node has black children; every path from a
 * node down to a missing child passes the same number of black nodes. So no path is more than twice
 * as long as another.
 *
 * Left and right are child[0] and child[1] throughout; `side` is one of them and `!side` the other,
 * which halves the cases.
 */
#include "core/rbtree.h"

static bool is_red(const struct weir_rb *node)
{
	return node && node->red;
}

static int side_of(const struct weir_rb *node)
{
	return node->parent->child[1] == node;
}

/* `with` (may be NULL) takes the place of `node` below node's parent. */
static void replace_below_parent(struct weir_rb_tree *tree, struct weir_rb *node,
				 struct weir_rb *with)
{
	if (!node->parent)
		tree->root = with;
	else
		node->parent->child[side_of(node)] = with;
	if (with)
		with->parent = node->parent;
}

/* The node goes down to the given side; its child of the other side comes up. */
static void rotate(struct weir_rb_tree *tree, struct weir_rb *node, int side)
{
	struct weir_rb *up = node->child[!side];
	struct weir_rb *middle = up->child[side];

	replace_below_parent(tree, node, up);
	up->child[side] = node;
	node->parent = up;
	node->child[!side] = middle;
	if (middle)
		middle->parent = node;
}

/* `node` is red, and its parent may be red too: the only rule that can be broken. */
static void mend_red(struct weir_rb_tree *tree, struct weir_rb *node)
{
	while (is_red(node->parent)) {
		/* A red parent isn't the root. */
		struct weir_rb *parent = node->parent, *grand = parent->parent;
		int side = side_of(parent);
		struct weir_rb *uncle = grand->child[!side];

		if (is_red(uncle)) {
			parent->red = false;
			uncle->red = false;
			grand->red = true;
			node = grand;
			continue;
		}
		if (side_of(node) != side) {
			rotate(tree, parent, side);
			parent = node;
		}
		parent->red = false;
		grand->red = true;
		rotate(tree, grand, !side);
		break;
	}
	tree->root->red = false;
}

void weir_rb_insert(struct weir_rb_tree *tree, struct weir_rb *node, uint64_t key)
{
	struct weir_rb *parent = NULL, *at = tree->root;
	int side = 0;

	while (at) {
		parent = at;
		side = key >= at->key;
		at = at->child[side];
	}
	node->parent = parent;
	node->child[0] = NULL;
	node->child[1] = NULL;
	node->key = key;
	node->red = true;
	if (parent)
		parent->child[side] = node;
	else
		tree->root = node;
	mend_red(tree, node);
}

/*
 * The paths through `parent`'s child of the given side are one black node short. That child is
 * black or missing, so its sibling exists.
 */
static void mend_black(struct weir_rb_tree *tree, struct weir_rb *parent, int side)
{
	for (;;) {
		struct weir_rb *short_one = parent->child[side];
		struct weir_rb *sibling = parent->child[!side];

		if (is_red(short_one)) {
			short_one->red = false;
			return;
		}
		if (is_red(sibling)) {
			sibling->red = false;
			parent->red = true;
			rotate(tree, parent, side);
			sibling = parent->child[!side];
		}
		if (!is_red(sibling->child[0]) && !is_red(sibling->child[1])) {
			/* The sibling's paths get one shorter too; the lack moves up. */
			sibling->red = true;
			if (parent->red || !parent->parent) {
				parent->red = false;
				return;
			}
			side = side_of(parent);
			parent = parent->parent;
			continue;
		}
		if (!is_red(sibling->child[!side])) {
			sibling->child[side]->red = false;
			sibling->red = true;
			rotate(tree, sibling, !side);
			sibling = parent->child[!side];
		}
		sibling->red = parent->red;
		parent->red = false;
		sibling->child[!side]->red = false;
		rotate(tree, parent, side);
		return;
	}
}

/* `next`, the leftmost below node's right child, takes node's place and colour. */
static void swap_with_next(struct weir_rb_tree *tree, struct weir_rb *node, struct weir_rb *next)
{
	replace_below_parent(tree, node, next);
	next->child[0] = node->child[0];
	next->child[0]->parent = next;
	next->child[1] = node->child[1];
	if (next->child[1])
		next->child[1]->parent = next;
	next->red = node->red;
}

void weir_rb_erase(struct weir_rb_tree *tree, struct weir_rb *node)
{
	struct weir_rb *out = node, *child, *parent;
	bool was_red;
	int side;

	/* With two children, it's the place of the next in order that gets empty. */
	if (node->child[0] && node->child[1])
		for (out = node->child[1]; out->child[0];)
			out = out->child[0];
	child = out->child[out->child[0] ? 0 : 1];
	parent = out->parent;
	side = parent ? side_of(out) : 0;
	was_red = out->red;

	replace_below_parent(tree, out, child);
	if (out != node) {
		if (parent == node)
			parent = out;
		swap_with_next(tree, node, out);
	}
	if (was_red)
		return;
	if (parent)
		mend_black(tree, parent, side);
	else if (child)
		child->red = false;
}

static struct weir_rb *outermost(struct weir_rb *node, int side)
{
	while (node && node->child[side])
		node = node->child[side];
	return node;
}

struct weir_rb *weir_rb_first(const struct weir_rb_tree *tree)
{
	return outermost(tree->root, 0);
}

struct weir_rb *weir_rb_at_or_after(const struct weir_rb_tree *tree, uint64_t key)
{
	struct weir_rb *at = tree->root, *found = NULL;

	while (at) {
		if (at->key >= key) {
			found = at;
			at = at->child[0];
		} else {
			at = at->child[1];
		}
	}
	return found;
}

static struct weir_rb *neighbour(const struct weir_rb *node, int side)
{
	if (node->child[side])
		return outermost(node->child[side], !side);
	while (node->parent && side_of(node) == side)
		node = node->parent;
	return node->parent;
}

struct weir_rb *weir_rb_next(const struct weir_rb *node)
{
	return neighbour(node, 1);
}

struct weir_rb *weir_rb_prev(const struct weir_rb *node)
{
	return neighbour(node, 0);
}
