/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mclock: reservation, limit and weight in one queue, each as a tag of a request (Gulati, Merchant,
 * Varman: mClock, OSDI 2010; dmClock in Ceph is the same with several servers).
 *
 * Problem. Virtual machines share a store. Each needs a floor in absolute numbers, some a ceiling,
 * and what is left is to be shared by weight. Fair queueing knows no floors, and floors by throttling
 * others waste what those who have one don't use.
 *
 * The rule. The first request of each queue carries three tags. R and L are real times, P is time in
 * proportion:
 *
 *	R = max(arrival, R before + 1 / reservation)	when its floor makes it due
 *	L = max(arrival, L before + 1 / limit)		when its ceiling lets it go
 *	P = max(others, P before + cost / weight)	its place in sharing
 *
 *	1. If there is an R that has come, the smallest R goes.
 *	2. Else, among those whose L has come, the smallest P. R of that queue stays where it was: what
 *	   came by weight is no part of the floor.
 *	3. Else the device stays idle until the first R or L.
 *
 * Whatever goes moves P, so a floor is a floor under the share and not on top of it. Example: 1000
 * requests a second can be served; A has weight 1 and a floor, B has weight 3. With a floor of 200,
 * A gets 250: rule 1 gives 200, rule 2 the other 50. With a floor of 400 it gets 400, and B 600.
 *
 * Whose is what. Reservation is io.low, limit is io.max. Both know directions, and bytes as well as
 * requests, where the paper has one rate. So each direction of a group is a queue with its own R and
 * L, of two clocks: due when the first of R's has come, let go when the last of L's has. P is the
 * group's: its own two queues take turns by arrival. Cost is device time by the profile (unit_cost: 1
 * for each request, as the paper). The tree is flat: floors, limits and weights are those of a
 * group's own requests, and a note says so where a floor stands above others.
 *
 * The core's ceilings (core/limits.h) are before every policy and in force: exact, and for subtrees.
 * L repeats the group's own on what they let through. What they let pass early to make good for
 * lateness, L holds for so long; over time both give the same rate.
 *
 * P and the idle. In the paper P's max() is with real time as well, and when an idle machine comes
 * back, all others are shifted to have their smallest P at now. That needs weights that are rates
 * near the real ones. Here weights are ratios, and "others" stands for real time: P of the last that
 * went by weight. Who had nothing waiting begins no further back than that, or than the smallest P of
 * all who wait. So nobody is paid for time in which he did not ask, or was kept by his ceiling.
 *
 * Extensions, off by default: burst (the paper's sigma) lets who was idle begin so many requests
 * further back; batch serves up to so many requests of a queue in a row if they are within 4 MB (the
 * paper: 8, for disks); anticipation_timeout (Ceph) takes the arrival before, if it is not longer
 * ago, for R and L, so that a short think time loses nothing; over_limit (Ceph: AtLimit::Allow) goes
 * by P in place of rule 3. Left out: rejection, for there is no error that could be returned; the
 * counts of several servers, for there is one device; clients that are erased when idle, for groups
 * are the host's. Ceph takes a client for idle after 10 minutes; until then it is paid all that it
 * missed. Here it is at once, as in the paper.
 *
 * bench/dmclock_ref.c is the same queue as a yardstick of speed, in seconds as floating point; it
 * stays apart, or its figures would move with ours. A test has both serve the same clients.
 *
 * Floors that do not fit are served in order of R, and then nothing goes by weight; R is real time, so
 * after a time in which the device stood still everybody is due, and only floors are served for a
 * while. Both are in the original.
 *
 * Hooks are O(log groups); with several limits that end at once, so many times that.
 */
#include "policy/mclock/internal.h"

static const struct weir_tunable mclock_tunables[] = {
	[MCLOCK_DEPTH] = {"depth", WEIR_UNIT_COUNT, 0, INT32_MAX, 0,
			  "requests that may be in the device; 0: what it takes"},
	[MCLOCK_ANTICIPATION] = {"anticipation_timeout", WEIR_UNIT_US, 0, 10000000, 0,
				 "think time that takes nothing from floor and limit"},
	[MCLOCK_BURST] = {"burst", WEIR_UNIT_COUNT, 0, 1000, 0,
			  "requests by which who was idle begins before the others"},
	[MCLOCK_BATCH] = {"batch", WEIR_UNIT_COUNT, 1, 1000, 1,
			  "requests of a queue in a row, if they are within 4 MB"},
	[MCLOCK_OVER_LIMIT] = {"over_limit", WEIR_UNIT_BOOL, 0, 1, 0,
			       "limit tags are not waited for when nothing else can go"},
	[MCLOCK_UNIT_COST_EACH] = {"unit_cost", WEIR_UNIT_BOOL, 0, 1, 0,
				   "every request counts the same by weight"},
	{.name = NULL},
};

static int mclock_init(struct weir *w)
{
	struct mclock *m = weir_policy_data(w);

	list_init(&m->express);
	weir_rb_init(&m->reserved);
	weir_rb_init(&m->limited);
	weir_rb_init(&m->active);
	weir_rb_init(&m->ready);
	return 0;
}

/* ---- groups ---- */

static bool has_floor(const struct weir_group *g)
{
	const struct weir_rates *low = &g->attr.low;

	return low->bps[WEIR_READ] || low->bps[WEIR_WRITE] || low->iops[WEIR_READ] ||
	       low->iops[WEIR_WRITE];
}

/* A floor is a promise: say it where it is less than it looks. */
static void note_inner_floor(struct weir *w, const struct weir_group *g)
{
	if (has_floor(g) && g->nr_children)
		weir_note(w,
			  "mclock: a floor counts for the group's own requests, not for the groups "
			  "below it");
}

static void mclock_group_online(struct weir *w, struct weir_group *g)
{
	struct mclock_group *mg = g->policy;
	unsigned int dir;

	mg->group = g;
	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		mg->queue[dir].mg = mg;
		list_init(&mg->queue[dir].fifo);
	}
	mclock_read_rates(mg, weir_now(w));
	if (g->parent)
		note_inner_floor(w, g->parent);
}

static void mclock_group_offline(struct weir *w, struct weir_group *g)
{
	struct mclock *m = weir_policy_data(w);

	if (m->batch && m->batch->mg == g->policy)
		m->batch = NULL;
}

static void mclock_group_changed(struct weir *w, struct weir_group *g, unsigned int what)
{
	struct mclock *m = weir_policy_data(w);
	struct mclock_group *mg = g->policy;
	unsigned int dir;

	if (what & WEIR_CHANGED_WEIGHT)
		mg->p_rest = 0;
	if (what & WEIR_CHANGED_LOW)
		note_inner_floor(w, g);
	mclock_read_rates(mg, weir_now(w));
	for (dir = 0; dir < WEIR_NR_DIRS; dir++)
		mclock_retag(w, m, &mg->queue[dir]);
}

/* Of a rate that the device can do at most, in parts of 2^32. */
static uint64_t part_of(uint64_t rate, uint64_t most)
{
	return weir_mul_div(weir_min64(rate, most), UINT64_C(1) << 32, weir_max64(most, 1));
}

/* What the floors take of the device: by bytes without gaps, or by small random requests. */
static uint64_t mclock_promised(struct weir *w, const struct weir_group *g)
{
	const struct weir_profile *p = &weir_cfg(w)->profile;
	const struct weir_rates *low = &g->attr.low;
	uint64_t reads, writes;

	reads = weir_max64(part_of(low->bps[WEIR_READ], p->rbps),
			   part_of(low->iops[WEIR_READ], p->rrandiops));
	writes = weir_max64(part_of(low->bps[WEIR_WRITE], p->wbps),
			    part_of(low->iops[WEIR_WRITE], p->wrandiops));
	return weir_min64(reads + writes, UINT64_C(1) << 32);
}

/* ---- insertion and removal ---- */

/* Nothing waits and nothing is in the device: nobody is ahead of anybody. */
static void ended(struct mclock *m, uint64_t nr_queued)
{
	if (!nr_queued && !m->in_device)
		m->p_time = m->p_max;
}

static void enqueue(struct weir *w, struct mclock *m, struct weir_rq *rq)
{
	struct mclock_queue *q = mclock_queue_of(rq);
	uint64_t think_us = weir_policy_tunable(w, MCLOCK_ANTICIPATION), now = weir_now(w);
	bool is_first = list_is_empty(&q->fifo);

	mclock_rq(rq)->arrival_ns = now;
	if (now - q->last_arrival_ns < think_us * WEIR_NS_PER_US)
		mclock_rq(rq)->arrival_ns = q->last_arrival_ns;
	q->last_arrival_ns = now;
	list_push_back(&q->fifo, &rq->link);
	if (!is_first)
		return;
	if (!q->mg->in_active)
		mclock_join(m, q->mg);
	mclock_retag(w, m, q);
}

static void mclock_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct mclock *m = weir_policy_data(w);

	mclock_rq(rq)->express = where == WEIR_HEAD || rq->op == WEIR_OP_FLUSH;
	if (where == WEIR_HEAD)
		list_push_front(&m->express, &rq->link);
	else if (mclock_rq(rq)->express)
		list_push_back(&m->express, &rq->link);
	else
		enqueue(w, m, rq);
}

static void mclock_remove(struct weir *w, struct weir_rq *rq)
{
	struct mclock *m = weir_policy_data(w);
	struct mclock_queue *q = mclock_queue_of(rq);
	bool is_first = !mclock_rq(rq)->express && mclock_first(q) == rq;

	list_unlink(&rq->link);
	if (is_first)
		mclock_retag(w, m, q);
	ended(m, weir_policy_queued(w) - 1);
}

/* ---- dispatch ---- */

static struct mclock_group *group_by_active(struct weir_rb *node)
{
	return weir_container_of(node, struct mclock_group, active);
}

static bool is_due(const struct weir *w, const struct mclock_queue *q)
{
	return q->in_reserved && q->reserved.key <= weir_now(w);
}

static bool goes_on(const struct weir *w, const struct mclock *m)
{
	const struct weir_rq *rq = m->batch ? mclock_first(m->batch) : NULL;

	return rq && m->batch->ready && m->batched < weir_policy_tunable(w, MCLOCK_BATCH) &&
	       rq->sector - m->batch_end + MCLOCK_NEAR_SECTORS <= 2 * MCLOCK_NEAR_SECTORS;
}

/* The queue whose first goes now, or NULL. */
static struct mclock_queue *choose(struct weir *w, struct mclock *m, bool *by_weight)
{
	struct weir_rb *node;

	mclock_promote(w, m);
	if (goes_on(w, m)) {
		*by_weight = !is_due(w, m->batch);
		return m->batch;
	}
	*by_weight = false;
	node = weir_rb_first(&m->reserved);
	if (node && node->key <= weir_now(w))
		return weir_container_of(node, struct mclock_queue, reserved);
	*by_weight = true;
	node = weir_rb_first(&m->ready);
	if (node)
		return weir_container_of(node, struct mclock_group, ready)->first;
	node = weir_rb_first(&m->active);
	if (node && weir_policy_tunable(w, MCLOCK_OVER_LIMIT))
		return group_by_active(node)->first;
	return NULL;
}

static struct weir_rq *serve(struct weir *w, struct mclock *m, struct mclock_queue *q,
			     bool by_weight)
{
	struct weir_rq *rq = mclock_first(q);

	m->batched = m->batch == q && goes_on(w, m) ? m->batched + 1 : 1;
	m->batch = q;
	m->batch_end = weir_rq_end(rq);
	m->in_device++;
	mclock_charge(w, m, q, by_weight);
	list_unlink(&rq->link);
	mclock_retag(w, m, q);
	return rq;
}

static void stalled(struct mclock *m, struct mclock_queue *next, bool by_weight,
		    struct weir_verdict *v)
{
	const struct weir_rb *node;

	if (next) {
		v->why = by_weight ? WEIR_STALL_DEPTH : WEIR_STALL_FLOOR;
		v->next = next->mg->group;
		return;
	}
	v->why = WEIR_STALL_IDLE;
	node = weir_rb_first(&m->limited);
	v->at_ns = node ? node->key : WEIR_NEVER;
	node = weir_rb_first(&m->reserved);
	v->at_ns = weir_min64(v->at_ns, node ? node->key : WEIR_NEVER);
}

static struct weir_rq *mclock_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct mclock *m = weir_policy_data(w);
	uint64_t depth = weir_policy_tunable(w, MCLOCK_DEPTH);
	struct mclock_queue *q;
	bool by_weight;

	if (!list_is_empty(&m->express)) {
		struct weir_rq *rq = list_first(&m->express, struct weir_rq, link);

		list_unlink(&rq->link);
		m->in_device++;
		return rq;
	}
	q = choose(w, m, &by_weight);
	if (!q && force && !weir_rb_is_empty(&m->active))
		q = group_by_active(weir_rb_first(&m->active))->first;
	if (q && (force || !depth || m->in_device < depth))
		return serve(w, m, q, by_weight);
	stalled(m, q, by_weight, v);
	return NULL;
}

static struct weir_group *mclock_next_group(struct weir *w)
{
	struct mclock *m = weir_policy_data(w);
	struct mclock_queue *q;
	bool by_weight;

	if (!list_is_empty(&m->express))
		return list_first(&m->express, struct weir_rq, link)->group;
	q = choose(w, m, &by_weight);
	return q ? q->mg->group : NULL;
}

/* ---- the device is done ---- */

static void mclock_complete(struct weir *w, struct weir_rq *rq)
{
	struct mclock *m = weir_policy_data(w);

	(void)rq;
	m->in_device--;
	ended(m, weir_policy_queued(w));
}

/* It has been charged, and goes once more without. */
static void mclock_undispatch(struct weir *w, struct weir_rq *rq)
{
	struct mclock *m = weir_policy_data(w);

	(void)rq;
	m->in_device--;
}

/* ---- merging ---- */

static bool mclock_may_merge(struct weir *w, const struct weir_rq *rq, const struct weir_rq *bio,
			     uint32_t nr_sectors)
{
	(void)w;
	(void)bio;
	(void)nr_sectors;
	return !((const struct mclock_rq *)rq->policy)->express;
}

static void mclock_merged(struct weir *w, struct weir_rq *rq, enum weir_merge kind,
			  uint64_t added_cost_ns)
{
	struct mclock_queue *q = mclock_queue_of(rq);

	(void)kind;
	(void)added_cost_ns;
	if (mclock_first(q) == rq)
		mclock_retag(w, weir_policy_data(w), q);
}

const struct weir_policy weir_policy_mclock = {
	.info =
		{
			.name = "mclock",
			.help = "reservation (io.low), limit (io.max) and weight as tags: mClock",
			.tunables = mclock_tunables,
			.keeps = WEIR_KEEPS_WEIGHTS | WEIR_KEEPS_FLOORS,
		},
	.instance_size = sizeof(struct mclock),
	.group_size = sizeof(struct mclock_group),
	.init = mclock_init,
	.group_online = mclock_group_online,
	.group_offline = mclock_group_offline,
	.group_changed = mclock_group_changed,
	.insert = mclock_insert,
	.dispatch = mclock_dispatch,
	.next_group = mclock_next_group,
	.promised = mclock_promised,
	.complete = mclock_complete,
	.undispatch = mclock_undispatch,
	.remove = mclock_remove,
	.may_merge = mclock_may_merge,
	.merged = mclock_merged,
};
