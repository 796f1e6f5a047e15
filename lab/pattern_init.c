// SPDX-License-Identifier: GPL-2.0-only
/* Setting up a pattern: which kind of random, with which tables. See pattern.h. */
#include <stdlib.h>
#include <string.h>

#include "core/fixed.h"
#include "lab/pattern.h"

#define MICRO 1000000
/* Bit maps up to 256 MiB; in larger files, blocks of varying sizes may be visited twice. */
#define VISITED_MAX (UINT64_C(1) << 31)

static bool init_dist(struct lab_pattern *p, enum lab_job_dir dir)
{
	const struct lab_job *job = p->job;
	struct lab_pattern_dir *d = &p->dir[dir];
	uint32_t center = job->dist_center_micro[dir];

	d->center = UINT64_MAX;
	if (job->dist[dir] == LAB_DIST_RANDOM || job->dist[dir] == LAB_DIST_ZONED)
		return true;
	if (center != UINT32_MAX)
		d->center = weir_mul_div(d->nr_blocks, center, MICRO) % d->nr_blocks;
	else if (job->dist[dir] == LAB_DIST_NORMAL)
		d->center = d->nr_blocks / 2;
	else
		lab_perm_init(&d->scatter, d->nr_blocks, &p->offset_rng);
	if (job->dist[dir] == LAB_DIST_ZIPF)
		return lab_ranks_zipf(&d->ranks, d->nr_blocks, job->dist_theta_micro[dir]);
	if (job->dist[dir] == LAB_DIST_PARETO)
		return lab_ranks_pareto(&d->ranks, d->nr_blocks, job->dist_theta_micro[dir]);
	return true;
}

static const char *init_dir(struct lab_pattern *p, enum lab_job_dir dir)
{
	const struct lab_job *job = p->job;
	struct lab_pattern_dir *d = &p->dir[dir];
	uint64_t min = job->bs_min[dir], room = p->bytes;

	if (p->bytes < min)
		return "is smaller than one block";
	d->align = job->blockalign[dir] ? job->blockalign[dir] : min;
	d->fixed_bytes = min == job->bs_max[dir] && !job->nr_splits[dir] ? (uint32_t)min : 0;
	d->percent_random = job->percentage_random[dir];
	/* The last block must have room for the smallest I/O. */
	if (min > d->align)
		room -= min - d->align;
	d->nr_blocks = room / d->align;
	if (!d->nr_blocks)
		return "is smaller than its blockalign";
	return init_dist(p, dir) ? NULL : "out of memory for its distribution";
}

/* Each block once per pass, where that has a meaning. */
static const char *init_map(struct lab_pattern *p)
{
	const struct lab_job *job = p->job;
	uint64_t unit = 0, longest = 0, n = 0;
	unsigned int dir;

	if (!p->random || job->norandommap)
		return NULL;
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		if (!lab_job_does(job, dir))
			continue;
		/* What one direction visits must be a block of the other too. */
		if (job->dist[dir] != LAB_DIST_RANDOM || (unit && unit != p->dir[dir].align))
			return NULL;
		unit = p->dir[dir].align;
		n = n && n < p->dir[dir].nr_blocks ? n : p->dir[dir].nr_blocks;
		if (job->bs_max[dir] > longest)
			longest = job->bs_max[dir];
	}
	if (longest > unit) {
		if (n > VISITED_MAX)
			return NULL;
		p->visited = calloc((n + 63) / 64, sizeof(*p->visited));
		if (!p->visited)
			return "out of memory for its random map";
	}
	p->mapped = true;
	p->unit = unit;
	lab_perm_init(&p->order, n, &p->offset_rng);
	return NULL;
}

/* The short ways: nobody looks back at the last I/O, and every block has room for its size. */
static enum lab_pattern_way way_of(const struct lab_pattern *p, enum lab_job_dir dir)
{
	const struct lab_job *job = p->job;
	const struct lab_pattern_dir *d = &p->dir[dir];

	if (!p->random || p->trim_first || p->visited || !d->fixed_bytes ||
	    d->percent_random < 100 || job->rw_every > 1 || job->dist[dir] != LAB_DIST_RANDOM)
		return LAB_WAY_OTHER;
	return p->mapped ? LAB_WAY_ORDER : LAB_WAY_UNIFORM;
}

static void choose_ways(struct lab_pattern *p)
{
	unsigned int dir, nr = 0;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		p->dir[dir].way = way_of(p, dir);
		if (!lab_job_does(p->job, dir))
			continue;
		p->only_dir = (uint8_t)dir;
		nr++;
	}
	if (nr > 1)
		p->only_dir = LAB_NR_JOB_DIRS;
}

const char *lab_pattern_init(struct lab_pattern *p, const struct lab_job *job, uint64_t start,
			     uint64_t bytes, uint64_t seed, uint64_t stream)
{
	const char *wrong = NULL;
	unsigned int dir;

	memset(p, 0, sizeof(*p));
	p->job = job;
	p->start = start;
	p->bytes = bytes;
	p->random = lab_job_is_random(job);
	p->mixed = lab_job_does(job, LAB_DIR_READ) && lab_job_does(job, LAB_DIR_WRITE);
	p->trim_first = job->rw == LAB_RW_TRIMWRITE || job->rw == LAB_RW_RANDTRIMWRITE;
	lab_rng_seed(&p->offset_rng, seed, stream);
	lab_rng_seed(&p->size_rng, seed, stream + 1);
	lab_rng_seed(&p->mix_rng, seed, stream + 2);
	for (dir = 0; dir < LAB_NR_JOB_DIRS && !wrong; dir++)
		if (lab_job_does(job, dir))
			wrong = init_dir(p, dir);
	if (!wrong)
		wrong = init_map(p);
	choose_ways(p);
	if (wrong)
		lab_pattern_free(p);
	return wrong;
}

void lab_pattern_free(struct lab_pattern *p)
{
	unsigned int dir;

	free(p->visited);
	p->visited = NULL;
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++)
		lab_ranks_free(&p->dir[dir].ranks);
}
