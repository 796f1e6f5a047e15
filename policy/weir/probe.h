/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probing: the smallest window at which the device runs at its peak.
 *
 * No model knows it: it depends on the mix of requests. So now and then pairs of epochs are
 * compared by the work that was completed per time, one with plenty, half as much again as the
 * standing window and at least two requests more, and one with
 *
 *	the standing window:	plenty is better by 1/256 in 6 of 8 pairs: grow, half way to it
 *	four fifths of it:	plenty is better by 1/512 in 2 of 8 pairs at most: take it
 *
 * Both ask what is lost against plenty, never against the step before, so small losses cannot add
 * up. Noise neither climbs (6 of 8) nor sinks (2 of 8). Only clean epochs count: those in which the
 * depth was the limit all through. An epoch lasts EPOCH_NS and at least WP_PROBE_COMPLETIONS, after
 * SETTLE_NS uncounted. A round of 8 pairs takes about 0.2 s on a fast device. Rounds that change
 * nothing come after longer and longer rests, so that looking costs nearly nothing where there is
 * nothing to find; a rest ends early when three epochs in a row differ by 1/64, which means other
 * work.
 *
 * While a latency target has less than half of it to spare there is no probing: plenty is what it
 * can't bear. Nor is there while floors squeeze the window.
 *
 * The work completed per time in clean epochs is also the slow factor: work_rate, of which floors
 * learn how much device time there is.
 */
#ifndef WEIR_POLICY_WEIR_PROBE_H
#define WEIR_POLICY_WEIR_PROBE_H

#include "policy/weir/internal.h"

enum {
	WP_PROBE_COMPLETIONS = 128,
};

/* Enough completions: if the time is over too, the epoch is judged. */
bool wp_probe_epoch_end(struct wp *p, uint64_t now);
/* It is not clean, and starts again. Returns moved. */
bool wp_probe_epoch_again(struct wp *p, bool moved, uint64_t now);
/* While there are pairs: should there be none any more? Then only standing epochs go on. */
bool wp_probe_stops(struct wp *p);

/* True: the window may be another one now. */
static inline bool wp_probe_complete(struct wp *p, uint64_t cost_ns, uint64_t now)
{
	struct wp_probe *t = &p->probe;

	if (weir_unlikely(t->phase != WP_PROBE_STANDING) && wp_probe_stops(p))
		return wp_probe_epoch_again(p, true, now);
	/* The depth is the limit while something waits. */
	if (weir_unlikely(!p->nr_queued || !t->clean))
		return wp_probe_epoch_again(p, false, now);
	if ((int64_t)(now - t->since_ns) < 0)
		return false;
	t->cost_ns = t->cost_ns - t->cost_ns / 16 + cost_ns / 16;
	if (weir_likely(t->completions))
		t->work_ns += cost_ns;
	else
		t->since_ns = now; /* from one completion to another */
	if (++t->completions < WP_PROBE_COMPLETIONS)
		return t->phase == WP_PROBE_PLENTY; /* which goes by cost_ns */
	return wp_probe_epoch_end(p, now);
}

#endif
