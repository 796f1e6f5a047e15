// SPDX-License-Identifier: GPL-2.0-only
/* iocost step by step: prices, parts, budget, lending. */
#include "tests/util_host.h"

#include "policy/iocost/internal.h"

#define MS WEIR_NS_PER_MS
#define US WEIR_NS_PER_US
/* 4 KiB by the profile of util_config(). */
#define READ_V (UINT64_C(10000) << IOCOST_VTIME_SHIFT)

static struct util_host host;

static int setup(void **state)
{
	util_host_init(&host);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static struct iocost *start(struct util_host *h, const char *name, uint64_t value,
			    const char *other, uint64_t other_value)
{
	uint64_t values[WEIR_TUNABLES_MAX];

	util_defaults(&weir_policy_iocost, values);
	if (name)
		util_tune(&weir_policy_iocost, values, name, value);
	if (other)
		util_tune(&weir_policy_iocost, values, other, other_value);
	util_host_start(h, &weir_policy_iocost, values);
	return iocost_of(h->w);
}

static void tune(struct util_host *h, const char *name, uint64_t value)
{
	int n = weir_tunable_find(&weir_policy_iocost, name);

	assert_true(n >= 0);
	assert_int_equal(weir_tunable_set(h->w, (unsigned int)n, value, h->now), 0);
}

/* Time passes, and the policy hears of it. */
static void pass(struct util_host *h, uint64_t ns)
{
	h->now += ns;
	weir_tick(h->w, h->now);
	iocost_catch_up(iocost_of(h->w));
}

/* Random reads of 4 KiB, each 10 us of device time. */
static uint32_t read_4k(struct util_host *h, struct weir_group *g)
{
	return util_insert_as(h, g, NULL, WEIR_OP_READ, 100000 * (uint64_t)(1 + h->nr_rqs), 8);
}

static void read_many(struct util_host *h, struct weir_group *g, uint32_t nr)
{
	while (nr--)
		read_4k(h, g);
}

static uint32_t dispatch_all(struct util_host *h)
{
	uint32_t nr = 0;

	while (util_dispatch(h) != UTIL_NONE)
		nr++;
	return nr;
}

static void complete_all(struct util_host *h)
{
	uint32_t n;

	for (n = 0; n < h->nr_rqs; n++)
		if (h->rq[n].state == WEIR_RQ_DISPATCHED)
			util_complete(h, n);
}

/* ---- prices ---- */

static uint64_t price(struct util_host *h, enum weir_op op, uint64_t sector, uint32_t sectors,
		      uint64_t cursor)
{
	struct weir_rq rq;

	weir_rq_init(&rq, op, sector, sectors, weir_root(h->w), NULL);
	return iocost_cost(iocost_of(h->w), &rq, sectors, &cursor);
}

static void model_prices_requests(void **state)
{
	struct util_host *h = *state;
	const uint64_t page = UINT64_C(256000000000) / 122071 + 1;
	const uint64_t random = UINT64_C(256000000000) / 6250, seq = 256000000000 / 50000;

	start(h, "rbps", 500000000, "rrandiops", 6250);
	tune(h, "rseqiops", 50000);
	assert_int_equal(price(h, WEIR_OP_READ, 1 << 20, 8, 1), random);
	/* 16 MiB are 32768 sectors, and whole pages count. */
	assert_int_equal(price(h, WEIR_OP_READ, 1 + 32768, 8, 1), seq);
	assert_int_equal(price(h, WEIR_OP_READ, 1 + 32768 + 7, 8, 1), seq);
	assert_int_equal(price(h, WEIR_OP_READ, 1 + 32768 + 8, 8, 1), random);
	assert_int_equal(price(h, WEIR_OP_READ, 1000, 8, 1000 + 32776), random);
	/* The first request of a group is taken for sequential. */
	assert_int_equal(price(h, WEIR_OP_READ, 1 << 20, 8, 0), seq);
	assert_int_equal(price(h, WEIR_OP_READ, 1, 256, 1), seq + 31 * page);
	assert_int_equal(price(h, WEIR_OP_READ, 1, 1, 1), seq);
	assert_int_equal(price(h, WEIR_OP_READ, 1, 15, 1), seq);
	/* Writes by their own figures, of the profile here. */
	assert_int_equal(price(h, WEIR_OP_WRITE, 1, 8, 1), READ_V);
	assert_int_equal(price(h, WEIR_OP_DISCARD, 1, 8, 1), 0);
	assert_int_equal(price(h, WEIR_OP_FLUSH, 0, 0, 1), 0);
}

static void period_follows_latencies(void **state)
{
	struct util_host *h = *state;
	struct iocost *ioc = start(h, NULL, 0, NULL, 0);

	assert_int_equal(ioc->period_ns, 50 * MS);
	tune(h, "rlat", 5000);
	assert_int_equal(ioc->latency_ns[WEIR_WRITE], 5 * MS);
	assert_int_equal(ioc->period_ns, 10 * MS);
	tune(h, "rpct", 95);
	assert_int_equal(ioc->period_ns, 10 * MS);
	tune(h, "rpct", 50);
	assert_int_equal(ioc->period_ns, 50 * MS);
	/* The longer latency decides, with its own percentage. */
	tune(h, "wlat", 8000);
	assert_int_equal(ioc->period_ns, 16 * MS);
	tune(h, "wpct", 80);
	assert_int_equal(ioc->period_ns, 32 * MS);
	tune(h, "wlat", 10000000);
	assert_int_equal(ioc->period_ns, 1000 * MS);
	tune(h, "wlat", 1);
	tune(h, "rlat", 1);
	assert_int_equal(ioc->period_ns, 1 * MS);
	tune(h, "rlat", 0);
	h->cfg.profile.rotational = true;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
	assert_int_equal(ioc->latency_ns[WEIR_READ], 250 * MS);
}

/* ---- budget ---- */

static void who_has_no_budget_waits(void **state)
{
	struct util_host *h = *state;
	struct iocost *ioc = start(h, NULL, 0, NULL, 0);
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	struct weir_group *b = util_group(h, weir_root(h->w), 300);
	struct weir_next next;
	uint64_t began = h->now;

	/* B is there first: so A has 1/4, and its reads cost 40 us of the 25 ms it begins with. */
	read_4k(h, b);
	read_many(h, a, 1000);
	assert_int_equal(dispatch_all(h), 1 + 625);
	assert_null(weir_dispatch(h->w, h->now, &next));
	assert_int_equal(next.at_ns, began + 40 * US + ioc->slack_ns);
	assert_int_equal(ioc->slack_ns, 500 * US);
	h->now = next.at_ns - 1;
	assert_int_equal(dispatch_all(h), 0);
	/* 540 us are there: 13 reads of 40 us, and 20 us left. */
	h->now = next.at_ns;
	assert_int_equal(dispatch_all(h), 13);
	assert_null(weir_dispatch(h->w, h->now, &next));
	assert_int_equal(next.at_ns, h->now + 20 * US + ioc->slack_ns);
	/* In order of arrival. */
	assert_int_equal(h->rq[1 + 637].state, WEIR_RQ_DISPATCHED);
	assert_int_equal(h->rq[1 + 638].state, WEIR_RQ_QUEUED);
	/* What can't be charged goes past them. */
	util_expect(h, util_insert_as(h, a, NULL, WEIR_OP_FLUSH, 0, 0));
	util_expect(h, util_insert_as(h, a, NULL, WEIR_OP_DISCARD, 8, 8));
}

static void time_that_nobody_saw_passes_too(void **state)
{
	struct util_host *h = *state;
	struct iocost *ioc = start(h, NULL, 0, NULL, 0);
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	uint32_t n;

	read_many(h, a, 2600);
	assert_int_equal(dispatch_all(h), 2500);
	h->now += 2 * MS;
	assert_int_equal(dispatch_all(h), 100);
	/* They were free to go when the timers went off, not when somebody asked. */
	for (n = 2500; n < 2600; n++)
		assert_true(iocost_rq(&h->rq[n])->ready_ns < h->now - MS / 10);
	/* A year: not one period after the other. */
	pass(h, 31536000 * WEIR_NS_PER_S);
	assert_true(ioc->period_nr < 100);
	assert_true(ioc->period_end_ns > h->now && ioc->period_end_ns <= h->now + ioc->period_ns);
}

static void root_and_inner_nodes_are_free(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a, *b;

	start(h, NULL, 0, NULL, 0);
	a = util_group(h, weir_root(h->w), 100);
	b = util_group(h, a, 100);
	read_many(h, weir_root(h->w), 1000);
	read_4k(h, b);
	assert_int_equal(iocost_group(b)->vtime + (25 * MS << IOCOST_VTIME_SHIFT), READ_V);
	read_many(h, a, 1000);
	assert_int_equal(dispatch_all(h), 2001);
	assert_false(iocost_group(a)->is_active);
	assert_false(iocost_group(weir_root(h->w))->is_active);
	/* Without active children the node is the leaf; and then its children are free. */
	complete_all(h);
	pass(h, 200 * MS);
	assert_false(iocost_group(b)->is_active);
	read_4k(h, a);
	read_4k(h, b);
	assert_true(iocost_group(a)->is_active);
	assert_false(iocost_group(b)->is_active);
	assert_int_equal(dispatch_all(h), 2);
}

static void requeued_is_not_charged_again(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a;
	struct iocost_group *ig;
	uint32_t n, other;
	uint64_t vtime;

	start(h, NULL, 0, NULL, 0);
	a = util_group(h, weir_root(h->w), 100);
	ig = iocost_group(a);
	n = read_4k(h, a);
	vtime = ig->vtime;
	assert_int_equal(util_dispatch(h), n);
	other = read_4k(h, a);
	weir_requeue(h->w, &h->rq[n], WEIR_REQUEUE_INSERT, h->now);
	assert_int_equal(ig->vtime, vtime + READ_V);
	util_expect(h, n);
	util_expect(h, other);
	assert_int_equal(ig->vtime, ig->done_vtime);
	/* One that leaves without having been there is no longer in flight either. */
	n = read_4k(h, a);
	assert_int_equal(weir_remove(h->w, &h->rq[n], h->now), 0);
	assert_int_equal(ig->vtime, ig->done_vtime);
	assert_int_equal(ig->vtime, vtime + 2 * READ_V);
}

/* ---- parts of the device ---- */

static void parts_multiply_down_the_tree(void **state)
{
	struct util_host *h = *state;
	struct iocost *ioc = start(h, NULL, 0, NULL, 0);
	struct weir_group *a = util_group(h, weir_root(h->w), 100), *a0, *a1;
	struct weir_group *b = util_group(h, weir_root(h->w), 300);
	struct weir_group_attr attr;

	a0 = util_group(h, a, 100);
	a1 = util_group(h, a, 100);
	read_4k(h, a0);
	read_4k(h, a1);
	iocost_parts(ioc, iocost_group(a0));
	assert_int_equal(iocost_group(a0)->hw_active, IOCOST_ONE / 2);
	read_4k(h, b);
	iocost_parts(ioc, iocost_group(a0));
	iocost_parts(ioc, iocost_group(b));
	assert_int_equal(iocost_group(a0)->hw_active, IOCOST_ONE / 8);
	assert_int_equal(iocost_group(b)->hw_active, IOCOST_ONE * 3 / 4);
	/* B lends all but 60 of 300. */
	iocost_weigh(ioc, iocost_group(b), 300 * IOCOST_ONE, 60 * IOCOST_ONE);
	iocost_parts(ioc, iocost_group(a0));
	iocost_parts(ioc, iocost_group(b));
	assert_int_equal(iocost_group(a0)->hw_active, IOCOST_ONE / 8);
	assert_int_equal(iocost_group(a0)->hw_inuse, IOCOST_ONE * 100 / 160 / 2);
	assert_int_equal(iocost_group(b)->hw_inuse, IOCOST_ONE * 60 / 160);
	assert_int_equal(iocost_part_unlent(iocost_group(b)), IOCOST_ONE * 3 / 4);
	assert_int_equal(iocost_part_unlent(iocost_group(a0)), IOCOST_ONE * 100 / 160 / 2);
	/* New weights count at once. */
	weir_group_get(a1, &attr);
	attr.weight = 300;
	assert_int_equal(weir_group_set(a1, &attr, h->now), 0);
	iocost_parts(ioc, iocost_group(a0));
	assert_int_equal(iocost_group(a0)->hw_active, IOCOST_ONE / 16);
	assert_int_equal(dispatch_all(h), 3);
}

static void lend_to(struct iocost *ioc, struct weir_list *lenders, struct weir_group *g,
		    uint32_t after)
{
	struct iocost_group *ig = iocost_group(g);

	iocost_parts(ioc, ig);
	ig->hw_lending = ig->hw_active;
	ig->hw_after = after;
	list_push_front(lenders, &ig->lending);
}

static void assert_part(struct iocost *ioc, struct weir_group *g, uint32_t wanted)
{
	iocost_parts(ioc, iocost_group(g));
	if (iocost_group(g)->hw_inuse + 8 < wanted || iocost_group(g)->hw_inuse > wanted + 8)
		fail_msg("part %u is not %u", iocost_group(g)->hw_inuse, wanted);
}

static void lending_raises_all_others_alike(void **state)
{
	struct util_host *h = *state;
	struct iocost *ioc = start(h, NULL, 0, NULL, 0);
	struct weir_group *g[6], *inner;
	struct weir_list lenders;
	uint32_t n;

	/* 100, 100, and 100 with children of 100, 200 and 100. */
	g[0] = util_group(h, weir_root(h->w), 100);
	g[1] = util_group(h, weir_root(h->w), 100);
	inner = util_group(h, weir_root(h->w), 100);
	g[2] = util_group(h, inner, 100);
	g[3] = util_group(h, inner, 200);
	g[4] = util_group(h, inner, 100);
	for (n = 0; n < 5; n++)
		read_4k(h, g[n]);
	list_init(&lenders);
	/* 1/3 becomes 1/30, 1/6 becomes 1/60: half is lent, and what is left of it is 1/20. */
	lend_to(ioc, &lenders, g[1], IOCOST_ONE / 30);
	lend_to(ioc, &lenders, g[3], IOCOST_ONE / 60);
	iocost_lend(ioc, &lenders);
	assert_part(ioc, g[1], IOCOST_ONE / 30);
	assert_part(ioc, g[3], IOCOST_ONE / 60);
	/* gamma = 0.95 / 0.5 */
	assert_part(ioc, g[0], IOCOST_ONE * 19 / 30);
	assert_part(ioc, g[2], IOCOST_ONE * 19 / 120);
	assert_part(ioc, g[4], IOCOST_ONE * 19 / 120);
	/* Nobody's weight but the lenders' was touched. */
	assert_int_equal(iocost_group(g[0])->inuse, iocost_group(g[0])->active_weight);
	assert_int_equal(iocost_group(g[4])->inuse, iocost_group(g[4])->active_weight);
	assert_int_equal(dispatch_all(h), 5);
}

static void lender_takes_back_by_quarters(void **state)
{
	struct util_host *h = *state;
	struct iocost *ioc = start(h, NULL, 0, NULL, 0);
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	struct weir_group *b = util_group(h, weir_root(h->w), 100);
	struct iocost_group *ig = iocost_group(a);
	uint32_t weight, lent;

	read_4k(h, a);
	read_4k(h, b);
	weight = ig->active_weight;
	lent = weight / 20;
	iocost_weigh(ioc, ig, weight, lent);
	iocost_save_margin(ioc, ig);
	/* Its part is 1/21: a read costs 210 us, and 71 of them leave 10 ms of budget. */
	read_many(h, a, 71);
	assert_int_equal(ig->inuse, lent);
	read_4k(h, a);
	assert_int_equal(ig->inuse, lent + weight / 4);
	/* With 0.3 / 1.3 a read costs 43.3 us: the budget shrinks on, and so does what is lent. */
	read_4k(h, a);
	assert_int_equal(ig->inuse, lent + weight / 2);
	read_many(h, a, 2);
	assert_int_equal(ig->inuse, weight);
	assert_int_equal(dispatch_all(h), 2 + 71 + 1 + 1 + 2);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(model_prices_requests),	  T(period_follows_latencies),
		T(who_has_no_budget_waits),	  T(time_that_nobody_saw_passes_too),
		T(root_and_inner_nodes_are_free), T(requeued_is_not_charged_again),
		T(parts_multiply_down_the_tree),  T(lending_raises_all_others_alike),
		T(lender_takes_back_by_quarters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
