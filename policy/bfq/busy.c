/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: who is busy, and whether a scenario is symmetric. While all busy queues have one weight and
 * one class, and no two groups compete, serving whoever has something shares the device as well as
 * idling would: nobody is waited for.
 *
 * A queue is busy from its first request until it is found empty, as long as it is served also
 * while empty. It is pending while it is busy or has requests in the driver. The kernel keeps a tree
 * of the weights of pending queues; queues have 8 weights only, so a count of each does. Raised
 * queues are counted apart.
 */
#include "policy/bfq/internal.h"

void bfq_count_pending(struct bfq *bfq, struct bfq_queue *q)
{
	bool pending = q->busy || q->dispatched;
	bool weighs = pending && !bfq_is_raised(q);
	uint8_t level = (uint8_t)(BFQ_LEVELS - q->entity.base_weight / BFQ_WEIGHT_OF_LEVEL);

	if (pending != q->pending) {
		q->pending = pending;
		if (pending && !q->group->nr_pending++)
			bfq->groups_pending++;
		if (!pending && !--q->group->nr_pending)
			bfq->groups_pending--;
	}
	if (q->pending_weighs)
		bfq->nr_pending_of_level[q->pending_level]--;
	q->pending_weighs = weighs;
	q->pending_level = level;
	if (weighs)
		bfq->nr_pending_of_level[level]++;
}

void bfq_add_busy(struct bfq *bfq, struct bfq_queue *q)
{
	weir_assert(!q->busy);
	bfq_sched_activate(q, q->non_blocking);
	q->non_blocking = false;
	q->busy = true;
	q->busy_class = q->entity.class;
	bfq->nr_busy[q->busy_class]++;
	if (bfq_is_raised(q))
		bfq->nr_busy_raised++;
	list_push_front(&bfq->active, &q->active);
	bfq_count_pending(bfq, q);
}

void bfq_served_no_longer_busy(struct bfq *bfq, struct bfq_queue *q)
{
	weir_assert(q->busy);
	q->busy = false;
	bfq->nr_busy[q->busy_class]--;
	if (bfq_is_raised(q))
		bfq->nr_busy_raised--;
	list_unlink(&q->active);
	bfq_count_pending(bfq, q);
}

void bfq_del_busy(struct bfq *bfq, struct bfq_queue *q)
{
	bfq_sched_deactivate(q);
	bfq_served_no_longer_busy(bfq, q);
}

/* More than one weight among those pending, and q's is not the smallest of them. */
static bool weights_differ(const struct bfq *bfq, const struct bfq_queue *q)
{
	unsigned int level, nr = 0, lightest = 0;

	for (level = 0; level < BFQ_LEVELS; level++) {
		if (!bfq->nr_pending_of_level[level])
			continue;
		nr++;
		lightest = level;
	}
	return nr > 1 && !(q && q->pending_weighs && q->pending_level == lightest);
}

bool bfq_is_asymmetric(const struct bfq *bfq, const struct bfq_queue *q)
{
	unsigned int class, nr_classes = 0;

	for (class = 0; class < BFQ_NR_CLASSES; class ++)
		nr_classes += bfq->nr_busy[class] > 0;
	return nr_classes > 1 || bfq->groups_pending > 1 || weights_differ(bfq, q);
}
