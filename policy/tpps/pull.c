/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TPPS: the rule. What it does, and what comes of it, is told in tpps.c.
 *
 * A pull is O(groups that have something queued), as in the original. What it takes is sorted into
 * the driver's queue by walking back over what the same pull has taken, nr_requests at most.
 */
#include "policy/tpps/internal.h"

/* May `rq` go before `other` in the driver's queue, to keep it in sector order? */
static bool sorts_before(const struct weir_rq *rq, struct weir_rq *other)
{
	return !tpps_rq(other)->fence && other->op == rq->op && rq->sector < other->sector;
}

/* Takes a queued request and sorts it into the driver's queue, from the tail. */
static void pull_one(struct tpps *tpps, struct weir_rq *rq)
{
	struct weir_list *before = tpps->pulled.prev;

	tpps_queue_take(tpps, rq);
	tpps_rq(rq)->pulled = true;
	while (before != &tpps->pulled &&
	       sorts_before(rq, weir_container_of(before, struct weir_rq, link)))
		before = before->prev;
	list_insert_between(&rq->link, before, before->next);
}

uint32_t tpps_pull_from_group(struct weir *w, struct tpps *tpps, struct tpps_group *tg,
			      uint64_t most)
{
	uint32_t nr = most < tg->nr_turns ? (uint32_t)most : tg->nr_turns;
	uint32_t n;

	for (n = 0; n < nr; n++) {
		struct tpps_queue *q = list_first(&tg->turns, struct tpps_queue, turn);

		pull_one(tpps, tpps_queue_first(w, q));
		if (q->taking_turns) {
			list_unlink(&q->turn);
			list_push_back(&tg->turns, &q->turn);
		}
	}
	return nr;
}

static uint64_t queue_size(const struct weir *w)
{
	uint64_t given = weir_policy_tunable(w, TPPS_NR_REQUESTS);

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

	if (!tpps_option(w, TPPS_CARRY_REMAINDER))
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

struct weir_rb *tpps_first_busy(const struct weir *w, const struct tpps *tpps)
{
	struct weir_rb *node = NULL;

	if (tpps_option(w, TPPS_ROTATE_GROUPS))
		node = weir_rb_at_or_after(&tpps->busy, tpps->rotation + 1);
	return node ? node : weir_rb_first(&tpps->busy);
}

uint32_t tpps_pull(struct weir *w, struct tpps *tpps, struct weir_group **next)
{
	uint64_t total_weight = tpps_option(w, TPPS_ACTIVE_WEIGHTS_ONLY) ? tpps->active_weight
									 : tpps->total_weight;
	struct weir_rb *node = tpps_first_busy(w, tpps), *begin = node;
	uint64_t size = queue_size(w), begin_appearance = tpps_group_of(begin)->appearance;
	int64_t most_left = INT64_MIN;
	uint32_t nr = 0, n, nr_busy = tpps->nr_busy;

	*next = tpps_group_of(node)->group;
	if (size < tpps->in_driver + (uint64_t)TPPS_MIN_QUOTA)
		return 0;
	for (n = 0; n < nr_busy; n++) {
		struct tpps_group *tg = tpps_group_of(node);
		uint64_t part = group_part(w, tpps, tg, size - tpps->in_driver, total_weight);
		uint32_t used = tpps_option(w, TPPS_MAIL_FORMULA) ? 0 : tg->in_driver;
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
			nr += tpps_pull_from_group(w, tpps, tg, (uint64_t)left);
	}
	tpps->completed = false;
	if (nr)
		tpps->rotation = begin_appearance;
	return nr;
}
