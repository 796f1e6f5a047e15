// SPDX-License-Identifier: GPL-2.0-only
/* Random numbers: the generators' published outputs, and the distributions' shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/fixed.h"
#include "lab/rng.h"
#include "lab/rng_tables.h"

static void test_xoshiro_reference(void **state)
{
	/* The first outputs from the state 1, 2, 3, 4, as published with other implementations. */
	static const uint64_t expected[] = {
		UINT64_C(11520),
		UINT64_C(0),
		UINT64_C(1509978240),
		UINT64_C(1215971899390074240),
		UINT64_C(1216172134540287360),
		UINT64_C(607988272756665600),
		UINT64_C(16172922978634559625),
		UINT64_C(8476171486693032832),
		UINT64_C(10595114339597558777),
		UINT64_C(2904607092377533576),
	};
	struct lab_rng r = {{1, 2, 3, 4}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_true(lab_rng_u64(&r) == expected[i]);
}

static void test_seeding_is_pinned(void **state)
{
	struct lab_rng r;

	(void)state;
	/* Worked out with another implementation of splitmix64. */
	lab_rng_seed(&r, 1, 0);
	assert_true(r.s[0] == UINT64_C(0x8178dddcbdc92a12));
	assert_true(r.s[1] == UINT64_C(0xe66efa59d969fbc6));
	assert_true(r.s[2] == UINT64_C(0xdadef3d6a577072b));
	assert_true(r.s[3] == UINT64_C(0xddc4be488ee31188));
	lab_rng_seed(&r, 7, 3);
	assert_true(lab_rng_u64(&r) == UINT64_C(621890909042377233));
	assert_true(lab_rng_u64(&r) == UINT64_C(4252914467198444348));
	assert_true(lab_rng_u64(&r) == UINT64_C(14578259772610363318));
}

static void test_seeds_and_streams_differ(void **state)
{
	struct lab_rng r;
	uint64_t first[64];
	int i, k;

	(void)state;
	for (i = 0; i < 64; i++) {
		lab_rng_seed(&r, (uint64_t)i / 8, (uint64_t)i % 8);
		first[i] = lab_rng_u64(&r);
		for (k = 0; k < i; k++)
			assert_true(first[i] != first[k]);
	}
}

static void test_below_is_uniform(void **state)
{
	uint32_t count[10] = {0};
	struct lab_rng r;
	int i;

	(void)state;
	lab_rng_seed(&r, 1, 0);
	for (i = 0; i < 100; i++)
		assert_int_equal(lab_rng_below(&r, 1), 0);
	for (i = 0; i < 1000000; i++)
		count[lab_rng_below(&r, 10)]++;
	for (i = 0; i < 10; i++) /* 100000 +- 5 standard deviations */
		assert_in_range(count[i], 98500, 101500);
	for (i = 0; i < 1000; i++)
		assert_true(lab_rng_below(&r, UINT64_C(1) << 47) < UINT64_C(1) << 47);
}

/* log2(x / 2^shift) << 32 for 2^shift <= x < 2^(shift + 1), bit by bit: square, and look if it got
 * to 2. */
static uint64_t slow_log2(uint64_t x, unsigned int shift)
{
	uint64_t y = x << (63 - shift), hi, lo, bits = 0;
	int i;

	for (i = 0; i < 40; i++) {
		weir_mul128(y, y, &hi, &lo); /* 1..4 in 126 fraction bits */
		bits <<= 1;
		if (hi >> 63) {
			bits |= 1;
			y = hi;
		} else {
			y = hi << 1 | lo >> 63;
		}
	}
	return (bits + 128) >> 8;
}

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void test_logarithm_table(void **state)
{
	uint64_t x;

	(void)state;
	for (x = 0; x < LAB_LOG2_STEPS; x++)
		assert_true(difference(lab_log2_table[x],
				       slow_log2(LAB_LOG2_STEPS + x, LAB_LOG2_BITS)) <= 1);
	assert_true(lab_log2_table[LAB_LOG2_STEPS] == UINT64_C(1) << 32);
	/* Between the entries, and at the ends of the range: 3 x 10^-6 is 12885 of 2^32. */
	for (x = 1; x < 100000; x += 7) {
		uint64_t whole = weir_log2(x);
		uint64_t exact = (whole << 32) + slow_log2(x, (unsigned int)whole);

		assert_true(difference(lab_log2_q32(x), exact) < 12885);
	}
	assert_true(lab_log2_q32(1) == 0);
	assert_true(lab_log2_q32(UINT64_C(1) << 63) == UINT64_C(63) << 32);
	assert_true(lab_log2_q32(UINT64_MAX) < UINT64_C(64) << 32);
}

static void test_exponential_values(void **state)
{
	/* -ln((u | 1) / 2^64) x 10^9 of the draws pinned above, by floating point elsewhere. */
	static const uint64_t expected[] = {3389878471, 1467283377, 235356520, 274600177};
	struct lab_rng r;
	int i;

	(void)state;
	lab_rng_seed(&r, 7, 3);
	for (i = 0; i < 4; i++) /* within 4 x 10^-6 of the mean */
		assert_true(difference(lab_rng_exp(&r, 1000000000), expected[i]) < 4000);
}

static void test_exponential_shape(void **state)
{
	const uint32_t draws = 1000000;
	uint64_t sum = 0;
	uint32_t i, above = 0, far_above = 0;
	struct lab_rng r;

	(void)state;
	lab_rng_seed(&r, 2, 0);
	for (i = 0; i < draws; i++) {
		uint64_t x = lab_rng_exp(&r, 50000);

		sum += x;
		above += x > 50000;
		far_above += x > 250000;
	}
	assert_in_range(sum / draws, 49750, 50250);
	assert_in_range(above, 365400, 370400); /* 1/e of them, +- 5 standard deviations */
	assert_in_range(far_above, 6320, 7160); /* 1/e^5 */
	assert_int_equal(lab_rng_exp(&r, 0), 0);
	/* A mean that no sum can hold saturates instead of wrapping. */
	for (i = 0, above = 0; i < 1000; i++)
		above += lab_rng_exp(&r, UINT64_MAX / 2) == UINT64_MAX;
	assert_in_range(above, 80, 200); /* 1/e^2 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_xoshiro_reference),
		cmocka_unit_test(test_seeding_is_pinned),
		cmocka_unit_test(test_seeds_and_streams_differ),
		cmocka_unit_test(test_below_is_uniform),
		cmocka_unit_test(test_logarithm_table),
		cmocka_unit_test(test_exponential_values),
		cmocka_unit_test(test_exponential_shape),
	};

	return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
