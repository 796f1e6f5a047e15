// SPDX-License-Identifier: GPL-2.0-only
/* The reference for shares: see model_fair.h. */
#include <assert.h>
#include <string.h>

#include "tests/model_fair.h"

void model_fair_init(struct model_fair *f)
{
	memset(f, 0, sizeof(*f));
	f->node[0].parent = -1;
	f->node[0].weight = 1;
	f->nr_nodes = 1;
}

int model_fair_add(struct model_fair *f, int parent, uint32_t weight)
{
	int n = f->nr_nodes++;

	assert(n < FAIR_NODES);
	f->node[n].parent = parent;
	f->node[n].weight = weight;
	return n;
}

void model_fair_backlog(struct model_fair *f, int leaf, uint64_t cost_ns)
{
	bool was = f->node[leaf].cost_ns, is = cost_ns;
	int n = leaf;

	f->node[leaf].cost_ns = cost_ns;
	if (was == is)
		return;
	for (; n >= 0; n = f->node[n].parent) {
		struct model_fair_node *node = &f->node[n];

		if (is && node->nr_backlogged++)
			return;
		if (!is && --node->nr_backlogged)
			return;
		if (is && node->parent >= 0 && node->tag < f->node[node->parent].vtime)
			node->tag = f->node[node->parent].vtime;
	}
}

static int smallest_child(const struct model_fair *f, int parent)
{
	int n, best = -1;

	for (n = 1; n < f->nr_nodes; n++)
		if (f->node[n].parent == parent && f->node[n].nr_backlogged &&
		    (best < 0 || f->node[n].tag < f->node[best].tag))
			best = n;
	return best;
}

int model_fair_serve(struct model_fair *f)
{
	int leaf = 0, n;

	while (!f->node[leaf].cost_ns) {
		n = smallest_child(f, leaf);
		if (n < 0)
			return -1;
		f->node[leaf].vtime = f->node[n].tag;
		leaf = n;
	}
	for (n = leaf; n >= 0; n = f->node[n].parent) {
		f->node[n].tag += (__int128)f->node[leaf].cost_ns * FAIR_UNIT / f->node[n].weight;
		f->node[n].served_ns += f->node[leaf].cost_ns;
	}
	return leaf;
}

void model_fair_run(struct model_fair *f, uint64_t total_ns)
{
	uint64_t end_ns = f->node[0].served_ns + total_ns;

	while (f->node[0].served_ns < end_ns && model_fair_serve(f) >= 0)
		;
}
