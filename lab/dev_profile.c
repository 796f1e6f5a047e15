// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device whose work is the linear cost model itself.
 *
 * One server works through the commands in order of arrival, each for as long as its coefficients
 * say (base + bytes, sequential or random, read or write); so the saturated rates are those of the
 * profile. What an idle command takes longer than that, it spends in a pipeline of any width: the
 * idle latency is right, and it takes latency / cost commands in flight to reach full speed.
 *
 * Tail (tail=1): rlat and wlat are 99th percentiles at full speed. One in 32 of the commands that
 * find the server busy is late by an exponentially distributed time with mean 0.88 x rlat, so that
 * one in a hundred is late by rlat or more: exp(-1 / 0.88) / 32 = 0.01. It delays nobody else.
 *
 * A command is sequential if it starts close behind the end of one of the last 16 streams of its
 * direction; the window is narrower than the core's 16 MiB, since here all streams come together.
 */
#include "lab/dev_profile.h"

#include <stdlib.h>

#include "lab/dev_common.h"
#include "lab/dev_models.h"
#include "lab/rng.h"

enum {
	STREAMS = 16,
	BEHIND_SECTORS = 512, /* a little out of order is sequential still */
	AHEAD_SECTORS = 2048,

	TAIL_ONE_IN = 32,
	TAIL_MEAN_PERCENT = 88,
};

struct profile_device {
	struct lab_device dev;
	struct lab_rng rng;
	uint64_t free_ns, free_ps; /* the server; ps: what is left of a nanosecond */
	uint64_t base_ps[WEIR_NR_DIRS][2], sector_ps[WEIR_NR_DIRS];
	uint64_t pipe_ns[WEIR_NR_DIRS], tail_mean_ns[WEIR_NR_DIRS];
	uint64_t stream_end[WEIR_NR_DIRS][STREAMS];
	uint32_t next_stream[WEIR_NR_DIRS], last_stream[WEIR_NR_DIRS];
};

static bool continues(uint64_t end, uint64_t sector)
{
	return sector + BEHIND_SECTORS >= end && sector <= end + AHEAD_SECTORS;
}

static bool is_random(struct profile_device *p, enum weir_dir dir, const struct lab_cmd *cmd)
{
	uint64_t *end = p->stream_end[dir];
	uint32_t i = p->last_stream[dir], n;
	bool found = continues(end[i], cmd->sector);

	for (n = 0; n < STREAMS && !found; n++) {
		found = continues(end[n], cmd->sector);
		i = n;
	}
	if (!found)
		i = p->next_stream[dir]++ % STREAMS;
	p->last_stream[dir] = i;
	end[i] = cmd->sector + cmd->nr_sectors;
	return !found;
}

static uint64_t cost_ps(struct profile_device *p, const struct lab_cmd *cmd)
{
	enum weir_dir dir = weir_op_dir(cmd->op);
	uint64_t sectors = cmd->nr_sectors;

	if (cmd->op == WEIR_OP_FLUSH)
		return p->dev.info.profile.flush_ns * 1000;
	/* Without data: the price of one small write. */
	if (cmd->op == WEIR_OP_DISCARD || cmd->op == WEIR_OP_WRITE_ZEROES)
		return p->base_ps[dir][0] + DEV_PAGE_SECTORS * p->sector_ps[dir];
	if (sectors < DEV_PAGE_SECTORS)
		sectors = DEV_PAGE_SECTORS;
	return p->base_ps[dir][is_random(p, dir, cmd)] + sectors * p->sector_ps[dir];
}

static void profile_done(struct lab_event *ev, uint64_t now)
{
	struct lab_cmd *cmd = dev_container(ev, struct lab_cmd, ev);

	dev_complete((struct lab_device *)(uintptr_t)cmd->priv[0], cmd, now);
}

static void profile_submit(struct lab_device *d, struct lab_cmd *cmd, uint64_t now)
{
	struct profile_device *p = dev_container(d, struct profile_device, dev);
	enum weir_dir dir = weir_op_dir(cmd->op);
	bool busy = p->free_ns > now;
	uint64_t ps = cost_ps(p, cmd), late_ns = 0;

	if (cmd->flags & (WEIR_RQ_PREFLUSH | WEIR_RQ_FUA))
		ps += d->info.profile.flush_ns * 1000;
	ps += busy ? p->free_ps : 0;
	p->free_ns = (busy ? p->free_ns : now) + ps / 1000;
	p->free_ps = ps % 1000;
	if (busy && p->tail_mean_ns[dir] && !lab_rng_below(&p->rng, TAIL_ONE_IN))
		late_ns = lab_rng_exp(&p->rng, p->tail_mean_ns[dir]);
	cmd->priv[0] = (uintptr_t)d;
	dev_schedule(d, cmd, profile_done, p->free_ns + p->pipe_ns[dir] + late_ns);
}

static void profile_destroy(struct lab_device *d)
{
	free(dev_container(d, struct profile_device, dev));
}

static void set_costs(struct profile_device *p, enum weir_dir dir, uint64_t bps, uint64_t seq_iops,
		      uint64_t rand_iops, uint64_t latency_ns)
{
	const uint64_t second_ps = UINT64_C(1000000000000);
	uint64_t page_ps = second_ps * 4096 / bps, random_ps = second_ps / rand_iops;

	p->sector_ps[dir] = page_ps / DEV_PAGE_SECTORS;
	p->base_ps[dir][0] = second_ps / seq_iops > page_ps ? second_ps / seq_iops - page_ps : 0;
	p->base_ps[dir][1] = random_ps > page_ps ? random_ps - page_ps : 0;
	random_ps = p->base_ps[dir][1] + page_ps;
	p->pipe_ns[dir] = latency_ns > random_ps / 1000 ? latency_ns - random_ps / 1000 : 0;
}

static uint64_t random_read_ps(const struct profile_device *p)
{
	return p->base_ps[WEIR_READ][1] + DEV_PAGE_SECTORS * p->sector_ps[WEIR_READ];
}

/* In flight at 99 % of the peak of 4 KiB random reads, in device time. */
static uint64_t knee_ns(const struct profile_device *p)
{
	uint64_t cost_ps = random_read_ps(p);
	uint64_t whole_ps = (p->pipe_ns[WEIR_READ] * 1000 + cost_ps) * 99 / 100;

	return (whole_ps + cost_ps - 1) / cost_ps * cost_ps / 1000;
}

enum {
	OPT_TAIL,
};

static const struct lab_device_option profile_options[] = {
	{"tail", "0/1", 1, 0, 1, "some commands are late, as rlat and wlat say"},
	{NULL, NULL, 0, 0, 0, NULL},
};

struct lab_device *dev_profile_create(const struct dev_profile_data *data, struct lab_engine *e,
				      const uint64_t *values, uint64_t seed)
{
	struct profile_device *p = dev_zalloc(1, sizeof(*p));
	const struct weir_profile *c = &data->profile;
	int dir;

	lab_rng_seed(&p->rng, seed, 0);
	set_costs(p, WEIR_READ, c->rbps, c->rseqiops, c->rrandiops, c->latency_ns);
	set_costs(p, WEIR_WRITE, c->wbps, c->wseqiops, c->wrandiops, data->write_latency_ns);
	for (dir = 0; dir < WEIR_NR_DIRS; dir++)
		if (values[OPT_TAIL])
			p->tail_mean_ns[dir] = data->p99_ns[dir] * TAIL_MEAN_PERCENT / 100;
	p->dev = (struct lab_device){
		.info =
			{
				.sectors = data->capacity_gb * WEIR_NS_PER_S >> WEIR_SECTOR_SHIFT,
				.queue_depth = (uint32_t)data->depth,
				.max_sectors = 1024,
				.max_segments = 128,
				.read_ahead_windows = 2,
				.profile = *c,
			},
		.engine = e,
		.submit = profile_submit,
		.destroy = profile_destroy,
	};
	p->dev.info.profile.knee_ns = knee_ns(p);
	p->dev.info.profile.latency_ns = p->pipe_ns[WEIR_READ] + random_read_ps(p) / 1000;
	return &p->dev;
}

static struct lab_device *create_by_name(const struct lab_device_model *model, struct lab_engine *e,
					 const uint64_t *values, const char *arg, uint64_t seed)
{
	struct dev_profile_data data;
	char err[256];

	(void)model;
	if (!arg || !dev_profile_load(arg, &data, err, sizeof(err)))
		return NULL;
	return dev_profile_create(&data, e, values, seed);
}

const struct lab_device_model dev_profile = {
	.name = "profile",
	.help = "a measured SSD by name, or any device from a file: see weir-profile(5)",
	.options = profile_options,
	.create = create_by_name,
};
