/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TPPS, the Tiny Parallel Proportion Scheduler (2013): weights among groups on fast flash by
 * nothing but the number of requests that each group may have in the driver. No slices, no idling.
 *
 * The rule. A pull, done when the driver asks and no pulled request is left, is
 *
 *	quota = nr_requests - in driver             less than 8: nothing
 *	for each group, in order of appearance:
 *		group quota = quota * weight / total weight - the group's in driver
 *		take one request from each of its queues in turn, up to the group quota
 *
 * A queue is a process within a group, first in, first out, reads and writes alike. The total
 * weight is that of all groups with a living process, idle ones included; the tree is flat.
 *
 * What it does. With D in the driver and all groups backlogged, each group settles where its own
 * count equals its part of the quota: d = (N - D) * weight / total. Summed up, D = N - D, so half
 * of nr_requests is used, divided by weight. Example: N = 128, weights 10:8:6:4 give 22.9, 18.3,
 * 13.7 and 9.1, and with equal service times the rates have the same ratios. A second group that is
 * alive but silent leaves D = N/3 to the first: its part of the device is lost. And a small group's
 * quota rounds to zero: both are known weaknesses, kept as they are; options below mend them.
 *
 * The mail that introduced TPPS left out the last term (option mail_formula): D then goes to N - 7,
 * each pull hands out about 8 places, and 10:8:6:4 becomes 2:2:1:1 by rounding, or 1:1:1:1 with one
 * process per group.
 *
 * Where this differs from the original:
 *   - with nothing in the driver and something queued, one request always goes. By the rule a group
 *     with 128 * weight < total weight would never start, nor would anything if nr_requests < 8;
 *   - a queue that gets its first request goes to the end of its group's turn order; the original
 *     keeps the place of empty queues;
 *   - a process that moves away leaves its queued requests to the group's anonymous queue;
 *   - flushes, and requests put at the head, go before all others and past the quota: the block
 *     layer has them in the driver's queue, where no scheduler sees them.
 *
 * Costs: insert, remove and complete are O(log groups), merging hooks and moves O(1). A pull is
 * O(groups that have something queued), as in the original, plus the sorting of what it takes.
 */
#include "policy/tpps/internal.h"

static const struct weir_tunable tpps_tunables[] = {
	[TPPS_MAIL_FORMULA] =
		{"mail_formula", WEIR_UNIT_BOOL, 0, 1, 0,
		 "group quota without the subtraction of what the group has in the driver"},
	[TPPS_ACTIVE_WEIGHTS_ONLY] = {"active_weights_only", WEIR_UNIT_BOOL, 0, 1, 0,
				      "idle groups do not count in the total weight"},
	[TPPS_CARRY_REMAINDER] = {"carry_remainder", WEIR_UNIT_BOOL, 0, 1, 0,
				  "keep the fraction that a group's quota loses by rounding"},
	[TPPS_ROTATE_GROUPS] = {"rotate_groups", WEIR_UNIT_BOOL, 0, 1, 0,
				"each pull begins with another group"},
	[TPPS_SYNC_FIRST] = {"sync_first", WEIR_UNIT_BOOL, 0, 1, 0,
			     "within a process, sync requests before async ones, without bound"},
	[TPPS_NR_REQUESTS] = {"nr_requests", WEIR_UNIT_COUNT, 0, 1 << 20, 0,
			      "size of the queue that is divided; 0 is the instance's nr_requests"},
	{.name = NULL},
};

/* ---- insertion and removal ---- */

/* Requests put at the head, and flushes, never see the scheduler's queues in the block layer. */
static void insert_pulled(struct tpps *tpps, struct weir_rq *rq, enum weir_where where)
{
	tpps_rq(rq)->pulled = true;
	tpps_rq(rq)->fence = true;
	if (where == WEIR_HEAD)
		list_push_front(&tpps->pulled, &rq->link);
	else
		list_push_back(&tpps->pulled, &rq->link);
}

static void tpps_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct tpps *tpps = weir_policy_data(w);
	struct tpps_group *tg = tpps_group(rq->group);
	struct tpps_rq *trq = tpps_rq(rq);
	struct tpps_queue *q;

	tg->nr_queued++;
	if (where == WEIR_HEAD || rq->op == WEIR_OP_FLUSH) {
		insert_pulled(tpps, rq, where);
		tpps_count_weight(tpps, tg);
		return;
	}
	trq->pulled = false;
	trq->fence = false;
	trq->anonymous = !rq->ctx || rq->ctx->group != rq->group;
	trq->generation = trq->anonymous ? 0 : ((struct tpps_queue *)rq->ctx->policy)->generation;
	q = tpps_queue_of(rq);
	tpps_queue_came_alive(tpps, tg, q);
	tpps_queue_append(tpps, q, rq);
	tpps_queue_changed(tpps, tg, q);
	tpps_count_weight(tpps, tg);
}

static void tpps_remove(struct weir *w, struct weir_rq *rq)
{
	struct tpps *tpps = weir_policy_data(w);
	struct tpps_group *tg = tpps_group(rq->group);

	if (tpps_rq(rq)->pulled)
		list_unlink(&rq->link);
	else
		tpps_queue_take(tpps, rq);
	tg->nr_queued--;
	tpps_count_weight(tpps, tg);
}

/* ---- dispatch ---- */

static struct weir_rq *tpps_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct tpps *tpps = weir_policy_data(w);
	struct weir_group *next = NULL;
	struct tpps_group *tg;
	struct weir_rq *rq;

	if (list_is_empty(&tpps->pulled)) {
		if (!tpps->nr_busy)
			return NULL;
		if (force) {
			tpps_pull_from_group(w, tpps, tpps_group_of(weir_rb_first(&tpps->busy)), 1);
		} else if (!tpps_pull(w, tpps, &next)) {
			if (tpps->in_driver) {
				v->why = WEIR_STALL_DEPTH;
				v->next = next;
				return NULL;
			}
			tpps_pull_from_group(w, tpps, tpps_group(next), 1);
		}
	}
	rq = list_first(&tpps->pulled, struct weir_rq, link);
	list_unlink(&rq->link);
	tg = tpps_group(rq->group);
	tg->nr_queued--;
	tg->in_driver++;
	tpps->in_driver++;
	tpps_count_weight(tpps, tg);
	return rq;
}

/* By turn, that is; what the quotas say would take a look at all groups. */
static struct weir_group *tpps_next_group(struct weir *w)
{
	const struct tpps *tpps = weir_policy_data(w);

	if (!list_is_empty(&tpps->pulled))
		return list_first(&tpps->pulled, struct weir_rq, link)->group;
	return tpps->nr_busy ? tpps_group_of(tpps_first_busy(w, tpps))->group : NULL;
}

/* ---- the driver is done ---- */

static void left_driver(struct weir *w, struct weir_rq *rq)
{
	struct tpps *tpps = weir_policy_data(w);
	struct tpps_group *tg = tpps_group(rq->group);

	weir_assert(tg->in_driver && tpps->in_driver);
	tg->in_driver--;
	tpps->in_driver--;
	tpps->completed = true;
	tpps_count_weight(tpps, tg);
}

/* ---- merging ---- */

static bool tpps_may_merge(struct weir *w, const struct weir_rq *rq, const struct weir_rq *bio,
			   uint32_t nr_sectors)
{
	(void)w;
	(void)bio;
	(void)nr_sectors;
	return !((const struct tpps_rq *)rq->policy)->pulled;
}

/* A request that grew at its front goes to the end of its queue: the original's rule. */
static void tpps_merged(struct weir *w, struct weir_rq *rq, enum weir_merge kind,
			uint64_t added_cost_ns)
{
	struct tpps *tpps = weir_policy_data(w);

	(void)added_cost_ns;
	weir_assert(!tpps_rq(rq)->pulled);
	if (kind == WEIR_MERGE_FRONT) {
		list_unlink(&rq->link);
		tpps_queue_append(tpps, tpps_queue_of(rq), rq);
	}
}

/* ---- groups and contexts ---- */

static int tpps_init(struct weir *w)
{
	struct tpps *tpps = weir_policy_data(w);

	weir_rb_init(&tpps->busy);
	list_init(&tpps->pulled);
	return 0;
}

static void tpps_group_online(struct weir *w, struct weir_group *g)
{
	struct tpps_group *tg = tpps_group(g);

	(void)w;
	tg->group = g;
	list_init(&tg->turns);
	tpps_queue_init(&tg->anonymous);
	tpps_read_weight(tg);
}

static void tpps_group_offline(struct weir *w, struct weir_group *g)
{
	struct tpps_group *tg = tpps_group(g);

	/* Nobody tells when anonymous processes end: they live as long as their group. */
	tpps_queue_died(weir_policy_data(w), tg, &tg->anonymous);
}

static void tpps_group_changed(struct weir *w, struct weir_group *g, unsigned int what)
{
	struct tpps *tpps = weir_policy_data(w);
	struct tpps_group *tg = tpps_group(g);
	uint64_t before = tg->weight;

	if (!(what & WEIR_CHANGED_WEIGHT))
		return;
	tpps_read_weight(tg);
	if (tg->in_total)
		tpps->total_weight += tg->weight - before;
	if (tg->in_active_total)
		tpps->active_weight += tg->weight - before;
}

static void tpps_ctx_online(struct weir *w, struct weir_ctx *ctx)
{
	(void)w;
	tpps_queue_init(ctx->policy);
}

static void tpps_ctx_offline(struct weir *w, struct weir_ctx *ctx)
{
	tpps_queue_died(weir_policy_data(w), tpps_group(ctx->group), ctx->policy);
}

/* What it has queued stays, in the anonymous queue; tpps_queue_of() knows by the generation. */
static void tpps_ctx_moved(struct weir *w, struct weir_ctx *ctx, struct weir_group *from)
{
	struct tpps *tpps = weir_policy_data(w);
	struct tpps_group *tg = tpps_group(from);
	struct tpps_queue *q = ctx->policy;

	q->generation++;
	tpps_queue_splice(q, &tg->anonymous);
	tpps_queue_changed(tpps, tg, &tg->anonymous);
	tpps_queue_changed(tpps, tg, q);
	tpps_queue_died(tpps, tg, q);
}

const struct weir_policy weir_policy_tpps = {
	.info =
		{
			.name = "tpps",
			.help = "weights as numbers of requests in the driver",
			.tunables = tpps_tunables,
			.keeps = WEIR_KEEPS_WEIGHTS,
		},
	.instance_size = sizeof(struct tpps),
	.group_size = sizeof(struct tpps_group),
	.ctx_size = sizeof(struct tpps_queue),
	.init = tpps_init,
	.group_online = tpps_group_online,
	.group_offline = tpps_group_offline,
	.group_changed = tpps_group_changed,
	.ctx_online = tpps_ctx_online,
	.ctx_offline = tpps_ctx_offline,
	.ctx_moved = tpps_ctx_moved,
	.insert = tpps_insert,
	.dispatch = tpps_dispatch,
	.next_group = tpps_next_group,
	.complete = left_driver,
	.undispatch = left_driver,
	.remove = tpps_remove,
	.may_merge = tpps_may_merge,
	.merged = tpps_merged,
};
