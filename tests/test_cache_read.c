// SPDX-License-Identifier: GPL-2.0-only
/* Page cache: buffered reads, hits and misses, waiting for one another, eviction, invalidation. */
#include "tests/test_cache_fake.h"

static struct rig rig;

static int setup(void **state)
{
	rig_init(&rig);
	*state = &rig;
	return 0;
}

static int teardown(void **state)
{
	rig_stop(*state);
	return 0;
}

static void miss_then_hit(void **state)
{
	struct rig *r = *state;
	struct lab_file *f;
	struct task t;

	r->cfg.copy_ns = 700;
	rig_start(r);
	f = lab_file_open(r->cache, 8000, MIB);
	task_init(&t, r, f, NULL);
	/* One page: the device's time and a copy. Again: the copy. */
	assert_int_equal(task_read(&t, 8 * PAGE, PAGE), 100 * US + 700);
	assert_int_equal(r->host->nr, 1);
	assert_int_equal(r->host->log[0].op, WEIR_OP_READ);
	assert_int_equal(r->host->log[0].flags, WEIR_RQ_SYNC);
	assert_int_equal(r->host->log[0].sector, 8064);
	assert_int_equal(r->host->log[0].nr_sectors, 8);
	assert_ptr_equal(r->host->log[0].ctx, t.op.ctx);
	assert_int_equal(task_read(&t, 8 * PAGE, PAGE), 700);
	/* Three pages that touch four; one is there. The two runs around it are read at once. */
	assert_int_equal(task_read(&t, 6 * PAGE + 100, 3 * PAGE), 100 * US + 4 * 700);
	assert_int_equal(r->host->nr, 3);
	assert_int_equal(r->host->log[1].sector, 8048);
	assert_int_equal(r->host->log[1].nr_sectors, 16);
	assert_int_equal(r->host->log[2].sector, 8072);
	assert_int_equal(r->host->log[2].nr_sectors, 8);
	assert_int_equal(rig_stats(r).read_bytes, 4 * PAGE);
	assert_int_equal(rig_stats(r).cached_bytes, 4 * PAGE);
	assert_int_equal(rig_stats(r).read_ahead_bytes, 0);
}

/* The copies of a read that waits in the middle overlap with the wait. */
static void copies_overlap_with_waiting(void **state)
{
	struct rig *r = *state;
	struct lab_file *f;
	struct task t;

	r->cfg.copy_ns = 30 * US;
	rig_start(r);
	f = lab_file_open(r->cache, 0, MIB);
	task_init(&t, r, f, NULL);
	task_read(&t, 0, 2 * PAGE);
	/* Two copies (60 us) inside of 100 us of the device, then two more. */
	assert_int_equal(task_read(&t, 0, 4 * PAGE), 160 * US);
	/* Five copies (150 us) are longer than the device, and one more follows. */
	task_read(&t, 4 * PAGE, PAGE);
	assert_int_equal(task_read(&t, 0, 6 * PAGE), 180 * US);
}

static void ends_with_the_file(void **state)
{
	struct rig *r = *state;
	struct lab_file *f;
	struct task t;

	rig_start(r);
	/* Two pages and a sector: the bio must not reach into what lies behind. */
	f = lab_file_open(r->cache, 80, 2 * PAGE + 512);
	task_init(&t, r, f, NULL);
	task_read(&t, PAGE, PAGE + 512);
	assert_int_equal(r->host->nr, 1);
	assert_int_equal(r->host->log[0].sector, 88);
	assert_int_equal(r->host->log[0].nr_sectors, 9);
	/* Nothing exists behind the size: no I/O, and still done from an event. */
	lab_file_set_size(f, PAGE);
	assert_int_equal(task_read(&t, PAGE, PAGE), 0);
	assert_int_equal(task_read(&t, 0, 0), 0);
	assert_int_equal(r->host->nr, 1);
	task_read(&t, 0, 2 * PAGE);
	assert_int_equal(r->host->nr, 2);
	assert_int_equal(r->host->log[1].nr_sectors, 8);
}

static void waits_for_a_page_being_read(void **state)
{
	struct rig *r = *state;
	struct weir_group *g;
	struct lab_file *f;
	struct task a, b, c;

	r->cfg.copy_ns = 0;
	rig_start(r);
	g = rig_group(r, NULL, 100);
	f = lab_file_open(r->cache, 0, MIB);
	task_init(&a, r, f, NULL);
	task_init(&b, r, f, g);
	task_init(&c, r, f, g);
	task_begin(&a, lab_file_read, 4 * PAGE, 4 * PAGE);
	rig_run(r, 40 * US);
	task_begin(&b, lab_file_read, 7 * PAGE, PAGE);	   /* inside of a's */
	task_begin(&c, lab_file_read, 7 * PAGE, 2 * PAGE); /* and one page of its own */
	assert_int_equal(r->host->nr, 1);
	assert_int_equal(task_wait(&b), 60 * US);
	assert_int_equal(a.nr_done, 1);
	assert_int_equal(task_wait(&c), 160 * US);
	assert_int_equal(r->host->nr, 2);
	assert_ptr_equal(r->host->log[0].group, weir_root(r->weir));
	assert_ptr_equal(r->host->log[1].group, g);
}

static void large_reads_go_in_runs(void **state)
{
	struct rig *r = *state;
	struct lab_file *f;
	struct task t;
	uint32_t n;

	rig_start(r);
	f = lab_file_open(r->cache, 0, 16 * MIB);
	task_init(&t, r, f, NULL);
	task_read(&t, 2 * MIB, 3 * MIB);
	assert_int_equal(r->host->nr, 3);
	for (n = 0; n < 3; n++) {
		assert_int_equal(r->host->log[n].sector, (2 + n) * 2048);
		assert_int_equal(r->host->log[n].nr_sectors, 2048);
	}
}

/* 1 MiB of cache: four leaves of 64 pages. */
static void oldest_clean_pages_go_first(void **state)
{
	struct rig *r = *state;
	struct lab_file *f;
	struct task t;
	uint64_t n;

	r->cfg.cache_bytes = MIB;
	r->cfg.dirty_bytes = MIB / 2;
	r->cfg.dirty_background_bytes = MIB / 4;
	rig_start(r);
	f = lab_file_open(r->cache, 0, 64 * MIB);
	task_init(&t, r, f, NULL);
	for (n = 0; n < 4; n++)
		task_read(&t, n * 256 * KIB, 256 * KIB);
	assert_int_equal(rig_stats(r).cached_bytes, MIB);
	task_read(&t, 0, PAGE); /* the first leaf is no longer the oldest */
	assert_int_equal(r->host->nr, 4);
	task_read(&t, 32 * MIB, 16 * PAGE);
	assert_int_equal(r->host->nr, 5);
	assert_int_equal(rig_stats(r).cached_bytes, MIB);
	assert_int_equal(rig_stats(r).evicted_pages, 16);
	/* Gone: the first 16 pages of the second leaf, and nothing else. */
	task_read(&t, 0, 256 * KIB);
	task_read(&t, 256 * KIB + 16 * PAGE, 256 * KIB - 16 * PAGE);
	task_read(&t, 512 * KIB, 512 * KIB);
	assert_int_equal(r->host->nr, 5);
	task_read(&t, 256 * KIB, 16 * PAGE);
	assert_int_equal(r->host->nr, 6);
	assert_int_equal(r->host->log[5].nr_sectors, 16 * 8);
}

static void dirty_pages_are_not_evicted(void **state)
{
	struct rig *r = *state;
	struct lab_file *f;
	struct task t;

	r->cfg.cache_bytes = MIB;
	r->cfg.dirty_bytes = MIB / 2;
	r->cfg.dirty_background_bytes = MIB / 4;
	rig_start(r);
	f = lab_file_open(r->cache, 0, 64 * MIB);
	task_init(&t, r, f, NULL);
	task_write(&t, 0, 8 * PAGE);
	task_read(&t, 4 * MIB, 4 * MIB);
	assert_int_equal(rig_stats(r).cached_bytes, MIB);
	assert_int_equal(rig_stats(r).dirty_bytes, 8 * PAGE);
	task_write(&t, 16 * MIB, 8 * PAGE); /* makes room at once */
	assert_int_equal(rig_stats(r).cached_bytes, MIB);
	assert_int_equal(rig_stats(r).dirty_bytes, 16 * PAGE);
	assert_int_equal(task_read(&t, 0, 8 * PAGE), 8 * r->cfg.copy_ns);
}

static void invalidated_pages_are_read_again(void **state)
{
	struct rig *r = *state;
	struct lab_file *f, *other;
	struct task t, u;

	rig_start(r);
	f = lab_file_open(r->cache, 0, 16 * MIB);
	other = lab_file_open(r->cache, 65536, 16 * MIB);
	task_init(&t, r, f, NULL);
	task_init(&u, r, other, NULL);
	task_read(&t, 0, MIB);
	task_read(&u, 0, MIB);
	task_write(&t, 4 * PAGE, PAGE);
	assert_int_equal(r->host->nr, 2);
	lab_file_invalidate(f);
	assert_int_equal(rig_stats(r).cached_bytes, MIB + PAGE); /* the dirty one stays */
	task_read(&u, 0, MIB);
	task_read(&t, 4 * PAGE, PAGE);
	assert_int_equal(r->host->nr, 2);
	task_read(&t, 3 * PAGE, 3 * PAGE);
	assert_int_equal(r->host->nr, 4); /* on both sides of the dirty one */
}

/* Direct I/O: what is dirty is written, and then the range is not cached. */
static void discarded_range(void **state)
{
	struct rig *r = *state;
	struct lab_file *f;
	struct task t;

	rig_start(r);
	f = lab_file_open(r->cache, 0, 16 * MIB);
	task_init(&t, r, f, NULL);
	lab_file_discard_range(f, 0, 16 * MIB); /* nothing there */
	task_read(&t, 0, 16 * PAGE);
	task_write(&t, 2 * PAGE, 2 * PAGE);
	task_write(&t, 14 * PAGE, PAGE);
	assert_int_equal(r->host->nr, 1);
	lab_file_discard_range(f, 3 * PAGE + 512, 4 * PAGE); /* pages 3 to 7 */
	assert_int_equal(r->host->nr, 2);
	assert_int_equal(r->host->log[1].op, WEIR_OP_WRITE);
	assert_int_equal(r->host->log[1].flags, WEIR_RQ_SYNC);
	assert_int_equal(r->host->log[1].sector, 24);
	assert_int_equal(r->host->log[1].nr_sectors, 8);
	assert_int_equal(rig_stats(r).dirty_bytes, 2 * PAGE);
	/* While page 3 is still being written it is read again too. */
	task_read(&t, 0, 16 * PAGE);
	assert_int_equal(r->host->nr, 3);
	assert_int_equal(r->host->log[2].sector, 24);
	assert_int_equal(r->host->log[2].nr_sectors, 5 * 8);
	rig_run(r, MS);
	assert_int_equal(rig_stats(r).cached_bytes, 16 * PAGE);
	lab_file_discard_range(f, 0, 16 * MIB);
	rig_run(r, MS);
	assert_int_equal(rig_stats(r).cached_bytes, 0);
	assert_int_equal(rig_stats(r).dirty_bytes, 0);
}

/* A page that is written to while it is being read is there at once, and stays dirty. */
static void written_while_read(void **state)
{
	struct rig *r = *state;
	struct lab_file *f;
	struct task t, u;

	r->cfg.copy_ns = 0;
	rig_start(r);
	f = lab_file_open(r->cache, 0, 16 * MIB);
	task_init(&t, r, f, NULL);
	task_init(&u, r, f, NULL);
	task_begin(&t, lab_file_read, 0, 4 * PAGE);
	assert_int_equal(task_write(&u, PAGE, PAGE), 0);
	assert_int_equal(task_read(&u, PAGE, PAGE), 0);
	assert_int_equal(task_wait(&t), 100 * US);
	assert_int_equal(rig_stats(r).dirty_bytes, PAGE);
	assert_int_equal(rig_stats(r).cached_bytes, 4 * PAGE);
}

/* More readers than a cache of 1 MiB has room for: all get through. */
static void tiny_cache_many_readers(void **state)
{
	enum { TASKS = 8 };
	struct rig *r = *state;
	struct lab_file *f;
	struct task t[TASKS];
	uint32_t n;

	r->cfg.cache_bytes = MIB;
	r->cfg.dirty_bytes = MIB / 2;
	r->cfg.dirty_background_bytes = MIB / 4;
	rig_start(r);
	f = lab_file_open(r->cache, 0, 512 * MIB);
	for (n = 0; n < TASKS; n++) {
		task_init(&t[n], r, f, NULL);
		t[n].op.reader = n % 2 ? lab_reader_new(f) : NULL;
		task_begin(&t[n], lab_file_read, n * 64 * MIB, 8 * MIB);
	}
	for (n = 0; n < TASKS; n++)
		task_wait(&t[n]);
	rig_run(r, 100 * MS);
	assert_true(rig_stats(r).cached_bytes <= MIB);
	assert_true(rig_stats(r).read_bytes >= TASKS * 8 * MIB);
}

static void configuration_is_checked(void **state)
{
	struct rig *r = *state;
	struct lab_device_info small = {.sectors = 100000, .read_ahead_windows = 3};
	struct lab_cache_config cfg;

	rig_start(r);
	assert_int_equal(r->cfg.read_ahead_windows, 2);
	lab_cache_config_init(&cfg, &small);
	assert_int_equal(cfg.read_ahead_windows, 3);
	assert_null(lab_cache_config_check(&cfg));
	assert_true(cfg.journal_sector + cfg.journal_sectors <= 100000);
	assert_true(cfg.journal_sector >= 90000);

#define REFUSED(field, value)                                  \
	do {                                                   \
		struct lab_cache_config bad = cfg;             \
		bad.field = (value);                           \
		assert_non_null(lab_cache_config_check(&bad)); \
	} while (0)
	REFUSED(cache_bytes, MIB - 1);
	REFUSED(read_ahead_bytes, 4095);
	REFUSED(read_ahead_windows, 0);
	REFUSED(read_ahead_windows, 33);
	REFUSED(dirty_bytes, 4096);
	REFUSED(dirty_bytes, cfg.cache_bytes + 1);
	REFUSED(dirty_background_bytes, cfg.dirty_bytes);
	REFUSED(flush_interval_ns, 999999);
	REFUSED(charge, 7);
	REFUSED(journal_sectors, 504);
	REFUSED(journal_sectors, 1001);
	REFUSED(journal_sector, 4);
#undef REFUSED
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(miss_then_hit),
		TEST(copies_overlap_with_waiting),
		TEST(ends_with_the_file),
		TEST(waits_for_a_page_being_read),
		TEST(large_reads_go_in_runs),
		TEST(oldest_clean_pages_go_first),
		TEST(dirty_pages_are_not_evicted),
		TEST(invalidated_pages_are_read_again),
		TEST(discarded_range),
		TEST(written_while_read),
		TEST(tiny_cache_many_readers),
		TEST(configuration_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
