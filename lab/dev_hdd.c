// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 7200 rpm SATA disk of 2009, 500 GB: what happens to a command. Where the sectors lie is in
 * dev_hdd_geometry.c, what the arm does next in dev_hdd_arm.c, what it reads on in
 * dev_hdd_stream.c, what the drive remembers in dev_hdd_cache.c.
 *
 * After a read the head stays and reads on into a segment of the read cache until something else is
 * wanted. Example, outer zone: a reader asks for 128 KiB, thinks 1 ms and asks for the next 128
 * KiB. Meanwhile 80 KiB have come in; the command waits 0.6 ms for the rest, and no rotation is
 * lost. If another stream interrupts, both pay a seek and half a rotation, 8 ms or so.
 *
 * A write is done when it is in the cache, if there is room, unless it is FUA or wcache=0. A flush
 * runs alone (see dev_gate) and ends when the cache is clean: for one 4 KiB write that is a seek,
 * half a rotation and nothing else.
 */
#include "lab/dev_common.h"
#include "lab/dev_hdd.h"
#include "lab/dev_models.h"
#include "lab/rng.h"

#include <stdlib.h>

enum {
	OVERHEAD_NS = 20000,	  /* firmware and status, per command */
	LINK_SECTOR_PS = 1707000, /* SATA 3 Gb/s carries 300 MB/s */
	QUIET_NS = 10000000,	  /* no read for so long: time to empty the write cache */
};

static struct hdd *hdd_of(struct lab_device *d)
{
	return dev_container(d, struct hdd, dev);
}

/* A command keeps its device in priv[0]. */
static struct hdd *hdd_of_cmd(struct lab_event *ev, struct lab_cmd **cmd)
{
	*cmd = dev_container(ev, struct lab_cmd, ev);
	return (struct hdd *)(uintptr_t)(*cmd)->priv[0];
}

static void begin(struct hdd *h, struct lab_cmd *cmd, uint64_t now);

static void finish(struct hdd *h, struct lab_cmd *cmd, uint64_t now)
{
	dev_gate_leave(&h->gate);
	dev_complete(&h->dev, cmd, now);
	while ((cmd = dev_gate_next(&h->gate)))
		begin(h, cmd, now);
}

static void finish_event(struct lab_event *ev, uint64_t now)
{
	struct lab_cmd *cmd;
	struct hdd *h = hdd_of_cmd(ev, &cmd);

	finish(h, cmd, now);
}

static uint64_t link_ns(uint32_t sectors)
{
	return (uint64_t)sectors * LINK_SECTOR_PS / 1000;
}

static void quiet_event(struct lab_event *ev, uint64_t now)
{
	hdd_arm_next(dev_container(ev, struct hdd, quiet), now);
}

/* The cache is clean: the flush is done, or the write behind it begins. */
static void flushed(struct hdd *h, uint64_t now)
{
	struct lab_cmd *cmd = h->flushing;

	h->flushing = NULL;
	if (cmd->op == WEIR_OP_FLUSH) {
		dev_schedule(&h->dev, cmd, finish_event, now + OVERHEAD_NS);
		return;
	}
	dev_gate_not_alone(&h->gate);
	begin(h, cmd, now);
	while ((cmd = dev_gate_next(&h->gate)))
		begin(h, cmd, now);
}

/* Writes that waited for room go into the cache, and are done with that. */
static void fill_cache(struct hdd *h, uint64_t now)
{
	while (h->no_room.head && hdd_cache_has_room(&h->cache, h->no_room.head->nr_sectors)) {
		struct lab_cmd *cmd = dev_fifo_pop(&h->no_room);

		hdd_cache_write(&h->cache, &h->geo, cmd->sector, cmd->nr_sectors, now);
		finish(h, cmd, now);
	}
}

static void arm_done_event(struct lab_event *ev, uint64_t now)
{
	struct hdd *h = dev_container(ev, struct hdd, arm_done);
	struct lab_cmd *cmd = h->serving;

	h->busy = false;
	h->serving = NULL;
	if (cmd && cmd->op == WEIR_OP_READ)
		h->quiet_from_ns = now + QUIET_NS;
	if (!cmd)
		hdd_cache_written(&h->cache);
	else if (cmd->op != WEIR_OP_READ)
		dev_schedule(&h->dev, cmd, finish_event, now + OVERHEAD_NS);
	else /* the link carried the rest while it was read: the last page is left to send */
		dev_schedule(&h->dev, cmd, finish_event,
			     dev_claim(&h->link_free_ns, now, link_ns(DEV_PAGE_SECTORS)) +
				     OVERHEAD_NS);
	if (!cmd)
		fill_cache(h, now);
	if (h->flushing && !h->cache.nr_extents)
		flushed(h, now);
	hdd_arm_next(h, now);
}

/* ---- commands ---- */

static void enqueue(struct hdd *h, struct lab_cmd *cmd, uint64_t now)
{
	struct hdd_waiting *w = &h->queue[h->nr_queued++];

	w->cmd = cmd;
	w->place = hdd_locate(&h->geo, cmd->sector);
	hdd_arm_next(h, now);
}

static void begin_read(struct hdd *h, struct lab_cmd *cmd, uint64_t now)
{
	int segment;

	h->quiet_from_ns = now + QUIET_NS;
	if (h->stream.on)
		hdd_stream_update(h, now);
	segment = hdd_cache_find(&h->cache, cmd->sector, cmd->nr_sectors);
	if (segment < 0 && !hdd_cache_is_dirty(&h->cache, cmd->sector, cmd->nr_sectors)) {
		enqueue(h, cmd, now);
		return;
	}
	if (h->stream.on && segment == (int)h->stream.segment)
		hdd_stream_extend(h, cmd->sector + cmd->nr_sectors, now);
	dev_schedule(&h->dev, cmd, finish_event,
		     dev_claim(&h->link_free_ns, now, link_ns(cmd->nr_sectors)) + OVERHEAD_NS);
}

/* The data have come over the link. */
static void write_event(struct lab_event *ev, uint64_t now)
{
	struct lab_cmd *cmd;
	struct hdd *h = hdd_of_cmd(ev, &cmd);

	if (!h->write_cache || (cmd->flags & WEIR_RQ_FUA)) {
		enqueue(h, cmd, now);
		return;
	}
	dev_fifo_push(&h->no_room, cmd);
	fill_cache(h, now);
	hdd_arm_next(h, now);
}

static void begin(struct hdd *h, struct lab_cmd *cmd, uint64_t now)
{
	if (cmd->op == WEIR_OP_FLUSH || (h->gate.exclusive && dev_runs_alone(cmd))) {
		h->flushing = cmd;
		if (h->cache.nr_extents)
			hdd_arm_next(h, now);
		else
			flushed(h, now);
		return;
	}
	switch (cmd->op) {
	case WEIR_OP_READ:
		begin_read(h, cmd, now);
		break;
	case WEIR_OP_WRITE:
		dev_schedule(&h->dev, cmd, write_event,
			     dev_claim(&h->link_free_ns, now, link_ns(cmd->nr_sectors)) +
				     OVERHEAD_NS);
		break;
	case WEIR_OP_WRITE_ZEROES: /* the drive makes the zeroes itself */
		dev_schedule(&h->dev, cmd, write_event, now + OVERHEAD_NS);
		break;
	default: /* discard: a disk has nothing to do */
		dev_schedule(&h->dev, cmd, finish_event, now + OVERHEAD_NS);
		break;
	}
}

static void hdd_submit(struct lab_device *d, struct lab_cmd *cmd, uint64_t now)
{
	struct hdd *h = hdd_of(d);

	cmd->priv[0] = (uintptr_t)h;
	if (dev_gate_enter(&h->gate, cmd))
		begin(h, cmd, now);
}

static void hdd_destroy(struct lab_device *d)
{
	struct hdd *h = hdd_of(d);

	lab_event_cancel(d->engine, &h->quiet);
	lab_event_cancel(d->engine, &h->arm_done);
	free(h);
}

enum {
	OPT_WCACHE,
	OPT_CACHE_KB,
	OPT_DEPTH,
	OPT_RPM,
	OPT_CAPACITY_GB,
};

static const struct lab_device_option hdd_options[] = {
	{"wcache", "0/1", 1, 0, 1, "writes are done when they are in the cache"},
	{"cache_kb", "KiB", 8192, 64, 262144, "room of the write cache"},
	{"depth", "commands", 31, 1, HDD_DEPTH_MAX,
	 "commands that the drive orders by itself (NCQ)"},
	{"rpm", "1/min", 7200, 3600, 15000, "speed of rotation"},
	{"capacity_gb", "GB", 500, 8, 1000, "size, in 10^9 bytes"},
	{NULL, NULL, 0, 0, 0, NULL},
};

static struct lab_device *hdd_create(const struct lab_device_model *model, struct lab_engine *e,
				     const uint64_t *values, const char *arg, uint64_t seed)
{
	struct hdd *h = dev_zalloc(1, sizeof(*h));
	uint64_t sectors = values[OPT_CAPACITY_GB] * WEIR_NS_PER_S >> WEIR_SECTOR_SHIFT;
	struct lab_rng rng;

	(void)arg;
	lab_rng_seed(&rng, seed, 0);
	hdd_geometry_init(&h->geo, sectors, (uint32_t)values[OPT_RPM], lab_rng_u64(&rng));
	h->cache.dirty_max_sectors = values[OPT_CACHE_KB] * 2;
	h->write_cache = values[OPT_WCACHE];
	lab_event_init(&h->quiet, quiet_event);
	lab_event_init(&h->arm_done, arm_done_event);
	h->dev = (struct lab_device){
		.info =
			{
				.sectors = sectors,
				.queue_depth = (uint32_t)values[OPT_DEPTH],
				.max_sectors = 1024,
				.max_segments = 128,
				.read_ahead_windows = 2,
				.profile = *(const struct weir_profile *)model->preset,
			},
		.engine = e,
		.submit = hdd_submit,
		.destroy = hdd_destroy,
	};
	return &h->dev;
}

/* As measured on the model: see lab/measure.h, and tests/test_device_hdd.c that holds it. */
static const struct weir_profile hdd_profile = {
	.rbps = 81796946,
	.rseqiops = 19970,
	.rrandiops = 161,
	.wbps = 81786738,
	.wseqiops = 20006,
	.wrandiops = 227,
	.flush_ns = 8579972,
	.latency_ns = 12487512,
	.knee_ns = 155279500,
	.rotational = true,
};

const struct lab_device_model dev_hdd = {
	.name = "hdd",
	.help = "SATA disk of 2009: 500 GB, 7200 rpm, NCQ, write cache",
	.options = hdd_options,
	.preset = &hdd_profile,
	.create = hdd_create,
};
