// SPDX-License-Identifier: GPL-2.0-only
/* Page cache on the lab's own block layer and a modelled device: that the two fit together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/spi.h"
#include "lab/pagecache.h"
#include "lab/rng.h"

#define MIB (UINT64_C(1) << 20)
#define PAGE UINT64_C(4096)
#define MS UINT64_C(1000000)
#define TASKS 6

struct rig {
	struct lab_engine *engine;
	struct lab_device *device;
	struct lab_host *host;
	struct lab_cache_config cfg;
	struct lab_cache *cache;
};

struct task {
	struct rig *rig;
	struct lab_fileop op;
	struct lab_rng rng;
	uint64_t nr_done, at, most;
	bool busy, sync, random;
	void (*what)(struct lab_fileop *op, uint64_t now_ns);
};

static struct task task[TASKS];

static void rig_init(struct rig *r, const char *device, uint32_t pool)
{
	struct lab_host_config cfg;
	char err[200] = "";

	memset(task, 0, sizeof(task));
	r->engine = lab_engine_new();
	r->device = lab_device_open(device, r->engine, 1, err, sizeof(err));
	if (!r->device)
		fail_msg("%s", err);
	lab_host_config_init(&cfg, &r->device->info);
	cfg.core.pool = pool;
	r->host = lab_host_new(r->engine, r->device, &cfg, &weir_policy_noop, NULL, err,
			       sizeof(err));
	if (!r->host)
		fail_msg("%s", err);
	lab_cache_config_init(&r->cfg, &r->device->info);
	r->cfg.cache_bytes = 64 * MIB;
	r->cfg.dirty_bytes = 8 * MIB;
	r->cfg.dirty_background_bytes = 4 * MIB;
}

static void rig_stop(struct rig *r)
{
	lab_cache_stop(r->cache, lab_now(r->engine));
	lab_engine_run(r->engine, LAB_NEVER);
	lab_cache_free(r->cache);
	lab_host_free(r->host);
	r->device->destroy(r->device);
	lab_engine_free(r->engine);
}

static struct weir_group *group(struct rig *r, uint32_t weight)
{
	struct weir *w = lab_host_weir(r->host);
	struct weir_group_attr attr;
	int err;

	weir_group_attr_init(&attr);
	attr.weight = weight;
	return weir_group_create(w, weir_root(w), &attr, 0, &err);
}

static void next_op(struct task *t)
{
	uint64_t now_ns = lab_now(t->rig->engine);

	t->busy = t->nr_done < t->most;
	if (!t->busy)
		return;
	if (t->random)
		t->at = lab_rng_below(&t->rng, 16384);
	t->op.offset = t->at++ % 16384 * PAGE;
	t->op.bytes = PAGE;
	if (t->sync && t->nr_done % 2)
		lab_file_fsync(&t->op, now_ns);
	else
		t->what(&t->op, now_ns);
}

static void op_done(struct lab_fileop *op, uint64_t now_ns)
{
	struct task *t = op->owner;

	(void)now_ns;
	assert_true(t->busy);
	t->nr_done++;
	next_op(t);
}

static void task_init(struct task *t, struct rig *r, struct lab_file *f, struct weir_group *g)
{
	t->rig = r;
	t->op.file = f;
	t->op.group = g;
	t->op.ctx = weir_ctx_create(lab_host_weir(r->host), g, WEIR_IOPRIO_NONE, 0, 0);
	t->op.done = op_done;
	t->op.owner = t;
}

/* Readers, writers and a task that syncs; returns what the device and the cache have counted. */
static uint64_t mixed_run(uint64_t seed)
{
	struct lab_host_stats hs;
	struct lab_cache_stats cs;
	struct rig rig, *r = &rig;
	uint32_t n;

	rig_init(r, "ssd", 64);
	r->cfg.charge = LAB_CHARGE_DIRTIER;
	r->cache = lab_cache_new(r->host, &r->cfg);
	for (n = 0; n < TASKS; n++) {
		struct lab_file *f = lab_file_open(r->cache, 2048 + n * 131072, 64 * MIB);

		task_init(&task[n], r, f, group(r, 100 * (1 + n)));
		task[n].what = n < 3 ? lab_file_read : lab_file_write;
		task[n].op.reader = n == 1 ? lab_reader_new(f) : NULL;
		task[n].random = n % 3 == 0;
		task[n].sync = n == 5;
		task[n].most = n == 5 ? 200 : 3000;
		lab_rng_seed(&task[n].rng, seed, n);
		next_op(&task[n]);
	}
	lab_engine_run(r->engine, LAB_NEVER);
	for (n = 0; n < TASKS; n++)
		assert_int_equal(task[n].nr_done, task[n].most);
	lab_cache_read_stats(r->cache, &cs);
	lab_host_read_stats(r->host, &hs);
	assert_int_equal(cs.dirty_bytes, 0);
	assert_int_equal(cs.writeback_bytes, 0);
	assert_int_equal(cs.commits, 100);
	assert_true(cs.written_bytes >= 3000 * PAGE);
	assert_true(cs.read_ahead_bytes >= 3000 * PAGE);
	rig_stop(r);
	return hs.commands * 1000003 + cs.hit_pages * 7 + cs.throttled_ns;
}

static void everything_together_twice(void **state)
{
	(void)state;
	assert_true(mixed_run(1) == mixed_run(1));
	assert_true(mixed_run(1) != mixed_run(2));
}

/* Pages of two groups in one file by turns: separate bios, which are joined when charged to the
 * root. */
static uint64_t commands_for_mixed_pages(enum lab_charge charge)
{
	struct lab_host_stats hs;
	struct rig rig, *r = &rig;
	struct lab_file *f;
	uint64_t n;

	rig_init(r, "null:latency_us=100", 0);
	r->cfg.charge = charge;
	r->cfg.copy_ns = 0;
	r->cache = lab_cache_new(r->host, &r->cfg);
	f = lab_file_open(r->cache, 0, 64 * MIB);
	for (n = 0; n < 2; n++)
		task_init(&task[n], r, f, group(r, 100));
	for (n = 0; n < 64; n++) {
		struct task *t = &task[n % 2];

		t->what = lab_file_write;
		t->at = n;
		t->most = t->nr_done + 1;
		next_op(t);
		lab_engine_run(r->engine, lab_now(r->engine) + MS);
		assert_false(t->busy);
	}
	lab_engine_run(r->engine, LAB_NEVER);
	lab_host_read_stats(r->host, &hs);
	rig_stop(r);
	return hs.commands;
}

static void plug_joins_what_one_group_pays_for(void **state)
{
	(void)state;
	assert_int_equal(commands_for_mixed_pages(LAB_CHARGE_ROOT), 1);
	assert_int_equal(commands_for_mixed_pages(LAB_CHARGE_DIRTIER), 64);
}

/* The core's own marks: a scattered writer on a slow device, with a pool of 128. */
static void flusher_sleeps_while_congested(void **state)
{
	struct lab_host_stats before, after;
	struct lab_cache_stats cs;
	struct rig rig, *r = &rig;
	uint64_t wakeups, commands;

	(void)state;
	rig_init(r, "null:latency_us=1000:depth=1", 128);
	r->cache = lab_cache_new(r->host, &r->cfg);
	task_init(&task[0], r, lab_file_open(r->cache, 0, 64 * MIB),
		  weir_root(lab_host_weir(r->host)));
	task[0].what = lab_file_write;
	task[0].random = true;
	task[0].most = UINT64_MAX;
	lab_rng_seed(&task[0].rng, 3, 0);
	next_op(&task[0]);
	lab_engine_run(r->engine, 1000 * MS);
	lab_cache_read_stats(r->cache, &cs);
	lab_host_read_stats(r->host, &before);
	wakeups = cs.flusher_wakeups;
	lab_engine_run(r->engine, 5000 * MS);
	lab_cache_read_stats(r->cache, &cs);
	lab_host_read_stats(r->host, &after);
	wakeups = cs.flusher_wakeups - wakeups;
	commands = after.commands - before.commands;
	assert_in_range(commands, 3900, 4100);
	assert_true(wakeups * 1000 / commands < 200);
	assert_true(wakeups > 0);
	task[0].most = 0;
	rig_stop(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_together_twice),
		cmocka_unit_test(plug_joins_what_one_group_pays_for),
		cmocka_unit_test(flusher_sleeps_while_congested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
