/* SPDX-License-Identifier: GPL-2.0-only */
/* Probing, what is not with every completion: see probe.h. */
#include "policy/weir/probe.h"

enum {
	EPOCH_NS = 10000000,
	SETTLE_NS = 2000000,
	PAIRS = 8,
	GROW_MIN = 6,
	SHRINK_MAX = 2,
	REST_MAX = 512,
	STRANGE_MIN = 3,
};

void wp_probe_init(struct wp *p)
{
	p->probe = (struct wp_probe){.since_ns = weir_now(p->w)};
	if (!p->work_rate)
		p->work_rate = UINT64_C(1) << 20;
}

/* Large requests fill a window in steps: two more of them, or plenty might be no more at all. */
static uint64_t plenty_ns(const struct wp *p)
{
	return p->window_ns + weir_max64(p->window_ns / 2, 2 * p->probe.cost_ns);
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

static void decide(struct wp *p)
{
	struct wp_probe *t = &p->probe;
	/* All pairs lost: far too small, so take what plenty had. */
	uint64_t more = (plenty_ns(p) - p->window_ns) >> (t->lost == PAIRS ? 0 : 1);
	uint64_t window = t->grow ? p->window_ns + more
				  : p->window_ns - weir_div64(p->window_ns, 5);
	bool take = t->grow ? t->lost >= GROW_MIN : t->lost <= SHRINK_MAX;

	if (take && window >= WP_WINDOW_MIN_NS && window <= WP_WINDOW_MAX_NS) {
		p->window_ns = window;
		t->rest_after = 0;
	} else {
		t->grow = !t->grow;
		t->rest_after = t->rest_after < REST_MAX ? 2 * t->rest_after + 4 : REST_MAX;
	}
	t->rest = t->rest_after;
	t->pairs = 0;
	t->lost = 0;
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
		break;
	case WP_PROBE_PLENTY:
		if (rate > t->less_rate + (t->less_rate >> (t->grow ? 8 : 9)))
			t->lost++;
		t->phase = WP_PROBE_LESS;
		if (++t->pairs == PAIRS) {
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
	return weir_max64(EPOCH_NS, 4 * weir_max64(p->window_ns, p->service_ns));
}

bool wp_probe_epoch_end(struct wp *p, uint64_t now)
{
	if (now - p->probe.since_ns < epoch_ns(p))
		return p->probe.phase == WP_PROBE_PLENTY; /* which goes by cost_ns */
	epoch_done(p, now);
	epoch_begin(&p->probe, now + settle_ns(p));
	return true;
}

bool wp_probe_epoch_again(struct wp *p, bool moved, uint64_t now)
{
	p->probe.clean = p->nr_queued > 0;
	epoch_begin(&p->probe, now + settle_ns(p));
	return moved;
}

bool wp_probe_stops(struct wp *p)
{
	if (enabled(p))
		return false;
	p->probe.phase = WP_PROBE_STANDING;
	p->probe.clean = false;
	return true;
}
