// SPDX-License-Identifier: GPL-2.0-only
/* The translation layer of the flash models: write amplification of known loads. */
#include "tests/test_device_rig.h"

#include "lab/dev_ssd_ftl.h"

#define SECTORS (100 * S / 512)

static struct ssd_ftl ftl;
static struct lab_rng rng;

static void start(uint32_t spare, uint32_t fill, bool aged)
{
	memset(&ftl, 0, sizeof(ftl));
	ftl_init(&ftl, SECTORS, spare, fill, aged, 1);
	lab_rng_seed(&rng, 1, 0);
}

/* `percent` of the drive's size, in requests of 4 KiB within the first span_percent of it. */
static void write_randomly(uint32_t percent, uint32_t span_percent)
{
	/* As many samples as that would make, without the requests between them. */
	uint64_t n = (uint64_t)FTL_GRANULES * percent / 100;
	uint64_t slots = SECTORS / 100 * span_percent / 8;

	while (n--)
		ftl_write(&ftl, lab_rng_below(&rng, slots) * 8, (uint32_t)ftl.granule_sectors);
}

/* Thousandths: 1000 is none. */
static uint64_t amplification(void)
{
	return 1000 + ftl.moved_granules * 1000 / (ftl.host_granules ? ftl.host_granules : 1);
}

static void forget_counts(void)
{
	ftl.host_granules = ftl.moved_granules = 0;
}

static void test_spare_is_used_up_before_anything_moves(void **state)
{
	(void)state;
	start(7, 100, false);
	write_randomly(5, 100);
	assert_int_equal(ftl.moved_granules, 0);
	write_randomly(10, 100);
	assert_true(ftl.moved_granules > 0);
	ftl_free(&ftl);
}

static void test_random_writes_reach_the_known_steady_state(void **state)
{
	/*
	 * Uniform random writes, space L of P = L (1 + spare): u solves (u - 1) / ln u = L / P
	 * (Desnoyers), and 1 / (1 - u) is the amplification of emptying the oldest block. The
	 * emptiest block, as here, is a little better.
	 */
	static const struct {
		uint32_t spare, oldest;
	} known[] = {{7, 7860}, {15, 4040}, {25, 2690}, {50, 1710}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint64_t before;

		start(known[i].spare, 100, false);
		write_randomly(300, 100);
		forget_counts();
		write_randomly(100, 100);
		before = amplification();
		assert_in_range(before, known[i].oldest * 80 / 100, known[i].oldest * 102 / 100);
		/* It is steady: as much again changes nothing. */
		forget_counts();
		write_randomly(100, 100);
		assert_within(amplification(), before, 2);
		ftl_free(&ftl);
	}
}

static void test_amplification_grows_from_one(void **state)
{
	uint64_t last = 0, now;
	int i;

	(void)state;
	start(25, 100, false);
	for (i = 0; i < 5; i++) {
		forget_counts();
		write_randomly(20, 100);
		now = amplification();
		if (!i)
			assert_int_equal(now, 1000);
		else /* it overshoots a little before it is steady */
			assert_true(now > 2000 && now * 100 >= last * 93);
		last = now;
	}
	ftl_free(&ftl);
}

static void test_aged_begins_in_the_steady_state(void **state)
{
	uint64_t first;

	(void)state;
	start(7, 100, true);
	assert_true(ftl.moves_per_write > 0);
	write_randomly(50, 100);
	first = amplification();
	forget_counts();
	write_randomly(100, 100);
	assert_within(amplification(), first, 3);
	ftl_free(&ftl);
}

static void test_sequential_writes_move_nothing(void **state)
{
	uint64_t sector;
	int pass;

	(void)state;
	start(7, 100, false);
	for (pass = 0; pass < 4; pass++)
		for (sector = 0; sector + 1024 <= SECTORS; sector += 1024)
			ftl_write(&ftl, sector, 1024);
	assert_in_range(ftl.host_granules, 4 * FTL_GRANULES * 98 / 100,
			4 * FTL_GRANULES * 102 / 100);
	/* Sampling rewrites some granules out of turn: a little, not none. */
	assert_true(amplification() < 1010);
	ftl_free(&ftl);
}

static void test_a_hot_spot_costs_less(void **state)
{
	(void)state;
	/* All holes are in the blocks of the hot tenth, and all of the spare is theirs. */
	start(7, 100, false);
	write_randomly(100, 10);
	forget_counts();
	write_randomly(100, 10);
	assert_in_range(amplification(), 1100, 3500); /* all over it is 7800 */
	ftl_free(&ftl);
}

static void test_discard_frees_space(void **state)
{
	uint64_t sector;

	(void)state;
	start(7, 100, true);
	for (sector = 0; sector + 1024 <= SECTORS / 2; sector += 1024)
		ftl_discard(&ftl, sector, 1024);
	forget_counts();
	write_randomly(40, 100);
	assert_true(amplification() < 2000);
	ftl_free(&ftl);
}

static void test_an_empty_drive_has_room(void **state)
{
	(void)state;
	start(7, 0, true);
	write_randomly(50, 100);
	assert_int_equal(ftl.moved_granules, 0);
	ftl_free(&ftl);
	start(2, 100, true); /* the smallest spare works, at a price */
	write_randomly(20, 100);
	assert_in_range(amplification(), 8000, 40000);
	ftl_free(&ftl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spare_is_used_up_before_anything_moves),
		cmocka_unit_test(test_random_writes_reach_the_known_steady_state),
		cmocka_unit_test(test_amplification_grows_from_one),
		cmocka_unit_test(test_aged_begins_in_the_steady_state),
		cmocka_unit_test(test_sequential_writes_move_nothing),
		cmocka_unit_test(test_a_hot_spot_costs_less),
		cmocka_unit_test(test_discard_frees_space),
		cmocka_unit_test(test_an_empty_drive_has_room),
	};

	return cmocka_run_group_tests_name("device_ftl", tests, NULL, NULL);
}
