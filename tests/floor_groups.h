/* SPDX-License-Identifier: GPL-2.0-only */
/* Groups with floors on the modelled device, and what they get: for the tests of policy/weir/floor.c. */
#ifndef TESTS_FLOOR_GROUPS_H
#define TESTS_FLOOR_GROUPS_H

#include "tests/serial_device.h"

static inline void set_floor(struct sd *d, struct weir_group *g, struct weir_rates low)
{
	struct weir_group_attr attr;

	weir_group_get(g, &attr);
	attr.low = low;
	assert_int_equal(weir_group_set(g, &attr, d->now), 0);
}

static inline struct weir_group *floor_group(struct sd *d, struct weir_group *parent,
					     uint32_t weight, uint64_t riops)
{
	struct weir_group *g = sd_group(d, parent, weight);

	set_floor(d, g, (struct weir_rates){.iops = {riops, 0}});
	return g;
}

/* Counts begin afresh, in the streams and in the core. */
static inline void clear(struct sd *d)
{
	weir_stats_reset(d->w, d->now);
	sd_clear(d);
}

static inline uint64_t per_s(const struct sd *d, uint64_t n)
{
	return n * SD_S / (d->now - d->since_ns);
}

#endif
