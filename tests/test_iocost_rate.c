// SPDX-License-Identifier: GPL-2.0-only
/* iocost: the rate of the device's clock, period by period; and the built-in models. */
#include "tests/util_host.h"

#include "policy/iocost/internal.h"

#define MS WEIR_NS_PER_MS
#define US WEIR_NS_PER_US

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

/* A period in which everything is late, or in time. */
static void one_period(struct util_host *h, struct weir_group *g, bool late)
{
	struct iocost *ioc = iocost_of(h->w);
	uint64_t end = ioc->running ? ioc->period_end_ns : h->now + ioc->period_ns;
	uint32_t n = read_4k(h, g);

	assert_int_equal(util_dispatch(h), n);
	pass(h, late ? 6 * MS : MS);
	util_complete(h, n);
	h->nr_rqs = 0;
	pass(h, end - h->now);
}

static uint64_t times_percent(uint64_t rate, uint64_t percent)
{
	return (rate * percent + 99) / 100;
}

static void rate_falls_while_latencies_are_missed(void **state)
{
	struct util_host *h = *state;
	struct iocost *ioc = start(h, "rpct", 90, "rlat", 5000);
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	uint64_t rate = IOCOST_RATE_ONE;
	uint32_t n;

	for (n = 1; n <= 55; n++) {
		one_period(h, a, true);
		assert_int_equal(ioc->busy_level, n);
		rate = times_percent(rate, n < 4    ? 100
					   : n < 20 ? 99
					   : n < 36 ? 98
					   : n < 44 ? 96
					   : n < 52 ? 92
						    : 84);
		assert_int_equal(ioc->base_rate, rate);
	}
	/* In time, and nobody is short: it coasts. */
	one_period(h, a, false);
	assert_int_equal(ioc->busy_level, 0);
	assert_int_equal(ioc->base_rate, rate);
}

static void rate_stays_within_bounds(void **state)
{
	struct util_host *h = *state;
	struct iocost *ioc = start(h, "rpct", 90, "rlat", 5000);
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	uint32_t n;

	tune(h, "min", 97);
	for (n = 0; n < 30; n++)
		one_period(h, a, true);
	assert_int_equal(ioc->base_rate, (97 * (uint64_t)IOCOST_RATE_ONE + 99) / 100);
	/* Bounds that jump are approached by 4 %, whatever the level. */
	tune(h, "min", 105);
	one_period(h, a, true);
	assert_int_equal(ioc->base_rate, (97 * (uint64_t)IOCOST_RATE_ONE + 99) / 100 * 104 / 100);
	for (n = 0; n < 3; n++)
		one_period(h, a, true);
	assert_int_equal(ioc->base_rate, (105 * (uint64_t)IOCOST_RATE_ONE + 99) / 100);
	tune(h, "min", 1);
	tune(h, "max", 50);
	one_period(h, a, true);
	assert_int_equal(ioc->base_rate, (105 * (uint64_t)IOCOST_RATE_ONE + 99) / 100 * 96 / 100);
}

static void rate_rises_while_groups_are_short(void **state)
{
	struct util_host *h = *state;
	struct iocost *ioc = start(h, "rlat", 1000, NULL, 0);
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	uint64_t rate = IOCOST_RATE_ONE;
	uint32_t n;

	assert_int_equal(ioc->period_ns, 2 * MS);
	/* 200 reads a period are wanted, 100 begin with, and nothing waits for the device. */
	for (n = 1; n <= 6; n++) {
		read_many(h, a, 300);
		dispatch_all(h);
		pass(h, ioc->period_end_ns - h->now);
		rate = times_percent(rate, n < 4 ? 100 : 101);
		assert_int_equal(ioc->busy_level, -(int32_t)n);
		assert_int_equal(ioc->base_rate, rate);
	}
	/* They wait 0.4 ms altogether, of 2: the device is full. */
	dispatch_all(h);
	pass(h, 100 * US);
	for (n = 0; n < 4; n++)
		util_insert(h, WEIR_OP_READ, n, 8);
	pass(h, 100 * US);
	dispatch_all(h);
	complete_all(h);
	pass(h, ioc->period_end_ns - h->now);
	assert_int_equal(ioc->busy_level, 1);
}

static void built_in_model_changes_when_it_is_far_off(void **state)
{
	struct util_host *h = *state;
	struct iocost *ioc = start(h, "auto", 1, "max", 600);
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	uint32_t n;

	assert_int_equal(ioc->model.base[WEIR_READ][1],
			 (UINT64_C(256000000000) + 8517) / 8518 - ioc->model.page[WEIR_READ]);
	ioc->base_rate = 6 * IOCOST_RATE_ONE;
	/* 10 s are 200 periods of 50 ms, and the first is the one that is noticed in. */
	for (n = 0; n < 200; n++)
		one_period(h, a, false);
	assert_int_equal(ioc->latency_ns[WEIR_READ], 25 * MS);
	one_period(h, a, false);
	assert_int_equal(ioc->latency_ns[WEIR_READ], 5 * MS);
	assert_int_equal(ioc->base_rate, IOCOST_RATE_ONE);
	assert_int_equal(ioc->model.base[WEIR_READ][1], 0);
	h->cfg.device_depth = 1;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
	assert_int_equal(ioc->model.page[WEIR_READ], UINT64_C(256000000000) / 60024 + 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(rate_falls_while_latencies_are_missed),
		T(rate_stays_within_bounds),
		T(rate_rises_while_groups_are_short),
		T(built_in_model_changes_when_it_is_far_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
