// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watchdog: a scheduler's bug must not stop the disk.
 *
 * Once a second: does something wait, while nothing is in the device, and no answer of the core says
 * until when? Then the queue is run, in case that was forgotten. If after the module's parameter
 * watchdog_ms still nothing was dispatched, all is passed through: the core is drained from then on,
 * past shares, floors and ceilings, and tasks that wait for a place go on without. That is said once
 * in the kernel's log, and lasts until a policy is chosen. A ceiling that rightly holds for long
 * doesn't count: its time is known.
 */
#include <linux/module.h>

#include "mq.h"

static unsigned int watchdog_ms = 5000;
module_param(watchdog_ms, uint, 0644);
MODULE_PARM_DESC(watchdog_ms,
		 "pass all requests through if none was dispatched for so long; 0: never");

u64 weir_mq_oldest_ns(struct weir_mq *mq)
{
	struct blk_mq_hw_ctx *hctx;
	u64 oldest_ns = 0;
	unsigned long i;
	u32 n;

	queue_for_each_hw_ctx(mq->q, hctx, i) {
		struct weir_mq_hctx *h = hctx->sched_data;

		for (n = 0; h && n < h->nr; n++) {
			const struct weir_rq *rq = &h->rq[n].rq;

			if ((rq->state == WEIR_RQ_QUEUED || rq->state == WEIR_RQ_HELD) &&
			    (!oldest_ns || rq->insert_ns < oldest_ns))
				oldest_ns = rq->insert_ns;
		}
	}
	return oldest_ns;
}

static bool has_waiters(struct weir_mq *mq)
{
	struct weir_mq_group *mg;

	list_for_each_entry(mg, &mq->groups, in_groups)
		if (!list_empty(&mg->waiters[WEIR_READ]) || !list_empty(&mg->waiters[WEIR_WRITE]))
			return true;
	return false;
}

static bool is_stuck(struct weir_mq *mq, u64 now)
{
	if (weir_nr_in_flight(mq->w))
		return false;
	if (weir_nr_waiting(mq->w))
		return mq->next_ns <= now || mq->next_ns == WEIR_NEVER;
	return has_waiters(mq);
}

static void pass_through(struct weir_mq *mq, u64 now)
{
	u64 waiting = weir_nr_waiting(mq->w), oldest_ns = weir_mq_oldest_ns(mq);
	u32 nr;

	if (waiting && !mq->watch.passing_ns) {
		mq->watch.passing_ns = now;
		mq->watch.nr_passed++;
		weir_set_drain(mq->w, true, now);
		pr_warn("weir: %s: nothing was dispatched for %llu ms, with %llu requests waiting, "
			"the oldest for %llu ms: policy %s passes all through until one is "
			"chosen\n",
			mq->q->disk->disk_name, div_u64(now - mq->watch.since_ns, NSEC_PER_MSEC),
			waiting, oldest_ns ? div_u64(now - oldest_ns, NSEC_PER_MSEC) : 0,
			weir_policy_info(weir_current_policy(mq->w))->name);
	}
	nr = weir_mq_let_go(mq);
	if (nr && !waiting) {
		mq->watch.nr_passed++;
		pr_warn_ratelimited("weir: %s: %u tasks waited for a place in the pool, and nobody "
				    "used it: they go on without\n",
				    mq->q->disk->disk_name, nr);
	}
}

static void look(struct work_struct *work)
{
	struct weir_mq *mq = container_of(work, struct weir_mq, watch.work.work);
	u64 limit_ns = (u64)READ_ONCE(watchdog_ms) * NSEC_PER_MSEC;
	struct weir_mq_watch *watch = &mq->watch;
	unsigned long flags;
	bool kick = false;
	u64 now;

	spin_lock_irqsave(&mq->lock, flags);
	now = weir_mq_now();
	if (!limit_ns || watch->nr_dispatched != mq->nr_dispatched || !is_stuck(mq, now)) {
		watch->nr_dispatched = mq->nr_dispatched;
		watch->since_ns = now;
	} else {
		kick = true;
		if (now - watch->since_ns >= limit_ns)
			pass_through(mq, now);
	}
	spin_unlock_irqrestore(&mq->lock, flags);
	if (kick) {
		WRITE_ONCE(mq->ask, true);
		weir_mq_kick(mq);
	}
	schedule_delayed_work(&watch->work, HZ);
}

void weir_mq_watch_reset(struct weir_mq *mq)
{
	mq->watch.passing_ns = 0;
	weir_set_drain(mq->w, false, weir_mq_now());
}

void weir_mq_watch_start(struct weir_mq *mq)
{
	mq->watch.since_ns = weir_mq_now();
	INIT_DEFERRABLE_WORK(&mq->watch.work, look);
	schedule_delayed_work(&mq->watch.work, HZ);
}

void weir_mq_watch_stop(struct weir_mq *mq)
{
	cancel_delayed_work_sync(&mq->watch.work);
}
