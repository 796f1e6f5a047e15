/* SPDX-License-Identifier: GPL-2.0-only */
/* Depth, what is rare: see depth.h. */
#include "policy/weir/depth.h"
#include "policy/weir/stagger.h"

void wp_depth_init(struct wp *p)
{
	const struct weir_profile *profile = &weir_cfg(p->w)->profile;

	p->window_ns = profile->knee_ns ? profile->knee_ns : WP_WINDOW_START_NS;
	p->window_ns = weir_min64(p->window_ns, WP_WINDOW_MAX_NS);
	p->window_ns = weir_max64(p->window_ns, WP_WINDOW_MIN_NS);
	p->service_ns = profile->latency_ns ? profile->latency_ns : p->window_ns;
	if (!p->in_flight.next) {
		list_init(&p->in_flight);
		list_init(&p->stuck);
	}
	p->stagger = (struct wp_stagger){0};
	wp_probe_init(p);
	wp_depth_update(p);
}

/* Takes out of the budget what has been in flight for too long. O(1) amortised. */
static void find_stuck(struct wp *p, uint64_t now)
{
	while (p->nr_in_flight && p->nr_stuck < WP_STUCK_MAX) {
		struct weir_rq *rq = list_first(&p->in_flight, struct weir_rq, link);

		if (now - rq->dispatch_ns < wp_depth_stuck_after_ns(p, rq->cost_ns))
			break;
		list_unlink(&rq->link);
		list_push_back(&p->stuck, &rq->link);
		wp_rq(rq)->stuck = true;
		p->nr_in_flight--;
		p->nr_stuck++;
		p->in_flight_ns -= rq->cost_ns;
		p->progress_ns = now;
	}
}

static uint64_t stuck_deadline_ns(const struct wp *p)
{
	const struct weir_rq *rq = list_first(&p->in_flight, struct weir_rq, link);

	if (p->nr_stuck >= WP_STUCK_MAX)
		return WEIR_NEVER;
	return rq->dispatch_ns + wp_depth_stuck_after_ns(p, rq->cost_ns);
}

/* The standing or trial window, or a fixed one. */
static uint64_t base_window_ns(const struct wp *p)
{
	uint64_t fixed_us = weir_policy_tunable(p->w, WP_DEPTH_US);

	if (fixed_us)
		return fixed_us * WEIR_NS_PER_US;
	if (weir_cfg(p->w)->profile.rotational)
		return p->squeeze < 256 || p->floor_squeeze < 256 ? WP_WINDOW_DISK_NS
								  : WEIR_NEVER >> 16;
	return wp_probe_window(p);
}

/* window x squeeze / 256, without overflow. */
static uint64_t squeezed_ns(uint64_t window, uint32_t squeeze)
{
	return window / 256 * squeeze + window % 256 * squeeze / 256;
}

void wp_depth_update(struct wp *p)
{
	uint64_t base = base_window_ns(p);

	p->unsqueezed_ns = p->floor_reference ? base + base / 2
					      : squeezed_ns(base, p->floor_squeeze);
	p->full_ns = squeezed_ns(p->unsqueezed_ns, p->squeeze);
	p->open_ns = wp_stagger_is_on(p) ? 0 : p->full_ns;
}

/* There is room, but they go one by one. */
static bool is_too_soon(struct wp *p, uint64_t window, uint64_t now, uint64_t *at_ns)
{
	uint64_t next_ns;

	if (!wp_stagger_is_on(p) || !p->nr_in_flight)
		return false;
	if (p->in_flight_ns >= window) {
		wp_stagger_filled(p);
		return false;
	}
	next_ns = wp_stagger_next(p, now);
	if (now >= next_ns)
		return false;
	*at_ns = next_ns;
	p->held = true;
	return true;
}

bool wp_depth_open_full(struct wp *p, bool owed, uint64_t now, uint64_t *at_ns, bool *squeezed)
{
	uint64_t window = wp_depth_window_ns(p, owed), done_ns = 0, oldest_ns;

	if (is_too_soon(p, window, now, at_ns))
		return false;
	find_stuck(p, now);
	if (!p->nr_in_flight || p->in_flight_ns < window)
		return true;
	oldest_ns = list_first(&p->in_flight, struct weir_rq, link)->cost_ns;
	if (oldest_ns * 2 > window) {
		done_ns = weir_min64(now - p->progress_ns, oldest_ns);
		if (p->in_flight_ns - done_ns < window)
			return true;
		if (p->in_flight_ns - oldest_ns < window)
			*at_ns = p->progress_ns + (p->in_flight_ns - window) + 1;
	}
	*at_ns = weir_min64(*at_ns, stuck_deadline_ns(p));
	*squeezed = p->squeeze < 256 && p->in_flight_ns - done_ns < p->unsqueezed_ns;
	p->held = true;
	return false;
}
