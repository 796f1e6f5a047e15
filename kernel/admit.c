// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admission: who may have a request at all.
 *
 * Scheduler tags are handed out first come, first served, before any elevator sees what wants them.
 * So with 32 tags and four groups that want 128 each, the tags would decide the shares; and a group
 * that is held by its ceiling would hold them all. The core's pool (core/admission.h) is as large
 * as there are tags and is shared by weight; a task waits for a place in it with its bio in hand,
 * after merging was tried and before a tag is taken. limit_depth() could not do that: it is told
 * neither bio nor group, and who sleeps for a tag keeps the depth that was right when it lay down.
 *
 * Places belong to the group, not to the bio: the next request of that group and direction that is
 * inserted takes one over, and gives it back when it is finished. Bios that don't pass here (those
 * that never merge, such as flushes with data) have none.
 */
#include "mq.h"

/* Longest sleep between looks at what no wake-up tells: a queue that is being frozen. */
#define LOOK_JIFFIES (HZ / 10)

void weir_mq_wake(void *priv, struct weir_group *g, enum weir_dir dir)
{
	struct weir_mq_group *mg = weir_group_host_data(g);

	if (mg)
		wake_up_all(&mg->wait[dir]);
}

bool weir_mq_admitted(struct weir_mq_group *mg, enum weir_dir dir)
{
	if (!mg->pending[dir])
		return false;
	mg->pending[dir]--;
	return true;
}

static enum weir_dir dir_of(const struct bio *bio)
{
	return bio_op(bio) == REQ_OP_READ ? WEIR_READ : WEIR_WRITE;
}

bool weir_mq_try_admit(struct weir_mq *mq, struct weir_mq_group *mg, const struct bio *bio)
{
	enum weir_dir dir = dir_of(bio);

	if (!weir_admit(mq->w, mg->g, dir, bio->bi_iter.bi_size, weir_mq_now()))
		return false;
	mg->pending[dir]++;
	return true;
}

/* *wait: where to wait for the next try, if this one fails. */
static bool try_again(struct weir_mq *mq, const struct bio *bio, wait_queue_head_t **wait)
{
	struct weir_mq_group *mg;
	unsigned long flags;
	bool yes;

	spin_lock_irqsave(&mq->lock, flags);
	mg = weir_mq_bio_group(mq, bio);
	yes = weir_mq_try_admit(mq, mg, bio);
	*wait = &mg->wait[dir_of(bio)];
	spin_unlock_irqrestore(&mq->lock, flags);
	return yes;
}

bool weir_mq_admit(struct weir_mq *mq, struct bio *bio)
{
	wait_queue_head_t *wait;
	DEFINE_WAIT(entry);
	bool yes;

	if (bio->bi_opf & REQ_NOWAIT) {
		bio_wouldblock_error(bio);
		return true;
	}
	if (try_again(mq, bio, &wait))
		return false;
	/* The group, and so where to wait, may be another each time: cgroups come and go. */
	do {
		wait_queue_head_t *here = wait;

		prepare_to_wait(here, &entry, TASK_UNINTERRUPTIBLE);
		yes = try_again(mq, bio, &wait);
		/* Who changes or leaves the elevator waits for all who are inside. */
		yes |= percpu_ref_is_dying(&mq->q->q_usage_counter);
		if (!yes)
			io_schedule_timeout(LOOK_JIFFIES);
		finish_wait(here, &entry);
	} while (!yes);
	return false;
}
