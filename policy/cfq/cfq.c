/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CFQ, Completely Fair Queueing with group scheduling, as in Linux 4.2: the disk is given to one
 * process after another, each for a slice of time.
 *
 * The problem. A disk with a moving head serves one sequential reader at 100 MB/s, and two that
 * take turns request by request at 2 MB/s. A fair share of such a disk is a share of its time, and
 * it is worth having only in one piece. And a reader that reads, thinks for a millisecond, and
 * reads on has nothing queued at the moment at which the next request is chosen: so whoever wants
 * to be fair to it must wait for it, with the disk idle.
 *
 * The rule. Three choices, one within the other:
 *
 *	a group		the one with the smallest virtual disk time: time it had / its share
 *	a workload	class RT before BE before IDLE; in it async, sync without idling, or sync
 *	a queue		the smallest key: about when it became busy, plus a handicap by priority
 *
 * Sync requests are in a queue for each process; async ones are in queues that the group's
 * processes share, one for each class and level. The chosen queue has the disk until its slice is
 * over, or it has run dry and is not worth waiting for, or a better one preempts it. A slice of
 * level p is slice_sync x (1 + (4 - p) / 5), and its clock starts with the first completion.
 *
 * Waiting. A queue that runs dry is waited for, slice_idle long at most, if its process thinks
 * less than that and its requests are near each other. Queues that aren't like that (random
 * readers, fsync) are served back to back, and only the last of them is waited for. The last queue
 * of a group is waited for even without that, group_idle long, or the group would lose its place.
 *
 * Example, defaults, one group, a disk that reads 100 MB/s: two sequential readers of levels 0 and
 * 7, both always with something to read. Their slices are 180 and 40 ms; target_latency is 300 ms
 * for both, low_latency scales nothing as 2 x 100 < 300. In 220 ms the first reads 18 MB, the second
 * 4 MB. With six readers of level 4, 6 x 100 > 300: their slices become 50 ms, and each comes again
 * after 300 ms.
 *
 * Example, two groups of weights 1000 and 500, one reader in each: a slice of 100 ms costs the first
 * 100 / (2/3) = 150 ms of virtual time, the second 300 ms. So the first has two turns for each of
 * the second.
 *
 * With slice_idle=0 and a device that queues commands there are no slices of time to speak of, and
 * groups are charged for requests (IOPS mode). Without idling, shares are kept only among groups
 * that always have something queued.
 *
 * Where this differs from the original:
 *   - time is exact. There it was counted in ticks: where that matters (the least charge, the
 *     shortest workload, the last tick of a slice) a tick is a millisecond, as with HZ=1000;
 *   - virtual disk time is kept in microseconds, or requests, at shift 12;
 *   - the original sets slice_idle to 0 when a device without seeks registers, and lets whoever
 *     sets it later have it. Here it counts as 0 on such a device unless nonrot_idle is set;
 *   - requests of one queue at the same sector are both kept; older kernels sent the first one on;
 *   - a write is of the noidle kind (fsync, a commit) if it is sync and not marked as one of a
 *     stream, as O_DIRECT writes are. Reads never are;
 *   - a process's queue isn't made anew when it splits off or changes its group: see coop.c;
 *   - flushes, writes with FUA or a flush before them, requests put at the head, and what the
 *     driver gives back go before all others and are on nobody's account: the block layer has them
 *     in the driver's queue, past the scheduler. So it did with such writes from 2.6.37 on;
 *   - the search of a cooperator takes the queue nearest to the head. The original took one of the
 *     two neighbours by the form of its tree;
 *   - close_cooperator, allow_cross_merge, group_preempt_noidle: the original has no such
 *     settings. The first stands for 2.6.32 and later (1) or earlier (0), the second is the
 *     experiment proposed in thread 004, the third the patch of thread 001, which was not merged.
 *
 * Weights are those of blkio.weight, 10..1000; weir's own_weight is leaf_weight. The root's is 1000
 * in Linux by default, and 100 here as everybody's.
 *
 * Costs: insert, dispatch, complete and remove are O(log n + depth of the group); merges O(log n). A
 * context that moves or ends is O(k log k) in the k requests of its queue.
 */
#include "policy/cfq/internal.h"

/* A thousand seconds, in ms: so that products of times and counts fit. */
#define MS_MAX 1000000

static const struct weir_tunable cfq_tunables[] = {
	[CFQ_QUANTUM] = {"quantum", WEIR_UNIT_COUNT, 0, INT32_MAX, 8,
			 "most requests of one queue in the driver while others wait"},
	[CFQ_FIFO_EXPIRE_SYNC] = {"fifo_expire_sync", WEIR_UNIT_MS, 1, MS_MAX, 125,
				  "age at which a sync request goes first in its queue's slice"},
	[CFQ_FIFO_EXPIRE_ASYNC] = {"fifo_expire_async", WEIR_UNIT_MS, 1, MS_MAX, 250,
				   "the same for async ones"},
	/* KiB in the kernel; here, too: weir has no unit for it. */
	[CFQ_BACK_SEEK_MAX] = {"back_seek_max", WEIR_UNIT_COUNT, 0, UINT32_MAX, 16384,
			       "KiB: farthest that the head goes back for a request"},
	[CFQ_BACK_SEEK_PENALTY] = {"back_seek_penalty", WEIR_UNIT_COUNT, 1, 1 << 16, 2,
				   "going back costs so many times as much as going on"},
	[CFQ_SLICE_SYNC] = {"slice_sync", WEIR_UNIT_MS, 1, MS_MAX, 100,
			    "slice of a sync queue at level 4"},
	[CFQ_SLICE_ASYNC] = {"slice_async", WEIR_UNIT_MS, 1, MS_MAX, 40,
			     "slice of an async queue at level 4"},
	[CFQ_SLICE_ASYNC_RQ] = {"slice_async_rq", WEIR_UNIT_COUNT, 1, INT32_MAX, 2,
				"a slice of async requests is at most 2 x (8 - level) times this"},
	[CFQ_SLICE_IDLE] = {"slice_idle", WEIR_UNIT_MS, 0, MS_MAX, 8,
			    "longest wait for the next request of a queue"},
	[CFQ_GROUP_IDLE] = {"group_idle", WEIR_UNIT_MS, 0, MS_MAX, 8,
			    "the same for a group's only queue, if queues aren't waited for"},
	[CFQ_LOW_LATENCY] = {"low_latency", WEIR_UNIT_BOOL, 0, 1, 1,
			     "shorten slices to keep target_latency; start async queues slowly"},
	[CFQ_TARGET_LATENCY] = {"target_latency", WEIR_UNIT_MS, 1, MS_MAX, 300,
				"every queue should have had a turn after this"},
	[CFQ_NONROT_IDLE] = {"nonrot_idle", WEIR_UNIT_BOOL, 0, 1, 0,
			     "slice_idle counts on devices without seeks, too"},
	[CFQ_GROUP_PREEMPT_NOIDLE] = {"group_preempt_noidle", WEIR_UNIT_BOOL, 0, 1, 0,
				      "while the noidle queues are waited for, another group's "
				      "may take over (thread 001)"},
	[CFQ_CLOSE_COOPERATOR] = {"close_cooperator", WEIR_UNIT_BOOL, 0, 1, 1,
				  "find processes that read one stream, and join their queues"},
	[CFQ_ALLOW_CROSS_MERGE] = {"allow_cross_merge", WEIR_UNIT_BOOL, 0, 1, 0,
				   "merge into requests of the group's other processes"},
	{.name = NULL},
};

/* ---- insertion and removal ---- */

static struct cfq_proc *proc_of(const struct weir_rq *rq)
{
	if (rq->ctx && rq->ctx->group == rq->group)
		return rq->ctx->policy;
	return &cfq_group(rq->group)->anonymous;
}

/* Class and level that a request asks for, or else its process. */
static void priority_of(const struct weir_rq *rq, uint8_t *class, uint8_t *level)
{
	uint8_t wanted = rq->ioprio_class;

	*level = rq->ioprio_level;
	if (wanted == WEIR_IOPRIO_NONE && rq->ctx) {
		wanted = rq->ctx->ioprio_class;
		*level = rq->ctx->ioprio_level;
	}
	if (*level > CFQ_LEVEL_LAST)
		*level = CFQ_LEVEL_LAST;
	switch (wanted) {
	case WEIR_IOPRIO_RT:
		*class = CFQ_RT;
		break;
	case WEIR_IOPRIO_BE:
		*class = CFQ_BE;
		break;
	case WEIR_IOPRIO_IDLE:
		*class = CFQ_IDLE;
		*level = CFQ_LEVEL_LAST;
		break;
	default:
		*class = CFQ_BE;
		*level = CFQ_LEVEL_NORM;
	}
}

static struct cfq_queue *async_queue(const struct weir_rq *rq)
{
	struct cfq_group *cg = cfq_group(rq->group);
	uint8_t class, level;

	priority_of(rq, &class, &level);
	return class == CFQ_IDLE ? &cg->async_idle : &cg->async[class][level];
}

/* A busy queue stays in its tree until it is sorted anew. */
static void set_priority(struct cfq_queue *q, const struct weir_rq *rq)
{
	priority_of(rq, &q->class, &q->level);
	if (q->class == CFQ_IDLE)
		q->idle_window = false;
}

/* Flushes, and the data of a write that comes with one or must be on the medium. */
static bool goes_past(const struct weir_rq *rq)
{
	return rq->op == WEIR_OP_FLUSH || (rq->flags & (WEIR_RQ_FUA | WEIR_RQ_PREFLUSH));
}

static void cfq_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct cfq *c = weir_policy_data(w);
	struct cfq_rq *crq = cfq_rq(rq);
	struct cfq_queue *q;
	bool sync = weir_rq_is_sync(rq);

	cfq_run_timer(c);
	crq->rq = rq;
	crq->express = where == WEIR_HEAD || goes_past(rq);
	if (crq->express) {
		if (where == WEIR_HEAD)
			list_push_front(&c->express, &rq->link);
		else
			list_push_back(&c->express, &rq->link);
		return;
	}
	crq->proc = proc_of(rq);
	q = sync ? cfq_proc_queue(crq->proc) : async_queue(rq);
	if (sync)
		set_priority(q, rq);
	crq->expires_ns = cfq_now(c) +
			  cfq_ms(c, sync ? CFQ_FIFO_EXPIRE_SYNC : CFQ_FIFO_EXPIRE_ASYNC);
	cfq_queue_add(c, q, rq);
	if (!cfq_is_busy(q))
		cfq_busy_add(c, q);
	cfq_learn(c, q, rq);
	cfq_enqueued(c, q, rq);
}

/* The active queue stays busy when it is empty; others don't. */
static void take_out(struct cfq *c, struct weir_rq *rq)
{
	struct cfq_queue *q = cfq_rq(rq)->queue;

	cfq_queue_take(c, rq);
	if (cfq_is_empty(q) && q != c->active)
		cfq_busy_remove(c, q);
}

static void cfq_remove(struct weir *w, struct weir_rq *rq)
{
	struct cfq *c = weir_policy_data(w);

	cfq_run_timer(c);
	if (cfq_rq(rq)->express)
		list_unlink(&rq->link);
	else
		take_out(c, rq);
}

/* ---- the driver is done ---- */

static void note_end(struct cfq *c, const struct weir_rq *rq)
{
	const struct cfq_rq *crq = cfq_rq_const(rq);
	struct cfq_queue *q = crq->queue;
	struct cfq_tree *t = q->tree;
	uint64_t now = cfq_now(c);

	q->group->think.last_end_ns = now;
	if (!weir_rq_is_sync(rq))
		return;
	crq->proc->think.last_end_ns = now;
	if (!t)
		t = cfq_tree_of(q->group, q->class, cfq_type_of(q));
	t->think.last_end_ns = now;
	if (rq->insert_ns + cfq_ms(c, CFQ_FIFO_EXPIRE_SYNC) <= now)
		c->delayed_sync_ns = now;
}

static void cfq_complete(struct weir *w, struct weir_rq *rq)
{
	struct cfq *c = weir_policy_data(w);
	struct cfq_queue *q = cfq_rq(rq)->queue;

	cfq_run_timer(c);
	if (cfq_rq(rq)->express)
		return;
	cfq_learn_hw_tag(c);
	cfq_queue_left_driver(c, rq);
	note_end(c, rq);
	if (c->active == q)
		cfq_active_completed(c, q, weir_rq_is_sync(rq));
}

/* It comes back at the head, past the queues. */
static void cfq_undispatch(struct weir *w, struct weir_rq *rq)
{
	struct cfq *c = weir_policy_data(w);

	cfq_run_timer(c);
	if (!cfq_rq(rq)->express)
		cfq_queue_left_driver(c, rq);
}

/* ---- merging ---- */

/* The queue of a waiting request, or the one that a bio would go to. */
static struct cfq_queue *queue_of(const struct weir_rq *rq)
{
	if (rq->state == WEIR_RQ_QUEUED)
		return cfq_rq_const(rq)->queue;
	return weir_rq_is_sync(rq) ? proc_of(rq)->queue : async_queue(rq);
}

/* That both are sync, or neither, and of one group, the core has seen to. */
static bool cfq_may_merge(struct weir *w, const struct weir_rq *rq, const struct weir_rq *bio,
			  uint32_t nr_sectors)
{
	struct cfq *c = weir_policy_data(w);

	(void)nr_sectors;
	if (cfq_rq_const(rq)->express ||
	    (bio->state == WEIR_RQ_QUEUED && cfq_rq_const(bio)->express))
		return false;
	return cfq_tunable(c, CFQ_ALLOW_CROSS_MERGE) || queue_of(rq) == queue_of(bio);
}

static struct weir_rq *cfq_find_front(struct weir *w, const struct weir_rq *bio)
{
	struct weir_rq *rq = cfq_queue_at(queue_of(bio), weir_rq_end(bio));

	(void)w;
	return rq && rq->sector == weir_rq_end(bio) ? rq : NULL;
}

static void cfq_merged(struct weir *w, struct weir_rq *rq, enum weir_merge kind,
		       uint64_t added_cost_ns)
{
	(void)added_cost_ns;
	if (kind == WEIR_MERGE_FRONT)
		cfq_queue_moved(weir_policy_data(w), rq);
}

/* The survivor has the earlier expiry, and what goes with it; and the place as the next. */
static void cfq_joining(struct weir *w, struct weir_rq *first, struct weir_rq *second)
{
	struct cfq_rq *a = cfq_rq(first), *b = cfq_rq(second);

	(void)w;
	if (a->queue != b->queue)
		return;
	if (b->expires_ns < a->expires_ns) {
		a->expires_ns = b->expires_ns;
		list_unlink(&first->link);
		list_replace(&second->link, &first->link);
		list_init(&second->link); /* for its removal, which follows */
	}
	if (a->queue->next == second) {
		a->queue->next = first;
		cfq_position_changed(weir_policy_data(w), a->queue);
	}
}

static struct weir_rq *cfq_latter(struct weir *w, struct weir_rq *rq)
{
	(void)w;
	return cfq_rq(rq)->express ? NULL : cfq_queue_latter(rq);
}

static struct weir_rq *cfq_former(struct weir *w, struct weir_rq *rq)
{
	(void)w;
	return cfq_rq(rq)->express ? NULL : cfq_queue_former(rq);
}

/* ---- groups, contexts, settings ---- */

static void note_slice_idle(const struct cfq *c)
{
	if (!cfq_rotational(c) && !cfq_tunable(c, CFQ_NONROT_IDLE) &&
	    cfq_tunable(c, CFQ_SLICE_IDLE) &&
	    cfq_tunable(c, CFQ_SLICE_IDLE) != cfq_tunables[CFQ_SLICE_IDLE].def)
		weir_note(c->w, "cfq: slice_idle is taken as 0 on a device without seeks; "
				"nonrot_idle=1 lets it count");
}

static int cfq_init(struct weir *w)
{
	struct cfq *c = weir_policy_data(w);
	unsigned int level;

	c->w = w;
	list_init(&c->express);
	weir_rb_init(&c->groups);
	for (level = 0; level < CFQ_LEVELS; level++)
		weir_rb_init(&c->positions[level]);
	c->timer_ns = WEIR_NEVER;
	/* A second ago: async queues begin at full depth. */
	if (cfq_now(c) > WEIR_NS_PER_S)
		c->delayed_sync_ns = cfq_now(c) - WEIR_NS_PER_S;
	note_slice_idle(c);
	return 0;
}

static void cfq_tuned(struct weir *w, unsigned int index)
{
	if (index == CFQ_SLICE_IDLE || index == CFQ_NONROT_IDLE)
		note_slice_idle(weir_policy_data(w));
}

static void cfq_group_online(struct weir *w, struct weir_group *g)
{
	cfq_group_init(weir_policy_data(w), cfq_group(g), g);
}

/* One of its queues may still be the active one, which has nothing. */
static void cfq_group_offline(struct weir *w, struct weir_group *g)
{
	struct cfq *c = weir_policy_data(w);

	if (c->active && c->active->group == cfq_group(g))
		cfq_expire(c, false);
	weir_assert(!cfq_group(g)->on_tree);
	if (c->serving == cfq_group(g))
		c->serving = NULL;
}

static void cfq_group_changed(struct weir *w, struct weir_group *g, unsigned int what)
{
	if (what & WEIR_CHANGED_WEIGHT)
		cfq_group_read_weights(weir_policy_data(w), cfq_group(g));
}

static void cfq_ctx_online(struct weir *w, struct weir_ctx *ctx)
{
	cfq_proc_init(ctx->policy, ctx, cfq_group(ctx->group), weir_now(w));
}

static void cfq_ctx_offline(struct weir *w, struct weir_ctx *ctx)
{
	struct cfq *c = weir_policy_data(w);

	cfq_run_timer(c);
	cfq_proc_leave(c, ctx->policy);
}

/* A new queue in the new group; what is known of its thinking goes along. */
static void cfq_ctx_moved(struct weir *w, struct weir_ctx *ctx, struct weir_group *from)
{
	struct cfq *c = weir_policy_data(w);
	struct cfq_proc *p = ctx->policy;
	uint64_t last_end_ns = p->think.last_end_ns;

	(void)from;
	cfq_run_timer(c);
	cfq_proc_leave(c, p);
	cfq_proc_init(p, ctx, cfq_group(ctx->group), last_end_ns);
}

const struct weir_policy weir_policy_cfq = {
	.info =
		{
			.name = "cfq",
			.help = "slices of disk time for processes and groups, with idling",
			.tunables = cfq_tunables,
			.keeps = WEIR_KEEPS_WEIGHTS | WEIR_KEEPS_TREE | WEIR_KEEPS_PRIORITIES,
		},
	.instance_size = sizeof(struct cfq),
	.group_size = sizeof(struct cfq_group),
	.ctx_size = sizeof(struct cfq_proc),
	.init = cfq_init,
	.group_online = cfq_group_online,
	.group_offline = cfq_group_offline,
	.group_changed = cfq_group_changed,
	.ctx_online = cfq_ctx_online,
	.ctx_offline = cfq_ctx_offline,
	.ctx_moved = cfq_ctx_moved,
	.insert = cfq_insert,
	.dispatch = cfq_dispatch,
	.next_group = cfq_next_group,
	.complete = cfq_complete,
	.undispatch = cfq_undispatch,
	.remove = cfq_remove,
	.may_merge = cfq_may_merge,
	.find_front = cfq_find_front,
	.merged = cfq_merged,
	.joining = cfq_joining,
	.latter = cfq_latter,
	.former = cfq_former,
	.tuned = cfq_tuned,
};
