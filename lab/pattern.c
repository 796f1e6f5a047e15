// SPDX-License-Identifier: GPL-2.0-only
/* Offsets, sizes and directions of a job's I/O: see pattern.h. */
#include "lab/pattern.h"

#include <string.h>

bool lab_job_is_random(const struct lab_job *job)
{
	return job->rw == LAB_RW_RANDREAD || job->rw == LAB_RW_RANDWRITE ||
	       job->rw == LAB_RW_RANDTRIM || job->rw == LAB_RW_RANDRW ||
	       job->rw == LAB_RW_RANDTRIMWRITE;
}

bool lab_job_does(const struct lab_job *job, enum lab_job_dir dir)
{
	static const uint8_t does[] = {
		[LAB_RW_READ] = 1 << LAB_DIR_READ,
		[LAB_RW_WRITE] = 1 << LAB_DIR_WRITE,
		[LAB_RW_TRIM] = 1 << LAB_DIR_TRIM,
		[LAB_RW_RANDREAD] = 1 << LAB_DIR_READ,
		[LAB_RW_RANDWRITE] = 1 << LAB_DIR_WRITE,
		[LAB_RW_RANDTRIM] = 1 << LAB_DIR_TRIM,
		[LAB_RW_RW] = 1 << LAB_DIR_READ | 1 << LAB_DIR_WRITE,
		[LAB_RW_RANDRW] = 1 << LAB_DIR_READ | 1 << LAB_DIR_WRITE,
		[LAB_RW_TRIMWRITE] = 1 << LAB_DIR_TRIM | 1 << LAB_DIR_WRITE,
		[LAB_RW_RANDTRIMWRITE] = 1 << LAB_DIR_TRIM | 1 << LAB_DIR_WRITE,
	};

	return does[job->rw] >> dir & 1;
}

/* ---- sizes ---- */

static uint32_t draw_split(struct lab_pattern *p, enum lab_job_dir dir)
{
	const struct lab_job *job = p->job;
	uint64_t u = lab_rng_below(&p->size_rng, 100), sum = 0;
	uint32_t i;

	for (i = 0; i + 1 < job->nr_splits[dir]; i++) {
		sum += job->split[dir][i].percent;
		if (u < sum)
			break;
	}
	return job->split[dir][i].bytes;
}

/* As the job asks, before the end of the region cuts it. */
static uint32_t draw_bytes(struct lab_pattern *p, enum lab_job_dir dir)
{
	const struct lab_job *job = p->job;
	uint64_t min = job->bs_min[dir], max = job->bs_max[dir];

	if (p->dir[dir].fixed_bytes)
		return p->dir[dir].fixed_bytes;
	if (job->nr_splits[dir])
		return draw_split(p, dir);
	if (job->bs_unaligned)
		return (uint32_t)(min + lab_rng_below(&p->size_rng, max - min + 1));
	return (uint32_t)(min + min * lab_rng_below(&p->size_rng, (max - min) / min + 1));
}

/* Cuts what reaches beyond the end, in steps of the smallest block. False: nothing fits. */
static bool fit(const struct lab_pattern *p, enum lab_job_dir dir, uint64_t at,
		struct lab_extent *out)
{
	uint64_t room, min = p->job->bs_min[dir];

	if (at >= p->bytes)
		return false;
	room = p->bytes - at;
	if (room < min)
		return false;
	if (out->bytes > room)
		out->bytes = (uint32_t)(room - room % min);
	out->offset = p->start + at;
	return true;
}

/* ---- random offsets ---- */

static bool is_visited(const struct lab_pattern *p, uint64_t block)
{
	return p->visited[block / 64] >> block % 64 & 1;
}

/* The longest run from `block` on, at most what the extent asks for, that nobody visited. */
static void visit(struct lab_pattern *p, uint64_t block, struct lab_extent *out)
{
	uint64_t want = (out->bytes + p->unit - 1) / p->unit, got = 0;

	while (got < want && block + got < p->order.n && !is_visited(p, block + got)) {
		p->visited[(block + got) / 64] |= UINT64_C(1) << (block + got) % 64;
		got++;
	}
	if (got < want)
		out->bytes = (uint32_t)(got * p->unit);
}

static bool next_mapped(struct lab_pattern *p, enum lab_job_dir dir, struct lab_extent *out)
{
	uint64_t block;

	for (;;) {
		if (p->next_index >= p->order.n)
			return false;
		block = lab_perm_at(&p->order, p->next_index++);
		if (!p->visited)
			break;
		if (!is_visited(p, block)) {
			visit(p, block, out);
			break;
		}
	}
	return fit(p, dir, block * p->unit, out);
}

static uint64_t draw_zoned(struct lab_pattern *p, enum lab_job_dir dir)
{
	const struct lab_job *job = p->job;
	uint64_t u = lab_rng_below(&p->offset_rng, 100), n = p->dir[dir].nr_blocks;
	uint64_t access = 0, span = 0, first, end;
	uint32_t i;

	for (i = 0; i + 1 < job->nr_zones[dir]; i++) {
		access += job->zone[dir][i].access_percent;
		if (u < access)
			break;
		span += job->zone[dir][i].span_percent;
	}
	/* nr_blocks < 2^48: no overflow */
	first = n * span / 100;
	end = n * (span + job->zone[dir][i].span_percent) / 100;
	if (end > n)
		end = n;
	if (first >= end)
		first = end ? end - 1 : 0;
	return end > first ? first + lab_rng_below(&p->offset_rng, end - first) : first;
}

static uint64_t draw_block(struct lab_pattern *p, enum lab_job_dir dir)
{
	struct lab_pattern_dir *d = &p->dir[dir];
	uint64_t rank;

	switch (p->job->dist[dir]) {
	case LAB_DIST_ZIPF:
	case LAB_DIST_PARETO:
		rank = lab_ranks_draw(&d->ranks, &p->offset_rng);
		if (d->center != UINT64_MAX)
			return (d->center + rank) % d->nr_blocks;
		return lab_perm_at(&d->scatter, rank);
	case LAB_DIST_NORMAL:
		return lab_normal_draw(&p->offset_rng, d->nr_blocks, d->center,
				       p->job->dist_theta_micro[dir]);
	case LAB_DIST_ZONED:
		return draw_zoned(p, dir);
	case LAB_DIST_RANDOM:
		break;
	}
	return lab_rng_below(&p->offset_rng, d->nr_blocks);
}

static bool next_random(struct lab_pattern *p, enum lab_job_dir dir, struct lab_extent *out)
{
	if (p->mapped)
		return next_mapped(p, dir, out);
	return fit(p, dir, draw_block(p, dir) * p->dir[dir].align, out);
}

/* ---- sequential offsets ---- */

static bool next_sequential(struct lab_pattern *p, enum lab_job_dir dir, struct lab_extent *out)
{
	struct lab_pattern_dir *d = &p->dir[dir];
	uint64_t at = d->started ? d->last_end : 0;
	int64_t hole = p->random ? 0 : p->job->rw_hole;

	if (d->started && hole > 0) {
		at += (uint64_t)hole;
		/* With holes a region is gone around, not ended. */
		if (at >= p->bytes)
			at = 0;
	} else if (d->started && hole < 0) {
		uint64_t back = (uint64_t)-hole;

		at = at >= back ? at - back : p->bytes - (p->bytes > back ? back : p->bytes);
	}
	return fit(p, dir, at, out);
}

/* Random I/O of which some is sequential (percentage_random), or that stays for N I/Os (rw=..:N).
 */
static bool next_random_or_run(struct lab_pattern *p, enum lab_job_dir dir, struct lab_extent *out)
{
	struct lab_pattern_dir *d = &p->dir[dir];

	if (p->job->rw_every > 1 && d->run_left && d->started) {
		d->run_left--;
		if (p->job->identical)
			return fit(p, dir, d->last_start, out);
		if (next_sequential(p, dir, out))
			return true;
	} else if (p->job->rw_every > 1) {
		d->run_left = p->job->rw_every - 1;
	}
	if (d->percent_random < 100 && d->started &&
	    lab_rng_below(&p->mix_rng, 100) >= d->percent_random && next_sequential(p, dir, out))
		return true;
	return next_random(p, dir, out);
}

/* ---- the whole ---- */

enum lab_job_dir lab_pattern_draw_dir(struct lab_pattern *p)
{
	if (p->trim_first)
		return p->write_next ? LAB_DIR_WRITE : LAB_DIR_TRIM;
	return lab_rng_below(&p->mix_rng, 100) < p->job->rwmixread ? LAB_DIR_READ : LAB_DIR_WRITE;
}

bool lab_pattern_next_other(struct lab_pattern *p, enum lab_job_dir dir, struct lab_extent *out)
{
	struct lab_pattern_dir *d = &p->dir[dir];
	bool found;

	if (p->trim_first && dir == LAB_DIR_WRITE) {
		const struct lab_pattern_dir *trim = &p->dir[LAB_DIR_TRIM];

		out->offset = p->start + trim->last_start;
		out->bytes = (uint32_t)(trim->last_end - trim->last_start);
		p->write_next = false;
		return true;
	}
	out->bytes = draw_bytes(p, dir);
	found = p->random ? next_random_or_run(p, dir, out) : next_sequential(p, dir, out);
	if (!found)
		return false;
	d->started = true;
	d->last_start = out->offset - p->start;
	d->last_end = d->last_start + out->bytes;
	p->write_next = p->trim_first;
	return true;
}

void lab_pattern_rewind(struct lab_pattern *p)
{
	unsigned int dir;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		p->dir[dir].started = false;
		p->dir[dir].run_left = 0;
	}
	p->write_next = false;
	if (!p->mapped)
		return;
	p->next_index = 0;
	lab_perm_init(&p->order, p->order.n, &p->offset_rng);
	if (p->visited)
		memset(p->visited, 0, (p->order.n + 63) / 64 * sizeof(*p->visited));
}
