/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A worker runs one job (one clone of it) in virtual time, as fio would: it asks the pattern for
 * the next I/O, waits as the pacing says, issues up to iodepth of them and measures each from issue
 * to completion.
 *
 *	worker.c	life: start, end of ramp, deadline, passes, end
 *	worker_issue.c	the loop that issues, and direct I/O
 *	worker_file.c	buffered I/O through the page cache, fsync
 *	worker_meter.c	what is measured
 *
 * Only completions later than the end of the ramp and not later than the end of the run count. A
 * worker with a runtime has ended when that is over, though I/O may still be in flight; it is idle
 * when that has come back too.
 *
 * Issuing costs no time of its own. A worker of one I/O at a time issues the next at the instant
 * at which the last completed.
 */
#ifndef LAB_WORKER_H
#define LAB_WORKER_H

#include "lab/hist.h"
#include "lab/host.h"
#include "lab/job.h"
#include "lab/pacing.h"
#include "lab/pagecache.h"
#include "lab/pattern.h"

/* One direction of one job. */
struct lab_meter {
	uint64_t ios, bytes;
	struct lab_lat lat;
};

enum {
	LAB_DEPTH_LEVELS = 7, /* 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and more in flight at issue */
};

/* Blocks of one file that several workers take in turn (see lab/sim_builtin.c). */
struct lab_turns {
	uint64_t next_offset;
	struct lab_reader *reader;
	struct lab_rng rng;
	uint64_t pause_ns; /* between two blocks of a thread, at most */
};

struct lab_worker_env {
	struct lab_engine *engine;
	struct lab_host *host;
	struct lab_cache *cache; /* NULL if no job needs it */
	uint64_t seed;
	/* A worker's run is over; the last of its I/O has come back. From an event. */
	void (*ended)(void *priv, uint64_t now_ns);
	void (*idle)(void *priv, uint64_t now_ns);
	void *priv;
};

/* What the simulation has decided about a job. Offsets count from `sector`. */
struct lab_worker_place {
	uint64_t sector;	/* of the first file on the device */
	uint64_t start, bytes;	/* the region in it, of all files together */
	uint32_t nr_files;	/* of bytes / nr_files each, one behind the other */
	struct lab_file *file;	/* in the page cache, over all files; NULL: only direct I/O */
	bool shared_with_cache; /* direct I/O on what others have in the page cache */
};

enum lab_worker_halt {
	LAB_HALT_START = 1 << 0, /* before startdelay is over, and not started at all */
	LAB_HALT_THINK = 1 << 1,
	LAB_HALT_SYNC = 1 << 2,
	LAB_HALT_PASS = 1 << 3, /* everything of this pass is issued */
	LAB_HALT_STOP = 1 << 4, /* the run is over */
};

struct lab_worker;

struct lab_worker_io {
	struct lab_bio bio;
	uint64_t issue_ns;
	uint32_t bytes;
	uint8_t dir;
	struct lab_worker_io *next; /* free, or completed and not reaped */
};

struct lab_worker {
	/* What the direct path touches. */
	struct lab_host *host;
	struct lab_engine *engine;
	struct lab_worker_io *free;
	uint32_t in_flight; /* issued, not reaped */
	uint32_t halt;	    /* enum lab_worker_halt */
	bool plain;	    /* no pacing, no batches, no fsync: each completion issues the next */
	bool buffered, full;
	uint64_t measure_from_ns, measure_to_ns;
	uint64_t bytes_left, ios_left; /* of this pass; UINT64_MAX: no limit */
	uint64_t sector;
	struct lab_pattern *pattern;
	struct lab_meter *meter[LAB_NR_JOB_DIRS];
	uint64_t depth_level[LAB_DEPTH_LEVELS];

	const struct lab_job *job;
	const struct lab_worker_env *env;
	struct weir_group *group;
	struct weir_ctx *ctx;
	struct lab_worker_place place;
	struct lab_worker_io *io;		     /* iodepth of them */
	struct lab_worker_io *reaped, **reaped_tail; /* completed, not looked at yet */
	uint32_t nr_reaped;
	uint32_t depth, low, batch, complete_min;
	struct lab_pacing pacing;
	struct lab_event timer; /* start, think time, rate */
	struct lab_event ramp, deadline;
	bool has_want;
	uint8_t want;		      /* direction that was drawn and waits for its rate */
	struct lab_pattern *patterns; /* one per file; `pattern` is the one whose turn it is */
	uint32_t nr_patterns, at_pattern;
	uint32_t loops_left;

	/* Page cache and fsync; one operation at a time. */
	struct lab_fileop op;
	struct lab_worker_io *op_io; /* the I/O that it is for; NULL: an fsync */
	struct lab_bio flush;	     /* fsync of a direct job on the device */
	struct lab_turns *turns;
	uint64_t sync_issue_ns;
	bool write_synced; /* the fsync behind an O_SYNC write is under way */
	uint32_t writes_since_fsync, writes_since_fdatasync;
	bool final_sync_due;
	struct lab_meter *sync; /* NULL if there is none */

	uint64_t stream; /* first of its random streams */
	bool ended, idle, time_based;
	uint64_t start_ns, end_ns; /* started, ended */
};

/*
 * NULL, or the worker with *wrong NULL. On error: what is wrong with the job's size or blocks, as a
 * phrase. index tells apart the random streams of workers.
 */
struct lab_worker *lab_worker_new(const struct lab_worker_env *env, const struct lab_job *job,
				  const struct lab_worker_place *place, struct weir_group *group,
				  unsigned int index, const char **wrong);
void lab_worker_free(struct lab_worker *w);
/* Before the start: it takes its blocks from t, with the file's reader of all. */
void lab_worker_take_turns(struct lab_worker *w, struct lab_turns *t);
/* Begins, or waits for its startdelay. From outside of events. */
void lab_worker_start(struct lab_worker *w, uint64_t now_ns);
/* How long it was measured: from the end of its ramp to its end. 0: it did not get that far. */
uint64_t lab_worker_measured_ns(const struct lab_worker *w);

/* ---- between the worker's files ---- */

static inline bool lab_worker_measures(const struct lab_worker *w, uint64_t now_ns)
{
	return now_ns > w->measure_from_ns && now_ns <= w->measure_to_ns;
}

void worker_pump(struct lab_worker *w, uint64_t now_ns);
/* Nothing is to be issued any more, or nothing is in flight: what is next? */
void worker_settle(struct lab_worker *w, uint64_t now_ns);
void worker_meter(struct lab_worker *w, const struct lab_worker_io *io, uint64_t now_ns);
void worker_init_io(struct lab_worker *w);
void worker_completed(struct lab_worker *w, struct lab_worker_io *io, uint64_t now_ns);

void worker_file_init(struct lab_worker *w);
void worker_file_issue(struct lab_worker *w, struct lab_worker_io *io, uint64_t now_ns);
bool worker_wants_sync(const struct lab_worker *w);
void worker_sync(struct lab_worker *w, bool final, uint64_t now_ns);

struct lab_meter *lab_meter_new(void);
void lab_meter_merge(struct lab_meter *into, const struct lab_meter *from);

#endif
