/* SPDX-License-Identifier: GPL-2.0-only */
/* Floors and latency targets, judged: see judge.h. */
#include "core/core.h"

static bool has_floor(const struct weir_group *g)
{
	const struct weir_rates *low = &g->attr.low;

	return low->bps[0] || low->bps[1] || low->iops[0] || low->iops[1];
}

/* Without accounting nobody counts it: then the time with anything at all, and a little after. */
static uint64_t backlogged_now(const struct weir_group *g, uint64_t now)
{
	const struct weir_wait_sums *s = &g->wait_sums;

	if (!g->w->cfg.accounting)
		return weir_group_active_ns(g);
	return s->backlogged_ns +
	       (weir_wait_is_backlogged(&g->wait) ? now - s->backlogged_since_ns : 0);
}

/* How long there was something to do in that direction, in this window. */
static uint64_t asked_now(const struct weir_judge *j, unsigned int dir, uint64_t now)
{
	if (!j->nr_rqs[dir])
		return j->asked_ns[dir];
	return j->asked_ns[dir] + now - weir_max64(j->asked_since_ns[dir], j->since_ns);
}

static void window_open(struct weir_group *g, uint64_t now)
{
	struct weir_judge *j = &g->judge;
	unsigned int dir;

	j->since_ns = now;
	j->backlogged_at_ns = backlogged_now(g, now);
	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		j->bytes[dir] = 0;
		j->ios[dir] = 0;
		j->asked_ns[dir] = 0;
	}
	j->samples = 0;
	j->over = 0;
}

/* Splits what is missing to rate x length by the time that the group was backlogged. */
static void add_deficit(uint64_t rate, uint64_t got, uint64_t length_ns, uint64_t backlogged_ns,
			uint64_t *device, uint64_t *demand)
{
	uint64_t want = weir_mul_div(rate, length_ns, WEIR_NS_PER_S), missing, fault;

	if (got >= want)
		return;
	missing = want - got;
	fault = weir_mul_div(missing, backlogged_ns, length_ns);
	*device += fault;
	*demand += missing - fault;
}

static void window_close(struct weir_group *g, uint64_t now)
{
	struct weir_judge *j = &g->judge;
	uint64_t length_ns = now - j->since_ns;
	uint64_t backlogged_ns = backlogged_now(g, now) - j->backlogged_at_ns;
	unsigned int dir;

	if (length_ns && has_floor(g)) {
		j->floor_backlogged_ns += backlogged_ns;
		for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
			uint64_t fault_ns = weir_min64(backlogged_ns, asked_now(j, dir, now));

			add_deficit(g->attr.low.bps[dir], j->bytes[dir], length_ns, fault_ns,
				    &j->deficit_device_bytes, &j->deficit_demand_bytes);
			add_deficit(g->attr.low.iops[dir], j->ios[dir], length_ns, fault_ns,
				    &j->deficit_device_ios, &j->deficit_demand_ios);
		}
	}
	if (j->samples && g->attr.latency_target_ns) {
		j->latency_periods++;
		if ((uint64_t)j->over * 10 > j->samples)
			j->latency_missed++;
	}
	window_open(g, now);
}

void weir_judge_changing(struct weir_group *g, uint64_t now)
{
	if (g->judge.on)
		window_close(g, now);
}

void weir_judge_changed(struct weir_group *g, uint64_t now)
{
	bool on = has_floor(g) || g->attr.latency_target_ns;

	if (on != g->judge.on) {
		g->w->nr_judged += on ? 1 : -1;
		weir_rare_update(g->w);
		g->judge.nr_rqs[WEIR_READ] = 0;
		g->judge.nr_rqs[WEIR_WRITE] = 0;
	}
	g->judge.on = on;
	window_open(g, now);
}

void weir_judge_insert(struct weir_group *g, enum weir_dir dir)
{
	for (; g; g = g->parent)
		if (g->judge.on && !g->judge.nr_rqs[dir]++)
			g->judge.asked_since_ns[dir] = g->w->now;
}

void weir_judge_left(struct weir_group *g, enum weir_dir dir)
{
	for (; g; g = g->parent) {
		struct weir_judge *j = &g->judge;

		/* Those that were there before the judge are not known to it. */
		if (!j->on || !j->nr_rqs[dir])
			continue;
		if (j->nr_rqs[dir] == 1)
			j->asked_ns[dir] = asked_now(j, dir, g->w->now);
		j->nr_rqs[dir]--;
	}
}

void weir_judge_complete(struct weir_group *g, const struct weir_rq *rq, uint64_t now)
{
	enum weir_dir dir = weir_op_dir(rq->op);
	uint64_t latency_ns = now - rq->insert_ns;

	for (; g; g = g->parent) {
		struct weir_judge *j = &g->judge;

		if (!j->on)
			continue;
		j->bytes[dir] += weir_rq_bytes(rq);
		j->ios[dir] += 1u + rq->nr_merged;
		j->samples++;
		if (latency_ns > g->attr.latency_target_ns)
			j->over++;
		if (now - j->since_ns >= WEIR_JUDGE_WINDOW_NS)
			window_close(g, now);
	}
}

void weir_judge_read(struct weir_group *g, uint64_t now, struct weir_group_stats *out)
{
	struct weir_judge *j = &g->judge;

	if (j->on && now - j->since_ns >= 2 * WEIR_JUDGE_WINDOW_NS)
		window_close(g, now);
	out->floor_backlogged_ns = j->floor_backlogged_ns;
	out->floor_deficit_device_bytes = j->deficit_device_bytes;
	out->floor_deficit_device_ios = j->deficit_device_ios;
	out->floor_deficit_demand_bytes = j->deficit_demand_bytes;
	out->floor_deficit_demand_ios = j->deficit_demand_ios;
	out->latency_periods = j->latency_periods;
	out->latency_missed = j->latency_missed;
	out->latency_blocker = j->blocker;
}

void weir_judge_reset(struct weir_group *g, uint64_t now)
{
	struct weir_judge *j = &g->judge;

	j->floor_backlogged_ns = 0;
	j->deficit_device_bytes = 0;
	j->deficit_device_ios = 0;
	j->deficit_demand_bytes = 0;
	j->deficit_demand_ios = 0;
	j->latency_periods = 0;
	j->latency_missed = 0;
	j->blocker = -1;
	window_open(g, now);
}

void weir_judge_blocker(struct weir_group *g, int64_t blocker)
{
	g->judge.blocker = blocker;
}
