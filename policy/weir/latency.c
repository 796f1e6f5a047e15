/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Latency targets: io.latency.
 *
 * The target is the 90th percentile of insert-to-completion. What a group that asks within its
 * share waits for is in the device already, so the means is the depth: when more than a tenth of a
 * period's completions took longer than the target, the window is squeezed by a quarter; when less
 * than a twentieth did, and nobody missed lately, it recovers slowly. So the lowest cost in
 * throughput at which the target holds is found from above. It recovers as slowly when nobody with
 * a target asks for anything: the others do not pay for an idle group.
 *
 * Squeezed to the least and still missed means that the target can't hold: then the group that was
 * dispatched most device time in the last period stands in the way, and is named.
 */
#include "core/judge.h"
#include "policy/weir/internal.h"

enum {
	SQUEEZE_NONE = 256,
	SQUEEZE_MIN = 8,
	RECOVER_STEP = 4,
};

void wp_latency_init(struct wp *p)
{
	p->squeeze = SQUEEZE_NONE;
}

static void set_target(struct wp *p, struct wp_latency *l, bool has)
{
	if (has == l->has)
		return;
	l->has = has;
	l->since_ns = weir_now(p->w);
	l->samples = 0;
	l->over = 0;
	if (has)
		p->nr_targets++;
	else if (!--p->nr_targets)
		p->squeeze = SQUEEZE_NONE;
}

void wp_latency_changed(struct wp *p, struct weir_group *g)
{
	set_target(p, &wp_group(g)->latency, g->attr.latency_target_ns > 0);
}

void wp_latency_offline(struct wp *p, struct weir_group *g)
{
	set_target(p, &wp_group(g)->latency, false);
	if (p->hog == g)
		p->hog = NULL;
}

void wp_latency_start(struct wp *p, struct weir_group *g, uint64_t cost_ns)
{
	struct wp_group *pg = wp_group(g);

	if (pg->period != p->period) {
		pg->period = p->period;
		pg->period_work_ns = 0;
	}
	pg->period_work_ns += cost_ns;
	if (pg->period_work_ns > p->hog_work_ns) {
		p->hog_work_ns = pg->period_work_ns;
		p->hog = g;
	}
}

static void recover(struct wp *p)
{
	p->squeeze += RECOVER_STEP;
	if (p->squeeze > SQUEEZE_NONE)
		p->squeeze = SQUEEZE_NONE;
}

/* Nobody with a target has completed anything for a while. One step a period. */
static void recover_unasked(struct wp *p, uint64_t now)
{
	if (now - p->last_sample_ns <= WP_LATENCY_CALM_NS ||
	    now - p->last_recovery_ns < WP_LATENCY_PERIOD_NS)
		return;
	p->last_recovery_ns = now;
	recover(p);
}

static void period_end(struct wp *p, struct weir_group *g, uint64_t now)
{
	struct wp_latency *l = &wp_group(g)->latency;

	if ((uint64_t)l->over * 10 > l->samples) {
		if (p->squeeze <= SQUEEZE_MIN)
			weir_judge_blocker(g, p->hog ? (int64_t)p->hog->id : -1);
		p->squeeze = p->squeeze - p->squeeze / 4;
		if (p->squeeze < SQUEEZE_MIN)
			p->squeeze = SQUEEZE_MIN;
		p->last_miss_ns = now;
	} else if ((uint64_t)l->over * 20 <= l->samples) {
		weir_judge_blocker(g, -1);
		if (now - p->last_miss_ns > WP_LATENCY_CALM_NS)
			recover(p);
	}
	l->since_ns = now;
	l->samples = 0;
	l->over = 0;
	p->period++;
	p->hog = NULL;
	p->hog_work_ns = 0;
}

void wp_latency_complete(struct wp *p, struct weir_rq *rq, uint64_t now)
{
	struct weir_group *g;

	for (g = rq->group; g; g = g->parent) {
		struct wp_latency *l = &wp_group(g)->latency;

		if (!l->has)
			continue;
		p->last_sample_ns = now;
		l->samples++;
		if (now - rq->insert_ns > g->attr.latency_target_ns)
			l->over++;
		if (now - l->since_ns >= WP_LATENCY_PERIOD_NS && l->samples >= WP_LATENCY_SAMPLES)
			period_end(p, g, now);
	}
	if (weir_unlikely(p->squeeze < SQUEEZE_NONE))
		recover_unasked(p, now);
}
