/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CFQ: slices. A queue that is chosen becomes the active one. Its clock starts with its first
 * completion, so the seek to its place is not on its account. Between queues, a class and a type of
 * work are chosen for a time of their own; and between those, a group.
 */
#include "policy/cfq/internal.h"

/* ---- how long ---- */

uint64_t cfq_slice_base(const struct cfq *c, bool sync, unsigned int level)
{
	uint64_t base = cfq_ms(c, sync ? CFQ_SLICE_SYNC : CFQ_SLICE_ASYNC);
	uint64_t step = weir_div64(base, CFQ_SLICE_SCALE);

	return level <= CFQ_LEVEL_NORM ? base + step * (CFQ_LEVEL_NORM - level)
				       : base - step * (level - CFQ_LEVEL_NORM);
}

uint64_t cfq_group_slice(const struct cfq *c, const struct cfq_group *cg)
{
	return (cfq_ms(c, CFQ_TARGET_LATENCY) * cg->fraction) >> CFQ_SHIFT;
}

/* Busy queues of the class, smoothed: it rises at once by three quarters, and decays by a quarter. */
static uint32_t average_busy(struct cfq_group *cg, unsigned int class)
{
	uint32_t *average = &cg->busy_average[class], busy = cfq_nr_busy_in(cg, class);
	uint32_t more = *average > busy ? *average : busy, less = *average > busy ? busy : *average;

	*average = (3 * more + less + 2) / 4;
	return *average;
}

uint64_t cfq_slice_scaled(struct cfq *c, const struct cfq_queue *q)
{
	uint64_t slice = cfq_slice_base(c, q->sync, q->level);
	uint64_t base = cfq_ms(c, CFQ_SLICE_SYNC), group_slice, expected, low;

	if (!cfq_tunable(c, CFQ_LOW_LATENCY))
		return slice;
	expected = base * average_busy(q->group, q->class == CFQ_RT ? CFQ_RT : CFQ_BE);
	group_slice = cfq_group_slice(c, q->group);
	if (expected <= group_slice)
		return slice;
	low = weir_min64(slice, weir_mul_div(2 * cfq_slice_idle(c), slice, base));
	return weir_max64(low, weir_mul_div(slice, group_slice, expected));
}

/* ---- beginning and end ---- */

void cfq_set_active(struct cfq *c, struct cfq_queue *q)
{
	weir_assert(!c->active);
	c->active = q;
	q->chosen_ns = cfq_now(c);
	q->slice_from_ns = 0;
	q->slice_end_ns = 0;
	q->allocated_ns = 0;
	q->slice_dispatched = 0;
	q->slice_new = true;
	q->waiting = false;
	q->must_dispatch = false;
	q->fifo_checked = false;
	cfq_stop_timer(c);
}

void cfq_slice_begin(struct cfq *c, struct cfq_queue *q)
{
	q->slice_new = false;
	q->slice_from_ns = cfq_now(c);
	q->allocated_ns = cfq_slice_scaled(c, q);
	q->slice_end_ns = q->slice_from_ns + q->allocated_ns;
}

void cfq_expire(struct cfq *c, bool keep)
{
	struct cfq_queue *q = c->active;

	if (!q)
		return;
	if (q->waiting)
		cfq_stop_timer(c);
	q->waiting = false;
	q->wait_busy = false;
	if (q->coop && cfq_is_seeky(q))
		q->split = true;
	if (keep)
		q->residual_ns = (int64_t)(q->slice_new ? cfq_slice_scaled(c, q)
							: q->slice_end_ns - cfq_now(c));
	cfq_group_charge(c, q);
	c->active = NULL;
	c->active_proc = NULL;
	if (cfq_is_empty(q))
		cfq_busy_remove(c, q);
	else
		cfq_busy_resort(c, q);
}

/* ---- whose turn ---- */

/* Of the class being served: the type whose first queue has the lowest key. */
static enum cfq_type choose_type(struct cfq_group *cg, unsigned int class)
{
	enum cfq_type type, best = CFQ_NOIDLE;
	uint64_t lowest = UINT64_MAX;

	for (type = CFQ_ASYNC; type < CFQ_TYPES; type++) {
		const struct cfq_queue *q = cfq_tree_first(cfq_tree_of(cg, class, type));

		if (q && q->by_key.key < lowest) {
			lowest = q->by_key.key;
			best = type;
		}
	}
	return best;
}

/* How long the chosen type is served: its queues' part of the group's turn. */
static uint64_t workload_slice(const struct cfq *c, struct cfq_group *cg)
{
	unsigned int class = c->serving_class, type = c->serving_type;
	uint32_t busy = cfq_nr_busy_in(cg, class), average = cg->busy_average[class];
	uint64_t slice = weir_mul_div(cfq_group_slice(c, cg), cfq_tree_of(cg, class, type)->count,
				      average > busy ? average : busy);

	if (type == CFQ_ASYNC) {
		uint64_t fair = weir_mul_div(cfq_ms(c, CFQ_TARGET_LATENCY), cfq_nr_busy_async(cg),
					     c->nr_busy);

		slice = weir_mul_div(weir_min64(slice, fair), cfq_ms(c, CFQ_SLICE_ASYNC),
				     cfq_ms(c, CFQ_SLICE_SYNC));
	} else {
		slice = weir_max64(slice, 2 * cfq_slice_idle(c));
	}
	return weir_max64(slice, (uint64_t)CFQ_MIN_TICKS * CFQ_TICK_NS);
}

static void choose_workload(struct cfq *c, struct cfq_group *cg)
{
	uint8_t before = c->serving_class;

	c->serving_class = cfq_nr_busy_in(cg, CFQ_RT)	? CFQ_RT
			   : cfq_nr_busy_in(cg, CFQ_BE) ? CFQ_BE
							: CFQ_IDLE;
	if (c->serving_class == CFQ_IDLE) {
		c->workload_end_ns = cfq_now(c) + CFQ_TICK_NS;
		return;
	}
	if (c->serving_class == before && cfq_now(c) <= c->workload_end_ns &&
	    cfq_tree_of(cg, c->serving_class, c->serving_type)->count)
		return;
	c->serving_type = choose_type(cg, c->serving_class);
	c->workload_end_ns = cfq_now(c) + workload_slice(c, cg);
}

struct cfq_queue *cfq_choose_queue(struct cfq *c)
{
	struct cfq_group *cg = cfq_group_next(c);
	uint64_t now = cfq_now(c);

	weir_assert(cg);
	c->serving = cg;
	/* A turn that ended early goes on where it was. */
	c->workload_end_ns = now ? now - 1 : 0;
	if (cg->saved_ns) {
		c->workload_end_ns = now + cg->saved_ns;
		c->serving_class = cg->saved_class;
		c->serving_type = cg->saved_type;
	}
	choose_workload(c, cg);
	return cfq_tree_first(cfq_tree_of(cg, c->serving_class, c->serving_type));
}
