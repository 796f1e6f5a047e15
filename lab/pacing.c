// SPDX-License-Identifier: GPL-2.0-only
/* Rate limits and think time: see pacing.h. */
#include "lab/pacing.h"

#include <string.h>

#include "core/fixed.h"
#include "lab/pattern.h"

void lab_pacing_init(struct lab_pacing *p, const struct lab_job *job, uint64_t seed,
		     uint64_t stream)
{
	unsigned int dir;

	memset(p, 0, sizeof(*p));
	p->job = job;
	p->thinks = job->thinktime_ns || job->thinktime_spin_ns;
	lab_rng_seed(&p->rng, seed, stream);
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++)
		if (lab_job_does(job, dir) && (job->rate_bps[dir] || job->rate_iops[dir]))
			p->limited = true;
}

void lab_pacing_start(struct lab_pacing *p, uint64_t now_ns)
{
	unsigned int dir;

	p->base_ns = now_ns;
	p->last_think_ns = now_ns;
	p->blocks = 0;
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++)
		p->dir[dir] = (struct lab_pacing_dir){.due_ns = now_ns};
}

enum lab_job_dir lab_pacing_choose(const struct lab_pacing *p, enum lab_job_dir want,
				   uint64_t now_ns, uint64_t *due_ns)
{
	enum lab_job_dir other = want == LAB_DIR_READ ? LAB_DIR_WRITE : LAB_DIR_READ;
	bool mixed = lab_job_does(p->job, LAB_DIR_READ) && lab_job_does(p->job, LAB_DIR_WRITE);
	uint32_t percent = other == LAB_DIR_READ ? p->job->rwmixread : 100 - p->job->rwmixread;

	*due_ns = p->dir[want].due_ns;
	if (*due_ns <= now_ns || !mixed || !percent || p->dir[other].due_ns >= *due_ns)
		return want;
	*due_ns = p->dir[other].due_ns;
	return other;
}

static uint64_t poisson_gap_ns(struct lab_pacing *p, enum lab_job_dir dir, uint32_t bytes)
{
	const struct lab_job *job = p->job;
	uint64_t mean = 0;

	if (job->rate_bps[dir])
		mean = weir_mul_div(bytes, WEIR_NS_PER_S, job->rate_bps[dir]);
	if (job->rate_iops[dir])
		mean = weir_max64(mean, WEIR_NS_PER_S / job->rate_iops[dir]);
	return lab_rng_exp(&p->rng, mean);
}

void lab_pacing_issued(struct lab_pacing *p, enum lab_job_dir dir, uint32_t bytes)
{
	const struct lab_job *job = p->job;
	struct lab_pacing_dir *d = &p->dir[dir];
	uint64_t after_ns = 0;

	if (!job->rate_bps[dir] && !job->rate_iops[dir])
		return;
	d->ios++;
	d->bytes += bytes;
	if (job->rate_poisson) {
		d->due_ns = weir_add_sat(d->due_ns, poisson_gap_ns(p, dir, bytes));
		return;
	}
	/* From totals, so that nothing is lost in rounding. */
	if (job->rate_bps[dir])
		after_ns = weir_mul_div(d->bytes, WEIR_NS_PER_S, job->rate_bps[dir]);
	if (job->rate_iops[dir])
		after_ns = weir_max64(after_ns,
				      weir_mul_div(d->ios, WEIR_NS_PER_S, job->rate_iops[dir]));
	d->due_ns = weir_add_sat(p->base_ns, after_ns);
}

bool lab_pacing_completed(struct lab_pacing *p, uint64_t now_ns)
{
	const struct lab_job *job = p->job;
	uint32_t blocks = job->thinktime_blocks ? job->thinktime_blocks : 1;

	p->blocks++;
	if (job->thinktime_iotime_ns) {
		if (now_ns - p->last_think_ns >= job->thinktime_iotime_ns)
			return true;
		/* The default of one block would make the time meaningless. */
		if (blocks == 1)
			return false;
	}
	return p->blocks >= blocks;
}

uint64_t lab_pacing_think_ns(const struct lab_pacing *p)
{
	return weir_max64(p->job->thinktime_ns, p->job->thinktime_spin_ns);
}

void lab_pacing_thought(struct lab_pacing *p, uint64_t now_ns)
{
	p->last_think_ns = now_ns;
	p->blocks = 0;
}
