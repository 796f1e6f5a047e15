/* SPDX-License-Identifier: GPL-2.0-only */
/* Probing, what is not with every completion: see probe.h. */
#include "policy/weir/probe.h"

enum {
	SETTLE_NS = 2000000,
	/* Of a round. Five equal pairs are ERRORS_SQUARED sure. */
	PAIRS_MIN = 5,
	PAIRS_MAX = 64,
	ERRORS_SQUARED = 5,
	/* Rates are compared as parts of this. */
	LOST_ONE = 1 << 16,
	GROW_ABOVE = LOST_ONE / 256,
	GROW_WHOLE = LOST_ONE / 32,
	SHRINK_BELOW = LOST_ONE / 512,
	/* Standing epochs. */
	REST_MAX = 512,
	STRANGE_MIN = 3,
	/* Standstills: what part of the time they must cost, and at least. */
	STOOD_PART = 256,
	STOOD_LEAST_NS = 1 << 20,
	/* So many as long as before show that nothing bridges them. */
	STOOD_OFTEN = 8,
};

void wp_probe_init(struct wp *p)
{
	p->probe = (struct wp_probe){.grow = true, .since_ns = weir_now(p->w)};
	wp_update_plain(p);
	if (!p->work_rate)
		p->work_rate = UINT64_C(1) << 20;
}

/* How long it stood still, in the mean, each time weighted with what was lost in it. */
static uint64_t stood_ns(const struct wp_stood *s)
{
	return s->lost_ns >= 1024 ? weir_div64(s->squares, s->lost_ns / 1024) * 1024 : 0;
}

/* With so much more it has stood still often enough, as long each time, and as much in all. */
static bool bridges_nothing(const struct wp_probe *t)
{
	const struct wp_stood *before = &t->stood, *with = &t->stood_bridged;
	uint64_t mean_ns = stood_ns(before);

	return with->lost_ns > STOOD_OFTEN * mean_ns && stood_ns(with) > mean_ns - mean_ns / 4 &&
	       4 * (with->lost_ns / 1024) * (before->watched_ns / 1024) >
		       3 * (before->lost_ns / 1024) * (with->watched_ns / 1024);
}

/* How much more would bridge the times in which the device stood still, if they cost much. */
static uint64_t bridge_ns(const struct wp_probe *t)
{
	if (t->stood.lost_ns < STOOD_LEAST_NS ||
	    t->stood.lost_ns < t->stood.watched_ns / STOOD_PART || bridges_nothing(t))
		return 0;
	return weir_min64(stood_ns(&t->stood), WP_WINDOW_MAX_NS);
}

/* Large requests fill a window in steps: two more of them, or it might be no more at all. */
static uint64_t step_ns(const struct wp *p)
{
	return weir_max64(p->window_ns / 2, 2 * p->probe.cost_ns);
}

static uint64_t plenty_ns(const struct wp *p)
{
	return p->window_ns + weir_max64(step_ns(p), bridge_ns(&p->probe));
}

uint64_t wp_probe_window(const struct wp *p)
{
	switch (p->probe.phase) {
	case WP_PROBE_PLENTY:
		return plenty_ns(p);
	case WP_PROBE_LESS:
		return p->probe.grow ? p->window_ns : p->window_ns - weir_div64(p->window_ns, 5);
	default:
		return p->window_ns;
	}
}

static bool enabled(const struct wp *p)
{
	return weir_policy_tunable(p->w, WP_ADAPT) && !weir_policy_tunable(p->w, WP_DEPTH_US) &&
	       !weir_cfg(p->w)->profile.rotational && p->floor_squeeze == 256 &&
	       wp_latency_is_easy(p, weir_now(p->w));
}

bool wp_probe_settled(const struct wp *p)
{
	return !enabled(p) || p->probe.rest_after > 0;
}

/* What plenty was better by, beyond what is borne, as a part of LOST_ONE. */
static void count_pair(struct wp_probe *t, uint64_t plenty_rate)
{
	/* Of the larger: so that what comes and goes in both cancels out. */
	uint64_t all = weir_max64(weir_max64(plenty_rate, t->less_rate), 1);
	int64_t lost = (int64_t)weir_mul_div(plenty_rate, LOST_ONE, all) -
		       (int64_t)weir_mul_div(t->less_rate, LOST_ONE, all) -
		       (t->grow ? GROW_ABOVE : SHRINK_BELOW);

	t->pairs++;
	t->lost += lost;
	t->lost_squares += lost * lost;
}

/* The sum is so many standard errors from nothing that it won't come back. */
static bool is_sure(const struct wp_probe *t)
{
	return t->lost * t->lost >= ERRORS_SQUARED * t->lost_squares;
}

/* As many errors of the mean are less than would matter. */
static bool is_exact(const struct wp_probe *t)
{
	int64_t matters = t->pairs * (int64_t)GROW_ABOVE;

	return ERRORS_SQUARED * t->lost_squares <= matters * matters;
}

static bool is_decided(const struct wp_probe *t)
{
	return t->pairs >= PAIRS_MIN && (is_sure(t) || is_exact(t) || t->pairs == PAIRS_MAX);
}

static void round_begin(struct wp_probe *t)
{
	t->pairs = 0;
	t->lost = 0;
	t->lost_squares = 0;
}

/* Far too small: what plenty had. Else half way; and no bridge is built on a guess. */
static uint64_t grown_ns(const struct wp *p)
{
	const struct wp_probe *t = &p->probe;
	uint64_t more_ns = is_sure(t) ? plenty_ns(p) - p->window_ns : step_ns(p);

	if (t->lost < t->pairs * (int64_t)GROW_WHOLE)
		more_ns /= 2;
	return weir_min64(p->window_ns + more_ns, WP_WINDOW_MAX_NS);
}

static void decide(struct wp *p)
{
	struct wp_probe *t = &p->probe;
	uint64_t window = t->grow ? grown_ns(p) : p->window_ns - weir_div64(p->window_ns, 5);
	bool take = t->grow ? t->lost > 0 && (is_sure(t) || !is_exact(t)) : t->lost <= 0;

	if (take && window >= WP_WINDOW_MIN_NS && window != p->window_ns) {
		p->window_ns = window;
		t->rest_after = 0;
	} else {
		t->grow = !t->grow;
		t->rest_after = (uint32_t)weir_min64(4 * t->rest_after + 4, REST_MAX);
	}
	t->rest = t->rest_after;
	round_begin(t);
}

/* Again and again another rate than when the rest began: other work, so look again. */
static void notice_change(struct wp_probe *t, uint64_t rate)
{
	uint64_t off = rate > t->known_rate ? rate - t->known_rate : t->known_rate - rate;

	t->strange = off > t->known_rate / 64 ? t->strange + 1 : 0;
	if (t->strange < STRANGE_MIN)
		return;
	t->known_rate = rate;
	t->strange = 0;
	t->stood_bridged = (struct wp_stood){0};
	t->grow = true;
	t->rest = 0;
	t->rest_after = 0;
}

/* Standing epochs until the rest is over, then pairs of less and plenty. */
static void epoch_done(struct wp *p, uint64_t now)
{
	struct wp_probe *t = &p->probe;
	uint64_t rate = weir_mul_div(t->work_ns, UINT64_C(1) << 20, now - t->since_ns);

	switch (t->phase) {
	case WP_PROBE_STANDING:
		p->work_rate = (7 * p->work_rate + rate) / 8;
		if (!enabled(p))
			break;
		notice_change(t, rate);
		if (t->rest)
			t->rest--;
		else
			t->phase = WP_PROBE_LESS;
		break;
	case WP_PROBE_LESS:
		t->less_rate = rate;
		t->phase = WP_PROBE_PLENTY;
		t->bridging = bridge_ns(t) > 0;
		break;
	case WP_PROBE_PLENTY:
		count_pair(t, rate);
		t->phase = WP_PROBE_LESS;
		if (is_decided(t)) {
			t->phase = WP_PROBE_STANDING;
			decide(p);
		}
		break;
	}
}

static void epoch_begin(struct wp_probe *t, uint64_t since_ns)
{
	t->since_ns = since_ns;
	t->work_ns = 0;
	t->completions = 0;
}

/* What was in flight at the other depth has to leave, and its like to follow, before it counts. */
static uint64_t settle_ns(const struct wp *p)
{
	return weir_max64(SETTLE_NS, 2 * weir_max64(p->window_ns, p->service_ns));
}

static uint64_t epoch_ns(const struct wp *p)
{
	return weir_max64(WP_PROBE_EPOCH_NS, 4 * weir_max64(p->window_ns, p->service_ns));
}

/* It is not clean, and starts again; it may be if the depth is the limit. Returns moved. */
static bool epoch_again(struct wp *p, bool limited, bool moved, uint64_t now)
{
	p->probe.clean = limited;
	epoch_begin(&p->probe, now + settle_ns(p));
	return moved;
}

/* While there are pairs: should there be none any more? Then only standing epochs go on. */
static bool stops(struct wp *p)
{
	if (enabled(p))
		return false;
	p->probe.phase = WP_PROBE_STANDING;
	p->probe.clean = false;
	round_begin(&p->probe);
	return true;
}

/*
 * Within the time that all in flight takes the device should have been through with it. If nothing
 * came for longer, then none of it could go on.
 */
static void stood(struct wp *p, struct wp_stood *s, uint64_t gap_ns)
{
	uint64_t work_ns = p->window_ns + p->probe.cost_ns, lost_1024;

	if (s->watched_ns > WP_PROBE_MEMORY_NS) {
		s->watched_ns /= 2;
		s->lost_ns /= 2;
		s->squares /= 2;
	}
	if (gap_ns <= work_ns)
		return;
	work_ns = weir_mul_div(work_ns, UINT64_C(1) << 20, weir_max64(p->work_rate, 1));
	if (gap_ns <= work_ns)
		return;
	/* A device that hangs for an hour must not overflow the squares. */
	lost_1024 = weir_min64(gap_ns - work_ns, WP_PROBE_MEMORY_NS) / 1024;
	s->lost_ns += lost_1024 * 1024;
	s->squares += lost_1024 * lost_1024;
}

static void watch(struct wp *p, struct wp_stood *s, uint64_t gap_ns)
{
	s->watched_ns += gap_ns;
	if (weir_unlikely(s->watched_ns > WP_PROBE_MEMORY_NS ||
			  gap_ns > p->window_ns + p->probe.cost_ns))
		stood(p, s, gap_ns);
}

static bool complete(struct wp *p, uint64_t cost_ns, uint64_t now)
{
	struct wp_probe *t = &p->probe;
	uint64_t gap_ns = now - t->last_ns;
	/*
	 * The depth is the limit while something waits: now, or since the last completion until its
	 * time came (two merged requests may be all there is).
	 */
	bool limited = weir_policy_queued(p->w) || p->held;

	p->held = false;
	t->last_ns = now;
	if (limited && t->clean) {
		if (t->phase != WP_PROBE_PLENTY)
			watch(p, &t->stood, gap_ns);
		else if (t->bridging && t->completions)
			watch(p, &t->stood_bridged, gap_ns);
	}
	if (t->phase != WP_PROBE_STANDING && stops(p))
		return epoch_again(p, limited, true, now);
	if (!limited || !t->clean)
		return epoch_again(p, limited, false, now);
	if (wp_probe_settles(t, now))
		return false;
	wp_probe_count(t, cost_ns, now);
	if (t->completions >= WP_PROBE_COMPLETIONS && now - t->since_ns >= epoch_ns(p)) {
		epoch_done(p, now);
		epoch_begin(t, now + settle_ns(p));
		return true;
	}
	return t->phase == WP_PROBE_PLENTY; /* which goes by cost_ns */
}

bool wp_probe_complete(struct wp *p, uint64_t cost_ns, uint64_t now)
{
	bool moved = complete(p, cost_ns, now);

	wp_update_plain(p);
	return moved;
}
