// SPDX-License-Identifier: GPL-2.0-only
/*
 * The elevator: blk-mq's requests, given to the core and taken from it.
 *
 * One instance and one lock for a disk, whatever the number of its hardware queues: the disk is one.
 * A request's state lies in an array by scheduler tag, allocated with the tags, so nothing is
 * allocated on the way of an I/O. elv.priv[0] points to it from insertion to the end.
 *
 * What may not go yet is asked for again when a request finishes, when something is inserted, or by
 * a timer at the time that the core names. blk-mq by itself would look every 3 ms.
 */
#include <linux/ioprio.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "contexts.h"
#include "profile.h"
#include "sysfs.h"

/* Longest time between looks, if something waits. */
#define LOOK_NS (100 * NSEC_PER_MSEC)

static void *core_alloc(void *priv, size_t bytes)
{
	struct weir_mq *mq = priv;

	return kzalloc_node(bytes, (mq->w ? GFP_NOWAIT : GFP_KERNEL) | __GFP_NOWARN, mq->q->node);
}

static void core_free(void *priv, void *p, size_t bytes)
{
	kfree(p);
}

static void core_note(void *priv, const char *text)
{
	struct weir_mq *mq = priv;

	pr_info("weir: %s: %s\n", mq->q->disk->disk_name, text);
}

void weir_mq_kick(struct weir_mq *mq)
{
	blk_mq_run_hw_queues(mq->q, true);
}

void weir_mq_kick_soon(struct weir_mq *mq)
{
	hrtimer_start(&mq->timer, 0, HRTIMER_MODE_REL);
}

static enum hrtimer_restart timer_fires(struct hrtimer *timer)
{
	struct weir_mq *mq = container_of(timer, struct weir_mq, timer);

	/* Another processor's clock may be a little behind: it is asked again all the same. */
	WRITE_ONCE(mq->ask, true);
	weir_mq_kick(mq);
	return HRTIMER_NORESTART;
}

/* ---- how much there may be ---- */

/* Sets of tags that requests come from: polling queues have their own, and no elevator. */
static u32 nr_tag_sets(const struct request_queue *q)
{
	const struct blk_mq_tag_set *set = q->tag_set;

	if (blk_mq_is_shared_tags(set->flags))
		return 1;
	return q->nr_hw_queues -
	       (set->nr_maps > HCTX_TYPE_POLL ? set->map[HCTX_TYPE_POLL].nr_queues : 0);
}

/* As many places as there are tags, nr in each set. */
static void read_queue(struct weir_mq *mq, struct weir_config *cfg, u32 nr)
{
	struct request_queue *q = mq->q;
	u32 nr_sets = nr_tag_sets(q);

	cfg->nr_requests = nr;
	cfg->pool = nr * nr_sets;
	cfg->device_depth = q->tag_set->queue_depth * nr_sets;
	cfg->max_sectors = queue_max_sectors(q);
	weir_mq_profile_follow(mq, cfg);
}

/*
 * nr_requests was changed: the pool follows with the next request. When blk-mq tells the elevator of
 * it, there is nothing yet from which the new number could be known: see depth_updated().
 */
static void follow_depth(struct weir_mq *mq, u64 now)
{
	u32 nr = READ_ONCE(mq->q->nr_requests);

	if (likely(nr == mq->cfg.nr_requests))
		return;
	read_queue(mq, &mq->cfg, nr);
	WARN_ON_ONCE(weir_reconfigure(mq->w, &mq->cfg, now));
}

/* ---- requests ---- */

static enum weir_op op_of(blk_opf_t opf)
{
	switch (opf & REQ_OP_MASK) {
	case REQ_OP_READ:
		return WEIR_OP_READ;
	case REQ_OP_FLUSH:
		return WEIR_OP_FLUSH;
	case REQ_OP_DISCARD:
	case REQ_OP_SECURE_ERASE:
		return WEIR_OP_DISCARD;
	case REQ_OP_WRITE_ZEROES:
		return WEIR_OP_WRITE_ZEROES;
	default:
		return WEIR_OP_WRITE;
	}
}

static void describe(struct weir_rq *to, blk_opf_t opf, sector_t sector, u32 nr_sectors,
		     struct weir_group *g)
{
	weir_rq_init(to, op_of(opf), sector, nr_sectors, g, NULL);
	if (op_is_sync(opf))
		to->flags |= WEIR_RQ_SYNC;
	if (opf & REQ_FUA)
		to->flags |= WEIR_RQ_FUA;
	if (opf & REQ_PREFLUSH)
		to->flags |= WEIR_RQ_PREFLUSH;
	if (opf & (REQ_META | REQ_SWAP))
		to->flags |= WEIR_RQ_META;
	if (opf & REQ_NOMERGE_FLAGS)
		to->flags |= WEIR_RQ_NOMERGE;
	if (opf & REQ_IDLE)
		to->flags |= WEIR_RQ_IDLE_OK;
}

static void describe_request(struct weir_rq *to, struct request *rq, struct weir_group *g,
			     struct weir_ctx *ctx)
{
	u16 ioprio = req_get_ioprio(rq);

	describe(to, rq->cmd_flags, blk_rq_pos(rq), blk_rq_sectors(rq), g);
	to->ctx = ctx;
	to->ioprio_class = IOPRIO_PRIO_CLASS(ioprio);
	to->ioprio_level = IOPRIO_PRIO_LEVEL(ioprio);
}

static struct weir_mq_rq *slot_of(struct request *rq)
{
	struct weir_mq_hctx *h = rq->mq_hctx->sched_data;

	return WARN_ON_ONCE((u32)rq->internal_tag >= h->nr) ? NULL : &h->rq[rq->internal_tag];
}

/* ---- merging: the core looks for candidates; the block layer's own hash stays empty ---- */

static void forget_merges(struct request_queue *q, struct request *rq)
{
	/* Requests get there when they have grown. */
	elv_rqhash_del(q, rq);
	if (q->last_merge == rq)
		q->last_merge = NULL;
}

static struct request *find_merge(struct weir_mq *mq, enum weir_merge *kind)
{
	struct weir_rq *into = NULL;

	*kind = weir_merge_find(mq->w, mq->merging, &into, mq->merging_ns);
	return into ? container_of(into, struct weir_mq_rq, rq)->req : NULL;
}

/* Of requests in a plug, too, which the core does not know yet. */
static bool allow_merge(struct request_queue *q, struct request *rq, struct bio *bio)
{
	struct weir_mq *mq = weir_mq_of(q);
	enum weir_merge kind;

	return !weir_mq_rq(rq) || (mq->merging && find_merge(mq, &kind) == rq);
}

static int request_merge(struct request_queue *q, struct request **into, struct bio *bio)
{
	enum weir_merge kind;
	struct request *rq = find_merge(weir_mq_of(q), &kind);

	if (!rq || !elv_bio_merge_ok(rq, bio))
		return ELEVATOR_NO_MERGE;
	*into = rq;
	return kind == WEIR_MERGE_BACK ? ELEVATOR_BACK_MERGE : ELEVATOR_FRONT_MERGE;
}

static void request_merged(struct request_queue *q, struct request *rq, enum elv_merge kind)
{
	struct weir_mq *mq = weir_mq_of(q);

	if (kind == ELEVATOR_BACK_MERGE || kind == ELEVATOR_FRONT_MERGE)
		weir_merge_bio(mq->w, &weir_mq_rq(rq)->rq, mq->merging,
			       kind == ELEVATOR_BACK_MERGE ? WEIR_MERGE_BACK : WEIR_MERGE_FRONT,
			       mq->merging_ns);
}

/*
 * On insertion. `next` is what is being inserted, which the core does not know yet and is like a bio
 * to it; or, once that has joined another, the two of them, which then join one before them.
 */
static void requests_merged(struct request_queue *q, struct request *into, struct request *next)
{
	struct weir_mq *mq = weir_mq_of(q);
	struct weir_rq *to = &weir_mq_rq(into)->rq;

	if (weir_mq_rq(next)) {
		forget_merges(q, next);
		weir_merge_rq(mq->w, to, &weir_mq_rq(next)->rq, mq->merging_ns);
	} else {
		weir_merge_bio(mq->w, to, mq->merging, WEIR_MERGE_BACK, mq->merging_ns);
	}
}

static bool merge_bio(struct weir_mq *mq, struct weir_mq_group *mg, struct bio *bio,
		      const struct weir_mq_icq *icq, unsigned int nr_segs, u64 now,
		      struct request **free)
{
	struct weir_rq desc;
	bool merged;

	describe(&desc, bio->bi_opf, bio->bi_iter.bi_sector, bio_sectors(bio), mg->g);
	desc.ctx = weir_mq_bio_ctx(icq, bio, mg->g);
	mq->merging = &desc;
	mq->merging_ns = now;
	merged = blk_mq_sched_try_merge(mq->q, bio, nr_segs, free);
	mq->merging = NULL;
	return merged;
}

/* The last that is asked about a bio before it takes a tag: if it doesn't merge, may it have one? */
static bool bio_merge(struct request_queue *q, struct bio *bio, unsigned int nr_segs)
{
	struct weir_mq *mq = weir_mq_of(q);
	enum weir_mq_verdict verdict = WEIR_MQ_GO;
	struct weir_mq_icq *icq = NULL;
	struct request *free = NULL;
	struct weir_mq_waiter wt;
	struct weir_mq_group *mg;
	unsigned long flags;
	bool merged = false, may_merge;
	u64 now;

	/* Without the lock: it may take queue_lock, and leaves interrupts on. */
	may_merge = weir_nr_waiting(mq->w);
	if (may_merge)
		icq = weir_mq_submitting(q);
	spin_lock_irqsave(&mq->lock, flags);
	now = weir_mq_now();
	follow_depth(mq, now);
	mg = weir_mq_bio_group(mq, bio);
	if (may_merge)
		merged = merge_bio(mq, mg, bio, icq, nr_segs, now, &free);
	if (!merged)
		verdict = weir_mq_admit(mq, mg, bio, &wt, now);
	spin_unlock_irqrestore(&mq->lock, flags);
	if (free)
		blk_mq_free_request(free);
	if (verdict == WEIR_MQ_WAIT)
		weir_mq_wait(mq, &wt);
	if (verdict == WEIR_MQ_WOULD_BLOCK)
		bio_wouldblock_error(bio);
	return merged || verdict == WEIR_MQ_WOULD_BLOCK;
}

/* No tags in advance for a plug: who then waits for a place would keep them from the others. */
static void limit_depth(blk_opf_t opf, struct blk_mq_alloc_data *data)
{
	data->nr_tags = 1;
}

/* ---- insertion, dispatch, completion ---- */

/* The block layer tries what it takes for the last one that was merged into. */
static bool merge_inserted(struct weir_mq *mq, struct request *rq, const struct weir_rq *desc,
			   u64 now, struct list_head *free)
{
	enum weir_merge kind;
	struct request *into;
	bool merged = false;

	if (!weir_nr_waiting(mq->w) || !rq_mergeable(rq))
		return false;
	mq->merging = desc;
	mq->merging_ns = now;
	into = find_merge(mq, &kind);
	if (kind == WEIR_MERGE_BACK) {
		mq->q->last_merge = into;
		merged = blk_mq_sched_try_insert_merge(mq->q, rq, free);
	}
	mq->merging = NULL;
	return merged;
}

static void insert(struct weir_mq *mq, struct request *rq, const struct weir_mq_submitter *who,
		   bool at_head, u64 now, struct list_head *free)
{
	enum weir_dir dir = weir_op_dir(op_of(rq->cmd_flags));
	struct weir_mq_group *mg = weir_mq_bio_group(mq, rq->bio);
	struct weir_mq_rq *slot = weir_mq_rq(rq);
	bool admitted;

	if (slot) { /* the driver gave it back */
		weir_requeue(mq->w, &slot->rq, WEIR_REQUEUE_INSERT, now);
		return;
	}
	admitted = weir_mq_admitted(mq, mg, dir, blk_rq_bytes(rq), now);
	slot = slot_of(rq);
	describe_request(&slot->rq, rq, mg->g, weir_mq_rq_ctx(mq, who, rq, mg->g));
	if (!at_head && merge_inserted(mq, rq, &slot->rq, now, free)) {
		if (admitted)
			weir_release(mq->w, mg->g, dir, now);
		return;
	}
	rq->elv.priv[0] = slot;
	slot->req = rq;
	slot->admitted = admitted ? mg->g : NULL;
	weir_insert(mq->w, &slot->rq, at_head ? WEIR_HEAD : WEIR_TAIL, now);
}

static void insert_requests(struct blk_mq_hw_ctx *hctx, struct list_head *list, blk_insert_t how)
{
	struct weir_mq *mq = weir_mq_of(hctx->queue);
	struct weir_mq_submitter who;
	unsigned long flags;
	LIST_HEAD(free);
	u64 now;

	weir_mq_submitter(mq->q, &who);
	spin_lock_irqsave(&mq->lock, flags);
	now = weir_mq_now();
	follow_depth(mq, now);
	while (!list_empty(list)) {
		struct request *rq = list_first_entry(list, struct request, queuelist);

		list_del_init(&rq->queuelist);
		insert(mq, rq, &who, how & BLK_MQ_INSERT_AT_HEAD, now, &free);
	}
	weir_mq_watch(mq);
	spin_unlock_irqrestore(&mq->lock, flags);
	blk_mq_free_requests(&free);
}

static struct request *dispatch_request(struct blk_mq_hw_ctx *hctx)
{
	struct weir_mq *mq = weir_mq_of(hctx->queue);
	struct request *rq = NULL;
	struct weir_next next = {.at_ns = WEIR_NEVER};
	unsigned long flags;
	struct weir_rq *r;
	u64 now;

	spin_lock_irqsave(&mq->lock, flags);
	now = weir_mq_now();
	WRITE_ONCE(mq->ask, false);
	r = weir_mq_watch_minds(mq) ? weir_mq_watch_dispatch(mq, now, &next)
				    : weir_dispatch(mq->w, now, &next);
	if (r) {
		mq->nr_dispatched++;
		rq = container_of(r, struct weir_mq_rq, rq)->req;
		forget_merges(mq->q, rq);
		rq->rq_flags |= RQF_STARTED;
	} else if (weir_nr_waiting(mq->w)) {
		mq->starved = true;
		mq->nr_none++;
		mq->next_ns = next.at_ns;
		/* Whatever else should have run the queue: nothing waits for longer than this. */
		next.at_ns = min(next.at_ns, now + LOOK_NS);
		hrtimer_start(&mq->timer, ns_to_ktime(next.at_ns), HRTIMER_MODE_ABS);
	}
	spin_unlock_irqrestore(&mq->lock, flags);
	return rq;
}

static bool has_work(struct blk_mq_hw_ctx *hctx)
{
	struct weir_mq *mq = weir_mq_of(hctx->queue);

	/* The time is asked for only if the answer depends on it. */
	return READ_ONCE(mq->ask) || weir_may_dispatch(mq->w, 0) ||
	       (weir_nr_waiting(mq->w) && weir_may_dispatch(mq->w, weir_mq_now()));
}

static void prepare_request(struct request *rq)
{
	weir_mq_ctx_prepare(rq);
	rq->elv.priv[0] = NULL;
}

/* It is over, whether it was completed, failed, merged away or never started. */
static void finish_request(struct request *rq)
{
	struct weir_mq *mq = weir_mq_of(rq->q);
	struct weir_mq_rq *slot = weir_mq_rq(rq);
	unsigned long flags;
	bool kick;
	u64 now;

	weir_mq_ctx_finish(rq);
	if (!slot)
		return;
	rq->elv.priv[0] = NULL;
	spin_lock_irqsave(&mq->lock, flags);
	now = weir_mq_now();
	if (slot->rq.state == WEIR_RQ_DISPATCHED) {
		weir_complete(mq->w, &slot->rq, now);
	} else if (slot->rq.state != WEIR_RQ_NEW) {
		forget_merges(mq->q, rq);
		weir_remove(mq->w, &slot->rq, now);
	}
	if (slot->admitted)
		weir_release(mq->w, slot->admitted, weir_op_dir(slot->rq.op), now);
	kick = weir_mq_must_kick(mq, now);
	spin_unlock_irqrestore(&mq->lock, flags);
	if (kick)
		weir_mq_kick(mq);
}

/* ---- queues ---- */

static int init_hctx(struct blk_mq_hw_ctx *hctx, unsigned int index)
{
	struct weir_mq_hctx *h;

	h = kvzalloc_node(struct_size(h, rq, hctx->queue->nr_requests), GFP_KERNEL,
			  hctx->numa_node);
	if (!h)
		return -ENOMEM;
	h->nr = hctx->queue->nr_requests;
	hctx->sched_data = h;
	return 0;
}

static void set_slots(struct blk_mq_hw_ctx *hctx, struct weir_mq_hctx *h)
{
	struct weir_mq *mq = weir_mq_of(hctx->queue);
	struct weir_mq_hctx *before = hctx->sched_data;
	unsigned long flags;

	spin_lock_irqsave(&mq->lock, flags);
	hctx->sched_data = h;
	spin_unlock_irqrestore(&mq->lock, flags);
	kvfree(before);
}

static void exit_hctx(struct blk_mq_hw_ctx *hctx, unsigned int index)
{
	set_slots(hctx, NULL);
}

/*
 * The queue is frozen: no request is anywhere. nr_requests follows later, and the number of tags does
 * not shrink with it: they are as many as there ever were.
 */
static void depth_updated(struct blk_mq_hw_ctx *hctx)
{
	struct weir_mq *mq = weir_mq_of(hctx->queue);
	u32 nr = hctx->sched_tags->nr_tags;
	struct weir_mq_hctx *h = hctx->sched_data;
	unsigned long flags;

	if (nr > h->nr) {
		h = kvzalloc_node(struct_size(h, rq, nr), GFP_KERNEL | __GFP_NOFAIL,
				  hctx->numa_node);
		h->nr = nr;
		set_slots(hctx, h);
	}
	spin_lock_irqsave(&mq->lock, flags);
	weir_mq_forget_places(mq);
	spin_unlock_irqrestore(&mq->lock, flags);
}

static void mq_free(struct weir_mq *mq)
{
	WARN_ON_ONCE(mq->nr_contexts);
	if (mq->w)
		weir_destroy(mq->w);
	vfree(mq->debug.ring);
	kfree(mq);
}

static int init_sched(struct request_queue *q, struct elevator_type *type)
{
	struct elevator_queue *eq = elevator_alloc(q, type);
	struct weir_host host = {
		.alloc = core_alloc,
		.free = core_free,
		.wake = weir_mq_wake,
		.note = core_note,
	};
	struct weir_mq *mq;
	int ret = -ENOMEM;

	if (!eq)
		return -ENOMEM;
	weir_mq_sysfs_adopt(eq);
	mq = kzalloc_node(sizeof(*mq), GFP_KERNEL, q->node);
	if (!mq)
		goto put;
	spin_lock_init(&mq->lock);
	INIT_LIST_HEAD(&mq->groups);
	mutex_init(&mq->policy_lock);
	weir_mq_watch_init(mq);
	mq->q = q;
	hrtimer_init(&mq->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	mq->timer.function = timer_fires;
	weir_config_init(&mq->cfg);
	read_queue(mq, &mq->cfg, q->nr_requests);
	host.priv = mq;
	mq->w = weir_create(&mq->cfg, &host, weir_policy_find("weir"), NULL, weir_mq_now(), &ret);
	if (!mq->w)
		goto free;
	eq->elevator_data = mq;
	spin_lock_irq(&q->queue_lock);
	q->elevator = eq;
	spin_unlock_irq(&q->queue_lock);
	ret = blkcg_activate_policy(q->disk, &weir_mq_blkcg_policy);
	if (ret)
		goto free;
	blk_queue_flag_set(QUEUE_FLAG_SQ_SCHED, q);
	wbt_disable_default(q->disk);
	weir_mq_debug_add(mq);
	return 0;
free:
	mq_free(mq);
put:
	kobject_put(&eq->kobj);
	return ret;
}

static void exit_sched(struct elevator_queue *eq)
{
	struct weir_mq *mq = eq->elevator_data;

	weir_mq_debug_remove(mq);
	weir_mq_watch_stop(mq);
	blkcg_deactivate_policy(mq->q->disk, &weir_mq_blkcg_policy);
	hrtimer_cancel(&mq->timer); /* which the cgroups' files start */
	wbt_enable_default(mq->q->disk);
	mq_free(mq);
}

struct elevator_type weir_mq_elevator = {
	.ops =
		{
			.init_sched = init_sched,
			.exit_sched = exit_sched,
			.init_hctx = init_hctx,
			.exit_hctx = exit_hctx,
			.depth_updated = depth_updated,
			.limit_depth = limit_depth,
			.allow_merge = allow_merge,
			.bio_merge = bio_merge,
			.request_merge = request_merge,
			.request_merged = request_merged,
			.requests_merged = requests_merged,
			.exit_icq = weir_mq_exit_icq,
			.prepare_request = prepare_request,
			.finish_request = finish_request,
			.insert_requests = insert_requests,
			.dispatch_request = dispatch_request,
			.has_work = has_work,
		},
	.icq_size = sizeof(struct weir_mq_icq),
	.icq_align = __alignof__(struct weir_mq_icq),
	.elevator_name = "weir",
	.elevator_owner = THIS_MODULE,
};
