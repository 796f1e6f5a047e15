/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kyber: latencies, and what follows from them. The timer is looked at by each hook before it does
 * anything, and what it would have done at its time is done then: nothing that it looks at has
 * changed in between.
 */
#include "policy/kyber/internal.h"

const uint16_t kyber_depth[KYBER_NR_DOMAINS] = {
	[KYBER_READ] = 256,
	[KYBER_WRITE] = 128,
	[KYBER_DISCARD] = 64,
	[KYBER_OTHER] = 16,
};

void kyber_latency_init(struct kyber *k)
{
	int nr;

	for (nr = 0; nr < KYBER_NR_DOMAINS; nr++) {
		k->domain[nr].depth = kyber_depth[nr];
		k->domain[nr].p99 = -1;
	}
	k->timer_ns = WEIR_NEVER;
}

static uint64_t target_ns(const struct weir *w, enum kyber_domain_nr nr)
{
	if (nr == KYBER_DISCARD)
		return KYBER_DISCARD_TARGET_NS;
	return weir_policy_tunable(w,
				   nr == KYBER_READ ? KYBER_READ_LAT_NSEC : KYBER_WRITE_LAT_NSEC);
}

/* Up to and including a quarter of the target, two quarters, ...; and what is beyond 7 of them. */
static unsigned int bucket_of(uint64_t latency_ns, uint64_t target)
{
	uint64_t quarter = target / 4 ? target / 4 : 1, n;

	n = latency_ns ? weir_div64(latency_ns - 1, quarter) : 0;
	return n < KYBER_BUCKETS ? (unsigned int)n : KYBER_BUCKETS - 1;
}

void kyber_add_sample(const struct weir *w, struct kyber *k, enum kyber_domain_nr nr,
		      uint64_t total_ns, uint64_t io_ns)
{
	struct kyber_domain *d = &k->domain[nr];
	uint64_t target = target_ns(w, nr);

	d->bucket[KYBER_TOTAL][bucket_of(total_ns, target)]++;
	d->bucket[KYBER_IO][bucket_of(io_ns, target)]++;
	k->timer_ns = weir_min64(k->timer_ns, weir_now(w) + KYBER_TIMER_NS);
}

/* Bucket of the percentile, and the histogram begins again; or -1: not enough samples yet. */
static int percentile(struct kyber_domain *d, enum kyber_kind kind, uint32_t percent, uint64_t now)
{
	uint32_t *bucket = d->bucket[kind];
	uint32_t samples = 0, rest;
	int n, i;

	for (n = 0; n < KYBER_BUCKETS; n++)
		samples += bucket[n];
	if (!samples)
		return -1;
	if (!d->window_end_ns)
		d->window_end_ns = now + KYBER_WINDOW_NS;
	if (samples < KYBER_SAMPLES && now < d->window_end_ns)
		return -1;
	d->window_end_ns = 0;

	rest = (samples * percent + 99) / 100;
	for (n = 0; n < KYBER_BUCKETS - 1 && bucket[n] < rest; n++)
		rest -= bucket[n];
	for (i = 0; i < KYBER_BUCKETS; i++)
		bucket[i] = 0;
	return n;
}

static void scale(struct kyber_domain *d, uint32_t most, int p99)
{
	uint32_t depth = d->depth * (uint32_t)(p99 + 1) / KYBER_GOOD_BUCKETS;

	d->depth = depth < 1 ? 1 : depth > most ? most : depth;
}

static void adjust(struct kyber *k, uint64_t now)
{
	bool congested = false;
	int nr, p99;

	for (nr = 0; nr < KYBER_NR_MEASURED; nr++)
		if (percentile(&k->domain[nr], KYBER_IO, KYBER_CONGESTED_PERCENT, now) >=
		    KYBER_GOOD_BUCKETS)
			congested = true;
	for (nr = 0; nr < KYBER_NR_MEASURED; nr++) {
		struct kyber_domain *d = &k->domain[nr];

		p99 = percentile(d, KYBER_TOTAL, KYBER_LATENCY_PERCENT, now);
		/* Not all domains have enough samples at the same time: what is known is kept. */
		if (congested) {
			if (p99 < 0)
				p99 = d->p99;
			d->p99 = -1;
		} else if (p99 >= 0) {
			d->p99 = p99;
		}
		if (p99 >= KYBER_GOOD_BUCKETS || (congested && p99 >= 0))
			scale(d, kyber_depth[nr], p99);
	}
}

void kyber_run_timer(struct kyber *k, uint64_t now)
{
	uint64_t timer_ns = k->timer_ns;

	if (weir_likely(now < timer_ns))
		return;
	k->timer_ns = WEIR_NEVER;
	adjust(k, timer_ns);
}
