/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: weight raising (low_latency).
 *
 * A queue that has been idle for 2 s and asks for something probably is a user's: an application
 * that starts, a command. It is interactive: its weight is raised 30 times for as long as loading a
 * large program takes on this device, or until it has had 60 MB.
 *
 * A queue that asks for a little, waits for the answers, and asks again not before a time that
 * bounds its rate to 3.5 MB/s probably is a player's: it is soft real-time, 3000 times its weight,
 * for 300 ms from each such arrival. If it was interactive, it is so again afterwards for the rest of
 * that time.
 *
 * Neither if it belongs to a large burst, if somebody gave it an ioprio, or if it serves more than
 * one process.
 */
#include "policy/bfq/internal.h"

/* A coefficient of 1 ends the raising. The queue may be busy; its weight follows when it can. */
static void set(struct bfq *bfq, struct bfq_queue *q, enum bfq_raised kind, uint64_t length_ns)
{
	bool was = bfq_is_raised(q);

	q->raise.kind = (uint8_t)kind;
	q->raise.length_ns = length_ns;
	q->raise.coeff = kind == BFQ_SOFT_RT	   ? BFQ_RAISE * BFQ_RAISE_SOFT_RT
			 : kind == BFQ_INTERACTIVE ? BFQ_RAISE
						   : 1;
	q->entity.weight_changed = true;
	if (q->busy && was != bfq_is_raised(q))
		bfq->nr_busy_raised += was ? -1u : 1u;
	bfq_count_pending(bfq, q);
}

static void set_interactive(struct bfq *bfq, struct bfq_queue *q)
{
	set(bfq, q, BFQ_INTERACTIVE, bfq_raise_length_ns(bfq));
}

static void set_soft_rt(struct bfq *bfq, struct bfq_queue *q)
{
	set(bfq, q, BFQ_SOFT_RT, BFQ_RAISE_SOFT_RT_NS);
}

void bfq_raise_end(struct bfq *bfq, struct bfq_queue *q)
{
	/* What it was given does not count against it. */
	if (q->raise.kind != BFQ_SOFT_RT)
		q->soft_rt_ns = bfq->now;
	set(bfq, q, BFQ_NOT_RAISED, 0);
	q->raise.since_ns = bfq->now;
}

/* Its soft real-time is over: is it interactive still? */
static void fall_back(struct bfq *bfq, struct bfq_queue *q)
{
	uint64_t since_ns = q->raise.interactive_since_ns;

	if (bfq_passed(bfq, since_ns, bfq_raise_length_ns(bfq))) {
		bfq_raise_end(bfq, q);
		return;
	}
	set_interactive(bfq, q);
	q->raise.since_ns = since_ns;
}

static void begin(struct bfq *bfq, struct bfq_queue *q, bool interactive)
{
	uint32_t min = bfq_max_budget(bfq) / BFQ_MIN_BUDGET_PART;

	if (interactive) {
		q->raise.service = 0;
		set_interactive(bfq, q);
	} else {
		q->raise.interactive_since_ns = 0;
		set_soft_rt(bfq, q);
	}
	/* Close to what it asks for: a large budget would finish late. */
	q->entity.budget = weir_min64(q->entity.budget, weir_max64(2 * min, 1));
}

/* It gets busy. */
void bfq_raise_on_arrival(struct bfq *bfq, struct bfq_queue *q, const struct bfq_arrival *a)
{
	if (a->coeff_before == 1) {
		if (a->deserves)
			begin(bfq, q, a->interactive);
		return;
	}
	if (a->interactive) {
		set_interactive(bfq, q);
	} else if (a->in_burst) {
		set(bfq, q, BFQ_NOT_RAISED, 0);
	} else if (a->soft_rt) {
		if (q->raise.kind != BFQ_SOFT_RT) {
			q->raise.interactive_since_ns = q->raise.since_ns;
			set_soft_rt(bfq, q);
		}
		q->raise.since_ns = bfq->now;
	}
}

/* Writes that nobody waits for, after a silence: write-back of what a user just did. */
void bfq_raise_async(struct bfq *bfq, struct bfq_queue *q)
{
	set_interactive(bfq, q);
}

void bfq_raise_seeky(struct bfq *bfq, struct bfq_queue *q)
{
	if (q->raise.kind == BFQ_SOFT_RT && bfq_is_totally_seeky(q))
		fall_back(bfq, q);
}

void bfq_raise_check(struct bfq *bfq, struct bfq_queue *q)
{
	struct bfq_raise *r = &q->raise;

	if (bfq_is_raised(q)) {
		if (q->in_large_burst)
			bfq_raise_end(bfq, q);
		else if (bfq_passed(bfq, r->since_ns, r->length_ns))
			r->kind == BFQ_SOFT_RT ? fall_back(bfq, q) : bfq_raise_end(bfq, q);
	}
	if (r->kind == BFQ_INTERACTIVE && r->service > BFQ_RAISE_SECTORS)
		bfq_raise_end(bfq, q);
	/* At once, not only in the next turn. */
	if ((q->entity.weight > q->entity.base_weight) != bfq_is_raised(q))
		bfq_entity_reweigh(&q->entity);
}

void bfq_raise_hand_over(struct bfq *bfq, struct bfq_queue *from, struct bfq_queue *to)
{
	if (!bfq_is_raised(from))
		return;
	if (!bfq_is_raised(to)) {
		struct bfq_raise r = from->raise;

		set(bfq, to, (enum bfq_raised)r.kind, r.length_ns);
		to->raise.since_ns = r.since_ns;
		to->raise.interactive_since_ns = r.interactive_since_ns;
	}
	set(bfq, from, BFQ_NOT_RAISED, 0);
}

void bfq_raise_resume(struct bfq *bfq, struct bfq_queue *q, const struct bfq_raise *saved,
		      bool in_large_burst)
{
	set(bfq, q, (enum bfq_raised)saved->kind, saved->length_ns);
	q->raise = *saved;
	if (!bfq_is_raised(q))
		return;
	if (in_large_burst)
		bfq_raise_end(bfq, q);
	else if (bfq_passed(bfq, q->raise.since_ns, q->raise.length_ns))
		q->raise.kind == BFQ_SOFT_RT ? fall_back(bfq, q) : bfq_raise_end(bfq, q);
}

void bfq_raise_end_all(struct bfq *bfq)
{
	struct weir_group *g;
	struct weir_ctx *ctx;
	unsigned int class, level;

	list_for_each(ctx, &bfq->w->ctxs, struct weir_ctx, all)
		bfq_raise_end(bfq, &bfq_process(ctx)->home);
	list_for_each(g, &bfq->w->groups, struct weir_group, all) {
		struct bfq_group *bg = bfq_group(g);

		bfq_raise_end(bfq, &bg->anonymous);
		bfq_raise_end(bfq, &bg->async_idle);
		for (class = 0; class < 2; class ++)
			for (level = 0; level < BFQ_LEVELS; level++)
				bfq_raise_end(bfq, &bg->async[class][level]);
	}
}

/*
 * An isochronous stream that asks before this time is too fast: it has had more than its rate
 * allows, or it didn't wait for anything after its last answers.
 */
uint64_t bfq_soft_rt_next_ns(const struct bfq *bfq, const struct bfq_queue *q)
{
	uint64_t paced_ns = weir_mul_div(q->service_backlogged, WEIR_NS_PER_S, BFQ_SOFT_RT_RATE);
	uint64_t next_ns = weir_add_sat(q->backlogged_ns, paced_ns);

	next_ns = weir_max64(next_ns, q->soft_rt_ns);
	return weir_max64(next_ns, bfq->now + bfq->slice_idle_ns + BFQ_SOFT_RT_TICKS * BFQ_TICK_NS);
}
