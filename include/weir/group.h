/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups: a tree like cgroup v2. Requests may sit at any node; a node's own requests compete with
 * its children as one hidden child of weight own_weight.
 */
#ifndef WEIR_GROUP_H
#define WEIR_GROUP_H

#include <weir/types.h>

/* io.max and io.low: rates per second, of bytes and of requests, by direction. */
struct weir_rates {
	uint64_t bps[WEIR_NR_DIRS];
	uint64_t iops[WEIR_NR_DIRS];
};

/* Attributes as the operator set them. Ceilings: WEIR_UNLIMITED is none. Floors: 0 is none. */
struct weir_group_attr {
	uint32_t weight;     /* WEIR_WEIGHT_MIN..WEIR_WEIGHT_MAX */
	uint32_t own_weight; /* of the hidden child that holds the node's own requests */
	struct weir_rates max;
	struct weir_rates low;
	uint64_t latency_target_ns; /* 0: none; 90th percentile, insert to completion, per 100 ms */
};

void weir_group_attr_init(struct weir_group_attr *attr);

/*
 * The root group exists from weir_create() on. All calls here are under the instance's lock.
 *
 * weir_group_create(): a new node below parent. O(depth). Errors (as NULL with *err set, err may be
 * NULL): -ENOMEM, -EINVAL (attributes out of range, floor above ceiling, nested too deep),
 * -EPERM (parent is being removed).
 *
 * weir_group_remove(): the group disappears for the host at once; its requests stay, are dispatched
 * and complete, and the storage goes when the last of them has left. Its counters are added to the
 * parent's. -EBUSY while it has children, -EPERM for the root. O(n) at worst.
 *
 * weir_group_set(): all attributes at once; in force at the next dispatch. O(log n). -EINVAL leaves
 * everything as it was. On the root only own_weight, max and low are accepted.
 */
struct weir_group *weir_group_create(struct weir *w, struct weir_group *parent,
				     const struct weir_group_attr *attr, uint64_t now, int *err);
int weir_group_remove(struct weir_group *g, uint64_t now);
int weir_group_set(struct weir_group *g, const struct weir_group_attr *attr, uint64_t now);
void weir_group_get(const struct weir_group *g, struct weir_group_attr *attr);

/* Why attributes are refused: a static English phrase, or NULL when they are fine. */
const char *weir_group_attr_check(const struct weir_group_attr *attr);

struct weir_group *weir_root(struct weir *w);
struct weir_group *weir_group_parent(const struct weir_group *g);
uint32_t weir_group_id(const struct weir_group *g); /* unique within the instance; root is 0 */
void weir_group_set_host_data(struct weir_group *g, void *data);
void *weir_group_host_data(const struct weir_group *g);

/*
 * How long a task of g should pause, when it has caused a request and before it goes on. Some
 * policies cannot hold back what others wait for (metadata, swap), and ask that those who cause it
 * be slowed down instead; a host that runs tasks, or knows them, does so. 0: not at all. It is not
 * recorded, and changes nothing. O(depth)
 */
uint64_t weir_group_delay_ns(const struct weir_group *g, uint64_t now);

/*
 * Contexts: a process, a stream. A request without one belongs to its group's anonymous context.
 *
 * weir_ctx_exit(): no further request will name it; storage goes with its last request.
 * weir_ctx_move(): later requests belong to another group; queued ones stay where they are.
 */
struct weir_ctx *weir_ctx_create(struct weir *w, struct weir_group *g, enum weir_ioprio_class class,
				 unsigned int level, uint64_t now);
void weir_ctx_exit(struct weir_ctx *ctx, uint64_t now);
void weir_ctx_move(struct weir_ctx *ctx, struct weir_group *g, uint64_t now);
void weir_ctx_set_ioprio(struct weir_ctx *ctx, enum weir_ioprio_class class, unsigned int level,
			 uint64_t now);
struct weir_group *weir_ctx_group(const struct weir_ctx *ctx);

#endif
