// SPDX-License-Identifier: GPL-2.0-only
/*
 * mclock: what groups get of a server of 1000 requests a second: floors under shares, limits, what
 * is left, overload, who comes back. And the same from the benchmark's dmClock queue.
 */
#include "tests/util_host.h"

#include "bench/dmclock_ref.h"
#include "core/spi.h"

#define MS UINT64_C(1000000)
#define NR_RQS 16
#define GROUPS 3

static struct util_host host;

/* Groups that always have something queued, unless they are paused. */
struct rig {
	struct weir_group *g[GROUPS];
	uint32_t served[GROUPS];
	uint32_t nr;
	bool paused[GROUPS];
	uint32_t idle_slots;
};

/* Floor and limit in requests a second; 0 is none. */
struct client {
	uint32_t reservation, weight, limit;
};

static void set(struct rig *r, uint32_t n, struct client c)
{
	struct weir_group_attr attr;

	weir_group_get(r->g[n], &attr);
	attr.weight = c.weight;
	attr.low.iops[WEIR_READ] = c.reservation;
	attr.max.iops[WEIR_READ] = c.limit ? c.limit : WEIR_UNLIMITED;
	assert_int_equal(weir_group_set(r->g[n], &attr, host.now), 0);
}

static void insert(struct rig *r, uint32_t n, struct weir_rq *rq)
{
	/* Neither near to one another nor adjacent. */
	weir_rq_init(rq, WEIR_OP_READ, (uint64_t)(rq - host.rq) * 1000000, 8, r->g[n], NULL);
	weir_insert(host.w, rq, WEIR_TAIL, host.now);
}

static void fill(struct rig *r, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < NR_RQS; i++)
		insert(r, n, &host.rq[host.nr_rqs++]);
}

static void start(struct rig *r, uint32_t nr, const struct client *c)
{
	uint32_t n;

	memset(r, 0, sizeof(*r));
	util_host_init(&host);
	host.cfg.merge = false;
	util_host_start(&host, &weir_policy_mclock, NULL);
	r->nr = nr;
	for (n = 0; n < nr; n++) {
		r->g[n] = util_group(&host, weir_root(host.w), c[n].weight);
		set(r, n, c[n]);
	}
}

static void start_filled(struct rig *r, uint32_t nr, const struct client *c)
{
	uint32_t n;

	start(r, nr, c);
	for (n = 0; n < nr; n++)
		fill(r, n);
}

static void serve(struct rig *r, uint32_t slots)
{
	uint32_t n;

	for (n = 0; n < r->nr; n++)
		r->served[n] = 0;
	r->idle_slots = 0;
	for (; slots; slots--, host.now += MS) {
		struct weir_next next;
		struct weir_rq *rq = weir_dispatch(host.w, host.now, &next);

		if (!rq) {
			assert_true(next.at_ns > host.now);
			r->idle_slots++;
			continue;
		}
		for (n = 0; rq->group != r->g[n]; n++)
			;
		r->served[n]++;
		weir_complete(host.w, rq, host.now);
		if (!r->paused[n])
			insert(r, n, rq);
	}
}

static void assert_near(uint32_t value, uint32_t want, uint32_t slack)
{
	assert_in_range(value, want - slack, want + slack);
}

static void weights_share(void **state)
{
	const struct client c[] = {{0, 200, 0}, {0, 300, 0}};
	struct rig r;

	(void)state;
	start_filled(&r, 2, c);
	serve(&r, 10000);
	assert_near(r.served[0], 4000, 1);
	assert_near(r.served[1], 6000, 1);
	util_host_stop(&host);
}

/* A floor is under the share, not on top of it. */
static void floor_under_share(void **state)
{
	const struct {
		uint32_t floor, served;
	} cases[] = {{0, 2500}, {200, 2500}, {400, 4000}, {700, 7000}};
	uint32_t n;

	(void)state;
	for (n = 0; n < 4; n++) {
		const struct client c[] = {{cases[n].floor, 100, 0}, {0, 300, 0}};
		struct rig r;

		start_filled(&r, 2, c);
		serve(&r, 10000);
		assert_near(r.served[0], cases[n].served, 3);
		assert_near(r.served[1], 10000 - cases[n].served, 3);
		util_host_stop(&host);
	}
}

/* What a limit leaves goes to who may have it; to nobody, if nobody may. */
static void limits(void **state)
{
	const struct client c[] = {{200, 100, 0}, {0, 300, 300}};
	struct rig r;

	(void)state;
	start_filled(&r, 2, c);
	serve(&r, 10000);
	assert_near(r.served[0], 7000, 20);
	assert_near(r.served[1], 3000, 20);
	set(&r, 0, (struct client){200, 100, 400});
	serve(&r, 10000);
	assert_near(r.served[0], 4000, 20);
	assert_near(r.served[1], 3000, 20);
	assert_near(r.idle_slots, 3000, 40);
	util_host_stop(&host);
}

/*
 * Floors that do not fit: in order of R, so in proportion to them, as long as all can fall behind
 * alike; and nothing goes by weight. R is never before the arrival, and with 16 outstanding who is
 * served faster falls behind by less: in the end the greater floor bears it all.
 */
static void overload(void **state)
{
	const struct client c[] = {{900, 1, 0}, {300, 10000, 0}, {0, 10000, 0}};
	struct rig r;

	(void)state;
	start_filled(&r, 3, c);
	serve(&r, 100);
	assert_near(r.served[0], 75, 1);
	assert_near(r.served[1], 25, 1);
	serve(&r, 1000);
	serve(&r, 10000);
	assert_near(r.served[0], 7000, 2);
	assert_near(r.served[1], 3000, 2);
	assert_int_equal(r.served[2], 0);
	/* The floors fit again, and after what is owed is done there is some to share. */
	set(&r, 0, (struct client){400, 1, 0});
	serve(&r, 20000);
	serve(&r, 10000);
	assert_near(r.served[0], 4000, 10);
	assert_near(r.served[1], 3000, 10);
	assert_near(r.served[2], 3000, 20);
	util_host_stop(&host);
}

/* Who was away gets its share from then on, and no more; a floor isn't saved up either. */
static void back_from_idle(void **state)
{
	const struct client c[] = {{0, 100, 0}, {0, 100, 0}, {100, 100, 0}};
	struct rig r;

	(void)state;
	start(&r, 3, c);
	fill(&r, 0);
	fill(&r, 1);
	serve(&r, 5000);
	fill(&r, 2);
	serve(&r, 300);
	assert_near(r.served[2], 100, 2);
	assert_near(r.served[0], 100, 2);
	/* Away, and back. */
	r.paused[1] = true;
	serve(&r, 5000);
	assert_int_equal(r.served[1], NR_RQS);
	r.paused[1] = false;
	fill(&r, 1);
	serve(&r, 300);
	assert_near(r.served[1], 100, 2);
	util_host_stop(&host);
}

/* All are gone for a while: what was before is forgotten. */
static void all_back_from_idle(void **state)
{
	const struct client c[] = {{0, 100, 0}, {0, 100, 0}};
	struct rig r;

	(void)state;
	start(&r, 2, c);
	fill(&r, 0);
	serve(&r, 5000);
	r.paused[0] = true;
	serve(&r, 100);
	r.paused[0] = false;
	fill(&r, 1);
	fill(&r, 0);
	serve(&r, 200);
	assert_near(r.served[0], 100, 1);
	assert_near(r.served[1], 100, 1);
	util_host_stop(&host);
}

/* Time under a limit is not paid back when the limit goes. */
static void limit_gives_no_credit(void **state)
{
	const struct client c[] = {{0, 100, 50}, {0, 100, 0}};
	struct rig r;

	(void)state;
	start_filled(&r, 2, c);
	serve(&r, 5000);
	assert_near(r.served[0], 250, 4);
	set(&r, 0, (struct client){0, 100, 0});
	serve(&r, 200);
	assert_near(r.served[0], 100, 2);
	util_host_stop(&host);
}

/* Who has a floor and asks less than that takes no more. */
static void floor_is_used_by_others(void **state)
{
	const struct client c[] = {{500, 1, 0}, {0, 1, 0}};
	struct rig r;

	(void)state;
	start(&r, 2, c);
	fill(&r, 1);
	serve(&r, 1000);
	assert_int_equal(r.served[1], 1000);
	fill(&r, 0);
	serve(&r, 1000);
	assert_near(r.served[0], 500, 2);
	util_host_stop(&host);
}

/* ---- beside the benchmark's queue ---- */

/* The same clients from a dmClock that was written on its own. Its weights are rates: small ones. */
static void reference_serves(const struct client *c, uint32_t nr, uint32_t served[GROUPS])
{
	static struct dmc_rq rq[GROUPS][NR_RQS];
	struct dmc_client_info info[GROUPS];
	struct dmc_queue *q;
	double now_s = 1;
	uint32_t n, i;

	for (n = 0; n < nr; n++) {
		info[n] = (struct dmc_client_info){c[n].reservation, c[n].weight / 100.0,
						   c[n].limit};
		served[n] = 0;
	}
	q = dmc_new(nr, info);
	assert_non_null(q);
	for (n = 0; n < nr; n++)
		for (i = 0; i < NR_RQS; i++) {
			rq[n][i] = (struct dmc_rq){.client = n, .cost = 1};
			dmc_add(q, &rq[n][i], now_s);
		}
	for (i = 0; i < 10000; i++, now_s += 0.001) {
		enum dmc_phase phase;
		double when_s;
		struct dmc_rq *done = dmc_pull(q, now_s, &phase, &when_s);

		if (done) {
			served[done->client]++;
			dmc_add(q, done, now_s);
		}
	}
	dmc_free(q);
}

static void same_as_reference(void **state)
{
	const struct client cases[][GROUPS] = {
		{{0, 100, 0}, {0, 200, 0}, {0, 700, 0}},
		{{300, 100, 0}, {0, 200, 0}, {0, 700, 0}},
		{{300, 100, 0}, {250, 200, 0}, {0, 700, 0}},
		{{300, 100, 0}, {0, 200, 0}, {0, 700, 400}},
		{{100, 500, 250}, {50, 300, 100}, {200, 100, 300}},
		{{600, 100, 0}, {600, 200, 0}, {0, 700, 0}},
		{{900, 100, 0}, {300, 200, 0}, {0, 700, 0}},
		{{150, 10000, 200}, {0, 1, 0}, {0, 3, 0}},
	};
	uint32_t want[GROUPS], i, n;
	struct rig r;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		reference_serves(cases[i], GROUPS, want);
		start_filled(&r, GROUPS, cases[i]);
		serve(&r, 10000);
		for (n = 0; n < GROUPS; n++)
			assert_near(r.served[n], want[n] < 30 ? 30 : want[n], 30);
		util_host_stop(&host);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_share),
		cmocka_unit_test(floor_under_share),
		cmocka_unit_test(limits),
		cmocka_unit_test(overload),
		cmocka_unit_test(back_from_idle),
		cmocka_unit_test(all_back_from_idle),
		cmocka_unit_test(limit_gives_no_credit),
		cmocka_unit_test(floor_is_used_by_others),
		cmocka_unit_test(same_as_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
