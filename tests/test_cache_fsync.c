// SPDX-License-Identifier: GPL-2.0-only
/* Page cache: fsync and fdatasync, the order of data, commit and completion, shared commits. */
#include "tests/test_cache_fake.h"

static struct rig rig;
static struct task task[8];

#define COMMIT_FLAGS (WEIR_RQ_SYNC | WEIR_RQ_META)
#define BARRIER_FLAGS (WEIR_RQ_PREFLUSH | WEIR_RQ_FUA)

static int setup(void **state)
{
	rig_init(&rig);
	rig.cfg.copy_ns = 0;
	rig.cfg.journal_sector = 1 << 20;
	rig.cfg.journal_sectors = 64 * 8;
	*state = &rig;
	return 0;
}

static int teardown(void **state)
{
	rig_stop(*state);
	return 0;
}

static const struct fake_bio *bio(const struct rig *r, uint32_t n)
{
	assert_true(n < r->host->nr);
	return &r->host->log[n];
}

static void expect_write(const struct rig *r, uint32_t n, uint64_t sector, uint32_t pages,
			 uint16_t flags)
{
	assert_int_equal(bio(r, n)->op, WEIR_OP_WRITE);
	assert_int_equal(bio(r, n)->sector, sector);
	assert_int_equal(bio(r, n)->nr_sectors, pages * 8);
	assert_int_equal(bio(r, n)->flags, flags);
}

static struct weir_group *start(struct rig *r)
{
	struct weir_group *g;

	rig_start(r);
	g = rig_group(r, NULL, 1000);
	task_init(&task[0], r, lab_file_open(r->cache, 0, 100 * MIB), g);
	return g;
}

/* Thread 001's loop: data, then description and inode, then the commit block, each after the other.
 */
static void data_then_commit_then_done(void **state)
{
	struct rig *r = *state;
	struct weir_group *g = start(r);
	uint32_t n;

	task_write(&task[0], 0, PAGE);
	assert_int_equal(r->host->nr, 0);
	assert_int_equal(task_fsync(&task[0]), 300 * US);
	assert_int_equal(r->host->nr, 3);
	expect_write(r, 0, 0, 1, WEIR_RQ_SYNC);
	expect_write(r, 1, 1 << 20, 2, COMMIT_FLAGS);
	expect_write(r, 2, (1 << 20) + 16, 1, COMMIT_FLAGS | BARRIER_FLAGS);
	for (n = 1; n < 3; n++)
		assert_true(bio(r, n)->submit_ns >= bio(r, n - 1)->done_ns);
	assert_true(task[0].done_ns >= bio(r, 2)->done_ns);
	/* The task's own group and context; the journal's in the root group. */
	assert_ptr_equal(bio(r, 0)->group, g);
	assert_ptr_equal(bio(r, 0)->ctx, task[0].op.ctx);
	for (n = 1; n < 3; n++) {
		assert_ptr_equal(bio(r, n)->group, weir_root(r->weir));
		assert_non_null(bio(r, n)->ctx);
		assert_ptr_equal(bio(r, n)->ctx, bio(r, 1)->ctx);
	}
	assert_int_equal(rig_stats(r).commits, 1);
	assert_int_equal(rig_stats(r).dirty_bytes, 0);
	/* The next commit goes on behind the first. */
	task_write(&task[0], PAGE, PAGE);
	task_fsync(&task[0]);
	expect_write(r, 3, 8, 1, WEIR_RQ_SYNC);
	expect_write(r, 4, (1 << 20) + 24, 2, COMMIT_FLAGS);
}

static void without_barriers(void **state)
{
	struct rig *r = *state;

	r->cfg.barriers = false;
	start(r);
	task_write(&task[0], 0, PAGE);
	assert_int_equal(task_fsync(&task[0]), 300 * US);
	expect_write(r, 2, (1 << 20) + 16, 1, COMMIT_FLAGS);
	/* Nothing changed: nothing to do. */
	assert_int_equal(task_fsync(&task[0]), 0);
	assert_int_equal(r->host->nr, 3);
}

static void nothing_changed_is_a_flush(void **state)
{
	struct rig *r = *state;
	struct weir_group *g = start(r);

	assert_int_equal(task_fsync(&task[0]), 100 * US);
	assert_int_equal(r->host->nr, 1);
	assert_int_equal(bio(r, 0)->op, WEIR_OP_FLUSH);
	assert_int_equal(bio(r, 0)->flags, WEIR_RQ_SYNC);
	assert_ptr_equal(bio(r, 0)->group, g);
	assert_ptr_equal(bio(r, 0)->ctx, task[0].op.ctx);
	assert_int_equal(rig_stats(r).commits, 0);
}

static void fdatasync_commits_only_a_new_size(void **state)
{
	struct rig *r = *state;

	start(r);
	lab_file_set_size(task[0].op.file, 8 * PAGE);
	task[0].op.data_only = true;
	task_write(&task[0], 7 * PAGE, PAGE);
	task_fsync(&task[0]);
	assert_int_equal(r->host->nr, 2);
	expect_write(r, 0, 56, 1, WEIR_RQ_SYNC);
	assert_int_equal(bio(r, 1)->op, WEIR_OP_FLUSH);
	assert_true(bio(r, 1)->submit_ns >= bio(r, 0)->done_ns);
	assert_int_equal(rig_stats(r).commits, 0);
	/* Longer: description, inode, and where the new blocks are. */
	task_write(&task[0], 8 * PAGE, PAGE);
	task_fsync(&task[0]);
	assert_int_equal(r->host->nr, 5);
	expect_write(r, 3, 1 << 20, 3, COMMIT_FLAGS);
	expect_write(r, 4, (1 << 20) + 24, 1, COMMIT_FLAGS | BARRIER_FLAGS);
	assert_int_equal(rig_stats(r).commits, 1);
	/* Committed, so the same page again is data only. */
	task_write(&task[0], 8 * PAGE, PAGE);
	task_fsync(&task[0]);
	assert_int_equal(rig_stats(r).commits, 1);
	/* But fsync after that commits the inode's times. */
	task[0].op.data_only = false;
	task_fsync(&task[0]);
	assert_int_equal(rig_stats(r).commits, 2);
}

static void large_files_go_in_runs(void **state)
{
	struct rig *r = *state;

	start(r);
	task_write(&task[0], 0, 3 * MIB);
	task_write(&task[0], 10 * MIB, 2 * PAGE);
	task_fsync(&task[0]);
	expect_write(r, 0, 0, 256, WEIR_RQ_SYNC);
	expect_write(r, 1, 2048, 256, WEIR_RQ_SYNC);
	expect_write(r, 2, 4096, 256, WEIR_RQ_SYNC);
	expect_write(r, 3, 20480, 2, WEIR_RQ_SYNC);
	expect_write(r, 4, 1 << 20, 2, COMMIT_FLAGS);
	assert_int_equal(bio(r, 3)->submit_ns, bio(r, 0)->submit_ns);
}

/* Write-back of the file by the flusher counts as well: fsync waits for it. */
static void waits_for_the_flusher(void **state)
{
	struct rig *r = *state;

	r->cfg.dirty_expire_ns = 10 * MS;
	r->cfg.flush_interval_ns = 10 * MS;
	r->host->base_ns = 20 * MS;
	start(r);
	task_write(&task[0], 0, PAGE);
	rig_run(r, 15 * MS); /* begun at 10 ms, in the device until 30 ms */
	assert_int_equal(r->host->nr, 1);
	task_fsync(&task[0]);
	expect_write(r, 0, 0, 1, 0);
	expect_write(r, 1, 1 << 20, 2, COMMIT_FLAGS);
	assert_int_equal(bio(r, 1)->submit_ns, bio(r, 0)->done_ns);
	assert_int_equal(r->host->nr, 3);
}

/* Dirty again while the flusher writes it: fsync writes it once more before the commit. */
static void dirty_again_is_written_again(void **state)
{
	struct rig *r = *state;

	r->cfg.dirty_expire_ns = 10 * MS;
	r->cfg.flush_interval_ns = 10 * MS;
	r->host->base_ns = 20 * MS;
	start(r);
	task_write(&task[0], 0, 2 * PAGE);
	rig_run(r, 15 * MS);
	task_write(&task[0], PAGE, PAGE);
	task_fsync(&task[0]);
	expect_write(r, 0, 0, 2, 0);
	expect_write(r, 1, 8, 1, WEIR_RQ_SYNC);
	expect_write(r, 2, 1 << 20, 2, COMMIT_FLAGS);
	assert_true(bio(r, 1)->submit_ns >= bio(r, 0)->done_ns);
	assert_true(bio(r, 2)->submit_ns >= bio(r, 1)->done_ns);
	assert_int_equal(r->host->nr, 4);
}

/* Somebody who never stops writing to the file does not keep an fsync from ending. */
static void rewrite(struct task *t)
{
	task_begin(t, lab_file_write, t->state++ % 4 * PAGE, PAGE);
}

static void a_busy_writer_does_not_delay(void **state)
{
	struct rig *r = *state;

	r->cfg.copy_ns = 5 * US;
	start(r);
	task_write(&task[0], 0, 4 * PAGE);
	task_init(&task[1], r, task[0].op.file, NULL);
	task[1].then = rewrite;
	rewrite(&task[1]);
	rig_run(r, 11 * US);
	assert_true(task_fsync(&task[0]) <= 500 * US);
}

/*
 * The second pass is the last. Page 0 is in the flusher's first bio (5 to 25 ms) and dirty again
 * when fsync begins at 7 ms. Page 1 is dirtied later, is in the flusher's second bio (15 to 35 ms)
 * and dirty again when the second pass begins at 25 ms: that is none of fsync's business. 45 ms:
 * the second pass is on the device. 85 ms: committed.
 */
static void two_passes_at_most(void **state)
{
	struct rig *r = *state;

	r->cfg.dirty_expire_ns = 5 * MS;
	r->cfg.flush_interval_ns = 5 * MS;
	r->host->base_ns = 20 * MS;
	start(r);
	task_init(&task[1], r, task[0].op.file, NULL);
	task_write(&task[0], 0, PAGE);
	rig_run(r, 6 * MS);
	task_write(&task[0], 0, PAGE);
	rig_run(r, MS);
	task_begin(&task[0], lab_file_fsync, 0, 0);
	rig_run(r, MS);
	task_write(&task[1], PAGE, PAGE);
	rig_run(r, 8 * MS);
	assert_int_equal(r->host->nr, 2);
	expect_write(r, 1, 8, 1, 0);
	task_write(&task[1], PAGE, PAGE);
	task_wait(&task[0]);
	assert_int_equal(task[0].done_ns, 85 * MS);
}

/* Those whose data is there before a commit begins share it; the others share the next. */
static void waiting_fsyncs_share_a_commit(void **state)
{
	struct rig *r = *state;
	uint32_t n, commits = 0, blocks = 0;

	start(r);
	for (n = 0; n < 8; n++) {
		if (n)
			task_init(&task[n], r, lab_file_open(r->cache, n << 17, MIB), NULL);
		task_write(&task[n], 0, PAGE);
	}
	task_begin(&task[0], lab_file_fsync, 0, 0);
	rig_run(r, 50 * US);
	for (n = 1; n < 8; n++)
		task_begin(&task[n], lab_file_fsync, 0, 0);
	for (n = 0; n < 8; n++)
		task_wait(&task[n]);
	assert_int_equal(rig_stats(r).commits, 2);
	assert_int_equal(task[0].done_ns, 300 * US);
	for (n = 1; n < 8; n++)
		assert_int_equal(task[n].done_ns, 500 * US);
	for (n = 0; n < r->host->nr; n++) {
		if (bio(r, n)->sector < 1 << 20)
			continue;
		blocks += bio(r, n)->nr_sectors / 8;
		commits += !!(bio(r, n)->flags & WEIR_RQ_FUA);
	}
	assert_int_equal(commits, 2);
	assert_int_equal(blocks, (1 + 1 + 1) + (1 + 7 + 1));
}

/*
 * A second fsync of the file whose inode is in the commit under way: it needs none of its own, but
 * waits for that one, and its data (written after the commit began) needs a flush.
 */
static void fsync_during_its_commit(void **state)
{
	struct rig *r = *state;

	start(r);
	task_init(&task[1], r, task[0].op.file, NULL);
	task_write(&task[0], 0, PAGE);
	task_begin(&task[0], lab_file_fsync, 0, 0);
	rig_run(r, 150 * US);
	assert_int_equal(r->host->nr, 2); /* the commit is under way */
	task_fsync(&task[1]);
	assert_int_equal(task[0].done_ns, 300 * US);
	assert_int_equal(task[1].done_ns, 400 * US);
	assert_int_equal(r->host->nr, 4);
	assert_int_equal(bio(r, 3)->op, WEIR_OP_FLUSH);
	assert_int_equal(bio(r, 3)->submit_ns, 300 * US);
	assert_int_equal(rig_stats(r).commits, 1);
}

/* Written to during the commit: the change is in the next one. */
static void write_during_a_commit(void **state)
{
	struct rig *r = *state;

	start(r);
	task_init(&task[1], r, task[0].op.file, NULL);
	task_write(&task[0], 0, PAGE);
	task_begin(&task[0], lab_file_fsync, 0, 0);
	rig_run(r, 150 * US);
	task_write(&task[1], PAGE, PAGE);
	task_fsync(&task[1]);
	assert_int_equal(rig_stats(r).commits, 2);
	assert_int_equal(task[1].done_ns, 500 * US);
}

/* 64 pages of journal: after 21 commits of 3 pages one is left, and the next wraps around. */
static void journal_wraps_around(void **state)
{
	struct rig *r = *state;
	uint32_t n;

	start(r);
	for (n = 0; n < 22; n++) {
		task_write(&task[0], 0, PAGE);
		task_fsync(&task[0]);
	}
	expect_write(r, 62, (1 << 20) + 62 * 8, 1, COMMIT_FLAGS | BARRIER_FLAGS);
	expect_write(r, 64, (1 << 20) + 63 * 8, 1, COMMIT_FLAGS);
	expect_write(r, 65, 1 << 20, 1, COMMIT_FLAGS);
	expect_write(r, 66, (1 << 20) + 8, 1, COMMIT_FLAGS | BARRIER_FLAGS);
	assert_int_equal(bio(r, 65)->submit_ns, bio(r, 64)->submit_ns);
	assert_true(bio(r, 66)->submit_ns >= bio(r, 65)->done_ns);
	assert_int_equal(rig_stats(r).commits, 22);
}

/* Charged to the dirtier: another group's pages are written in its name, not the caller's. */
static void fsync_of_others_pages(void **state)
{
	struct rig *r = *state;
	struct weir_group *g, *other;

	r->cfg.charge = LAB_CHARGE_DIRTIER;
	g = start(r);
	other = rig_group(r, NULL, 100);
	task_init(&task[1], r, task[0].op.file, other);
	task_write(&task[0], 0, PAGE);
	task_write(&task[1], PAGE, PAGE);
	task_fsync(&task[0]);
	expect_write(r, 0, 0, 1, WEIR_RQ_SYNC);
	expect_write(r, 1, 8, 1, WEIR_RQ_SYNC);
	assert_ptr_equal(bio(r, 0)->group, g);
	assert_ptr_equal(bio(r, 0)->ctx, task[0].op.ctx);
	assert_ptr_equal(bio(r, 1)->group, other);
	assert_ptr_not_equal(bio(r, 1)->ctx, task[1].op.ctx);
	assert_ptr_equal(bio(r, 2)->group, weir_root(r->weir));
}

static void ioprio_is_the_callers(void **state)
{
	struct rig *r = *state;

	start(r);
	task[0].op.ioprio_class = WEIR_IOPRIO_RT;
	task[0].op.ioprio_level = 3;
	task_write(&task[0], 0, PAGE);
	task_begin(&task[0], lab_file_fsync, 0, 0);
	assert_int_equal(bio(r, 0)->bio->ioprio_class, WEIR_IOPRIO_RT);
	assert_int_equal(bio(r, 0)->bio->ioprio_level, 3);
	rig_run(r, 150 * US);
	assert_int_equal(bio(r, 1)->bio->ioprio_class, WEIR_IOPRIO_NONE);
	task_wait(&task[0]);
}

/* Stopped in a commit: it ends, what waits for the next is let go. */
static void stop_during_a_commit(void **state)
{
	struct rig *r = *state;

	start(r);
	task_init(&task[1], r, lab_file_open(r->cache, 1 << 18, MIB), NULL);
	task_write(&task[0], 0, PAGE);
	task_write(&task[1], 0, PAGE);
	task_begin(&task[0], lab_file_fsync, 0, 0);
	rig_run(r, 50 * US);
	task_begin(&task[1], lab_file_fsync, 0, 0);
	rig_run(r, 120 * US);
	assert_int_equal(r->host->nr, 3);
	lab_cache_stop(r->cache, rig_now(r));
	rig_run(r, 1000 * US);
	assert_false(task_is_busy(&task[0]));
	assert_false(task_is_busy(&task[1]));
	assert_int_equal(rig_stats(r).commits, 1);
	assert_int_equal(r->host->nr, 4);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(data_then_commit_then_done),   TEST(without_barriers),
		TEST(nothing_changed_is_a_flush),   TEST(fdatasync_commits_only_a_new_size),
		TEST(large_files_go_in_runs),	    TEST(waits_for_the_flusher),
		TEST(dirty_again_is_written_again), TEST(a_busy_writer_does_not_delay),
		TEST(two_passes_at_most),	    TEST(waiting_fsyncs_share_a_commit),
		TEST(fsync_during_its_commit),	    TEST(write_during_a_commit),
		TEST(journal_wraps_around),	    TEST(fsync_of_others_pages),
		TEST(ioprio_is_the_callers),	    TEST(stop_during_a_commit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
