/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device in virtual time for tests of shares, depth and latency: a pipeline of fixed length in
 * front of one server. A request passes the pipeline beside all others, and then the server one
 * after another, in order of arrival, for
 *
 *	base_ns + nr_sectors x sector_ns
 *
 * So the idle latency is latency_ns + that, and the peak rate is one request per server time,
 * reached with (latency_ns / server time) + 1 in flight. Every stall_every-th request that passes
 * the server is then stuck for stall_ns more, while the others go on. Every hold_every_ns or so
 * nothing comes out of the pipeline for hold_ns.
 *
 * Streams keep a number of requests going, each the next insertion think_ns, and up to
 * think_spread_ns more, after its completion; a stream with off_ns inserts only in the first on_ns
 * of each on_ns + off_ns. All of it is integers and seeded; a run can be cut into pieces, with
 * changes and cleared counts in between.
 */
#ifndef TESTS_SERIAL_DEVICE_H
#define TESTS_SERIAL_DEVICE_H

#include "tests/util_host.h"

#define SD_STREAMS 128
#define SD_S UINT64_C(1000000000)
#define SD_MS UINT64_C(1000000)
#define SD_US UINT64_C(1000)

struct sd_rq;

struct sd_stream {
	/* Set before sd_start_stream(). */
	struct weir_group *group;
	struct weir_ctx *ctx;
	enum weir_op op;
	uint16_t flags;
	uint32_t nr_sectors;
	uint32_t outstanding;
	uint64_t think_ns, think_spread_ns, on_ns, off_ns;
	bool sequential;
	/* At each dispatch; may be NULL. */
	void (*dispatched)(struct sd_stream *s, const struct weir_rq *rq);
	void *priv;

	/* Since the last sd_clear(). */
	uint64_t done, done_bytes, server_ns;
	uint64_t wait_sum_ns, wait_max_ns; /* insert to dispatch */
	struct weir_hist latency;	   /* insert to completion */

	uint64_t next_sector, start_ns;
	uint32_t in_device;
	bool stopped;
};

struct sd {
	struct util_memory memory;
	struct weir_host host;
	struct weir_config cfg;
	struct weir *w;

	uint64_t latency_ns, base_ns, sector_ns;
	uint32_t stall_every; /* 0: never */
	uint64_t stall_ns;
	uint64_t hold_every_ns, hold_ns; /* 0: never */
	uint64_t hold_at_ns;		 /* the next */

	uint64_t now, since_ns;
	uint64_t seed;
	uint64_t server_free_ns, timer_ns, nr_passed;
	uint32_t in_device, in_device_max;
	uint64_t done, server_ns; /* since the last sd_clear() */

	struct sd_stream stream[SD_STREAMS];
	uint32_t nr_streams;
	struct sd_rq *rqs;
	struct sd_rq **event;
	uint32_t nr_events, room;
	uint64_t seq;
};

/* 80 us of pipeline, 20 us of server for each 4 KiB; a profile that says so, and no knee. */
void sd_init(struct sd *d);
void sd_start(struct sd *d, const struct weir_policy *policy, const uint64_t *values);
struct weir_group *sd_group(struct sd *d, struct weir_group *parent, uint32_t weight);
/* A stream of 4 KiB random reads, not started; the test fills in what differs. */
struct sd_stream *sd_stream(struct sd *d, struct weir_group *g, uint32_t outstanding);
void sd_start_stream(struct sd *d, struct sd_stream *s);
/* Both at once. */
struct sd_stream *sd_load(struct sd *d, struct weir_group *g, uint32_t outstanding);
void sd_stop_stream(struct sd_stream *s);
void sd_run(struct sd *d, uint64_t length_ns);
void sd_clear(struct sd *d);
/* Stops all, lets everything complete, destroys. */
void sd_stop(struct sd *d);

/* Server time of s against that of all, in parts of a million. */
static inline uint64_t sd_share_ppm(const struct sd *d, const struct sd_stream *s)
{
	return d->server_ns ? s->server_ns * 1000000 / d->server_ns : 0;
}

/* How busy the server was since the last clear, in parts of a million. */
static inline uint64_t sd_busy_ppm(const struct sd *d)
{
	return d->now > d->since_ns ? d->server_ns * 1000000 / (d->now - d->since_ns) : 0;
}

#endif
