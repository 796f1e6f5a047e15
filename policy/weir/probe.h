/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probing: the smallest window at which the device runs at its peak.
 *
 * No model knows it: it depends on the mix of requests. So now and then pairs of epochs are
 * compared by the work that was completed per time, one with plenty, half as much again as the
 * standing window and at least two requests more, and one with
 *
 *	the standing window:	plenty is better by more than 1/256: grow, half way to it; or all
 *				the way, if by more than 1/32
 *	four fifths of it:	plenty is better by less than 1/512: take it
 *
 * Both ask what is lost against plenty, never against the step before, so small losses cannot add
 * up. A round goes on, over 5 pairs at least and 64 at most, until the mean is sure, that is
 * sqrt(5) of its standard errors away from that part, or until as many errors are less than 1/256:
 * what is left to find does not matter. Where all pairs are alike 5 are enough; die stalls and
 * programs need more of them. Then the better guess is taken, or noise would hide for good what is
 * lost.
 *
 * Only clean epochs count: those in which the depth was the limit all through. An epoch lasts
 * WP_PROBE_EPOCH_NS and at least WP_PROBE_COMPLETIONS, after SETTLE_NS uncounted. A round of 5 pairs takes
 * about 0.12 s on a fast device. Rounds that change nothing come after longer and longer rests, so
 * that looking costs nearly nothing where there is nothing to find: who reads one block at a time
 * beside deep queues waits for all that is in flight, and half of a round is plenty. A rest ends
 * early when three epochs in a row differ by 1/64, which means other work.
 *
 * Standstills. When a die is out of service for 5 ms, large requests, each of which needs all dies,
 * can't go on, and the controller has nothing to do but what had passed the dies before. Half as
 * much again of a window of 0.5 ms wouldn't show in the noise that such stalls are. But they are
 * seen directly: nothing is completed for longer than all in flight takes. If more than 1/256 of
 * the time is lost in them, plenty is so much more as would bridge them. When they are as long with
 * so much more, then they can't be bridged, and that is given up; by chance a device that nothing
 * helps may still be taken for better, and then keeps as much in flight as it stands still for.
 *
 * While a latency target has less than half of it to spare there is no probing: plenty is what it
 * can't bear. Nor is there while floors squeeze the window.
 *
 * The work completed per time in clean epochs is also the slow factor: work_rate, of which floors
 * learn how much device time there is.
 */
#ifndef WEIR_POLICY_WEIR_PROBE_H
#define WEIR_POLICY_WEIR_PROBE_H

#include "policy/weir/stagger.h"

enum {
	/* An epoch lasts this at least. */
	WP_PROBE_COMPLETIONS = 64,
	WP_PROBE_EPOCH_NS = 10000000,
	/* Over what time standstills are remembered. */
	WP_PROBE_MEMORY_NS = 500000000,
};

/* What was in flight at another depth has to leave first. */
static inline bool wp_probe_settles(const struct wp_probe *t, uint64_t now)
{
	return (int64_t)(now - t->since_ns) < 0;
}

/* A completion in a clean epoch, after the settling. */
static inline void wp_probe_count(struct wp_probe *t, uint64_t cost_ns, uint64_t now)
{
	t->cost_ns = t->cost_ns - t->cost_ns / 16 + cost_ns / 16;
	if (weir_likely(t->completions))
		t->work_ns += cost_ns;
	else
		t->since_ns = now; /* from one completion to another */
	t->completions++;
}

/* Something was completed. True: the window may be another one now. */
bool wp_probe_complete(struct wp *p, uint64_t cost_ns, uint64_t now);

/*
 * The same where there is nothing to find out: in a standing epoch that goes on, without promises.
 * False: it may be more than that, and nothing is done.
 */
static inline bool wp_probe_complete_plainly(struct wp *p, uint64_t cost_ns, uint64_t now)
{
	struct wp_probe *t = &p->probe;
	uint64_t gap_ns = now - t->last_ns, watched_ns = t->stood.watched_ns + gap_ns;

	if (!p->plain || !weir_policy_queued(p->w) || wp_stagger_is_gap(p, gap_ns) ||
	    gap_ns > p->window_ns + t->cost_ns || watched_ns > WP_PROBE_MEMORY_NS ||
	    (int64_t)(now - t->since_ns) >= WP_PROBE_EPOCH_NS)
		return false;
	p->held = false;
	t->last_ns = now;
	t->stood.watched_ns = watched_ns;
	if (!wp_probe_settles(t, now))
		wp_probe_count(t, cost_ns, now);
	return true;
}

#endif
