/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probing: the smallest window at which the device runs at its peak.
 *
 * No model knows it: it depends on the mix of requests. So epochs at the standing window alternate
 * with epochs at a trial one, a quarter larger or a fifth smaller in turn, and each pair is compared
 * by the work that was completed per time. Only clean epochs count: those in which the depth was the
 * limit all through.
 *
 *	larger:	 taken if it was better by 1/128 in at least 6 of 8 pairs
 *	smaller: taken if it was worse by 1/256 in at most 2 of 8 pairs
 *
 * So a peak that is noise is not climbed, and a window that buys nothing is given back. An epoch lasts
 * EPOCH_NS and at least EPOCH_COMPLETIONS, after SETTLE_NS uncounted. A round of 8 pairs takes about
 * 0.2 s on a fast device. Rounds that change nothing come after longer and longer rests, so that
 * looking costs nearly nothing where there is nothing to find.
 *
 * The work completed per time in clean epochs is also the slow factor: work_rate, of which floors
 * learn how much device time there is.
 */
#include "policy/weir/internal.h"

enum {
	EPOCH_NS = 10000000,
	SETTLE_NS = 2000000,
	EPOCH_COMPLETIONS = 128,
	PAIRS = 8,
	BETTER_MIN = 6,
	WORSE_MAX = 2,
	REST_MAX = 256,
};

void wp_probe_init(struct wp *p)
{
	p->probe = (struct wp_probe){.since_ns = weir_now(p->w)};
	if (!p->work_rate)
		p->work_rate = UINT64_C(1) << 20;
}

static uint64_t trial_window(const struct wp *p)
{
	return p->probe.up ? p->window_ns + p->window_ns / 4 : p->window_ns - p->window_ns / 5;
}

uint64_t wp_probe_window(const struct wp *p)
{
	return p->probe.trying ? trial_window(p) : p->window_ns;
}

static bool enabled(const struct wp *p)
{
	return weir_policy_tunable(p->w, WP_ADAPT) && !weir_policy_tunable(p->w, WP_DEPTH_US) &&
	       !weir_cfg(p->w)->profile.rotational && p->squeeze == 256;
}

static void decide(struct wp *p)
{
	struct wp_probe *t = &p->probe;
	uint64_t window = trial_window(p);
	bool take = t->up ? t->better >= BETTER_MIN : t->worse <= WORSE_MAX;

	if (take && window >= WP_WINDOW_MIN_NS && window <= WP_WINDOW_MAX_NS) {
		p->window_ns = window;
		t->rest_after = 0;
	} else {
		t->up = !t->up;
		t->rest_after = t->rest_after < REST_MAX ? 2 * t->rest_after + 4 : REST_MAX;
	}
	t->rest = t->rest_after;
	t->pairs = 0;
	t->better = 0;
	t->worse = 0;
}

static void pair_done(struct wp *p, uint64_t rate)
{
	struct wp_probe *t = &p->probe;

	if (rate > t->base_rate + t->base_rate / 128)
		t->better++;
	if (t->base_rate > rate + rate / 256)
		t->worse++;
	if (++t->pairs == PAIRS)
		decide(p);
}

static void epoch_done(struct wp *p, uint64_t now)
{
	struct wp_probe *t = &p->probe;
	uint64_t rate = weir_mul_div(t->work_ns, UINT64_C(1) << 20, now - t->since_ns);

	if (!t->trying) {
		t->base_rate = rate;
		p->work_rate = (7 * p->work_rate + rate) / 8;
		if (t->rest)
			t->rest--;
		else
			t->trying = true;
	} else {
		t->trying = false;
		pair_done(p, rate);
	}
}

void wp_probe_complete(struct wp *p, uint64_t cost_ns, uint64_t now)
{
	struct wp_probe *t = &p->probe;

	if (!enabled(p)) {
		t->trying = false;
		t->clean = false;
		return;
	}
	/* The depth is the limit while something waits. An epoch that is not clean starts again. */
	if (!p->nr_queued || !t->clean) {
		t->clean = p->nr_queued > 0;
		t->since_ns = now + SETTLE_NS;
		t->work_ns = 0;
		t->completions = 0;
		return;
	}
	if ((int64_t)(now - t->since_ns) < 0)
		return;
	if (!t->completions)
		t->since_ns = now; /* from one completion to another */
	else
		t->work_ns += cost_ns;
	if (++t->completions < EPOCH_COMPLETIONS || now - t->since_ns < EPOCH_NS)
		return;
	epoch_done(p, now);
	t->since_ns = now + SETTLE_NS;
	t->work_ns = 0;
	t->completions = 0;
}
