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

struct weir_group {
	struct weir *w;
	struct weir_group *parent; /* NULL: the root */
	uint32_t id;
	uint16_t depth; /* 0: the root */
	bool dying;	/* removed by the host; goes with its last request and context */
	struct weir_group_attr attr;
	struct weir_heap turn; /* for the policy: room for every child and the own requests */
	void *policy;	   /* group_size bytes of the current policy */
	void *policy_next; /* of the policy that a prepared switch brings */

	/* What the hot path touches: see the header of each member's type. */
	uint32_t nr_rqs; /* requests that name this group: waiting or in flight */
	uint32_t nr_ctx;
	uint64_t end_sector[WEIR_NR_DIRS]; /* where the last request ended: core/cost.c */
	struct weir_wait wait;
	struct weir_entitle entitle;
	struct weir_stats stats;
	struct weir_judge judge;

	struct weir_flow flow[WEIR_NR_DIRS];
	struct weir_admission admission[WEIR_NR_DIRS];

	struct weir_list children; /* by `sibling`, in order of creation */
	struct weir_list sibling;
	uint32_t nr_children, nr_living_children;
	struct weir_list all; /* in weir->groups, in order of creation: parents before children */
	void *host_data;
};

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
