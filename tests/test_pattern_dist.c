// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patterns: skewed distributions, by counting. Statistical bounds are
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

/* ---- distributions ---- */

static void count_blocks(uint32_t *hits, uint64_t nr_blocks, unsigned int draws)
{
	struct lab_pattern p;
	struct lab_extent e;
	enum lab_job_dir dir;
	unsigned int i;

	memset(hits, 0, nr_blocks * sizeof(*hits));
	open_pattern(&p, 0, nr_blocks * K4, 11);
	for (i = 0; i < draws; i++) {
		assert_true(next(&p, &e, &dir));
		assert_true(e.offset / K4 < nr_blocks);
		hits[e.offset / K4]++;
	}
	lab_pattern_free(&p);
}

static int down(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x < y) - (x > y);
}

static void zipf(void **state)
{
	enum { NR = 1000, DRAWS = 200000 };
	static uint32_t hits[NR];
	unsigned int i;
	double zeta = 0;

	(void)state;
	job_init(LAB_RW_RANDREAD);
	job.dist[LAB_DIR_READ] = LAB_DIST_ZIPF;
	job.dist_theta_micro[LAB_DIR_READ] = 1000000; /* theta 1: rank r has 1/r */
	count_blocks(hits, NR, DRAWS);
	for (i = 1; i <= NR; i++)
		zeta += 1.0 / i;
	/* The hottest block is somewhere in the file, not at its beginning. */
	assert_true(hits[0] < DRAWS / zeta / 2);
	qsort(hits, NR, sizeof(hits[0]), down);
	assert_true(hits[0] > DRAWS / zeta * 0.96 && hits[0] < DRAWS / zeta * 1.04);
	assert_true(hits[9] > DRAWS / zeta / 10 * 0.9 && hits[9] < DRAWS / zeta / 10 * 1.1);
	assert_true(hits[99] > DRAWS / zeta / 100 * 0.8 && hits[99] < DRAWS / zeta / 100 * 1.2);
}

static void zipf_around_a_center(void **state)
{
	enum { NR = 1000, DRAWS = 100000 };
	static uint32_t hits[NR];
	unsigned int i, best = 0;

	(void)state;
	job_init(LAB_RW_RANDREAD);
	job.dist[LAB_DIR_READ] = LAB_DIST_ZIPF;
	job.dist_theta_micro[LAB_DIR_READ] = 1200000;
	job.dist_center_micro[LAB_DIR_READ] = 250000;
	count_blocks(hits, NR, DRAWS);
	for (i = 0; i < NR; i++)
		if (hits[i] > hits[best])
			best = i;
	assert_int_equal(best, 250);
}

static void pareto_is_80_20(void **state)
{
	enum { NR = 100000, DRAWS = 200000 };
	static uint32_t hits[NR];
	uint64_t sum = 0;
	unsigned int i;

	(void)state;
	job_init(LAB_RW_RANDREAD);
	job.dist[LAB_DIR_READ] = LAB_DIST_PARETO;
	job.dist_theta_micro[LAB_DIR_READ] = 200000;
	job.dist_center_micro[LAB_DIR_READ] = 0;
	count_blocks(hits, NR, DRAWS);
	for (i = 0; i < NR / 5; i++)
		sum += hits[i];
	assert_in_range(sum, DRAWS * 0.79, DRAWS * 0.81);
}

static void normal(void **state)
{
	enum { NR = 10000, DRAWS = 100000 };
	static uint32_t hits[NR];
	uint64_t within = 0;
	unsigned int i;

	(void)state;
	job_init(LAB_RW_RANDREAD);
	job.dist[LAB_DIR_READ] = LAB_DIST_NORMAL;
	job.dist_theta_micro[LAB_DIR_READ] = 10000000; /* 10 % */
	count_blocks(hits, NR, DRAWS);
	for (i = NR / 2 - NR / 10; i < NR / 2 + NR / 10; i++)
		within += hits[i];
	/* One deviation to each side holds 68.3 %. */
	assert_in_range(within, DRAWS * 0.675, DRAWS * 0.69);
	/* A center at the edge wraps around. */
	job.dist_center_micro[LAB_DIR_READ] = 0;
	count_blocks(hits, NR, DRAWS);
	for (within = 0, i = 0; i < NR / 10; i++)
		within += hits[i] + hits[NR - 1 - i];
	assert_in_range(within, DRAWS * 0.675, DRAWS * 0.69);
}

static void zoned(void **state)
{
	enum { NR = 1000, DRAWS = 100000 };
	static uint32_t hits[NR];
	uint64_t sum[3] = {0};
	unsigned int i;

	(void)state;
	job_init(LAB_RW_RANDREAD);
	job.dist[LAB_DIR_READ] = LAB_DIST_ZONED;
	job.nr_zones[LAB_DIR_READ] = 3;
	job.zone[LAB_DIR_READ][0] = (struct lab_zone){60, 10};
	job.zone[LAB_DIR_READ][1] = (struct lab_zone){30, 20};
	job.zone[LAB_DIR_READ][2] = (struct lab_zone){10, 70};
	count_blocks(hits, NR, DRAWS);
	for (i = 0; i < NR; i++)
		sum[i < 100 ? 0 : i < 300 ? 1 : 2] += hits[i];
	assert_in_range(sum[0], DRAWS * 0.59, DRAWS * 0.61);
	assert_in_range(sum[1], DRAWS * 0.29, DRAWS * 0.31);
}

/* A table of a huge file works, and hot ranks keep their share. */
static void ranks_of_a_huge_file(void **state)
{
	struct lab_ranks ranks;
	struct lab_rng rng;
	unsigned int i, first = 0;

	(void)state;
	lab_rng_seed(&rng, 1, 0);
	assert_true(lab_ranks_zipf(&ranks, UINT64_C(1) << 40, 2000000));
	assert_true(ranks.before[ranks.nr] < UINT64_C(1) << 48);
	for (i = 0; i < 10000; i++)
		first += lab_ranks_draw(&ranks, &rng) == 0;
	/* 6 / pi^2 = 0.608 */
	assert_in_range(first, 5830, 6330);
	lab_ranks_free(&ranks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zipf),
		cmocka_unit_test(zipf_around_a_center),
		cmocka_unit_test(pareto_is_80_20),
		cmocka_unit_test(normal),
		cmocka_unit_test(zoned),
		cmocka_unit_test(ranks_of_a_huge_file),
	};

	return cmocka_run_group_tests_name("pattern_dist", tests, NULL, NULL);
}
