/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A disk with an arm, in virtual time, for policies that wait: it serves what it has been given in
 * order, `depth` requests at most, one after another, each in
 *
 *	nr_sectors x sector_ns, and seek_ns more unless it begins where the last one ended
 *
 * Streams keep a number of requests going, each the next one think_ns after a completion. All of it
 * is integers and seeded; a run can be cut into pieces, with changes and cleared counts in between.
 */
#ifndef TESTS_DISK_RIG_H
#define TESTS_DISK_RIG_H

#include "tests/util_host.h"

#define DISK_STREAMS 16
#define DISK_OUTSTANDING 64
#define DISK_S UINT64_C(1000000000)
#define DISK_MS UINT64_C(1000000)
#define DISK_US UINT64_C(1000)

struct disk_stream;

struct disk_rq {
	struct weir_rq rq;
	struct disk_stream *stream;
	uint64_t issue_ns; /* when it is inserted; WEIR_NEVER: it is */
	struct disk_rq *next;
};

struct disk_stream {
	/* Set before disk_start_stream(). */
	struct weir_group *group;
	struct weir_ctx *ctx;
	enum weir_op op;
	uint16_t flags;
	uint32_t nr_sectors, outstanding;
	uint64_t think_ns;
	uint64_t first_sector, nr_places; /* random among so many places; 0: sequential */
	struct disk_stream *with;	  /* whose place it reads on from; NULL: its own */

	/* Since the last disk_clear(). */
	uint64_t done, busy_ns;
	uint64_t wait_max_ns; /* insert to dispatch */
	uint64_t runs;	      /* dispatched when the last that was dispatched was another's */

	uint64_t next_sector;
	bool stopped;
	struct disk_rq rq[DISK_OUTSTANDING];
};

struct disk {
	struct util_memory memory;
	struct weir_host host;
	struct weir_config cfg;
	struct weir *w;
	uint64_t seek_ns, sector_ns;
	uint32_t depth;

	uint64_t now, timer_ns, done_at_ns, seed;
	struct disk_rq *first, *last; /* in the device; the first is being served */
	uint32_t in_device;
	uint64_t arm; /* sector behind the last that was served */

	/* Since the last disk_clear(). */
	uint64_t since_ns, done, seeks;
	uint64_t idle_ns; /* nothing in the device, and something queued */

	const struct disk_stream *before; /* that was dispatched last */
	struct disk_stream stream[DISK_STREAMS];
	uint32_t nr_streams;
};

/* Seek 8 ms, 4 us a sector (128 MB/s), depth 1. */
void disk_init(struct disk *d);
void disk_start(struct disk *d, const struct weir_policy *policy, const uint64_t *values);
struct weir_group *disk_group(struct disk *d, struct weir_group *parent, uint32_t weight);
/* Sequential sync reads of 64 KiB by a context of its own, one at a time; not started. */
struct disk_stream *disk_stream(struct disk *d, struct weir_group *g, uint64_t first_sector);
void disk_start_stream(struct disk *d, struct disk_stream *s);
/* No more insertions; what is queued runs out. */
void disk_stop_stream(struct disk_stream *s);
void disk_run(struct disk *d, uint64_t length_ns);
void disk_clear(struct disk *d);
/* Stops all, lets everything complete, destroys. */
void disk_stop(struct disk *d);

/* Bytes per second since the last clear, in KiB. */
uint64_t disk_kib_per_s(const struct disk *d, const struct disk_stream *s);

#endif
