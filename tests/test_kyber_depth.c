// SPDX-License-Identifier: GPL-2.0-only
/* kyber: histograms, and the depths that follow from them. */
#include "tests/serial_device.h"

#include "core/spi.h"

static struct util_host host;

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define TARGET_READ (2 * MS)

static void start(struct util_host *h)
{
	util_host_init(h);
	h->cfg.nr_requests = 1024; /* so that places don't matter */
	util_host_start(h, &weir_policy_kyber, NULL);
}

static int setup(void **state)
{
	start(&host);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

/* Sectors that nothing merges with. */
static uint32_t insert(struct util_host *h, enum weir_op op)
{
	return util_insert(h, op, (uint64_t)h->nr_rqs * 1000, op == WEIR_OP_FLUSH ? 0 : 8);
}

static void forget_requests(struct util_host *h)
{
	assert_int_equal(weir_nr_waiting(h->w), 0);
	assert_int_equal(weir_nr_in_flight(h->w), 0);
	h->nr_rqs = 0;
}

/* As many requests of op as it is allowed in the device; then all complete at once. */
static uint32_t depth_of(struct util_host *h, enum weir_op op, uint32_t most)
{
	uint32_t n, nr = 0, first = h->nr_rqs, got;

	for (n = 0; n < most + 1; n++)
		insert(h, op);
	while ((got = util_dispatch(h)) != UTIL_NONE)
		nr++;
	for (n = first; n < h->nr_rqs; n++)
		if (h->rq[n].state == WEIR_RQ_QUEUED)
			assert_int_equal(weir_remove(h->w, &h->rq[n], h->now), 0);
	for (n = first; n < h->nr_rqs; n++)
		if (h->rq[n].state == WEIR_RQ_DISPATCHED)
			util_complete(h, n);
	return nr;
}

/*
 * So many requests, each of which waits for wait_ns and is in the device for io_ns. All of it takes
 * less than the 100 ms of the timer.
 */
static void samples(struct util_host *h, enum weir_op op, uint32_t nr, uint64_t wait_ns,
		    uint64_t io_ns)
{
	uint32_t n, at_once, first;

	for (; nr; nr -= at_once) {
		at_once = op == WEIR_OP_DISCARD ? 1 : nr < 64 ? nr : 64;
		first = h->nr_rqs;
		for (n = 0; n < at_once; n++)
			insert(h, op);
		h->now += wait_ns;
		for (n = 0; n < at_once; n++)
			assert_int_equal(util_dispatch(h), first + n);
		h->now += io_ns;
		for (n = 0; n < at_once; n++)
			util_complete(h, first + n);
	}
	forget_requests(h);
}

/* A look at the histograms: a call after the timer. */
static void look(struct util_host *h)
{
	h->now += 100 * MS;
	util_expect(h, insert(h, WEIR_OP_FLUSH));
	forget_requests(h);
}

/* The device's p90 of writes is beyond their target. */
static void congest(struct util_host *h)
{
	util_set_tunable(h, "write_lat_nsec", MS);
	samples(h, WEIR_OP_WRITE, 500, 0, 2 * MS);
}

/* Under congestion: depth x (step + 1) / 4 for each step of the p99, clamped. */
static void depth_by_step(void **state)
{
	struct util_host *h = &host;
	uint32_t step;

	(void)state;
	for (step = 0; step < 8; step++) {
		uint32_t want = 256 * (step + 1) / 4;
		uint64_t total_ns = (step + 1) * TARGET_READ / 4;

		start(h);
		congest(h);
		samples(h, WEIR_OP_READ, 500, total_ns - 100 * US, 100 * US);
		look(h);
		assert_int_equal(depth_of(h, WEIR_OP_READ, 256), want < 256 ? want : 256);
		/* Writes themselves are in step 7: doubled, which is more than there is. */
		assert_int_equal(depth_of(h, WEIR_OP_WRITE, 128), 128);
		util_host_stop(h);
	}
}

/* Up to and with the end of a step: 1 ns more is the next. */
static void steps_end_with_their_end(void **state)
{
	struct util_host *h = *state;

	congest(h);
	samples(h, WEIR_OP_READ, 500, TARGET_READ / 2 + 1, 0);
	look(h);
	assert_int_equal(depth_of(h, WEIR_OP_READ, 256), 192);
}

/* The p99 of 500 is the 495th: 5 outliers don't count, 6 do. The p90 allows 50. */
static void percentiles(void **state)
{
	struct util_host *h = &host;
	uint32_t n;

	(void)state;
	for (n = 5; n <= 6; n++) {
		start(h);
		congest(h);
		samples(h, WEIR_OP_READ, 500 - n, 0, TARGET_READ / 4);
		samples(h, WEIR_OP_READ, n, TARGET_READ / 2, 0);
		look(h);
		assert_int_equal(depth_of(h, WEIR_OP_READ, 256), n == 5 ? 64 : 128);
		util_host_stop(h);
	}
	for (n = 50; n <= 51; n++) {
		start(h);
		util_set_tunable(h, "write_lat_nsec", MS);
		samples(h, WEIR_OP_WRITE, n, 0, MS + 1);
		samples(h, WEIR_OP_WRITE, 500 - n, 0, MS / 4);
		samples(h, WEIR_OP_READ, 500, 0, TARGET_READ / 4);
		look(h);
		assert_int_equal(depth_of(h, WEIR_OP_READ, 256), n == 50 ? 256 : 64);
		util_host_stop(h);
	}
}

/* Without congestion only who misses its target gets more. */
static void without_congestion(void **state)
{
	struct util_host *h = *state;

	congest(h);
	samples(h, WEIR_OP_READ, 500, 0, TARGET_READ / 4);
	look(h);
	assert_int_equal(depth_of(h, WEIR_OP_READ, 256), 64);
	/* Short in the device and in the queue: stays. */
	samples(h, WEIR_OP_READ, 500, 0, TARGET_READ / 4);
	look(h);
	assert_int_equal(depth_of(h, WEIR_OP_READ, 256), 64);
	/* Long in the queue: grows, by 6/4 and 8/4, up to the most. */
	samples(h, WEIR_OP_READ, 500, TARGET_READ * 5 / 4, TARGET_READ / 4);
	look(h);
	assert_int_equal(depth_of(h, WEIR_OP_READ, 256), 96);
	samples(h, WEIR_OP_READ, 500, 3 * TARGET_READ, 0);
	look(h);
	assert_int_equal(depth_of(h, WEIR_OP_READ, 256), 192);
	samples(h, WEIR_OP_READ, 500, 3 * TARGET_READ, 0);
	look(h);
	assert_int_equal(depth_of(h, WEIR_OP_READ, 256), 256);
}

/* A p99 from before the congestion counts at its first look, and not at the second. */
static void remembered_once(void **state)
{
	struct util_host *h = *state;
	uint32_t n;

	samples(h, WEIR_OP_READ, 500, 0, TARGET_READ / 2);
	look(h);
	assert_int_equal(depth_of(h, WEIR_OP_READ, 256), 256);
	/* That left 256 samples of 0 ns: not enough for another p99. */
	forget_requests(h);
	for (n = 0; n < 2; n++) {
		congest(h);
		look(h);
	}
	assert_int_equal(depth_of(h, WEIR_OP_READ, 256), 128);
}

/* At least one in the device, however good: 64, 16, 4, 1. */
static void never_less_than_one(void **state)
{
	struct util_host *h = *state;
	uint32_t n;

	for (n = 0; n < 5; n++) {
		congest(h);
		samples(h, WEIR_OP_DISCARD, 500, 0, 0);
		look(h);
	}
	assert_int_equal(depth_of(h, WEIR_OP_DISCARD, 64), 1);
}

/* Fewer than 500 samples: the p90 comes a second after the first look at them. */
static void few_samples_take_a_second(void **state)
{
	struct util_host *h = *state;
	uint32_t n;

	util_set_tunable(h, "write_lat_nsec", MS);
	samples(h, WEIR_OP_READ, 500, 0, TARGET_READ / 4); /* remembered */
	look(h);
	for (n = 0; n < 11; n++) {
		assert_int_equal(depth_of(h, WEIR_OP_READ, 256), 256);
		forget_requests(h);
		samples(h, WEIR_OP_WRITE, 10, 0, 2 * MS);
		look(h); /* 102 ms after the one before */
	}
	assert_int_equal(depth_of(h, WEIR_OP_READ, 256), 64);
}

/*
 * The p99 takes its 500 samples: the window is one for both, and each time that it ends it is the
 * p90 that is computed.
 */
static void few_samples_give_no_p99(void **state)
{
	struct util_host *h = &host;
	uint32_t last;

	(void)state;
	for (last = 0; last <= 20; last += 20) {
		uint32_t n;

		start(h);
		for (n = 0; n < 30; n++) {
			congest(h);
			samples(h, WEIR_OP_READ, 16, 0, TARGET_READ / 4);
			look(h);
		}
		/* 480 of them in 3 s: nothing. The 500th gives it. */
		if (last) {
			congest(h);
			samples(h, WEIR_OP_READ, last, 0, TARGET_READ / 4);
			look(h);
		}
		assert_int_equal(depth_of(h, WEIR_OP_READ, 256), last ? 64 : 256);
		util_host_stop(h);
	}
}

/* Nothing in the device meanwhile: then the window's end does give a p99. */
static void window_of_what_ended(void **state)
{
	struct util_host *h = *state;
	uint32_t n;

	samples(h, WEIR_OP_READ, 100, 0, TARGET_READ / 4);
	for (n = 0; n < 25; n++) {
		congest(h);
		look(h);
	}
	assert_int_equal(depth_of(h, WEIR_OP_READ, 256), 64);
}

/* The timer is 100 ms after the first completion since the last look, not after the latest. */
static void timer(void **state)
{
	struct util_host *h = *state;
	uint64_t begin_ns = h->now;

	samples(h, WEIR_OP_DISCARD, 1, 0, 0);
	congest(h);
	samples(h, WEIR_OP_READ, 500, 0, TARGET_READ / 4);
	h->now = begin_ns + 100 * MS - 1;
	assert_int_equal(depth_of(h, WEIR_OP_READ, 256), 256);
	forget_requests(h);
	h->now++;
	assert_int_equal(depth_of(h, WEIR_OP_READ, 256), 64);
}

/* What waits for a token while the depth is held down is told to ask again when that may change. */
static void stall_names_the_timer(void **state)
{
	struct util_host *h = *state;
	struct weir_group_stats stats;
	struct weir_next next;
	uint64_t timer_ns;
	uint32_t n, first;

	congest(h);
	samples(h, WEIR_OP_READ, 500, 0, TARGET_READ / 4);
	look(h);
	samples(h, WEIR_OP_READ, 1, 0, US);
	timer_ns = h->now + 100 * MS;
	first = h->nr_rqs;
	for (n = 0; n < 65; n++)
		insert(h, WEIR_OP_READ);
	for (n = 0; n < 64; n++)
		assert_int_equal(util_dispatch(h), first + n);
	h->now += MS;
	weir_stats_reset(h->w, h->now);
	assert_null(weir_dispatch(h->w, h->now, &next));
	assert_int_equal(next.at_ns, timer_ns);
	h->now += 5 * MS;
	weir_group_read_stats(weir_root(h->w), h->now, &stats);
	assert_int_equal(stats.wait_ns[WEIR_WAIT_LATENCY], 5 * MS);
	for (n = 0; n < 64; n++)
		util_complete(h, first + n);
	util_expect(h, first + 64);
}

/* ---- a closed loop ---- */

/* One read at a time beside a writer: the writer's depth falls until reads are below 2 ms. */
static void reads_pass_beside_writes(void **state)
{
	static struct sd d;
	struct sd_stream *rd, *wr;
	uint64_t p99_ns;

	(void)state;
	sd_init(&d);
	d.cfg.nr_requests = 1024;
	sd_start(&d, &weir_policy_kyber, NULL);
	wr = sd_stream(&d, weir_root(d.w), 128);
	wr->op = WEIR_OP_WRITE;
	wr->flags = WEIR_RQ_SYNC;
	sd_start_stream(&d, wr);
	rd = sd_load(&d, weir_root(d.w), 2);
	/* 128 writes of 20 us: 2.6 ms, and the first look comes with the 500th read, after 0.6 s. */
	sd_run(&d, 500 * SD_MS);
	p99_ns = weir_hist_percentile_ns(&rd->latency, 990000);
	assert_in_range(p99_ns, 2500 * SD_US, 3000 * SD_US);
	sd_run(&d, 2 * SD_S);
	sd_clear(&d);
	sd_run(&d, SD_S);
	assert_int_equal(wr->in_device, 64);
	p99_ns = weir_hist_percentile_ns(&rd->latency, 990000);
	assert_in_range(p99_ns, 1200 * SD_US, 1600 * SD_US);
	/* The device is busy all the time. */
	assert_true(sd_busy_ppm(&d) > 990000);

	/* Without reads, and with more than the target can bear in its queue: back to the most. */
	sd_stop_stream(rd);
	wr = sd_stream(&d, weir_root(d.w), 600);
	wr->op = WEIR_OP_WRITE;
	wr->flags = WEIR_RQ_SYNC;
	sd_start_stream(&d, wr);
	sd_run(&d, SD_S);
	assert_in_range(d.in_device, 128, 129);
	sd_stop(&d);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depth_by_step), TEST(steps_end_with_their_end),
		cmocka_unit_test(percentiles),	 TEST(without_congestion),
		TEST(remembered_once),		 TEST(never_less_than_one),
		TEST(few_samples_take_a_second), cmocka_unit_test(few_samples_give_no_p99),
		TEST(window_of_what_ended),	 TEST(timer),
		TEST(stall_names_the_timer),	 cmocka_unit_test(reads_pass_beside_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
