// SPDX-License-Identifier: GPL-2.0-only
/* Closed loops on a modelled device: see gauntlet_loop.h. */
#include "tests/gauntlet_loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void loop_open(struct loop *l, const char *device, const char *policy, uint32_t pool)
{
	const struct weir_policy *p = weir_policy_find(policy);
	uint64_t tunables[WEIR_TUNABLES_MAX] = {0};
	struct lab_host_config cfg;
	char err[256] = "";
	/* The device is never kept idle on purpose. */
	static const char *const idle[] = {"slice_idle", "group_idle", "antic_expire"};
	unsigned int i;

	memset(l, 0, sizeof(*l));
	assert_non_null(p);
	for (i = 0; weir_policy_info(p)->tunables[i].name; i++)
		tunables[i] = weir_policy_info(p)->tunables[i].def;
	for (i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
		if (weir_tunable_find(p, idle[i]) >= 0)
			tunables[weir_tunable_find(p, idle[i])] = 0;
	lab_rng_seed(&l->rng, 1, 77);
	l->engine = lab_engine_new();
	l->device = lab_device_open(device, l->engine, 1, err, sizeof(err));
	if (!l->device)
		fail_msg("%s", err);
	lab_host_config_init(&cfg, &l->device->info);
	cfg.core.pool = pool;
	l->host = lab_host_new(l->engine, l->device, &cfg, p, tunables, err, sizeof(err));
	if (!l->host)
		fail_msg("%s", err);
}

struct weir_group *loop_group(struct loop *l, struct weir_group *parent,
			      const struct weir_group_attr *attr)
{
	struct weir *w = lab_host_weir(l->host);
	int err = 0;
	struct weir_group *g = weir_group_create(w, parent ? parent : weir_root(w), attr,
						 lab_now(l->engine), &err);

	assert_int_equal(err, 0);
	assert_non_null(g);
	return g;
}

static void issue(struct loop_stream *s, struct lab_bio *bio, uint64_t now_ns)
{
	uint64_t places = s->loop->device->info.sectors / s->nr_sectors;

	bio->sector = lab_rng_below(&s->loop->rng, places) * s->nr_sectors;
	lab_host_submit(s->loop->host, bio, now_ns);
}

static void done(struct lab_bio *bio, uint64_t now_ns)
{
	struct loop_stream *s = bio->owner;

	if (s->loop->stopping)
		return;
	assert_true((now_ns - 1) / LOOP_S < LOOP_SECONDS);
	s->per_second[(now_ns - 1) / LOOP_S]++;
	s->done++;
	if (s->nr_at < s->room)
		s->at_ns[s->nr_at++] = now_ns;
	issue(s, bio, now_ns);
}

struct loop_stream *loop_stream(struct loop *l, struct weir_group *g, enum weir_op op,
				uint32_t bytes, uint32_t depth, uint64_t room)
{
	struct loop_stream *s = &l->stream[l->nr_streams++];
	uint32_t i;

	assert_true(l->nr_streams <= LOOP_STREAMS);
	s->loop = l;
	s->group = g;
	s->op = op;
	s->nr_sectors = bytes / WEIR_SECTOR_BYTES;
	s->depth = depth;
	s->room = room;
	s->bios = calloc(depth, sizeof(*s->bios));
	s->at_ns = calloc(room + 1, sizeof(*s->at_ns));
	assert_true(s->bios && s->at_ns);
	for (i = 0; i < depth; i++) {
		s->bios[i] = (struct lab_bio){
			.op = op,
			.flags = WEIR_RQ_SYNC,
			.nr_sectors = s->nr_sectors,
			.group = g,
			.done = done,
			.owner = s,
		};
		issue(s, &s->bios[i], lab_now(l->engine));
	}
	return s;
}

void loop_run(struct loop *l, uint64_t length_ns)
{
	lab_engine_run(l->engine, lab_now(l->engine) + length_ns);
}

void loop_set(struct loop *l, struct weir_group *g, const struct weir_group_attr *attr)
{
	uint64_t now_ns = lab_now(l->engine);

	lab_host_plug(l->host);
	assert_int_equal(weir_group_set(g, attr, now_ns), 0);
	lab_host_unplug(l->host, now_ns);
}

uint64_t loop_count(const struct loop_stream *s, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t i, n = 0;

	assert_true(s->nr_at < s->room);
	for (i = 0; i < s->nr_at; i++)
		n += s->at_ns[i] >= from_ns && s->at_ns[i] < to_ns;
	return n;
}

void loop_close(struct loop *l)
{
	unsigned int i;

	l->stopping = true;
	lab_host_drain(l->host, lab_now(l->engine));
	lab_engine_run(l->engine, LAB_NEVER);
	assert_int_equal(lab_host_outstanding(l->host), 0);
	lab_host_free(l->host);
	l->device->destroy(l->device);
	lab_engine_free(l->engine);
	for (i = 0; i < l->nr_streams; i++) {
		free(l->stream[i].bios);
		free(l->stream[i].at_ns);
	}
}
