// SPDX-License-Identifier: GPL-2.0-only
/*
 * The books, compared with what the instance did and says: see model_books.h.
 *
 * Ceilings are checked from what can be seen outside, each request's leaving the limits stage: at
 * every level of the tree, against the bucket of that level.
 */
#include <string.h>

#include "tests/model_books.h"

/* ---- ceilings ---- */

void books_charge(struct books *b, int group, enum weir_dir dir, uint64_t bytes, uint64_t ios)
{
	for (; group != BOOKS_NONE; group = b->group[group].parent) {
		model_bucket_charge(&b->group[group].bytes[dir], bytes, b->now);
		model_bucket_charge(&b->group[group].ios[dir], ios, b->now);
	}
}

static uint64_t limit_bytes(const struct weir_rq *rq)
{
	if (rq->op == WEIR_OP_DISCARD || rq->op == WEIR_OP_WRITE_ZEROES)
		return WEIR_SECTOR_BYTES;
	return weir_rq_bytes(rq);
}

/* The request never waits for a ceiling; it is charged, as debt. */
static bool goes_free(const struct books *b, const struct book_rq *brq)
{
	return brq->at_head || (brq->rq.flags & WEIR_RQ_META) || brq->rq.op == WEIR_OP_FLUSH ||
	       b->drain;
}

/*
 * All that passed in this call, at one instant. Their order isn't known, but in any order the last
 * has all others before it; with the largest as the last, that is the least that must have fitted.
 */
static void check_bucket(struct books *b, struct model_bucket *bucket, uint64_t sum, uint64_t most)
{
	if (sum)
		BOOKS_CHECK(b, model_bucket_may(bucket, sum - most, b->now));
}

static void check_group_limits(struct books *b, int top, enum weir_dir dir, const bool *passing)
{
	uint64_t bytes = 0, ios = 0, most_bytes = 0, most_ios = 0;
	int n;

	for (n = 0; n < BOOKS_RQS; n++) {
		const struct book_rq *brq = &b->rq[n];
		uint64_t rq_ios = 1 + brq->merged;

		if (!passing[n] || weir_op_dir((enum weir_op)brq->rq.op) != dir ||
		    !books_is_below(b, brq->group, top))
			continue;
		bytes += limit_bytes(&brq->rq);
		ios += rq_ios;
		if (limit_bytes(&brq->rq) > most_bytes)
			most_bytes = limit_bytes(&brq->rq);
		if (rq_ios > most_ios)
			most_ios = rq_ios;
	}
	check_bucket(b, &b->group[top].bytes[dir], bytes, most_bytes);
	check_bucket(b, &b->group[top].ios[dir], ios, most_ios);
}

void books_check_limits(struct books *b)
{
	bool passing[BOOKS_RQS] = {false}, any = false;
	int n, dir;

	for (n = 0; n < BOOKS_RQS; n++) {
		struct book_rq *brq = &b->rq[n];

		if (brq->state == BOOK_FREE || brq->passed || brq->rq.state == WEIR_RQ_HELD)
			continue;
		brq->passed = true;
		passing[n] = !goes_free(b, brq);
		if (passing[n])
			any = true;
		else if (!b->drain && brq->rq.op != WEIR_OP_FLUSH)
			books_charge(b, brq->group, weir_op_dir((enum weir_op)brq->rq.op),
				     limit_bytes(&brq->rq), 1);
	}
	if (!any)
		return;
	for (n = 0; n < BOOKS_GROUPS; n++)
		for (dir = 0; b->group[n].used && dir < WEIR_NR_DIRS; dir++)
			check_group_limits(b, n, (enum weir_dir)dir, passing);
	for (n = 0; n < BOOKS_RQS; n++)
		if (passing[n])
			books_charge(b, b->rq[n].group, weir_op_dir((enum weir_op)b->rq[n].rq.op),
				     limit_bytes(&b->rq[n].rq), 1 + b->rq[n].merged);
}

/* ---- statistics ---- */

/*
 * Entitlement is rounded below a nanosecond at each event, and what a division leaves over is given
 * out later, also after a reset.
 */
#define ROUNDING_NS 1000

static void check_dir(struct books *b, const struct weir_dir_stats *got,
		      const struct weir_dir_stats *want)
{
	BOOKS_CHECK(b, got->inserted == want->inserted);
	BOOKS_CHECK(b, got->completed == want->completed);
	BOOKS_CHECK(b, got->removed == want->removed);
	BOOKS_CHECK(b, got->merged == want->merged);
	BOOKS_CHECK(b, got->requeued == want->requeued);
	BOOKS_CHECK(b, got->bytes == want->bytes);
	BOOKS_CHECK(b, got->device_ns == want->device_ns);
	BOOKS_CHECK(b, got->waiting == want->waiting);
	BOOKS_CHECK(b, got->in_flight == want->in_flight);
	BOOKS_CHECK(b, got->queue_wait_ns == want->queue_wait_ns);
	BOOKS_CHECK(b, got->queue_wait_max_ns == want->queue_wait_max_ns);
	BOOKS_CHECK(b, got->service_ns == want->service_ns);
	BOOKS_CHECK(b, got->service_max_ns == want->service_max_ns);
	BOOKS_CHECK(b, got->inserted == got->completed + got->merged + got->removed + got->waiting +
						got->in_flight);
}

/* The identities of a node's own time. */
static void check_times(struct books *b, int n, const struct weir_group_stats *s)
{
	const struct book_group *bg = &b->group[n];
	uint64_t waits_ns = 0;
	int cause;

	for (cause = 0; cause < WEIR_NR_WAITS; cause++)
		waits_ns += s->wait_ns[cause];
	BOOKS_CHECK(b, s->backlogged_ns == bg->backlogged_ns);
	BOOKS_CHECK(b, waits_ns == s->backlogged_ns);
	/* What is held is the ceiling's, but for the time after which only the host was late. */
	BOOKS_CHECK(b, s->wait_ns[WEIR_WAIT_CEILING] <= bg->held_ns);
	BOOKS_CHECK(b, s->wait_ns[WEIR_WAIT_CEILING] + s->wait_ns[WEIR_WAIT_HOST] >= bg->held_ns);
	BOOKS_CHECK(b, s->in_use_ns == b->in_use_ns);
	BOOKS_CHECK(b, s->active_ns >= s->backlogged_ns);
	BOOKS_CHECK(b, s->entitled_ns <= s->in_use_ns + ROUNDING_NS);
}

/* Own counters of the node and all below, those included that the host has removed. */
static void sum_below(const struct books *b, int top, struct book_group *sum)
{
	int n;

	memset(sum, 0, sizeof(*sum));
	for (n = 0; n < BOOKS_GROUPS; n++)
		if (b->group[n].used && books_is_below(b, n, top))
			books_fold(sum, &b->group[n]);
}

static void check_hist(struct books *b, int n, const struct book_group *sum)
{
	struct weir_hist hist;
	int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		weir_group_read_hist(b->group[n].g, (enum weir_dir)dir, WEIR_HIST_QUEUE_WAIT,
				     &hist);
		BOOKS_CHECK(b, hist.count == sum->nr_waits[dir]);
		BOOKS_CHECK(b, hist.sum_ns == sum->dir[dir].queue_wait_ns);
		weir_group_read_hist(b->group[n].g, (enum weir_dir)dir, WEIR_HIST_SERVICE, &hist);
		BOOKS_CHECK(b, hist.count == sum->dir[dir].completed);
		BOOKS_CHECK(b, hist.max_ns == sum->dir[dir].service_max_ns);
	}
}

static void check_group(struct books *b, int n)
{
	struct weir_group_stats own, below;
	struct book_group sum;
	int dir;

	weir_group_read_own_stats(b->group[n].g, b->now, &own);
	weir_group_read_stats(b->group[n].g, b->now, &below);
	sum_below(b, n, &sum);
	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		check_dir(b, &own.dir[dir], &b->group[n].dir[dir]);
		check_dir(b, &below.dir[dir], &sum.dir[dir]);
	}
	BOOKS_CHECK(b, own.flushes == b->group[n].flushes);
	BOOKS_CHECK(b, below.flushes == sum.flushes);
	check_times(b, n, &own);
	check_times(b, n, &below);
	check_hist(b, n, &sum);
}

/* The root is entitled to all; what a node is entitled to is its own and its children's. */
static void check_entitlement(struct books *b, int top)
{
	struct weir_group_stats stats;
	uint64_t parts_ns;
	bool all_seen = true;
	int n;

	weir_group_read_own_stats(b->group[top].g, b->now, &stats);
	parts_ns = stats.entitled_ns;
	for (n = 0; n < BOOKS_GROUPS; n++) {
		if (!b->group[n].used || b->group[n].parent != top)
			continue;
		if (b->group[n].removed) {
			all_seen = false;
			continue;
		}
		weir_group_read_stats(b->group[n].g, b->now, &stats);
		parts_ns += stats.entitled_ns;
	}
	weir_group_read_stats(b->group[top].g, b->now, &stats);
	BOOKS_CHECK(b, parts_ns <= stats.entitled_ns + ROUNDING_NS);
	if (all_seen)
		BOOKS_CHECK(b, parts_ns + ROUNDING_NS >= stats.entitled_ns);
	if (b->group[top].parent == BOOKS_NONE)
		BOOKS_CHECK(b, stats.entitled_ns == stats.in_use_ns);
}

void books_check(struct books *b)
{
	int n;

	BOOKS_CHECK(b, weir_nr_waiting(b->w) == books_count(b, BOOK_WAITING));
	BOOKS_CHECK(b, weir_nr_in_flight(b->w) == books_count(b, BOOK_IN_FLIGHT));
	for (n = 0; n < BOOKS_GROUPS; n++) {
		if (!b->group[n].used || b->group[n].removed)
			continue;
		check_group(b, n);
		check_entitlement(b, n);
	}
}

void books_reset_stats(struct books *b)
{
	int n, dir;

	b->in_use_ns = 0;
	for (n = 0; n < BOOKS_GROUPS; n++) {
		struct book_group *bg = &b->group[n];

		for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
			uint32_t waiting = bg->dir[dir].waiting;
			uint32_t in_flight = bg->dir[dir].in_flight;

			bg->dir[dir] = (struct weir_dir_stats){
				.inserted = (uint64_t)waiting + in_flight,
				.waiting = waiting,
				.in_flight = in_flight,
			};
			bg->nr_waits[dir] = 0;
		}
		bg->flushes = 0;
		bg->backlogged_ns = 0;
		bg->held_ns = 0;
	}
}
