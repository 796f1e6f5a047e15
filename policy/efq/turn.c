/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * efq: how long a turn lasts. One queue is active. Its slice begins with its first completion, so
 * that what the device does for the one before isn't its own; the turn ends when the slice is over,
 * or when the queue is empty and nothing is expected of it. Then it is charged.
 *
 *	empty, and the last one was sync	wait slice_idle, if the queue thinks shorter than that
 *	the same, and nothing else is in	wait group_idle, also beyond the end of the slice:
 *	its group				a group that is dropped would lose its share
 *	its last one was async			nobody waits for it: next
 *
 * With fairness, the next turn doesn't begin before what is in the device has completed, and a queue
 * is waited for however long it thinks.
 */
#include "policy/efq/internal.h"

enum {
	/* What a sector or a request is counted as, so that slices and counts compare: 100 MB/s. */
	SECTOR_NS = 5000,
	REQUEST_NS = 1000000,
	/* Of 256: enough samples to go by. */
	SAMPLES_VALID = 80,
	/* Longer thoughts are as good as never, in multiples of slice_idle. */
	MOST_THINK = 2,
};

static bool slice_is_over(const struct efq *e, uint64_t now)
{
	return e->slice_runs && now >= e->slice_end_ns;
}

/* May be worth slice_idle. anticipatory waits by itself. */
static bool comes_back_soon(const struct weir *w, const struct efq *e, const struct efq_group *eg)
{
	if (e->order == &weir_order_anticipatory)
		return false;
	return weir_policy_tunable(w, EFQ_FAIRNESS) || eg->think.samples <= SAMPLES_VALID ||
	       eg->think.mean <= efq_ms(w, EFQ_SLICE_IDLE);
}

/* The active queue has nothing left: how long is it worth waiting for, after a completion? */
static uint64_t wait_ns(struct weir *w, const struct efq *e)
{
	const struct efq_group *eg = e->active;
	uint64_t idle_ns = efq_ms(w, EFQ_SLICE_IDLE);

	if (!eg->last_sync)
		return 0;
	if (idle_ns && !slice_is_over(e, weir_now(w)) && comes_back_soon(w, e, eg))
		return idle_ns;
	return eg->group->turn.nr == 1 ? efq_ms(w, EFQ_GROUP_IDLE) : 0;
}

static void begin(struct weir *w, struct efq *e, struct efq_group *eg)
{
	e->active = eg;
	e->began_ns = weir_now(w);
	e->slice_runs = false;
	e->idle_until_ns = 0;
	e->turn_sectors = 0;
	e->turn_requests = 0;
	if (e->order->turn_begins)
		e->order->turn_begins(w, &eg->leaf);
}

/* What the turn has cost. */
static uint64_t amount(struct weir *w, const struct efq *e)
{
	uint64_t now = weir_now(w), from_ns = e->began_ns;

	switch (weir_policy_tunable(w, EFQ_CHARGE)) {
	case EFQ_CHARGE_SECTORS:
		return e->turn_sectors * SECTOR_NS;
	case EFQ_CHARGE_REQUESTS:
		return e->turn_requests * REQUEST_NS;
	}
	if (e->slice_runs && now > e->slice_start_ns)
		from_ns = e->slice_start_ns;
	return now - from_ns;
}

void efq_turn_end(struct weir *w, struct efq *e)
{
	struct efq_group *eg = e->active;

	if (e->order->turn_ends)
		e->order->turn_ends(w, &eg->leaf);
	efq_tree_charge(eg, amount(w, e));
	e->active = NULL;
	if (!eg->nr_queued)
		efq_tree_del(e, eg);
}

enum stay {
	SERVE,
	WAIT,
	LEAVE,
};

static enum stay stay(struct weir *w, const struct efq *e)
{
	const struct efq_group *eg = e->active;

	if (eg->nr_queued)
		return slice_is_over(e, weir_now(w)) ? LEAVE : SERVE;
	if (eg->nr_in_device)
		return wait_ns(w, e) ? WAIT : LEAVE;
	return weir_now(w) < e->idle_until_ns ? WAIT : LEAVE;
}

/* Its last requests must complete first, or another's turn would pay for them. */
static bool must_drain(const struct weir *w, const struct efq *e)
{
	return weir_policy_tunable(w, EFQ_FAIRNESS) && e->active->nr_in_device && e->nr_busy > 1;
}

struct efq_group *efq_turn(struct weir *w, struct efq *e, struct weir_verdict *v)
{
	enum stay what = e->active ? stay(w, e) : LEAVE;

	if (what == SERVE)
		return e->active;
	if (what == WAIT || (e->active && must_drain(w, e))) {
		v->why = WEIR_STALL_IDLE;
		if (!e->active->nr_in_device)
			v->at_ns = e->idle_until_ns;
		else if (what == WAIT && e->slice_runs && !slice_is_over(e, weir_now(w)))
			v->at_ns = e->slice_end_ns; /* then it may not be worth it any more */
		return NULL;
	}
	if (e->active)
		efq_turn_end(w, e);
	begin(w, e, efq_tree_first(w));
	return e->active;
}

/* ---- what happens to a queue ---- */

static void learn_think(struct weir *w, struct efq_group *eg)
{
	uint64_t most_ns = MOST_THINK * efq_ms(w, EFQ_SLICE_IDLE);
	struct antic_mean *m = &eg->think;

	m->samples = (7 * m->samples + ANTIC_ONE) / 8;
	m->total = (7 * m->total + ANTIC_ONE * weir_min64(weir_now(w) - eg->last_end_ns, most_ns)) /
		   8;
	m->mean = weir_div64(m->total + ANTIC_ONE / 2, m->samples);
}

void efq_queue_arrived(struct weir *w, struct efq *e, struct weir_rq *rq)
{
	struct efq_group *eg = efq_group(rq->group);

	if (weir_rq_is_sync(rq) && eg->ended && !eg->nr_queued && !eg->nr_in_device)
		learn_think(w, eg);
	eg->nr_queued++;
	if (!efq_in_tree(eg))
		efq_tree_add(e, eg);
}

void efq_queue_left(struct weir *w, struct efq *e, struct weir_rq *rq)
{
	struct efq_group *eg = efq_group(rq->group);

	(void)w;
	eg->nr_queued--;
	if (!eg->nr_queued && eg != e->active)
		efq_tree_del(e, eg);
}

void efq_queue_completed(struct weir *w, struct efq *e, struct weir_rq *rq)
{
	struct efq_group *eg = efq_group(rq->group);
	uint64_t now = weir_now(w), idle_ns;

	weir_assert(eg->nr_in_device);
	eg->nr_in_device--;
	if (weir_rq_is_sync(rq)) {
		eg->ended = true;
		eg->last_end_ns = now;
	}
	if (eg != e->active)
		return;
	if (!e->slice_runs) {
		e->slice_runs = true;
		e->slice_start_ns = now;
		e->slice_end_ns = weir_add_sat(
			now, efq_ms(w, eg->last_sync ? EFQ_SLICE_SYNC : EFQ_SLICE_ASYNC));
	}
	if (!eg->nr_queued && !eg->nr_in_device) {
		idle_ns = wait_ns(w, e);
		e->idle_until_ns = idle_ns ? weir_add_sat(now, idle_ns) : 0;
	}
}
