/* SPDX-License-Identifier: GPL-2.0-only */
/* A job with the defaults of fio, and its pattern. */
#ifndef TESTS_ONE_PATTERN_H
#define TESTS_ONE_PATTERN_H

#include "lab/pattern.h"

#define K4 4096u

static struct lab_job job;

static inline void job_init(enum lab_rw rw)
{
	unsigned int dir;

	memset(&job, 0, sizeof(job));
	job.rw = rw;
	job.rwmixread = 50;
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		job.bs_min[dir] = job.bs_max[dir] = K4;
		job.percentage_random[dir] = 100;
		job.dist_center_micro[dir] = UINT32_MAX;
	}
}

static inline void open_pattern(struct lab_pattern *p, uint64_t start, uint64_t bytes,
				uint64_t seed)
{
	assert_null(lab_pattern_init(p, &job, start, bytes, seed, 0));
}

static inline bool next(struct lab_pattern *p, struct lab_extent *out, enum lab_job_dir *dir)
{
	*dir = lab_pattern_dir(p);
	return lab_pattern_next(p, *dir, out);
}

#endif
