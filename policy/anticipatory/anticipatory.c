/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * anticipatory: after a read the device is kept idle for a moment, if the process that it was for is
 * likely to ask for something near at once. The single-queue Linux scheduler of that name, for disks
 * with an arm; groups and priorities are unknown to it.
 *
 * The problem. A process that reads synchronously issues its next read after the previous one has
 * completed. A scheduler that never waits takes the arm away in that gap, to somebody else's place,
 * and back for the next read: two such readers get a seek for each request. Waiting costs a fraction
 * of a millisecond and saves two seeks of 8 ms.
 *
 * The rule. The last request was a read of a process P. Before another request goes, P is given
 * antic_expire (6.67 ms) from the completion of its read. The wait ends, or doesn't begin, when
 *
 *	P has something queued;
 *	a read of anybody comes that is as near to the arm as P's usually are;
 *	P has exited, and the neighbours of those that exited seldom came close;
 *	P, or a process without history, is not worth it: it thinks for longer than antic_expire, or
 *	such processes seldom come back.
 *
 * For that, each process has its mean think time and its mean seek distance, with a decay of 7/8,
 * and the device has those of first steps: process.c, wait.c.
 *
 * Below that is an elevator: batches of reads and writes by turns, 500 ms and 125 ms when both wait,
 * sector order within a batch, and expiry looked at once per read_expire: batch.c, queue.c. With
 * waiting on, one read is in the device at a time, unless a near one of another process joins it.
 *
 * Example: A and B read sequentially, 128 KiB each, at the two ends of a disk that reads 128 KiB in
 * 1 ms and seeks in 15 ms; each thinks for 0.2 ms. Without waiting each read costs 16 ms: 8 MB/s for
 * both. With it A reads for 125 ms at 1.2 ms a request, until B's read has expired and goes, and
 * then B: 104 requests for 15 ms of seek, 117 MB/s.
 *
 * Where this differs from the original:
 *   - time is exact. Ticks are gone: antic_expire is 6.67 ms and not 6 (HZ = 1000) or 10 (HZ = 100);
 *     the first guess of the writes' budget is that of HZ = 1000;
 *   - a process is known to one device alone; in the original one history serves all devices;
 *   - a host asks for one request when it can start it, so there is no dispatch queue in which one
 *     could be "dispatched" without being in the device; except of those that were there first when
 *     another came for the same place: these are kept in a list, and go next;
 *   - the first request of a batch is the oldest, also after the wait for the device to drain, where
 *     the original (2.6.18) forgets its choice and takes the nearest; and the time of a batch of
 *     writes is taken from its own beginning, where that version mixed two clocks up;
 *   - requests that are joined keep the survivor's process; the original keeps the older one's;
 *   - a process that is waited for gets a request even if the pool is empty there; here the core's
 *     admission keeps places for reads that no writes can take (core/admission.h);
 *   - who is waited for is a context; requests without one have no process that could come back.
 *
 * Insert, dispatch and remove are O(log n) in queued requests; completion is O(1).
 */
#include "policy/anticipatory/internal.h"

enum {
	READ_EXPIRE,
	WRITE_EXPIRE,
	READ_BATCH_EXPIRE,
	WRITE_BATCH_EXPIRE,
	ANTIC_EXPIRE,
};

/* The kernel keeps these in an int. */
#define TUNABLE_MAX INT32_MAX

static const struct weir_tunable antic_tunables[] = {
	[READ_EXPIRE] = {"read_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 125,
			 "expiry of sync requests, and how often it is looked at"},
	[WRITE_EXPIRE] = {"write_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 250,
			  "expiry of async requests, and how often it is looked at"},
	[READ_BATCH_EXPIRE] = {"read_batch_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 500,
			       "length of a batch of sync requests while async ones wait"},
	[WRITE_BATCH_EXPIRE] = {"write_batch_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 125,
				"length that a batch of async requests is tuned to"},
	[ANTIC_EXPIRE] = {"antic_expire", WEIR_UNIT_US, 0, TUNABLE_MAX, 6667,
			  "longest wait for a process's next read; 0: none"},
	{.name = NULL},
};

struct antic {
	struct antic_device device;
	struct antic_queue queue;
	struct weir_list express; /* rq->link */
};

static void load(struct weir *w, struct antic_device *d)
{
	d->expire_ns[ANTIC_SYNC] = weir_policy_tunable(w, READ_EXPIRE) * WEIR_NS_PER_MS;
	d->expire_ns[ANTIC_ASYNC] = weir_policy_tunable(w, WRITE_EXPIRE) * WEIR_NS_PER_MS;
	d->batch_ns[ANTIC_SYNC] = weir_policy_tunable(w, READ_BATCH_EXPIRE) * WEIR_NS_PER_MS;
	d->batch_ns[ANTIC_ASYNC] = weir_policy_tunable(w, WRITE_BATCH_EXPIRE) * WEIR_NS_PER_MS;
	d->wait_ns = weir_policy_tunable(w, ANTIC_EXPIRE) * WEIR_NS_PER_US;
}

static int antic_init(struct weir *w)
{
	struct antic *a = weir_policy_data(w);

	load(w, &a->device);
	list_init(&a->express);
	weir_order_anticipatory.init(w, &a->queue, &a->device);
	return 0;
}

static void antic_exit(struct weir *w)
{
	struct antic *a = weir_policy_data(w);

	weir_order_anticipatory.exit(&a->queue);
}

static void antic_tuned(struct weir *w, unsigned int index)
{
	struct antic *a = weir_policy_data(w);

	(void)index;
	load(w, &a->device);
}

static void antic_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct antic *a = weir_policy_data(w);

	antic_rq(rq)->express = weir_goes_express(rq, where);
	if (antic_rq(rq)->express)
		weir_express_add(&a->express, rq, where);
	else
		weir_order_anticipatory.insert(w, &a->queue, rq);
}

static void antic_remove(struct weir *w, struct weir_rq *rq)
{
	struct antic *a = weir_policy_data(w);

	if (antic_rq(rq)->express)
		list_unlink(&rq->link);
	else
		weir_order_anticipatory.remove(w, &a->queue, rq);
}

static struct weir_rq *antic_policy_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct antic *a = weir_policy_data(w);
	struct weir_rq *rq = weir_express_take(&a->express);

	return rq ? rq : antic_dispatch(w, &a->queue, force, v);
}

static struct weir_group *antic_next_group(struct weir *w)
{
	struct antic *a = weir_policy_data(w);
	struct antic_queue *q = &a->queue;
	struct weir_rq *rq;

	if (!list_is_empty(&a->express))
		return list_first(&a->express, struct weir_rq, link)->group;
	if (!list_is_empty(&q->moved))
		return list_first(&q->moved, struct weir_rq, link)->group;
	if (antic_is_waiting(q))
		return NULL;
	rq = q->class[q->batch].next ? q->class[q->batch].next : q->class[!q->batch].next;
	return rq ? rq->group : NULL;
}

static void antic_policy_complete(struct weir *w, struct weir_rq *rq)
{
	struct antic *a = weir_policy_data(w);

	if (!antic_rq(rq)->express)
		antic_complete(w, &a->queue, rq);
}

static void antic_undispatch(struct weir *w, struct weir_rq *rq)
{
	struct antic *a = weir_policy_data(w);

	if (!antic_rq(rq)->express)
		weir_order_anticipatory.undispatch(w, &a->queue, rq);
}

/* ---- merging ---- */

static bool antic_may_merge(struct weir *w, const struct weir_rq *rq, const struct weir_rq *bio,
			    uint32_t nr_sectors)
{
	(void)w;
	(void)bio;
	(void)nr_sectors;
	return !((const struct antic_rq *)rq->policy)->express &&
	       weir_order_anticipatory.may_merge(rq);
}

static struct weir_rq *antic_find_front(struct weir *w, const struct weir_rq *bio)
{
	struct antic *a = weir_policy_data(w);

	return weir_order_anticipatory.find_front(w, &a->queue, bio);
}

static void antic_merged(struct weir *w, struct weir_rq *rq, enum weir_merge kind,
			 uint64_t added_cost_ns)
{
	struct antic *a = weir_policy_data(w);

	(void)added_cost_ns;
	weir_order_anticipatory.merged(w, &a->queue, rq, kind);
}

static void antic_joining(struct weir *w, struct weir_rq *first, struct weir_rq *second)
{
	struct antic *a = weir_policy_data(w);

	weir_order_anticipatory.joining(w, &a->queue, first, second);
}

static struct weir_rq *antic_latter(struct weir *w, struct weir_rq *rq)
{
	struct antic *a = weir_policy_data(w);

	return antic_rq(rq)->express ? NULL : weir_order_anticipatory.latter(&a->queue, rq);
}

static struct weir_rq *antic_former(struct weir *w, struct weir_rq *rq)
{
	struct antic *a = weir_policy_data(w);

	return antic_rq(rq)->express ? NULL : weir_order_anticipatory.former(&a->queue, rq);
}

/* ---- processes ---- */

static void antic_ctx_online(struct weir *w, struct weir_ctx *ctx)
{
	(void)w;
	antic_process_init(ctx->policy, ctx);
}

static void antic_ctx_offline(struct weir *w, struct weir_ctx *ctx)
{
	(void)w;
	antic_process_exit(ctx->policy);
}

const struct weir_policy weir_policy_anticipatory = {
	.info =
		{
			.name = "anticipatory",
			.help = "waits a moment for the next read of a process",
			.tunables = antic_tunables,
		},
	.instance_size = sizeof(struct antic),
	.ctx_size = sizeof(struct antic_process),
	.init = antic_init,
	.exit = antic_exit,
	.ctx_online = antic_ctx_online,
	.ctx_offline = antic_ctx_offline,
	.insert = antic_insert,
	.dispatch = antic_policy_dispatch,
	.next_group = antic_next_group,
	.complete = antic_policy_complete,
	.undispatch = antic_undispatch,
	.remove = antic_remove,
	.may_merge = antic_may_merge,
	.find_front = antic_find_front,
	.merged = antic_merged,
	.joining = antic_joining,
	.latter = antic_latter,
	.former = antic_former,
	.tuned = antic_tuned,
};
