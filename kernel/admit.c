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
 * Who waits stands in a queue of its group and direction, and is handed its place: first come, first
 * served within a group, and one wake-up for each place.
 *
 * Places belong to the group, not to the bio: the next request of that group and direction that is
 * inserted takes one over, and gives it back when it is finished. What comes to insertion without
 * (bios that never merge, as flushes with data, don't pass here; nor do any with `nomerges` at 2)
 * takes one there if there is one. Metadata and swap never wait: others may be waiting for them.
 */
#include "mq.h"

/* Longest sleep between looks at what no wake-up tells: a queue that is being frozen. */
#define LOOK_JIFFIES (HZ / 10)

static enum weir_dir dir_of(const struct bio *bio)
{
	return bio_op(bio) == REQ_OP_READ ? WEIR_READ : WEIR_WRITE;
}

u32 weir_mq_hand_out(struct weir_mq *mq, struct weir_mq_group *mg, enum weir_dir dir, u64 now)
{
	struct weir_mq_waiter *wt;
	u32 nr = 0;

	while ((wt = list_first_entry_or_null(&mg->waiters[dir], struct weir_mq_waiter, list))) {
		if (!weir_admit(mq->w, mg->g, dir, wt->bio->bi_iter.bi_size, now))
			break;
		mg->pending[dir]++;
		list_del_init(&wt->list);
		wake_up_process(wt->task);
		nr++;
	}
	return nr;
}

void weir_mq_wake(void *priv, struct weir_group *g, enum weir_dir dir)
{
	struct weir_mq_group *mg = weir_group_host_data(g);
	struct weir_mq *mq = priv;

	if (mg && likely(mq->watch.stall != WEIR_MQ_STALL_PLACES))
		weir_mq_hand_out(mq, mg, dir, 0);
}

void weir_mq_move_waiters(struct weir_mq *mq, struct weir_mq_group *from, struct weir_mq_group *to)
{
	unsigned int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		list_splice_tail_init(&from->waiters[dir], &to->waiters[dir]);
		weir_mq_hand_out(mq, to, dir, 0);
	}
}

bool weir_mq_admitted(struct weir_mq *mq, struct weir_mq_group *mg, enum weir_dir dir, u32 bytes,
		      u64 now)
{
	if (!mg->pending[dir])
		return weir_admit(mq->w, mg->g, dir, bytes, now);
	mg->pending[dir]--;
	return true;
}

enum weir_mq_verdict weir_mq_admit(struct weir_mq *mq, struct weir_mq_group *mg, struct bio *bio,
				   struct weir_mq_waiter *wt, u64 now)
{
	bool nowait = bio->bi_opf & REQ_NOWAIT;
	enum weir_dir dir = dir_of(bio);

	if (bio_issue_as_root_blkg(bio))
		return WEIR_MQ_GO;
	if (list_empty(&mg->waiters[dir]) &&
	    weir_admit(mq->w, mg->g, dir, bio->bi_iter.bi_size, now)) {
		/* What must not wait may yet fail for want of a tag: its place is for insertion. */
		if (nowait)
			weir_release(mq->w, mg->g, dir, now);
		else
			mg->pending[dir]++;
		return WEIR_MQ_GO;
	}
	if (nowait)
		return WEIR_MQ_WOULD_BLOCK;
	wt->task = current;
	wt->bio = bio;
	list_add_tail(&wt->list, &mg->waiters[dir]);
	weir_mq_watch(mq);
	return WEIR_MQ_WAIT;
}

u32 weir_mq_let_go(struct weir_mq_group *mg, enum weir_dir dir)
{
	struct weir_mq_waiter *wt, *next;
	u32 nr = 0;

	list_for_each_entry_safe(wt, next, &mg->waiters[dir], list) {
		list_del_init(&wt->list);
		wake_up_process(wt->task);
		nr++;
	}
	return nr;
}

void weir_mq_forget_places(struct weir_mq *mq)
{
	struct weir_mq_group *mg;
	unsigned int dir;

	weir_mq_for_each_queue(mg, dir, mq)
		for (; mg->pending[dir]; mg->pending[dir]--)
			weir_release(mq->w, mg->g, dir, weir_mq_now());
}

void weir_mq_wait(struct weir_mq *mq, struct weir_mq_waiter *wt)
{
	bool waits = true;

	while (waits) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		spin_lock_irq(&mq->lock);
		waits = !list_empty(&wt->list);
		/* Who changes or leaves the elevator waits for all who are inside. */
		if (waits && percpu_ref_is_dying(&mq->q->q_usage_counter)) {
			list_del_init(&wt->list);
			waits = false;
		}
		spin_unlock_irq(&mq->lock);
		if (waits)
			io_schedule_timeout(LOOK_JIFFIES);
	}
	__set_current_state(TASK_RUNNING);
}
