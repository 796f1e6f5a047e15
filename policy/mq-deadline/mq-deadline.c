/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mq-deadline: deadline for blk-mq, with I/O priorities.
 *
 * Problem: as deadline's (sector order in batches, reads first, bounded waiting), and beyond it that
 * who has a higher priority class is served first, and that writes can't take all places in the
 * queue.
 *
 * The rule. Requests are of one of three levels by the class of their I/O priority: real time, best
 * effort (no class is best effort, too), idle. Each level has deadline's queues for itself. When the
 * device asks:
 *
 *	1. What the block layer puts at the head goes first.
 *	2. Aging: if two levels at least have requests inserted and not completed, best effort and
 *	   then idle are tried, for a request that was inserted prio_aging_expire ago or earlier.
 *	3. Real time, best effort, idle are tried in this order, and none below a level that has
 *	   something inserted and not completed: in the device counts as well.
 *
 * Trying a level is deadline's choice, with what it remembers shared by all levels: the direction
 * of the batch, its length, and how often writes have stood back. In the batch's direction, while it
 * is shorter than fifo_batch, the first request goes that begins at or above where the level's last
 * one of this direction began. Else a new batch begins: with reads, unless writes have stood back
 * writes_starved times; with the oldest request if that has expired or nothing is further up, else
 * further up. What step 2 chooses so may be younger than the age that it looks for, and then it
 * does not go, though an older one may wait in that level.
 *
 * Example. A process of class best effort reads block after block, 100 us each. While its read is in
 * the device nothing of class idle goes, though the device has room. Between two of its reads best
 * effort has nothing, and if the device asks just then an idle read goes. With a second process of
 * that kind there is no such moment any more: an idle read waits 10 s and goes by aging, and the one
 * inserted after it waits 10 s again.
 *
 * async_depth: places for all but reads, counted from insertion to completion. What finds none waits
 * outside of all queues, as its task would for a tag: unseen by sorting, merging and expiry. The
 * original began with 3/4 of nr_requests; after reports of regressions it became all of them, so the
 * default here, 0, is no bound. The core's admission (core/admission.h) keeps writes to 3/4 of a
 * pool, where the host has one, whatever stands here.
 *
 * Differences from the original (Linux 6.x):
 *   - a try that step 2 refuses leaves no traces. There it may end the batch and count as another
 *     time that writes stood back, each time that the driver asks;
 *   - times are in ns; there, expiry and aging are rounded to jiffies, 1 to 10 ms;
 *   - no zones, so no write locks for them;
 *   - flushes go past the levels, and count in none, as in the block layer; so do flags FUA and
 *     PREFLUSH past async_depth.
 *
 * Hooks are O(log n) in queued requests; merged and may_merge O(1).
 */
#include "policy/mq-deadline/internal.h"

/* The kernel keeps these in an int. */
#define TUNABLE_MAX INT32_MAX

static const struct weir_tunable mqd_tunables[] = {
	[MQD_READ_EXPIRE] = {"read_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 500, "expiry of reads"},
	[MQD_WRITE_EXPIRE] = {"write_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 5000,
			      "expiry of writes"},
	[MQD_WRITES_STARVED] = {"writes_starved", WEIR_UNIT_COUNT, 0, TUNABLE_MAX, 2,
				"batches of reads that may go before waiting writes"},
	[MQD_FIFO_BATCH] = {"fifo_batch", WEIR_UNIT_COUNT, 0, TUNABLE_MAX, 16,
			    "requests in a batch; 1 is nearly first come, first served"},
	[MQD_FRONT_MERGES] = {"front_merges", WEIR_UNIT_BOOL, 0, 1, 1,
			      "search for requests that a bio can be put before"},
	[MQD_ASYNC_DEPTH] = {"async_depth", WEIR_UNIT_COUNT, 0, TUNABLE_MAX, 0,
			     "places for all that are not reads; 0 is no bound"},
	[MQD_PRIO_AGING_EXPIRE] = {"prio_aging_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 10000,
				   "a request that waited so long goes before higher levels"},
	{.name = NULL},
};

static int mqd_init(struct weir *w)
{
	struct mq_deadline *md = weir_policy_data(w);
	int level, dir;

	for (level = 0; level < MQD_NR_LEVELS; level++)
		for (dir = 0; dir < WEIR_NR_DIRS; dir++)
			weir_sorted_init(&md->level[level].dir[dir]);
	list_init(&md->express);
	list_init(&md->outside);
	md->last_dir = WEIR_WRITE;
	return 0;
}

/* ---- places of async_depth ---- */

static bool needs_place(const struct weir_rq *rq)
{
	return rq->op != WEIR_OP_READ && rq->op != WEIR_OP_FLUSH &&
	       !(rq->flags & (WEIR_RQ_FUA | WEIR_RQ_PREFLUSH));
}

static bool has_free_place(const struct weir *w, const struct mq_deadline *md)
{
	uint64_t all = weir_policy_tunable(w, MQD_ASYNC_DEPTH);

	return !all || md->nr_places < all;
}

static void take_place(struct mq_deadline *md, struct weir_rq *rq)
{
	mqd_rq(rq)->has_place = needs_place(rq);
	md->nr_places += mqd_rq(rq)->has_place;
}

static void sort_in(struct weir *w, struct mq_deadline *md, struct weir_rq *rq)
{
	take_place(md, rq);
	mqd_rq(rq)->where = MQD_SORTED;
	mqd_level_of(md, rq)->nr++;
	weir_sorted_insert(mqd_sorted_of(md, rq), rq,
			   weir_add_sat(weir_now(w), mqd_expire_ns(w, mqd_dir_of(rq))));
}

void mqd_let_in_one(struct weir *w, struct mq_deadline *md)
{
	struct weir_rq *rq = list_first(&md->outside, struct weir_rq, link);

	list_unlink(&rq->link);
	sort_in(w, md, rq);
}

static void let_in(struct weir *w, struct mq_deadline *md)
{
	while (!list_is_empty(&md->outside) && has_free_place(w, md))
		mqd_let_in_one(w, md);
}

/* It is no longer among the inserted and not completed. Its place stays free, for now. */
static void uncount(struct mq_deadline *md, struct weir_rq *rq)
{
	struct mqd_level *level = mqd_level_of(md, rq);

	if (rq->op != WEIR_OP_FLUSH) {
		weir_assert(level->nr);
		level->nr--;
	}
	md->nr_places -= mqd_rq(rq)->has_place;
}

/* ---- insertion and removal ---- */

static void mqd_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct mq_deadline *md = weir_policy_data(w);
	struct mqd_rq *mrq = mqd_rq(rq);

	mrq->level = (uint8_t)mqd_level_by_class(rq->ioprio_class);
	if (where == WEIR_HEAD || rq->op == WEIR_OP_FLUSH) {
		mrq->where = MQD_EXPRESS;
		/* It has got its place already, wherever it was. */
		take_place(md, rq);
		if (rq->op != WEIR_OP_FLUSH)
			mqd_level_of(md, rq)->nr++;
		if (where == WEIR_HEAD)
			list_push_front(&md->express, &rq->link);
		else
			list_push_back(&md->express, &rq->link);
		return;
	}
	if (needs_place(rq) && !has_free_place(w, md)) {
		mrq->where = MQD_OUTSIDE;
		mrq->has_place = false;
		list_push_back(&md->outside, &rq->link);
		return;
	}
	sort_in(w, md, rq);
}

static void mqd_remove(struct weir *w, struct weir_rq *rq)
{
	struct mq_deadline *md = weir_policy_data(w);

	if (mqd_rq(rq)->where == MQD_SORTED)
		weir_sorted_remove(mqd_sorted_of(md, rq), rq);
	else
		list_unlink(&rq->link);
	if (mqd_rq(rq)->where == MQD_OUTSIDE)
		return;
	uncount(md, rq);
	let_in(w, md);
}

static void mqd_complete(struct weir *w, struct weir_rq *rq)
{
	uncount(weir_policy_data(w), rq);
	let_in(w, weir_policy_data(w));
}

/* It comes back at once, and takes its place again. */
static void mqd_undispatch(struct weir *w, struct weir_rq *rq)
{
	uncount(weir_policy_data(w), rq);
}

/* ---- dispatch ---- */

static void begin_batch(struct mq_deadline *md, struct weir_rq *rq)
{
	md->batching = 0;
	md->last_dir = mqd_dir_of(rq);
	if (md->last_dir == WEIR_WRITE)
		md->starved = 0;
	else if (!weir_sorted_is_empty(&mqd_level_of(md, rq)->dir[WEIR_WRITE]))
		md->starved++;
}

static struct weir_rq *started(struct mq_deadline *md, struct weir_rq *rq)
{
	if (rq->op != WEIR_OP_FLUSH)
		mqd_level_of(md, rq)->latest_sector[mqd_dir_of(rq)] = rq->sector;
	return rq;
}

/* A higher level has something in the device, or there is no place for a write: nothing goes. */
static void stalled(const struct weir *w, const struct mq_deadline *md, struct weir_verdict *v)
{
	v->why = WEIR_STALL_DEPTH;
	v->at_ns = mqd_ages_at_ns(w, md);
	if (v->at_ns == WEIR_NEVER && !list_is_empty(&md->outside))
		v->next = list_first(&md->outside, struct weir_rq, link)->group;
}

static struct weir_rq *mqd_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct mq_deadline *md = weir_policy_data(w);
	struct mqd_choice c;

	if (!list_is_empty(&md->express)) {
		c.rq = list_first(&md->express, struct weir_rq, link);
		list_unlink(&c.rq->link);
		return started(md, c.rq);
	}
	c = mqd_choose(w, md);
	if (!c.rq && force)
		c = mqd_choose_any(w, md);
	if (!c.rq) {
		stalled(w, md, v);
		return NULL;
	}
	if (c.begins)
		begin_batch(md, c.rq);
	md->batching++;
	weir_sorted_remove(mqd_sorted_of(md, c.rq), c.rq);
	return started(md, c.rq);
}

static struct weir_group *mqd_next_group(struct weir *w)
{
	struct mq_deadline *md = weir_policy_data(w);
	struct mqd_choice c;

	if (!list_is_empty(&md->express))
		return list_first(&md->express, struct weir_rq, link)->group;
	c = mqd_choose(w, md);
	return c.rq ? c.rq->group : NULL;
}

static void mqd_tuned(struct weir *w, unsigned int index)
{
	if (index == MQD_ASYNC_DEPTH)
		let_in(w, weir_policy_data(w));
}

/* ---- merging: the core joins requests of one class only ---- */

static bool mqd_may_merge(struct weir *w, const struct weir_rq *rq, const struct weir_rq *bio,
			  uint32_t nr_sectors)
{
	(void)w;
	(void)bio;
	(void)nr_sectors;
	return ((const struct mqd_rq *)rq->policy)->where == MQD_SORTED;
}

static struct weir_rq *mqd_find_front(struct weir *w, const struct weir_rq *bio)
{
	struct mq_deadline *md = weir_policy_data(w);

	/* Without the search, the core's hint still finds some. */
	if (!weir_policy_tunable(w, MQD_FRONT_MERGES))
		return NULL;
	return weir_sorted_at(
		&md->level[mqd_level_by_class(bio->ioprio_class)].dir[mqd_dir_of(bio)],
		weir_rq_end(bio));
}

static void mqd_merged(struct weir *w, struct weir_rq *rq, enum weir_merge kind,
		       uint64_t added_cost_ns)
{
	(void)added_cost_ns;
	weir_assert(mqd_rq(rq)->where == MQD_SORTED);
	if (kind == WEIR_MERGE_FRONT)
		weir_sorted_moved(mqd_sorted_of(weir_policy_data(w), rq), rq);
}

static void mqd_joining(struct weir *w, struct weir_rq *first, struct weir_rq *second)
{
	(void)w;
	weir_assert(mqd_rq(first)->where == MQD_SORTED && mqd_rq(second)->where == MQD_SORTED);
	weir_sorted_join(first, second);
}

static struct weir_rq *mqd_latter(struct weir *w, struct weir_rq *rq)
{
	(void)w;
	return mqd_rq(rq)->where == MQD_SORTED ? weir_sorted_next(rq) : NULL;
}

static struct weir_rq *mqd_former(struct weir *w, struct weir_rq *rq)
{
	(void)w;
	return mqd_rq(rq)->where == MQD_SORTED ? weir_sorted_prev(rq) : NULL;
}

const struct weir_policy weir_policy_mq_deadline = {
	.info =
		{
			.name = "mq-deadline",
			.help = "deadline with I/O priority classes, and a bound for writes",
			.tunables = mqd_tunables,
			.keeps = WEIR_KEEPS_PRIORITIES,
		},
	.instance_size = sizeof(struct mq_deadline),
	.init = mqd_init,
	.insert = mqd_insert,
	.dispatch = mqd_dispatch,
	.next_group = mqd_next_group,
	.complete = mqd_complete,
	.undispatch = mqd_undispatch,
	.remove = mqd_remove,
	.may_merge = mqd_may_merge,
	.find_front = mqd_find_front,
	.merged = mqd_merged,
	.joining = mqd_joining,
	.latter = mqd_latter,
	.former = mqd_former,
	.tuned = mqd_tuned,
};
