// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watchdog: a scheduler's bug must not stop the disk.
 *
 * While anything waits, it looks once a second whether something was dispatched or is in the
 * device. If not, there may be good reason still. A device that doesn't ask gets nothing: maybe its
 * driver has stopped the queue, to reset it. A request that a ceiling holds has a time at which it
 * is let through; and a policy may name a time. It is believed once: one that puts off what it
 * said, time and again, is stuck. What is stuck is helped in three steps:
 *
 *	at once			 the queue is run, in case that was forgotten
 *	after watchdog_ms	 the core is drained from then on, past shares, floors and ceilings
 *	after watchdog_ms more	 not even that: requests are taken out of the core, oldest first
 *
 * The second and third are said in the kernel's log, once each, and last until a policy is chosen.
 *
 * Tasks that wait for a place in the pool are not requests yet. Whom the core has woken and the
 * elevator has not is woken at the next look; and if all is quiet for watchdog_ms, those whose
 * group no ceiling holds go on without a place.
 *
 * The work runs in kblockd, which needs no memory, and wakes an idle processor. When nothing waits
 * there is no work.
 */
#include <linux/module.h>

#include "mq.h"

static unsigned int watchdog_ms = 5000;
module_param(watchdog_ms, uint, 0644);
MODULE_PARM_DESC(watchdog_ms,
		 "pass all requests through if none was dispatched for so long; 0: never");

/* ---- how requests are asked for ---- */

static struct weir_mq_rq *oldest(struct weir_mq *mq)
{
	struct weir_mq_rq *old = NULL;
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;
	u32 n;

	queue_for_each_hw_ctx(mq->q, hctx, i) {
		struct weir_mq_hctx *h = hctx->sched_data;

		for (n = 0; h && n < h->nr; n++) {
			struct weir_rq *rq = &h->rq[n].rq;

			if ((rq->state == WEIR_RQ_QUEUED || rq->state == WEIR_RQ_HELD) &&
			    (!old || rq->seq < old->rq.seq))
				old = &h->rq[n];
		}
	}
	return old;
}

u64 weir_mq_oldest_ns(struct weir_mq *mq)
{
	struct weir_mq_rq *slot = oldest(mq);

	return slot ? slot->rq.insert_ns : 0;
}

/* The core forgets it, and so does the elevator: it goes to the device as if there were neither. */
static struct weir_rq *take_oldest(struct weir_mq *mq, u64 now)
{
	struct weir_mq_rq *slot = oldest(mq);

	if (!slot)
		return NULL;
	weir_remove(mq->w, &slot->rq, now);
	if (slot->admitted)
		weir_release(mq->w, slot->admitted, weir_op_dir(slot->rq.op), now);
	slot->req->elv.priv[0] = NULL;
	return &slot->rq;
}

struct weir_rq *weir_mq_watch_dispatch(struct weir_mq *mq, u64 now, struct weir_next *next)
{
	struct weir_mq_watch *watch = &mq->watch;

	if (watch->past_core)
		return take_oldest(mq, now);
	if (watch->stall == WEIR_MQ_STALL_ALWAYS)
		return NULL;
	if (watch->passing_ns || watch->stall == WEIR_MQ_STALL_PLACES)
		return weir_dispatch(mq->w, now, next);
	if (watch->stall == WEIR_MQ_STALL_SOON)
		next->at_ns = now + 10 * NSEC_PER_MSEC;
	return NULL;
}

/* ---- what is stuck ---- */

/* Whom a ceiling holds is not given more places either, and waits rightly. */
static bool waits_unheld(const struct weir_mq_group *mg, enum weir_dir dir)
{
	struct weir_load load;

	if (list_empty(&mg->waiters[dir]))
		return false;
	weir_group_read_load(mg->g, dir, &load);
	return !load.held;
}

static bool any_waits(struct weir_mq *mq, bool unheld)
{
	struct weir_mq_group *mg;
	unsigned int dir;

	weir_mq_for_each_queue(mg, dir, mq)
		if (unheld ? waits_unheld(mg, dir) : !list_empty(&mg->waiters[dir]))
			return true;
	return false;
}

/* Of what waits in the core. */
static bool is_stuck(struct weir_mq *mq, u64 now)
{
	struct weir_mq_watch *watch = &mq->watch;
	u64 waiting = weir_nr_waiting(mq->w);
	bool promised = mq->next_ns > now && mq->next_ns != WEIR_NEVER;

	if (waiting == weir_nr_held(mq->w)) {
		watch->until_ns = 0;
		return waiting && !promised;
	}
	if (!watch->until_ns && promised)
		watch->until_ns = mq->next_ns;
	return now >= watch->until_ns;
}

/* Who waits for a place has nobody to wait for: none of the others' requests is on its way out. */
static bool tasks_stuck(struct weir_mq *mq)
{
	u64 held = weir_nr_held(mq->w);

	if (weir_nr_waiting(mq->w) != held || (held && weir_pool_used(mq->w) >= mq->cfg.pool))
		return false;
	return any_waits(mq, true);
}

/* ---- what is done about it ---- */

static u32 let_go(struct weir_mq *mq, bool all)
{
	struct weir_mq_group *mg;
	unsigned int dir;
	u32 nr = 0;

	weir_mq_for_each_queue(mg, dir, mq)
		if (all || waits_unheld(mg, dir))
			nr += weir_mq_let_go(mg, dir);
	return nr;
}

static void pass_through(struct weir_mq *mq, u64 now)
{
	u64 waiting = weir_nr_waiting(mq->w), oldest_ns = weir_mq_oldest_ns(mq);
	struct weir_mq_watch *watch = &mq->watch;

	if (watch->passing_ns)
		watch->past_core = true;
	else
		watch->passing_ns = now;
	watch->nr_passed++;
	weir_set_drain(mq->w, true, now);
	pr_warn("weir: %s: %s dispatched none of %llu for %llu ms, the oldest waits %llu ms: %s\n",
		mq->q->disk->disk_name, weir_policy_info(weir_current_policy(mq->w))->name, waiting,
		div_u64(now - watch->since_ns, NSEC_PER_MSEC),
		oldest_ns ? div_u64(now - oldest_ns, NSEC_PER_MSEC) : 0,
		watch->past_core ? "requests go past it" : "all pass through until one is chosen");
	let_go(mq, true);
}

static void free_tasks(struct weir_mq *mq)
{
	u32 nr = let_go(mq, false);

	mq->watch.nr_let_go += nr;
	pr_warn_ratelimited("weir: %s: %u tasks wait for places that nobody uses: they go on\n",
			    mq->q->disk->disk_name, nr);
}

/* The core has said that these may ask again. */
static void wake_forgotten(struct weir_mq *mq, u64 now)
{
	struct weir_mq_group *mg;
	unsigned int dir;
	u32 nr = 0;

	weir_mq_for_each_queue(mg, dir, mq)
		if (!list_empty(&mg->waiters[dir]) && !weir_admit_waits(mg->g, dir))
			nr += weir_mq_hand_out(mq, mg, dir, now);
	mq->watch.nr_let_go += nr;
	if (nr)
		pr_warn_ratelimited("weir: %s: %u tasks were not told that they have a place\n",
				    mq->q->disk->disk_name, nr);
}

/* True: run the queue. */
static bool check(struct weir_mq *mq)
{
	u64 now = weir_mq_now(), limit_ns = (u64)READ_ONCE(watchdog_ms) * NSEC_PER_MSEC;
	struct weir_mq_watch *watch = &mq->watch;
	bool asked = watch->nr_none != mq->nr_none, requests, tasks;

	watch->nr_none = mq->nr_none;
	wake_forgotten(mq, now);
	if (watch->nr_dispatched != mq->nr_dispatched || weir_nr_in_flight(mq->w)) {
		watch->nr_dispatched = mq->nr_dispatched;
		watch->until_ns = 0;
		watch->since_ns = now;
		return false;
	}
	requests = is_stuck(mq, now);
	tasks = tasks_stuck(mq);
	if (!(requests && asked) && !tasks)
		watch->since_ns = now;
	if (limit_ns && now - watch->since_ns >= limit_ns) {
		if (tasks)
			free_tasks(mq);
		else if (!watch->past_core)
			pass_through(mq, now);
		watch->since_ns = now;
	}
	return requests;
}

static void look(struct work_struct *work)
{
	struct weir_mq *mq = container_of(work, struct weir_mq, watch.work.work);
	unsigned long flags;
	bool kick;

	spin_lock_irqsave(&mq->lock, flags);
	kick = check(mq);
	mq->watch.on = weir_nr_waiting(mq->w) || any_waits(mq, false);
	if (mq->watch.on)
		kblockd_mod_delayed_work_on(WORK_CPU_UNBOUND, &mq->watch.work, HZ);
	spin_unlock_irqrestore(&mq->lock, flags);
	if (kick) {
		WRITE_ONCE(mq->ask, true);
		weir_mq_kick(mq);
	}
}

/* ---- from when to when ---- */

void weir_mq_watch_begin(struct weir_mq *mq)
{
	mq->watch.on = true;
	mq->watch.since_ns = weir_mq_now();
	mq->watch.until_ns = 0;
	kblockd_mod_delayed_work_on(WORK_CPU_UNBOUND, &mq->watch.work, HZ);
}

void weir_mq_watch_reset(struct weir_mq *mq)
{
	mq->watch.passing_ns = 0;
	mq->watch.past_core = false;
	mq->watch.since_ns = weir_mq_now();
	mq->watch.until_ns = 0;
	weir_set_drain(mq->w, false, weir_mq_now());
}

void weir_mq_watch_init(struct weir_mq *mq)
{
	INIT_DELAYED_WORK(&mq->watch.work, look);
}

void weir_mq_watch_stop(struct weir_mq *mq)
{
	cancel_delayed_work_sync(&mq->watch.work);
}
