/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Closed loops of random I/O through the lab's block layer on a modelled device, counted second by
 * second: what the JSON of a run says only as a mean. Limits can be changed while it runs.
 *
 *	struct loop l;
 *	struct loop_stream *s;
 *
 *	loop_open(&l, "ssd", "weir", 0);
 *	s = loop_stream(&l, loop_group(&l, NULL, &attr), WEIR_OP_READ, 4096, 128);
 *	loop_run(&l, 10 * LOOP_S);
 *	// s->per_second[0..9]
 *	loop_close(&l);
 */
#ifndef TESTS_GAUNTLET_LOOP_H
#define TESTS_GAUNTLET_LOOP_H

#include "lab/host.h"
#include "lab/rng.h"

#define LOOP_S UINT64_C(1000000000)
#define LOOP_MS UINT64_C(1000000)
#define LOOP_STREAMS 16
#define LOOP_SECONDS 1024

struct loop;

struct loop_stream {
	struct loop *loop;
	struct weir_group *group;
	enum weir_op op;
	uint32_t nr_sectors;
	struct lab_bio *bios;
	uint32_t depth;

	uint64_t per_second[LOOP_SECONDS]; /* completions in (n s, n + 1 s] */
	uint64_t done;
	uint64_t
		*at_ns; /* of the first room completions, for windows of any kind; NULL: not kept */
	uint64_t nr_at, room;
};

struct loop {
	struct lab_engine *engine;
	struct lab_device *device;
	struct lab_host *host;
	struct lab_rng rng;
	struct loop_stream stream[LOOP_STREAMS];
	unsigned int nr_streams;
	bool stopping;
};

/*
 * pool: requests that may be admitted at once; 0 is no limit. A policy that keeps the device idle on
 * purpose is told not to: what is left of it must be used.
 */
void loop_open(struct loop *l, const char *device, const char *policy, uint32_t pool);
struct weir_group *loop_group(struct loop *l, struct weir_group *parent,
			      const struct weir_group_attr *attr);
/* Issues its first requests at once. Keeps the times of `room` completions. */
struct loop_stream *loop_stream(struct loop *l, struct weir_group *g, enum weir_op op,
				uint32_t bytes, uint32_t depth, uint64_t room);
void loop_run(struct loop *l, uint64_t length_ns);
/* New attributes, and the host asks again, as one that was told of them would. */
void loop_set(struct loop *l, struct weir_group *g, const struct weir_group_attr *attr);
/* Completions of [from_ns, to_ns), of a stream that keeps their times. */
uint64_t loop_count(const struct loop_stream *s, uint64_t from_ns, uint64_t to_ns);
/* Lets all complete and takes everything down. */
void loop_close(struct loop *l);

#endif
