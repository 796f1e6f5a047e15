/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sfqd: SFQ(D), start-time fair queueing for a server that works on up to D requests at once (Jin,
 * Chase, Kaur 2004, on Goyal, Vin, Cheng 1996).
 *
 * Problem. Fair queueing gives each flow its share of a server that serves one request at a time. A
 * disk array or a flash drive serves many, in an order of its own, and says nothing but when each is
 * done.
 *
 * The rule. Groups are the flows. A request has a start tag and a finish tag in virtual time:
 *
 *	S = max(v, F of the flow's request before)	F = S + cost / weight
 *
 * v is the start tag of the request that was dispatched last; when nothing is left anywhere, it
 * becomes the largest F that was given out. While less than D are in the device, the waiting request
 * with the smallest S goes; of equal ones, the one that arrived first. Nothing else is regarded: not
 * sectors, not who has how many in the device, and never is the device kept idle.
 *
 * Example. A and B have weights 1 and 3, requests of one size, cost 3, and more waiting than D. A's
 * have S = 0, 3, 6, ..., B's 0, 1, 2, ...: A B B B A B B B. C appears with weight 3 when v is 12: its
 * first request gets 12, as if it had never been away. Whoever was idle has neither credit nor debt.
 *
 * D trades throughput for fairness: what was dispatched, over any time in which two flows wait, is in
 * proportion within one request of each; what was completed may differ by D + 1 of each, and a
 * request that comes to an idle flow waits for as much as D - 1 others to be done.
 *
 * Variants. With min_vtime (the paper's Min-SFQ(D)) v is the smallest start tag in the device: a flow
 * that comes back, or has one request at a time, begins where the slowest in the device did, not
 * where the last one did, and so overtakes up to D - 1 requests. The paper's FSFQ(D), which has four
 * tags for each request, is not here: no description of it was at hand that could be checked.
 *
 * How it is done. While a flow has something waiting, its F is beyond v, so S of each later request
 * is just F of the one before: one tag for each flow will do, S of its first. That makes the weight
 * and the size at dispatch count, also if they changed while the request waited.
 *
 * Cost is device time by the profile, so shares are shares of the device; unit_cost makes it one for
 * each request, and shares those of IOPS. The tree is flat: a group and its parent are equals.
 * Flushes, and requests that the host puts back or puts at the head, go first, past D, and without a
 * charge.
 *
 * Hooks are O(log groups); with min_vtime dispatch is O(D) at worst.
 */
#include "core/group.h"
#include "core/heap.h"
#include "core/list.h"
#include "core/spi.h"
#include "core/spi_state.h"

enum {
	/* A SATA drive's queue; what a flash drive needs to be busy is of this order. */
	DEPTH_DEFAULT = 32,
	/* Beyond any device; so that tags in it, at a weight of 1, lie within 2^62. */
	DEPTH_MAX = 1000,
	/* Cost of a request with unit_cost, as if in ns: can be divided by many a weight. */
	UNIT_COST = 1008000,
};

enum {
	DEPTH,
	MIN_VTIME,
	UNIT_COST_EACH,
};

static const struct weir_tunable sfqd_tunables[] = {
	[DEPTH] = {"depth", WEIR_UNIT_COUNT, 1, DEPTH_MAX, DEPTH_DEFAULT,
		   "requests that may be in the device"},
	[MIN_VTIME] = {"min_vtime", WEIR_UNIT_BOOL, 0, 1, 0,
		       "virtual time is the smallest start tag in the device: Min-SFQ(D)"},
	[UNIT_COST_EACH] = {"unit_cost", WEIR_UNIT_BOOL, 0, 1, 0,
			    "every request costs the same: shares of IOPS, not of device time"},
	{.name = NULL},
};

struct sfqd_flow {
	struct weir_heap_item item; /* in weir_turn_all(), by tag, while something waits */
	struct weir_list fifo;	    /* rq->link */
	struct weir_group *group;
	uint64_t tag;  /* S of the first that waits; F of the last that went, if none does */
	uint32_t rest; /* of F, in parts of the weight that it was divided by */
};

struct sfqd {
	struct weir_list express;   /* rq->link */
	struct weir_list in_device; /* by start tag: rq->link */
	uint64_t vtime;
	uint64_t finish_max;
	uint32_t nr_in_device; /* the express ones as well */
};

/* In rq->policy. */
struct sfqd_rq {
	uint64_t start; /* in the device: its tag */
	bool express;
};

_Static_assert(sizeof(struct sfqd_rq) <= WEIR_RQ_POLICY_BYTES, "does not fit into a request");

static struct sfqd_rq *sfqd_rq(struct weir_rq *rq)
{
	return (struct sfqd_rq *)rq->policy;
}

static struct sfqd_flow *flow_of(const struct weir_rq *rq)
{
	return rq->group->policy;
}

static struct weir_rq *first_of(const struct weir_list *head)
{
	return list_first(head, struct weir_rq, link);
}

/* The root has but one weight; the others' own_weight means nothing in a flat tree. */
static uint32_t weight_of(const struct weir_group *g)
{
	return g->parent ? g->attr.weight : g->attr.own_weight;
}

/* From the request's start to its finish; what the division leaves over counts the next time. */
static uint64_t length_of(const struct weir *w, struct sfqd_flow *f, const struct weir_rq *rq)
{
	uint64_t cost = weir_policy_tunable(w, UNIT_COST_EACH) ? UNIT_COST : rq->cost_ns, length;
	uint32_t weight = weight_of(f->group);

	/* At most 2^52 and a weight. */
	cost = (cost << WEIR_VTIME_SHIFT) + f->rest;
	length = weir_div64(cost, weight);
	f->rest = (uint32_t)(cost - length * weight);
	return length;
}

static int sfqd_init(struct weir *w)
{
	struct sfqd *s = weir_policy_data(w);

	list_init(&s->express);
	list_init(&s->in_device);
	return 0;
}

static void sfqd_group_online(struct weir *w, struct weir_group *g)
{
	struct sfqd *s = weir_policy_data(w);
	struct sfqd_flow *f = g->policy;

	weir_heap_item_init(&f->item, g->id);
	list_init(&f->fifo);
	f->group = g;
	f->tag = s->vtime;
}

static void sfqd_group_changed(struct weir *w, struct weir_group *g, unsigned int what)
{
	struct sfqd_flow *f = g->policy;

	(void)w;
	if (what & WEIR_CHANGED_WEIGHT)
		f->rest = 0;
}

/* ---- virtual time ---- */

/*
 * A flow's F is ahead of v by its last request at most, and with min_vtime by as many as the device
 * has: what seems to be further ahead is so old that the clock has wrapped since.
 */
static void enter(const struct weir *w, const struct sfqd *s, struct sfqd_flow *f)
{
	uint64_t each = weir_cost_per_weight(WEIR_COST_MAX_NS, 1);
	uint64_t tag = weir_vtime_enter(f->tag, s->vtime,
					each * (weir_policy_tunable(w, DEPTH) + 1));

	if (tag != f->tag)
		f->rest = 0;
	f->tag = tag;
}

/* Nothing waits and nothing is in the device: nobody is ahead of anybody. */
static void ended(struct sfqd *s, uint64_t nr_queued)
{
	if (!nr_queued && !s->nr_in_device && weir_vtime_before(s->vtime, s->finish_max))
		s->vtime = s->finish_max;
}

/* By start tag, from the end: without min_vtime it is the last. */
static void enter_device(struct sfqd *s, struct weir_rq *rq)
{
	struct weir_list *before = s->in_device.prev;

	s->nr_in_device++;
	if (sfqd_rq(rq)->express)
		return;
	while (before != &s->in_device &&
	       weir_vtime_before(sfqd_rq(rq)->start,
				 sfqd_rq(weir_container_of(before, struct weir_rq, link))->start))
		before = before->prev;
	list_insert_between(&rq->link, before, before->next);
}

static void leave_device(struct weir *w, struct sfqd *s, struct weir_rq *rq)
{
	s->nr_in_device--;
	if (sfqd_rq(rq)->express)
		return;
	list_unlink(&rq->link);
	if (weir_policy_tunable(w, MIN_VTIME) && !list_is_empty(&s->in_device) &&
	    weir_vtime_before(s->vtime, sfqd_rq(first_of(&s->in_device))->start))
		s->vtime = sfqd_rq(first_of(&s->in_device))->start;
}

/* ---- insertion and removal ---- */

/* Of equal tags the earlier arrival goes first. */
static void note_first(struct sfqd_flow *f)
{
	f->item.order = (uint32_t)first_of(&f->fifo)->seq;
}

static void sfqd_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct sfqd *s = weir_policy_data(w);
	struct sfqd_flow *f = flow_of(rq);

	sfqd_rq(rq)->express = where == WEIR_HEAD || rq->op == WEIR_OP_FLUSH;
	if (where == WEIR_HEAD) {
		list_push_front(&s->express, &rq->link);
		return;
	}
	if (sfqd_rq(rq)->express) {
		list_push_back(&s->express, &rq->link);
		return;
	}
	list_push_back(&f->fifo, &rq->link);
	if (weir_heap_has(&f->item))
		return;
	enter(w, s, f);
	note_first(f);
	weir_heap_push(weir_turn_all(w), &f->item, f->tag);
}

static void sfqd_remove(struct weir *w, struct weir_rq *rq)
{
	struct sfqd_flow *f = flow_of(rq);

	list_unlink(&rq->link);
	if (!sfqd_rq(rq)->express) {
		if (list_is_empty(&f->fifo)) {
			weir_heap_remove(weir_turn_all(w), &f->item);
		} else {
			note_first(f);
			weir_heap_update(weir_turn_all(w), &f->item, f->tag);
		}
	}
	ended(weir_policy_data(w), weir_policy_queued(w) - 1);
}

/* ---- dispatch ---- */

static struct sfqd_flow *first_flow(struct weir *w)
{
	struct weir_heap_item *item = weir_heap_min(weir_turn_all(w));

	return item ? weir_container_of(item, struct sfqd_flow, item) : NULL;
}

/* The flow's first goes: the next one begins where it ends. */
static struct weir_rq *serve(struct weir *w, struct sfqd *s, struct sfqd_flow *f)
{
	struct weir_rq *rq = first_of(&f->fifo);
	uint64_t start = f->tag;

	list_unlink(&rq->link);
	f->tag += length_of(w, f, rq);
	if (list_is_empty(&f->fifo)) {
		weir_heap_remove(weir_turn_all(w), &f->item);
	} else {
		note_first(f);
		weir_heap_update(weir_turn_all(w), &f->item, f->tag);
	}
	if (weir_vtime_before(s->finish_max, f->tag))
		s->finish_max = f->tag;
	sfqd_rq(rq)->start = start;
	enter_device(s, rq);
	if (weir_policy_tunable(w, MIN_VTIME))
		start = sfqd_rq(first_of(&s->in_device))->start;
	if (weir_vtime_before(s->vtime, start))
		s->vtime = start;
	return rq;
}

static struct weir_rq *sfqd_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct sfqd *s = weir_policy_data(w);
	struct sfqd_flow *f;
	struct weir_rq *rq;

	if (!list_is_empty(&s->express)) {
		rq = first_of(&s->express);
		list_unlink(&rq->link);
		enter_device(s, rq);
		return rq;
	}
	f = first_flow(w);
	if (f && (force || s->nr_in_device < weir_policy_tunable(w, DEPTH)))
		return serve(w, s, f);
	if (f) {
		v->why = WEIR_STALL_DEPTH;
		v->next = f->group;
	}
	return NULL;
}

static struct weir_group *sfqd_next_group(struct weir *w)
{
	const struct sfqd *s = weir_policy_data(w);
	const struct sfqd_flow *f = first_flow(w);

	if (!list_is_empty(&s->express))
		return first_of(&s->express)->group;
	return f ? f->group : NULL;
}

/* ---- the device is done ---- */

static void sfqd_complete(struct weir *w, struct weir_rq *rq)
{
	struct sfqd *s = weir_policy_data(w);

	leave_device(w, s, rq);
	ended(s, weir_policy_queued(w));
}

/* It has been charged, and goes once more without. */
static void sfqd_undispatch(struct weir *w, struct weir_rq *rq)
{
	leave_device(w, weir_policy_data(w), rq);
}

static bool sfqd_may_merge(struct weir *w, const struct weir_rq *rq, const struct weir_rq *bio,
			   uint32_t nr_sectors)
{
	(void)w;
	(void)bio;
	(void)nr_sectors;
	return !((const struct sfqd_rq *)rq->policy)->express;
}

const struct weir_policy weir_policy_sfqd = {
	.info =
		{
			.name = "sfqd",
			.help = "SFQ(D): fair queueing with a bound for what is in the device",
			.tunables = sfqd_tunables,
			.keeps = WEIR_KEEPS_WEIGHTS,
		},
	.instance_size = sizeof(struct sfqd),
	.group_size = sizeof(struct sfqd_flow),
	.init = sfqd_init,
	.group_online = sfqd_group_online,
	.group_changed = sfqd_group_changed,
	.insert = sfqd_insert,
	.dispatch = sfqd_dispatch,
	.next_group = sfqd_next_group,
	.complete = sfqd_complete,
	.undispatch = sfqd_undispatch,
	.remove = sfqd_remove,
	.may_merge = sfqd_may_merge,
};
