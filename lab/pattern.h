/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a job goes next: direction, offset and length of each I/O in one file, as fio's options
 * say. All draws are integers from seeded generators; offsets, sizes and directions have one each,
 * so that changing the mix leaves the offsets alone.
 *
 * A pass is one visit of the region. Random I/O visits each block once per pass unless norandommap
 * or a skewed distribution says otherwise; blocks of one size in a computed order, blocks of
 * varying sizes with a bit map of what was visited, as fio does. Without a map a pass has no end
 * of its own: the job's byte budget ends it.
 */
#ifndef LAB_PATTERN_H
#define LAB_PATTERN_H

#include "lab/job.h"
#include "lab/pattern_dist.h"
#include "lab/pattern_perm.h"

struct lab_extent {
	uint64_t offset; /* in the file, or on the device for a /dev/ job */
	uint32_t bytes;
};

/* How the next offset of a direction comes about; the first two are short ways through. */
enum lab_pattern_way {
	LAB_WAY_UNIFORM, /* blocks of one size anywhere */
	LAB_WAY_ORDER,	 /* blocks of one size, each once per pass */
	LAB_WAY_OTHER,
};

struct lab_pattern_dir {
	enum lab_pattern_way way;
	uint64_t align;	      /* random offsets are multiples of it */
	uint64_t nr_blocks;   /* of `align` bytes, in which an I/O may start */
	uint32_t fixed_bytes; /* 0: sizes vary */
	uint32_t percent_random;
	uint32_t run_left; /* I/Os until the next new offset (rw=...:N) */
	bool started;
	uint64_t last_start, last_end; /* within the region */
	struct lab_ranks ranks;	       /* zipf, pareto */
	uint64_t center;	       /* block, or UINT64_MAX: ranks are scattered */
	struct lab_perm scatter;
};

struct lab_pattern {
	uint8_t only_dir; /* LAB_NR_JOB_DIRS: there is more than one */
	bool random, mixed, trim_first;
	uint64_t start, bytes; /* the region */
	const struct lab_job *job;
	bool write_next; /* trimwrite: the extent that was trimmed last is written now */
	struct lab_rng offset_rng, size_rng, mix_rng;

	/* Each block once: the order of this pass, and where it is. */
	bool mapped;
	struct lab_perm order;
	uint64_t unit, next_index;
	uint64_t *visited; /* bit map, with varying sizes only */

	struct lab_pattern_dir dir[LAB_NR_JOB_DIRS];
};

/*
 * The region is [start, start + bytes). NULL, or what is wrong: a phrase without a value for the
 * message. seed and stream as in lab_rng_seed(); a pattern takes four streams.
 */
const char *lab_pattern_init(struct lab_pattern *p, const struct lab_job *job, uint64_t start,
			     uint64_t bytes, uint64_t seed, uint64_t stream);
void lab_pattern_free(struct lab_pattern *p);

/* Behind the two functions below: what is not short. */
enum lab_job_dir lab_pattern_draw_dir(struct lab_pattern *p);
bool lab_pattern_next_other(struct lab_pattern *p, enum lab_job_dir dir, struct lab_extent *out);

/* Direction of the next I/O. */
static inline enum lab_job_dir lab_pattern_dir(struct lab_pattern *p)
{
	return p->only_dir < LAB_NR_JOB_DIRS ? (enum lab_job_dir)p->only_dir
					     : lab_pattern_draw_dir(p);
}

/* Its place. False: the pass is over, see lab_pattern_rewind(). */
static inline bool lab_pattern_next(struct lab_pattern *p, enum lab_job_dir dir,
				    struct lab_extent *out)
{
	struct lab_pattern_dir *d = &p->dir[dir];
	uint64_t block;

	if (d->way == LAB_WAY_UNIFORM) {
		block = lab_rng_below(&p->offset_rng, d->nr_blocks);
	} else if (d->way == LAB_WAY_ORDER) {
		if (p->next_index >= p->order.n)
			return false;
		block = lab_perm_at(&p->order, p->next_index++);
	} else {
		return lab_pattern_next_other(p, dir, out);
	}
	out->offset = p->start + block * d->align;
	out->bytes = d->fixed_bytes;
	return true;
}

/* Begins the next pass: from the front, or in a new random order. */
void lab_pattern_rewind(struct lab_pattern *p);

/* Does the job read (write, trim) at all? */
bool lab_job_does(const struct lab_job *job, enum lab_job_dir dir);
bool lab_job_is_random(const struct lab_job *job);

#endif
