// SPDX-License-Identifier: GPL-2.0-only
/*
 * Closed loops against a device model, without the core.
 *
 * What the figures of a profile mean here. T(size) is the time per command at the model's full
 * depth, and the linear model goes through two points, 4 KiB and 128 KiB, of sequential reads or
 * writes:
 *
 *	rbps, wbps		4096 bytes over (T(128 KiB) - T(4 KiB)) / 31: what a further page
 * costs rseqiops, rrandiops ..	1 / T(4 KiB), sequential and random over the whole device latency_ns
 * mean time of a 4 KiB random read, alone flush_ns		time that a flush after each 4 KiB
 * write adds, one at a time
 *	knee_ns			smallest depth that reaches 99 % of the peak rate of 4 KiB random
 *				reads, times T
 *
 * So that a 4 KiB and a 128 KiB command are priced exactly, rbps may lie above the rate that any
 * size reaches. Where the 128 KiB point lies below the line of the 4 KiB pages (a device that is
 * bound by pages), base is 0.
 */
#include "lab/measure.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lab/dev_common.h"
#include "lab/rng.h"

#define PAGE_BYTES 4096u
#define LARGE_BYTES (128u << 10)

struct loop;

struct worker {
	struct lab_cmd cmd;
	struct loop *loop;
};

struct loop {
	struct lab_device *dev;
	const struct lab_load *load;
	struct lab_rng rng;
	struct worker *worker;
	uint64_t *latency_ns; /* of the measured ones */
	uint64_t next_sector, slots;
	uint64_t first_ns, last_ns;
	uint32_t completed, sectors;
	bool flush_each; /* a flush after each write */
};

static void issue(struct loop *l, struct worker *w, uint64_t now)
{
	bool read = l->load->read_percent == 100 ||
		    (l->load->read_percent && lab_rng_below(&l->rng, 100) < l->load->read_percent);

	if (l->flush_each && w->cmd.op == WEIR_OP_WRITE) {
		w->cmd.op = WEIR_OP_FLUSH;
		w->cmd.nr_sectors = 0;
		lab_device_submit(l->dev, &w->cmd, now);
		return;
	}
	w->cmd.op = read ? WEIR_OP_READ : WEIR_OP_WRITE;
	w->cmd.nr_sectors = l->sectors;
	if (l->load->random) {
		w->cmd.sector = lab_rng_below(&l->rng, l->slots) * l->sectors;
	} else {
		w->cmd.sector = l->next_sector;
		l->next_sector += l->sectors;
		if (l->next_sector / l->sectors >= l->slots)
			l->next_sector = 0;
	}
	lab_device_submit(l->dev, &w->cmd, now);
}

static void loop_done(struct lab_cmd *cmd, uint64_t now)
{
	struct worker *w = dev_container(cmd, struct worker, cmd);
	struct loop *l = w->loop;
	uint32_t ramp = l->load->ramp_ios, end = ramp + l->load->ios;

	if (l->completed >= ramp && l->completed < end) {
		l->latency_ns[l->completed - ramp] = now - cmd->submit_ns;
		l->last_ns = now;
	}
	l->completed++;
	if (l->completed == ramp)
		l->first_ns = now;
	if (l->completed < end)
		issue(l, w, now);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void evaluate(struct loop *l, struct lab_result *out)
{
	uint64_t sum = 0;
	uint32_t i, n = l->load->ios;

	assert(n > 0);
	qsort(l->latency_ns, n, sizeof(*l->latency_ns), by_value);
	for (i = 0; i < n; i++)
		sum += l->latency_ns[i];
	out->ios = n;
	out->bytes = (uint64_t)n * l->load->bytes;
	out->duration_ns = l->last_ns - l->first_ns;
	out->mean_ns = sum / n;
	out->p50_ns = l->latency_ns[(n - 1) / 2];
	out->p99_ns = l->latency_ns[(uint64_t)(n - 1) * 99 / 100];
	out->max_ns = l->latency_ns[n - 1];
}

static void run(struct lab_device *d, const struct lab_load *load, bool flush_each,
		struct lab_result *out)
{
	uint64_t span = load->span_sectors ? load->span_sectors : d->info.sectors;
	uint32_t depth = load->depth < d->info.queue_depth ? load->depth : d->info.queue_depth, i;
	struct loop l = {.dev = d, .load = load, .flush_each = flush_each};

	l.sectors = load->bytes >> WEIR_SECTOR_SHIFT;
	l.slots = span / l.sectors;
	l.first_ns = lab_now(d->engine);
	l.latency_ns = dev_zalloc(load->ios, sizeof(*l.latency_ns));
	l.worker = dev_zalloc(depth, sizeof(*l.worker));
	lab_rng_seed(&l.rng, load->seed, UINT64_C(0x6d656173757265));
	for (i = 0; i < depth; i++) {
		l.worker[i].loop = &l;
		l.worker[i].cmd.done = loop_done;
		issue(&l, &l.worker[i], lab_now(d->engine));
	}
	lab_engine_run(d->engine, LAB_NEVER);
	evaluate(&l, out);
	free(l.worker);
	free(l.latency_ns);
}

void lab_load_init(struct lab_load *load, const struct lab_device_info *info, uint32_t read_percent,
		   bool random, uint32_t bytes, uint32_t depth)
{
	bool slow = info->profile.rotational && random;

	/* The ramp fills write buffers and lets the queue find its shape. */
	*load = (struct lab_load){
		.read_percent = read_percent,
		.random = random,
		.bytes = bytes,
		.depth = depth,
		.ramp_ios = slow		 ? 800
			    : bytes > PAGE_BYTES ? 3000
			    : read_percent < 100 ? 40000
						 : 8000,
		.ios = slow		    ? 2000
		       : bytes > PAGE_BYTES ? 4000
					    : 20000,
		.seed = 1,
	};
}

void lab_measure(struct lab_device *d, const struct lab_load *load, struct lab_result *out)
{
	run(d, load, false, out);
}

/* ---- profiles ---- */

struct subject {
	const struct lab_device_model *model;
	const char *arg;
	uint64_t values[LAB_DEVICE_OPTIONS_MAX];
};

static void subject_init(struct subject *s, const struct lab_device_model *model,
			 const uint64_t *values, const char *arg)
{
	unsigned int i;

	s->model = model;
	s->arg = arg;
	for (i = 0; model->options[i].name; i++)
		s->values[i] = strcmp(model->options[i].name, "stall") ? values[i] : 0;
}

/* Mean time per command on a fresh device. depth 0: the device's own. */
static uint64_t per_command_ps(const struct subject *s, uint32_t read_percent, bool random,
			       uint32_t bytes, uint32_t depth, bool flush_each)
{
	struct lab_engine *e = lab_engine_new();
	struct lab_device *d = s->model->create(s->model, e, s->values, s->arg, 1);
	struct lab_result r;
	struct lab_load load;

	depth = depth ? depth : d->info.queue_depth;
	lab_load_init(&load, &d->info, read_percent, random, bytes, depth);
	load.ramp_ios += 4 * depth; /* settle in proportion */
	if (d->info.profile.rotational && random)
		load.ios *= 3;
	run(d, &load, flush_each, &r);
	d->destroy(d);
	lab_engine_free(e);
	return r.duration_ns * 1000 / r.ios;
}

/* Where a further page costs nothing: as fast as a profile may say. */
#define BPS_MAX UINT64_C(1000000000000)

static uint64_t rate(uint64_t work, uint64_t ps)
{
	return weir_mul_div(work, UINT64_C(1000000000000), ps ? ps : 1);
}

static void measure_direction(const struct subject *s, uint32_t read_percent, uint64_t *bps,
			      uint64_t *seq_iops, uint64_t *rand_iops)
{
	uint64_t small = per_command_ps(s, read_percent, false, PAGE_BYTES, 0, false);
	uint64_t large = per_command_ps(s, read_percent, false, LARGE_BYTES, 0, false);
	uint64_t pages = LARGE_BYTES / PAGE_BYTES;
	uint64_t random = per_command_ps(s, read_percent, true, PAGE_BYTES, 0, false);

	if (large >= pages * small)
		*bps = rate(LARGE_BYTES, large);
	else
		*bps = rate((pages - 1) * PAGE_BYTES, large > small ? large - small : 1);
	*bps = weir_min64(*bps, BPS_MAX);
	*seq_iops = rate(1, small);
	*rand_iops = rate(1, random);
}

static uint32_t knee(const struct subject *s)
{
	struct lab_engine *e = lab_engine_new();
	struct lab_device *d = s->model->create(s->model, e, s->values, s->arg, 1);
	uint32_t low = 0, high = d->info.queue_depth;
	uint64_t peak_ps;

	d->destroy(d);
	lab_engine_free(e);
	peak_ps = per_command_ps(s, 100, true, PAGE_BYTES, high, false);
	while (high - low > 1) { /* high reaches it, low does not */
		uint32_t middle = low + (high - low) / 2;

		if (per_command_ps(s, 100, true, PAGE_BYTES, middle, false) * 99 <= peak_ps * 100)
			high = middle;
		else
			low = middle;
	}
	return high;
}

uint32_t lab_measure_knee(const struct lab_device_model *model, const uint64_t *values,
			  const char *arg)
{
	struct subject s;

	subject_init(&s, model, values, arg);
	return knee(&s);
}

void lab_measure_profile(const struct lab_device_model *model, const uint64_t *values,
			 const char *arg, struct weir_profile *out)
{
	struct lab_engine *e = lab_engine_new();
	uint64_t plain_ps, flushed_ps;
	struct lab_device *d;
	struct subject s;

	subject_init(&s, model, values, arg);
	memset(out, 0, sizeof(*out));
	d = model->create(model, e, s.values, arg, 1);
	out->rotational = d->info.profile.rotational;
	d->destroy(d);
	lab_engine_free(e);

	measure_direction(&s, 100, &out->rbps, &out->rseqiops, &out->rrandiops);
	measure_direction(&s, 0, &out->wbps, &out->wseqiops, &out->wrandiops);
	out->latency_ns = per_command_ps(&s, 100, true, PAGE_BYTES, 1, false) / 1000;
	plain_ps = per_command_ps(&s, 0, true, PAGE_BYTES, 1, false);
	/* Half of the commands of this loop are flushes. */
	flushed_ps = 2 * per_command_ps(&s, 0, true, PAGE_BYTES, 1, true);
	out->flush_ns = flushed_ps > plain_ps ? (flushed_ps - plain_ps) / 1000 : 0;
	out->knee_ns = knee(&s) * (WEIR_NS_PER_S / (out->rrandiops ? out->rrandiops : 1));
}
