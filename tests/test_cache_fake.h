/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A block layer for tests of the page cache: lab_host_*() as simple as can be, on the real engine
 * and with the real groups of the core.
 *
 * A bio takes base_ns + ns_per_sector, all at the same time or (serial) one after the other. Each
 * is kept in a log. What no cache may do is asserted here: two writes of one sector in flight, a
 * context of another group, an empty bio, an unplug too many. Pools are per group and direction,
 * with an on and an off mark; equal marks mean no hysteresis.
 */
#ifndef TESTS_TEST_CACHE_FAKE_H
#define TESTS_TEST_CACHE_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/list.h"
#include "core/spi.h"
#include "lab/pagecache.h"

#define MIB (UINT64_C(1) << 20)
#define KIB (UINT64_C(1) << 10)
#define PAGE UINT64_C(4096)
#define MS UINT64_C(1000000)
#define US UINT64_C(1000)
#define FAKE_BIOS 65536
#define FAKE_GROUPS 64
#define DEVICE_SECTORS (UINT64_C(1) << 31)

/* A bio, in flight or done (done_ns is not 0). */
struct fake_bio {
	struct lab_event ev;
	struct lab_host *host;
	struct lab_bio *bio;
	enum weir_op op;
	uint16_t flags;
	uint64_t sector;
	uint32_t nr_sectors;
	struct weir_group *group;
	struct weir_ctx *ctx;
	uint64_t submit_ns, done_ns;
};

struct fake_waiter {
	struct weir_group *group;
	enum weir_dir dir;
	struct lab_event *ev;
};

struct fake_pool {
	uint32_t nr;
	bool congested;
};

struct lab_host {
	struct lab_engine *engine;
	struct weir *weir;
	uint64_t base_ns, ns_per_sector;
	uint64_t jitter_ns, jitter_state; /* each bio takes up to that much longer */
	bool serial;
	uint64_t free_ns; /* serial: when the device is free */
	uint32_t on, off; /* marks of a pool; 0: no pools */
	uint32_t in_flight;
	uint32_t plugs;
	struct fake_pool pool[FAKE_GROUPS][WEIR_NR_DIRS];
	struct fake_waiter waiter[FAKE_GROUPS];
	uint32_t nr_waiters;
	struct fake_bio log[FAKE_BIOS];
	uint32_t nr;
};

static inline void fake_update_pool(struct lab_host *h, struct weir_group *g, enum weir_dir dir)
{
	struct fake_pool *pool = &h->pool[weir_group_id(g)][dir];
	uint32_t n, kept = 0;

	if (!h->on)
		return;
	if (pool->nr >= h->on)
		pool->congested = true;
	else if (pool->nr < h->off)
		pool->congested = false;
	if (pool->congested)
		return;
	for (n = 0; n < h->nr_waiters; n++) {
		struct fake_waiter w = h->waiter[n];

		if (w.group == g && w.dir == dir)
			lab_event_at(h->engine, w.ev, lab_now(h->engine));
		else
			h->waiter[kept++] = w;
	}
	h->nr_waiters = kept;
}

static inline void fake_done(struct lab_event *ev, uint64_t now_ns)
{
	struct fake_bio *b = weir_container_of(ev, struct fake_bio, ev);
	struct lab_host *h = b->host;

	assert_int_equal(b->done_ns, 0);
	b->done_ns = now_ns;
	h->in_flight--;
	h->pool[weir_group_id(b->group)][weir_op_dir(b->op)].nr--;
	b->bio->done(b->bio, now_ns);
	fake_update_pool(h, b->group, weir_op_dir(b->op));
}

static inline void fake_check(const struct lab_host *h, const struct lab_bio *bio)
{
	uint32_t n, seen = 0;

	assert_non_null(bio->group);
	assert_non_null(bio->done);
	if (bio->ctx)
		assert_ptr_equal(weir_ctx_group(bio->ctx), bio->group);
	assert_true(bio->op == WEIR_OP_FLUSH ? !bio->nr_sectors : bio->nr_sectors > 0);
	assert_true(bio->sector + bio->nr_sectors <= DEVICE_SECTORS);
	if (bio->op != WEIR_OP_WRITE)
		return;
	for (n = h->nr; n-- && seen < h->in_flight;) {
		const struct fake_bio *b = &h->log[n];

		if (b->done_ns)
			continue;
		seen++;
		if (b->op == WEIR_OP_WRITE)
			assert_false(b->sector < bio->sector + bio->nr_sectors &&
				     bio->sector < b->sector + b->nr_sectors);
	}
}

void lab_host_submit(struct lab_host *h, struct lab_bio *bio, uint64_t now_ns)
{
	struct fake_bio *b = &h->log[h->nr];
	uint64_t service_ns = h->base_ns + bio->nr_sectors * h->ns_per_sector, at_ns;

	assert_int_equal(now_ns, lab_now(h->engine));
	fake_check(h, bio);
	assert_true(h->nr < FAKE_BIOS);
	h->nr++;
	h->in_flight++;
	if (h->jitter_ns) {
		h->jitter_state = h->jitter_state * UINT64_C(6364136223846793005) + 1;
		service_ns += (h->jitter_state >> 33) % h->jitter_ns;
	}
	at_ns = now_ns + service_ns;
	if (h->serial) {
		if (h->free_ns > now_ns)
			at_ns = h->free_ns + service_ns;
		h->free_ns = at_ns;
	}
	*b = (struct fake_bio){.host = h,
			       .bio = bio,
			       .op = bio->op,
			       .flags = bio->flags,
			       .sector = bio->sector,
			       .nr_sectors = bio->nr_sectors,
			       .group = bio->group,
			       .ctx = bio->ctx,
			       .submit_ns = now_ns};
	h->pool[weir_group_id(b->group)][weir_op_dir(b->op)].nr++;
	fake_update_pool(h, b->group, weir_op_dir(b->op));
	lab_event_init(&b->ev, fake_done);
	lab_event_at(h->engine, &b->ev, at_ns);
}

void lab_host_plug(struct lab_host *h)
{
	h->plugs++;
}

void lab_host_unplug(struct lab_host *h, uint64_t now_ns)
{
	assert_int_equal(now_ns, lab_now(h->engine));
	assert_true(h->plugs > 0);
	h->plugs--;
}

bool lab_host_congested(struct lab_host *h, struct weir_group *g, enum weir_dir dir)
{
	return h->pool[weir_group_id(g)][dir].congested;
}

void lab_host_wait_uncongested(struct lab_host *h, struct weir_group *g, enum weir_dir dir,
			       struct lab_event *ev)
{
	assert_true(h->nr_waiters < FAKE_GROUPS);
	assert_false(lab_event_pending(ev));
	h->waiter[h->nr_waiters++] = (struct fake_waiter){g, dir, ev};
	fake_update_pool(h, g, dir);
}

struct lab_engine *lab_host_engine(struct lab_host *h)
{
	return h->engine;
}

struct weir *lab_host_weir(struct lab_host *h)
{
	return h->weir;
}

/* ---- a cache on it ---- */

struct rig {
	struct lab_engine *engine;
	struct lab_host *host;
	struct weir *weir;
	struct lab_cache_config cfg;
	struct lab_cache *cache;
	bool stopping; /* tasks do nothing next */
};

static inline void *rig_alloc(void *priv, size_t bytes)
{
	(void)priv;
	return calloc(1, bytes);
}

static inline void rig_free(void *priv, void *p, size_t bytes)
{
	(void)priv;
	(void)bytes;
	free(p);
}

/* Everything but the cache; the test may change cfg and the host before rig_start(). */
static inline void rig_init(struct rig *r)
{
	struct lab_device_info info = {.sectors = DEVICE_SECTORS};
	struct weir_host host = {.alloc = rig_alloc, .free = rig_free};
	struct weir_config cfg;
	int err;

	memset(r, 0, sizeof(*r));
	weir_config_init(&cfg);
	r->engine = lab_engine_new();
	r->weir = weir_create(&cfg, &host, &weir_policy_noop, NULL, 0, &err);
	assert_non_null(r->weir);
	r->host = calloc(1, sizeof(*r->host));
	assert_non_null(r->host);
	r->host->engine = r->engine;
	r->host->weir = r->weir;
	r->host->base_ns = 100 * US;
	lab_cache_config_init(&r->cfg, &info);
}

static inline void rig_start(struct rig *r)
{
	assert_null(lab_cache_config_check(&r->cfg));
	r->cache = lab_cache_new(r->host, &r->cfg);
}

static inline uint64_t rig_now(const struct rig *r)
{
	return lab_now(r->engine);
}

static inline void rig_run(struct rig *r, uint64_t ns)
{
	lab_engine_run(r->engine, rig_now(r) + ns);
}

/* Ends the cache, whatever it is doing, and checks that it leaves nothing behind. */
static inline void rig_stop(struct rig *r)
{
	r->stopping = true;
	lab_cache_stop(r->cache, rig_now(r));
	lab_engine_run(r->engine, LAB_NEVER);
	assert_int_equal(r->host->in_flight, 0);
	assert_int_equal(r->host->plugs, 0);
	lab_cache_free(r->cache);
	weir_destroy(r->weir);
	lab_engine_free(r->engine);
	free(r->host);
}

static inline struct lab_cache_stats rig_stats(const struct rig *r)
{
	struct lab_cache_stats s;

	lab_cache_read_stats(r->cache, &s);
	return s;
}

static inline struct weir_group *rig_group(struct rig *r, struct weir_group *parent,
					   uint32_t weight)
{
	struct weir_group_attr attr;
	struct weir_group *g;
	int err;

	weir_group_attr_init(&attr);
	attr.weight = weight;
	g = weir_group_create(r->weir, parent ? parent : weir_root(r->weir), &attr, rig_now(r),
			      &err);
	assert_non_null(g);
	return g;
}

/* A task with one operation at a time. Static where a test ends while it is busy. */
struct task {
	struct lab_fileop op;
	struct rig *rig;
	uint32_t nr_begun, nr_done;
	uint64_t begin_ns, done_ns;
	bool stop_engine;
	void (*then)(struct task *t); /* what the task does next, or NULL */
	uint64_t state;		      /* the test's */
};

static inline void task_done(struct lab_fileop *op, uint64_t now_ns)
{
	struct task *t = op->owner;

	assert_int_equal(t->nr_done + 1, t->nr_begun);
	assert_int_equal(now_ns, rig_now(t->rig));
	t->nr_done++;
	t->done_ns = now_ns;
	if (t->then && !t->rig->stopping)
		t->then(t);
	else if (t->stop_engine)
		lab_engine_stop(t->rig->engine);
}

/* group NULL: the root. */
static inline void task_init(struct task *t, struct rig *r, struct lab_file *f,
			     struct weir_group *group)
{
	memset(t, 0, sizeof(*t));
	t->rig = r;
	t->op.file = f;
	t->op.group = group ? group : weir_root(r->weir);
	t->op.ctx = weir_ctx_create(r->weir, t->op.group, WEIR_IOPRIO_NONE, 0, rig_now(r));
	t->op.done = task_done;
	t->op.owner = t;
}

static inline void task_begin(struct task *t, void (*what)(struct lab_fileop *, uint64_t),
			      uint64_t offset, uint64_t bytes)
{
	uint32_t nr_done = t->nr_done;

	assert_int_equal(t->nr_begun, t->nr_done);
	t->op.offset = offset;
	t->op.bytes = bytes;
	t->nr_begun++;
	t->begin_ns = rig_now(t->rig);
	what(&t->op, rig_now(t->rig));
	assert_int_equal(t->nr_done, nr_done); /* never from within the call */
}

static inline bool task_is_busy(const struct task *t)
{
	return t->nr_done != t->nr_begun;
}

/* Until the operation is done; returns how long it took. */
static inline uint64_t task_wait(struct task *t)
{
	t->stop_engine = true;
	if (task_is_busy(t))
		lab_engine_run(t->rig->engine, LAB_NEVER);
	t->stop_engine = false;
	assert_false(task_is_busy(t));
	return t->done_ns - t->begin_ns;
}

static inline uint64_t task_read(struct task *t, uint64_t offset, uint64_t bytes)
{
	task_begin(t, lab_file_read, offset, bytes);
	return task_wait(t);
}

static inline uint64_t task_write(struct task *t, uint64_t offset, uint64_t bytes)
{
	task_begin(t, lab_file_write, offset, bytes);
	return task_wait(t);
}

static inline uint64_t task_fsync(struct task *t)
{
	task_begin(t, lab_file_fsync, 0, 0);
	return task_wait(t);
}

#endif
