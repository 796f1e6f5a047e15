// SPDX-License-Identifier: GPL-2.0-only
/* A result: giving it back, and the figures that both reports derive from it. */
#include <stdlib.h>

#include "core/fixed.h"
#include "lab/result.h"

static void free_meters(struct lab_meter **meter)
{
	unsigned int dir;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++)
		free(meter[dir]);
}

static void free_phase(struct lab_phase_result *p)
{
	unsigned int i;

	for (i = 0; p->group && i < p->nr_groups; i++)
		free_meters(p->group[i].meter);
	free(p->group);
}

void lab_sim_result_free(struct lab_sim_result *r)
{
	unsigned int i;

	if (!r)
		return;
	for (i = 0; r->job && i < r->nr_jobs; i++) {
		free_meters(r->job[i].meter);
		free(r->job[i].sync);
	}
	free(r->job);
	free_phase(&r->whole);
	for (i = 0; r->phase && i < r->nr_phases; i++)
		free_phase(&r->phase[i]);
	free(r->phase);
	for (i = 0; i < r->nr_notes; i++)
		free(r->note[i]);
	free(r->note);
	free(r->device);
	free(r);
}

uint64_t lab_meters_ios(struct lab_meter *const *meter)
{
	uint64_t sum = 0;
	unsigned int dir;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++)
		sum += meter[dir] ? meter[dir]->ios : 0;
	return sum;
}

uint64_t lab_meters_bytes(struct lab_meter *const *meter)
{
	uint64_t sum = 0;
	unsigned int dir;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++)
		sum += meter[dir] ? meter[dir]->bytes : 0;
	return sum;
}

uint64_t lab_per_second(uint64_t n, uint64_t span_ns)
{
	return span_ns ? weir_mul_div(n, WEIR_NS_PER_S, span_ns) : 0;
}

bool lab_floor_met(const struct lab_group_result *g, uint64_t span_ns)
{
	const struct weir_rates *low = &g->attr.low;
	uint64_t bps = low->bps[WEIR_READ] + low->bps[WEIR_WRITE];
	uint64_t iops = low->iops[WEIR_READ] + low->iops[WEIR_WRITE];

	return g->stats.floor_deficit_device_bytes <=
		       weir_mul_div(bps, span_ns, 100 * WEIR_NS_PER_S) &&
	       g->stats.floor_deficit_device_ios <=
		       weir_mul_div(iops, span_ns, 100 * WEIR_NS_PER_S);
}

bool lab_target_met(const struct weir_group_stats *s)
{
	if (!s->latency_periods)
		return !s->backlogged_ns;
	return s->latency_missed * 10 <= s->latency_periods;
}

uint64_t lab_device_ns(const struct weir_group_stats *s)
{
	return s->dir[WEIR_READ].device_ns + s->dir[WEIR_WRITE].device_ns;
}

uint64_t lab_merges(const struct lab_phase_result *p)
{
	const struct weir_group_stats *root = &p->group[0].stats;

	return root->dir[WEIR_READ].merged + root->dir[WEIR_WRITE].merged + p->host.plug_merges;
}

bool lab_demand_limited(const struct lab_phase_result *p, const struct lab_group_result *g)
{
	const struct weir_group_stats *s = &g->stats;
	uint64_t all_ns = lab_device_ns(&p->group[0].stats), got_ns, asked_ns;

	/* Shares of what was given out, on the scale of the time in use. */
	got_ns = all_ns ? weir_mul_div(lab_device_ns(s), s->in_use_ns, all_ns) : 0;
	asked_ns = s->backlogged_ns - s->wait_ns[WEIR_WAIT_CEILING];
	return got_ns < weir_mul_div(s->entitled_ns, 99, 100) &&
	       asked_ns < weir_mul_div(s->in_use_ns, 90, 100);
}

unsigned int lab_dominant_wait(const struct weir_group_stats *s)
{
	unsigned int cause, best = WEIR_NR_WAITS;

	for (cause = 0; cause < WEIR_NR_WAITS; cause++)
		if (s->wait_ns[cause] &&
		    (best == WEIR_NR_WAITS || s->wait_ns[cause] > s->wait_ns[best]))
			best = cause;
	return best;
}

bool lab_group_is_quiet(const struct lab_group_result *g)
{
	return !lab_meters_ios(g->meter) && !lab_device_ns(&g->stats) && !g->stats.backlogged_ns;
}
