/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CFQ: what requests tell about who sends them. How long a process thinks between a completion and
 * its next request, decayed by an eighth with each; the same of the queues of a service tree, and
 * of a group, taken together. How many of a queue's last 32 requests were far from the one before.
 * From both comes whether it is worth waiting for.
 */
#include "policy/cfq/internal.h"

static void think_sample(const struct cfq *c, struct cfq_think *t, uint64_t idle_ns)
{
	uint64_t now = cfq_now(c);
	uint64_t took = now > t->last_end_ns ? now - t->last_end_ns : 0;

	/* 256 samples of 2000 s are below 2^49. */
	took = weir_min64(took, 2 * idle_ns);
	t->samples = (7 * t->samples + CFQ_THINK_UNIT) / 8;
	t->total = (7 * t->total + CFQ_THINK_UNIT * took) / 8;
	t->mean_ns = weir_div64(t->total + CFQ_THINK_UNIT / 2, t->samples);
}

bool cfq_think_is_known(const struct cfq_think *t)
{
	return t->samples > CFQ_THINK_VALID;
}

bool cfq_think_is_long(const struct cfq_think *t, uint64_t than_ns)
{
	return cfq_think_is_known(t) && t->mean_ns > than_ns;
}

bool cfq_proc_is_gone(const struct cfq_proc *p)
{
	return p->ctx && p->ctx->exited;
}

static void learn_seek(const struct cfq *c, struct cfq_queue *q, const struct weir_rq *rq)
{
	uint64_t distance = 0;
	bool seeks;

	if (q->last_end)
		distance = rq->sector > q->last_end ? rq->sector - q->last_end
						    : q->last_end - rq->sector;
	seeks = cfq_rotational(c) ? distance > CFQ_SEEK_SECTORS
				  : rq->nr_sectors < CFQ_SMALL_SECTORS;
	q->seeks = q->seeks << 1 | seeks;
	q->last_end = weir_rq_end(rq);
}

/* A write that somebody waits for, and that is not followed by another: fsync, a commit. */
static bool says_no_idle(const struct weir_rq *rq)
{
	return rq->op != WEIR_OP_READ && weir_rq_is_sync(rq) && !(rq->flags & WEIR_RQ_IDLE_OK);
}

static void decide_idle_window(const struct cfq *c, struct cfq_queue *q, const struct cfq_proc *p)
{
	if (!q->sync || q->class == CFQ_IDLE)
		return;
	if (q->nr_queued >= CFQ_DEEP)
		q->deep = true;
	if (q->next && says_no_idle(q->next))
		q->idle_window = false;
	else if (cfq_proc_is_gone(p) || !cfq_slice_idle(c) || (cfq_is_seeky(q) && !q->deep))
		q->idle_window = false;
	else if (cfq_think_is_known(&p->think))
		q->idle_window = p->think.mean_ns <= cfq_slice_idle(c);
}

void cfq_learn(struct cfq *c, struct cfq_queue *q, struct weir_rq *rq)
{
	struct cfq_proc *p = cfq_rq(rq)->proc;

	if (q->sync) {
		think_sample(c, &p->think, cfq_slice_idle(c));
		think_sample(c, &q->tree->think, cfq_slice_idle(c));
	}
	think_sample(c, &q->group->think, cfq_group_idle(c));
	learn_seek(c, q, rq);
	decide_idle_window(c, q, p);
}
