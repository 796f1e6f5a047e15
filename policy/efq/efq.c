/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * efq: elevator fair queueing, the layer of the "IO scheduler based IO controller" (V9, 2009) that
 * stood over all elevators and gave groups of a tree their shares of disk time, with a pool of
 * requests for each group.
 *
 * Its patches can't be found any more. The thread's figures and rules are taken from it; of the rest
 * this is our reconstruction, as written down in the project's notes on it: what is known of the
 * series, of CFQ which it grew from, and the block layer of 2.6.31.
 *
 * The problem. CFQ alone knew of shares; noop, deadline and anticipatory take requests as they
 * come, so the group that asks most gets most. And before that: the pool of requests belongs to
 * whoever fills it, so that a group that writes keeps another from asking at all.
 *
 * The rule. Each group has one queue, in the leaf's order (tunable `leaf`), and competes with its
 * siblings, its queue with its children, by virtual disk time: tree.c. Whose turn it is has the
 * device for a slice, and is waited for when it has nothing for a moment: turn.c. A group may have
 * nr_group_requests requests in each direction, and is congested by marks on that: settings.c.
 *
 * Example: A has weight 200 and B 100, both always have something, slices are 100 ms. A's turn moves
 * it on by 100 x 500 / 200 = 250 ms of virtual time, B's by 500 ms: A A B, A A B, two thirds.
 *
 * Example of congestion, 128 requests: from 113 on the flusher stops writing for the group. By V9's
 * rule it is woken at 102 and submits 11 more; by V8's it is woken at 112, and submits one.
 *
 * What the device works on when the turn changes is the hole in it: on a disk that takes 32
 * requests at once, those of A are served in B's time. fairness=1 waits for them, at the price of
 * the device's throughput. Without it and without idling, shares drift to equal.
 *
 * Where this differs from the original, or what of it is a guess:
 *   - one queue in each group, for sync and async requests alike, as for all elevators but CFQ. It
 *     has slice_async when its turn begins with async requests; the class of all is best-effort,
 *     since groups here have no ioprio class, and so nothing preempts anything;
 *   - a node's own queue has own_weight; there it was by the ioprio of its processes;
 *   - requests are counted by direction, there by sync and async; there is no "batching", by which
 *     who had slept for a place could exceed the limit for 32 requests;
 *   - time is exact. The original counts ticks, and one at least for a turn: so a group of little weight
 *     whose turns take no time, on a device that keeps up with all, is charged most of all for
 *     nothing, and pays when the others have a backlog. (Tried: in the lab's mysql-cluster.fio on
 *     pcie-flash without waits it then gets nothing for 3 s.)
 *   - charge=sectors and requests are ours, to see what else could be counted;
 *   - whom write-back is charged to is the host's business (in the lab: charge=dirtier).
 *
 * Hooks are O(log n) in queued requests, O(depth x log groups) when a queue gets its first request
 * or loses its last, and when a turn ends. A change of `leaf` is O(n log n).
 */
#include "policy/efq/internal.h"

static int efq_init(struct weir *w)
{
	struct efq *e = weir_policy_data(w);

	list_init(&e->express);
	list_init(&e->groups);
	efq_load_settings(w, e);
	e->order = efq_leaf_order(w);
	return 0;
}

static void efq_tuned(struct weir *w, unsigned int index)
{
	struct efq *e = weir_policy_data(w);

	efq_load_settings(w, e);
	if (index == EFQ_LEAF)
		efq_leaf_change(w, e);
}

/* ---- requests ---- */

static void efq_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct efq *e = weir_policy_data(w);
	struct efq_rq *erq = efq_rq(rq);

	erq->express = weir_goes_express(rq, where);
	if (erq->express) {
		weir_express_add(&e->express, rq, where);
		return;
	}
	erq->generation = e->generation;
	e->order->insert(w, &efq_group(rq->group)->leaf, rq);
	efq_queue_arrived(w, e, rq);
}

static void efq_remove(struct weir *w, struct weir_rq *rq)
{
	struct efq *e = weir_policy_data(w);

	if (efq_rq(rq)->express) {
		list_unlink(&rq->link);
		return;
	}
	e->order->remove(w, &efq_group(rq->group)->leaf, rq);
	efq_queue_left(w, e, rq);
}

/* A queue that has something, whoever's turn it is. */
static struct efq_group *any_queue(struct weir *w, struct efq *e)
{
	if (e->active && !e->active->nr_queued)
		efq_turn_end(w, e);
	if (e->active)
		return e->active;
	return e->nr_busy ? efq_tree_first(w) : NULL;
}

static struct weir_rq *efq_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct efq *e = weir_policy_data(w);
	struct weir_rq *rq = weir_express_take(&e->express);
	struct efq_group *eg;

	if (rq)
		return rq;
	eg = force ? any_queue(w, e) : efq_turn(w, e, v);
	if (!eg)
		return NULL;
	rq = e->order->dispatch(w, &eg->leaf, force, v);
	if (!rq) {
		/* It waits, but not longer than its turn. */
		if (e->slice_runs)
			v->at_ns = weir_min64(v->at_ns, e->slice_end_ns);
		return NULL;
	}
	eg->nr_in_device++;
	eg->last_sync = weir_rq_is_sync(rq);
	e->turn_sectors += rq->nr_sectors;
	e->turn_requests++;
	efq_queue_left(w, e, rq);
	return rq;
}

static struct weir_group *efq_next_group(struct weir *w)
{
	struct efq *e = weir_policy_data(w);
	struct efq_group *eg;

	if (!list_is_empty(&e->express))
		return list_first(&e->express, struct weir_rq, link)->group;
	if (!e->nr_busy)
		return NULL;
	eg = e->active ? e->active : efq_tree_first(w);
	return eg->nr_queued ? eg->group : NULL;
}

static void efq_complete(struct weir *w, struct weir_rq *rq)
{
	struct efq *e = weir_policy_data(w);

	if (efq_rq(rq)->express)
		return;
	if (e->order->complete && efq_rq(rq)->generation == e->generation)
		e->order->complete(w, &efq_group(rq->group)->leaf, rq);
	efq_queue_completed(w, e, rq);
}

static void efq_undispatch(struct weir *w, struct weir_rq *rq)
{
	struct efq *e = weir_policy_data(w);

	if (efq_rq(rq)->express)
		return;
	if (e->order->undispatch && efq_rq(rq)->generation == e->generation)
		e->order->undispatch(w, &efq_group(rq->group)->leaf, rq);
	weir_assert(efq_group(rq->group)->nr_in_device);
	efq_group(rq->group)->nr_in_device--;
}

/* ---- merging ---- */

static bool efq_may_merge(struct weir *w, const struct weir_rq *rq, const struct weir_rq *bio,
			  uint32_t nr_sectors)
{
	const struct efq *e = weir_policy_data(w);

	(void)bio;
	(void)nr_sectors;
	return !efq_rq_const(rq)->express && (!e->order->may_merge || e->order->may_merge(rq));
}

static struct weir_rq *efq_find_front(struct weir *w, const struct weir_rq *bio)
{
	struct efq *e = weir_policy_data(w);

	if (!e->order->find_front)
		return NULL;
	return e->order->find_front(w, &efq_group(bio->group)->leaf, bio);
}

static void efq_merged(struct weir *w, struct weir_rq *rq, enum weir_merge kind,
		       uint64_t added_cost_ns)
{
	struct efq *e = weir_policy_data(w);

	(void)added_cost_ns;
	if (e->order->merged)
		e->order->merged(w, &efq_group(rq->group)->leaf, rq, kind);
}

static void efq_joining(struct weir *w, struct weir_rq *first, struct weir_rq *second)
{
	struct efq *e = weir_policy_data(w);

	if (e->order->joining)
		e->order->joining(w, &efq_group(first->group)->leaf, first, second);
}

static struct weir_rq *efq_latter(struct weir *w, struct weir_rq *rq)
{
	struct efq *e = weir_policy_data(w);

	if (efq_rq(rq)->express)
		return NULL;
	return e->order->latter(&efq_group(rq->group)->leaf, rq);
}

static struct weir_rq *efq_former(struct weir *w, struct weir_rq *rq)
{
	struct efq *e = weir_policy_data(w);

	if (efq_rq(rq)->express)
		return NULL;
	return e->order->former(&efq_group(rq->group)->leaf, rq);
}

/* ---- groups and contexts ---- */

static void efq_group_online(struct weir *w, struct weir_group *g)
{
	struct efq *e = weir_policy_data(w);
	struct efq_group *eg = efq_group(g);

	eg->group = g;
	list_push_back(&e->groups, &eg->all);
	efq_tree_init(eg);
	efq_leaf_init(w, e, eg);
}

static void efq_group_offline(struct weir *w, struct weir_group *g)
{
	struct efq *e = weir_policy_data(w);
	struct efq_group *eg = efq_group(g);

	/* It may still be waited for. */
	if (eg == e->active)
		efq_turn_end(w, e);
	weir_assert(!weir_heap_has(&eg->own.turn) && !weir_heap_has(&eg->child.turn));
	efq_leaf_exit(e, eg);
	list_unlink(&eg->all);
}

static void efq_group_changed(struct weir *w, struct weir_group *g, unsigned int what)
{
	(void)w;
	if (what & WEIR_CHANGED_WEIGHT)
		efq_read_weights(efq_group(g));
}

/* Of use for one leaf order, which may come into force at any time. */
static void efq_ctx_online(struct weir *w, struct weir_ctx *ctx)
{
	(void)w;
	antic_process_init(ctx->policy, ctx);
}

static void efq_ctx_offline(struct weir *w, struct weir_ctx *ctx)
{
	(void)w;
	antic_process_exit(ctx->policy);
}

const struct weir_policy weir_policy_efq = {
	.info =
		{
			.name = "efq",
			.help = "shares of disk time over noop, deadline or anticipatory",
			.tunables = efq_tunables,
			.keeps = WEIR_KEEPS_WEIGHTS | WEIR_KEEPS_TREE,
		},
	.instance_size = sizeof(struct efq),
	.group_size = sizeof(struct efq_group),
	.ctx_size = sizeof(struct antic_process),
	.init = efq_init,
	.group_online = efq_group_online,
	.group_offline = efq_group_offline,
	.group_changed = efq_group_changed,
	.ctx_online = efq_ctx_online,
	.ctx_offline = efq_ctx_offline,
	.insert = efq_insert,
	.dispatch = efq_dispatch,
	.next_group = efq_next_group,
	.places = efq_places,
	.complete = efq_complete,
	.undispatch = efq_undispatch,
	.remove = efq_remove,
	.may_merge = efq_may_merge,
	.find_front = efq_find_front,
	.merged = efq_merged,
	.joining = efq_joining,
	.latter = efq_latter,
	.former = efq_former,
	.tuned = efq_tuned,
};
