/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device that takes the same time for every command and writes down what it is given, and a block
 * layer under noop over it. For tests of what stands above a device. Include cmocka.h before.
 */
#ifndef TESTS_LOG_DEVICE_H
#define TESTS_LOG_DEVICE_H

#include <string.h>

#include "core/list.h"
#include "lab/host.h"

enum { LOG_MAX = 4096 };

struct logged {
	enum weir_op op;
	uint16_t flags;
	uint64_t sector;
	uint32_t nr_sectors;
	uint32_t depth; /* with this one */
	uint64_t at_ns;
};

struct log_device {
	struct lab_device dev;
	uint64_t latency_ns;
	struct logged log[LOG_MAX];
	unsigned int nr;
};

static void log_device_done(struct lab_event *ev, uint64_t now_ns)
{
	struct lab_cmd *cmd = weir_container_of(ev, struct lab_cmd, ev);

	((struct lab_device *)(uintptr_t)cmd->priv[0])->in_flight--;
	cmd->done(cmd, now_ns);
}

static void log_device_submit(struct lab_device *d, struct lab_cmd *cmd, uint64_t now_ns)
{
	struct log_device *l = weir_container_of(d, struct log_device, dev);

	assert_true(l->nr < LOG_MAX && d->in_flight <= d->info.queue_depth);
	l->log[l->nr++] = (struct logged){cmd->op,	   cmd->flags,	 cmd->sector,
					  cmd->nr_sectors, d->in_flight, now_ns};
	cmd->priv[0] = (uintptr_t)d;
	lab_event_init(&cmd->ev, log_device_done);
	lab_event_at(d->engine, &cmd->ev, now_ns + l->latency_ns);
}

/* flush_ns: 0 is a device without a write cache. */
static inline void log_device_init(struct log_device *l, struct lab_engine *e, uint32_t depth,
				   uint64_t latency_ns, uint64_t flush_ns)
{
	memset(l, 0, sizeof(*l));
	l->latency_ns = latency_ns;
	l->dev = (struct lab_device){
		.info = {.sectors = 1 << 20,
			 .queue_depth = depth,
			 .max_sectors = 256,
			 .max_segments = 128,
			 .profile = {.rbps = 1000000000,
				     .rseqiops = 100000,
				     .rrandiops = 100000,
				     .wbps = 1000000000,
				     .wseqiops = 100000,
				     .wrandiops = 100000,
				     .flush_ns = flush_ns}},
		.engine = e,
		.submit = log_device_submit,
	};
}

#endif
