/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hierarchical fair queue that is slow and obviously right: shares of device time by weight.
 *
 * Each node has a tag, the service of its subtree divided by its weight. Who goes next is found
 * from the root down: at each level the child with something queued whose tag is smallest, the
 * lower number among equals; and everything on the way is charged. Tags are exact: 128-bit, in
 * units of 1 / FAIR_UNIT of ns per unit of weight, FAIR_UNIT divisible by all weights up to 20 and
 * by 10000. Other weights lose less than one unit a request.
 *
 * A node that had nothing queued comes back at its own tag or at the tag of the child served last,
 * whichever is later: no credit from idle time.
 */
#ifndef TESTS_MODEL_FAIR_H
#define TESTS_MODEL_FAIR_H

#include <stdbool.h>
#include <stdint.h>

#define FAIR_NODES 64
#define FAIR_UNIT (UINT64_C(232792560) * 2500)

struct model_fair_node {
	int parent;
	uint32_t weight;
	uint64_t cost_ns; /* of each of its own requests, which never run out; 0: it has none */
	uint32_t nr_backlogged; /* children with something queued, itself included */
	__int128 tag;
	__int128 vtime; /* tag of the child that was served last, before it was */
	uint64_t served_ns;
};

struct model_fair {
	struct model_fair_node node[FAIR_NODES]; /* 0 is the root */
	int nr_nodes;
};

void model_fair_init(struct model_fair *f);
/* A node below parent. Requests sit at leaves: a node's own requests need a leaf of their own. */
int model_fair_add(struct model_fair *f, int parent, uint32_t weight);
/* From now on the leaf is backlogged with requests of this cost; with 0 it no longer is. */
void model_fair_backlog(struct model_fair *f, int leaf, uint64_t cost_ns);
/* Serves one request; returns its leaf, or -1 if nothing is backlogged. */
int model_fair_serve(struct model_fair *f);
/* Serves until about so much more has been served in all. */
void model_fair_run(struct model_fair *f, uint64_t total_ns);

#endif
