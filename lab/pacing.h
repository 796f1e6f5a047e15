/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a job goes on: rate limits and think time, as fio has them.
 *
 * A rate is a plan from the start on: I/O number n of a direction is due when the n-1 before it
 * would have been transferred at that rate. Who falls behind catches up at once. A Poisson process
 * has exponential gaps of the same mean instead. Issuing never waits for earlier I/O because of a
 * rate (fio's io_submit_mode=offload), or depth and rate could not be had together.
 *
 * Think time comes after thinktime_blocks completions, or after thinktime_iotime of working: the
 * job issues nothing more, waits for what is in flight, and then for the think time.
 */
#ifndef LAB_PACING_H
#define LAB_PACING_H

#include "lab/job.h"
#include "lab/rng.h"

struct lab_pacing_dir {
	uint64_t ios, bytes; /* issued since base_ns */
	uint64_t due_ns;     /* of the next I/O */
};

struct lab_pacing {
	const struct lab_job *job;
	bool limited; /* some direction has a rate */
	bool thinks;
	uint64_t base_ns;
	struct lab_pacing_dir dir[LAB_NR_JOB_DIRS];
	struct lab_rng rng;
	uint64_t blocks;	/* completed since the last think time */
	uint64_t last_think_ns; /* its end, or the start */
};

void lab_pacing_init(struct lab_pacing *p, const struct lab_job *job, uint64_t seed,
		     uint64_t stream);
/* Plans begin at `now_ns`: at the job's start, and again when its ramp is over. */
void lab_pacing_start(struct lab_pacing *p, uint64_t now_ns);

/*
 * With `limited`: the direction to issue next, given the one that the pattern wants; a mixed job
 * takes the other one if that is due earlier. *due_ns is when; now or earlier means at once.
 */
enum lab_job_dir lab_pacing_choose(const struct lab_pacing *p, enum lab_job_dir want,
				   uint64_t now_ns, uint64_t *due_ns);
void lab_pacing_issued(struct lab_pacing *p, enum lab_job_dir dir, uint32_t bytes);

/* With `thinks`: an I/O completed. Is it time to think? */
bool lab_pacing_completed(struct lab_pacing *p, uint64_t now_ns);
uint64_t lab_pacing_think_ns(const struct lab_pacing *p);
void lab_pacing_thought(struct lab_pacing *p, uint64_t now_ns);

#endif
