// SPDX-License-Identifier: GPL-2.0-only
/*
 * TPPS, the Tiny Parallel Proportion Scheduler (2013): weights among groups on fast flash by
 *nothing but the number of requests that each group may have in the driver. No slices, no idling.
 *
 * The rule. A pull, done when the driver asks and no pulled request is left, is
 *
 *	quota = nr_requests - in driver             less than 8: nothing
 *	for each group, in order of appearance:
 *		group quota = quota * weight / total weight - the group's in driver
 *		take one request from each of its queues in turn, up to the group quota
 *
 * A queue is a process within a group, first in, first out, reads and writes alike. The total
 *weight is that of all groups with a living process, idle ones included; the tree is flat.
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
 *   - a process that moves away leaves its queued requests to the group's anonymous queue.
 *
 * Costs: insert, remove and complete are O(log groups), merging hooks and moves O(1). A pull is
 * O(groups that have something queued), as in the original, plus the sorting of what it takes.
 */
#include "core/assert.h"
#include "core/fixed.h"
#include "core/group.h"
#include "core/list.h"
#include "core/rbtree.h"
#include "core/spi.h"

enum {
	MIN_DISPATCH_RQ = 8, /* smaller quotas aren't worth a pull */
	/* blkcg's range; the original's default of 500 doesn't matter, only ratios do. */
	MIN_WEIGHT = 10,
	MAX_WEIGHT = 1000,
};

enum {
	MAIL_FORMULA,
	ACTIVE_WEIGHTS_ONLY,
	CARRY_REMAINDER,
	ROTATE_GROUPS,
	SYNC_FIRST,
	NR_REQUESTS,
};

static const struct weir_tunable tpps_tunables[] = {
	[MAIL_FORMULA] =
		{"mail_formula", WEIR_UNIT_BOOL, 0, 1, 0,
		 "group quota without the subtraction of what the group has in the driver"},
	[ACTIVE_WEIGHTS_ONLY] = {"active_weights_only", WEIR_UNIT_BOOL, 0, 1, 0,
				 "idle groups do not count in the total weight"},
	[CARRY_REMAINDER] = {"carry_remainder", WEIR_UNIT_BOOL, 0, 1, 0,
			     "keep the fraction that a group's quota loses by rounding"},
	[ROTATE_GROUPS] = {"rotate_groups", WEIR_UNIT_BOOL, 0, 1, 0,
			   "each pull begins with another group"},
	[SYNC_FIRST] = {"sync_first", WEIR_UNIT_BOOL, 0, 1, 0,
			"within a process, sync requests before async ones, without bound"},
	[NR_REQUESTS] = {"nr_requests", WEIR_UNIT_COUNT, 0, 1 << 20, 0,
			 "size of the queue that is divided; 0 is the instance's nr_requests"},
	{.name = NULL},
};

enum {
	ASYNC,
	SYNC,
	NR_FIFOS,
};

struct tpps_queue {
	struct weir_list fifo[NR_FIFOS]; /* rq->link */
	struct weir_list turn;		 /* in group->turns while a fifo has something */
	bool taking_turns;
	bool alive;	     /* counts as one of its group's processes */
	uint32_t generation; /* of a context's queue: how often it has left a group */
};

struct tpps_group {
	struct weir_group *group;
	struct weir_rb busy;	/* in tpps->busy, by appearance, while `turns` has something */
	struct weir_list turns; /* queues with something to take, next one first */
	uint32_t nr_turns;
	uint32_t nr_queues; /* living */
	uint32_t nr_queued; /* in fifos and pulled */
	uint32_t in_driver;
	uint32_t weight;
	uint64_t appearance;  /* number of its first request; 0: none yet */
	bool in_total;	      /* weight counts in total_weight */
	bool in_active_total; /* and in active_weight */
	bool bonus;	      /* one more, from carried remainders */
	uint64_t carried;     /* remainders of quota * weight, less than the total weight */
	struct tpps_queue anonymous;
};

struct tpps {
	struct weir_rb_tree busy;
	struct weir_list pulled; /* taken and on the way to the driver: rq->link */
	uint64_t total_weight, active_weight;
	uint64_t appearances;
	uint64_t arrivals;
	uint64_t rotation; /* appearance of the group that began the last pull */
	uint32_t nr_busy;
	uint32_t in_driver;
	bool completed; /* since remainders were last carried */
};

/* In rq->policy. */
struct tpps_rq {
	uint64_t arrival;
	uint32_t generation; /* its queue's, then; another now: the queue has left without it */
	bool anonymous;
	bool pulled;
	bool fence; /* among the pulled: never overtaken by sorting */
};

_Static_assert(sizeof(struct tpps_rq) <= WEIR_RQ_POLICY_BYTES, "does not fit into a request");

static struct tpps_rq *tpps_rq(struct weir_rq *rq)
{
	return (struct tpps_rq *)rq->policy;
}

static struct tpps_group *tpps_group(const struct weir_group *g)
{
	return g->policy;
}

static bool option(const struct weir *w, unsigned int index)
{
	return weir_policy_tunable(w, index);
}

/* ---- weights ---- */

/* Must follow each change of what the two conditions look at. */
static void count_weight(struct tpps *tpps, struct tpps_group *tg)
{
	bool active = tg->nr_queued || tg->in_driver;
	bool counts = tg->nr_queues || active;

	if (counts != tg->in_total) {
		tg->in_total = counts;
		tpps->total_weight += counts ? tg->weight : -(uint64_t)tg->weight;
	}
	if (active != tg->in_active_total) {
		tg->in_active_total = active;
		tpps->active_weight += active ? tg->weight : -(uint64_t)tg->weight;
	}
}

static char *put_text(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

static char *put_number(char *at, uint32_t n)
{
	char digits[10];
	int nr = 0;

	do {
		digits[nr++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (nr)
		*at++ = digits[--nr];
	return at;
}

static void note_clamped(struct weir *w, const struct tpps_group *tg, uint32_t wanted)
{
	char text[96], *at = text;

	at = put_text(at, "tpps: weight ");
	at = put_number(at, wanted);
	at = put_text(at, " of group ");
	at = put_number(at, weir_group_id(tg->group));
	at = put_text(at, " is outside 10..1000, taken as ");
	at = put_number(at, tg->weight);
	*at = '\0';
	weir_note(w, text);
}

/*
 * Groups compete as equals, wherever they are in the tree, so own_weight has no meaning; except
 * that it is the only weight that the root has.
 */
static void read_weight(struct weir *w, struct tpps_group *tg)
{
	const struct weir_group *g = tg->group;
	uint32_t wanted = g->parent ? g->attr.weight : g->attr.own_weight;

	tg->weight = wanted < MIN_WEIGHT ? MIN_WEIGHT : wanted > MAX_WEIGHT ? MAX_WEIGHT : wanted;
	if (tg->weight != wanted)
		note_clamped(w, tg, wanted);
}

/* ---- queues ---- */

static void queue_init(struct tpps_queue *q)
{
	list_init(&q->fifo[ASYNC]);
	list_init(&q->fifo[SYNC]);
}

static bool queue_is_empty(const struct tpps_queue *q)
{
	return list_is_empty(&q->fifo[ASYNC]) && list_is_empty(&q->fifo[SYNC]);
}

/* The queue that a queued request is in; for one that is being inserted, the queue it belongs to.
 */
static struct tpps_queue *queue_of(struct weir_rq *rq)
{
	const struct tpps_rq *trq = tpps_rq(rq);
	struct tpps_queue *q;

	if (!trq->anonymous) {
		q = rq->ctx->policy;
		if (q->generation == trq->generation)
			return q;
	}
	return &tpps_group(rq->group)->anonymous;
}

/* The queue has got something, or has lost its last: it joins or leaves its group's turns. */
static void queue_changed(struct tpps *tpps, struct tpps_group *tg, struct tpps_queue *q)
{
	bool has_some = !queue_is_empty(q);

	if (has_some == q->taking_turns)
		return;
	q->taking_turns = has_some;
	if (has_some) {
		list_push_back(&tg->turns, &q->turn);
		if (!tg->nr_turns++) {
			weir_rb_insert(&tpps->busy, &tg->busy, tg->appearance);
			tpps->nr_busy++;
		}
	} else {
		list_unlink(&q->turn);
		if (!--tg->nr_turns) {
			weir_rb_erase(&tpps->busy, &tg->busy);
			tpps->nr_busy--;
		}
	}
}

static void queue_came_alive(struct tpps *tpps, struct tpps_group *tg, struct tpps_queue *q)
{
	if (q->alive)
		return;
	q->alive = true;
	tg->nr_queues++;
	if (!tg->appearance)
		tg->appearance = ++tpps->appearances;
}

static void queue_died(struct tpps *tpps, struct tpps_group *tg, struct tpps_queue *q)
{
	if (!q->alive)
		return;
	q->alive = false;
	tg->nr_queues--;
	count_weight(tpps, tg);
}

static void fifo_append(struct tpps *tpps, struct tpps_queue *q, struct weir_rq *rq)
{
	tpps_rq(rq)->arrival = ++tpps->arrivals;
	list_push_back(&q->fifo[weir_rq_is_sync(rq) ? SYNC : ASYNC], &rq->link);
}

/* The queue has something. */
static struct weir_rq *queue_first(const struct weir *w, struct tpps_queue *q)
{
	struct weir_rq *sync, *async;

	if (list_is_empty(&q->fifo[ASYNC]))
		return list_first(&q->fifo[SYNC], struct weir_rq, link);
	async = list_first(&q->fifo[ASYNC], struct weir_rq, link);
	if (list_is_empty(&q->fifo[SYNC]))
		return async;
	sync = list_first(&q->fifo[SYNC], struct weir_rq, link);
	if (option(w, SYNC_FIRST) || tpps_rq(sync)->arrival < tpps_rq(async)->arrival)
		return sync;
	return async;
}

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
		count_weight(tpps, tg);
		return;
	}
	trq->pulled = false;
	trq->fence = false;
	trq->anonymous = !rq->ctx || rq->ctx->group != rq->group;
	trq->generation = trq->anonymous ? 0 : ((struct tpps_queue *)rq->ctx->policy)->generation;
	q = queue_of(rq);
	queue_came_alive(tpps, tg, q);
	fifo_append(tpps, q, rq);
	queue_changed(tpps, tg, q);
	count_weight(tpps, tg);
}

static void take_from_fifo(struct tpps *tpps, struct weir_rq *rq)
{
	struct tpps_queue *q = queue_of(rq);

	list_unlink(&rq->link);
	queue_changed(tpps, tpps_group(rq->group), q);
}

static void tpps_remove(struct weir *w, struct weir_rq *rq)
{
	struct tpps *tpps = weir_policy_data(w);
	struct tpps_group *tg = tpps_group(rq->group);

	if (tpps_rq(rq)->pulled)
		list_unlink(&rq->link);
	else
		take_from_fifo(tpps, rq);
	tg->nr_queued--;
	count_weight(tpps, tg);
}

/* ---- the pull ---- */

/* May `rq` go before `other` in the driver's queue, to keep it in sector order? */
static bool sorts_before(const struct weir_rq *rq, struct weir_rq *other)
{
	return !tpps_rq(other)->fence && other->op == rq->op && rq->sector < other->sector;
}

/* Takes a queued request and sorts it into the driver's queue, from the tail. */
static void pull(struct tpps *tpps, struct weir_rq *rq)
{
	struct weir_list *before = tpps->pulled.prev;

	take_from_fifo(tpps, rq);
	tpps_rq(rq)->pulled = true;
	while (before != &tpps->pulled &&
	       sorts_before(rq, weir_container_of(before, struct weir_rq, link)))
		before = before->prev;
	list_insert_between(&rq->link, before, before->next);
}

/* One request of each queue in turn, up to `most`. */
static uint32_t pull_from_group(struct weir *w, struct tpps *tpps, struct tpps_group *tg,
				uint64_t most)
{
	uint32_t nr = most < tg->nr_turns ? (uint32_t)most : tg->nr_turns;
	uint32_t n;

	for (n = 0; n < nr; n++) {
		struct tpps_queue *q = list_first(&tg->turns, struct tpps_queue, turn);

		pull(tpps, queue_first(w, q));
		if (q->taking_turns) {
			list_unlink(&q->turn);
			list_push_back(&tg->turns, &q->turn);
		}
	}
	return nr;
}

static uint64_t queue_size(const struct weir *w)
{
	uint64_t given = weir_policy_tunable(w, NR_REQUESTS);

	return given ? given : weir_cfg(w)->nr_requests;
}

/*
 * What the group may have in the driver. The product fits: quota below 2^32, weight at most 1000.
 *
 * Remainders are carried once per completion, not per pull: asking twice must not change the
 * answer.
 */
static uint64_t group_part(const struct weir *w, const struct tpps *tpps, struct tpps_group *tg,
			   uint64_t quota, uint64_t total_weight)
{
	uint64_t product = quota * tg->weight;
	uint64_t part = weir_div64(product, total_weight);

	if (!option(w, CARRY_REMAINDER))
		return part;
	if (tpps->completed) {
		/* Carried under a greater total weight: begin again. */
		if (tg->carried >= total_weight)
			tg->carried = 0;
		tg->carried += product - part * total_weight;
		tg->bonus = tg->carried >= total_weight;
		if (tg->bonus)
			tg->carried -= total_weight;
	}
	return part + tg->bonus;
}

static struct tpps_group *group_of(struct weir_rb *node)
{
	return weir_container_of(node, struct tpps_group, busy);
}

/* First group of a pull. There is a busy one. */
static struct weir_rb *first_busy(const struct weir *w, const struct tpps *tpps)
{
	struct weir_rb *node = NULL;

	if (option(w, ROTATE_GROUPS))
		node = weir_rb_at_or_after(&tpps->busy, tpps->rotation + 1);
	return node ? node : weir_rb_first(&tpps->busy);
}

/*
 * One pull. Returns how many requests were taken; with none, *next is the group that is nearest to
 * being given something.
 */
static uint32_t pull_by_weight(struct weir *w, struct tpps *tpps, struct weir_group **next)
{
	uint64_t total_weight = option(w, ACTIVE_WEIGHTS_ONLY) ? tpps->active_weight
							       : tpps->total_weight;
	struct weir_rb *node = first_busy(w, tpps), *begin = node;
	uint64_t size = queue_size(w), begin_appearance = group_of(begin)->appearance;
	int64_t most_left = INT64_MIN;
	uint32_t nr = 0, n, nr_busy = tpps->nr_busy;

	*next = group_of(node)->group;
	if (size < tpps->in_driver + (uint64_t)MIN_DISPATCH_RQ)
		return 0;
	for (n = 0; n < nr_busy; n++) {
		struct tpps_group *tg = group_of(node);
		uint64_t part = group_part(w, tpps, tg, size - tpps->in_driver, total_weight);
		uint32_t used = option(w, MAIL_FORMULA) ? 0 : tg->in_driver;
		int64_t left = (int64_t)part - used;

		/* The group may have left the tree after its turn. */
		node = weir_rb_next(node);
		if (!node)
			node = weir_rb_first(&tpps->busy);
		if (left > most_left) {
			most_left = left;
			*next = tg->group;
		}
		if (left > 0)
			nr += pull_from_group(w, tpps, tg, (uint64_t)left);
	}
	tpps->completed = false;
	if (nr)
		tpps->rotation = begin_appearance;
	return nr;
}

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
			pull_from_group(w, tpps, group_of(weir_rb_first(&tpps->busy)), 1);
		} else if (!pull_by_weight(w, tpps, &next)) {
			if (tpps->in_driver) {
				v->why = WEIR_STALL_DEPTH;
				v->next = next;
				return NULL;
			}
			pull_from_group(w, tpps, tpps_group(next), 1);
		}
	}
	rq = list_first(&tpps->pulled, struct weir_rq, link);
	list_unlink(&rq->link);
	tg = tpps_group(rq->group);
	tg->nr_queued--;
	tg->in_driver++;
	tpps->in_driver++;
	count_weight(tpps, tg);
	return rq;
}

/* By turn, that is; what the quotas say would take a look at all groups. */
static struct weir_group *tpps_next_group(struct weir *w)
{
	const struct tpps *tpps = weir_policy_data(w);

	if (!list_is_empty(&tpps->pulled))
		return list_first(&tpps->pulled, struct weir_rq, link)->group;
	return tpps->nr_busy ? group_of(first_busy(w, tpps))->group : NULL;
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
	count_weight(tpps, tg);
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
		fifo_append(tpps, queue_of(rq), rq);
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

	tg->group = g;
	list_init(&tg->turns);
	queue_init(&tg->anonymous);
	read_weight(w, tg);
}

static void tpps_group_offline(struct weir *w, struct weir_group *g)
{
	struct tpps_group *tg = tpps_group(g);

	/* Nobody tells when anonymous processes end: they live as long as their group. */
	queue_died(weir_policy_data(w), tg, &tg->anonymous);
}

static void tpps_group_changed(struct weir *w, struct weir_group *g, unsigned int what)
{
	struct tpps *tpps = weir_policy_data(w);
	struct tpps_group *tg = tpps_group(g);
	uint64_t before = tg->weight;

	if (!(what & WEIR_CHANGED_WEIGHT))
		return;
	read_weight(w, tg);
	if (tg->in_total)
		tpps->total_weight += tg->weight - before;
	if (tg->in_active_total)
		tpps->active_weight += tg->weight - before;
}

static void tpps_ctx_online(struct weir *w, struct weir_ctx *ctx)
{
	(void)w;
	queue_init(ctx->policy);
}

static void tpps_ctx_offline(struct weir *w, struct weir_ctx *ctx)
{
	queue_died(weir_policy_data(w), tpps_group(ctx->group), ctx->policy);
}

static void splice(struct weir_list *from, struct weir_list *to)
{
	if (list_is_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

/* What it has queued stays, in the anonymous queue; queue_of() knows by the generation. */
static void tpps_ctx_moved(struct weir *w, struct weir_ctx *ctx, struct weir_group *from)
{
	struct tpps *tpps = weir_policy_data(w);
	struct tpps_group *tg = tpps_group(from);
	struct tpps_queue *q = ctx->policy;

	q->generation++;
	splice(&q->fifo[ASYNC], &tg->anonymous.fifo[ASYNC]);
	splice(&q->fifo[SYNC], &tg->anonymous.fifo[SYNC]);
	queue_changed(tpps, tg, &tg->anonymous);
	queue_changed(tpps, tg, q);
	queue_died(tpps, tg, q);
}

const struct weir_policy weir_policy_tpps = {
	.info =
		{
			.name = "tpps",
			.help = "weights as numbers of requests in the driver",
			.tunables = tpps_tunables,
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
