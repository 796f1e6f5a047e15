/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Anticipatory: what processes are used to do. How long they think between the completion of a
 * request and the next one, and how far from the end of the one the next one is; and for those that
 * nothing is known of, what the first steps of others were.
 *
 * Only sync requests count. One that is issued while others of its process are still queued counts
 * as thought of in no time: that is what the kernel's source does.
 */
#include "policy/anticipatory/internal.h"

enum {
	/* A pause is a pause: longer ones don't make the mean any longer. 20 ms less a tick. */
	MOST_THINK_MS = 19,
	/* Up to so many samples (256 is 1) a far seek may be the first of many; later, a stray. */
	FEW_SAMPLES = 60,
	FAR_SEEK_FEW_SECTORS = 2 * 1024 * 1024,
	FAR_SEEK_MANY_SECTORS = 2 * 1024 * 64,
};

/* No disk is larger than 2^48 sectors; sums in fixed point stay below 2^60. */
#define MOST_SEEK_SECTORS (UINT64_C(1) << 48)

static void decay(uint64_t *total, uint64_t value)
{
	*total = (7 * *total + ANTIC_ONE * value) / 8;
}

static void sample(struct antic_mean *m, uint64_t value)
{
	m->samples = (7 * m->samples + ANTIC_ONE) / 8;
	decay(&m->total, value);
}

static void learn_think(struct antic_device *d, struct antic_process *p, uint64_t think_ns)
{
	if (!p->think.samples) {
		decay(&d->new_think_total, think_ns);
		d->new_think_ns = d->new_think_total / ANTIC_ONE;
		antic_probability(&d->exit_prob, false);
	}
	sample(&p->think, think_ns);
	p->think.mean = weir_div64(p->think.total + ANTIC_ONE / 2, p->think.samples);
}

static void learn_seek(struct antic_device *d, struct antic_process *p, uint64_t sectors)
{
	uint64_t most = 4 * p->seek.mean;

	sectors = weir_min64(sectors, MOST_SEEK_SECTORS);
	if (!p->seek.samples) {
		decay(&d->new_seek_total, sectors);
		d->new_seek_sectors = d->new_seek_total / ANTIC_ONE;
	}
	most += p->seek.samples <= FEW_SAMPLES ? FAR_SEEK_FEW_SECTORS : FAR_SEEK_MANY_SECTORS;
	sample(&p->seek, weir_min64(sectors, most));
	p->seek.mean = weir_div64(p->seek.total + p->seek.samples / 2, p->seek.samples);
}

void antic_learn(struct antic_device *d, struct antic_process *p, const struct weir_rq *rq,
		 uint64_t now)
{
	uint64_t think_ns = 0;

	if (!weir_rq_is_sync(rq))
		return;
	if (p->started || p->completed) {
		if (p->completed && !p->nr_queued)
			think_ns = weir_min64(now - p->last_end_ns, MOST_THINK_MS * WEIR_NS_PER_MS);
		learn_think(d, p, think_ns);
		learn_seek(d, p, antic_distance(p->last_sector, rq->sector));
	}
	p->last_sector = weir_rq_end(rq);
	p->started = true;
}

void antic_process_init(struct antic_process *p, struct weir_ctx *ctx)
{
	p->ctx = ctx;
	list_init(&p->awaited_by);
}

bool antic_has_exited(const struct antic_process *p)
{
	return !p->ctx || p->ctx->exited;
}

void antic_process_exit(struct antic_process *p)
{
	while (!list_is_empty(&p->awaited_by)) {
		struct antic_queue *q = list_first(&p->awaited_by, struct antic_queue, awaits);

		q->departed = *p;
		antic_process_init(&q->departed, NULL);
		antic_set_reader(q, &q->departed);
	}
}
