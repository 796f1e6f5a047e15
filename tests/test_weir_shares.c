// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy/weir/shares.c: device time by weight, on a modelled device: exact ratios, trees with
 * requests at inner nodes, groups that come, go, and change, and the claim of who is empty for a
 * moment.
 */
#include "tests/serial_device.h"

#include "core/core.h"
#include "core/spi.h"

static struct sd device;

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

static void start(struct sd *d)
{
	sd_start(d, &weir_policy_weir, NULL);
}

static void set_weights(struct sd *d, struct weir_group *g, uint32_t weight, uint32_t own)
{
	struct weir_group_attr attr;

	weir_group_get(g, &attr);
	attr.weight = weight;
	attr.own_weight = own;
	assert_int_equal(weir_group_set(g, &attr, d->now), 0);
}

/* Of all server time, within so many parts of a million of itself. */
static void expect_share(const struct sd *d, const struct sd_stream *s, uint64_t want_ppm,
			 uint64_t off_ppm)
{
	uint64_t off = want_ppm * off_ppm / 1000000;

	assert_in_range(sd_share_ppm(d, s), want_ppm - off, want_ppm + off);
}

/* ---- ratios ---- */

static void two_to_three(void **state)
{
	struct sd *d = *state;
	struct sd_stream *a, *b;

	start(d);
	a = sd_load(d, sd_group(d, weir_root(d->w), 200), 64);
	b = sd_load(d, sd_group(d, weir_root(d->w), 300), 64);
	sd_run(d, SD_S / 2);
	sd_clear(d);
	sd_run(d, 10 * SD_S);
	assert_true(d->done > 480000);
	expect_share(d, a, 400000, 1000);
	expect_share(d, b, 600000, 1000);
}

static void one_to_ten_thousand(void **state)
{
	struct sd *d = *state;
	struct sd_stream *a, *b;

	start(d);
	a = sd_load(d, sd_group(d, weir_root(d->w), 1), 4);
	b = sd_load(d, sd_group(d, weir_root(d->w), 10000), 32);
	sd_run(d, 50 * SD_S);
	assert_true(a->done >= 200);
	expect_share(d, a, 1000000 / 10001, 20000);
	assert_true(b->done > 2400000);
	/* Its turn is every 10,001st place of 20 us. */
	assert_true(a->wait_max_ns < 4 * 10001 * 20 * SD_US * 110 / 100);
}

static void many_weights(void **state)
{
	struct sd *d = *state;
	struct sd_stream *s[20];
	uint64_t sum = 0;
	uint32_t n;

	start(d);
	for (n = 0; n < 20; n++) {
		s[n] = sd_load(d, sd_group(d, weir_root(d->w), 37 * (n + 1)), 8 + n);
		sum += 37 * (n + 1);
	}
	sd_run(d, SD_S / 2);
	sd_clear(d);
	sd_run(d, 5 * SD_S);
	for (n = 0; n < 20; n++)
		expect_share(d, s[n], 37 * (n + 1) * UINT64_C(1000000) / sum, 2000);
}

/* Requests of inner nodes compete as one child of the node's own weight, also at the root. */
static void tree(void **state)
{
	struct sd *d = *state;
	struct weir_group *root, *p, *q;
	struct sd_stream *s[6];
	static const uint64_t want[6] = {200000, 150000, 75000, 375000, 66666, 133333};
	uint32_t n;

	start(d);
	root = weir_root(d->w);
	p = sd_group(d, root, 300);
	q = sd_group(d, root, 100);
	s[0] = sd_load(d, root, 16);				    /* 100 of 500 */
	s[1] = sd_load(d, p, 16);				    /* 3/5 x 100/400 */
	s[2] = sd_load(d, sd_group(d, p, 50), 16);		    /* 3/5 x 50/400 */
	s[3] = sd_load(d, sd_group(d, p, 250), 16);		    /* 3/5 x 250/400 */
	s[4] = sd_load(d, q, 16);				    /* 1/5 x 100/300 */
	s[5] = sd_load(d, sd_group(d, sd_group(d, q, 200), 7), 16); /* 1/5 x 200/300, two deep */
	sd_run(d, SD_S / 2);
	sd_clear(d);
	sd_run(d, 6 * SD_S);
	for (n = 0; n < 6; n++)
		expect_share(d, s[n], want[n], 1000);
	/* The root's own weight is settable as any. */
	set_weights(d, root, 100, 600);
	set_weights(d, p, 300, 700);
	sd_run(d, SD_S / 10);
	sd_clear(d);
	sd_run(d, 6 * SD_S);
	expect_share(d, s[0], 600000, 1000);
	expect_share(d, s[1], 210000, 1000);
	expect_share(d, s[5], 66666, 1000);
}

/* Large and small, reads and writes: shares are of the device's time, not of requests or bytes. */
static void in_device_time(void **state)
{
	struct sd *d = *state;
	struct sd_stream *small, *large, *writes;

	start(d);
	small = sd_load(d, sd_group(d, weir_root(d->w), 100), 64);
	large = sd_stream(d, sd_group(d, weir_root(d->w), 100), 16);
	large->nr_sectors = 256;
	sd_start_stream(d, large);
	writes = sd_stream(d, sd_group(d, weir_root(d->w), 200), 32);
	writes->op = WEIR_OP_WRITE;
	writes->nr_sectors = 32;
	sd_start_stream(d, writes);
	sd_run(d, SD_S / 2);
	sd_clear(d);
	sd_run(d, 5 * SD_S);
	expect_share(d, small, 250000, 2000);
	expect_share(d, large, 250000, 2000);
	expect_share(d, writes, 500000, 2000);
	assert_true(large->done_bytes > 3 * small->done_bytes);
}

/* ---- changes under load ---- */

static void come_and_go(void **state)
{
	struct sd *d = *state;
	struct weir_group *root, *p, *x;
	struct sd_stream *a, *b, *c;
	uint32_t n;

	start(d);
	root = weir_root(d->w);
	p = sd_group(d, root, 400);
	a = sd_load(d, sd_group(d, root, 100), 32);
	b = sd_load(d, sd_group(d, root, 200), 32);
	c = sd_load(d, sd_group(d, p, 10), 32);
	sd_run(d, SD_S / 2);
	sd_clear(d);
	/* Beside them a group is born, works 10 ms, and is removed with its requests queued. */
	for (n = 0; n < 100; n++) {
		struct sd_stream *s;

		x = sd_group(d, n % 2 ? root : p, 1 + n * 97 % 10000);
		s = sd_load(d, x, 4);
		sd_run(d, 10 * SD_MS);
		sd_stop_stream(s);
		assert_int_equal(weir_group_remove(x, d->now), 0);
		sd_run(d, 10 * SD_MS);
	}
	assert_true(a->done > 8000);
	assert_in_range(b->server_ns * 1000 / a->server_ns, 1990, 2010);
	assert_in_range(c->server_ns * 1000 / a->server_ns, 2500,
			4020); /* p shares with half of them */
}

/* A new weight is in force at the next dispatch: no debt at the old one is left standing. */
static void weights_change(void **state)
{
	static const uint32_t weight[] = {1, 10000, 100, 1, 10000, 500, 2, 9999};
	struct sd *d = *state;
	struct weir_group *g;
	struct sd_stream *a, *b;
	uint32_t n;

	start(d);
	g = sd_group(d, weir_root(d->w), 100);
	a = sd_load(d, g, 32);
	b = sd_load(d, sd_group(d, weir_root(d->w), 100), 32);
	sd_run(d, SD_S / 10);
	for (n = 0; n < sizeof(weight) / sizeof(weight[0]); n++) {
		uint64_t want_ppm = weight[n] * UINT64_C(1000000) / (weight[n] + 100);

		set_weights(d, g, weight[n], 100);
		sd_run(d, 200 * SD_US); /* what is in the device was sent before */
		sd_clear(d);
		sd_run(d, SD_S);
		/* Within 1 %, or two requests of 50,000. */
		assert_in_range(sd_share_ppm(d, a) + 50, want_ppm - want_ppm / 100,
				want_ppm + want_ppm / 100 + 100);
		assert_int_equal(sd_share_ppm(d, a) + sd_share_ppm(d, b) > 999990, 1);
	}
}

/* From the lowest weight to the highest: one request at the old one would be a debt of 200 ms. */
static void debt_is_converted(void **state)
{
	struct sd *d = *state;
	struct weir_group *g;
	struct sd_stream *a, *b;

	start(d);
	g = sd_group(d, weir_root(d->w), 1);
	a = sd_load(d, g, 32);
	b = sd_load(d, sd_group(d, weir_root(d->w), 10000), 32);
	while (!a->done || b->done < 5000)
		sd_run(d, SD_MS);
	set_weights(d, g, 10000, 100);
	sd_run(d, 500 * SD_US);
	sd_clear(d);
	sd_run(d, 20 * SD_MS);
	assert_in_range(a->done, b->done - 3, b->done + 3);
}

/* ---- claims ---- */

/* One block at a time, with some 200 us of thinking, beside three that keep the device full. */
static struct sd_stream *thinker_and_deep_ones(struct sd *d)
{
	struct sd_stream *thinker;
	uint32_t n;

	/* The last to be created: it must not live on ties. */
	for (n = 0; n < 3; n++)
		sd_load(d, sd_group(d, weir_root(d->w), 100), 256);
	thinker = sd_stream(d, sd_group(d, weir_root(d->w), 100), 1);
	thinker->think_ns = 150 * SD_US;
	thinker->think_spread_ns = 110 * SD_US; /* out of step with the server */
	sd_start_stream(d, thinker);
	sd_run(d, 3 * SD_S);
	sd_clear(d);
	sd_run(d, 5 * SD_S);
	assert_true(thinker->done > 11000);
	return thinker;
}

/* At a fixed depth it takes the next place that gets free: after one request's time at most. */
static void thinker_takes_the_next_place(void **state)
{
	uint64_t values[WEIR_TUNABLES_MAX];
	struct sd *d = *state;
	struct sd_stream *thinker;

	util_defaults(&weir_policy_weir, values);
	util_tune(&weir_policy_weir, values, "adapt", 0);
	sd_start(d, &weir_policy_weir, values);
	thinker = thinker_and_deep_ones(d);
	assert_in_range(thinker->wait_max_ns, 1, 20 * SD_US);
	/* Five in flight, of 20 us, and the pipeline: 180 us after at most 20. */
	assert_true(thinker->latency.max_ns <= 200 * SD_US);
	assert_true(sd_busy_ppm(d) >= 999000);
}

/* While the depth is learned, too, but for those moments in which less is tried after more. */
static void thinker_while_learning(void **state)
{
	struct sd *d = *state;
	struct sd_stream *thinker;

	start(d);
	thinker = thinker_and_deep_ones(d);
	assert_true(thinker->wait_sum_ns / thinker->done <= 20 * SD_US);
	assert_true(thinker->wait_max_ns <= 100 * SD_US);
	/* 100 us on the idle device. */
	assert_true(weir_hist_percentile_ns(&thinker->latency, 990000) <= 250 * SD_US);
	assert_true(sd_busy_ppm(d) >= 970000);
}

/* 50 ms on, 50 ms off: while it is on, it gets what its weight promises. */
static void bursts(void **state)
{
	struct sd *d = *state;
	struct sd_stream *burst;

	start(d);
	burst = sd_stream(d, sd_group(d, weir_root(d->w), 300), 32);
	burst->on_ns = 50 * SD_MS;
	burst->off_ns = 50 * SD_MS;
	sd_start_stream(d, burst);
	sd_load(d, sd_group(d, weir_root(d->w), 100), 64);
	sd_run(d, SD_S);
	sd_clear(d);
	sd_run(d, 5 * SD_S);
	/* 3/4 of half of the time; and not more, but for what is still queued at the end of each.
	 */
	assert_in_range(sd_share_ppm(d, burst), 375000 * 95 / 100, 375000 * 103 / 100);
	assert_true(sd_busy_ppm(d) >= 980000);
}

/* Who was idle for a second starts where the others are, plus one request. */
static void no_credit_from_idle_time(void **state)
{
	struct sd *d = *state;
	struct sd_stream *a, *b;

	start(d);
	a = sd_load(d, sd_group(d, weir_root(d->w), 100), 64);
	sd_run(d, SD_S);
	b = sd_load(d, sd_group(d, weir_root(d->w), 100), 64);
	sd_run(d, 500 * SD_US); /* what was in the device first */
	sd_clear(d);
	sd_run(d, 20 * SD_MS);
	assert_in_range(a->done + 3, b->done, b->done + 6);
}

/* ---- far ends of the clock ---- */

/*
 * A group of weight 1, alone, moves the virtual time by 2^63 in 2.4 hours of device time. Whoever
 * was there before and comes back then must not seem to be from the future.
 */
static void stale_tag(void **state)
{
	static struct util_host host;
	struct util_host *h = &host;
	struct weir_group *a, *b;
	uint32_t n, turn, served, of_b;

	sd_start(*state, &weir_policy_weir, NULL);
	util_host_init(h);
	h->cfg.profile.rbps = 1024; /* 4 s a request */
	util_host_start(h, &weir_policy_weir, NULL);
	a = util_group(h, weir_root(h->w), 1);
	b = util_group(h, weir_root(h->w), 1);
	util_expect(h, util_insert_as(h, b, NULL, WEIR_OP_READ, 0, 8));
	for (turn = 0; turn < 8; turn++) {
		/* 600 at a time, from 0 to 5.3 hours: past half of the clock, and past its end. */
		for (n = 0; n < 600 && turn; n++) {
			h->nr_rqs = 0;
			util_expect(h, util_insert_as(h, a, NULL, WEIR_OP_READ, 0, 8));
		}
		h->nr_rqs = 0;
		for (n = 0; n < 8; n++) {
			util_insert_as(h, a, NULL, WEIR_OP_READ, 0, 8);
			util_insert_as(h, b, NULL, WEIR_OP_READ, 0, 8);
		}
		/* Half and half from the beginning, but for one request that each may be ahead. */
		for (n = 0, of_b = 0; n < 16; n++) {
			served = util_dispatch(h);
			util_complete(h, served);
			of_b += h->rq[served].group == b;
			assert_in_range(2 * of_b + 3, n + 1, n + 1 + 6);
		}
		util_expect(h, UTIL_NONE);
	}
	h->nr_rqs = 0;
	util_host_stop(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_to_three, setup, teardown),
		cmocka_unit_test_setup_teardown(one_to_ten_thousand, setup, teardown),
		cmocka_unit_test_setup_teardown(many_weights, setup, teardown),
		cmocka_unit_test_setup_teardown(tree, setup, teardown),
		cmocka_unit_test_setup_teardown(in_device_time, setup, teardown),
		cmocka_unit_test_setup_teardown(come_and_go, setup, teardown),
		cmocka_unit_test_setup_teardown(weights_change, setup, teardown),
		cmocka_unit_test_setup_teardown(debt_is_converted, setup, teardown),
		cmocka_unit_test_setup_teardown(thinker_takes_the_next_place, setup, teardown),
		cmocka_unit_test_setup_teardown(thinker_while_learning, setup, teardown),
		cmocka_unit_test_setup_teardown(bursts, setup, teardown),
		cmocka_unit_test_setup_teardown(no_credit_from_idle_time, setup, teardown),
		cmocka_unit_test_setup_teardown(stale_tag, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
