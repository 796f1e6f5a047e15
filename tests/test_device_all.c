// SPDX-License-Identifier: GPL-2.0-only
/*
 * What holds for every model: each command completes exactly once, whatever comes; equal seeds give
 * equal runs and different seeds different ones; a specification that is wrong is refused in one
 * line.
 */
#include "tests/test_device_rig.h"

#include <stdlib.h>

#include "lab/dev_common.h"
#include "lab/rng.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* Every model, and the corners of each. */
static const char *const specs[] = {
	"hdd",
	"hdd:wcache=0",
	"hdd:cache_kb=64:depth=2",
	"hdd:capacity_gb=8:rpm=15000",
	"ssd",
	"ssd:aged=1:buffer_kb=64",
	"ssd:dies=1:channels=1:depth=1",
	"ssd:plp=1:stall=1:suspend_us=20",
	"ssd:dies=7:channels=3:capacity_gb=8:fill=50:stall=1:stall_every_ms=1:stall_min_us=9000",
	"pcie-flash",
	"pcie-flash:plp=0:stall_every_ms=2:buffer_kb=64",
	"nvme",
	"nvme:plp=0:aged=1:dies=16",
	"profile:pc711",
	"profile:mtfdhba256:tail=0",
	"null",
	"null:latency_ns=1",
};

/* Those whose timing does not come from the seed. */
static bool has_chance(const char *spec)
{
	return strncmp(spec, "null", 4) && !strstr(spec, "tail=0");
}

/* ---- random streams ---- */

#define COMMANDS 8000

struct stream {
	struct lab_device *d;
	struct lab_rng rng;
	struct lab_event arrive;
	struct one {
		struct lab_cmd cmd;
		struct stream *stream;
		uint32_t completed;
		bool in_use;
	} * slot;
	uint32_t issued, completed, depth;
	uint64_t hash; /* of the order and the times of the completions */
};

static void fill_in(struct stream *s, struct lab_cmd *cmd)
{
	static const enum weir_op ops[] = {
		WEIR_OP_READ,  WEIR_OP_READ,  WEIR_OP_READ,  WEIR_OP_WRITE,   WEIR_OP_WRITE,
		WEIR_OP_WRITE, WEIR_OP_WRITE, WEIR_OP_FLUSH, WEIR_OP_DISCARD, WEIR_OP_WRITE_ZEROES,
	};
	uint64_t kind = lab_rng_below(&s->rng, 300), max = s->d->info.max_sectors;

	/* Flushes and FUA often, but not so often that little else happens. */
	cmd->op = kind < 3 ? WEIR_OP_FLUSH : ops[kind % NR(ops)];
	if (cmd->op == WEIR_OP_FLUSH && kind > 40)
		cmd->op = WEIR_OP_READ;
	cmd->flags = 0;
	if (cmd->op == WEIR_OP_WRITE && !lab_rng_below(&s->rng, 30))
		cmd->flags |= WEIR_RQ_FUA;
	if (cmd->op == WEIR_OP_WRITE && !lab_rng_below(&s->rng, 50))
		cmd->flags |= WEIR_RQ_PREFLUSH;
	cmd->nr_sectors = (uint32_t)(lab_rng_below(&s->rng, 4) ? 8
							       : 1 + lab_rng_below(&s->rng, max));
	/* Ends of the device, a small busy area, and anywhere. */
	switch (lab_rng_below(&s->rng, 8)) {
	case 0:
		cmd->sector = s->d->info.sectors - cmd->nr_sectors;
		break;
	case 1:
		cmd->sector = 0;
		break;
	case 2:
	case 3:
		cmd->sector = lab_rng_below(&s->rng, 4096);
		break;
	default:
		cmd->sector = lab_rng_below(&s->rng, s->d->info.sectors - cmd->nr_sectors + 1);
		break;
	}
	if (cmd->op == WEIR_OP_FLUSH)
		cmd->nr_sectors = 0;
}

static void stream_done(struct lab_cmd *cmd, uint64_t now);

static void issue(struct stream *s, struct one *o, uint64_t now)
{
	fill_in(s, &o->cmd);
	o->cmd.done = stream_done;
	o->stream = s;
	o->in_use = true;
	s->issued++;
	lab_device_submit(s->d, &o->cmd, now);
	assert_true(o->in_use); /* never completes from within submit */
}

static void stream_done(struct lab_cmd *cmd, uint64_t now)
{
	struct one *o = dev_container(cmd, struct one, cmd);
	struct stream *s = o->stream;

	assert_true(o->in_use);
	assert_true(now >= cmd->submit_ns);
	o->in_use = false;
	o->completed++;
	s->completed++;
	s->hash = (s->hash ^ now) * UINT64_C(0x100000001b3);
	s->hash = (s->hash ^ (uint64_t)(o - s->slot)) * UINT64_C(0x100000001b3);
	assert_int_equal(s->d->in_flight, s->issued - s->completed);
	/* Half of the time the next comes from within, else from an arrival. */
	if (s->issued < COMMANDS && lab_rng_below(&s->rng, 2))
		issue(s, o, now);
}

/* Fills what is free, then lets the device run dry or not. */
static void arrive_event(struct lab_event *ev, uint64_t now)
{
	struct stream *s = dev_container(ev, struct stream, arrive);
	uint64_t burst = 1 + lab_rng_below(&s->rng, s->depth);
	uint32_t i;

	for (i = 0; i < s->depth && burst && s->issued < COMMANDS; i++) {
		if (s->slot[i].in_use)
			continue;
		issue(s, &s->slot[i], now);
		burst--;
	}
	if (s->issued < COMMANDS)
		lab_event_at(s->d->engine, ev, now + lab_rng_exp(&s->rng, 300 * US));
}

static uint64_t run_stream(const char *spec, uint64_t device_seed)
{
	struct stream s = {0};
	struct rig r;

	rig_open(&r, spec, device_seed);
	s.d = r.d;
	s.depth = r.d->info.queue_depth < 64 ? r.d->info.queue_depth : 64;
	s.slot = calloc(s.depth, sizeof(*s.slot));
	lab_rng_seed(&s.rng, 99, 0); /* the same load for every device seed */
	lab_event_init(&s.arrive, arrive_event);
	lab_event_at(r.e, &s.arrive, 0);
	lab_engine_run(r.e, LAB_NEVER);
	assert_int_equal(s.issued, COMMANDS);
	assert_int_equal(s.completed, COMMANDS);
	assert_int_equal(r.d->in_flight, 0);
	free(s.slot);
	rig_close(&r);
	return s.hash;
}

static void test_every_command_completes_once_and_runs_repeat(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < NR(specs); i++) {
		uint64_t first = run_stream(specs[i], 1);

		if (first != run_stream(specs[i], 1))
			fail_msg("%s: seed 1 does not repeat", specs[i]);
		if (has_chance(specs[i]) == (first == run_stream(specs[i], 2)))
			fail_msg("%s: seeds 1 and 2", specs[i]);
	}
}

static void test_a_device_may_go_with_commands_in_flight(void **state)
{
	struct timed_cmd t[8];
	struct rig r;
	size_t i;
	int k;

	(void)state;
	for (i = 0; i < NR(specs); i++) {
		rig_open(&r, specs[i], 1);
		for (k = 0; k < 8 && r.d->in_flight < r.d->info.queue_depth; k++)
			rig_submit(&r, &t[k], k & 1 ? WEIR_OP_WRITE : WEIR_OP_READ, 0,
				   (uint64_t)k * 4096, 256);
		rig_sleep(&r, 100 * US);
		rig_close(&r);
	}
}

/* ---- models and specifications ---- */

static void test_models_are_well_formed(void **state)
{
	const struct lab_device_model *m;
	unsigned int n, i, k;

	(void)state;
	for (n = 0; (m = lab_device_model_at(n)); n++) {
		assert_true(m->name && m->help && m->create);
		for (i = 0; m->options[i].name; i++) {
			const struct lab_device_option *o = &m->options[i];

			assert_true(o->unit && o->help);
			assert_true(o->min <= o->def && o->def <= o->max);
			for (k = 0; k < i; k++)
				assert_string_not_equal(o->name, m->options[k].name);
		}
		assert_true(i < LAB_DEVICE_OPTIONS_MAX);
	}
	assert_int_equal(n, 6);
}

static void test_wrong_specifications(void **state)
{
	static const struct {
		const char *spec, *message;
	} bad[] = {
		{"",
		 "device : no such model; there are hdd, ssd, pcie-flash, nvme, profile:NAME or "
		 "profile:FILE, null"},
		{"floppy", "device floppy: no such model; there are hdd, ssd, pcie-flash, nvme, "
			   "profile:NAME or profile:FILE, null"},
		{"hdd:", "device hdd: : no such option; there are wcache, cache_kb, depth, rpm, "
			 "capacity_gb"},
		{"hdd:speed=3",
		 "device hdd: speed: no such option; there are wcache, cache_kb, depth, "
		 "rpm, capacity_gb"},
		{"hdd:wcache",
		 "device hdd: wcache: wcache must be a whole number from 0 to 1 (0/1)"},
		{"hdd:wcache=2", "device hdd: wcache=2: wcache must be a whole number from 0 to 1 "
				 "(0/1)"},
		{"hdd:wcache=", "device hdd: wcache=: wcache must be a whole number from 0 to 1 "
				"(0/1)"},
		{"hdd:rpm=99999999999999999999",
		 "device hdd: rpm=99999999999999999999: rpm must be a "
		 "whole number from 3600 to 15000 (1/min)"},
		{"hdd:rpm=-1", "device hdd: rpm=-1: rpm must be a whole number from 3600 to 15000 "
			       "(1/min)"},
		{"hdd:wcache=1:wcache=0", "device hdd: wcache=0: wcache is given twice"},
		{"profile:nothing", "profile:nothing: neither a file nor built in; built in are "
				    "hfs256, kxg6, mtfdhba256, mtfdkba512, mzul256, mzul512, "
				    "mzvlw256, pc711, sn720, sn730, ssdpekka256"},
		{"profile",
		 "profile:: neither a file nor built in; built in are hfs256, kxg6, "
		 "mtfdhba256, mtfdkba512, mzul256, mzul512, mzvlw256, pc711, sn720, sn730, "
		 "ssdpekka256"},
		{"profile:pc711:tail=3",
		 "device profile: tail=3: tail must be a whole number from 0 "
		 "to 1 (0/1)"},
	};
	struct lab_engine *e = lab_engine_new();
	char err[512], shortened[20];
	size_t i;

	(void)state;
	for (i = 0; i < NR(bad); i++) {
		assert_null(lab_device_open(bad[i].spec, e, 1, err, sizeof(err)));
		assert_string_equal(err, bad[i].message);
		/* A small buffer cuts the message and nothing else. */
		assert_null(lab_device_open(bad[i].spec, e, 1, shortened, sizeof(shortened)));
		assert_memory_equal(shortened, err, sizeof(shortened) - 1);
		assert_int_equal(shortened[sizeof(shortened) - 1], 0);
	}
	lab_engine_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_command_completes_once_and_runs_repeat),
		cmocka_unit_test(test_a_device_may_go_with_commands_in_flight),
		cmocka_unit_test(test_models_are_well_formed),
		cmocka_unit_test(test_wrong_specifications),
	};

	return cmocka_run_group_tests_name("device_all", tests, NULL, NULL);
}
