/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside a group and a context: shared between the core's files and the policies, never with hosts.
 * Policies read the attributes and keep their state behind `policy`; the rest is the core's.
 */
#ifndef WEIR_CORE_GROUP_H
#define WEIR_CORE_GROUP_H

#include <weir/weir.h>

#include "core/admission.h"
#include "core/entitle.h"
#include "core/heap.h"
#include "core/judge.h"
#include "core/limits.h"
#include "core/list.h"
#include "core/stats.h"
#include "core/wait.h"

/*
 * With thousands of groups nearly every access is a miss of the near caches, so the order is that
 * of use: storage begins with a cache line, and the first lines are all that insertion, dispatch
 * and completion touch while the group stays backlogged.
 */
struct weir_group {
	/* Line 0: the tree, as the way up to the root sees it. */
	struct weir *w;
	struct weir_group *parent; /* NULL: the root */
	void *policy;		   /* group_size bytes of the current policy */
	uint32_t nr_rqs;	   /* requests that name this group: waiting or in flight */
	uint16_t depth;		   /* 0: the root */
	bool dying;		   /* removed by the host; goes with its last request and context */
	struct weir_wait wait;

	/* Line 1: whose turn it is. */
	struct weir_heap turn; /* for the policy: room for every child and the own requests */
	struct weir_heap_entry turn_one;   /* of turn, while there are no children: room for one */
	uint64_t end_sector[WEIR_NR_DIRS]; /* where the last request ended: core/cost.h */
	/* What its requests are counted in, behind the group in its storage. */
	struct weir_tally *tally[WEIR_NR_DIRS];

	/* What is rare. */
	struct weir_stats stats;
	uint32_t id;
	uint32_t nr_ctx;
	uint32_t nr_children, nr_living_children;

	/* When the group begins or ceases to be active, and only with limits, floors or targets. */
	struct weir_entitle entitle;
	struct weir_wait_sums wait_sums;
	struct weir_judge judge;
	struct weir_flow flow[WEIR_NR_DIRS];
	struct weir_admission admission[WEIR_NR_DIRS];

	struct weir_group_attr attr;
	void *policy_next; /* of the policy that a prepared switch brings */
	void *host_data;
	struct weir_list children; /* by `sibling`, in order of creation */
	struct weir_list sibling;
	struct weir_list all; /* in weir->groups, in order of creation: parents before children */
};

_Static_assert(sizeof(void *) != 8 || (offsetof(struct weir_group, turn) == 64 &&
				       offsetof(struct weir_group, stats) == 128),
	       "what belongs together lies in one cache line");

struct weir_ctx {
	struct weir *w;
	struct weir_group *group;
	uint32_t id;
	uint8_t ioprio_class, ioprio_level;
	bool exited;
	uint32_t nr_rqs;
	uint64_t end_sector[WEIR_NR_DIRS];
	struct weir_list all; /* in weir->ctxs */
	void *policy, *policy_next;
};

#endif
