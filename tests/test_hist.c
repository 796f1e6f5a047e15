// SPDX-License-Identifier: GPL-2.0-only
/* The client latency histogram against sorted arrays and sums done the long way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lab/hist.h"
#include "lab/rng.h"

static void values_below_128_are_exact(void **state)
{
	uint64_t ns;

	(void)state;
	for (ns = 0; ns < 128; ns++) {
		assert_int_equal(lab_hist_index(ns), ns);
		assert_int_equal(lab_hist_value_ns((unsigned int)ns), ns);
	}
}

static void buckets_follow_each_other(void **state)
{
	uint64_t ns, before = 0;
	unsigned int index;

	(void)state;
	/* Every power of two and its neighbours: the index never jumps and never goes back. */
	for (ns = 1; ns < UINT64_C(1) << 34; ns += 1 + ns / 1000) {
		index = lab_hist_index(ns);
		assert_true(index == before || index == before + 1);
		before = index;
	}
	assert_int_equal(lab_hist_index((UINT64_C(1) << 34) - 1), LAB_HIST_BUCKETS - 1);
	/* fio's layout: 29 groups of 64 */
	assert_int_equal(LAB_HIST_BUCKETS, 1856);
	assert_int_equal(lab_hist_index(128), 128);
	assert_int_equal(lab_hist_index(129), 128);
	assert_int_equal(lab_hist_index(255), 191);
	assert_int_equal(lab_hist_index(256), 192);
}

static void value_is_the_middle_within_one_128th(void **state)
{
	uint64_t ns, value, off;

	(void)state;
	for (ns = 1; ns < UINT64_C(1) << 34; ns += 1 + ns / 997) {
		value = lab_hist_value_ns(lab_hist_index(ns));
		off = value > ns ? value - ns : ns - value;
		assert_true(off * 128 <= ns);
		assert_int_equal(lab_hist_index(value), lab_hist_index(ns));
	}
}

static void large_values_are_clamped(void **state)
{
	static struct lab_lat lat;

	(void)state;
	assert_int_equal(lab_hist_index(UINT64_C(1) << 34), LAB_HIST_BUCKETS - 1);
	assert_int_equal(lab_hist_index(UINT64_MAX), LAB_HIST_BUCKETS - 1);
	lab_lat_init(&lat);
	lab_lat_add(&lat, UINT64_C(60000000000));
	/* The bucket would say 17 s; the extremes are known. */
	assert_int_equal(lab_lat_percentile_ns(&lat, 50000000), UINT64_C(60000000000));
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void percentiles_of_sorted_values(void **state)
{
	static const uint32_t percent[] = {1, 5, 25, 50, 75, 90, 99, 100};
	enum { NR = 20000 };
	static uint64_t value[NR];
	static struct lab_lat lat;
	struct lab_rng rng;
	unsigned int i;

	(void)state;
	lab_rng_seed(&rng, 7, 0);
	lab_lat_init(&lat);
	for (i = 0; i < NR; i++) {
		value[i] = lab_rng_exp(&rng, 1000000) + 1000;
		lab_lat_add(&lat, value[i]);
	}
	qsort(value, NR, sizeof(value[0]), compare);
	for (i = 0; i < sizeof(percent) / sizeof(percent[0]); i++) {
		uint64_t want = value[(uint64_t)NR * percent[i] / 100 - 1];
		uint64_t got = lab_lat_percentile_ns(&lat, percent[i] * 1000000);
		uint64_t off = got > want ? got - want : want - got;

		assert_true(off * 64 <= want);
	}
	assert_int_equal(lab_lat_percentile_ns(&lat, 100000000), value[NR - 1]);
	assert_int_equal(lat.min_ns, value[0]);
	assert_int_equal(lat.max_ns, value[NR - 1]);
}

static void equal_values_have_equal_percentiles(void **state)
{
	static struct lab_lat lat;
	unsigned int i;

	(void)state;
	lab_lat_init(&lat);
	for (i = 0; i < 10; i++)
		lab_lat_add(&lat, 100000);
	/* The bucket's middle is 99840: below all that was seen. */
	assert_int_equal(lab_hist_value_ns(lab_hist_index(100000)), 99840);
	assert_int_equal(lab_lat_percentile_ns(&lat, 1000000), 100000);
	assert_int_equal(lab_lat_percentile_ns(&lat, 99990000), 100000);
	assert_true(lab_lat_mean_ns(&lat) == 100000);
	assert_true(lab_lat_stddev_ns(&lat) == 0);
}

static void moments(void **state)
{
	static struct lab_lat lat;

	(void)state;
	lab_lat_init(&lat);
	assert_int_equal(lab_lat_percentile_ns(&lat, 50000000), 0);
	assert_true(lab_lat_mean_ns(&lat) == 0);
	lab_lat_add(&lat, 2);
	assert_true(lab_lat_stddev_ns(&lat) == 0);
	lab_lat_add(&lat, 4);
	lab_lat_add(&lat, 4);
	lab_lat_add(&lat, 4);
	lab_lat_add(&lat, 5);
	lab_lat_add(&lat, 5);
	lab_lat_add(&lat, 7);
	lab_lat_add(&lat, 9);
	/* Mean 5, squares of differences 32, over 7: 2.138, of which 1/1024 is kept. */
	assert_true(lab_lat_mean_ns(&lat) == 5);
	assert_true(lab_lat_stddev_ns(&lat) > 1.99 && lab_lat_stddev_ns(&lat) < 2.14);
	assert_int_equal(lat.nr, 8);
}

static void large_moments_do_not_overflow(void **state)
{
	static struct lab_lat lat;
	uint64_t i;

	(void)state;
	lab_lat_init(&lat);
	/* As if a billion I/Os had taken 10 and 30 s: sums as lab_lat_add() would have made them.
	 */
	lat.nr = 1000000000;
	lat.sum_ns = UINT64_C(10000000000) * 500000000 + UINT64_C(26000000000) * 500000000;
	for (i = 0; i < 2; i++) {
		lab_u128 ns = i ? UINT64_C(26000000000) : UINT64_C(10000000000);

		lat.sum_squares += ns * ns * 500000000;
	}
	assert_true(lab_lat_stddev_ns(&lat) > 7.99e9 && lab_lat_stddev_ns(&lat) < 8.01e9);
}

static void merging_is_adding(void **state)
{
	static struct lab_lat a, b, both;
	struct lab_rng rng;
	unsigned int i;

	(void)state;
	lab_rng_seed(&rng, 3, 1);
	lab_lat_init(&a);
	lab_lat_init(&b);
	lab_lat_init(&both);
	for (i = 0; i < 1000; i++) {
		uint64_t ns = lab_rng_below(&rng, 1 << (i % 30));

		lab_lat_add(i % 3 ? &a : &b, ns);
		lab_lat_add(&both, ns);
	}
	lab_lat_merge(&a, &b);
	assert_memory_equal(&a, &both, sizeof(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_below_128_are_exact),
		cmocka_unit_test(buckets_follow_each_other),
		cmocka_unit_test(value_is_the_middle_within_one_128th),
		cmocka_unit_test(large_values_are_clamped),
		cmocka_unit_test(percentiles_of_sorted_values),
		cmocka_unit_test(equal_values_have_equal_percentiles),
		cmocka_unit_test(moments),
		cmocka_unit_test(large_moments_do_not_overflow),
		cmocka_unit_test(merging_is_adding),
	};

	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}
