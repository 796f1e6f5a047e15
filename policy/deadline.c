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
#include "core/assert.h"
#include "core/fixed.h"
#include "core/spi.h"
#include "core/spi_state.h"
#include "policy/sorted.h"

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

struct deadline_dir {
	struct weir_sorted sorted;
	struct weir_rq *next; /* continues the current batch, or NULL */
};

struct deadline {
	struct deadline_dir dir[WEIR_NR_DIRS];
	struct weir_list express; /* rq->link */
	uint32_t batching;	  /* requests that the current batch has had */
	uint32_t starved;	  /* times that waiting writes have stood back */
};

/* In rq->policy. */
struct deadline_rq {
	struct weir_sorted_rq sorted;
	bool express;
};

_Static_assert(sizeof(struct deadline_rq) <= WEIR_RQ_POLICY_BYTES, "does not fit into a request");

static struct deadline_rq *deadline_rq(struct weir_rq *rq)
{
	return (struct deadline_rq *)rq->policy;
}

static const struct deadline_rq *deadline_rq_const(const struct weir_rq *rq)
{
	return (const struct deadline_rq *)rq->policy;
}

static struct deadline_dir *dir_of(struct deadline *dl, const struct weir_rq *rq)
{
	return &dl->dir[weir_op_dir((enum weir_op)rq->op)];
}

static int deadline_init(struct weir *w)
{
	struct deadline *dl = weir_policy_data(w);
	int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++)
		weir_sorted_init(&dl->dir[dir].sorted);
	list_init(&dl->express);
	return 0;
}

static void deadline_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct deadline *dl = weir_policy_data(w);
	struct deadline_rq *drq = deadline_rq(rq);
	bool is_read = rq->op == WEIR_OP_READ;

	drq->express = where == WEIR_HEAD || rq->op == WEIR_OP_FLUSH;
	if (where == WEIR_HEAD) {
		list_push_front(&dl->express, &rq->link);
		return;
	}
	if (drq->express) {
		list_push_back(&dl->express, &rq->link);
		return;
	}
	weir_sorted_insert(
		&dir_of(dl, rq)->sorted, rq,
		weir_add_sat(weir_now(w),
			     weir_policy_tunable(w, is_read ? READ_EXPIRE : WRITE_EXPIRE) *
				     WEIR_NS_PER_MS));
}

static void deadline_remove(struct weir *w, struct weir_rq *rq)
{
	struct deadline *dl = weir_policy_data(w);
	struct deadline_dir *dir = dir_of(dl, rq);

	if (deadline_rq(rq)->express) {
		list_unlink(&rq->link);
		return;
	}
	/* A batch goes on past the gap. */
	if (dir->next == rq)
		dir->next = weir_sorted_next(rq);
	weir_sorted_remove(&dir->sorted, rq);
}

/* Between batches: reads, or it's time for writes. One of the lists has something. */
static struct deadline_dir *choose_dir(struct weir *w, struct deadline *dl)
{
	struct deadline_dir *read = &dl->dir[WEIR_READ], *write = &dl->dir[WEIR_WRITE];

	if (weir_sorted_is_empty(&read->sorted))
		return write;
	if (weir_sorted_is_empty(&write->sorted) ||
	    dl->starved < weir_policy_tunable(w, WRITES_STARVED))
		return read;
	return write;
}

/* The request that goes next, not from the express list; *begins: with a new batch. */
static struct weir_rq *choose(struct weir *w, struct deadline *dl, bool *begins)
{
	struct weir_rq *rq = dl->dir[WEIR_WRITE].next, *oldest;
	struct deadline_dir *dir;

	*begins = false;
	if (!rq)
		rq = dl->dir[WEIR_READ].next;
	if (rq && dl->batching < weir_policy_tunable(w, FIFO_BATCH))
		return rq;
	*begins = true;
	dir = choose_dir(w, dl);
	oldest = weir_sorted_oldest(&dir->sorted);
	if (!oldest || !dir->next || weir_now(w) >= weir_sorted_rq(oldest)->expires_ns)
		return oldest;
	return dir->next;
}

static void begin_batch(struct deadline *dl, const struct weir_rq *rq)
{
	dl->batching = 0;
	if (rq->op != WEIR_OP_READ)
		dl->starved = 0;
	else if (!weir_sorted_is_empty(&dl->dir[WEIR_WRITE].sorted))
		dl->starved++;
}

static struct weir_rq *deadline_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct deadline *dl = weir_policy_data(w);
	struct weir_rq *rq, *next;
	bool begins;

	(void)force; /* it never waits anyway */
	(void)v;
	if (!list_is_empty(&dl->express)) {
		rq = list_first(&dl->express, struct weir_rq, link);
		list_unlink(&rq->link);
		return rq;
	}
	rq = choose(w, dl, &begins);
	if (!rq)
		return NULL;
	if (begins)
		begin_batch(dl, rq);
	dl->batching++;
	next = weir_sorted_next(rq);
	deadline_remove(w, rq);
	dl->dir[WEIR_READ].next = NULL;
	dl->dir[WEIR_WRITE].next = NULL;
	dir_of(dl, rq)->next = next;
	return rq;
}

static struct weir_group *deadline_next_group(struct weir *w)
{
	struct deadline *dl = weir_policy_data(w);
	struct weir_rq *rq;
	bool begins;

	if (!list_is_empty(&dl->express))
		return list_first(&dl->express, struct weir_rq, link)->group;
	rq = choose(w, dl, &begins);
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
	/* Without the search, the core's hint still finds some. */
	if (!weir_policy_tunable(w, FRONT_MERGES))
		return NULL;
	return weir_sorted_at(&dir_of(weir_policy_data(w), bio)->sorted, weir_rq_end(bio));
}

static void deadline_merged(struct weir *w, struct weir_rq *rq, enum weir_merge kind,
			    uint64_t added_cost_ns)
{
	(void)added_cost_ns;
	weir_assert(!deadline_rq(rq)->express);
	if (kind == WEIR_MERGE_FRONT)
		weir_sorted_moved(&dir_of(weir_policy_data(w), rq)->sorted, rq);
}

static void deadline_joining(struct weir *w, struct weir_rq *first, struct weir_rq *second)
{
	(void)w;
	weir_assert(!deadline_rq(first)->express && !deadline_rq(second)->express);
	weir_sorted_join(first, second);
}

static struct weir_rq *deadline_latter(struct weir *w, struct weir_rq *rq)
{
	(void)w;
	return deadline_rq(rq)->express ? NULL : weir_sorted_next(rq);
}

static struct weir_rq *deadline_former(struct weir *w, struct weir_rq *rq)
{
	(void)w;
	return deadline_rq(rq)->express ? NULL : weir_sorted_prev(rq);
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
};
