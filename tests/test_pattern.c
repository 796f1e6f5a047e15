// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patterns: what each option of a job means for the offsets, by counting. Statistical bounds are
 * five deviations wide and the seeds are fixed, so a failure is a change and not bad luck.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/one_pattern.h"

/* ---- the order without repetition ---- */

static void a_permutation_hits_each_number_once(void **state)
{
	static const uint64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 1000, 4096, 10007};
	struct lab_perm p;
	struct lab_rng rng;
	unsigned int i;

	(void)state;
	lab_rng_seed(&rng, 1, 0);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *hit = calloc(sizes[i], 1);
		uint64_t k, at;

		assert_non_null(hit);
		lab_perm_init(&p, sizes[i], &rng);
		for (k = 0; k < sizes[i]; k++) {
			at = lab_perm_at(&p, k);
			assert_true(at < sizes[i]);
			assert_int_equal(hit[at], 0);
			hit[at] = 1;
		}
		free(hit);
	}
}

/* Of 10,000 steps in a row of 10,007 hardly any goes to the next number, and halves alternate. */
static void a_permutation_looks_random(void **state)
{
	struct lab_perm p;
	struct lab_rng rng;
	uint64_t k, at, before = 0, neighbours = 0, upper = 0, crossings = 0;

	(void)state;
	lab_rng_seed(&rng, 1, 0);
	lab_perm_init(&p, 10007, &rng);
	for (k = 0; k < 10000; k++) {
		at = lab_perm_at(&p, k);
		neighbours += k && (at == before + 1 || before == at + 1);
		upper += at >= 5000 && k < 5000;
		crossings += k && (at >= 5000) != (before >= 5000);
		before = at;
	}
	assert_true(neighbours < 15);
	assert_in_range(upper, 2300, 2700);
	assert_in_range(crossings, 4750, 5250);
}

static void each_block_once_per_pass(void **state)
{
	enum { NR = 1000 };
	static uint8_t hit[NR];
	static uint64_t order[2][NR];
	struct lab_pattern p;
	struct lab_extent e;
	enum lab_job_dir dir;
	unsigned int i, pass, same = 0;

	(void)state;
	job_init(LAB_RW_RANDREAD);
	open_pattern(&p, 1 << 20, NR * K4 + 100, 5);
	for (pass = 0; pass < 2; pass++) {
		memset(hit, 0, sizeof(hit));
		for (i = 0; i < NR; i++) {
			assert_true(next(&p, &e, &dir));
			assert_int_equal(dir, LAB_DIR_READ);
			assert_int_equal(e.bytes, K4);
			assert_int_equal((e.offset - (1 << 20)) % K4, 0);
			order[pass][i] = (e.offset - (1 << 20)) / K4;
			assert_true(order[pass][i] < NR);
			assert_int_equal(hit[order[pass][i]]++, 0);
		}
		assert_false(next(&p, &e, &dir));
		lab_pattern_rewind(&p);
	}
	for (i = 0; i < NR; i++)
		same += order[0][i] == order[1][i];
	assert_true(same < 10);
	lab_pattern_free(&p);
}

static void mixed_directions_share_the_map(void **state)
{
	enum { NR = 10000 };
	static uint8_t hit[NR];
	struct lab_pattern p;
	struct lab_extent e;
	enum lab_job_dir dir;
	unsigned int i, reads = 0;

	(void)state;
	job_init(LAB_RW_RANDRW);
	job.rwmixread = 70;
	open_pattern(&p, 0, NR * K4, 5);
	for (i = 0; i < NR; i++) {
		assert_true(next(&p, &e, &dir));
		reads += dir == LAB_DIR_READ;
		assert_int_equal(hit[e.offset / K4]++, 0);
	}
	assert_in_range(reads, 6770, 7230); /* 46 is one deviation */
	lab_pattern_free(&p);
}

/* Blocks of varying size tile the file: each 4 KiB is touched exactly once. */
static void varying_sizes_touch_everything_once(void **state)
{
	enum { NR = 5000 };
	static uint8_t hit[NR];
	struct lab_pattern p;
	struct lab_extent e;
	enum lab_job_dir dir;
	uint64_t k, sum = 0;
	unsigned int sizes[9] = {0};

	(void)state;
	job_init(LAB_RW_RANDWRITE);
	job.bs_max[LAB_DIR_WRITE] = 8 * K4;
	open_pattern(&p, 0, NR * K4, 9);
	while (next(&p, &e, &dir)) {
		assert_int_equal(e.bytes % K4, 0);
		assert_in_range(e.bytes / K4, 1, 8);
		sizes[e.bytes / K4]++;
		for (k = e.offset / K4; k < (e.offset + e.bytes) / K4; k++)
			assert_int_equal(hit[k]++, 0);
		sum += e.bytes;
	}
	assert_int_equal(sum, NR * K4);
	for (k = 1; k <= 8; k++)
		assert_true(sizes[k] > 0);
	lab_pattern_free(&p);
}

static void norandommap_repeats(void **state)
{
	enum { NR = 1000 };
	static uint8_t hit[NR];
	struct lab_pattern p;
	struct lab_extent e;
	enum lab_job_dir dir;
	unsigned int i, untouched = 0;

	(void)state;
	job_init(LAB_RW_RANDREAD);
	job.norandommap = true;
	open_pattern(&p, 0, NR * K4, 5);
	for (i = 0; i < NR; i++) {
		assert_true(next(&p, &e, &dir));
		hit[e.offset / K4] = 1;
	}
	for (i = 0; i < NR; i++)
		untouched += !hit[i];
	/* 1/e of them: 368, deviation 10 */
	assert_in_range(untouched, 318, 418);
	lab_pattern_free(&p);
}

/* ---- sequential ---- */

static void sequential_in_both_directions(void **state)
{
	struct lab_pattern p;
	struct lab_extent e;
	enum lab_job_dir dir;
	uint64_t at[2] = {0, 0};
	unsigned int i;

	(void)state;
	job_init(LAB_RW_RW);
	open_pattern(&p, 512, 1000 * K4, 2);
	/* Reads and writes have a position each. */
	for (i = 0; i < 900; i++) {
		assert_true(next(&p, &e, &dir));
		assert_int_equal(e.offset, 512 + at[dir]);
		at[dir] += K4;
	}
	assert_true(at[0] > 300 * K4 && at[1] > 300 * K4);
	lab_pattern_free(&p);
}

static void sequential_ends_at_the_last_whole_block(void **state)
{
	struct lab_pattern p;
	struct lab_extent e;
	enum lab_job_dir dir;

	(void)state;
	job_init(LAB_RW_READ);
	open_pattern(&p, 0, 2 * K4 + 512, 1);
	assert_true(next(&p, &e, &dir));
	assert_true(next(&p, &e, &dir));
	assert_int_equal(e.offset, K4);
	assert_false(next(&p, &e, &dir));
	lab_pattern_rewind(&p);
	assert_true(next(&p, &e, &dir));
	assert_int_equal(e.offset, 0);
	lab_pattern_free(&p);
}

static void holes_forwards_and_backwards(void **state)
{
	struct lab_pattern p;
	struct lab_extent e;
	enum lab_job_dir dir;

	(void)state;
	job_init(LAB_RW_READ);
	job.rw_hole = K4;
	open_pattern(&p, 0, 5 * K4, 1);
	assert_true(next(&p, &e, &dir));
	assert_int_equal(e.offset, 0);
	assert_true(next(&p, &e, &dir));
	assert_int_equal(e.offset, 2 * K4);
	assert_true(next(&p, &e, &dir));
	assert_int_equal(e.offset, 4 * K4);
	assert_true(next(&p, &e, &dir)); /* around */
	assert_int_equal(e.offset, 0);
	lab_pattern_free(&p);

	job.rw_hole = -2 * (int64_t)K4;
	open_pattern(&p, 0, 5 * K4, 1);
	assert_true(next(&p, &e, &dir));
	assert_int_equal(e.offset, 0);
	assert_true(next(&p, &e, &dir)); /* around the other way */
	assert_int_equal(e.offset, 3 * K4);
	assert_true(next(&p, &e, &dir));
	assert_int_equal(e.offset, 2 * K4);
	lab_pattern_free(&p);
}

static void percentage_random(void **state)
{
	struct lab_pattern p;
	struct lab_extent e;
	enum lab_job_dir dir;
	uint64_t end = 0;
	unsigned int i, sequential = 0;

	(void)state;
	job_init(LAB_RW_RANDREAD);
	job.percentage_random[LAB_DIR_READ] = 20;
	job.norandommap = true;
	open_pattern(&p, 0, UINT64_C(1) << 32, 4);
	for (i = 0; i < 10000; i++) {
		assert_true(next(&p, &e, &dir));
		sequential += i && e.offset == end;
		end = e.offset + e.bytes;
	}
	assert_in_range(sequential, 7800, 8200);
	lab_pattern_free(&p);
}

static void runs_of_n(void **state)
{
	struct lab_pattern p;
	struct lab_extent e;
	enum lab_job_dir dir;
	uint64_t end = 0, start = 0;
	unsigned int i;

	(void)state;
	job_init(LAB_RW_RANDREAD);
	job.rw_every = 8;
	open_pattern(&p, 0, UINT64_C(1) << 32, 4);
	for (i = 0; i < 800; i++) {
		assert_true(next(&p, &e, &dir));
		if (i % 8)
			assert_int_equal(e.offset, end);
		else if (i)
			assert_int_not_equal(e.offset, end);
		end = e.offset + e.bytes;
	}
	lab_pattern_free(&p);

	job.identical = true;
	open_pattern(&p, 0, UINT64_C(1) << 32, 4);
	for (i = 0; i < 800; i++) {
		assert_true(next(&p, &e, &dir));
		if (i % 8)
			assert_int_equal(e.offset, start);
		start = e.offset;
	}
	lab_pattern_free(&p);
}

/* ---- sizes ---- */

static void sizes_of_a_split(void **state)
{
	struct lab_pattern p;
	struct lab_extent e;
	enum lab_job_dir dir;
	unsigned int i, nr[3] = {0};

	(void)state;
	job_init(LAB_RW_READ);
	job.nr_splits[LAB_DIR_READ] = 3;
	job.split[LAB_DIR_READ][0] = (struct lab_split){4096, 50};
	job.split[LAB_DIR_READ][1] = (struct lab_split){16384, 30};
	job.split[LAB_DIR_READ][2] = (struct lab_split){65536, 20};
	job.bs_max[LAB_DIR_READ] = 65536;
	open_pattern(&p, 0, UINT64_C(1) << 40, 4);
	for (i = 0; i < 10000; i++) {
		assert_true(next(&p, &e, &dir));
		nr[e.bytes == 4096 ? 0 : e.bytes == 16384 ? 1 : 2]++;
		assert_true(e.bytes == 4096 || e.bytes == 16384 || e.bytes == 65536);
	}
	assert_in_range(nr[0], 4750, 5250);
	assert_in_range(nr[1], 2770, 3230);
	lab_pattern_free(&p);
}

static void unaligned_sizes(void **state)
{
	struct lab_pattern p;
	struct lab_extent e;
	enum lab_job_dir dir;
	unsigned int i, odd = 0;

	(void)state;
	job_init(LAB_RW_READ);
	job.bs_max[LAB_DIR_READ] = 10000;
	job.bs_unaligned = true;
	open_pattern(&p, 0, UINT64_C(1) << 40, 4);
	for (i = 0; i < 1000; i++) {
		assert_true(next(&p, &e, &dir));
		assert_in_range(e.bytes, 4096, 10000);
		odd += e.bytes % 512 != 0;
	}
	assert_true(odd > 900);
	lab_pattern_free(&p);
}

static void blockalign_places_small_blocks(void **state)
{
	struct lab_pattern p;
	struct lab_extent e;
	enum lab_job_dir dir;
	unsigned int i;

	(void)state;
	job_init(LAB_RW_RANDREAD);
	job.blockalign[LAB_DIR_READ] = 65536;
	job.norandommap = true;
	open_pattern(&p, 0, 100 * 65536, 4);
	for (i = 0; i < 1000; i++) {
		assert_true(next(&p, &e, &dir));
		assert_int_equal(e.offset % 65536, 0);
		assert_int_equal(e.bytes, K4);
	}
	lab_pattern_free(&p);
}

/* ---- trim, seeds, errors ---- */

static void trim_and_write_go_in_pairs(void **state)
{
	struct lab_pattern p;
	struct lab_extent trim, e;
	enum lab_job_dir dir;
	unsigned int i;

	(void)state;
	job_init(LAB_RW_RANDTRIMWRITE);
	open_pattern(&p, 0, 100 * K4, 4);
	for (i = 0; i < 100; i++) {
		assert_true(next(&p, &trim, &dir));
		assert_int_equal(dir, LAB_DIR_TRIM);
		assert_true(next(&p, &e, &dir));
		assert_int_equal(dir, LAB_DIR_WRITE);
		assert_int_equal(e.offset, trim.offset);
		assert_int_equal(e.bytes, trim.bytes);
	}
	assert_false(next(&p, &e, &dir));
	lab_pattern_free(&p);
}

static void seeds_and_streams(void **state)
{
	struct lab_pattern p[4];
	struct lab_extent e[4];
	enum lab_job_dir dir;
	unsigned int i, k, same[4] = {0};

	(void)state;
	job_init(LAB_RW_RANDRW);
	for (k = 0; k < 4; k++)
		assert_null(lab_pattern_init(&p[k], &job, 0, 10000 * K4, k == 3 ? 2 : 1,
					     k == 2 ? 4 : 0));
	for (i = 0; i < 100; i++) {
		for (k = 0; k < 4; k++)
			assert_true(next(&p[k], &e[k], &dir));
		for (k = 1; k < 4; k++)
			same[k] += e[k].offset == e[0].offset;
	}
	assert_int_equal(same[1], 100);
	assert_true(same[2] < 3 && same[3] < 3);
	for (k = 0; k < 4; k++)
		lab_pattern_free(&p[k]);
}

/* Another mix leaves the offsets alone: they have a generator of their own. */
static void the_mix_does_not_move_offsets(void **state)
{
	struct lab_pattern a, b;
	struct lab_extent x, y;
	enum lab_job_dir dir;
	struct lab_job other;
	unsigned int i;

	(void)state;
	job_init(LAB_RW_RANDRW);
	other = job;
	other.rwmixread = 90;
	open_pattern(&a, 0, 1000 * K4, 1);
	assert_null(lab_pattern_init(&b, &other, 0, 1000 * K4, 1, 0));
	for (i = 0; i < 1000; i++) {
		assert_true(next(&a, &x, &dir));
		assert_true(next(&b, &y, &dir));
		assert_int_equal(x.offset, y.offset);
	}
	lab_pattern_free(&a);
	lab_pattern_free(&b);
}

static void too_small_a_region(void **state)
{
	struct lab_pattern p;

	(void)state;
	job_init(LAB_RW_RANDREAD);
	assert_string_equal(lab_pattern_init(&p, &job, 0, K4 - 1, 1, 0),
			    "is smaller than one block");
	job.blockalign[LAB_DIR_READ] = 2 * K4;
	assert_string_equal(lab_pattern_init(&p, &job, 0, K4, 1, 0),
			    "is smaller than its blockalign");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_permutation_hits_each_number_once),
		cmocka_unit_test(a_permutation_looks_random),
		cmocka_unit_test(each_block_once_per_pass),
		cmocka_unit_test(mixed_directions_share_the_map),
		cmocka_unit_test(varying_sizes_touch_everything_once),
		cmocka_unit_test(norandommap_repeats),
		cmocka_unit_test(sequential_in_both_directions),
		cmocka_unit_test(sequential_ends_at_the_last_whole_block),
		cmocka_unit_test(holes_forwards_and_backwards),
		cmocka_unit_test(percentage_random),
		cmocka_unit_test(runs_of_n),
		cmocka_unit_test(sizes_of_a_split),
		cmocka_unit_test(unaligned_sizes),
		cmocka_unit_test(blockalign_places_small_blocks),
		cmocka_unit_test(trim_and_write_go_in_pairs),
		cmocka_unit_test(seeds_and_streams),
		cmocka_unit_test(the_mix_does_not_move_offsets),
		cmocka_unit_test(too_small_a_region),
	};

	return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
