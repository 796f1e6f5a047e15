// SPDX-License-Identifier: GPL-2.0-only
/* See rig.h. The core and the reference queue run in loops of the same form. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/weir.h>

#include "bench/dmclock_ref.h"
#include "bench/rig.h"

#define SECTORS (UINT64_C(1) << 28)

struct rig {
	struct rig_shape shape;
	uint64_t now_ns, random;
	uint64_t last_due_ns, due_ns[RIG_IN_FLIGHT]; /* when what is in flight completes */
	uint32_t nr_rqs, oldest, in_flight;

	struct weir *w;
	struct weir_group **leaf;
	struct weir_rq *rq, *flying[RIG_IN_FLIGHT];
	size_t bytes, bytes_before; /* asked for by the core */
	uint32_t nr_groups;

	struct dmc_queue *dmc;
	struct dmc_rq *dmc_rq, *dmc_flying[RIG_IN_FLIGHT];
};

static void *must(void *p)
{
	if (!p) {
		fputs("bench: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

static void *host_alloc(void *priv, size_t bytes)
{
	struct rig *rig = priv;

	rig->bytes += bytes;
	return calloc(1, bytes);
}

static void host_free(void *priv, void *p, size_t bytes)
{
	struct rig *rig = priv;

	rig->bytes -= bytes;
	free(p);
}

/* Weights from 100 to 999, the same for every subject. */
static uint32_t weight_of(uint32_t i)
{
	return 100 + i * 37 % 900;
}

/* An address without any pattern; xorshift, cheap enough not to be what is measured. */
static uint64_t next_sector(struct rig *rig)
{
	rig->random ^= rig->random << 13;
	rig->random ^= rig->random >> 7;
	rig->random ^= rig->random << 17;
	return rig->random % SECTORS & ~UINT64_C(7);
}

/*
 * The device takes RIG_IN_FLIGHT steps for a request and completes one each step, in order: it
 * needs all of RIG_IN_FLIGHT in flight to run at its full rate. Returns the slot of what was
 * started.
 */
static uint32_t start(struct rig *rig)
{
	uint32_t slot = (rig->oldest + rig->in_flight++) % RIG_IN_FLIGHT;
	uint64_t due_ns = rig->now_ns + (uint64_t)RIG_IN_FLIGHT * RIG_STEP_NS;

	if (due_ns < rig->last_due_ns + RIG_STEP_NS)
		due_ns = rig->last_due_ns + RIG_STEP_NS;
	rig->due_ns[slot] = rig->last_due_ns = due_ns;
	return slot;
}

/* Time goes on to the next completion. Returns its slot; something is in flight. */
static uint32_t finish(struct rig *rig)
{
	uint32_t slot = rig->oldest++ % RIG_IN_FLIGHT;

	rig->in_flight--;
	if (rig->now_ns < rig->due_ns[slot])
		rig->now_ns = rig->due_ns[slot];
	return slot;
}

/* ---- weir ---- */

static void add_groups(struct rig *rig, struct weir_group *parent, uint32_t leaves)
{
	uint32_t fanout = rig->shape.fanout ? rig->shape.fanout : leaves;
	struct weir_group_attr attr;
	struct weir_group *g;
	uint32_t i;
	int err;

	weir_group_attr_init(&attr);
	for (i = 0; i < fanout; i++) {
		attr.weight = weight_of(i);
		g = weir_group_create(rig->w, parent, &attr, rig->now_ns, &err);
		if (!g) {
			fprintf(stderr, "bench: group refused: error %d\n", -err);
			exit(1);
		}
		rig->nr_groups++;
		if (leaves > fanout)
			add_groups(rig, g, leaves / fanout);
		else
			*rig->leaf++ = g;
	}
}

static void insert(struct rig *rig, struct weir_rq *rq, struct weir_group *g)
{
	weir_rq_init(rq, WEIR_OP_READ, next_sector(rig), 8, g, NULL);
	weir_insert(rig->w, rq, WEIR_TAIL, rig->now_ns);
}

static void start_weir(struct rig *rig, const char *name)
{
	const struct weir_policy *policy = weir_policy_find(name);
	struct weir_host host = {.alloc = host_alloc, .free = host_free, .priv = rig};
	struct weir_config cfg;
	uint32_t i;
	int err;

	if (!policy) {
		fprintf(stderr, "bench: %s: no such policy\n", name);
		exit(2);
	}
	weir_config_init(&cfg);
	cfg.accounting = !rig->shape.bare;
	cfg.profile = (struct weir_profile){
		.rbps = UINT64_C(4096) * RIG_IOPS * 4,
		.rseqiops = RIG_IOPS,
		.rrandiops = RIG_IOPS,
		.wbps = UINT64_C(4096) * RIG_IOPS * 4,
		.wseqiops = RIG_IOPS,
		.wrandiops = RIG_IOPS,
		.latency_ns = (uint64_t)RIG_IN_FLIGHT * RIG_STEP_NS,
		.knee_ns = (uint64_t)RIG_IN_FLIGHT * RIG_STEP_NS,
	};
	rig->w = weir_create(&cfg, &host, policy, NULL, rig->now_ns, &err);
	if (!rig->w) {
		fprintf(stderr, "bench: %s does not start: error %d\n", name, -err);
		exit(1);
	}
	rig->bytes_before = rig->bytes;
	rig->leaf = must(calloc(rig->shape.groups, sizeof(struct weir_group *)));
	add_groups(rig, weir_root(rig->w), rig->shape.groups);
	rig->leaf -= rig->shape.groups;
	rig->rq = must(calloc(rig->nr_rqs, sizeof(*rig->rq)));
	for (i = 0; i < rig->nr_rqs; i++)
		insert(rig, &rig->rq[i], rig->leaf[i % rig->shape.groups]);
}

static void run_weir(struct rig *rig, uint64_t steps)
{
	struct weir_next next;
	struct weir_rq *rq;

	while (steps--) {
		while (rig->in_flight < RIG_IN_FLIGHT &&
		       (rq = weir_dispatch(rig->w, rig->now_ns, &next)))
			rig->flying[start(rig)] = rq;
		if (!rig->in_flight) {
			rig->now_ns += RIG_STEP_NS;
			continue;
		}
		rq = rig->flying[finish(rig)];
		weir_complete(rig->w, rq, rig->now_ns);
		insert(rig, rq, rq->group);
	}
}

static void stop_weir(struct rig *rig)
{
	struct weir_rq *rq;

	weir_set_drain(rig->w, true, rig->now_ns);
	while (rig->in_flight)
		weir_complete(rig->w, rig->flying[finish(rig)], rig->now_ns);
	while ((rq = weir_dispatch(rig->w, rig->now_ns, NULL)))
		weir_complete(rig->w, rq, rig->now_ns);
	weir_destroy(rig->w);
	free(rig->leaf);
	free(rig->rq);
}

/* ---- dmClock ---- */

/* A tenth of the device is reserved in equal parts, the rest goes by weight: the common set-up. */
static void start_dmclock(struct rig *rig)
{
	struct dmc_client_info *info = must(calloc(rig->shape.groups, sizeof(*info)));
	uint32_t i;

	for (i = 0; i < rig->shape.groups; i++) {
		info[i].reservation = 0.1 * RIG_IOPS / rig->shape.groups;
		info[i].weight = weight_of(i);
	}
	rig->dmc = must(dmc_new(rig->shape.groups, info));
	free(info);
	rig->dmc_rq = must(calloc(rig->nr_rqs, sizeof(*rig->dmc_rq)));
	for (i = 0; i < rig->nr_rqs; i++) {
		rig->dmc_rq[i] = (struct dmc_rq){.client = i % rig->shape.groups, .cost = 1};
		dmc_add(rig->dmc, &rig->dmc_rq[i], (double)rig->now_ns * 1e-9);
	}
}

static void run_dmclock(struct rig *rig, uint64_t steps)
{
	enum dmc_phase phase;
	struct dmc_rq *rq;
	double when_s;

	while (steps--) {
		double now_s = (double)rig->now_ns * 1e-9;

		while (rig->in_flight < RIG_IN_FLIGHT &&
		       (rq = dmc_pull(rig->dmc, now_s, &phase, &when_s)))
			rig->dmc_flying[start(rig)] = rq;
		if (!rig->in_flight) {
			rig->now_ns += RIG_STEP_NS;
			continue;
		}
		rq = rig->dmc_flying[finish(rig)];
		/* Its host draws an address too. */
		next_sector(rig);
		dmc_add(rig->dmc, rq, (double)rig->now_ns * 1e-9);
	}
}

/* ---- either ---- */

struct rig *rig_new(const char *policy, const struct rig_shape *shape)
{
	struct rig *rig = must(calloc(1, sizeof(*rig)));

	rig->shape = *shape;
	rig->nr_rqs = shape->groups * shape->rqs;
	rig->now_ns = 1000000000;
	rig->random = UINT64_C(0x2545f4914f6cdd1d);
	if (strcmp(policy, "dmclock"))
		start_weir(rig, policy);
	else
		start_dmclock(rig);
	return rig;
}

void rig_free(struct rig *rig)
{
	if (rig->w)
		stop_weir(rig);
	if (rig->dmc)
		dmc_free(rig->dmc);
	free(rig->dmc_rq);
	free(rig);
}

void rig_run(struct rig *rig, uint64_t steps)
{
	if (rig->w)
		run_weir(rig, steps);
	else
		run_dmclock(rig, steps);
}

size_t rig_group_bytes(const struct rig *rig)
{
	return rig->bytes - rig->bytes_before;
}

uint32_t rig_nr_groups(const struct rig *rig)
{
	return rig->nr_groups;
}
