// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page cache: random operations of many tasks on few files, with everything small, so that all
 * paths meet. Each operation is done exactly once (the tasks check), the counts agree with the
 * pages at all times, the engine runs dry, and a second run of a seed gives the same bios.
 */
#include "tests/test_cache_fake.h"

#include "lab/cache_impl.h"
#include "lab/rng.h"

enum {
	FILES = 4,
	GROUPS = 5,
	TASKS = 24,
	SEEDS = 24,
	OPS = 120, /* of a task */
};

static struct rig rig;
static struct task task[TASKS];
static struct lab_file *file[FILES];
static struct lab_reader *reader[FILES][2];
static uint64_t file_bytes[FILES];
static struct lab_rng rng;

/* ---- counts ---- */

static uint64_t bits(uint64_t word)
{
	return (uint64_t)__builtin_popcountll(word);
}

static void check_leaf(const struct cache_leaf *leaf, uint64_t *dirty_of)
{
	uint64_t clean = leaf->present & ~(leaf->dirty | leaf->writeback | leaf->reading), left;

	assert_true(leaf->present | leaf->reading | leaf->writeback);
	assert_false(leaf->dirty & ~leaf->present);
	if (leaf->readers.head)
		assert_true(leaf->reading);
	if (clean)
		assert_ptr_equal(leaf->lru.next->prev, &leaf->lru);
	for (left = leaf->dirty; left; left &= left - 1)
		dirty_of[leaf->owner[__builtin_ctzll(left)]]++;
}

static void check_counts(struct rig *r)
{
	struct lab_cache *c = r->cache;
	uint64_t pages = 0, dirty = 0, writeback = 0, leaves = 0, with_clean = 0;
	uint64_t dirty_of[GROUPS + 1] = {0};
	struct cache_leaf *leaf;
	struct lab_file *f;
	uint32_t slot;

	for (f = c->files; f; f = f->next) {
		struct cache_dirt *dirt;
		uint64_t in_file = 0, in_dirt = 0, at = 0;

		for (; (leaf = cache_leaf_next(f, at, false)); at = (leaf->index + 1) * 64) {
			check_leaf(leaf, dirty_of);
			leaves++;
			pages += bits(leaf->present | leaf->reading | leaf->writeback);
			in_file += bits(leaf->dirty);
			writeback += bits(leaf->writeback);
			if (leaf->dirty)
				assert_ptr_equal(cache_leaf_next(f, at, true), leaf);
		}
		list_for_each(dirt, &f->dirt, struct cache_dirt, in_file)
			in_dirt += dirt->nr_dirty;
		assert_int_equal(in_file, in_dirt);
		dirty += in_file;
	}
	list_for_each(leaf, &c->lru, struct cache_leaf, lru)
		with_clean++;
	assert_true(with_clean <= leaves);
	assert_int_equal(leaves, c->leaves.nr_used);
	assert_int_equal(pages, c->nr_pages);
	assert_int_equal(dirty, c->nr_dirty);
	assert_int_equal(writeback, c->nr_writeback);
	assert_true(c->nr_groups <= GROUPS + 1);
	for (slot = 0; slot < c->nr_groups; slot++) {
		assert_int_equal(dirty_of[slot], c->group[slot]->nr_dirty);
		writeback -= c->group[slot]->nr_writeback;
	}
	assert_int_equal(writeback, 0);
	if (!c->stopping)
		assert_true(c->nr_dirty + c->nr_writeback <= c->dirty_pages);
}

/* ---- tasks ---- */

static void random_range(uint64_t bytes, uint64_t *offset, uint64_t *length)
{
	uint64_t most = lab_rng_below(&rng, 8) ? 16 * PAGE : 2 * MIB;

	*offset = lab_rng_below(&rng, bytes);
	if (lab_rng_below(&rng, 2))
		*offset = *offset / PAGE * PAGE;
	*length = lab_rng_below(&rng, most);
	if (*length > bytes - *offset)
		*length = bytes - *offset;
}

static void next_op(struct task *t)
{
	uint64_t what = lab_rng_below(&rng, 100), n = lab_rng_below(&rng, FILES), offset, length;
	struct lab_fileop *op = &t->op;

	if (!t->state)
		return;
	t->state--;
	random_range(file_bytes[n], &offset, &length);
	op->file = file[n];
	op->reader = what % 3 ? reader[n][what % 2] : NULL;
	op->data_only = what % 2;
	if (what % 10 == 7)
		lab_file_invalidate(op->file);
	if (what % 16 == 3)
		lab_file_discard_range(op->file, offset, length);
	if (what < 20) {
		/* Go on where the task's latest read ended. */
		if (op->reader && op->reader->read_end < file_bytes[n] / PAGE)
			offset = op->reader->read_end * PAGE;
		if (length > file_bytes[n] - offset)
			length = file_bytes[n] - offset;
	}
	if (what < 50)
		task_begin(t, lab_file_read, offset, length);
	else if (what < 90)
		task_begin(t, lab_file_write, offset, length);
	else
		task_begin(t, lab_file_fsync, 0, 0);
}

static void random_config(struct rig *r)
{
	struct lab_cache_config *cfg = &r->cfg;

	cfg->cache_bytes = MIB << lab_rng_below(&rng, 4);
	cfg->dirty_bytes = cfg->cache_bytes >> (1 + lab_rng_below(&rng, 2));
	cfg->dirty_background_bytes = cfg->dirty_bytes >> (1 + lab_rng_below(&rng, 4));
	cfg->dirty_expire_ns = 20 * MS;
	cfg->flush_interval_ns = 5 * MS;
	cfg->read_ahead_windows = 1 + (uint32_t)lab_rng_below(&rng, 4);
	cfg->charge = lab_rng_below(&rng, 2) ? LAB_CHARGE_ROOT : LAB_CHARGE_DIRTIER;
	cfg->barriers = lab_rng_below(&rng, 2);
	cfg->copy_ns = lab_rng_below(&rng, 2) * 500;
	cfg->journal_sectors = 512;
	r->host->base_ns = 20 * US;
	r->host->ns_per_sector = lab_rng_below(&rng, 300);
	r->host->serial = lab_rng_below(&rng, 2);
	r->host->jitter_ns = lab_rng_below(&rng, 2) * 100 * US;
	r->host->on = (uint32_t)lab_rng_below(&rng, 3) * 8;
	r->host->off = r->host->on / (1 + (uint32_t)lab_rng_below(&rng, 2));
}

static void begin_all(struct rig *r)
{
	struct weir_group *g[GROUPS];
	uint32_t n;

	for (n = 0; n < GROUPS; n++)
		g[n] = n ? rig_group(r, n > 2 ? g[1] : NULL, 50 * n) : weir_root(r->weir);
	for (n = 0; n < FILES; n++) {
		file_bytes[n] = n ? MIB << (2 * n) : 5 * PAGE + 1536;
		file[n] = lab_file_open(r->cache, n << 20, file_bytes[n]);
		reader[n][0] = lab_reader_new(file[n]);
		reader[n][1] = lab_reader_new(file[n]);
	}
	lab_file_set_size(file[1], 100 * PAGE);
	for (n = 0; n < TASKS; n++) {
		task_init(&task[n], r, file[0], g[n % GROUPS]);
		task[n].then = next_op;
		task[n].state = OPS;
		next_op(&task[n]);
	}
}

static uint64_t hash_of_log(const struct lab_host *h)
{
	uint64_t hash = 14695981039346656037u, word[8];
	uint32_t n, i;

	for (n = 0; n < h->nr; n++) {
		const struct fake_bio *b = &h->log[n];

		word[0] = b->op;
		word[1] = b->flags;
		word[2] = b->sector;
		word[3] = b->nr_sectors;
		word[4] = weir_group_id(b->group);
		word[5] = b->submit_ns;
		word[6] = b->done_ns;
		word[7] = b->ctx != NULL;
		for (i = 0; i < 8; i++)
			hash = (hash ^ word[i]) * UINT64_C(1099511628211);
	}
	return hash;
}

/* stop: in the middle of it. */
static uint64_t run(uint64_t seed, bool stop)
{
	struct rig *r = &rig;
	uint64_t hash;
	uint32_t n, steps;

	lab_rng_seed(&rng, seed, 5);
	rig_init(r);
	random_config(r);
	rig_start(r);
	begin_all(r);
	for (steps = 0; steps < (stop ? 20 : 4000); steps++) {
		bool busy = false;

		rig_run(r, MS);
		if (steps % 4 == 0)
			check_counts(r);
		for (n = 0; n < TASKS; n++)
			busy |= task_is_busy(&task[n]);
		if (!busy)
			break;
	}
	if (!stop) {
		for (n = 0; n < TASKS; n++) {
			if (task[n].nr_done != OPS)
				print_error("seed %u: task %u did %u operations\n", (unsigned)seed,
					    n, task[n].nr_done);
			assert_int_equal(task[n].nr_done, OPS);
		}
		/* Left alone, all dirty pages expire, and then nothing is left to do. */
		lab_engine_run(r->engine, LAB_NEVER);
		check_counts(r);
		assert_int_equal(rig_stats(r).dirty_bytes, 0);
		assert_int_equal(rig_stats(r).writeback_bytes, 0);
		assert_true(rig_stats(r).cached_bytes <= r->cfg.cache_bytes);
	}
	hash = hash_of_log(r->host);
	rig_stop(r);
	for (n = 0; n < TASKS; n++)
		assert_false(task_is_busy(&task[n]));
	return hash;
}

static void every_operation_is_done_once(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= SEEDS; seed++)
		run(seed, false);
}

static void same_seed_same_bios(void **state)
{
	uint64_t seed, first, other = 0;

	(void)state;
	for (seed = 1; seed <= 6; seed++) {
		first = run(seed, false);
		assert_true(run(seed, false) == first);
		assert_true(first != other);
		other = first;
	}
}

static void stopped_at_any_time(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 100; seed < 100 + SEEDS; seed++)
		run(seed, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_is_done_once),
		cmocka_unit_test(same_seed_same_bios),
		cmocka_unit_test(stopped_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
