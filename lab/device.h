/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A modelled device. It takes commands up to its queue depth and completes each once, by an event
 * of the engine. State is integers; the only randomness comes from its seed.
 */
#ifndef LAB_DEVICE_H
#define LAB_DEVICE_H

#include <stdio.h>

#include <weir/weir.h>

#include "lab/engine.h"

struct lab_device;

/* One command. The owner embeds it and fills in the first part. */
struct lab_cmd {
	enum weir_op op;
	uint16_t flags; /* WEIR_RQ_FUA, WEIR_RQ_PREFLUSH, WEIR_RQ_SYNC: what the model looks at */
	uint64_t sector;
	uint32_t nr_sectors;
	void (*done)(struct lab_cmd *cmd, uint64_t now_ns);

	/* The model's. */
	struct lab_event ev;
	struct lab_cmd *next, *prev;
	uint64_t submit_ns;
	uint64_t priv[4];
};

/* What a host needs to know about a device. */
struct lab_device_info {
	uint64_t sectors;	     /* capacity */
	uint32_t queue_depth;	     /* commands that it takes at once */
	uint32_t max_sectors;	     /* largest command */
	uint32_t max_segments;	     /* of 4 KiB pages */
	uint32_t read_ahead_windows; /* what suits the page cache: windows in flight per stream */
	struct weir_profile profile; /* measured on the model; docs/devices.md says how */
};

/* An option of a model: --device NAME:key=value[:key=value...] */
struct lab_device_option {
	const char *name, *unit;
	uint64_t def, min, max;
	const char *help;
};

#define LAB_DEVICE_OPTIONS_MAX 24

struct lab_device_model {
	const char *name, *help;
	const struct lab_device_option *options; /* ends with an entry without a name */
	const void *preset;			 /* for models that share code */
	/* values: one per option. arg: what stands behind the name for profile:NAME, else NULL. */
	struct lab_device *(*create)(const struct lab_device_model *model, struct lab_engine *e,
				     const uint64_t *values, const char *arg, uint64_t seed);
};

/* Every device begins with this. */
struct lab_device {
	struct lab_device_info info;
	struct lab_engine *engine;
	uint32_t in_flight;
	void (*submit)(struct lab_device *d, struct lab_cmd *cmd, uint64_t now_ns);
	void (*destroy)(struct lab_device *d);
};

/* Takes cmd; the caller has checked that in_flight < info.queue_depth. */
static inline void lab_device_submit(struct lab_device *d, struct lab_cmd *cmd, uint64_t now_ns)
{
	d->in_flight++;
	cmd->submit_ns = now_ns;
	d->submit(d, cmd, now_ns);
}

const struct lab_device_model *lab_device_model_at(unsigned int n);

/*
 * Builds a device from what the user typed: NAME, NAME:key=value..., profile:NAME, profile:FILE.
 * On error returns NULL and writes one line (value and what would be accepted) to err.
 */
struct lab_device *lab_device_open(const char *spec, struct lab_engine *e, uint64_t seed, char *err,
				   size_t err_bytes);

#endif
