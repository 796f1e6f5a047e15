// SPDX-License-Identifier: GPL-2.0-only
/* core/stats.c: histograms and their percentiles, what is counted when, subtrees, and the reset. */
#include "tests/util_host.h"

#include "core/core.h"

static struct util_host host;

static int setup(void **state)
{
	util_host_init(&host);
	util_host_start(&host, &weir_policy_noop, NULL);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

/* ---- histograms ---- */

/* Upper bound of the bucket of a value, as the percentile of a histogram shows it. */
static uint64_t shown(uint64_t value_ns)
{
	static struct weir_hist h;

	memset(&h, 0, sizeof(h));
	weir_hist_add(&h, value_ns);
	/* The largest value must not cap the bound: one more sample far above. */
	h.max_ns = UINT64_MAX;
	return weir_hist_percentile_ns(&h, 500000);
}

static void check_bound(uint64_t value_ns)
{
	uint64_t bound = shown(value_ns);

	if (value_ns < UINT64_C(1) << WEIR_HIST_MIN_BITS) {
		assert_int_equal(bound, 1024 + 128);
		return;
	}
	if (value_ns >= UINT64_C(1) << WEIR_HIST_MAX_BITS) {
		assert_int_equal(bound, UINT64_C(1) << WEIR_HIST_MAX_BITS);
		return;
	}
	assert_true(bound > value_ns);
	assert_true(bound - value_ns <= value_ns / 8 + 1);
}

static void error_is_an_eighth(void **unused)
{
	uint64_t seed = 1, value;
	unsigned int bit, n;

	(void)unused;
	for (bit = 0; bit < 40; bit++) {
		value = UINT64_C(1) << bit;
		check_bound(value - 1);
		check_bound(value);
		check_bound(value + 1);
		for (n = 0; n < 100; n++)
			check_bound(value + util_below(&seed, value));
	}
	check_bound(UINT64_MAX);
}

static void buckets_are_in_order(void **unused)
{
	unsigned int last = 0, index;
	uint64_t value;

	(void)unused;
	assert_int_equal(weir_hist_index(0), 0);
	assert_int_equal(weir_hist_index(1023), 0);
	assert_int_equal(weir_hist_index(1151), 0);
	assert_int_equal(weir_hist_index(1152), 1);
	assert_int_equal(weir_hist_index(2047), 7);
	assert_int_equal(weir_hist_index(2048), 8);
	assert_int_equal(weir_hist_index(UINT64_MAX), WEIR_HIST_BUCKETS - 1);
	/* No bucket is left out, none is gone back to. */
	for (value = 1024; value < UINT64_C(1) << 37; value += value / 16) {
		index = weir_hist_index(value);
		assert_true(index == last || index == last + 1);
		last = index;
	}
	assert_int_equal(last, WEIR_HIST_BUCKETS - 1);
}

static void percentiles(void **unused)
{
	static struct weir_hist h;
	unsigned int n;

	(void)unused;
	memset(&h, 0, sizeof(h));
	assert_int_equal(weir_hist_percentile_ns(&h, 500000), 0);
	/* 1000 values: 900 of 10 us, 90 of 100 us, 10 of 1 ms. */
	for (n = 0; n < 1000; n++)
		weir_hist_add(&h, n < 900 ? 10000 : n < 990 ? 100000 : 1000000);
	assert_int_equal(h.count, 1000);
	assert_int_equal(h.sum_ns, 900 * 10000 + 90 * 100000 + 10 * 1000000);
	assert_int_equal(h.max_ns, 1000000);
	assert_int_equal(weir_hist_percentile_ns(&h, 0), 10240);
	assert_int_equal(weir_hist_percentile_ns(&h, 500000), 10240);
	assert_int_equal(weir_hist_percentile_ns(&h, 899999), 10240);
	assert_int_equal(weir_hist_percentile_ns(&h, 900000), 106496); /* the 901st */
	assert_int_equal(weir_hist_percentile_ns(&h, 989999), 106496);
	assert_int_equal(weir_hist_percentile_ns(&h, 990000),
			 1000000); /* no more than the largest */
	assert_int_equal(weir_hist_percentile_ns(&h, 1000000), 1000000);
}

/* A bucket of 32 bits is full: all are halved, and percentiles stay. */
static void full_buckets(void **unused)
{
	static struct weir_bins bins;

	(void)unused;
	memset(&bins, 0, sizeof(bins));
	bins.bucket[weir_hist_index(5000)] = UINT32_MAX;
	bins.bucket[weir_hist_index(9000)] = 1000;
	weir_bins_add(&bins, 5000);
	assert_int_equal(bins.bucket[weir_hist_index(5000)], UINT32_MAX / 2 + 1);
	assert_int_equal(bins.bucket[weir_hist_index(9000)], 500);
	weir_bins_add(&bins, 9000);
	assert_int_equal(bins.bucket[weir_hist_index(9000)], 501);
}

/* ---- counters ---- */

/* Reads own or subtree counters and checks the identities of <weir/stats.h>. */
static struct weir_group_stats read_stats(struct util_host *h, struct weir_group *g, bool own)
{
	struct weir_group_stats s;
	uint64_t waits_ns = 0;
	unsigned int i;

	if (own)
		weir_group_read_own_stats(g, h->now, &s);
	else
		weir_group_read_stats(g, h->now, &s);
	for (i = 0; i < WEIR_NR_DIRS; i++) {
		const struct weir_dir_stats *d = &s.dir[i];

		assert_int_equal(d->inserted,
				 d->completed + d->merged + d->removed + d->waiting + d->in_flight);
	}
	for (i = 0; i < WEIR_NR_WAITS; i++)
		waits_ns += s.wait_ns[i];
	assert_int_equal(waits_ns, s.backlogged_ns);
	return s;
}

static void one_request(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w);
	uint32_t a = util_insert(h, WEIR_OP_READ, 0, 24);
	struct weir_group_stats s = read_stats(h, root, true);

	assert_int_equal(s.dir[WEIR_READ].inserted, 1);
	assert_int_equal(s.dir[WEIR_READ].waiting, 1);
	assert_int_equal(s.dir[WEIR_READ].device_ns, 0);
	h->now += 5000;
	assert_int_equal(util_dispatch(h), a);
	s = read_stats(h, root, true);
	assert_int_equal(s.dir[WEIR_READ].waiting, 0);
	assert_int_equal(s.dir[WEIR_READ].in_flight, 1);
	assert_int_equal(s.dir[WEIR_READ].queue_wait_ns, 5000);
	assert_int_equal(s.dir[WEIR_READ].queue_wait_max_ns, 5000);
	/* 1 GB/s and 100,000 IOPS: 10 us for the first page, 4.096 for each more. */
	assert_int_equal(h->rq[a].cost_ns, 18192);
	assert_int_equal(s.dir[WEIR_READ].device_ns, 18192);
	assert_int_equal(s.dir[WEIR_READ].completed, 0);
	h->now += 7000;
	util_complete(h, a);
	s = read_stats(h, root, true);
	assert_int_equal(s.dir[WEIR_READ].completed, 1);
	assert_int_equal(s.dir[WEIR_READ].in_flight, 0);
	assert_int_equal(s.dir[WEIR_READ].bytes, 24 * 512);
	assert_int_equal(s.dir[WEIR_READ].service_ns, 7000);
	assert_int_equal(s.dir[WEIR_READ].service_max_ns, 7000);
	assert_int_equal(s.dir[WEIR_WRITE].inserted, 0);
	assert_int_equal(s.backlogged_ns, 5000);
	assert_int_equal(s.in_use_ns, 12000);
}

static void directions_and_flushes(void **state)
{
	struct util_host *h = *state;
	struct weir_group_stats s;

	util_expect(h, util_insert(h, WEIR_OP_READ, 0, 8));
	util_expect(h, util_insert(h, WEIR_OP_WRITE, 0, 8));
	util_expect(h, util_insert(h, WEIR_OP_DISCARD, 0, 64));
	util_expect(h, util_insert(h, WEIR_OP_WRITE_ZEROES, 0, 16));
	util_expect(h, util_insert(h, WEIR_OP_FLUSH, 0, 0));
	s = read_stats(h, weir_root(h->w), false);
	assert_int_equal(s.dir[WEIR_READ].completed, 1);
	assert_int_equal(s.dir[WEIR_WRITE].completed, 4);
	assert_int_equal(s.dir[WEIR_WRITE].bytes, (8 + 64 + 16) * 512);
	assert_int_equal(s.flushes, 1);
}

static void histograms_of_waits(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g = util_group(h, root, 100);
	struct weir_hist hist;
	uint32_t a, b;

	a = util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8);
	b = util_insert(h, WEIR_OP_READ, 1 << 20, 8);
	h->now += 50000;
	assert_int_equal(util_dispatch(h), a);
	h->now += 50000;
	assert_int_equal(util_dispatch(h), b);
	util_complete(h, a);
	h->now += 300000;
	util_complete(h, b);
	weir_group_read_hist(g, WEIR_READ, WEIR_HIST_QUEUE_WAIT, &hist);
	assert_int_equal(hist.count, 1);
	assert_int_equal(hist.sum_ns, 50000);
	assert_int_equal(hist.bucket[weir_hist_index(50000)], 1);
	weir_group_read_hist(root, WEIR_READ, WEIR_HIST_QUEUE_WAIT, &hist);
	assert_int_equal(hist.count, 2);
	assert_int_equal(hist.sum_ns, 150000);
	assert_int_equal(hist.max_ns, 100000);
	weir_group_read_hist(root, WEIR_READ, WEIR_HIST_SERVICE, &hist);
	assert_int_equal(hist.count, 2);
	assert_int_equal(hist.sum_ns, 350000);
	assert_int_equal(hist.max_ns, 300000);
	assert_int_equal(weir_hist_percentile_ns(&hist, 400000), 53248);
	weir_group_read_hist(root, WEIR_WRITE, WEIR_HIST_SERVICE, &hist);
	assert_int_equal(hist.count, 0);
}

/* Subtrees of uneven shape are walked completely, and only they. */
static void subtrees(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g[7];
	static const int parent[7] = {-1, 0, 0, 2, 2, -1, 5};
	static const uint32_t below[7] = {0x1f, 0x02, 0x1c, 0x08, 0x10, 0x60, 0x40};
	uint32_t i, k;

	for (i = 0; i < 7; i++)
		g[i] = util_group(h, parent[i] < 0 ? root : g[parent[i]], 100);
	util_expect(h, util_insert(h, WEIR_OP_READ, 0, 8)); /* the root's own */
	for (i = 0; i < 7; i++)
		for (k = 0; k < 1u << i; k++) /* sums are sets */
			util_expect(h, util_insert_as(h, g[i], NULL, WEIR_OP_READ, 0, 8));
	for (i = 0; i < 7; i++) {
		assert_int_equal(read_stats(h, g[i], true).dir[WEIR_READ].completed, 1u << i);
		assert_int_equal(read_stats(h, g[i], false).dir[WEIR_READ].completed, below[i]);
		assert_int_equal(read_stats(h, g[i], false).dir[WEIR_READ].device_ns,
				 below[i] * UINT64_C(10000));
	}
	assert_int_equal(read_stats(h, root, true).dir[WEIR_READ].completed, 1);
	assert_int_equal(read_stats(h, root, false).dir[WEIR_READ].completed, 128);
}

static void reset(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g = util_group(h, root, 300);
	struct weir_group_stats s;
	struct weir_hist hist;
	uint32_t a, b, c;

	a = util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8);
	b = util_insert_as(h, g, NULL, WEIR_OP_READ, 1 << 20, 8);
	c = util_insert(h, WEIR_OP_WRITE, 0, 8);
	h->now += 1000;
	assert_int_equal(util_dispatch(h), a);
	h->now += 1000;
	weir_stats_reset(h->w, h->now);
	s = read_stats(h, g, true);
	assert_int_equal(s.dir[WEIR_READ].inserted, 2); /* what is there stays counted */
	assert_int_equal(s.dir[WEIR_READ].waiting, 1);
	assert_int_equal(s.dir[WEIR_READ].in_flight, 1);
	assert_int_equal(s.dir[WEIR_READ].queue_wait_ns, 0);
	assert_int_equal(s.dir[WEIR_READ].device_ns, 0);
	assert_int_equal(s.backlogged_ns, 0);
	assert_int_equal(s.entitled_ns, 0);
	assert_int_equal(s.in_use_ns, 0);
	assert_int_equal(s.active_ns, 0);
	weir_group_read_hist(g, WEIR_READ, WEIR_HIST_QUEUE_WAIT, &hist);
	assert_int_equal(hist.count, 0);
	h->now += 4000;
	s = read_stats(h, g, true);
	assert_int_equal(s.backlogged_ns, 4000);
	assert_int_equal(s.active_ns, 4000);
	assert_int_equal(s.in_use_ns, 4000);
	assert_int_equal(read_stats(h, g, false).entitled_ns,
			 3000); /* 300 : 100 of the root's own */
	/* Requeued after the reset: its charge was forgotten, and nothing goes below 0. */
	weir_requeue(h->w, &h->rq[a], WEIR_REQUEUE_INSERT, h->now);
	assert_int_equal(read_stats(h, g, true).dir[WEIR_READ].device_ns, 0);
	util_expect(h, a);
	util_expect(h, b);
	util_expect(h, c);
	assert_int_equal(read_stats(h, g, true).dir[WEIR_READ].device_ns, 20000);
}

static void cause_names(void **unused)
{
	static const char *const name[WEIR_NR_WAITS] = {"ceiling", "latency", "floor", "idle",
							"device",  "share",   "host"};
	unsigned int i;

	(void)unused;
	for (i = 0; i < WEIR_NR_WAITS; i++)
		assert_string_equal(weir_wait_cause_name((enum weir_wait_cause)i), name[i]);
	assert_string_equal(weir_wait_cause_name(WEIR_NR_WAITS), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(error_is_an_eighth),
		cmocka_unit_test(buckets_are_in_order),
		cmocka_unit_test(percentiles),
		cmocka_unit_test(full_buckets),
		cmocka_unit_test_setup_teardown(one_request, setup, teardown),
		cmocka_unit_test_setup_teardown(directions_and_flushes, setup, teardown),
		cmocka_unit_test_setup_teardown(histograms_of_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(subtrees, setup, teardown),
		cmocka_unit_test_setup_teardown(reset, setup, teardown),
		cmocka_unit_test(cause_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
