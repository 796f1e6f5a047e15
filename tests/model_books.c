// SPDX-License-Identifier: GPL-2.0-only
/* The books of an instance, kept from outside: see model_books.h. */
#include <string.h>

#include "tests/model_books.h"

static struct weir_dir_stats *dir_of(struct books *b, const struct book_rq *brq)
{
	return &b->group[brq->group].dir[weir_op_dir((enum weir_op)brq->rq.op)];
}

/* ---- time ---- */

/* Is n, or an ancestor of it, `top`? */
bool books_is_below(const struct books *b, int n, int top)
{
	for (; n != BOOKS_NONE; n = b->group[n].parent)
		if (n == top)
			return true;
	return false;
}

/* Some request of the subtree waits; some waits behind the limits stage. */
static void look_below(const struct books *b, int top, bool *waits, bool *ready)
{
	int n;

	*waits = false;
	*ready = false;
	for (n = 0; n < BOOKS_RQS; n++) {
		const struct book_rq *brq = &b->rq[n];

		if (brq->state != BOOK_WAITING || !books_is_below(b, brq->group, top))
			continue;
		*waits = true;
		if (brq->rq.state == WEIR_RQ_QUEUED)
			*ready = true;
	}
}

uint64_t books_tick(struct books *b, uint64_t now)
{
	uint64_t passed_ns = now > b->now ? now - b->now : 0;
	bool waits, ready;
	int n;

	if (!passed_ns)
		return b->now;
	for (n = 0; n < BOOKS_RQS; n++)
		if (b->rq[n].state == BOOK_IN_FLIGHT ||
		    (b->rq[n].state == BOOK_WAITING && b->rq[n].rq.state == WEIR_RQ_QUEUED))
			break;
	if (n < BOOKS_RQS)
		b->in_use_ns += passed_ns;
	for (n = 0; n < BOOKS_GROUPS; n++) {
		if (!b->group[n].used)
			continue;
		look_below(b, n, &waits, &ready);
		if (waits)
			b->group[n].backlogged_ns += passed_ns;
		if (waits && !ready)
			b->group[n].held_ns += passed_ns;
	}
	b->now = now;
	return now;
}

/* ---- groups and contexts ---- */

void books_group_created(struct books *b, int n, int parent, struct weir_group *g)
{
	struct book_group *bg = &b->group[n];
	int dir;

	memset(bg, 0, sizeof(*bg));
	bg->used = true;
	bg->g = g;
	bg->parent = parent;
	weir_group_get(g, &bg->attr);
	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		model_bucket_init(&bg->bytes[dir], b->now);
		model_bucket_init(&bg->ios[dir], b->now);
		model_bucket_set_rate(&bg->bytes[dir], bg->attr.max.bps[dir], b->now);
		model_bucket_set_rate(&bg->ios[dir], bg->attr.max.iops[dir], b->now);
	}
	if (parent != BOOKS_NONE)
		b->group[parent].nr_children++;
}

void books_init(struct books *b, struct weir *w, uint64_t now)
{
	void (*failed)(void *priv, const char *what, const char *file, int line) = b->failed;
	void *priv = b->priv;

	memset(b, 0, sizeof(*b));
	b->failed = failed;
	b->priv = priv;
	b->w = w;
	b->now = now;
	books_group_created(b, 0, BOOKS_NONE, weir_root(w));
}

void books_group_set(struct books *b, int n, const struct weir_group_attr *attr)
{
	struct book_group *bg = &b->group[n];
	int dir;

	bg->attr = *attr;
	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		model_bucket_set_rate(&bg->bytes[dir], attr->max.bps[dir], b->now);
		model_bucket_set_rate(&bg->ios[dir], attr->max.iops[dir], b->now);
	}
}

void books_group_removed(struct books *b, int n)
{
	b->group[n].removed = true;
	b->group[n].refused[WEIR_READ] = false;
	b->group[n].refused[WEIR_WRITE] = false;
	books_reap(b, n);
}

static void fold(struct weir_dir_stats *into, const struct weir_dir_stats *from)
{
	into->inserted += from->inserted;
	into->completed += from->completed;
	into->removed += from->removed;
	into->merged += from->merged;
	into->requeued += from->requeued;
	into->bytes += from->bytes;
	into->device_ns += from->device_ns;
	into->waiting += from->waiting;
	into->in_flight += from->in_flight;
	into->queue_wait_ns += from->queue_wait_ns;
	into->service_ns += from->service_ns;
	if (from->queue_wait_max_ns > into->queue_wait_max_ns)
		into->queue_wait_max_ns = from->queue_wait_max_ns;
	if (from->service_max_ns > into->service_max_ns)
		into->service_max_ns = from->service_max_ns;
}

void books_fold(struct book_group *into, const struct book_group *from)
{
	int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		fold(&into->dir[dir], &from->dir[dir]);
		into->nr_waits[dir] += from->nr_waits[dir];
	}
	into->flushes += from->flushes;
}

void books_reap(struct books *b, int n)
{
	while (n != BOOKS_NONE) {
		struct book_group *bg = &b->group[n];
		int parent = bg->parent;

		if (!bg->used || !bg->removed || bg->nr_rqs || bg->nr_ctx || bg->nr_children ||
		    bg->admitted[WEIR_READ] || bg->admitted[WEIR_WRITE])
			return;
		books_fold(&b->group[parent], bg);
		b->group[parent].nr_children--;
		bg->used = false;
		n = parent;
	}
}

void books_ctx_created(struct books *b, int n, int group, struct weir_ctx *ctx)
{
	b->ctx[n] = (struct book_ctx){.used = true, .ctx = ctx, .group = group};
	b->group[group].nr_ctx++;
}

void books_ctx_moved(struct books *b, int n, int group)
{
	int from = b->ctx[n].group;

	b->group[group].nr_ctx++;
	b->group[from].nr_ctx--;
	b->ctx[n].group = group;
	books_reap(b, from);
}

static void ctx_reap(struct books *b, int n)
{
	struct book_ctx *bc = &b->ctx[n];

	if (!bc->exited || bc->nr_rqs)
		return;
	bc->used = false;
	b->group[bc->group].nr_ctx--;
	books_reap(b, bc->group);
}

void books_ctx_exited(struct books *b, int n)
{
	b->ctx[n].exited = true;
	ctx_reap(b, n);
}

/* ---- the life of requests ---- */

void books_inserted(struct books *b, int n, enum weir_where where)
{
	struct book_rq *brq = &b->rq[n];
	struct weir_dir_stats *d = dir_of(b, brq);

	BOOKS_CHECK(b, brq->state == BOOK_FREE);
	BOOKS_CHECK(b, brq->rq.state == WEIR_RQ_HELD || brq->rq.state == WEIR_RQ_QUEUED);
	brq->state = BOOK_WAITING;
	brq->since_ns = b->now;
	brq->first_ns = b->now;
	brq->sectors = brq->rq.nr_sectors;
	brq->merged = 0;
	brq->at_head = where == WEIR_HEAD;
	brq->passed = false;
	d->inserted++;
	d->waiting++;
	b->group[brq->group].nr_rqs++;
	if (brq->ctx != BOOKS_NONE)
		b->ctx[brq->ctx].nr_rqs++;
}

int books_waiting(struct books *b, const struct weir_rq *rq)
{
	int n;

	for (n = 0; n < BOOKS_RQS; n++)
		if (&b->rq[n].rq == rq)
			break;
	BOOKS_CHECK(b, n < BOOKS_RQS);
	BOOKS_CHECK(b, b->rq[n].state == BOOK_WAITING);
	return n;
}

/* What was put at the head goes before the rest of its group. */
static void check_heads(struct books *b, int n)
{
	int other;

	if (b->rq[n].at_head)
		return;
	for (other = 0; other < BOOKS_RQS; other++)
		BOOKS_CHECK(b, b->rq[other].state != BOOK_WAITING || !b->rq[other].at_head ||
				       b->rq[other].group != b->rq[n].group);
}

void books_dispatched(struct books *b, int n)
{
	struct book_rq *brq = &b->rq[n];
	struct weir_dir_stats *d = dir_of(b, brq);
	uint64_t wait_ns = b->now - brq->since_ns;

	BOOKS_CHECK(b, brq->state == BOOK_WAITING);
	BOOKS_CHECK(b, brq->rq.state == WEIR_RQ_DISPATCHED);
	BOOKS_CHECK(b, brq->rq.dispatch_ns == b->now);
	BOOKS_CHECK(b, brq->rq.insert_ns == brq->first_ns);
	BOOKS_CHECK(b, brq->rq.release_ns >= brq->first_ns && brq->rq.release_ns <= b->now);
	BOOKS_CHECK(b, brq->rq.cost_ns > 0 && brq->rq.cost_ns <= WEIR_COST_MAX_NS);
	BOOKS_CHECK(b, brq->rq.nr_sectors == brq->sectors);
	BOOKS_CHECK(b, brq->rq.nr_merged == brq->merged);
	check_heads(b, n);
	brq->state = BOOK_IN_FLIGHT;
	brq->start_ns = b->now;
	d->waiting--;
	d->in_flight++;
	d->device_ns += brq->rq.cost_ns;
	d->queue_wait_ns += wait_ns;
	if (wait_ns > d->queue_wait_max_ns)
		d->queue_wait_max_ns = wait_ns;
	b->group[brq->group].nr_waits[weir_op_dir((enum weir_op)brq->rq.op)]++;
}

static void left(struct books *b, int n)
{
	struct book_rq *brq = &b->rq[n];

	BOOKS_CHECK(b, brq->rq.state == WEIR_RQ_NEW);
	brq->state = BOOK_FREE;
	b->group[brq->group].nr_rqs--;
	if (brq->ctx != BOOKS_NONE) {
		b->ctx[brq->ctx].nr_rqs--;
		ctx_reap(b, brq->ctx);
	}
	books_reap(b, brq->group);
}

void books_completed(struct books *b, int n)
{
	struct book_rq *brq = &b->rq[n];
	struct weir_dir_stats *d = dir_of(b, brq);
	uint64_t service_ns = b->now - brq->start_ns;

	BOOKS_CHECK(b, brq->state == BOOK_IN_FLIGHT);
	d->in_flight--;
	d->completed++;
	d->bytes += weir_rq_bytes(&brq->rq);
	d->service_ns += service_ns;
	if (service_ns > d->service_max_ns)
		d->service_max_ns = service_ns;
	if (brq->rq.op == WEIR_OP_FLUSH)
		b->group[brq->group].flushes++;
	left(b, n);
}

void books_requeued(struct books *b, int n, enum weir_requeue how)
{
	struct book_rq *brq = &b->rq[n];
	struct weir_dir_stats *d = dir_of(b, brq);

	BOOKS_CHECK(b, brq->state == BOOK_IN_FLIGHT);
	d->requeued++;
	if (how == WEIR_REQUEUE_REISSUE) {
		BOOKS_CHECK(b, brq->rq.state == WEIR_RQ_DISPATCHED);
		return;
	}
	BOOKS_CHECK(b, brq->rq.state == WEIR_RQ_QUEUED);
	brq->state = BOOK_WAITING;
	brq->at_head = true;
	brq->since_ns = b->now;
	d->in_flight--;
	d->waiting++;
	/* It may have been charged before a reset. */
	d->device_ns -= d->device_ns < brq->rq.cost_ns ? d->device_ns : brq->rq.cost_ns;
}

void books_removed(struct books *b, int n)
{
	struct weir_dir_stats *d = dir_of(b, &b->rq[n]);

	BOOKS_CHECK(b, b->rq[n].state == BOOK_WAITING);
	d->waiting--;
	d->removed++;
	left(b, n);
}

/* ---- merging ---- */

void books_merged_bio(struct books *b, int into, const struct weir_rq *bio)
{
	struct book_rq *brq = &b->rq[into];
	struct weir_dir_stats *d = dir_of(b, brq);

	brq->sectors += bio->nr_sectors;
	brq->merged++;
	d->inserted++;
	d->merged++;
	if (brq->rq.state == WEIR_RQ_QUEUED)
		books_charge(b, brq->group, weir_op_dir((enum weir_op)bio->op), weir_rq_bytes(bio),
			     1);
}

void books_merged_rq(struct books *b, int first, int second)
{
	struct book_rq *survivor = &b->rq[first], *absorbed = &b->rq[second];
	struct weir_dir_stats *d = dir_of(b, absorbed);

	BOOKS_CHECK(b, survivor->state == BOOK_WAITING);
	BOOKS_CHECK(b, absorbed->state == BOOK_WAITING);
	BOOKS_CHECK(b, survivor->group == absorbed->group);
	survivor->sectors += absorbed->sectors;
	survivor->merged += 1 + absorbed->merged;
	/* The longer wait goes on. */
	if (absorbed->first_ns < survivor->first_ns)
		survivor->first_ns = absorbed->first_ns;
	if (absorbed->since_ns < survivor->since_ns)
		survivor->since_ns = absorbed->since_ns;
	d->waiting--;
	d->merged++;
	left(b, second);
}

void books_forget_heads(struct books *b)
{
	int n;

	for (n = 0; n < BOOKS_RQS; n++)
		b->rq[n].at_head = false;
}

uint32_t books_count(const struct books *b, enum book_state state)
{
	uint32_t nr = 0;
	int n;

	for (n = 0; n < BOOKS_RQS; n++)
		nr += b->rq[n].state == state;
	return nr;
}
