// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: one for each process and disk, so that policies can tell processes apart.
 *
 * The block layer keeps, for each pair of io_context (a process; threads share it only if they asked
 * to) and disk, an io_cq with room for the elevator: there the core's context is noted. It ends with
 * the process, or when the disk gets another elevator, whichever is first; what is still in flight
 * then keeps the core's part, and no memory of ours.
 *
 * Who has no context: workers of work queues, which act for somebody else, and async requests, for
 * which nobody waits and which the flusher mostly writes. They belong to their group's anonymous
 * context. So does a bio of another cgroup than its submitter's (swap, a helper that writes for
 * others): else one such bio would move the whole process. And where memory is short there just is
 * no context; no I/O fails for that.
 *
 * Looking up takes no lock. A task that submits to a queue keeps its own io_context, and by the bio
 * in its hands the queue's elevator, from going away; so the io_cq that joins the two stays.
 *
 * A write that comes with a flush is inserted by a worker, after the flush: it is the only one that
 * must remember, in rq->elv.icq, who sent it, and holds the io_context for that.
 */
#include <linux/iocontext.h>
#include <linux/ioprio.h>
#include <linux/sched.h>

#include "contexts.h"

static struct weir_mq_icq *weir_mq_icq(struct io_cq *icq)
{
	return container_of(icq, struct weir_mq_icq, icq);
}

#ifdef CONFIG_BLK_ICQ
static struct io_cq *icq_of_current(struct request_queue *q)
{
	struct io_context *ioc = current->io_context;
	struct io_cq *icq = NULL;

	if (ioc) {
		rcu_read_lock();
		icq = rcu_dereference(ioc->icq_hint);
		if (icq && icq->q != q)
			icq = NULL;
		rcu_read_unlock();
	} else if (current->flags & PF_EXITING) {
		return NULL; /* a new one would never be given back */
	}
	/* What comes takes queue_lock and turns interrupts on, so never under mq->lock. */
	if (!icq && !WARN_ON_ONCE(irqs_disabled())) {
		icq = ioc_find_get_icq(q);
		if (icq)
			put_io_context(icq->ioc);
	}
	return icq;
}
#else
static struct io_cq *icq_of_current(struct request_queue *q)
{
	return NULL;
}
#endif

static bool acts_for_itself(void)
{
	return in_task() && !(current->flags & PF_WQ_WORKER);
}

struct weir_mq_icq *weir_mq_submitting(struct request_queue *q)
{
	struct io_cq *icq = acts_for_itself() ? icq_of_current(q) : NULL;

	return icq ? weir_mq_icq(icq) : NULL;
}

struct weir_ctx *weir_mq_bio_ctx(const struct weir_mq_icq *icq, const struct bio *bio,
				 const struct weir_group *g)
{
	if (!icq || !icq->ctx || !op_is_sync(bio->bi_opf))
		return NULL;
	return weir_ctx_group(icq->ctx) == g ? icq->ctx : NULL;
}

void weir_mq_submitter(struct request_queue *q, struct weir_mq_submitter *who)
{
	who->icq = weir_mq_submitting(q);
	if (!who->icq)
		return;
	who->ioprio = get_current_ioprio();
	rcu_read_lock();
	who->blkcg = css_to_blkcg(task_css(current, io_cgrp_id));
	rcu_read_unlock();
}

static void create(struct weir_mq *mq, struct weir_mq_icq *icq, struct weir_group *g, u16 ioprio)
{
	icq->ctx = weir_ctx_create(mq->w, g, IOPRIO_PRIO_CLASS(ioprio), IOPRIO_PRIO_LEVEL(ioprio),
				   weir_mq_now());
	if (!icq->ctx)
		return;
	icq->ioprio = ioprio;
	mq->nr_contexts++;
	pr_debug("weir: %s: %s[%d]: context in group %u, ioprio %u/%u\n", mq->q->disk->disk_name,
		 current->comm, current->pid, weir_group_id(g), IOPRIO_PRIO_CLASS(ioprio),
		 IOPRIO_PRIO_LEVEL(ioprio));
}

/* What changed about the process since its last request. */
static void follow(struct weir_mq *mq, struct weir_mq_icq *icq, struct weir_group *g, u16 ioprio)
{
	if (weir_ctx_group(icq->ctx) != g) {
		weir_ctx_move(icq->ctx, g, weir_mq_now());
		pr_debug("weir: %s: %s[%d]: moved to group %u\n", mq->q->disk->disk_name,
			 current->comm, current->pid, weir_group_id(g));
	}
	if (icq->ioprio != ioprio) {
		icq->ioprio = ioprio;
		weir_ctx_set_ioprio(icq->ctx, IOPRIO_PRIO_CLASS(ioprio), IOPRIO_PRIO_LEVEL(ioprio),
				    weir_mq_now());
		pr_debug("weir: %s: %s[%d]: ioprio %u/%u\n", mq->q->disk->disk_name, current->comm,
			 current->pid, IOPRIO_PRIO_CLASS(ioprio), IOPRIO_PRIO_LEVEL(ioprio));
	}
}

/* The submitter's, who also inserts. */
static struct weir_ctx *own(struct weir_mq *mq, const struct weir_mq_submitter *who,
			    const struct bio *bio, struct weir_group *g)
{
	struct weir_mq_icq *icq = who->icq;

	if (!icq || icq->gone || !bio || !op_is_sync(bio->bi_opf))
		return NULL;
	if (!bio->bi_blkg || bio->bi_blkg->blkcg != who->blkcg)
		return NULL;
	if (!icq->ctx)
		create(mq, icq, g, who->ioprio);
	else
		follow(mq, icq, g, who->ioprio);
	return icq->ctx;
}

struct weir_ctx *weir_mq_rq_ctx(struct weir_mq *mq, const struct weir_mq_submitter *who,
				const struct request *rq, struct weir_group *g)
{
	struct weir_mq_icq *icq;

	/* What never was prepared has something else there in older kernels. */
	if (!(rq->rq_flags & RQF_USE_SCHED) || !rq->elv.icq)
		return own(mq, who, rq->bio, g);
	icq = weir_mq_icq(rq->elv.icq);
	if (!icq->ctx && !icq->gone)
		create(mq, icq, g, req_get_ioprio((struct request *)rq));
	return icq->ctx && weir_ctx_group(icq->ctx) == g ? icq->ctx : NULL;
}

void weir_mq_ctx_prepare(struct request *rq)
{
	rq->elv.icq = NULL;
#ifdef CONFIG_BLK_ICQ
	if (op_is_flush(rq->cmd_flags) && acts_for_itself() &&
	    (current->io_context || !(current->flags & PF_EXITING)))
		rq->elv.icq = ioc_find_get_icq(rq->q);
#endif
}

void weir_mq_ctx_finish(struct request *rq)
{
	if (rq->elv.icq)
		put_io_context(rq->elv.icq->ioc);
	rq->elv.icq = NULL;
}

/* Under the io_context's lock, and maybe queue_lock too. */
void weir_mq_exit_icq(struct io_cq *io)
{
	struct weir_mq_icq *icq = weir_mq_icq(io);
	struct weir_mq *mq = weir_mq_of(io->q);
	unsigned long flags;
	bool kick;

	spin_lock_irqsave(&mq->lock, flags);
	icq->gone = true;
	if (icq->ctx) {
		weir_ctx_exit(icq->ctx, weir_mq_now());
		icq->ctx = NULL;
		mq->nr_contexts--;
	}
	/* Somebody may have waited for more of that process. */
	kick = weir_mq_must_kick(mq, weir_mq_now());
	spin_unlock_irqrestore(&mq->lock, flags);
	if (kick)
		weir_mq_kick_soon(mq);
}
