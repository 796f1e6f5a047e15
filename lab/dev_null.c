// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device without physics: every command takes the same time, any number at once. For tests of
 * what stands before a device, as null_blk is in the kernel.
 */
#include "lab/dev_common.h"
#include "lab/dev_models.h"

#include <stdlib.h>

struct null_device {
	struct lab_device dev;
	uint64_t latency_ns;
};

static void null_done(struct lab_event *ev, uint64_t now)
{
	struct lab_cmd *cmd = dev_container(ev, struct lab_cmd, ev);

	dev_complete((struct lab_device *)(uintptr_t)cmd->priv[0], cmd, now);
}

static void null_submit(struct lab_device *d, struct lab_cmd *cmd, uint64_t now)
{
	cmd->priv[0] = (uintptr_t)d;
	dev_schedule(d, cmd, null_done,
		     now + dev_container(d, struct null_device, dev)->latency_ns);
}

static void null_destroy(struct lab_device *d)
{
	free(dev_container(d, struct null_device, dev));
}

enum {
	OPT_LATENCY_US,
	OPT_LATENCY_NS,
	OPT_DEPTH,
	OPT_CAPACITY_GB,
};

static const struct lab_device_option null_options[] = {
	{"latency_us", "us", 10, 1, 10000000, "time that every command takes"},
	{"latency_ns", "ns", 0, 0, 999999999, "the same in ns; 0: latency_us counts"},
	{"depth", "commands", 1024, 1, 65536, "commands that it takes at once"},
	{"capacity_gb", "GB", 1000, 1, 1000000, "size, in 10^9 bytes"},
	{NULL, NULL, 0, 0, 0, NULL},
};

static struct lab_device *null_create(const struct lab_device_model *model, struct lab_engine *e,
				      const uint64_t *values, const char *arg, uint64_t seed)
{
	struct null_device *n = dev_zalloc(1, sizeof(*n));
	uint64_t iops;

	(void)model;
	(void)arg;
	(void)seed;
	n->latency_ns = values[OPT_LATENCY_NS] ? values[OPT_LATENCY_NS]
					       : values[OPT_LATENCY_US] * WEIR_NS_PER_US;
	iops = values[OPT_DEPTH] * WEIR_NS_PER_S / n->latency_ns;
	iops = iops < 1 ? 1 : weir_min64(iops, UINT64_C(1) << 31); /* a profile's limits */
	n->dev = (struct lab_device){
		.info =
			{
				.sectors = values[OPT_CAPACITY_GB] * WEIR_NS_PER_S >>
					   WEIR_SECTOR_SHIFT,
				.queue_depth = (uint32_t)values[OPT_DEPTH],
				.max_sectors = 1024,
				.max_segments = 128,
				.read_ahead_windows = 2,
				/* Size costs nothing: the rate at which the largest commands could
				   pass. */
				.profile =
					{
						.rbps = iops << 19,
						.rseqiops = iops,
						.rrandiops = iops,
						.wbps = iops << 19,
						.wseqiops = iops,
						.wrandiops = iops,
						.latency_ns = n->latency_ns,
						.knee_ns = n->latency_ns,
					},
			},
		.engine = e,
		.submit = null_submit,
		.destroy = null_destroy,
	};
	return &n->dev;
}

const struct lab_device_model dev_null = {
	.name = "null",
	.help = "no physics: the same latency for every command, any number at once",
	.options = null_options,
	.create = null_create,
};
