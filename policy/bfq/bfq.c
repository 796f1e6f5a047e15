/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ, Budget Fair Queueing: the device is given to one process's queue at a time, for a budget of
 * sectors, by a schedule that bounds how far anyone's service lags behind its weight; and heuristics
 * on top that keep a desktop responsive. In Linux since 4.12; this is the algorithm of the 6.x
 * series.
 *
 * The problem with slices of time (CFQ) is that a queue's bandwidth depends on what the others do
 * with theirs, and that a queue which was idle waits for a round of all others. So BFQ schedules
 * service: sectors, as a packet scheduler does bytes.
 *
 * The rule. Each level of the tree of groups orders queues and groups by B-WF2Q+ (tree.c): start
 * time S, finish time F = S + budget / weight, virtual time V; of those with S <= V the smallest F
 * goes. It is served until its budget is used up, its time is over (timeout_sync), it has nothing
 * more and isn't waited for, or somebody preempts it. Then S moves on by what it really got, so the
 * size of a budget decides when and how long a queue is served, never how much it gets.
 *
 * Example: A and B are always backlogged, with weights 3 and 1, and budgets of 12 sectors. V goes on
 * by 12 / 4 = 3 in each turn.
 *
 *	turn	V	A: S, F		B: S, F		goes
 *	1	0	0, 4		0, 12		A: the smaller F
 *	2	3	4, 8		0, 12		B: A isn't eligible
 *	3	6	4, 8		12, 24		A
 *	4	9	8, 12		12, 24		A
 *	5	12	12, 16		12, 24		A, and so on: ABAA ABAA
 *
 * Without the test of S <= V, A would have gone three times before B.
 *
 * On top of it:
 *
 *   - budgets follow what a queue uses (budget.c), and the largest follows the device (rate.c);
 *   - slow queues, those that seek above all, are charged for time instead of sectors;
 *   - the device is kept idle for a queue that has run dry if that gains throughput, or if shares
 *     would be lost without it (idle.c), and what harm that does is kept small by injection of
 *     others' requests (inject.c);
 *   - queues of cooperating processes become one (coop.c);
 *   - interactive and soft real-time queues get 30 and 3000 times their weight (raise.c).
 *
 * What comes of it. Weights hold within a few percent over seconds, as bandwidth among streams and
 * as time among those that seek. A turn is long, though: with the largest budgets some 100 ms. Where
 * several groups compete, each waits for the turns of the others, so that the longest wait is about
 * ten times the mean; and between groups that don't always have something to do, waiting for them
 * costs throughput on flash. Weight raising overrides weights: low_latency=0 where those matter.
 *
 * How near it is: in the kernel, under weir's elevator, beside the kernel's own BFQ on the same
 * null_blk (2 ms, 16 at once, nr_requests 1024), four deep groups of weights 1000/800/600/400 had
 * 2773 2172 1653 1118 IOPS, and with the kernel's 2847 2339 1621 1125; a process that thinks for
 * 0.2 ms beside three deep groups 239 IOPS, 634 ms the longest, and with the kernel's 256 and 621. In
 * the lab these are 2916 2255 1652 1176, and 265 and 628. With 32 tags the kernel's does less for the
 * deep groups, because of what it leaves of the tags to each.
 *
 * Where this differs from the kernel's:
 *
 *   - no limits on tags (the kernel leaves parts of them to reads and to raised queues): who may
 *     have a request is the core's business here, before any policy;
 *   - a shared queue ends with the context whose storage it is in (process.c), and a context that
 *     moves leaves its queued requests to its old group;
 *   - a queue that is preempted while it is waited for is idle; in the kernel it stays busy, without
 *     requests, until it is its turn and it is found empty;
 *   - preemption by a queue that gets busy needs that queue to be the next of the schedule, level by
 *     level; the kernel looks at the root's level only;
 *   - injection looks at 32 queues at most, the kernel at all; some conditions that the kernel
 *     rounds to ticks are exact;
 *   - flushes, and requests put at the head, go before all others and are nobody's service: the
 *     block layer has them in the driver's queue. Under strict_guarantees they count as requests in
 *     the device;
 *   - queues without an owner (requests without a context) never merge with others.
 *
 * What the kernel's comments say of large bursts, that their queues are not idled for, its code does
 * not do; nor does this.
 *
 * Costs: insert, dispatch and complete O(depth of the tree x log of the queues in a group), and up
 * to 32 steps where a request is injected. A context's exit or move is O(requests in its queue),
 * setting low_latency to 0 O(contexts and groups).
 */
#include "policy/bfq/internal.h"

#define INT_LIMIT INT32_MAX

static const struct weir_tunable bfq_tunables[] = {
	[BFQ_FIFO_EXPIRE_SYNC] = {"fifo_expire_sync", WEIR_UNIT_MS, 1, INT_LIMIT, 125,
				  "age at which a sync request goes first in its queue's turn"},
	[BFQ_FIFO_EXPIRE_ASYNC] = {"fifo_expire_async", WEIR_UNIT_MS, 1, INT_LIMIT, 250,
				   "the same for async requests"},
	[BFQ_BACK_SEEK_MAX] = {"back_seek_max", WEIR_UNIT_COUNT, 0, INT_LIMIT, 16384,
			       "KiB that the head may go back for a request"},
	[BFQ_BACK_SEEK_PENALTY] = {"back_seek_penalty", WEIR_UNIT_COUNT, 1, INT_LIMIT, 2,
				   "how many times a way back counts"},
	[BFQ_SLICE_IDLE] = {"slice_idle", WEIR_UNIT_MS, 0, 1000000, 8,
			    "wait for a queue's next request; 0: never"},
	[BFQ_SLICE_IDLE_US] = {"slice_idle_us", WEIR_UNIT_US, 0, 1000000000, 8000,
			       "the same, finer: setting one sets the other"},
	[BFQ_MAX_BUDGET] = {"max_budget", WEIR_UNIT_COUNT, 0, INT_LIMIT, 0,
			    "sectors that a queue may have in one turn; 0: learned"},
	[BFQ_TIMEOUT_SYNC] = {"timeout_sync", WEIR_UNIT_MS, 1, INT_LIMIT, 125,
			      "longest time of a turn"},
	[BFQ_STRICT_GUARANTEES] = {"strict_guarantees", WEIR_UNIT_BOOL, 0, 1, 0,
				   "one request in the device at a time, and always idle for sync"},
	[BFQ_LOW_LATENCY] = {"low_latency", WEIR_UNIT_BOOL, 0, 1, 1,
			     "raise interactive and soft real-time queues"},
	{.name = NULL},
};

/* ---- tunables ---- */

/* One setting with two names: what was set last holds, and both tell it. */
static void set_slice_idle(struct bfq *bfq, uint64_t us)
{
	bfq->slice_idle_ns = us * WEIR_NS_PER_US;
	bfq->w->tunable[BFQ_SLICE_IDLE_US] = us;
	bfq->w->tunable[BFQ_SLICE_IDLE] = weir_div64(us, 1000);
}

/* One at a time only works if somebody is waited for. */
static void set_strict(struct bfq *bfq)
{
	bool strict = bfq_tunable(bfq, BFQ_STRICT_GUARANTEES);

	if (strict && !bfq->strict && bfq->slice_idle_ns < BFQ_STRICT_IDLE_NS)
		set_slice_idle(bfq, BFQ_STRICT_IDLE_NS / WEIR_NS_PER_US);
	bfq->strict = strict;
}

static void read_device(struct bfq *bfq)
{
	bool rotational = weir_cfg(bfq->w)->profile.rotational;

	if (rotational != bfq->rotational) {
		bfq->rotational = rotational;
		bfq_rate_init(bfq);
	}
	bfq->flash = !rotational && bfq->queueing;
}

static void bfq_tuned(struct weir *w, unsigned int index)
{
	struct bfq *bfq = weir_policy_data(w);

	bfq->now = weir_max64(weir_now(w), 1);
	if (index == UINT32_MAX)
		read_device(bfq);
	else if (index == BFQ_SLICE_IDLE)
		set_slice_idle(bfq, bfq_tunable(bfq, BFQ_SLICE_IDLE) * 1000);
	else if (index == BFQ_SLICE_IDLE_US)
		set_slice_idle(bfq, bfq_tunable(bfq, BFQ_SLICE_IDLE_US));
	else if (index == BFQ_STRICT_GUARANTEES)
		set_strict(bfq);
	else if (index == BFQ_TIMEOUT_SYNC)
		bfq_rate_apply(bfq);
	else if (index == BFQ_LOW_LATENCY && !bfq_tunable(bfq, BFQ_LOW_LATENCY))
		bfq_raise_end_all(bfq);
}

static int bfq_init(struct weir *w)
{
	struct bfq *bfq = weir_policy_data(w);
	uint64_t us;

	bfq->w = w;
	bfq->now = weir_max64(weir_now(w), 1);
	list_init(&bfq->express);
	list_init(&bfq->active);
	list_init(&bfq->burst);
	bfq->queueing = -1;
	bfq->rotational = weir_cfg(w)->profile.rotational;
	bfq->flash = !bfq->rotational;
	bfq_rate_init(bfq);
	us = bfq_tunable(bfq, BFQ_SLICE_IDLE_US);
	if (us == bfq_tunables[BFQ_SLICE_IDLE_US].def)
		us = bfq_tunable(bfq, BFQ_SLICE_IDLE) * 1000;
	set_slice_idle(bfq, us);
	set_strict(bfq);
	return 0;
}

/* ---- requests ---- */

/* Each entry: the time, and whether a wait has ended by it. */
static struct bfq *enter(struct weir *w)
{
	struct bfq *bfq = weir_policy_data(w);

	bfq->now = weir_max64(weir_now(w), 1);
	bfq_idle_check(bfq);
	return bfq;
}

static void bfq_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct bfq *bfq = enter(w);

	if (where == WEIR_TAIL && rq->op != WEIR_OP_FLUSH) {
		bfq_arrive(bfq, bfq_queue_for(bfq, rq), rq);
		return;
	}
	bfq_rq(rq)->rq = rq;
	bfq_rq(rq)->q = NULL;
	if (where == WEIR_HEAD)
		list_push_front(&bfq->express, &rq->link);
	else
		list_push_back(&bfq->express, &rq->link);
}

static void bfq_remove(struct weir *w, struct weir_rq *rq)
{
	struct bfq *bfq = enter(w);

	if (!bfq_rq(rq)->q) {
		list_unlink(&rq->link);
		return;
	}
	bfq_queue_take(bfq, rq);
	list_unlink(&bfq_rq(rq)->all);
}

/* Any queue with a request. Only the served one is busy with none. */
static struct bfq_queue *anyone(struct bfq *bfq)
{
	struct bfq_queue *q;

	if (bfq->served && bfq->served->next)
		return bfq->served;
	list_for_each(q, &bfq->active, struct bfq_queue, active)
		if (q->next)
			return q;
	return NULL;
}

static struct weir_group *bfq_next_group(struct weir *w)
{
	struct bfq *bfq = weir_policy_data(w);
	struct bfq_queue *q = bfq->served;

	if (!list_is_empty(&bfq->express))
		return list_first(&bfq->express, struct weir_rq, link)->group;
	if (!q || !q->next)
		q = bfq_sched_first(bfq);
	return q ? q->group->group : NULL;
}

static struct weir_rq *bfq_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct bfq *bfq = enter(w);
	struct bfq_queue *q;

	if (!list_is_empty(&bfq->express)) {
		struct weir_rq *rq = list_first(&bfq->express, struct weir_rq, link);

		list_unlink(&rq->link);
		bfq->express_in_driver++;
		return rq;
	}
	if (bfq->strict && bfq->in_driver + bfq->express_in_driver && !force) {
		v->why = WEIR_STALL_DEPTH;
		v->next = bfq_next_group(w);
		return NULL;
	}
	if (!bfq->nr_queued)
		return NULL;
	q = force ? anyone(bfq) : bfq_select(bfq, v);
	return q ? bfq_dispatch_from(bfq, q) : NULL;
}

static void bfq_complete(struct weir *w, struct weir_rq *rq)
{
	bfq_completed(enter(w), rq);
}

static void bfq_undispatch(struct weir *w, struct weir_rq *rq)
{
	bfq_uncounted(enter(w), rq);
}

/* ---- merging ---- */

/* A bio may look for a queue to share, as a request does. */
static bool bfq_may_merge(struct weir *w, const struct weir_rq *rq, const struct weir_rq *bio,
			  uint32_t nr_sectors)
{
	struct bfq_queue *q = bfq_rq_const(rq)->q;

	(void)nr_sectors;
	return q && bfq_queue_for_bio(enter(w), bio) == q;
}

static struct weir_rq *bfq_find_front(struct weir *w, const struct weir_rq *bio)
{
	struct bfq_queue *q = bfq_queue_for_bio(enter(w), bio);
	struct weir_rq *rq;

	if (!q)
		return NULL;
	rq = bfq_rq_of(weir_rb_at_or_after(&q->sorted, weir_rq_end(bio)));
	return rq && rq->sector == weir_rq_end(bio) ? rq : NULL;
}

static void bfq_merged(struct weir *w, struct weir_rq *rq, enum weir_merge kind,
		       uint64_t added_cost_ns)
{
	struct bfq *bfq = weir_policy_data(w);
	struct bfq_queue *q = bfq_rq(rq)->q;

	(void)added_cost_ns;
	if (kind == WEIR_MERGE_FRONT)
		bfq_queue_moved_request(bfq, rq);
	else if (q->next == rq)
		bfq_queue_next_changed(bfq, q);
}

/* The survivor inherits the earlier expiry, and the place that goes with it. */
static void bfq_joining(struct weir *w, struct weir_rq *first, struct weir_rq *second)
{
	struct bfq_rq *a = bfq_rq(first), *b = bfq_rq(second);

	(void)w;
	if (a->q == b->q && b->expires_ns < a->expires_ns) {
		a->expires_ns = b->expires_ns;
		list_unlink(&first->link);
		list_replace(&second->link, &first->link);
		list_init(&second->link); /* for its removal, which follows */
	}
	if (a->q->next == second)
		a->q->next = first;
}

static struct weir_rq *bfq_latter(struct weir *w, struct weir_rq *rq)
{
	(void)w;
	return bfq_rq(rq)->q ? bfq_rq_of(weir_rb_next(&bfq_rq(rq)->node)) : NULL;
}

static struct weir_rq *bfq_former(struct weir *w, struct weir_rq *rq)
{
	(void)w;
	return bfq_rq(rq)->q ? bfq_rq_of(weir_rb_prev(&bfq_rq(rq)->node)) : NULL;
}

const struct weir_policy weir_policy_bfq = {
	.info =
		{
			.name = "bfq",
			.help = "weights by budgets of sectors, idling where needed, low latency",
			.tunables = bfq_tunables,
			.keeps = WEIR_KEEPS_WEIGHTS | WEIR_KEEPS_TREE | WEIR_KEEPS_PRIORITIES,
		},
	.instance_size = sizeof(struct bfq),
	.group_size = sizeof(struct bfq_group),
	.ctx_size = sizeof(struct bfq_process),
	.init = bfq_init,
	.group_online = bfq_group_online,
	.group_offline = bfq_group_offline,
	.group_changed = bfq_group_changed,
	.ctx_online = bfq_ctx_online,
	.ctx_offline = bfq_ctx_offline,
	.ctx_moved = bfq_ctx_moved,
	.insert = bfq_insert,
	.dispatch = bfq_dispatch,
	.next_group = bfq_next_group,
	.complete = bfq_complete,
	.undispatch = bfq_undispatch,
	.remove = bfq_remove,
	.may_merge = bfq_may_merge,
	.find_front = bfq_find_front,
	.merged = bfq_merged,
	.joining = bfq_joining,
	.latter = bfq_latter,
	.former = bfq_former,
	.tuned = bfq_tuned,
};
