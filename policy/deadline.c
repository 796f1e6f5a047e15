/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * deadline: sector order in batches, reads first, and a bound on how long a request waits for its
 * start. The single-queue Linux scheduler of that name; groups and priorities are unknown to it.
 *
 * Each direction has its requests twice: in a tree by position, and in a list by expiry. A batch is
 * a run upwards through one tree, fifo_batch requests long at most. Between batches a direction is
 * chosen: reads, until writes have stood back writes_starved times; and a starting point: where the
 * last batch stopped, if it was of this direction, has more above it, and nothing has expired; else
 * the oldest request.
 *
 * So expiry is looked at between batches only. A request starts no later than its expiry, plus the
 * rest of a batch in each direction, plus the batches of reads that writes_starved allows, plus all
 * that expired before it, plus what is queued in the device.
 *
 * Example, both directions saturated, defaults: 16 reads, 16 reads, 16 writes, 16 reads, ...
 *
 * Flushes and requests put at the head never go through the trees: the block layer keeps them in
 * the driver's queue, before all that the scheduler holds. Here they are the express list, and
 * nothing merges with them.
 *
 * Hooks are O(log n) in queued requests: insert, dispatch, remove, front merges; others O(1).
 */
#include "policy/deadline.h"

#include "core/assert.h"
#include "core/fixed.h"
#include "core/spi_state.h"

enum {
	READ_EXPIRE,
	WRITE_EXPIRE,
	WRITES_STARVED,
	FIFO_BATCH,
	FRONT_MERGES,
};

/* The kernel keeps these in an int. */
#define TUNABLE_MAX INT32_MAX

static const struct weir_tunable deadline_tunables[] = {
	[READ_EXPIRE] = {"read_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 500, "expiry of reads"},
	[WRITE_EXPIRE] = {"write_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 5000, "expiry of writes"},
	[WRITES_STARVED] = {"writes_starved", WEIR_UNIT_COUNT, 0, TUNABLE_MAX, 2,
			    "batches of reads that may go before waiting writes"},
	[FIFO_BATCH] = {"fifo_batch", WEIR_UNIT_COUNT, 0, TUNABLE_MAX, 16,
			"requests in a batch; 1 is nearly first come, first served"},
	[FRONT_MERGES] = {"front_merges", WEIR_UNIT_BOOL, 0, 1, 1,
			  "search for requests that a bio can be put before"},
	{.name = NULL},
};

struct deadline {
	struct deadline_device device;
	struct deadline_queue queue;
	struct weir_list express; /* rq->link */
};

/* In rq->policy. */
struct deadline_rq {
	struct weir_sorted_rq sorted;
	bool express; /* the policy's: not in the queue */
};

_Static_assert(sizeof(struct deadline_rq) <= ORDER_RQ_BYTES, "does not fit into a request");

static struct deadline_rq *deadline_rq(struct weir_rq *rq)
{
	return (struct deadline_rq *)rq->policy;
}

static const struct deadline_rq *deadline_rq_const(const struct weir_rq *rq)
{
	return (const struct deadline_rq *)rq->policy;
}

static struct deadline_dir *dir_of(struct deadline_queue *q, const struct weir_rq *rq)
{
	return &q->dir[weir_op_dir((enum weir_op)rq->op)];
}

/* ---- the order ---- */

static void queue_init(struct weir *w, void *queue, void *device)
{
	struct deadline_queue *q = queue;
	int dir;

	(void)w;
	__builtin_memset(q, 0, sizeof(*q));
	q->device = device;
	for (dir = 0; dir < WEIR_NR_DIRS; dir++)
		weir_sorted_init(&q->dir[dir].sorted);
}

static void queue_insert(struct weir *w, void *queue, struct weir_rq *rq)
{
	struct deadline_queue *q = queue;

	weir_sorted_insert(
		&dir_of(q, rq)->sorted, rq,
		weir_add_sat(weir_now(w), q->device->expire_ns[weir_op_dir((enum weir_op)rq->op)]));
}

static void queue_remove(struct weir *w, void *queue, struct weir_rq *rq)
{
	struct deadline_dir *dir = dir_of(queue, rq);

	(void)w;
	/* A batch goes on past the gap. */
	if (dir->next == rq)
		dir->next = weir_sorted_next(rq);
	weir_sorted_remove(&dir->sorted, rq);
}

/* Between batches: reads, or it's time for writes. One of the lists has something. */
static struct deadline_dir *choose_dir(struct deadline_queue *q)
{
	struct deadline_dir *read = &q->dir[WEIR_READ], *write = &q->dir[WEIR_WRITE];

	if (weir_sorted_is_empty(&read->sorted))
		return write;
	if (weir_sorted_is_empty(&write->sorted) || q->starved < q->device->writes_starved)
		return read;
	return write;
}

/* The request that goes next; *begins: with a new batch. */
static struct weir_rq *choose(struct weir *w, struct deadline_queue *q, bool *begins)
{
	struct weir_rq *rq = q->dir[WEIR_WRITE].next, *oldest;
	struct deadline_dir *dir;

	*begins = false;
	if (!rq)
		rq = q->dir[WEIR_READ].next;
	if (rq && q->batching < q->device->fifo_batch)
		return rq;
	*begins = true;
	dir = choose_dir(q);
	oldest = weir_sorted_oldest(&dir->sorted);
	if (!oldest || !dir->next || weir_now(w) >= weir_sorted_rq(oldest)->expires_ns)
		return oldest;
	return dir->next;
}

static void begin_batch(struct deadline_queue *q, const struct weir_rq *rq)
{
	q->batching = 0;
	if (rq->op != WEIR_OP_READ)
		q->starved = 0;
	else if (!weir_sorted_is_empty(&q->dir[WEIR_WRITE].sorted))
		q->starved++;
}

static struct weir_rq *queue_dispatch(struct weir *w, void *queue, bool force,
				      struct weir_verdict *v)
{
	struct deadline_queue *q = queue;
	struct weir_rq *rq, *next;
	bool begins;

	(void)force; /* it never waits anyway */
	(void)v;
	rq = choose(w, q, &begins);
	if (!rq)
		return NULL;
	if (begins)
		begin_batch(q, rq);
	q->batching++;
	next = weir_sorted_next(rq);
	queue_remove(w, q, rq);
	q->dir[WEIR_READ].next = NULL;
	q->dir[WEIR_WRITE].next = NULL;
	dir_of(q, rq)->next = next;
	return rq;
}

static struct weir_rq *queue_find_front(struct weir *w, void *queue, const struct weir_rq *bio)
{
	struct deadline_queue *q = queue;

	(void)w;
	/* Without the search, the core's hint still finds some. */
	if (!q->device->front_merges)
		return NULL;
	return weir_sorted_at(&dir_of(q, bio)->sorted, weir_rq_end(bio));
}

static void queue_merged(struct weir *w, void *queue, struct weir_rq *rq, enum weir_merge kind)
{
	(void)w;
	if (kind == WEIR_MERGE_FRONT)
		weir_sorted_moved(&dir_of(queue, rq)->sorted, rq);
}

static void queue_joining(struct weir *w, void *queue, struct weir_rq *first,
			  struct weir_rq *second)
{
	(void)w;
	(void)queue;
	weir_sorted_join(first, second);
}

static struct weir_rq *queue_latter(void *queue, struct weir_rq *rq)
{
	(void)queue;
	return weir_sorted_next(rq);
}

static struct weir_rq *queue_former(void *queue, struct weir_rq *rq)
{
	(void)queue;
	return weir_sorted_prev(rq);
}

const struct weir_order weir_order_deadline = {
	.init = queue_init,
	.insert = queue_insert,
	.remove = queue_remove,
	.dispatch = queue_dispatch,
	.find_front = queue_find_front,
	.merged = queue_merged,
	.joining = queue_joining,
	.latter = queue_latter,
	.former = queue_former,
};

/* ---- the policy ---- */

static void deadline_tuned(struct weir *w, unsigned int index)
{
	struct deadline *dl = weir_policy_data(w);
	struct deadline_device *d = &dl->device;

	(void)index;
	d->expire_ns[WEIR_READ] = weir_policy_tunable(w, READ_EXPIRE) * WEIR_NS_PER_MS;
	d->expire_ns[WEIR_WRITE] = weir_policy_tunable(w, WRITE_EXPIRE) * WEIR_NS_PER_MS;
	d->writes_starved = weir_policy_tunable(w, WRITES_STARVED);
	d->fifo_batch = weir_policy_tunable(w, FIFO_BATCH);
	d->front_merges = weir_policy_tunable(w, FRONT_MERGES);
}

static int deadline_init(struct weir *w)
{
	struct deadline *dl = weir_policy_data(w);

	deadline_tuned(w, UINT32_MAX);
	queue_init(w, &dl->queue, &dl->device);
	list_init(&dl->express);
	return 0;
}

static void deadline_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct deadline *dl = weir_policy_data(w);

	deadline_rq(rq)->express = weir_goes_express(rq, where);
	if (deadline_rq(rq)->express)
		weir_express_add(&dl->express, rq, where);
	else
		queue_insert(w, &dl->queue, rq);
}

static void deadline_remove(struct weir *w, struct weir_rq *rq)
{
	struct deadline *dl = weir_policy_data(w);

	if (deadline_rq(rq)->express)
		list_unlink(&rq->link);
	else
		queue_remove(w, &dl->queue, rq);
}

static struct weir_rq *deadline_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct deadline *dl = weir_policy_data(w);
	struct weir_rq *rq = weir_express_take(&dl->express);

	return rq ? rq : queue_dispatch(w, &dl->queue, force, v);
}

static struct weir_group *deadline_next_group(struct weir *w)
{
	struct deadline *dl = weir_policy_data(w);
	struct weir_rq *rq;
	bool begins;

	if (!list_is_empty(&dl->express))
		return list_first(&dl->express, struct weir_rq, link)->group;
	rq = choose(w, &dl->queue, &begins);
	return rq ? rq->group : NULL;
}

static bool deadline_may_merge(struct weir *w, const struct weir_rq *rq, const struct weir_rq *bio,
			       uint32_t nr_sectors)
{
	(void)w;
	(void)bio;
	(void)nr_sectors;
	return !deadline_rq_const(rq)->express;
}

static struct weir_rq *deadline_find_front(struct weir *w, const struct weir_rq *bio)
{
	struct deadline *dl = weir_policy_data(w);

	return queue_find_front(w, &dl->queue, bio);
}

static void deadline_merged(struct weir *w, struct weir_rq *rq, enum weir_merge kind,
			    uint64_t added_cost_ns)
{
	struct deadline *dl = weir_policy_data(w);

	(void)added_cost_ns;
	weir_assert(!deadline_rq(rq)->express);
	queue_merged(w, &dl->queue, rq, kind);
}

static void deadline_joining(struct weir *w, struct weir_rq *first, struct weir_rq *second)
{
	struct deadline *dl = weir_policy_data(w);

	weir_assert(!deadline_rq(first)->express && !deadline_rq(second)->express);
	queue_joining(w, &dl->queue, first, second);
}

static struct weir_rq *deadline_latter(struct weir *w, struct weir_rq *rq)
{
	struct deadline *dl = weir_policy_data(w);

	return deadline_rq(rq)->express ? NULL : queue_latter(&dl->queue, rq);
}

static struct weir_rq *deadline_former(struct weir *w, struct weir_rq *rq)
{
	struct deadline *dl = weir_policy_data(w);

	return deadline_rq(rq)->express ? NULL : queue_former(&dl->queue, rq);
}

const struct weir_policy weir_policy_deadline = {
	.info =
		{
			.name = "deadline",
			.help = "sector order in batches, reads first, bounded waiting",
			.tunables = deadline_tunables,
		},
	.instance_size = sizeof(struct deadline),
	.init = deadline_init,
	.insert = deadline_insert,
	.dispatch = deadline_dispatch,
	.next_group = deadline_next_group,
	.remove = deadline_remove,
	.may_merge = deadline_may_merge,
	.find_front = deadline_find_front,
	.merged = deadline_merged,
	.joining = deadline_joining,
	.latter = deadline_latter,
	.former = deadline_former,
	.tuned = deadline_tuned,
};
