// SPDX-License-Identifier: GPL-2.0-only
/* Page cache: windows of read-ahead, and who gets none. */
#include "tests/test_cache_fake.h"

#include "lab/rng.h"

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

static struct lab_file *start(struct rig *r, uint32_t windows, struct task *t)
{
	struct lab_file *f;

	r->cfg.read_ahead_windows = windows;
	r->cfg.copy_ns = 0;
	rig_start(r);
	f = lab_file_open(r->cache, 0, 64 * MIB);
	task_init(t, r, f, NULL);
	t->op.reader = lab_reader_new(f);
	return f;
}

/* The n-th bio is a read of these pages. */
static void expect_read(struct rig *r, uint32_t n, uint64_t page, uint64_t pages)
{
	assert_true(n < r->host->nr);
	assert_int_equal(r->host->log[n].op, WEIR_OP_READ);
	assert_int_equal(r->host->log[n].sector, page * 8);
	assert_int_equal(r->host->log[n].nr_sectors, pages * 8);
}

/* Two windows: a window is asked for when the one before it is entered. */
static void windows_double(void **state)
{
	struct rig *r = *state;
	struct task t;
	uint64_t page;

	start(r, 2, &t);
	task_read(&t, 0, PAGE);
	assert_int_equal(r->host->nr, 1);
	expect_read(r, 0, 0, 4);
	/* The second read proves the stream. It has its page, and asks for more on the way. */
	assert_int_equal(task_read(&t, PAGE, PAGE), 0);
	assert_int_equal(r->host->nr, 2);
	expect_read(r, 1, 4, 8);
	for (page = 2; page < 4; page++)
		task_read(&t, page * PAGE, PAGE);
	assert_int_equal(r->host->nr, 2);
	task_read(&t, 4 * PAGE, PAGE);
	expect_read(r, 2, 12, 16);
	task_read(&t, 12 * PAGE, PAGE);
	expect_read(r, 3, 28, 32);
	task_read(&t, 28 * PAGE, PAGE);
	expect_read(r, 4, 60, 32); /* 128 KiB, and no more than that */
	task_read(&t, 60 * PAGE, PAGE);
	expect_read(r, 5, 92, 32);
	assert_int_equal(r->host->nr, 6);
	assert_int_equal(rig_stats(r).read_ahead_bytes, 124 * PAGE);
}

/* The first window is twice the first read, and never more than a window. */
static void first_window(void **state)
{
	struct rig *r = *state;
	struct task t;
	struct lab_file *f = start(r, 2, &t);

	task_read(&t, 0, 16 * KIB);
	expect_read(r, 0, 0, 8);
	lab_file_invalidate(f);
	t.op.reader = lab_reader_new(f);
	task_read(&t, 0, 64 * KIB);
	expect_read(r, 1, 0, 32);
	lab_file_invalidate(f);
	t.op.reader = lab_reader_new(f);
	task_read(&t, 0, 96 * KIB);
	expect_read(r, 2, 0, 32);
}

/* With n windows, n - 1 are ahead of the one in which the reader is. */
static void as_many_windows_as_told(void **state)
{
	struct rig *r = *state;
	struct task t;
	uint64_t page;
	uint32_t n, bios;

	start(r, 3, &t);
	task_read(&t, 0, PAGE);
	expect_read(r, 0, 0, 4);
	assert_int_equal(r->host->nr, 1);
	task_read(&t, PAGE, PAGE);
	assert_int_equal(r->host->nr, 3);
	expect_read(r, 1, 4, 8);
	expect_read(r, 2, 12, 16);
	for (page = 2; page < 60; page++)
		task_read(&t, page * PAGE, PAGE);
	bios = r->host->nr;
	/* From here on windows begin at 60 + 32 n: entering one asks for the second after it. */
	for (n = 0; n < 8; n++) {
		for (page = 60 + 32 * n; page < 92 + 32 * n; page++) {
			task_read(&t, page * PAGE, PAGE);
			assert_int_equal(r->host->nr, bios + n + 1);
		}
		expect_read(r, bios + n, 60 + 32 * (n + 2), 32);
	}
}

static void one_window_waits_for_each(void **state)
{
	struct rig *r = *state;
	struct task t;
	uint64_t page;
	uint32_t waits = 0;

	start(r, 1, &t);
	for (page = 0; page < 4 + 8 + 16 + 32; page++)
		waits += task_read(&t, page * PAGE, PAGE) > 0;
	assert_int_equal(r->host->nr, 4);
	assert_int_equal(waits, 4);
	expect_read(r, 3, 28, 32);
}

/*
 * A device that moves one command after the other, 100 us each: a reader that copies 3 us a page
 * hides all waits but the first ones.
 */
static void reader_runs_at_the_device(void **state)
{
	struct rig *r = *state;
	struct task t;
	uint64_t page, begin_ns = 0;

	start(r, 3, &t);
	r->host->serial = true;
	for (page = 0; page < 4096; page++) {
		if (page == 1024)
			begin_ns = rig_now(r);
		task_read(&t, page * PAGE, PAGE);
	}
	/* 3072 pages are 96 windows. */
	assert_in_range(rig_now(r) - begin_ns, 95 * 100 * US, 97 * 100 * US);
}

static void random_reads_get_what_they_ask_for(void **state)
{
	struct rig *r = *state;
	struct task t;
	struct lab_rng rng;
	uint32_t n;

	start(r, 3, &t);
	lab_rng_seed(&rng, 7, 0);
	for (n = 0; n < 1000; n++) {
		/* Never the first page and never neighbours: odd pages only. */
		uint64_t page = 1 + 2 * lab_rng_below(&rng, 8000);
		uint32_t before = r->host->nr;

		if (!task_read(&t, page * PAGE, PAGE))
			continue; /* drawn a second time */
		assert_int_equal(r->host->nr, before + 1);
		expect_read(r, before, page, 1);
	}
	assert_int_equal(rig_stats(r).read_ahead_bytes, 0);
	assert_true(r->host->nr > 900);
	/* Nor does one large random read. */
	n = r->host->nr;
	lab_file_invalidate(t.op.file);
	task_read(&t, 40 * MIB, 64 * PAGE);
	assert_int_equal(r->host->nr, n + 1);
	expect_read(r, n, 40 * MIB / PAGE, 64);
}

static void no_reader_no_windows(void **state)
{
	struct rig *r = *state;
	struct task t;
	uint64_t page;

	start(r, 3, &t);
	t.op.reader = NULL;
	for (page = 0; page < 100; page++)
		task_read(&t, page * PAGE, PAGE);
	assert_int_equal(r->host->nr, 100);
}

static void windows_of_no_bytes(void **state)
{
	struct rig *r = *state;
	struct task t;
	uint64_t page;

	r->cfg.read_ahead_bytes = 0;
	start(r, 3, &t);
	for (page = 0; page < 100; page++)
		task_read(&t, page * PAGE, PAGE);
	assert_int_equal(r->host->nr, 100);
}

/* A random read between two of a stream does not disturb it. */
static void stream_survives_random_reads(void **state)
{
	struct rig *r = *state;
	struct task t;
	uint64_t page;
	uint32_t waits = 0;

	start(r, 2, &t);
	for (page = 0; page < 124; page++) {
		waits += task_read(&t, page * PAGE, PAGE) > 0;
		task_read(&t, (8000 + 2 * page) * PAGE, PAGE);
		rig_run(r, 200 * US);
	}
	assert_int_equal(waits, 1);
	assert_int_equal(rig_stats(r).read_ahead_bytes, (4 + 8 + 16 + 32 + 32 + 32 + 32) * PAGE);
}

static void starts_in_the_middle(void **state)
{
	struct rig *r = *state;
	struct task t;

	start(r, 2, &t);
	task_read(&t, 1000 * PAGE, PAGE);
	expect_read(r, 0, 1000, 1);
	task_read(&t, 1001 * PAGE, PAGE);
	expect_read(r, 1, 1001, 4);
	task_read(&t, 1002 * PAGE, PAGE);
	expect_read(r, 2, 1005, 8);
}

/* A miss within a window's length of the end goes on with the stream; farther off it is random. */
static void a_little_beyond_the_end(void **state)
{
	struct rig *r = *state;
	struct task t;

	start(r, 2, &t);
	task_read(&t, 0, PAGE);
	task_read(&t, PAGE, PAGE); /* covered: up to page 12 */
	task_read(&t, (12 + 32) * PAGE, PAGE);
	assert_int_equal(r->host->nr, 4);
	expect_read(r, 2, 12, 16);
	expect_read(r, 3, 28, 32);
	task_read(&t, (60 + 33) * PAGE, PAGE);
	assert_int_equal(r->host->nr, 5);
	expect_read(r, 4, 93, 1);
}

/* Pages of the stream that are gone again: it begins anew where they are missed. */
static void stream_lost_its_pages(void **state)
{
	struct rig *r = *state;
	struct task t;

	start(r, 2, &t);
	task_read(&t, 0, PAGE);
	task_read(&t, PAGE, PAGE);
	rig_run(r, MS);
	lab_file_invalidate(t.op.file);
	task_read(&t, 6 * PAGE, PAGE);
	assert_int_equal(r->host->nr, 3);
	expect_read(r, 2, 6, 4);
}

/* Reads that begin in the page in which the one before ended. */
static void unaligned_sequential_reads(void **state)
{
	struct rig *r = *state;
	struct task t;

	start(r, 2, &t);
	task_read(&t, 1000 * PAGE, 6144);
	expect_read(r, 0, 1000, 2);
	task_read(&t, 1000 * PAGE + 6144, 6144);
	expect_read(r, 1, 1002, 4);
}

static void none_after_the_stop(void **state)
{
	struct rig *r = *state;
	struct task t;

	start(r, 2, &t);
	lab_cache_stop(r->cache, rig_now(r));
	task_read(&t, 0, PAGE);
	task_read(&t, PAGE, PAGE);
	assert_int_equal(r->host->nr, 2);
	expect_read(r, 1, 1, 1);
}

/* Reads of 512 bytes are sequential too. */
static void small_sequential_reads(void **state)
{
	struct rig *r = *state;
	struct task t;
	uint64_t at;

	start(r, 2, &t);
	for (at = 0; at < 28 * PAGE; at += 512)
		task_read(&t, at, 512);
	assert_int_equal(r->host->nr, 4);
	expect_read(r, 3, 28, 32);
}

/* Pages that are there already are left out of a window. */
static void windows_skip_cached_pages(void **state)
{
	struct rig *r = *state;
	struct task t, other;
	struct lab_file *f = start(r, 2, &t);

	task_init(&other, r, f, NULL);
	task_read(&other, 6 * PAGE, 2 * PAGE);
	task_read(&t, 0, PAGE);
	expect_read(r, 1, 0, 4);
	task_read(&t, PAGE, PAGE);
	assert_int_equal(r->host->nr, 4);
	expect_read(r, 2, 4, 2);
	expect_read(r, 3, 8, 4);
}

static void stops_at_the_end(void **state)
{
	struct rig *r = *state;
	struct task t;
	uint64_t page, end = 64 * MIB / PAGE, bytes = 0;
	uint32_t n;

	start(r, 3, &t);
	for (page = end - 50; page < end; page++)
		task_read(&t, page * PAGE, PAGE);
	for (n = 0; n < r->host->nr; n++)
		bytes += r->host->log[n].nr_sectors * 512;
	assert_int_equal(bytes, 50 * PAGE);
	assert_int_equal(r->host->log[r->host->nr - 1].sector +
				 r->host->log[r->host->nr - 1].nr_sectors,
			 64 * MIB / 512);
}

/* While the group's reads are congested, nobody reads ahead; who needs a page gets it. */
static void congestion_puts_windows_off(void **state)
{
	struct rig *r = *state;
	struct fake_pool *pool;
	struct task t;

	start(r, 2, &t);
	pool = &r->host->pool[weir_group_id(weir_root(r->weir))][WEIR_READ];
	task_read(&t, 0, PAGE);
	pool->congested = true;
	task_read(&t, PAGE, 2 * PAGE);
	assert_int_equal(r->host->nr, 1);
	pool->congested = false;
	task_read(&t, 3 * PAGE, PAGE);
	assert_int_equal(r->host->nr, 2);
	expect_read(r, 1, 4, 8);
	pool->congested = true;
	task_read(&t, 4 * PAGE, 8 * PAGE);
	assert_int_equal(r->host->nr, 2);
	task_read(&t, 12 * PAGE, PAGE);
	expect_read(r, 2, 12, 16);
}

/* ---- tasks that interleave one stream (thread 004) ---- */

#define BLOCK (16 * KIB)
#define BLOCKS 256
#define TASKS_MAX 9

static struct task task[TASKS_MAX];
static uint64_t next_block;

static void next_read(struct task *t)
{
	if (next_block < BLOCKS)
		task_begin(t, lab_file_read, next_block++ * BLOCK, BLOCK);
}

/* Each page is read once, in full windows, whichever task comes to them first. */
static void interleaved_tasks(void **state)
{
	struct rig *r = *state;
	uint32_t nr, n, full = 0;
	uint64_t bytes = 0;
	struct lab_file *f;

	r->cfg.copy_ns = 0;
	r->cfg.read_ahead_windows = 2;
	rig_start(r);
	for (nr = 1; nr <= TASKS_MAX; nr += 2) {
		struct lab_reader *reader;
		uint32_t first = r->host->nr;

		f = lab_file_open(r->cache, nr * 65536, BLOCKS * BLOCK);
		reader = lab_reader_new(f);
		next_block = 0;
		for (n = 0; n < nr; n++) {
			task_init(&task[n], r, f, NULL);
			task[n].op.reader = reader;
			task[n].then = next_read;
			next_read(&task[n]);
		}
		rig_run(r, 1000 * MS);
		assert_int_equal(next_block, BLOCKS);
		for (n = 0; n < nr; n++)
			assert_false(task_is_busy(&task[n]));
		bytes = full = 0;
		for (n = first; n < r->host->nr; n++) {
			bytes += r->host->log[n].nr_sectors * 512;
			full += r->host->log[n].nr_sectors == 256;
		}
		assert_int_equal(bytes, BLOCKS * BLOCK);
		/* 4 MiB are 32 full windows; growing takes some, and so does the end. */
		assert_in_range(full, 29, 32);
		assert_in_range(r->host->nr - first, 32, 36);
	}
}

/* The same with blocks taken out of order, up to eight ahead: still no page twice. */
static void interleaved_out_of_order(void **state)
{
	struct rig *r = *state;
	uint32_t order[BLOCKS], n;
	uint64_t bytes = 0;
	struct lab_rng rng;
	struct task t;

	start(r, 2, &t);
	lab_rng_seed(&rng, 3, 0);
	for (n = 0; n < BLOCKS; n++)
		order[n] = n;
	for (n = 0; n < BLOCKS; n += 8) {
		uint32_t left;

		for (left = 8; left > 1; left--) {
			uint32_t other = n + (uint32_t)lab_rng_below(&rng, left), keep;

			keep = order[other];
			order[other] = order[n + left - 1];
			order[n + left - 1] = keep;
		}
	}
	assert_int_not_equal(order[0], 0);
	for (n = 0; n < BLOCKS; n++)
		task_read(&t, order[n] * BLOCK, BLOCK);
	for (n = 0; n < r->host->nr; n++)
		bytes += r->host->log[n].nr_sectors * 512;
	/* 4 MiB and what is ahead at the end, and not much more than 32 windows. */
	assert_in_range(bytes, BLOCKS * BLOCK, BLOCKS * BLOCK + 256 * KIB);
	assert_in_range(r->host->nr, 32, 50);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(windows_double),
		TEST(first_window),
		TEST(as_many_windows_as_told),
		TEST(one_window_waits_for_each),
		TEST(reader_runs_at_the_device),
		TEST(random_reads_get_what_they_ask_for),
		TEST(no_reader_no_windows),
		TEST(windows_of_no_bytes),
		TEST(stream_survives_random_reads),
		TEST(starts_in_the_middle),
		TEST(a_little_beyond_the_end),
		TEST(stream_lost_its_pages),
		TEST(unaligned_sequential_reads),
		TEST(none_after_the_stop),
		TEST(small_sequential_reads),
		TEST(windows_skip_cached_pages),
		TEST(stops_at_the_end),
		TEST(congestion_puts_windows_off),
		TEST(interleaved_tasks),
		TEST(interleaved_out_of_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
