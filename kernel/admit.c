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

static bool try_admit(struct weir_mq *mq, struct bio *bio, enum weir_dir dir,
		      wait_queue_head_t **wait)
{
	struct weir_mq_group *mg;
	unsigned long flags;
	bool yes;

	spin_lock_irqsave(&mq->lock, flags);
	mg = weir_mq_bio_group(mq, bio);
	yes = weir_admit(mq->w, mg->g, dir, bio->bi_iter.bi_size, weir_mq_now());
	if (yes)
		mg->pending[dir]++;
	*wait = &mg->wait[dir];
	spin_unlock_irqrestore(&mq->lock, flags);
	return yes;
}

bool weir_mq_admit(struct weir_mq *mq, struct bio *bio)
{
	enum weir_dir dir = bio_op(bio) == REQ_OP_READ ? WEIR_READ : WEIR_WRITE;
	wait_queue_head_t *wait;
	DEFINE_WAIT(entry);
	bool yes;

	if (!mq->cfg.pool || try_admit(mq, bio, dir, &wait))
		return false;
	if (bio->bi_opf & REQ_NOWAIT) {
		bio_wouldblock_error(bio);
		return true;
	}
	/* The group, and so where to wait, may be another each time: cgroups come and go. */
	do {
		wait_queue_head_t *here = wait;

		prepare_to_wait(here, &entry, TASK_UNINTERRUPTIBLE);
		yes = try_admit(mq, bio, dir, &wait);
		/* Who changes or leaves the elevator waits for all who are inside. */
		yes |= percpu_ref_is_dying(&mq->q->q_usage_counter);
		if (!yes)
			io_schedule_timeout(LOOK_JIFFIES);
		finish_wait(here, &entry);
	} while (!yes);
	return false;
}
