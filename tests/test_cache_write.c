// SPDX-License-Identifier: GPL-2.0-only
/* Page cache: buffered writes, dirty limits, the bios of write-back, expiry. */
#include "tests/test_cache_fake.h"

static struct rig rig;

static int setup(void **state)
{
	rig_init(&rig);
	rig.cfg.cache_bytes = 64 * MIB;
	rig.cfg.dirty_bytes = 8 * MIB;
	rig.cfg.dirty_background_bytes = 4 * MIB;
	*state = &rig;
	return 0;
}

static int teardown(void **state)
{
	rig_stop(*state);
	return 0;
}

static void write_costs_a_copy(void **state)
{
	struct rig *r = *state;
	struct lab_file *f;
	struct task t;

	rig_start(r);
	f = lab_file_open(r->cache, 0, 16 * MIB);
	task_init(&t, r, f, NULL);
	assert_int_equal(task_write(&t, 0, 16 * PAGE), 16 * r->cfg.copy_ns);
	assert_int_equal(task_write(&t, 8 * PAGE, 1), r->cfg.copy_ns);
	assert_int_equal(task_write(&t, 20 * PAGE + 100, PAGE), 2 * r->cfg.copy_ns);
	assert_int_equal(task_write(&t, 0, 0), 0);
	assert_int_equal(r->host->nr, 0);
	assert_int_equal(rig_stats(r).dirty_bytes, 18 * PAGE);
	assert_int_equal(rig_stats(r).cached_bytes, 18 * PAGE);
	/* What was written is read from the cache, and there was no reading before the writing. */
	assert_int_equal(task_read(&t, 20 * PAGE, 2 * PAGE), 2 * r->cfg.copy_ns);
	assert_int_equal(r->host->nr, 0);
}

/* Nothing is written below the background limit, and above it a sixteenth more than needed. */
static void background_limit(void **state)
{
	struct rig *r = *state;
	struct lab_file *f;
	struct task t;

	rig_start(r);
	f = lab_file_open(r->cache, 0, 64 * MIB);
	task_init(&t, r, f, NULL);
	task_write(&t, 0, 4 * MIB);
	rig_run(r, 100 * MS);
	assert_int_equal(r->host->nr, 0);
	assert_int_equal(rig_stats(r).flusher_wakeups, 0);
	task_write(&t, 4 * MIB, PAGE);
	rig_run(r, 100 * MS);
	assert_int_equal(r->host->nr, 1);
	assert_int_equal(rig_stats(r).flusher_wakeups, 1);
	assert_int_equal(rig_stats(r).dirty_bytes, 3 * MIB + PAGE);
	assert_int_equal(rig_stats(r).written_bytes, MIB);
	assert_int_equal(rig_stats(r).cached_bytes,
			 4 * MIB + PAGE); /* clean now, and still there */
	/* The flusher's bio: async, its own context, the root group, one run of 1 MiB. */
	assert_int_equal(r->host->log[0].op, WEIR_OP_WRITE);
	assert_int_equal(r->host->log[0].flags, 0);
	assert_int_equal(r->host->log[0].nr_sectors, 2048);
	assert_ptr_equal(r->host->log[0].group, weir_root(r->weir));
	assert_ptr_not_equal(r->host->log[0].ctx, t.op.ctx);
	assert_non_null(r->host->log[0].ctx);
}

/* A writer alone may use the whole limit, then it goes at the pace of the device. */
static void a_writer_is_held_at_the_limit(void **state)
{
	struct rig *r = *state;
	struct lab_file *f;
	struct task t;

	r->cfg.copy_ns = 0;
	r->host->serial = true;
	r->host->base_ns = 0;
	r->host->ns_per_sector = 2441; /* 200 MiB/s: 5 ms a MiB */
	rig_start(r);
	f = lab_file_open(r->cache, 0, 64 * MIB);
	task_init(&t, r, f, NULL);
	assert_int_equal(task_write(&t, 0, 8 * MIB), 0);
	assert_int_equal(rig_stats(r).throttled_ns, 0);
	assert_int_equal(rig_stats(r).dirty_bytes + rig_stats(r).writeback_bytes, 8 * MIB);
	/* One page more needs the first bio to complete, 16 MiB more need sixteen. */
	assert_int_equal(task_write(&t, 8 * MIB, PAGE), 2048 * 2441);
	assert_int_equal(rig_stats(r).throttled_ns, 2048 * 2441);
	task_write(&t, 9 * MIB, 16 * MIB);
	assert_in_range(t.done_ns, 16 * 2048 * 2441, 18 * 2048 * 2441);
	assert_true(rig_stats(r).dirty_bytes + rig_stats(r).writeback_bytes <= 8 * MIB);
}

/* ---- writers without end ---- */

static struct task ta, tb;

static void write_on(struct task *t)
{
	struct rig *r = t->rig;

	assert_true(rig_stats(r).dirty_bytes + rig_stats(r).writeback_bytes <= r->cfg.dirty_bytes);
	task_begin(t, lab_file_write, t->state, 64 * KIB);
	t->state = (t->state + 64 * KIB) % (512 * MIB);
}

static void begin_writer(struct task *t, struct rig *r, uint64_t sector, struct weir_group *g)
{
	task_init(t, r, lab_file_open(r->cache, sector, 512 * MIB), g);
	t->then = write_on;
	write_on(t);
}

/* Dirty pages of two groups of weights 100 and 300, averaged over a second. */
static void dirty_pages_follow_weights(void **state)
{
	struct rig *r = *state;
	struct weir_group *a, *b;
	uint64_t sum_a = 0, sum_b = 0;
	int n;

	r->host->serial = true;
	r->host->ns_per_sector = 500; /* 1 GB/s */
	r->cfg.charge = LAB_CHARGE_DIRTIER;
	rig_start(r);
	a = rig_group(r, NULL, 100);
	b = rig_group(r, NULL, 300);
	begin_writer(&ta, r, 0, a);
	begin_writer(&tb, r, 2 << 20, b);
	rig_run(r, 200 * MS);
	for (n = 0; n < 1000; n++) {
		uint64_t in_a = lab_cache_group_dirty_bytes(r->cache, a);
		uint64_t in_b = lab_cache_group_dirty_bytes(r->cache, b);

		assert_true(in_a <= 2 * MIB);
		assert_true(in_b <= 6 * MIB);
		sum_a += in_a;
		sum_b += in_b;
		rig_run(r, MS);
	}
	assert_in_range(sum_b * 100 / sum_a, 290, 310);
	assert_true(rig_stats(r).throttled_ns > 1000 * MS);
}

/* When one stops, the other gets the whole limit. */
static void a_lone_writer_gets_the_limit_back(void **state)
{
	struct rig *r = *state;
	struct weir_group *a, *b;

	r->host->serial = true;
	r->host->ns_per_sector = 500;
	rig_start(r);
	a = rig_group(r, NULL, 100);
	b = rig_group(r, NULL, 300);
	begin_writer(&ta, r, 0, a);
	begin_writer(&tb, r, 2 << 20, b);
	rig_run(r, 500 * MS);
	assert_true(lab_cache_group_dirty_bytes(r->cache, a) <= 2 * MIB);
	tb.then = NULL;
	rig_run(r, 1500 * MS);
	assert_int_equal(lab_cache_group_dirty_bytes(r->cache, b), 0);
	assert_in_range(lab_cache_group_dirty_bytes(r->cache, a), 7 * MIB, 8 * MIB);
}

/* A second writer takes its half from the first, who is held until it is down to the other half. */
static void a_second_writer_gets_its_half(void **state)
{
	struct rig *r = *state;
	struct weir_group *a, *b;
	uint64_t before, now;

	r->host->serial = true;
	r->host->ns_per_sector = 500;
	rig_start(r);
	a = rig_group(r, NULL, 100);
	b = rig_group(r, NULL, 100);
	begin_writer(&ta, r, 0, a);
	rig_run(r, 100 * MS);
	before = lab_cache_group_dirty_bytes(r->cache, a);
	assert_in_range(before, 7 * MIB, 8 * MIB);
	begin_writer(&tb, r, 2 << 20, b);
	while (before > 4 * MIB) {
		rig_run(r, 100 * US);
		now = lab_cache_group_dirty_bytes(r->cache, a);
		assert_true(now <= before);
		before = now;
		assert_true(rig_now(r) < 200 * MS);
	}
	rig_run(r, 100 * MS);
	assert_in_range(lab_cache_group_dirty_bytes(r->cache, a), 3 * MIB, 4 * MIB);
	assert_in_range(lab_cache_group_dirty_bytes(r->cache, b), 3 * MIB, 4 * MIB);
}

/* So many groups that their smallest parts exceed the limit: the total holds, and all lanes write.
 */
static void more_groups_than_the_limit_has_room_for(void **state)
{
	enum { GROUPS = 50 };
	static struct task many[GROUPS];
	struct rig *r = *state;
	struct weir_group *seen[GROUPS];
	uint32_t n, i, nr_seen = 0;

	r->cfg.charge = LAB_CHARGE_DIRTIER;
	r->cfg.dirty_bytes = 2 * MIB;
	r->cfg.dirty_background_bytes = 2 * MIB - PAGE;
	r->host->base_ns = 10 * MS;
	rig_start(r);
	for (n = 0; n < GROUPS; n++) {
		task_init(&many[n], r, lab_file_open(r->cache, n << 12, MIB),
			  rig_group(r, NULL, 100));
		task_begin(&many[n], lab_file_write, 0, 13 * PAGE);
	}
	/* 39 times 13 pages; the 40th has room for 5 of its. */
	assert_int_equal(rig_stats(r).dirty_bytes, 2 * MIB);
	rig_run(r, MS);
	for (n = 0; n < r->host->nr; n++) {
		for (i = 0; i < nr_seen && seen[i] != r->host->log[n].group; i++)
			;
		if (i == nr_seen)
			seen[nr_seen++] = r->host->log[n].group;
	}
	assert_int_equal(nr_seen, 40);
	rig_run(r, 30 * MS);
	for (n = 0; n < GROUPS; n++)
		assert_int_equal(many[n].nr_done, 1);
}

/* A share that grew while nothing completes: who is held goes on before who comes. */
static void nobody_is_overtaken(void **state)
{
	struct rig *r = *state;
	struct weir_group *a, *b;
	struct task *held = &ta, *late = &tb;
	static struct task other;

	rig_start(r);
	a = rig_group(r, NULL, 100);
	b = rig_group(r, NULL, 100);
	task_init(&other, r, lab_file_open(r->cache, 4 << 20, MIB), b);
	task_init(held, r, lab_file_open(r->cache, 0, 64 * MIB), a);
	task_init(late, r, held->op.file, a);
	task_write(&other, 0, PAGE);
	task_fsync(&other);
	r->host->base_ns = 10000 * MS;
	task_write(held, 0, 4 * MIB);
	task_begin(held, lab_file_write, 4 * MIB, 3 * MIB);
	rig_run(r, 1100 * MS); /* the other group is no longer active now */
	assert_true(task_is_busy(held));
	task_begin(late, lab_file_write, 32 * MIB, 2 * MIB);
	rig_run(r, MS + 3 * 256 * r->cfg.copy_ns);
	assert_false(task_is_busy(held));
	assert_true(task_is_busy(late));
}

/* Writers of one group are held in line. */
static void held_writers_go_in_order(void **state)
{
	enum { TASKS = 5 };
	struct rig *r = *state;
	struct lab_file *f;
	struct task t[TASKS];
	uint32_t n;

	r->host->serial = true;
	r->host->ns_per_sector = 500;
	rig_start(r);
	f = lab_file_open(r->cache, 0, 512 * MIB);
	for (n = 0; n < TASKS; n++) {
		task_init(&t[n], r, f, NULL);
		task_begin(&t[n], lab_file_write, n * 16 * MIB, 16 * MIB);
	}
	for (n = 0; n < TASKS; n++)
		task_wait(&t[n]);
	for (n = 1; n < TASKS; n++)
		assert_in_range(t[n].done_ns - t[n - 1].done_ns, 15 * MS, 19 * MS);
}

/* ---- whose bios ---- */

static void runs_do_not_mix_groups(void **state)
{
	struct rig *r = *state;
	struct weir_group *a, *b;
	struct lab_file *f;
	uint64_t pages_a = 0, pages_b = 0;
	uint32_t n;

	r->cfg.charge = LAB_CHARGE_DIRTIER;
	r->cfg.dirty_expire_ns = 10 * MS;
	r->cfg.flush_interval_ns = 10 * MS;
	rig_start(r);
	a = rig_group(r, NULL, 100);
	b = rig_group(r, NULL, 100);
	f = lab_file_open(r->cache, 0, 64 * MIB);
	task_init(&ta, r, f, a);
	task_init(&tb, r, f, b);
	task_write(&ta, 0, 4 * PAGE);
	task_write(&tb, 2 * PAGE, 4 * PAGE); /* two of them are a's already */
	task_write(&ta, 6 * PAGE, PAGE);
	task_write(&tb, 7 * PAGE, 3 * PAGE);
	rig_run(r, 30 * MS);
	assert_int_equal(r->host->nr, 4);
	for (n = 0; n < r->host->nr; n++) {
		const struct fake_bio *bio = &r->host->log[n];
		uint64_t page = bio->sector / 8;

		assert_int_equal(bio->flags, 0);
		assert_ptr_equal(bio->group, page < 4 || page == 6 ? a : b);
		assert_ptr_equal(weir_ctx_group(bio->ctx), bio->group);
		assert_ptr_not_equal(bio->ctx, bio->group == a ? ta.op.ctx : tb.op.ctx);
		if (bio->group == a)
			pages_a += bio->nr_sectors / 8;
		else
			pages_b += bio->nr_sectors / 8;
	}
	assert_int_equal(pages_a, 5);
	assert_int_equal(pages_b, 5);
	assert_int_equal(rig_stats(r).dirty_bytes, 0);
}

static void charged_to_the_root(void **state)
{
	struct rig *r = *state;
	struct weir_group *a, *b;
	struct lab_file *f;
	uint32_t n;

	r->cfg.dirty_expire_ns = 10 * MS;
	r->cfg.flush_interval_ns = 10 * MS;
	rig_start(r);
	a = rig_group(r, NULL, 100);
	b = rig_group(r, NULL, 100);
	f = lab_file_open(r->cache, 0, 64 * MIB);
	task_init(&ta, r, f, a);
	task_init(&tb, r, f, b);
	task_write(&ta, 0, 4 * PAGE);
	task_write(&tb, 4 * PAGE, 4 * PAGE);
	assert_int_equal(lab_cache_group_dirty_bytes(r->cache, a), 4 * PAGE);
	assert_int_equal(lab_cache_group_dirty_bytes(r->cache, b), 4 * PAGE);
	rig_run(r, 30 * MS);
	assert_int_equal(r->host->nr, 2);
	for (n = 0; n < 2; n++) {
		assert_ptr_equal(r->host->log[n].group, weir_root(r->weir));
		assert_ptr_equal(r->host->log[n].ctx, r->host->log[0].ctx);
	}
	assert_int_equal(lab_cache_group_dirty_bytes(r->cache, a), 0);
	assert_int_equal(lab_cache_group_dirty_bytes(r->cache, b), 0);
}

/* ---- time ---- */

static void expired_pages_are_written(void **state)
{
	struct rig *r = *state;
	struct lab_file *f;
	struct task t;

	rig_start(r);
	f = lab_file_open(r->cache, 0, 64 * MIB);
	task_init(&t, r, f, NULL);
	rig_run(r, 1000 * MS);
	task_write(&t, 0, PAGE);
	/* 30 s old at 31 s; looked at every 5 s from the first dirty page on: 6 s, ... 31 s. */
	rig_run(r, 20000 * MS);
	task_write(&t, 100 * PAGE, PAGE);
	rig_run(r, 9900 * MS);
	assert_int_equal(r->host->nr, 0);
	rig_run(r, 200 * MS);
	/* The younger page of the file goes with the older one. */
	assert_int_equal(r->host->nr, 2);
	assert_in_range(r->host->log[0].submit_ns, 31000 * MS, 31001 * MS);
	assert_int_equal(rig_stats(r).dirty_bytes, 0);
	/* With nothing dirty the timer stops: the engine runs dry. */
	lab_engine_run(r->engine, LAB_NEVER);
	assert_in_range(rig_now(r), 31000 * MS, 36001 * MS);
}

static void only_expired_files_are_written(void **state)
{
	struct rig *r = *state;
	struct lab_file *old, *young;
	struct task t, u;

	rig_start(r);
	old = lab_file_open(r->cache, 0, MIB);
	young = lab_file_open(r->cache, 65536, MIB);
	task_init(&t, r, young, NULL);
	task_init(&u, r, old, NULL);
	task_write(&u, 0, PAGE);
	rig_run(r, 12000 * MS);
	task_write(&t, 0, PAGE);
	rig_run(r, 19000 * MS);
	assert_int_equal(r->host->nr, 1);
	assert_int_equal(r->host->log[0].sector, 0);
	rig_run(r, 15000 * MS);
	assert_int_equal(r->host->nr, 2);
	assert_int_equal(r->host->log[1].sector, 65536);
}

/* Also where the turn is another file's. */
static void only_the_expired_file_of_two(void **state)
{
	struct rig *r = *state;
	struct lab_file *old, *young;
	struct task t, u;
	uint32_t n, before;

	rig_start(r);
	old = lab_file_open(r->cache, 0, 64 * MIB);
	young = lab_file_open(r->cache, 1 << 20, MIB);
	task_init(&t, r, old, NULL);
	task_init(&u, r, young, NULL);
	task_write(&t, 0, 6 * MIB); /* 3 MiB of it are written in the background */
	rig_run(r, 12000 * MS);
	task_write(&u, 0, PAGE);
	task_write(&t, 6 * MIB, 3 * MIB / 2); /* another: its turn of 4 MiB is over */
	rig_run(r, MS);
	before = r->host->nr;
	assert_int_equal(before, 4);
	rig_run(r, 20000 * MS);
	assert_true(r->host->nr > before);
	for (n = before; n < r->host->nr; n++)
		assert_true(r->host->log[n].sector < 1 << 20);
	assert_int_equal(rig_stats(r).dirty_bytes, PAGE);
}

/* Written to while under write-back: no waiting, written again, never two bios at a time. */
static void dirtied_again_under_write_back(void **state)
{
	struct rig *r = *state;
	struct lab_file *f;
	struct task t;

	r->cfg.dirty_expire_ns = 10 * MS;
	r->cfg.flush_interval_ns = 10 * MS;
	r->host->base_ns = 50 * MS;
	rig_start(r);
	f = lab_file_open(r->cache, 0, 64 * MIB);
	task_init(&t, r, f, NULL);
	task_write(&t, 0, 4 * PAGE);
	rig_run(r, 15 * MS);
	assert_int_equal(r->host->nr, 1);
	assert_int_equal(task_write(&t, PAGE, PAGE), r->cfg.copy_ns);
	assert_int_equal(rig_stats(r).dirty_bytes, PAGE);
	assert_int_equal(rig_stats(r).writeback_bytes, 4 * PAGE);
	rig_run(r, 40 * MS); /* expired long ago, but its page is still being written */
	assert_int_equal(r->host->nr, 1);
	rig_run(r, 20 * MS);
	assert_int_equal(r->host->nr, 2);
	assert_int_equal(r->host->log[1].sector, 8);
	assert_int_equal(r->host->log[1].nr_sectors, 8);
	assert_true(r->host->log[1].submit_ns >= r->host->log[0].done_ns);
	rig_run(r, 100 * MS);
	assert_int_equal(r->host->nr, 2);
	assert_int_equal(rig_stats(r).dirty_bytes, 0);
}

/* A limit full of pages that are all dirty again under write-back resolves itself. */
static void rewriting_the_whole_limit(void **state)
{
	struct rig *r = *state;
	struct lab_file *f;
	struct task t;
	int n;

	r->host->serial = true;
	r->host->ns_per_sector = 500;
	rig_start(r);
	f = lab_file_open(r->cache, 0, 8 * MIB);
	task_init(&t, r, f, NULL);
	for (n = 0; n < 20; n++)
		task_write(&t, 0, 8 * MIB);
	assert_true(rig_stats(r).written_bytes > 20 * MIB);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(write_costs_a_copy),
		TEST(background_limit),
		TEST(a_writer_is_held_at_the_limit),
		TEST(dirty_pages_follow_weights),
		TEST(a_lone_writer_gets_the_limit_back),
		TEST(a_second_writer_gets_its_half),
		TEST(more_groups_than_the_limit_has_room_for),
		TEST(nobody_is_overtaken),
		TEST(held_writers_go_in_order),
		TEST(runs_do_not_mix_groups),
		TEST(charged_to_the_root),
		TEST(expired_pages_are_written),
		TEST(only_expired_files_are_written),
		TEST(only_the_expired_file_of_two),
		TEST(dirtied_again_under_write_back),
		TEST(rewriting_the_whole_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
