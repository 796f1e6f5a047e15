// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a job file: either jobs that keep the promises of lab/job.h, or one line that says
 * what is wrong. Groups are built from the jobs too.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/groups.h"
#include "lab/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                 \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                        \
		}                                                                       \
	} while (0)

static void check_complaint(const char *err)
{
	size_t i;

	MUST(*err);
	for (i = 0; err[i]; i++)
		MUST(err[i] >= ' ' && err[i] <= '~');
}

static void check_sizes(const struct lab_job *job)
{
	unsigned int dir, i, sum;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		MUST(job->bs_min[dir] >= 1 && job->bs_min[dir] <= job->bs_max[dir]);
		MUST(job->bs_max[dir] <= 1u << 30);
		MUST(job->percentage_random[dir] <= 100);
		MUST(job->nr_splits[dir] <= LAB_SPLIT_MAX && job->nr_zones[dir] <= LAB_ZONES_MAX);
		MUST(!job->rate_bps[dir] || !job->rate_iops[dir]);
		for (i = 0, sum = 0; i < job->nr_splits[dir]; i++) {
			MUST(job->split[dir][i].bytes >= job->bs_min[dir]);
			MUST(job->split[dir][i].bytes <= job->bs_max[dir]);
			sum += job->split[dir][i].percent;
		}
		MUST(!i || sum == 100);
		MUST(job->dist[dir] != LAB_DIST_ZONED || job->nr_zones[dir] || job->cannot_run);
		for (i = 0, sum = 0; i < job->nr_zones[dir]; i++)
			sum += job->zone[dir][i].access_percent;
		MUST(!i || sum == 100);
	}
}

static void check_job(const struct lab_job *job)
{
	MUST(job->name && *job->name && job->file && job->line >= 1);
	MUST(job->iodepth >= 1 && job->iodepth_low >= 1 && job->iodepth_low <= job->iodepth);
	MUST(job->iodepth_batch >= 1 && job->iodepth_batch <= job->iodepth);
	MUST(job->iodepth_batch_complete_min <= job->iodepth);
	MUST(job->rwmixread <= 100 && job->loops >= 1 && job->nrfiles >= 1);
	MUST(job->thinktime_blocks >= 1 && job->thinktime_spin_ns <= job->thinktime_ns);
	MUST(job->startdelay_ns <= job->startdelay_max_ns);
	MUST(!job->time_based || job->runtime_ns);
	MUST(job->prio <= 7 && job->prioclass <= 3);
	MUST(!job->has_weight ||
	     (job->cgroup && job->cgroup_weight >= 1 && job->cgroup_weight <= 10000));
	MUST(!job->cgroup || (*job->cgroup && *job->cgroup != '/'));
	MUST(job->size <= INT64_MAX && job->size_percent <= 100);
	MUST(!job->size || !job->size_percent);
	MUST(job->nr_percentiles <= LAB_PERCENTILES_MAX);
	MUST(job->cannot_run || job->on_device || job->size || job->filesize);
	check_sizes(job);
}

static void check_jobs(const struct lab_jobs *jobs)
{
	struct lab_groups *groups;
	char err[500] = "";
	unsigned int i;

	MUST(jobs->nr >= 1);
	for (i = 0; i < jobs->nr; i++)
		check_job(jobs->job[i]);
	groups = lab_groups_build(jobs, NULL, err, sizeof(err));
	if (!groups) {
		check_complaint(err);
		return;
	}
	for (i = 0; i < jobs->nr; i++)
		MUST(!jobs->job[i]->cgroup || lab_groups_find(groups, jobs->job[i]->cgroup) > 0);
	lab_groups_free(groups);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char err[500] = "";
	struct lab_jobs *jobs = lab_jobs_parse((const char *)data, size, "fuzz", NULL, err,
					       sizeof(err));

	if (jobs)
		check_jobs(jobs);
	else
		check_complaint(err);
	lab_jobs_free(jobs);
	return 0;
}
