/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device alone on its engine, for tests: commands one at a time with their latency, or several at
 * once with the times at which they completed.
 */
#ifndef TESTS_TEST_DEVICE_RIG_H
#define TESTS_TEST_DEVICE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lab/measure.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

struct rig {
	struct lab_engine *e;
	struct lab_device *d;
};

struct timed_cmd {
	struct lab_cmd cmd;
	uint64_t done_ns; /* 0: not yet */
};

static inline void rig_open(struct rig *r, const char *spec, uint64_t seed)
{
	char err[512] = "";

	r->e = lab_engine_new();
	r->d = lab_device_open(spec, r->e, seed, err, sizeof(err));
	if (!r->d)
		fail_msg("%s: %s", spec, err);
}

static inline void rig_close(struct rig *r)
{
	r->d->destroy(r->d);
	lab_engine_free(r->e);
}

static inline void timed_done(struct lab_cmd *cmd, uint64_t now)
{
	struct timed_cmd *t = (struct timed_cmd *)(void *)cmd;

	assert_int_equal(t->done_ns, 0);
	t->done_ns = now;
}

static inline void rig_submit(struct rig *r, struct timed_cmd *t, enum weir_op op, uint16_t flags,
			      uint64_t sector, uint32_t nr_sectors)
{
	memset(t, 0, sizeof(*t));
	t->cmd.op = op;
	t->cmd.flags = flags;
	t->cmd.sector = sector;
	t->cmd.nr_sectors = nr_sectors;
	t->cmd.done = timed_done;
	lab_device_submit(r->d, &t->cmd, lab_now(r->e));
	assert_int_equal(t->done_ns, 0); /* never from within submit */
}

/* Runs until the command is done, and not further than the step of time in which it is. */
static inline void rig_wait(struct rig *r, struct timed_cmd *t)
{
	while (!t->done_ns)
		lab_engine_run(r->e, lab_now(r->e) + 10 * US);
}

static inline uint64_t rig_time(struct rig *r, enum weir_op op, uint16_t flags, uint64_t sector,
				uint32_t nr_sectors)
{
	struct timed_cmd t;

	rig_submit(r, &t, op, flags, sector, nr_sectors);
	rig_wait(r, &t);
	return t.done_ns - t.cmd.submit_ns;
}

static inline void rig_sleep(struct rig *r, uint64_t ns)
{
	lab_engine_run(r->e, lab_now(r->e) + ns);
}

/* The default load of lab_load_init() on a fresh device. */
static inline struct lab_result rig_load(const char *spec, uint32_t read_percent, bool random,
					 uint32_t bytes, uint32_t depth)
{
	struct lab_result out;
	struct lab_load load;
	struct rig r;

	rig_open(&r, spec, 1);
	lab_load_init(&load, &r.d->info, read_percent, random, bytes, depth);
	lab_measure(r.d, &load, &out);
	rig_close(&r);
	return out;
}

#define assert_within(value, expected, percent)                                \
	assert_in_range(value, (uint64_t)(expected) * (100 - (percent)) / 100, \
			(uint64_t)(expected) * (100 + (percent)) / 100)

/* One row of a model's table in docs/devices.md. */
struct pinned {
	uint32_t read_percent, bytes;
	bool random;
	uint64_t rate[7]; /* of depth 1, 4, 16, 32, 64, 128, 256: IOPS; 0: not in the table */
};

static inline void assert_pinned(const char *spec, const struct pinned *row)
{
	static const uint32_t depths[7] = {1, 4, 16, 32, 64, 128, 256};
	int i;

	for (i = 0; i < 7; i++) {
		struct lab_result r;

		if (!row->rate[i])
			continue;
		r = rig_load(spec, row->read_percent, row->random, row->bytes, depths[i]);
		assert_within(lab_result_iops(&r), row->rate[i], 1);
	}
}

/* The constants of a preset are what measuring it gives. */
static inline void assert_profile_measured(const char *name)
{
	uint64_t values[LAB_DEVICE_OPTIONS_MAX];
	const struct lab_device_model *m;
	struct weir_profile p;
	unsigned int n, i;
	struct rig r;

	for (n = 0; (m = lab_device_model_at(n)) && strcmp(m->name, name); n++)
		;
	assert_non_null(m);
	for (i = 0; m->options[i].name; i++)
		values[i] = m->options[i].def;
	lab_measure_profile(m, values, NULL, &p);
	rig_open(&r, name, 1);
	assert_within(r.d->info.profile.rbps, p.rbps, 3);
	assert_within(r.d->info.profile.rseqiops, p.rseqiops, 3);
	assert_within(r.d->info.profile.rrandiops, p.rrandiops, 3);
	assert_within(r.d->info.profile.wbps, p.wbps, 3);
	assert_within(r.d->info.profile.wseqiops, p.wseqiops, 3);
	assert_within(r.d->info.profile.wrandiops, p.wrandiops, 3);
	assert_within(r.d->info.profile.flush_ns, p.flush_ns, 3);
	assert_within(r.d->info.profile.latency_ns, p.latency_ns, 3);
	assert_within(r.d->info.profile.knee_ns, p.knee_ns, 3);
	assert_int_equal(r.d->info.profile.rotational, p.rotational);
	assert_null(weir_profile_check(&r.d->info.profile));
	rig_close(&r);
}

#endif
