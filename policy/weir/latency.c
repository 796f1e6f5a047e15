/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Latency targets: io.latency.
 *
 * The target is the 90th percentile of insert-to-completion. What a group that asks within its
 * share waits for is in the device already, so the means is the depth: when more than a tenth of a
 * period's completions took longer than the target, the window is squeezed by a quarter; when less
 * than a twentieth did, and nobody missed lately, it recovers: soon to just below where it was
 * missed last (the edge), and from there by 1/256 a second, then 2, 4 and so on. So the lowest cost
 * in throughput at which the target holds is found from above, without missing it again and again.
 * When nobody with a target asks for anything it recovers all the way: the others do not pay for an
 * idle group.
 *
 * Squeezed to the least and still missed means that the target can't hold: then the group that was
 * dispatched most device time in the last period stands in the way, and is named.
 *
 * Depth shortens the time in the device only. A group that asks for more than its share, or than
 * its ceiling, waits for its turn at any depth, and squeezing for it would cost the others, and in
 * the end itself, everything. So every squeeze is a trial: when the depth has come down to a half,
 * the group's mean latency must have come down as well; in the first trial, from the whole depth,
 * by a sixteenth, in proportion if the depth is less than a half. If it hasn't, what was squeezed
 * in the trial is given back, and the group tries again after a while. If that was the first trial,
 * the group is itself in the way.
 */
#include "core/judge.h"
#include "policy/weir/internal.h"

enum {
	SQUEEZE_NONE = 256,
	SQUEEZE_MIN = 8,
	RECOVER_STEP = 4,
	EDGE_NONE = 2 * SQUEEZE_NONE,
	CREEP_NS = 1000000000,
	CREEP_MAX = 32,
	/* Of a trial: samples before it is judged, of a slow group; and what must be gained. */
	TRIAL_SAMPLES = 64,
	TRIAL_SAMPLES_MIN = 8,
	TRIAL_PART = 8,
	/* So many missed that even a whole period of others within could not make it a tenth. */
	OVER_ENOUGH = WP_LATENCY_SAMPLES / 10 + 1,
};

void wp_latency_init(struct wp *p)
{
	list_init(&p->targets);
	p->squeeze = SQUEEZE_NONE;
	p->squeeze_edge = EDGE_NONE;
}

static void period_begin(struct wp_latency *l, uint64_t now)
{
	l->since_ns = now;
	l->samples = 0;
	l->over = 0;
	l->near = 0;
}

static void set_target(struct wp *p, struct wp_latency *l, bool has)
{
	if (has == l->has)
		return;
	l->has = has;
	period_begin(l, weir_now(p->w));
	l->mean_ns = 0;
	if (has) {
		p->last_near_ns = l->since_ns;
		list_push_back(&p->targets, &l->link);
		p->nr_targets++;
		wp_update_plain(p);
		return;
	}
	list_unlink(&l->link);
	p->nr_targets--;
	wp_update_plain(p);
	if (p->nr_targets)
		return;
	p->squeeze = SQUEEZE_NONE;
	p->squeeze_edge = EDGE_NONE;
}

void wp_latency_changed(struct wp *p, struct weir_group *g)
{
	struct wp_latency *l = &wp_group(g)->latency;

	set_target(p, l, g->attr.latency_target_ns > 0);
	/* What was in vain for one target need not be for another. */
	l->trial_squeeze = 0;
	l->vain_until_ns = 0;
	l->vain_ns = 0;
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

static bool is_in_vain(const struct wp_latency *l, uint64_t now)
{
	return now < l->vain_until_ns;
}

static void begin_trial(const struct wp *p, struct wp_latency *l)
{
	l->trial_squeeze = p->squeeze;
	l->trial_mean_ns = l->mean_ns;
}

/* The mean is taken at the depth of now. */
static void begin_samples(struct wp_latency *l, uint64_t now)
{
	l->trial_samples = 0;
	l->trial_sum_ns = 0;
	l->trial_since_ns = now;
}

static bool has_samples(const struct wp_latency *l, uint64_t now)
{
	return l->trial_samples >= TRIAL_SAMPLES ||
	       (l->trial_samples >= TRIAL_SAMPLES_MIN &&
		now - l->trial_since_ns >= WP_LATENCY_TRIAL_NS);
}

/* Somebody else's target may hold because of the squeeze. */
static bool others_need_it(const struct wp *p, const struct wp_latency *l, uint64_t now)
{
	const struct wp_group *pg;

	list_for_each(pg, &p->targets, struct wp_group, latency.link)
		if (&pg->latency != l && !is_in_vain(&pg->latency, now) &&
		    weir_group_is_active(pg->g))
			return true;
	return false;
}

static void give_up(struct wp *p, struct wp_latency *l, uint64_t now)
{
	/* In vain from the start: it is its own share. In vain after gains: others fill the rest. */
	l->is_own_fault = l->trial_squeeze == SQUEEZE_NONE;
	p->squeeze = l->trial_squeeze;
	/* Again in vain: what was gained once may be lost for nothing by now. */
	if (l->vain_ns && !others_need_it(p, l, now))
		p->squeeze = p->squeeze < SQUEEZE_NONE / 2 ? 2 * p->squeeze : SQUEEZE_NONE;
	p->squeeze_edge = EDGE_NONE;
	l->trial_squeeze = 0;
	l->vain_ns = l->vain_ns ? 2 * l->vain_ns : WP_LATENCY_VAIN_MIN_NS;
	l->vain_ns = weir_min64(l->vain_ns, WP_LATENCY_VAIN_MAX_NS);
	l->vain_until_ns = now + l->vain_ns;
}

/* Has the trial, which has come to half the depth, brought the group's latency down? */
static bool has_gained(const struct wp *p, const struct wp_latency *l)
{
	uint64_t most_ns = l->trial_mean_ns;

	if (l->trial_squeeze == SQUEEZE_NONE)
		most_ns -= weir_mul_div(l->trial_mean_ns, l->trial_squeeze - p->squeeze,
					(uint64_t)l->trial_squeeze * TRIAL_PART);
	return weir_div64(l->trial_sum_ns, l->trial_samples) <= most_ns;
}

static void name_blocker(struct weir_group *g, const struct weir_group *blocker)
{
	weir_judge_blocker(g, blocker ? (int64_t)blocker->id : -1);
}

static void squeeze(struct wp *p, struct wp_latency *l, uint64_t now)
{
	p->squeeze_edge = p->squeeze;
	p->squeeze -= p->squeeze / 4;
	if (p->squeeze < SQUEEZE_MIN)
		p->squeeze = SQUEEZE_MIN;
	p->last_creep_ns = now;
	p->creep = 1;
	begin_samples(l, now);
}

/* Step by step to half the depth; there it is seen whether it helps, before it goes on. */
static void missed(struct wp *p, struct weir_group *g, uint64_t now)
{
	struct wp_latency *l = &wp_group(g)->latency;

	if (is_in_vain(l, now)) {
		name_blocker(g, l->is_own_fault ? g : p->hog);
		return;
	}
	p->last_miss_ns = now;
	if (!l->trial_squeeze)
		begin_trial(p, l);
	if (p->squeeze * 2 <= l->trial_squeeze || p->squeeze <= SQUEEZE_MIN) {
		if (!has_samples(l, now))
			return;
		if (!has_gained(p, l)) {
			give_up(p, l, now);
			name_blocker(g, l->is_own_fault ? g : p->hog);
			return;
		}
		l->vain_ns = 0;
		begin_trial(p, l);
	}
	if (p->squeeze <= SQUEEZE_MIN)
		name_blocker(g, p->hog);
	squeeze(p, l, now);
}

static void widen(struct wp *p, uint32_t step)
{
	p->squeeze = p->squeeze + step < SQUEEZE_NONE ? p->squeeze + step : SQUEEZE_NONE;
}

static void recover(struct wp *p, uint64_t now)
{
	if (p->squeeze + RECOVER_STEP <= p->squeeze_edge - p->squeeze_edge / 16) {
		widen(p, RECOVER_STEP);
	} else if (now - p->last_creep_ns >= CREEP_NS) {
		widen(p, p->creep);
		p->last_creep_ns = now;
		if (p->creep < CREEP_MAX)
			p->creep *= 2;
	}
}

static bool anybody_asks(const struct wp *p)
{
	const struct wp_group *pg;

	list_for_each(pg, &p->targets, struct wp_group, latency.link)
		if (weir_group_is_active(pg->g))
			return true;
	return false;
}

/* Nobody with a target has asked for anything for a while. One step a period. */
static void recover_unasked(struct wp *p, uint64_t now)
{
	if (now - p->last_sample_ns <= WP_LATENCY_CALM_NS ||
	    now - p->last_recovery_ns < WP_LATENCY_PERIOD_NS || anybody_asks(p))
		return;
	p->last_recovery_ns = now;
	widen(p, RECOVER_STEP);
}

static void period_end(struct wp *p, struct weir_group *g, uint64_t now)
{
	struct wp_latency *l = &wp_group(g)->latency;

	if ((uint64_t)l->near * 10 > l->samples && !is_in_vain(l, now))
		p->last_near_ns = now;
	if ((uint64_t)l->over * 10 > l->samples) {
		missed(p, g, now);
	} else if ((uint64_t)l->over * 20 <= l->samples) {
		l->trial_squeeze = 0;
		weir_judge_blocker(g, -1);
		if (now - p->last_miss_ns > WP_LATENCY_CALM_NS)
			recover(p, now);
	}
	period_begin(l, now);
	p->period++;
	p->hog = NULL;
	p->hog_work_ns = 0;
}

static void count(struct wp_latency *l, uint64_t target_ns, uint64_t took_ns)
{
	l->samples++;
	l->over += took_ns > target_ns;
	l->near += took_ns > target_ns / 2;
	/* One stall is no trend. */
	if (l->mean_ns)
		took_ns = weir_min64(took_ns, 4 * l->mean_ns);
	l->trial_samples++;
	l->trial_sum_ns += took_ns;
	l->mean_ns = l->mean_ns ? l->mean_ns - l->mean_ns / 16 + took_ns / 16 : took_ns;
}

bool wp_latency_is_easy(const struct wp *p, uint64_t now)
{
	return !p->nr_targets ||
	       (p->squeeze == SQUEEZE_NONE && now - p->last_near_ns >= WP_LATENCY_EASY_NS);
}

void wp_latency_complete(struct wp *p, struct weir_rq *rq, uint64_t now)
{
	struct weir_group *g;

	for (g = rq->group; g; g = g->parent) {
		struct wp_latency *l = &wp_group(g)->latency;

		if (!l->has)
			continue;
		p->last_sample_ns = now;
		count(l, g->attr.latency_target_ns, now - rq->insert_ns);
		if (now - l->since_ns >= WP_LATENCY_PERIOD_NS &&
		    (l->samples >= WP_LATENCY_SAMPLES || l->over >= OVER_ENOUGH))
			period_end(p, g, now);
	}
	if (weir_unlikely(p->squeeze < SQUEEZE_NONE))
		recover_unasked(p, now);
}
