/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: what a queue is like.
 *
 *	seeky		more than 19 of its last 32 requests were far from the one before; on flash
 *			only small ones count, since large ones are fast anywhere
 *	short think	from a completion to its next request it takes at most half of slice_idle
 *	I/O bound	of the last 200 ms or so it has had something to do for at least 80 %
 *
 * And of the device: does it queue? It does if it was seen with more than 3 requests at once.
 */
#include "policy/bfq/internal.h"

static bool is_far(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) > BFQ_SEEK_SECTORS;
}

bool bfq_is_seek(const struct bfq *bfq, uint64_t last_sector, const struct weir_rq *rq)
{
	return is_far(last_sector, rq->sector) &&
	       (bfq->rotational || rq->nr_sectors < BFQ_SMALL_ON_FLASH);
}

bool bfq_is_seeky(const struct bfq_queue *q)
{
	uint32_t left = q->seek_history, nr = 0;

	for (; left; left &= left - 1)
		nr++;
	return nr > BFQ_SEEKY_BITS;
}

bool bfq_is_totally_seeky(const struct bfq_queue *q)
{
	return q->seek_history == UINT32_MAX;
}

/* Only with nothing outstanding: how long does it take until the next comes? */
void bfq_update_think_time(struct bfq *bfq, struct bfq_queue *q)
{
	uint64_t elapsed;

	if (q->dispatched || q->busy)
		return;
	elapsed = weir_min64(bfq->now - q->last_end_ns, 2 * bfq->slice_idle_ns);
	q->think_samples = (7 * q->think_samples + 256) / 8;
	q->think_total = weir_div64(7 * q->think_total + 256 * elapsed, 8);
	q->think_mean_ns = weir_div64(q->think_total + 128, q->think_samples);
}

void bfq_update_short_think(struct bfq *bfq, struct bfq_queue *q)
{
	bool is_short;

	if (!q->sync || q->entity.class == BFQ_IDLE || !bfq->slice_idle_ns)
		return;
	/* Just parted from others: what is known is about them all. */
	if (!bfq_passed(bfq, q->split_ns, BFQ_RAISE_MIN_IDLE_NS))
		return;
	is_short = !bfq_is_orphan(q) && !(q->think_samples > BFQ_THINK_VALID &&
					  q->think_mean_ns > bfq->slice_idle_ns / 2);
	if (is_short == q->short_think)
		return;
	q->short_think = is_short;
	/* Until it is measured, the limit of injection depends on it. */
	if (!q->base_service_ns &&
	    (!is_short || bfq->now >= q->inject_changed_ns + BFQ_INJECT_THINK_NS))
		bfq_inject_reset(bfq, q);
}

void bfq_update_seeks(struct bfq *bfq, struct bfq_queue *q, const struct weir_rq *rq)
{
	q->seek_history = q->seek_history << 1 | bfq_is_seek(bfq, q->last_end_sector, rq);
	bfq_raise_seeky(bfq, q);
}

void bfq_update_io_bound(struct bfq *bfq, struct bfq_queue *q)
{
	uint64_t total_ns = bfq->now - q->io_start_ns;

	if (bfq_is_empty(q) && !q->dispatched)
		q->idle_total_ns += bfq->now - q->last_end_ns;
	if (q->just_created)
		return;
	q->io_bound = q->idle_total_ns * 5 <= total_ns;
	if (total_ns > BFQ_IO_WINDOW_NS) {
		q->io_start_ns = bfq->now - total_ns / 2;
		q->idle_total_ns /= 2;
	}
}

/* At each completion, before it is counted. */
void bfq_update_queueing(struct bfq *bfq)
{
	const struct bfq_queue *q = bfq->served;

	if (bfq->in_driver > bfq->depth_max)
		bfq->depth_max = bfq->in_driver;
	if (bfq->queueing == 1)
		return;
	/* Too little to do to tell. */
	if (bfq->in_driver + bfq->nr_queued <= BFQ_QUEUEING_DEPTH)
		return;
	/* The one that is waited for hasn't asked for more. */
	if (q && q->short_think && q->dispatched + q->nr_queued < BFQ_QUEUEING_DEPTH &&
	    bfq->in_driver < BFQ_QUEUEING_DEPTH)
		return;
	if (bfq->depth_samples++ < BFQ_QUEUEING_SAMPLES)
		return;
	bfq->queueing = bfq->depth_max > BFQ_QUEUEING_DEPTH;
	bfq->depth_max = 0;
	bfq->depth_samples = 0;
	bfq->flash = !bfq->rotational && bfq->queueing;
}
