/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kyber: latency targets for reads and writes on fast devices, kept by nothing but how many requests
 * of each kind may be in the device (Omar Sandoval, Linux 4.12; this is its form since 4.20).
 *
 * Problem. A fast device queues inside, where nobody sorts: a read behind a hundred writes waits for
 * all of them. The remedy must cost next to nothing for each request.
 *
 * The rule. There are four domains: reads, writes, discards, others. Each may have so many requests
 * in the device: 256, 128, 64 and 16, at the beginning and at most. Each is first in, first out.
 * Domains take turns in batches of 16, 8, 1 and 1; one that has nothing, or has all that it may in
 * the device, is passed over. Nothing is sorted, and groups are unknown.
 *
 * 100 ms after a completion, if there was no look since, histograms are looked at (latency.c): for
 * each domain but the others, of the time in the device and of the time since insertion, in steps 0
 * to 7 of a quarter of the target, 500 samples or what there is after 1 s. Steps 4 to 7 are beyond
 * the target.
 *
 *	congested	p90 in the device is in step 4 or more, in any domain
 *	depth		x (step of the p99 since insertion + 1) / 4: if congested, or if that step is
 *			4 or more
 *
 * So under congestion a domain well within its target gives way, one that misses it grows at the
 * others' expense; without congestion who misses its target is allowed more. A p99 that was found
 * while nothing was congested is remembered for the next congestion, once.
 *
 * Example, defaults: reads 2 ms, writes 10 ms. A device takes 20 us for each request, one after
 * another, and has 127 writes and a read in it: everything takes 2.6 ms. For reads that is step 5,
 * so the device is congested. For writes it is step 1: their depth becomes 128 x 2 / 4 = 64. A read
 * takes 1.3 ms now, in step 2, and nothing is congested any more. Had the writer 512 outstanding,
 * its p99 since insertion would be 10 ms, step 3 or 4, and its depth would stay: what counts is who
 * misses which target, not who fills the device.
 *
 * What nobody waits for (async writes) may be 75 % of nr_requests from insertion to completion. The
 * rest waits outside, as its task would for a tag, unseen by domains and merging. Where a host has a
 * pool, the core's admission does the same for all writes (core/admission.h).
 *
 * Where this differs from the original:
 *   - there is one queue for all processors. There each has its own, and when a domain has nothing
 *     left, all that has arrived in any of them goes over to what the device gets, processor by
 *     processor. That step is here, too: nothing merges with what has gone over; and a bio looks
 *     only at the 8 latest of those that have not, and never joins two requests;
 *   - latencies are exact, and the timer is; there it is a tick of 1 to 10 ms;
 *   - requests at the head are counted in their domain, but go before all and past its depth;
 *     flushes count nowhere, as in the block layer.
 *
 * And one thing is as there, though it looks like an oversight: the end of the 1 s window is one for
 * both histograms of a domain. The device's p90 is computed first and begins a new one, so with less
 * than 500 samples a second it is the p90 that is known after a second; the p99 waits for its 500.
 *
 * All hooks are O(1), except that one completion in 100 ms looks at 48 buckets.
 */
#include "policy/kyber/internal.h"

static const struct weir_tunable kyber_tunables[] = {
	[KYBER_READ_LAT_NSEC] = {"read_lat_nsec", WEIR_UNIT_NS, 0, (uint64_t)1 << 62, 2000000,
				 "latency target of reads"},
	[KYBER_WRITE_LAT_NSEC] = {"write_lat_nsec", WEIR_UNIT_NS, 0, (uint64_t)1 << 62, 10000000,
				  "latency target of writes"},
	{.name = NULL},
};

static const uint8_t batch_size[KYBER_NR_DOMAINS] = {
	[KYBER_READ] = 16,
	[KYBER_WRITE] = 8,
	[KYBER_DISCARD] = 1,
	[KYBER_OTHER] = 1,
};

enum where {
	ARRIVED, /* or flushed, by then */
	EXPRESS,
	OUTSIDE,
};

/* In rq->policy. */
struct kyber_rq {
	uint64_t begin_ns; /* of what the total latency is counted from */
	uint32_t flushes;  /* its domain's, then: another now, and it has been flushed */
	uint8_t where, domain;
	bool has_token, has_place;
};

_Static_assert(sizeof(struct kyber_rq) <= WEIR_RQ_POLICY_BYTES, "does not fit into a request");

static struct kyber_rq *kyber_rq(struct weir_rq *rq)
{
	return (struct kyber_rq *)rq->policy;
}

static enum kyber_domain_nr domain_by_op(uint8_t op)
{
	switch (op) {
	case WEIR_OP_READ:
		return KYBER_READ;
	case WEIR_OP_WRITE:
		return KYBER_WRITE;
	case WEIR_OP_DISCARD:
		return KYBER_DISCARD;
	default:
		return KYBER_OTHER;
	}
}

static struct kyber_domain *domain_of(struct kyber *k, struct weir_rq *rq)
{
	return &k->domain[kyber_rq(rq)->domain];
}

static int kyber_init(struct weir *w)
{
	struct kyber *k = weir_policy_data(w);
	int nr;

	for (nr = 0; nr < KYBER_NR_DOMAINS; nr++) {
		list_init(&k->domain[nr].arrived);
		list_init(&k->domain[nr].flushed);
	}
	list_init(&k->express);
	list_init(&k->outside);
	kyber_latency_init(k);
	return 0;
}

/* ---- places for async requests ---- */

static bool is_async(const struct weir_rq *rq)
{
	return !weir_rq_is_sync(rq) && !(rq->flags & (WEIR_RQ_FUA | WEIR_RQ_PREFLUSH));
}

static bool has_free_place(const struct weir *w, const struct kyber *k)
{
	uint64_t all = (uint64_t)weir_cfg(w)->nr_requests * KYBER_ASYNC_PERCENT;

	/* One there is always. */
	return !k->nr_async || (uint64_t)(k->nr_async + 1) * 100 <= all;
}

static void take_place(struct kyber *k, struct weir_rq *rq)
{
	kyber_rq(rq)->has_place = is_async(rq);
	k->nr_async += kyber_rq(rq)->has_place;
}

static void arrive(struct weir *w, struct kyber *k, struct weir_rq *rq)
{
	struct kyber_domain *d = domain_of(k, rq);
	struct kyber_rq *krq = kyber_rq(rq);

	take_place(k, rq);
	krq->where = ARRIVED;
	krq->flushes = d->flushes;
	krq->begin_ns = weir_now(w);
	list_push_back(&d->arrived, &rq->link);
}

static void let_in_one(struct weir *w, struct kyber *k)
{
	struct weir_rq *rq = list_first(&k->outside, struct weir_rq, link);

	list_unlink(&rq->link);
	arrive(w, k, rq);
}

static void let_in(struct weir *w, struct kyber *k)
{
	while (!list_is_empty(&k->outside) && has_free_place(w, k))
		let_in_one(w, k);
}

/* ---- insertion and removal ---- */

static void kyber_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct kyber *k = weir_policy_data(w);
	struct kyber_rq *krq = kyber_rq(rq);

	kyber_run_timer(k, weir_now(w));
	krq->domain = (uint8_t)domain_by_op(rq->op);
	krq->has_token = false;
	krq->has_place = false;
	if (where == WEIR_HEAD || rq->op == WEIR_OP_FLUSH) {
		krq->where = EXPRESS;
		/* It may have been in the device before. */
		krq->begin_ns = rq->insert_ns;
		take_place(k, rq);
		if (where == WEIR_HEAD)
			list_push_front(&k->express, &rq->link);
		else
			list_push_back(&k->express, &rq->link);
		return;
	}
	if (is_async(rq) && !has_free_place(w, k)) {
		krq->where = OUTSIDE;
		list_push_back(&k->outside, &rq->link);
		return;
	}
	arrive(w, k, rq);
}

static void kyber_remove(struct weir *w, struct weir_rq *rq)
{
	struct kyber *k = weir_policy_data(w);

	kyber_run_timer(k, weir_now(w));
	list_unlink(&rq->link);
	k->nr_async -= kyber_rq(rq)->has_place;
	let_in(w, k);
}

/* ---- dispatch ---- */

static bool has_some(const struct kyber_domain *d)
{
	return !list_is_empty(&d->flushed) || !list_is_empty(&d->arrived);
}

static bool may_go(const struct kyber_domain *d)
{
	return d->in_device < d->depth && has_some(d);
}

/* The domain that is served next, or KYBER_NR_DOMAINS. *begins: with a new batch. */
static uint32_t choose(const struct kyber *k, bool *begins)
{
	uint32_t nr = k->cur, n;

	*begins = false;
	if (k->batching < batch_size[nr] && may_go(&k->domain[nr]))
		return nr;
	*begins = true;
	for (n = 0; n < KYBER_NR_DOMAINS; n++) {
		nr = (nr + 1) % KYBER_NR_DOMAINS;
		if (may_go(&k->domain[nr]))
			return nr;
	}
	return KYBER_NR_DOMAINS;
}

/* For a drain: any that has something. */
static uint32_t choose_any(struct weir *w, struct kyber *k)
{
	uint32_t nr;

	for (nr = 0; nr < KYBER_NR_DOMAINS && !has_some(&k->domain[nr]);)
		nr++;
	if (nr == KYBER_NR_DOMAINS && !list_is_empty(&k->outside)) {
		let_in_one(w, k);
		return choose_any(w, k);
	}
	return nr;
}

/* The domain has one. */
static struct weir_rq *first_of(const struct kyber_domain *d)
{
	return list_first(list_is_empty(&d->flushed) ? &d->arrived : &d->flushed, struct weir_rq,
			  link);
}

/* All that has arrived goes over. Something has. */
static void flush(struct kyber_domain *d)
{
	list_replace(&d->arrived, &d->flushed);
	list_init(&d->arrived);
	d->flushes++;
}

/* All that waits is in domains that have what they may in the device, or has no place. */
static void stalled(const struct kyber *k, struct weir_verdict *v)
{
	uint32_t n, nr = k->cur;

	v->why = WEIR_STALL_DEPTH;
	for (n = 0; n < KYBER_NR_DOMAINS; n++) {
		const struct kyber_domain *d;

		nr = (nr + 1) % KYBER_NR_DOMAINS;
		d = &k->domain[nr];
		if (!has_some(d))
			continue;
		if (!v->next)
			v->next = first_of(d)->group;
		if (d->depth < kyber_depth[nr])
			v->why = WEIR_STALL_LATENCY;
		/* Depths may have grown then. */
		v->at_ns = k->timer_ns;
	}
	if (!v->next)
		v->next = list_first(&k->outside, struct weir_rq, link)->group;
}

static struct weir_rq *started(struct kyber *k, struct weir_rq *rq)
{
	list_unlink(&rq->link);
	if (rq->op != WEIR_OP_FLUSH) {
		kyber_rq(rq)->has_token = true;
		domain_of(k, rq)->in_device++;
	}
	return rq;
}

static struct weir_rq *kyber_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct kyber *k = weir_policy_data(w);
	struct kyber_domain *d;
	bool begins;
	uint32_t nr;

	kyber_run_timer(k, weir_now(w));
	if (!list_is_empty(&k->express))
		return started(k, list_first(&k->express, struct weir_rq, link));
	nr = choose(k, &begins);
	if (nr == KYBER_NR_DOMAINS && force)
		nr = choose_any(w, k);
	/* It has looked through all: the batch is over in any case. */
	if (begins)
		k->batching = 0;
	if (nr == KYBER_NR_DOMAINS) {
		stalled(k, v);
		return NULL;
	}
	k->cur = nr;
	k->batching++;
	d = &k->domain[nr];
	if (list_is_empty(&d->flushed))
		flush(d);
	return started(k, first_of(d));
}

static struct weir_group *kyber_next_group(struct weir *w)
{
	struct kyber *k = weir_policy_data(w);
	bool begins;
	uint32_t nr;

	if (!list_is_empty(&k->express))
		return list_first(&k->express, struct weir_rq, link)->group;
	nr = choose(k, &begins);
	return nr < KYBER_NR_DOMAINS ? first_of(&k->domain[nr])->group : NULL;
}

/* ---- the device is done ---- */

static void give_back(struct kyber *k, struct weir_rq *rq)
{
	struct kyber_domain *d = domain_of(k, rq);

	weir_assert(d->in_device >= kyber_rq(rq)->has_token);
	d->in_device -= kyber_rq(rq)->has_token;
	k->nr_async -= kyber_rq(rq)->has_place;
}

static void kyber_complete(struct weir *w, struct weir_rq *rq)
{
	struct kyber *k = weir_policy_data(w);
	const struct kyber_rq *krq = kyber_rq(rq);

	kyber_run_timer(k, weir_now(w));
	if (krq->domain < KYBER_NR_MEASURED)
		kyber_add_sample(w, k, krq->domain, weir_now(w) - krq->begin_ns,
				 weir_now(w) - rq->dispatch_ns);
	give_back(k, rq);
	let_in(w, k);
}

/* It comes back at once, and takes its place again. */
static void kyber_undispatch(struct weir *w, struct weir_rq *rq)
{
	give_back(weir_policy_data(w), rq);
}

static void kyber_tuned(struct weir *w, unsigned int index)
{
	if (index == UINT32_MAX)
		let_in(w, weir_policy_data(w));
}

/* ---- merging ---- */

/* Called with a bio for one of the latest, or to find out that it is not. */
static bool is_among_latest(const struct kyber_domain *d, const struct weir_rq *rq)
{
	const struct weir_list *at = d->arrived.prev;
	int n;

	for (n = 0; n < KYBER_MERGE_LOOKS && at != &d->arrived; n++, at = at->prev)
		if (at == &rq->link)
			return true;
	return false;
}

static bool kyber_may_merge(struct weir *w, const struct weir_rq *rq, const struct weir_rq *bio,
			    uint32_t nr_sectors)
{
	const struct kyber *k = weir_policy_data(w);
	const struct kyber_rq *krq = (const struct kyber_rq *)rq->policy;
	const struct kyber_domain *d = &k->domain[krq->domain];

	(void)bio;
	(void)nr_sectors;
	return krq->where == ARRIVED && krq->flushes == d->flushes && is_among_latest(d, rq);
}

static struct weir_rq *kyber_find_front(struct weir *w, const struct weir_rq *bio)
{
	struct kyber *k = weir_policy_data(w);
	struct weir_list *arrived = &k->domain[domain_by_op(bio->op)].arrived, *at = arrived->prev;
	int n;

	for (n = 0; n < KYBER_MERGE_LOOKS && at != arrived; n++, at = at->prev) {
		struct weir_rq *rq = weir_container_of(at, struct weir_rq, link);

		if (rq->sector == weir_rq_end(bio))
			return rq;
	}
	return NULL;
}

static struct weir_rq *no_neighbour(struct weir *w, struct weir_rq *rq)
{
	(void)w;
	(void)rq;
	return NULL;
}

const struct weir_policy weir_policy_kyber = {
	.info =
		{
			.name = "kyber",
			.help = "latency targets of reads and writes, by numbers in the device",
			.tunables = kyber_tunables,
		},
	.instance_size = sizeof(struct kyber),
	.init = kyber_init,
	.insert = kyber_insert,
	.dispatch = kyber_dispatch,
	.next_group = kyber_next_group,
	.complete = kyber_complete,
	.undispatch = kyber_undispatch,
	.remove = kyber_remove,
	.may_merge = kyber_may_merge,
	.find_front = kyber_find_front,
	.latter = no_neighbour,
	.former = no_neighbour,
	.tuned = kyber_tuned,
};
