/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Depth: how much work is in flight, in device time.
 *
 * What waits in the device waits without order: no share, no target and no floor can reach it. So
 * only so much is in flight as keeps the device at its peak: the window, a device time, from the
 * profile's knee and then learned (probe.h). A count would not do: thread 003 needs more than one
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
#ifndef WEIR_POLICY_WEIR_DEPTH_H
#define WEIR_POLICY_WEIR_DEPTH_H

#include "policy/weir/internal.h"

/* A large request takes its time among small ones. */
static inline uint64_t wp_depth_stuck_after_ns(const struct wp *p, uint64_t cost_ns)
{
	return weir_max64(WP_STUCK_FACTOR * weir_max64(p->service_ns, p->window_ns),
			  p->service_ns + cost_ns);
}

bool wp_depth_open_full(struct wp *p, bool owed, uint64_t now, uint64_t *at_ns, bool *squeezed);

static inline uint64_t wp_depth_window_ns(const struct wp *p, bool owed)
{
	return owed ? (1 + WP_OWED_WINDOWS) * p->full_ns : p->full_ns;
}

/*
 * May one more go now? Who is owed something (a floor that fits) may find more in flight. If not,
 * *at_ns says when time alone makes it so, or WEIR_NEVER. O(1)
 */
static inline bool wp_depth_open(struct wp *p, bool owed, uint64_t now, uint64_t *at_ns,
				 bool *squeezed)
{
	uint64_t window = owed && p->open_ns ? wp_depth_window_ns(p, owed) : p->open_ns;

	*at_ns = WEIR_NEVER;
	*squeezed = false;
	if (p->in_flight_ns < window || !p->nr_in_flight)
		return true;
	return wp_depth_open_full(p, owed, now, at_ns, squeezed);
}

static inline void wp_depth_start(struct wp *p, struct weir_rq *rq, uint64_t now)
{
	wp_rq(rq)->stuck = false;
	wp_rq(rq)->is_spared = false;
	if (!p->nr_in_flight)
		p->progress_ns = now;
	list_push_back(&p->in_flight, &rq->link);
	p->nr_in_flight++;
	p->in_flight_ns += rq->cost_ns;
}

/* It left the device without completing. */
static inline void wp_depth_cancel(struct wp *p, struct weir_rq *rq)
{
	list_unlink(&rq->link);
	if (weir_unlikely(wp_rq(rq)->stuck)) {
		p->nr_stuck--;
		return;
	}
	p->nr_in_flight--;
	p->in_flight_ns -= rq->cost_ns;
}

static inline void wp_depth_end(struct wp *p, struct weir_rq *rq, uint64_t now)
{
	uint64_t service_ns = now - rq->dispatch_ns;

	/* Nothing is stuck before that. */
	if (weir_unlikely(service_ns > WP_STUCK_FACTOR * p->window_ns))
		service_ns = weir_min64(service_ns, wp_depth_stuck_after_ns(p, rq->cost_ns));
	wp_depth_cancel(p, rq);
	if (!wp_rq(rq)->stuck)
		p->progress_ns = now;
	p->service_ns = p->service_ns - p->service_ns / 16 + service_ns / 16;
}

#endif
