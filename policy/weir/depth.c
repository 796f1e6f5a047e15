/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Depth: how much work is in flight, in device time.
 *
 * What waits in the device waits without order: no share, no target and no floor can reach it. So
 * only so much is in flight as keeps the device at its peak: the window, a device time, from the
 * profile's knee and then learned (probe.c). A count would not do: thread 003 needs more than one
 * 128 KiB read in flight and less than two.
 *
 *	work left = sum of the costs in flight - what the device did since the last completion
 *
 * One more goes while the work left is below the window. The second term matters for large requests
 * only: it lets the next go a little before the previous one is done. It is anchored at each
 * completion, so that an error of the model does not add up.
 *
 * A request that takes much longer than its like is stuck: a die is busy with an erase, say. It no
 * longer counts, so that it does not hold the place of those that the device could serve; up to a
 * number, or a device that is slow as a whole would be flooded. What is usual is learned from them
 * too, but not more of it than makes one stuck: so a device that becomes slow is found to be, and
 * one stalled request tells little.
 *
 * Rotational devices order by themselves and need all they can get to do so: there only a latency
 * target limits the depth, beginning with what fills a disk's own queue.
 */
#include "policy/weir/internal.h"

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
	wp_probe_init(p);
	wp_depth_update(p);
}

/* A large request takes its time among small ones. */
static uint64_t stuck_after_ns(const struct wp *p, uint64_t cost_ns)
{
	return weir_max64(WP_STUCK_FACTOR * weir_max64(p->service_ns, p->window_ns),
			  p->service_ns + cost_ns);
}

/* Takes out of the budget what has been in flight for too long. O(1) amortised. */
static void find_stuck(struct wp *p, uint64_t now)
{
	while (p->nr_in_flight && p->nr_stuck < WP_STUCK_MAX) {
		struct wp_rq *pr = list_first(&p->in_flight, struct wp_rq, link);
		struct weir_rq *rq = weir_container_of((uint64_t *)pr, struct weir_rq, policy);

		if (now - rq->dispatch_ns < stuck_after_ns(p, pr->cost_ns))
			break;
		list_unlink(&pr->link);
		list_push_back(&p->stuck, &pr->link);
		pr->stuck = true;
		p->nr_in_flight--;
		p->nr_stuck++;
		p->in_flight_ns -= pr->cost_ns;
		p->progress_ns = now;
	}
}

static uint64_t stuck_deadline_ns(const struct wp *p)
{
	const struct wp_rq *pr = list_first(&p->in_flight, struct wp_rq, link);
	const struct weir_rq *rq = weir_container_of((const uint64_t *)pr, struct weir_rq, policy);

	if (p->nr_stuck >= WP_STUCK_MAX)
		return WEIR_NEVER;
	return rq->dispatch_ns + stuck_after_ns(p, pr->cost_ns);
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
	p->open_ns = squeezed_ns(p->unsqueezed_ns, p->squeeze);
}

bool wp_depth_open(struct wp *p, bool owed, uint64_t now, uint64_t *at_ns, bool *squeezed)
{
	uint64_t window = owed ? (1 + WP_OWED_WINDOWS) * p->open_ns : p->open_ns;
	uint64_t done_ns = 0, oldest_ns;

	*at_ns = WEIR_NEVER;
	*squeezed = false;
	if (p->in_flight_ns < window || !p->nr_in_flight)
		return true;
	find_stuck(p, now);
	if (!p->nr_in_flight || p->in_flight_ns < window)
		return true;
	oldest_ns = list_first(&p->in_flight, struct wp_rq, link)->cost_ns;
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

void wp_depth_start(struct wp *p, struct weir_rq *rq, uint64_t now)
{
	struct wp_rq *pr = wp_rq(rq);

	pr->cost_ns = rq->cost_ns;
	pr->stuck = false;
	if (!p->nr_in_flight)
		p->progress_ns = now;
	list_push_back(&p->in_flight, &pr->link);
	p->nr_in_flight++;
	p->in_flight_ns += pr->cost_ns;
}

void wp_depth_cancel(struct wp *p, struct weir_rq *rq)
{
	struct wp_rq *pr = wp_rq(rq);

	list_unlink(&pr->link);
	if (pr->stuck) {
		p->nr_stuck--;
		return;
	}
	p->nr_in_flight--;
	p->in_flight_ns -= pr->cost_ns;
}

void wp_depth_end(struct wp *p, struct weir_rq *rq, uint64_t now)
{
	uint64_t most_ns = stuck_after_ns(p, wp_rq(rq)->cost_ns);
	uint64_t service_ns = weir_min64(now - rq->dispatch_ns, most_ns);
	bool stuck = wp_rq(rq)->stuck;

	wp_depth_cancel(p, rq);
	if (!stuck)
		p->progress_ns = now;
	p->service_ns = p->service_ns - p->service_ns / 16 + service_ns / 16;
}
