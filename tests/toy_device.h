/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A closed loop around an instance: streams that keep a number of requests outstanding, and a
 * device that serves up to `depth` of them at once, each in a time drawn between two bounds. Enough
 * to see rates, shares and ceilings; no model of any real device.
 *
 * Everything is an integer and seeded. A run can be cut into pieces by toy_run() and its counts
 * cleared in between, for ramps and for changes under load.
 */
#ifndef TESTS_TOY_DEVICE_H
#define TESTS_TOY_DEVICE_H

#include "tests/util_host.h"

#define TOY_STREAMS 64
#define TOY_S UINT64_C(1000000000)
#define TOY_MS UINT64_C(1000000)
#define TOY_US UINT64_C(1000)

struct toy_rq;

struct toy_stream {
	/* Set before toy_start_stream(). */
	struct weir_group *group;
	struct weir_ctx *ctx;
	enum weir_op op;
	uint16_t flags;
	uint8_t ioprio_class;
	uint32_t nr_sectors;
	uint32_t outstanding;		  /* requests of the closed loop */
	uint64_t think_ns;		  /* between a completion and the next insertion */
	uint64_t first_sector, nr_places; /* random among so many places; 0: sequential */
	/* Called at each dispatch, for tests that look at times; may be NULL. */
	void (*released)(struct toy_stream *s, const struct weir_rq *rq);
	void *priv;

	/* The device's view since the last toy_clear(). */
	uint64_t done, done_bytes;
	uint64_t wait_sum_ns, wait_max_ns; /* insert to dispatch */
	uint64_t in_device_ns;		   /* integral of in_device over time */
	uint32_t in_device;

	uint64_t next_sector;
	bool stopped;
};

struct toy {
	struct util_memory memory;
	struct weir_host host;
	struct weir_config cfg;
	struct weir *w;

	uint64_t service_min_ns, service_max_ns;
	uint32_t depth;	       /* 0: no limit */
	uint64_t coalesce_ns;  /* completions are told at multiples of this; 0: at once */
	uint64_t host_late_ns; /* timers go off up to so much late */

	uint64_t now, since_ns;
	uint64_t seed;
	uint32_t in_device;
	uint64_t in_device_ns; /* integral */
	uint64_t done;
	uint64_t timer_ns; /* when the instance wants to be asked again */

	struct toy_stream stream[TOY_STREAMS];
	uint32_t nr_streams;
	struct toy_rq *rqs; /* all ever allocated, to free them */
	struct toy_rq **event;
	uint32_t nr_events, room;
	uint64_t seq;
};

/* Fills in defaults: service 0.5 .. 1.5 ms, no limit of depth, cfg of util_config(), seed 1. */
void toy_init(struct toy *t);
void toy_start(struct toy *t, const struct weir_policy *policy, const uint64_t *values);
/* A stream of 4 KiB random reads of the group, not started; the test fills in what differs. */
struct toy_stream *toy_stream(struct toy *t, struct weir_group *g, uint32_t outstanding);
void toy_start_stream(struct toy *t, struct toy_stream *s);
/* No more insertions; what is outstanding runs out. */
void toy_stop_stream(struct toy *t, struct toy_stream *s);
void toy_run(struct toy *t, uint64_t length_ns);
void toy_clear(struct toy *t);
/* Stops all, lets everything complete, destroys. */
void toy_stop(struct toy *t);

struct weir_group *toy_group(struct toy *t, struct weir_group *parent, uint32_t weight);

/* Completions of s against those of all streams since the last clear, in parts of 1000. */
static inline uint64_t toy_share_permille(const struct toy *t, const struct toy_stream *s)
{
	return t->done ? s->done * 1000 / t->done : 0;
}

/* Mean number in the device, in hundredths. */
uint64_t toy_mean_in_device(struct toy *t, const struct toy_stream *s);

#endif
