// SPDX-License-Identifier: GPL-2.0-only
/* Page cache: the flusher and congestion, turns of files, lanes of groups. */
#include "tests/test_cache_fake.h"

static struct rig rig;
static struct task task[4];

static int setup(void **state)
{
	rig_init(&rig);
	rig.cfg.cache_bytes = 256 * MIB;
	rig.cfg.dirty_bytes = 64 * MIB;
	rig.cfg.dirty_background_bytes = MIB;
	*state = &rig;
	return 0;
}

static int teardown(void **state)
{
	rig_stop(*state);
	return 0;
}

/* Pages two apart, so that no two make one bio. */
static void write_apart(struct task *t)
{
	task_begin(t, lab_file_write, t->state, PAGE);
	t->state = (t->state + 2 * PAGE) % (512 * MIB);
}

static void begin_scattered_writer(struct task *t, struct rig *r, uint64_t sector,
				   struct weir_group *g)
{
	task_init(t, r, lab_file_open(r->cache, sector, 512 * MIB), g);
	t->then = write_apart;
	write_apart(t);
}

static uint64_t wakeups_per_1000_bios(struct rig *r, uint32_t on, uint32_t off)
{
	uint32_t before, n;
	uint64_t wakeups;

	r->host->serial = true;
	r->host->base_ns = 50 * US;
	r->host->on = on;
	r->host->off = off;
	r->cfg.dirty_bytes = 4 * MIB;
	rig_start(r);
	begin_scattered_writer(&task[0], r, 0, NULL);
	rig_run(r, 200 * MS);
	before = r->host->nr;
	wakeups = rig_stats(r).flusher_wakeups;
	rig_run(r, 1000 * MS);
	n = r->host->nr - before;
	/* Whatever the marks, the device is kept busy: 20000 bios in a second. */
	assert_in_range(n, 19900, 20100);
	return (rig_stats(r).flusher_wakeups - wakeups) * 1000 / n;
}

/* Thread 002: marks 113 and 103 of a pool of 128. Awake for 11 bios at a time. */
static void hysteresis_saves_wakeups(void **state)
{
	assert_in_range(wakeups_per_1000_bios(*state, 113, 103), 80, 100);
}

/* One mark: awake for each bio. */
static void one_mark_wakes_for_each(void **state)
{
	assert_in_range(wakeups_per_1000_bios(*state, 113, 113), 900, 1000);
}

static void never_above_the_mark(void **state)
{
	struct rig *r = *state;
	struct fake_pool *pool = &r->host->pool[weir_group_id(weir_root(r->weir))][WEIR_WRITE];
	int n;

	r->host->serial = true;
	r->host->on = 113;
	r->host->off = 103;
	rig_start(r);
	begin_scattered_writer(&task[0], r, 0, NULL);
	for (n = 0; n < 2000; n++) {
		rig_run(r, 50 * US);
		assert_true(pool->nr <= 113);
	}
	assert_true(pool->nr >= 102);
}

/* A congested group stops its own lane only. */
static void lanes_are_independent(void **state)
{
	struct rig *r = *state;
	struct weir_group *a, *b;
	uint32_t n, in_a = 0, in_b = 0;

	r->host->on = 20;
	r->host->off = 10;
	r->cfg.charge = LAB_CHARGE_DIRTIER;
	rig_start(r);
	a = rig_group(r, NULL, 100);
	b = rig_group(r, NULL, 100);
	/* Requests of a are stuck for good as far as this test goes. */
	r->host->pool[weir_group_id(a)][WEIR_WRITE].nr = 20;
	r->host->pool[weir_group_id(a)][WEIR_WRITE].congested = true;
	begin_scattered_writer(&task[0], r, 0, a);
	begin_scattered_writer(&task[1], r, 2 << 20, b);
	rig_run(r, 100 * MS);
	for (n = 0; n < r->host->nr; n++) {
		in_a += r->host->log[n].group == a;
		in_b += r->host->log[n].group == b;
	}
	assert_int_equal(in_a, 0);
	assert_true(in_b > 1000);
	assert_int_equal(lab_cache_group_dirty_bytes(r->cache, a), 32 * MIB);
	/* Then they complete, and a goes on. */
	r->host->pool[weir_group_id(a)][WEIR_WRITE].nr = 0;
	fake_update_pool(r->host, a, WEIR_WRITE);
	rig_run(r, 100 * MS);
	for (in_a = 0; n < r->host->nr; n++)
		in_a += r->host->log[n].group == a;
	assert_true(in_a > 1000);
}

/* The same with pages of both in one file: b's lane leaves a's pages alone. */
static void lanes_in_one_file(void **state)
{
	struct rig *r = *state;
	struct weir_group *a, *b;
	uint64_t page;
	uint32_t n;

	r->host->on = 20;
	r->host->off = 10;
	r->cfg.charge = LAB_CHARGE_DIRTIER;
	rig_start(r);
	a = rig_group(r, NULL, 100);
	b = rig_group(r, NULL, 100);
	r->host->pool[weir_group_id(a)][WEIR_WRITE].nr = 20;
	r->host->pool[weir_group_id(a)][WEIR_WRITE].congested = true;
	task_init(&task[0], r, lab_file_open(r->cache, 0, 64 * MIB), a);
	task_init(&task[1], r, task[0].op.file, b);
	for (page = 0; page < 1024; page += 8) {
		task_write(&task[0], page * PAGE, 4 * PAGE);
		task_write(&task[1], (page + 4) * PAGE, 4 * PAGE);
	}
	rig_run(r, 100 * MS);
	assert_int_equal(lab_cache_group_dirty_bytes(r->cache, a), 512 * PAGE);
	assert_true(lab_cache_group_dirty_bytes(r->cache, b) <= 128 * PAGE);
	assert_true(r->host->nr > 90);
	for (n = 0; n < r->host->nr; n++)
		assert_ptr_equal(r->host->log[n].group, b);
	r->host->pool[weir_group_id(a)][WEIR_WRITE].nr = 0;
	fake_update_pool(r->host, a, WEIR_WRITE);
	rig_run(r, 100 * MS);
	assert_true(lab_cache_group_dirty_bytes(r->cache, a) <= 128 * PAGE);
}

/* 4 MiB of one file, then 4 MiB of the next, each going on where it stopped. */
static void files_take_turns(void **state)
{
	struct rig *r = *state;
	uint32_t n;

	r->host->serial = true;
	r->host->on = 1; /* one bio at a time, so that all is dirty before the second */
	r->host->off = 1;
	rig_start(r);
	for (n = 0; n < 2; n++)
		task_init(&task[n], r, lab_file_open(r->cache, n * 65536, 32 * MIB), NULL);
	task_begin(&task[0], lab_file_write, 0, 16 * MIB);
	task_begin(&task[1], lab_file_write, 0, 16 * MIB);
	rig_run(r, 100 * MS);
	/* 32 MiB, but for the MiB below the background limit and its sixteenth. */
	assert_int_equal(r->host->nr, 32);
	for (n = 0; n < 31; n++) {
		uint64_t file = n / 4 % 2, at = n / 8 * 4 + n % 4;

		assert_int_equal(r->host->log[n].nr_sectors, 2048);
		assert_int_equal(r->host->log[n].sector, file * 65536 + at * 2048);
	}
}

/* With all pages under write-back, the flusher sleeps until some are not. */
static void stuck_lane_wakes_up(void **state)
{
	struct rig *r = *state;
	uint64_t wakeups;

	r->host->base_ns = 100 * MS;
	rig_start(r);
	task_init(&task[0], r, lab_file_open(r->cache, 0, 2 * MIB), NULL);
	task_write(&task[0], 0, 2 * MIB);
	rig_run(r, MS);
	assert_int_equal(rig_stats(r).writeback_bytes, 2 * MIB);
	task_write(&task[0], 0, 2 * MIB);
	wakeups = rig_stats(r).flusher_wakeups;
	rig_run(r, 50 * MS);
	assert_int_equal(rig_stats(r).writeback_bytes, 2 * MIB);
	assert_int_equal(rig_stats(r).dirty_bytes, 2 * MIB);
	assert_in_range(rig_stats(r).flusher_wakeups, wakeups, wakeups + 1);
	rig_run(r, 250 * MS);
	assert_true(rig_stats(r).dirty_bytes <= MIB);
}

/*
 * One group's page under write-back, dirtied again by another group: the other's lane is woken when
 * the first write is over.
 */
static void page_changes_hands_under_write_back(void **state)
{
	struct rig *r = *state;
	struct weir_group *a, *b;

	r->cfg.charge = LAB_CHARGE_DIRTIER;
	r->cfg.dirty_expire_ns = 10 * MS;
	r->cfg.flush_interval_ns = 10 * MS;
	r->host->base_ns = 200 * MS;
	rig_start(r);
	a = rig_group(r, NULL, 100);
	b = rig_group(r, NULL, 100);
	task_init(&task[0], r, lab_file_open(r->cache, 0, 2 * MIB), a);
	task_init(&task[1], r, task[0].op.file, b);
	task_write(&task[0], 0, PAGE);
	rig_run(r, 15 * MS);
	assert_int_equal(r->host->nr, 1);
	task_write(&task[1], 0, PAGE);
	assert_int_equal(lab_cache_group_dirty_bytes(r->cache, a), PAGE);
	assert_int_equal(lab_cache_group_dirty_bytes(r->cache, b), PAGE);
	rig_run(r, 500 * MS);
	assert_int_equal(r->host->nr, 2);
	assert_ptr_equal(r->host->log[1].group, b);
	assert_int_equal(rig_stats(r).dirty_bytes + rig_stats(r).writeback_bytes, 0);
	assert_int_equal(lab_cache_group_dirty_bytes(r->cache, a), 0);
	assert_int_equal(lab_cache_group_dirty_bytes(r->cache, b), 0);
}

/* Stopping in the middle of all that: the held writers are let go, nothing more is written. */
static void stop_lets_go(void **state)
{
	struct rig *r = *state;
	uint32_t n, nr;

	r->host->serial = true;
	r->host->on = 20;
	r->host->off = 10;
	rig_start(r);
	for (n = 0; n < 3; n++) {
		task_init(&task[n], r, lab_file_open(r->cache, n << 20, 256 * MIB), NULL);
		task_begin(&task[n], lab_file_write, 0, 200 * MIB);
	}
	rig_run(r, 2 * MS);
	for (n = 0; n < 3; n++)
		assert_true(task_is_busy(&task[n]));
	nr = r->host->nr;
	lab_cache_stop(r->cache, rig_now(r));
	rig_run(r, 1000 * MS);
	for (n = 0; n < 3; n++)
		assert_false(task_is_busy(&task[n]));
	assert_int_equal(r->host->nr, nr);
	assert_int_equal(r->host->in_flight, 0);
	task_begin(&task[0], lab_file_fsync, 0, 0); /* begins nothing */
	rig_run(r, MS);
	assert_false(task_is_busy(&task[0]));
	assert_int_equal(r->host->nr, nr);
}

/* Also where no completion would do it. */
static void stop_lets_go_at_once(void **state)
{
	struct rig *r = *state;

	r->host->on = 20;
	r->host->off = 10;
	rig_start(r);
	r->host->pool[weir_group_id(weir_root(r->weir))][WEIR_WRITE].nr = 20;
	r->host->pool[weir_group_id(weir_root(r->weir))][WEIR_WRITE].congested = true;
	task_init(&task[0], r, lab_file_open(r->cache, 0, 256 * MIB), NULL);
	task_begin(&task[0], lab_file_write, 0, 65 * MIB);
	rig_run(r, 100 * MS);
	assert_true(task_is_busy(&task[0]));
	assert_int_equal(r->host->nr, 0);
	lab_cache_stop(r->cache, rig_now(r));
	rig_run(r, MS);
	assert_false(task_is_busy(&task[0]));
	assert_int_equal(r->host->nr, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(hysteresis_saves_wakeups),
		TEST(one_mark_wakes_for_each),
		TEST(never_above_the_mark),
		TEST(lanes_are_independent),
		TEST(lanes_in_one_file),
		TEST(files_take_turns),
		TEST(stuck_lane_wakes_up),
		TEST(page_changes_hands_under_write_back),
		TEST(stop_lets_go),
		TEST(stop_lets_go_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
