// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy/weir/depth.c and probe.c: how much is in flight, exactly at a fixed window; stuck
 * requests; and the search for the smallest window of peak rate, from below, from above, and after
 * a change.
 */
#include "tests/serial_device.h"

#include "core/core.h"
#include "core/spi.h"
#include "policy/weir/internal.h"

static struct sd device;
static struct util_host host;

static int setup(void **state)
{
	sd_init(&device);
	*state = &device;
	return 0;
}

static int teardown(void **state)
{
	sd_stop(*state);
	return 0;
}

static int setup_host(void **state)
{
	util_host_init(&host);
	host.cfg.merge = false;
	host.cfg.profile.knee_ns = 50000;
	host.cfg.profile.latency_ns = 60000;
	*state = &host;
	return 0;
}

static int teardown_host(void **state)
{
	util_host_stop(*state);
	return 0;
}

static void start_host(struct util_host *h, uint64_t depth_us)
{
	uint64_t values[WEIR_TUNABLES_MAX];

	util_defaults(&weir_policy_weir, values);
	util_tune(&weir_policy_weir, values, "adapt", 0);
	util_tune(&weir_policy_weir, values, "depth_us", depth_us);
	util_host_start(h, &weir_policy_weir, values);
}

static uint32_t dispatch_all(struct util_host *h, struct weir_next *next)
{
	uint32_t n = 0;

	while (weir_dispatch(h->w, h->now, next))
		n++;
	return n;
}

/* ---- a fixed window ---- */

/* Requests of 10 us: one more goes while less than the window is in flight. */
static void counts_in_device_time(void **state)
{
	struct util_host *h = *state;
	struct weir_next next;
	uint32_t n;

	start_host(h, 0); /* the profile's knee: 50 us */
	for (n = 0; n < 40; n++)
		util_insert(h, WEIR_OP_READ, 0, 8);
	assert_int_equal(dispatch_all(h, &next), 5);
	util_complete(h, 0);
	assert_int_equal(dispatch_all(h, &next), 1);
	util_complete(h, 1);
	util_complete(h, 2);
	assert_int_equal(dispatch_all(h, &next), 2);
	/* A window of its own. */
	assert_int_equal(weir_tunable_set(h->w, 0, 95, h->now), 0);
	assert_int_equal(dispatch_all(h, &next), 5); /* 10: 95 us are not full with 9 */
	assert_int_equal(weir_tunable_set(h->w, 0, 1, h->now), 0);
	for (n = 3; n < 12; n++) {
		util_complete(h, n);
		assert_int_equal(dispatch_all(h, &next), 0);
	}
	util_complete(h, 12); /* the last: never less than one */
	assert_int_equal(dispatch_all(h, &next), 1);
	assert_int_equal(dispatch_all(h, &next), 0);
}

/*
 * Large requests: the next goes a window before the previous one is done, by the model, not after
 * it. 128 KiB at 1 GB/s are 10 us + 126.976.
 */
static void large_requests_by_time(void **state)
{
	struct util_host *h = *state;
	uint64_t start = h->now;
	struct weir_next next;
	uint32_t n;

	start_host(h, 0);
	for (n = 0; n < 4; n++)
		util_insert(h, WEIR_OP_READ, n << 20, 256);
	assert_int_equal(h->rq[0].cost_ns, 136976);
	assert_int_equal(dispatch_all(h, &next), 1);
	assert_int_equal(next.at_ns, start + 136976 - 50000 + 1);
	h->now = next.at_ns - 1;
	assert_int_equal(dispatch_all(h, &next), 0);
	h->now += 1;
	assert_int_equal(dispatch_all(h, &next), 1);
	/* Two in flight: not before the first is done, however late that is. */
	h->now = start + 136976;
	assert_int_equal(dispatch_all(h, &next), 0);
	util_complete(h, 0);
	/* Anchored there: the second is being worked on from now. */
	assert_int_equal(dispatch_all(h, &next), 0);
	assert_int_equal(next.at_ns, h->now + 136976 - 50000 + 1);
	h->now = next.at_ns;
	assert_int_equal(dispatch_all(h, &next), 1);
}

static void rotational_has_no_window(void **state)
{
	struct util_host *h = *state;
	struct weir_next next;
	uint32_t n;

	h->cfg.profile.rotational = true;
	start_host(h, 0);
	for (n = 0; n < 1000; n++)
		util_insert(h, WEIR_OP_READ, 0, 8);
	assert_int_equal(dispatch_all(h, &next), 1000);
}

static void given_back(void **state)
{
	struct util_host *h = *state;
	struct weir_next next;
	uint32_t n;

	start_host(h, 0);
	for (n = 0; n < 10; n++)
		util_insert(h, WEIR_OP_READ, 0, 8);
	assert_int_equal(dispatch_all(h, &next), 5);
	weir_requeue(h->w, &h->rq[3], WEIR_REQUEUE_INSERT, h->now);
	weir_requeue(h->w, &h->rq[2], WEIR_REQUEUE_REISSUE, h->now);
	assert_int_equal(util_dispatch(h), 3);
	assert_int_equal(dispatch_all(h, &next), 0);
	/* What another policy sent is not counted, nor what comes back of it. */
	weir_switch_commit(h->w, weir_switch_prepare(h->w, &weir_policy_weir, NULL, NULL), h->now);
	assert_int_equal(dispatch_all(h, &next), 5);
	for (n = 0; n < 5; n++)
		util_complete(h, n);
	assert_int_equal(dispatch_all(h, &next), 0);
}

/* ---- stuck requests ---- */

/* One that takes much longer than its like leaves the budget, when its time has come. */
static void stuck_leaves_the_budget(void **state)
{
	struct util_host *h = *state;
	uint64_t start = h->now;
	struct weir_next next;
	uint32_t n;

	start_host(h, 0);
	for (n = 0; n < 40; n++)
		util_insert(h, WEIR_OP_READ, 0, 8);
	assert_int_equal(dispatch_all(h, &next), 5);
	assert_int_equal(next.at_ns, start + 120000); /* twice the usual, 60 us */
	/* Four go on as usual, at 60 us, and the places of four are used. */
	h->now = start + 60000;
	for (n = 1; n < 5; n++)
		util_complete(h, n);
	assert_int_equal(dispatch_all(h, &next), 4);
	assert_int_equal(next.at_ns, start + 120000);
	h->now = start + 119999;
	assert_int_equal(dispatch_all(h, &next), 0);
	h->now = start + 120000;
	assert_int_equal(dispatch_all(h, &next), 1);
	/* It comes back in the end, and frees nothing. */
	h->now += 500;
	util_complete(h, 0);
	assert_int_equal(dispatch_all(h, &next), 0);
	/* Stuck ones can be requeued. */
	h->now += 10000000;
	assert_int_equal(dispatch_all(h, &next), 5);
	weir_requeue(h->w, &h->rq[5], WEIR_REQUEUE_INSERT, h->now);
	assert_int_equal(dispatch_all(h, &next), 0);
	util_complete(h, 6);
	assert_int_equal(dispatch_all(h, &next), 0);
	util_complete(h, 14);
	assert_int_equal(util_dispatch(h), 5);
}

/* A die is busy for 50 ms now and then: the rest of the device goes on at its peak. */
static void stalls_cost_nothing(void **state)
{
	struct sd *d = *state;
	uint32_t n;

	d->stall_every = 500;
	d->stall_ns = 50 * SD_MS;
	sd_start(d, &weir_policy_weir, NULL);
	for (n = 0; n < 3; n++)
		sd_load(d, sd_group(d, weir_root(d->w), 100), 64);
	sd_run(d, SD_S);
	sd_clear(d);
	sd_run(d, 3 * SD_S);
	assert_true(sd_busy_ppm(d) >= 980000);
	/* Five at a time are stuck. */
	assert_true(d->in_device_max <= 30);
}

/* A device ten times slower than its profile is slow, not stuck: it is not flooded. */
static void slow_is_not_stuck(void **state)
{
	struct sd *d = *state;

	d->base_ns *= 10;
	d->sector_ns *= 10;
	d->latency_ns *= 10;
	sd_start(d, &weir_policy_weir, NULL);
	sd_load(d, sd_group(d, weir_root(d->w), 100), 256);
	sd_run(d, 5 * SD_S);
	sd_clear(d);
	sd_run(d, 5 * SD_S);
	assert_true(sd_busy_ppm(d) >= 970000);
	assert_true(d->in_device_max <= 16);
}

/* ---- learning ---- */

static void learn_from(struct sd *d, uint64_t knee_ns, uint64_t busy_min_ppm,
		       uint32_t in_device_max)
{
	uint32_t n;

	d->cfg.profile.knee_ns = knee_ns;
	sd_start(d, &weir_policy_weir, NULL);
	for (n = 0; n < 2; n++)
		sd_load(d, sd_group(d, weir_root(d->w), 100), 128);
	sd_run(d, 20 * SD_S);
	sd_clear(d);
	sd_run(d, 10 * SD_S);
	assert_true(sd_busy_ppm(d) >= busy_min_ppm);
	assert_true(d->in_device_max <= in_device_max);
}

/* 5 in flight are the least that keep the server busy; plenty is tried now and then. */
static void grows(void **state)
{
	learn_from(*state, 20000, 985000, 12);
}

static void shrinks(void **state)
{
	learn_from(*state, 2000000, 985000, 12);
}

static void stays(void **state)
{
	learn_from(*state, 100000, 985000, 12);
}

/* Every 30 ms or so nothing passes the pipeline for 2 ms: it takes that much at the server. */
static void bridges_standstills(void **state)
{
	struct sd *d = *state;

	d->hold_every_ns = 30 * SD_MS;
	d->hold_ns = 2 * SD_MS;
	learn_from(d, 100000, 985000, 300);
}

/* Two merged requests may be all there is: one waits for its time while the other is in flight. */
static void learns_from_two(void **state)
{
	struct sd *d = *state;
	struct sd_stream *s;

	d->latency_ns = 300 * SD_US;
	sd_start(d, &weir_policy_weir, NULL);
	s = sd_stream(d, weir_root(d->w), 2);
	s->nr_sectors = 1024;
	sd_start_stream(d, s);
	sd_run(d, 5 * SD_S);
	sd_clear(d);
	sd_run(d, 5 * SD_S);
	assert_true(sd_busy_ppm(d) >= 990000);
}

/* Nothing known, and nothing to learn from: a stream that never waits. */
static void too_little_to_learn(void **state)
{
	struct sd *d = *state;
	struct sd_stream *s;

	d->cfg.profile.knee_ns = 0;
	d->cfg.profile.latency_ns = 0;
	sd_start(d, &weir_policy_weir, NULL);
	s = sd_load(d, weir_root(d->w), 4);
	sd_run(d, SD_S);
	assert_int_equal(s->wait_max_ns, 0);
	assert_in_range(sd_busy_ppm(d), 799000, 801000); /* 4 of 5 */
}

/* Where there is nothing to find, rests grow to their limit, and stay there. */
static void rests(void **state)
{
	struct sd *d = *state;
	uint32_t rest = 0, n;

	sd_start(d, &weir_policy_weir, NULL);
	sd_load(d, sd_group(d, weir_root(d->w), 100), 256);
	for (n = 0; n < 400; n++) {
		uint32_t before = rest;

		sd_run(d, 100 * SD_MS);
		rest = wp_of(d->w)->probe.rest_after;
		assert_true(rest <= 512);
		assert_true(n < 100 || rest >= before);
	}
	assert_int_equal(rest, 512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counts_in_device_time, setup_host, teardown_host),
		cmocka_unit_test_setup_teardown(large_requests_by_time, setup_host, teardown_host),
		cmocka_unit_test_setup_teardown(rotational_has_no_window, setup_host,
						teardown_host),
		cmocka_unit_test_setup_teardown(given_back, setup_host, teardown_host),
		cmocka_unit_test_setup_teardown(stuck_leaves_the_budget, setup_host, teardown_host),
		cmocka_unit_test_setup_teardown(stalls_cost_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(slow_is_not_stuck, setup, teardown),
		cmocka_unit_test_setup_teardown(grows, setup, teardown),
		cmocka_unit_test_setup_teardown(shrinks, setup, teardown),
		cmocka_unit_test_setup_teardown(stays, setup, teardown),
		cmocka_unit_test_setup_teardown(bridges_standstills, setup, teardown),
		cmocka_unit_test_setup_teardown(learns_from_two, setup, teardown),
		cmocka_unit_test_setup_teardown(too_little_to_learn, setup, teardown),
		cmocka_unit_test_setup_teardown(rests, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
