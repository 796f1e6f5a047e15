// SPDX-License-Identifier: GPL-2.0-only
/*
 * A job when all its options are known: defaults that depend on others, options that contradict
 * each other, and what makes a job that was understood impossible to run.
 */
#include <inttypes.h>
#include <string.h>

#include "lab/fio_option.h"
#include "lab/groups_build.h"

#define BS_DEFAULT 4096

void fio_job_init(struct fio_job *j)
{
	unsigned int dir;

	memset(j, 0, sizeof(*j));
	j->numjobs = 1;
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		j->bs[dir] = BS_DEFAULT;
		j->job.percentage_random[dir] = 100;
		j->job.dist_center_micro[dir] = UINT32_MAX;
	}
	j->job.rw = LAB_RW_READ;
	j->job.invalidate = true;
	j->job.randrepeat = true;
	j->job.iodepth = 1;
	j->job.iodepth_batch = 1;
	j->job.iodepth_batch_complete_min = 1;
	j->job.rwmixread = 50;
	j->job.nrfiles = 1;
	j->job.loops = 1;
	j->job.thinktime_blocks = 1;
}

static void cannot_run(struct fio_job *j, const char *why)
{
	if (!j->job.cannot_run)
		j->job.cannot_run = why;
}

static uint32_t at_most(uint32_t value, uint32_t limit)
{
	return value < limit ? value : limit;
}

/* 0 stands for the whole depth in the first two, and for "don't wait" in the last. */
static void finish_depth(struct lab_job *job)
{
	if (!job->iodepth_low || job->iodepth_low > job->iodepth)
		job->iodepth_low = job->iodepth;
	if (!job->iodepth_batch || job->iodepth_batch > job->iodepth)
		job->iodepth_batch = job->iodepth;
	job->iodepth_batch_complete_min = at_most(job->iodepth_batch_complete_min, job->iodepth);
}

static void split_bounds(const struct lab_split *split, uint32_t nr, uint64_t *min, uint64_t *max)
{
	uint32_t i;

	*min = *max = split[0].bytes;
	for (i = 1; i < nr; i++) {
		if (split[i].bytes < *min)
			*min = split[i].bytes;
		if (split[i].bytes > *max)
			*max = split[i].bytes;
	}
}

/* As in fio: a split goes before a range, and a range before bs, whichever was given last. */
static void finish_sizes(struct fio_job *j)
{
	struct lab_job *job = &j->job;
	unsigned int dir;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		if (job->nr_splits[dir]) {
			split_bounds(job->split[dir], job->nr_splits[dir], &job->bs_min[dir],
				     &job->bs_max[dir]);
		} else if (j->range_min[dir]) {
			job->bs_min[dir] = j->range_min[dir];
			job->bs_max[dir] = j->range_max[dir];
		} else {
			job->bs_min[dir] = job->bs_max[dir] = j->bs[dir];
		}
		/* Blocks that don't tile the file can't be ticked off in a map of it. */
		if (job->blockalign[dir])
			job->norandommap = true;
	}
}

static int finish_rates(struct fio_parser *p, struct fio_job *j)
{
	const struct lab_job *job = &j->job;
	unsigned int dir;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		if (job->rate_bps[dir] && job->rate_iops[dir])
			return fio_conflict(p, j, "rate_iops",
					    "rate or rate_iops is accepted, not both for one "
					    "direction");
		if (j->rate_min[dir] && job->rate_bps[dir] && j->rate_min[dir] > job->rate_bps[dir])
			return fio_conflict(p, j, "rate_min",
					    "a minimum up to rate is accepted, which is %" PRIu64,
					    job->rate_bps[dir]);
		if (j->rate_iops_min[dir] && job->rate_iops[dir] &&
		    j->rate_iops_min[dir] > job->rate_iops[dir])
			return fio_conflict(p, j, "rate_iops_min",
					    "a minimum up to rate_iops is accepted, which is "
					    "%" PRIu64,
					    job->rate_iops[dir]);
	}
	return 0;
}

static uint64_t smallest_block(const struct lab_job *job)
{
	uint64_t min = job->bs_min[0];
	unsigned int dir;

	for (dir = 1; dir < LAB_NR_JOB_DIRS; dir++)
		if (job->bs_min[dir] < min)
			min = job->bs_min[dir];
	return min;
}

static int finish_area(struct fio_parser *p, struct fio_job *j)
{
	const struct fio_line *size = fio_given(j, "size");
	struct lab_job *job = &j->job;

	if (size)
		job->size_line = size->line;
	/* nrfiles may hold the list of names down, and can't invent more of them. */
	if (j->nr_names && (!fio_given(j, "nrfiles") || j->nr_names < job->nrfiles))
		job->nrfiles = j->nr_names;
	if (job->on_device && job->nrfiles > 1)
		cannot_run(j, "filename= names several files or devices: the lab has one device");
	/* As in fio, files hold no more than they are long. */
	if (job->filesize && !job->on_device && job->size / job->nrfiles > job->filesize)
		job->size = job->filesize * job->nrfiles;
	if (job->size && job->size < smallest_block(job))
		return fio_conflict(p, j, "size",
				    "a size of at least one block is accepted: %" PRIu64,
				    smallest_block(job));
	if (job->cannot_run || job->on_device || job->size || job->filesize)
		return 0;
	/*
	 * fio would look how large the file is. In the lab nothing exists before the run, but a job
	 * file that fio runs on some machine is no bad job file.
	 */
	if (j->fill_device)
		cannot_run(j, "fill_device=1 without a size needs a device: filename=/dev/...");
	else if (job->filename)
		cannot_run(j, "size= is missing: no file exists before the run");
	else
		return fio_conflict(p, j, job->size_percent ? "size" : "",
				    "a job needs size=, filesize= or filename=/dev/...");
	return 0;
}

static uint64_t misaligned(const struct lab_job *job)
{
	unsigned int dir, i;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		if (job->bs_min[dir] % 512)
			return job->bs_min[dir];
		for (i = 0; i < job->nr_splits[dir]; i++)
			if (job->split[dir][i].bytes % 512)
				return job->split[dir][i].bytes;
	}
	return job->offset % 512 ? job->offset : 0;
}

static void cannot_run_misaligned(struct fio_parser *p, struct fio_job *j)
{
	char why[128];

	snprintf(why, sizeof(why),
		 "direct=1 takes sizes and offsets that are multiples of 512, and %" PRIu64
		 " is none",
		 misaligned(&j->job));
	cannot_run(j, fio_pool_strdup(p->pool, why));
}

static int finish_group(struct fio_parser *p, struct fio_job *j)
{
	struct lab_job *job = &j->job;
	const char *accept;

	if (job->has_weight && !job->cgroup) {
		accept = group_path(p->pool, job->name, &job->cgroup);
		if (accept)
			return fio_conflict(p, j, "cgroup_weight",
					    "without cgroup the group has the name of the job, and "
					    "%s",
					    accept);
		job->cgroup_line = job->line;
	}
	if (job->cgroup && !*job->cgroup) {
		if (job->has_weight)
			return fio_conflict(p, j, "cgroup_weight",
					    "the root group has no weight; it is accepted with "
					    "another cgroup");
		job->cgroup = NULL;
	}
	return 0;
}

int fio_job_finish(struct fio_parser *p, struct fio_job *j)
{
	struct lab_job *job = &j->job;

	if (j->engine_cannot_run)
		cannot_run(j, j->engine_cannot_run);
	finish_depth(job);
	finish_sizes(j);
	/* A level without a class is one of the class that everybody has. */
	if (fio_given(j, "prio") && !job->prioclass)
		job->prioclass = 2;
	if (finish_rates(p, j) < 0 || finish_area(p, j) < 0)
		return -1;
	if (job->direct && misaligned(job))
		cannot_run_misaligned(p, j);
	if (!job->loops)
		job->loops = 1;
	if (job->thinktime_spin_ns > job->thinktime_ns)
		job->thinktime_spin_ns = job->thinktime_ns;
	if (!job->randrepeat)
		fio_note(p, fio_given(j, "randrepeat"),
			 "randrepeat=0 has no effect here: --seed draws other numbers");
	if (j->fill_device && job->size)
		fio_note(p, fio_given(j, "fill_device"), "fill_device has no effect beside size");
	if (job->time_based && !job->runtime_ns) {
		job->time_based = false;
		fio_note(p, fio_given(j, "time_based"), "time_based without runtime has no effect");
	}
	return finish_group(p, j);
}
