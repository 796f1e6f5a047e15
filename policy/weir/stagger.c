// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests in step, and how they are brought out of it.
 *
 * A device that serves n requests at once, each in about the same time L, keeps the order in which
 * they came: n that started together end together, n others take their places together, and so
 * on. The rate is the same as if one ended every L / n. But whoever comes in between waits for the
 * end of the round, up to L, and so does everybody whose turn is next but one: all waits are whole
 * rounds. With a free place every L / n it would be that long.
 *
 * It is seen from outside: while the depth is the limit, nothing is completed for 3/8 of a service
 * time, again and again, each time within the next round. Were n = 16 ends spread by chance, that
 * would be one round in 25; ROUNDS of them one after another, one in 400,000.
 *
 * Then, once, the places of the round that is just ending are filled one by one, over 7/8 of a
 * service time: what may be in flight goes up from nothing with the time. After that each place is
 * filled again when it becomes free, and the requests stay apart by themselves. The cost is that
 * of half a service time of an idle device.
 *
 * Worked example: 16 places, 2 ms. In step, a reader that thinks for 0.2 ms finds the next free
 * place after another 1.8: 4.0 ms a read instead of 2.2. A ramp of 1.75 ms fills a place every
 * 109 us. From then on that is the longest wait but for the 250 us at the end of a round.
 *
 * Where it does not last (a device that reports its completions in batches, say, is in step by
 * itself), it is tried again later and later: after REST_ROUNDS service times, then four times as
 * long, and so on. So it costs less than 1 / 128 of the device even where it is of no use.
 */
#include "policy/weir/depth.h"
#include "policy/weir/stagger.h"

enum {
	ROUNDS = 4,
	/* With fewer at once there is little to bring apart. */
	IN_FLIGHT_MIN = 4,
	REST_ROUNDS = 64,
};

#define REST_MAX_NS (64 * WEIR_NS_PER_S)

void wp_stagger_begin(struct wp *p, uint64_t from_ns, uint64_t to_ns, uint64_t now)
{
	struct wp_stagger *s = &p->stagger;

	s->since_ns = now;
	s->lasts_ns = p->service_ns - p->service_ns / 8;
	s->from_ns = from_ns;
	s->more_ns = to_ns - from_ns;
	wp_depth_update(p);
}

/* The first of a round has ended, the rest is about to. */
static void bring_apart(struct wp *p, uint64_t now)
{
	struct wp_stagger *s = &p->stagger;

	/* Again soon after the rest: it was of no use. */
	if (s->rest_ns && now - s->rest_until_ns < s->rest_ns)
		s->rest_ns = weir_min64(4 * s->rest_ns, REST_MAX_NS);
	else
		s->rest_ns = 0;
	s->rest_ns = weir_max64(s->rest_ns, REST_ROUNDS * p->service_ns);
	s->rest_until_ns = now + s->rest_ns;
	s->rounds = 0;
	wp_stagger_begin(p, 0, p->in_flight_ns + p->probe.cost_ns, now);
}

void wp_stagger_gap(struct wp *p, uint64_t gap_ns, uint64_t now)
{
	struct wp_stagger *s = &p->stagger;
	bool limited = weir_policy_queued(p->w) || p->held;

	/* The completion has left the count already. */
	if (!limited || p->nr_in_flight + 1 < IN_FLIGHT_MIN || gap_ns > 2 * p->service_ns)
		return;
	s->rounds = now - s->seen_ns < 2 * p->service_ns ? s->rounds + 1 : 1;
	s->seen_ns = now;
	if (s->rounds >= ROUNDS && now >= s->rest_until_ns && !wp_stagger_is_on(p))
		bring_apart(p, now);
}

uint64_t wp_stagger_until(struct wp *p, uint64_t now)
{
	struct wp_stagger *s = &p->stagger;
	uint64_t after_ns;

	if (now - s->since_ns >= s->lasts_ns) {
		s->lasts_ns = 0;
		wp_depth_update(p);
		return now;
	}
	if (p->in_flight_ns < s->from_ns)
		return now;
	after_ns = weir_mul_div(s->lasts_ns, p->in_flight_ns - s->from_ns, s->more_ns) + 1;
	return s->since_ns + weir_min64(after_ns, s->lasts_ns);
}
