// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests in step, and how they are brought out of it.
 *
 * A device that serves n requests at once, each in about the same time L, keeps the order in which
 * they came: n that started together end together, n others take their places together, and so
 * on. The rate is the same as if one ended every L / n. But whoever comes in between waits for the
 * end of the round, up to L; with a free place every L / n it would be that long.
 *
 * It is seen from outside: while the depth is the limit, nothing is completed for 3/8 of a service
 * time, again and again, each time within the next round. Were n = 16 ends spread by chance, that
 * would be one round in 25; ROUNDS of them one after another, one in 400,000.
 *
 * Then the places of the round that is just ending are filled one by one, 7/8 of L / n apart. That
 * costs half a service time of an idle device, once: from now on each place is filled again when it
 * becomes free.
 *
 * It does not stay so by itself. Where several end at nearly the same time the host's processor
 * works through them one after another, so each of these rounds is longer than those of a place
 * that ends alone: the cluster falls back, until it reaches the next place and takes that along, and
 * so on, as buses do. Half of L / n between any two dispatches is enough against that, and costs
 * nothing while the places are apart. It is kept up for KEEP_ROUNDS, no longer: places that end by
 * chance would lose one or two percent by it.
 *
 * Worked example: 16 places, 2 ms. In step, a reader that thinks for 0.2 ms finds the next free
 * place after another 1.8: 4.0 ms a read instead of 2.2. Now a place is filled every 109 us, and
 * that is the longest wait, but for the 250 us at the end of a round.
 *
 * Places come into step again when the window changes, or other work comes and goes; then it is done
 * again, REST_ROUNDS after the last time, which costs less than 1/256 of the device. Where they
 * are in step again at once (a device that reports its completions in batches, say, keeps them so)
 * the rest is four times as long each time, and no distance is kept.
 */
#include "policy/weir/depth.h"
#include "policy/weir/stagger.h"

enum {
	ROUNDS = 4,
	/* With fewer at once there is little to bring apart. */
	IN_FLIGHT_MIN = 4,
	REST_ROUNDS = 128,
	/* In step again within so many rounds: it was in vain. */
	SOON_ROUNDS = 16,
	KEEP_ROUNDS = 1024,
};

#define REST_MAX_NS (64 * WEIR_NS_PER_S)

void wp_stagger_begin(struct wp *p, uint64_t round_ns, uint64_t now)
{
	struct wp_stagger *s = &p->stagger;

	s->filling = true;
	s->filling_until_ns = now + p->service_ns + p->service_ns / 8;
	s->service_ns = p->service_ns;
	s->round_ns = weir_max64(round_ns, 1);
	wp_depth_update(p);
}

/* The first of a round has ended, the rest is about to. */
static void bring_apart(struct wp *p, uint64_t now)
{
	struct wp_stagger *s = &p->stagger;

	if (!s->in_vain)
		s->rest_ns = REST_ROUNDS * p->service_ns;
	s->in_vain = false;
	s->rest_until_ns = now + s->rest_ns;
	s->rounds = 0;
	s->keeping = true;
	s->keeping_until_ns = now + KEEP_ROUNDS * p->service_ns;
	wp_stagger_begin(p, p->in_flight_ns + p->probe.cost_ns, now);
}

/* They are in step again, though they were just brought apart. */
static void came_back(struct wp *p)
{
	struct wp_stagger *s = &p->stagger;

	s->keeping = false;
	wp_depth_update(p);
	s->in_vain = true;
	s->rest_until_ns += 3 * s->rest_ns;
	s->rest_ns = weir_min64(4 * s->rest_ns, REST_MAX_NS);
}

void wp_stagger_gap(struct wp *p, uint64_t gap_ns, uint64_t now)
{
	struct wp_stagger *s = &p->stagger;
	bool limited = weir_policy_queued(p->w) || p->held;

	/* The completion has left the count already. */
	if (!limited || weir_cfg(p->w)->profile.rotational || p->nr_in_flight + 1 < IN_FLIGHT_MIN ||
	    gap_ns > 2 * p->service_ns)
		return;
	s->rounds = now - s->seen_ns < 2 * p->service_ns ? s->rounds + 1 : 1;
	s->seen_ns = now;
	if (s->rounds < ROUNDS || s->filling)
		return;
	if (now >= s->rest_until_ns)
		bring_apart(p, now);
	else if (!s->in_vain && s->rest_until_ns - now > s->rest_ns - SOON_ROUNDS * p->service_ns)
		came_back(p);
}

void wp_stagger_filled(struct wp *p)
{
	if (!p->stagger.filling)
		return;
	p->stagger.filling = false;
	wp_depth_update(p);
}

uint64_t wp_stagger_next(struct wp *p, uint64_t now)
{
	struct wp_stagger *s = &p->stagger;
	const struct weir_rq *last = list_last(&p->in_flight, struct weir_rq, link);
	uint64_t apart_ns, end_ns;

	if (s->filling && now >= s->filling_until_ns)
		s->filling = false;
	if (!s->filling && now >= s->keeping_until_ns)
		s->keeping = false;
	if (!wp_stagger_is_on(p)) {
		wp_depth_update(p);
		return now;
	}
	apart_ns = weir_mul_div(s->service_ns, last->cost_ns, s->round_ns);
	apart_ns = s->filling ? apart_ns - apart_ns / 8 : apart_ns / 2;
	end_ns = s->filling ? s->filling_until_ns : s->keeping_until_ns;
	return weir_min64(last->dispatch_ns + apart_ns, end_ns);
}
