// SPDX-License-Identifier: GPL-2.0-only
/* The disk: geometry, rotation, seeks, read-ahead, write cache, flush, ordering, and its table. */
#include "tests/test_device_rig.h"

#include "lab/dev_hdd.h"

#define ROTATION (60 * S / 7200)
#define TRACK 1491u /* sectors, outer zone */
#define INNER UINT64_C(970000000)

static struct hdd_geometry geo;
static struct rig rig;

static int setup(void **state)
{
	(void)state;
	hdd_geometry_init(&geo, 500 * S / 512, 7200, 0);
	rig_open(&rig, "hdd", 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rig_close(&rig);
	return 0;
}

/* ---- geometry ---- */

static void test_sectors_fill_tracks_heads_and_cylinders(void **state)
{
	struct hdd_place p = hdd_locate(&geo, 0), next;
	uint64_t sector;

	(void)state;
	assert_int_equal(p.cylinder, 0);
	assert_int_equal(p.head, 0);
	assert_int_equal(hdd_locate(&geo, TRACK - 1).head, 0);
	assert_int_equal(hdd_locate(&geo, TRACK).head, 1);
	assert_int_equal(hdd_locate(&geo, 4 * TRACK).head, 0);
	assert_int_equal(hdd_locate(&geo, 4 * TRACK).cylinder, 1);
	assert_true(hdd_locate(&geo, geo.sectors - 1).cylinder < geo.cylinders);
	/* Phase grows with every sector, across all zones, by the passing of the one before. */
	for (sector = 1; sector < geo.sectors - 5000; sector += 65537) {
		p = hdd_locate(&geo, sector - 1);
		next = hdd_locate(&geo, sector);
		assert_true(next.phase_ns >= p.phase_ns + p.sector_ns);
		assert_true(next.phase_ns <= p.phase_ns + p.sector_ns + 2 * MS);
	}
}

static void test_seek_curve(void **state)
{
	uint32_t d;

	(void)state;
	assert_int_equal(hdd_seek_ns(0), 0);
	assert_int_equal(hdd_seek_ns(1), 1 * MS);
	assert_within(hdd_seek_ns(geo.cylinders / 3), 8500 * US, 1);
	assert_within(hdd_seek_ns(geo.cylinders), 17 * MS, 1);
	/* Root-like at first: a quarter of the way costs half the extra time. */
	assert_within(hdd_seek_ns(2500) - 1 * MS, (hdd_seek_ns(10000) - 1 * MS) / 2, 2);
	for (d = 1; d < geo.cylinders; d += 7)
		assert_true(hdd_seek_ns(d + 7) >= hdd_seek_ns(d));
}

static void test_the_angle_comes_round_each_rotation(void **state)
{
	struct hdd_place p = hdd_locate(&geo, 12345678);
	uint64_t wait = hdd_rotation_wait_ns(&geo, &p, 5 * MS);

	(void)state;
	assert_true(wait < ROTATION);
	assert_int_equal(hdd_rotation_wait_ns(&geo, &p, 5 * MS + wait), 0);
	assert_int_equal(hdd_rotation_wait_ns(&geo, &p, 5 * MS + wait + 17 * ROTATION), 0);
	assert_int_equal(hdd_rotation_wait_ns(&geo, &p, 5 * MS + wait + 1), ROTATION - 1);
}

static void test_streaming_loses_no_rotation(void **state)
{
	struct hdd_place p = hdd_locate(&geo, 0);

	(void)state;
	/* Four tracks: four rotations and three changes of head, no more. */
	assert_within(hdd_media_ns(&geo, &p, 4 * TRACK), 4 * ROTATION + 3 * 800 * US, 1);
	/* Ten more cylinders. */
	assert_within(hdd_media_ns(&geo, &p, 44 * TRACK), 44 * ROTATION + 33 * 800 * US + 16 * MS,
		      1);
}

/* ---- reads ---- */

static void test_next_sectors_come_from_read_ahead(void **state)
{
	uint64_t first = rig_time(&rig, WEIR_OP_READ, 0, 5000000, 8);

	(void)state;
	assert_in_range(first, 1 * MS, 30 * MS);
	rig_sleep(&rig, 2 * MS);
	assert_true(rig_time(&rig, WEIR_OP_READ, 0, 5000008, 8) < 100 * US);
	/* And so do those just read. */
	assert_true(rig_time(&rig, WEIR_OP_READ, 0, 5000000, 8) < 100 * US);
	/* Reading on goes 384 KiB ahead, not further. */
	rig_sleep(&rig, 100 * MS);
	assert_true(rig_time(&rig, WEIR_OP_READ, 0, 5000016 + 740, 8) < 100 * US);
	rig_sleep(&rig, 100 * MS);
	assert_true(rig_time(&rig, WEIR_OP_READ, 0, 5000016 + 2000, 8) > 500 * US);
}

static void test_reading_on_again_waits_for_the_sector(void **state)
{
	uint64_t sum = 0, at;
	int i;

	(void)state;
	for (i = 0; i < 40; i++) {
		at = 5000000 + (uint64_t)i * 10000000;
		rig_time(&rig, WEIR_OP_READ, 0, at, 8);
		/* The head has stopped 768 sectors ahead; they have gone round since. */
		rig_sleep(&rig, 100 * MS + (uint64_t)i * 777 * US);
		assert_true(rig_time(&rig, WEIR_OP_READ, 0, at + 8, 256) < 600 * US);
		sum += rig_time(&rig, WEIR_OP_READ, 0, at + 264, 768);
	}
	/* Half a rotation, and 256 sectors: 1.5 ms. */
	assert_in_range(sum / 40, 4500 * US, 7500 * US);
}

static void test_a_write_makes_what_was_read_stale(void **state)
{
	(void)state;
	rig_time(&rig, WEIR_OP_READ, 0, 5000000, 256);
	rig_sleep(&rig, 20 * MS);
	/* FUA, so that the write cache does not have it either. */
	rig_time(&rig, WEIR_OP_WRITE, WEIR_RQ_FUA, 5000100, 8);
	assert_true(rig_time(&rig, WEIR_OP_READ, 0, 5000000, 100) < 500 * US);
	assert_in_range(rig_time(&rig, WEIR_OP_READ, 0, 5000096, 8), 500 * US, 20 * MS);
	/* What is in the write cache can be read from it. */
	rig_time(&rig, WEIR_OP_WRITE, 0, 700000000, 16);
	assert_true(rig_time(&rig, WEIR_OP_READ, 0, 700000008, 8) < 100 * US);
}

static void test_two_streams_cost_seeks(void **state)
{
	uint64_t sum = 0;
	int i;

	(void)state;
	for (i = 0; i < 200; i++) {
		uint64_t at = (i & 1 ? 400000000 : 1000) + (uint64_t)i / 2 * 1024;

		sum += rig_time(&rig, WEIR_OP_READ, 0, at, 1024);
	}
	/* 512 KiB take 6.4 ms under the head; the seek and half a rotation come on top. */
	assert_in_range(sum / 200, 14 * MS, 24 * MS);
}

static uint64_t sequential_bytes_per_s(uint64_t sector)
{
	uint64_t start = lab_now(rig.e), bytes = 0;

	while (bytes < 64 << 20) {
		rig_time(&rig, WEIR_OP_READ, 0, sector + bytes / 512, 256);
		bytes += 256 * 512;
	}
	return bytes * S / (lab_now(rig.e) - start);
}

static void test_zones(void **state)
{
	(void)state;
	assert_within(sequential_bytes_per_s(0), UINT64_C(78) << 20, 2);
	assert_within(sequential_bytes_per_s(INNER), UINT64_C(40) << 20, 3);
}

/* ---- ordering ---- */

static void test_nearest_goes_first(void **state)
{
	static const uint64_t at[5] = {0, 900000000, 1000000, 800000000, 2000000};
	struct timed_cmd t[5];
	int i;

	(void)state;
	for (i = 0; i < 5; i++)
		rig_submit(&rig, &t[i], WEIR_OP_READ, 0, at[i], 8);
	for (i = 0; i < 5; i++)
		rig_wait(&rig, &t[i]);
	/* 0 is under way; then the two near ones, then the far ones on one way. */
	assert_true(t[0].done_ns < t[2].done_ns);
	assert_true(t[2].done_ns < t[3].done_ns && t[4].done_ns < t[3].done_ns);
	assert_true(t[2].done_ns < t[1].done_ns && t[4].done_ns < t[1].done_ns);
}

static void test_depth_gains_and_nothing_starves(void **state)
{
	struct lab_result alone = rig_load("hdd", 100, true, 4096, 1);
	struct lab_result deep = rig_load("hdd", 100, true, 4096, 31);

	(void)state;
	assert_in_range(lab_result_iops(&alone), 75, 120);
	assert_true(lab_result_iops(&deep) >= 2 * lab_result_iops(&alone));
	/* Ageing: the longest is less than three times the mean. */
	assert_true(deep.max_ns < 3 * deep.mean_ns);
}

/* ---- writes ---- */

static void test_write_cache_takes_writes_until_it_is_full(void **state)
{
	uint64_t sum = 0, slowest = 0, ns;
	int i;

	(void)state;
	/* 256 extents have room; nobody waits for the arm. */
	for (i = 0; i < 200; i++) {
		ns = rig_time(&rig, WEIR_OP_WRITE, 0, (uint64_t)i * 4000000, 8);
		assert_true(ns < 100 * US);
	}
	for (i = 200; i < 1200; i++) {
		ns = rig_time(&rig, WEIR_OP_WRITE, 0, (uint64_t)i * 7919 % 9000 * 100000, 8);
		sum += ns;
		slowest = ns > slowest ? ns : slowest;
	}
	assert_true(slowest > 1 * MS);		     /* there was no room now and then */
	assert_in_range(sum / 1000, 1 * MS, 6 * MS); /* nearest first: faster than 12 ms each */
}

static void test_write_cache_empties_itself_when_it_is_quiet(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 20; i++)
		rig_time(&rig, WEIR_OP_WRITE, 0, (uint64_t)i * 40000000, 8);
	lab_engine_run(rig.e, LAB_NEVER);
	assert_in_range(lab_now(rig.e), 40 * MS, 400 * MS);
	assert_true(rig_time(&rig, WEIR_OP_FLUSH, 0, 0, 0) < 100 * US);
}

static void test_without_cache_each_write_waits_for_the_platter(void **state)
{
	uint64_t ns, sum = 0;
	struct rig r;
	int i;

	(void)state;
	rig_open(&r, "hdd:wcache=0", 1);
	rig_time(&r, WEIR_OP_WRITE, 0, 3000, 8);
	/* The next sectors have just passed: a rotation. */
	ns = rig_time(&r, WEIR_OP_WRITE, 0, 3008, 8);
	assert_within(ns, ROTATION, 3);
	/* Half a track away: half a rotation. */
	rig_time(&r, WEIR_OP_WRITE, 0, 3008, 8);
	ns = rig_time(&r, WEIR_OP_WRITE, 0, 3016 + TRACK / 2, 8);
	assert_within(ns, ROTATION / 2 + 100 * US, 8);
	for (i = 0; i < 50; i++)
		sum += rig_time(&r, WEIR_OP_WRITE, 0, 10000 + (uint64_t)i * 8, 8);
	assert_within(sum / 50, ROTATION, 3);
	assert_true(rig_time(&r, WEIR_OP_FLUSH, 0, 0, 0) < 100 * US);
	rig_close(&r);
}

static void test_fua_waits_for_the_platter(void **state)
{
	uint64_t sum = 0;
	int i;

	(void)state;
	for (i = 0; i < 50; i++)
		sum += rig_time(&rig, WEIR_OP_WRITE, WEIR_RQ_FUA,
				(uint64_t)i * 19000000 % 900000000, 8);
	assert_in_range(sum / 50, 8 * MS, 20 * MS);
}

static void test_flush_costs_what_is_in_the_cache(void **state)
{
	uint64_t one = 0, many;
	int i;

	(void)state;
	assert_true(rig_time(&rig, WEIR_OP_FLUSH, 0, 0, 0) < 100 * US);
	for (i = 0; i < 50; i++) {
		assert_true(rig_time(&rig, WEIR_OP_WRITE, 0, (uint64_t)i * 19000000, 8) < 100 * US);
		one += rig_time(&rig, WEIR_OP_FLUSH, 0, 0, 0);
	}
	assert_in_range(one / 50, 5 * MS, 20 * MS);
	for (i = 0; i < 50; i++)
		rig_time(&rig, WEIR_OP_WRITE, 0, (uint64_t)i * 19000000, 8);
	many = rig_time(&rig, WEIR_OP_FLUSH, 0, 0, 0);
	assert_in_range(many, 50 * 2 * MS, 50 * 10 * MS); /* all of them, nearest first */
}

static void test_flush_runs_alone(void **state)
{
	struct timed_cmd read, write, flush, behind;

	(void)state;
	rig_submit(&rig, &read, WEIR_OP_READ, 0, 800000000, 8);
	rig_submit(&rig, &write, WEIR_OP_WRITE, 0, 400000000, 8);
	rig_submit(&rig, &flush, WEIR_OP_FLUSH, 0, 0, 0);
	rig_submit(&rig, &behind, WEIR_OP_READ, 0, 800000008, 8);
	rig_wait(&rig, &behind);
	assert_true(read.done_ns && write.done_ns && flush.done_ns);
	assert_true(flush.done_ns > read.done_ns + 1 * MS); /* the write went to the platter */
	assert_true(behind.done_ns > flush.done_ns);
}

static void test_preflush_goes_before_its_write(void **state)
{
	struct timed_cmd first, second;

	(void)state;
	rig_submit(&rig, &first, WEIR_OP_WRITE, 0, 400000000, 8);
	rig_submit(&rig, &second, WEIR_OP_WRITE, WEIR_RQ_PREFLUSH, 500000000, 8);
	rig_wait(&rig, &second);
	/* The first on the platter, the second in the cache. */
	assert_in_range(second.done_ns - first.done_ns, 1 * MS, 30 * MS);
	assert_in_range(rig_time(&rig, WEIR_OP_FLUSH, 0, 0, 0), 1 * MS, 30 * MS);
}

/* ---- the whole ---- */

static void test_table(void **state)
{
	static const struct pinned rows[] = {
		{100, 128 << 10, false, {624, 624, 624, 624}},
		{100, 4 << 10, true, {80, 106, 151, 162}},
		{0, 128 << 10, false, {624, 624, 624, 624}},
		{0, 4 << 10, true, {227, 228, 228, 228}},
		{50, 4 << 10, true, {114, 143, 188, 189}},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_pinned("hdd", &rows[i]);
}

static void test_profile(void **state)
{
	(void)state;
	assert_profile_measured("hdd");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sectors_fill_tracks_heads_and_cylinders),
		TEST(test_seek_curve),
		TEST(test_the_angle_comes_round_each_rotation),
		TEST(test_streaming_loses_no_rotation),
		TEST(test_next_sectors_come_from_read_ahead),
		TEST(test_reading_on_again_waits_for_the_sector),
		TEST(test_a_write_makes_what_was_read_stale),
		TEST(test_two_streams_cost_seeks),
		TEST(test_zones),
		TEST(test_nearest_goes_first),
		TEST(test_depth_gains_and_nothing_starves),
		TEST(test_write_cache_takes_writes_until_it_is_full),
		TEST(test_write_cache_empties_itself_when_it_is_quiet),
		TEST(test_without_cache_each_write_waits_for_the_platter),
		TEST(test_fua_waits_for_the_platter),
		TEST(test_flush_costs_what_is_in_the_cache),
		TEST(test_flush_runs_alone),
		TEST(test_preflush_goes_before_its_write),
		TEST(test_table),
		TEST(test_profile),
	};

	return cmocka_run_group_tests_name("device_hdd", tests, NULL, NULL);
}
