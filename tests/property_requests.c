// SPDX-License-Identifier: GPL-2.0-only
/* The property test's calls that move requests: see property.h. */
#include "tests/property.h"

static void release(struct run *r, struct book_rq *brq)
{
	struct book_group *bg = &r->books.group[brq->group];
	enum weir_dir dir = weir_op_dir((enum weir_op)brq->rq.op);

	if (!brq->admitted)
		return;
	brq->admitted = false;
	bg->admitted[dir]--;
	weir_release(r->w, bg->g, dir, now(r));
	books_reap(&r->books, brq->group);
}

static uint32_t nr_admitted(const struct run *r)
{
	uint32_t nr = 0;
	int n;

	for (n = 0; n < BOOKS_GROUPS; n++)
		if (r->books.group[n].used)
			nr += r->books.group[n].admitted[WEIR_READ] +
			      r->books.group[n].admitted[WEIR_WRITE];
	return nr;
}

/* Asks for a place. */
static bool admit(struct run *r, struct book_rq *brq)
{
	struct book_group *bg = &r->books.group[brq->group];
	enum weir_dir dir = weir_op_dir((enum weir_op)brq->rq.op);
	bool yes = weir_admit(r->w, bg->g, dir, (uint32_t)weir_rq_bytes(&brq->rq), now(r));

	answer(r, yes);
	if (!yes) {
		CHECK(r, !weir_admits_all(r->w));
		CHECK(r, weir_admits_all(r->w) == (weir_admit_limit(bg->g, dir) == UINT32_MAX));
		bg->refused[dir] = true;
		return false;
	}
	bg->admitted[dir]++;
	brq->admitted = true;
	CHECK(r, bg->admitted[dir] <= weir_admit_limit(bg->g, dir) || bg->admitted[dir] <= 2);
	CHECK(r, !r->cfg.pool || nr_admitted(r) <= r->cfg.pool);
	return true;
}

static void check_join(struct run *r, const struct weir_rq *first, const struct weir_rq *second)
{
	CHECK(r, first->group == second->group);
	CHECK(r, first->op == second->op);
	CHECK(r, weir_rq_end(first) == second->sector);
	CHECK(r, first->nr_sectors + second->nr_sectors <= r->cfg.max_sectors);
	CHECK(r, !((first->flags | second->flags) & WEIR_RQ_NOMERGE));
}

static void join(struct run *r, int first, int second)
{
	struct book_rq *a = &r->books.rq[first], *b = &r->books.rq[second];

	check_join(r, &a->rq, &b->rq);
	TRACE(r, "  join %d %d\n", first, second);
	weir_merge_rq(r->w, &a->rq, &b->rq, now(r));
	/* It left by itself, so its place in the pool is given back after. */
	books_merged_rq(&r->books, first, second);
	release(r, b);
}

/* Looks for a request that takes bio; the host may then do it or not. True: bio is part of it. */
static bool merge(struct run *r, const struct weir_rq *bio)
{
	struct weir_rq *into, *then;
	enum weir_merge kind = weir_merge_find(r->w, bio, &into, now(r));
	int n, other;

	answer(r, kind);
	if (kind == WEIR_MERGE_NONE) {
		CHECK(r, !into);
		return false;
	}
	n = books_waiting(&r->books, into);
	CHECK(r, r->cfg.merge);
	if (kind == WEIR_MERGE_BACK)
		check_join(r, into, bio);
	else
		check_join(r, bio, into);
	if (draw_one_in(&r->seed, 8))
		return false;
	TRACE(r, "  merge into %d kind %d\n", n, kind);
	then = weir_merge_bio(r->w, into, bio, kind, now(r));
	books_merged_bio(&r->books, n, bio);
	if (!then || draw_one_in(&r->seed, 4))
		return true;
	other = books_waiting(&r->books, then);
	answer(r, (uint64_t)other);
	if (kind == WEIR_MERGE_BACK)
		join(r, n, other);
	else
		join(r, other, n);
	return true;
}

void call_insert(struct run *r)
{
	enum weir_where at = draw_one_in(&r->seed, 16) ? WEIR_HEAD : WEIR_TAIL;
	int n = pick_rq(r, BOOK_FREE), group = pick_group(r), ctx = pick_ctx(r);
	struct book_rq *brq;

	if (n == BOOKS_NONE)
		return;
	brq = &r->books.rq[n];
	if (draw_one_in(&r->seed, 2))
		ctx = BOOKS_NONE;
	else if (ctx != BOOKS_NONE && !r->books.group[r->books.ctx[ctx].group].removed &&
		 !draw_one_in(&r->seed, 8))
		group = r->books.ctx[ctx].group;
	brq->group = group;
	brq->ctx = ctx;
	draw_rq(&r->seed, &brq->rq, r->books.group[group].g,
		ctx == BOOKS_NONE ? NULL : r->books.ctx[ctx].ctx);
	if (r->admission && !admit(r, brq))
		return;
	if (at == WEIR_TAIL && draw_one_in(&r->seed, 2) && merge(r, &brq->rq)) {
		release(r, brq);
	} else {
		TRACE(r, "  insert %d group %d ctx %d op %d flags %x at %llu+%u %s\n", n, group,
		      ctx, brq->rq.op, brq->rq.flags, (unsigned long long)brq->rq.sector,
		      brq->rq.nr_sectors, at == WEIR_HEAD ? "head" : "");
		weir_insert(r->w, &brq->rq, at, now(r));
		books_inserted(&r->books, n, at);
	}
	woken(r);
}

/* Nothing came: what does that promise, and was it right? */
static void check_nothing(struct run *r, uint64_t at_ns)
{
	bool idle_device = !books_count(&r->books, BOOK_IN_FLIGHT);
	bool something = books_count(&r->books, BOOK_WAITING);

	CHECK(r, at_ns > r->books.now);
	CHECK(r, !something || !r->books.drain);
	CHECK(r, !something || !idle_device || at_ns != WEIR_NEVER);
	r->asleep_until = at_ns;
}

/* True: something was dispatched. */
bool run_dispatch(struct run *r)
{
	uint64_t given = now(r);
	bool may = weir_may_dispatch(r->w, given);
	uint32_t in_flight = books_count(&r->books, BOOK_IN_FLIGHT);
	struct weir_next next = {.at_ns = 0};
	struct weir_rq *rq = weir_dispatch(r->w, given, &next);
	int n;

	books_check_limits(&r->books);
	if (!rq) {
		TRACE(r, "  none until %llu\n", (unsigned long long)next.at_ns);
		answer(r, next.at_ns);
		check_nothing(r, next.at_ns);
		return false;
	}
	n = books_waiting(&r->books, rq);
	TRACE(r, "  dispatch %d\n", n);
	CHECK(r, may);
	CHECK(r, r->books.now >= r->asleep_until);
	CHECK(r, !r->cfg.device_depth || r->books.drain || in_flight < r->cfg.device_depth);
	answer(r, (uint64_t)n);
	books_dispatched(&r->books, n);
	woken(r);
	return true;
}

void call_dispatch(struct run *r)
{
	uint64_t most = util_below(&r->seed, 6);

	while (most-- && run_dispatch(r))
		;
}

/* Sleeps as long as the instance said, and asks: then something comes, or it names a later time. */
void call_wait(struct run *r)
{
	uint64_t until = r->asleep_until;

	if (!until || until == WEIR_NEVER || until > r->now + UINT64_C(1000000000000000))
		return;
	TRACE(r, "  sleep until %llu\n", (unsigned long long)until);
	if (until > r->now)
		r->now = until;
	run_dispatch(r);
}

void run_complete(struct run *r, int n)
{
	struct book_rq *brq = &r->books.rq[n];

	TRACE(r, "  complete %d\n", n);
	weir_complete(r->w, &brq->rq, now(r));
	books_completed(&r->books, n);
	release(r, brq);
	woken(r);
}

void call_complete(struct run *r)
{
	uint64_t nr = 1 + util_below(&r->seed, 4);
	int n;

	while (nr-- && (n = pick_rq(r, BOOK_IN_FLIGHT)) != BOOKS_NONE)
		run_complete(r, n);
}

void call_requeue(struct run *r)
{
	enum weir_requeue how = draw_one_in(&r->seed, 2) ? WEIR_REQUEUE_INSERT
							 : WEIR_REQUEUE_REISSUE;
	int n = pick_rq(r, BOOK_IN_FLIGHT);

	if (n == BOOKS_NONE)
		return;
	TRACE(r, "  requeue %d how %d\n", n, how);
	weir_requeue(r->w, &r->books.rq[n].rq, how, now(r));
	books_requeued(&r->books, n, how);
	woken(r);
}

void call_remove(struct run *r)
{
	int n = pick_rq(r, BOOK_IN_FLIGHT);

	if (n != BOOKS_NONE)
		CHECK(r, weir_remove(r->w, &r->books.rq[n].rq, now(r)) == -WEIR_EBUSY);
	n = pick_rq(r, BOOK_WAITING);
	if (n == BOOKS_NONE)
		return;
	TRACE(r, "  remove %d\n", n);
	CHECK(r, !weir_remove(r->w, &r->books.rq[n].rq, now(r)));
	books_removed(&r->books, n);
	release(r, &r->books.rq[n]);
	woken(r);
}
