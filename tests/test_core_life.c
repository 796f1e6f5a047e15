// SPDX-License-Identifier: GPL-2.0-only
/*
 * core/request.c: the life of a request in every branch, the answers of dispatch about time, forced
 * drain, and contexts.
 */
#include "tests/util_host.h"

#include "core/core.h"

static struct util_host host;

/* What only a bug can cause ends the test, unless it was expected. */
void weir_assert_fail(const char *expr, const char *file, int line)
{
	mock_assert(0, expr, file, line);
}

static int setup(void **state)
{
	util_host_init(&host);
	util_host_start(&host, &weir_policy_noop, NULL);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static struct weir_dir_stats stats(struct util_host *h, struct weir_group *g, enum weir_dir dir)
{
	struct weir_group_stats s;

	weir_group_read_own_stats(g, h->now, &s);
	return s.dir[dir];
}

/* Of the reads; there are no writes. */
static void expect_load(const struct weir_group *g, uint32_t queued, uint32_t held,
			uint32_t in_flight)
{
	struct weir_load l;

	weir_group_read_load(g, WEIR_READ, &l);
	assert_int_equal(l.queued, queued);
	assert_int_equal(l.held, held);
	assert_int_equal(l.in_flight, in_flight);
	weir_group_read_load(g, WEIR_WRITE, &l);
	assert_int_equal(l.queued + l.held + l.in_flight, 0);
}

/* A group that lets one request pass a second. */
static struct weir_group *slow_group(struct util_host *h)
{
	struct weir_group_attr attr;
	struct weir_group *g;

	weir_group_attr_init(&attr);
	attr.max.iops[WEIR_READ] = 1;
	attr.max.iops[WEIR_WRITE] = 1;
	g = weir_group_create(h->w, weir_root(h->w), &attr, h->now, NULL);
	assert_non_null(g);
	return g;
}

static uint32_t insert_head(struct util_host *h, struct weir_group *g, enum weir_op op,
			    uint64_t sector)
{
	struct weir_rq *rq = util_bio(h, op, sector, 8);

	rq->group = g;
	weir_insert(h->w, rq, WEIR_HEAD, h->now);
	return h->nr_rqs - 1;
}

/* ---- states ---- */

static void through_all_states(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = slow_group(h);
	uint32_t a = util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8), b;
	struct weir_rq *rq;
	uint64_t start = h->now;

	assert_int_equal(h->rq[a].state, WEIR_RQ_QUEUED); /* the first passes */
	h->now += 100;
	b = util_insert_as(h, g, NULL, WEIR_OP_READ, 8, 8);
	rq = &h->rq[b];
	assert_int_equal(rq->state, WEIR_RQ_HELD);
	assert_int_equal(rq->seq, h->rq[a].seq + 1);
	assert_int_equal(weir_nr_waiting(h->w), 2);
	assert_int_equal(weir_nr_held(h->w), 1);
	expect_load(g, 1, 1, 0);
	util_expect(h, a);
	assert_int_equal(h->rq[a].state, WEIR_RQ_NEW);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now = start + 1000000000;
	assert_int_equal(util_dispatch(h), b);
	assert_int_equal(rq->state, WEIR_RQ_DISPATCHED);
	assert_int_equal(rq->insert_ns, start + 100);
	assert_int_equal(rq->release_ns, h->now);
	assert_int_equal(rq->dispatch_ns, h->now);
	assert_int_equal(weir_nr_waiting(h->w), 0);
	assert_int_equal(weir_nr_in_flight(h->w), 1);
	assert_int_equal(weir_nr_held(h->w), 0);
	expect_load(g, 0, 0, 1);
	h->now += 50;
	util_complete(h, b);
	assert_int_equal(rq->state, WEIR_RQ_NEW);
	assert_int_equal(weir_nr_in_flight(h->w), 0);
	expect_load(g, 0, 0, 0);
	assert_int_equal(stats(h, g, WEIR_READ).queue_wait_max_ns, 1000000000 - 100);
	assert_int_equal(stats(h, g, WEIR_READ).service_max_ns, 50);
}

/* Head insertions go before everything of their group, and past its ceiling, which they charge. */
static void head_passes_ceilings(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = slow_group(h);
	uint32_t a = util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8), b, c, d;
	uint64_t start = h->now;
	struct weir_next next;

	b = util_insert_as(h, g, NULL, WEIR_OP_READ, 8, 8);
	c = insert_head(h, g, WEIR_OP_READ, 100);
	d = insert_head(h, g, WEIR_OP_READ, 200);
	util_expect(h, d);
	util_expect(h, c);
	util_expect(h, a);
	assert_null(weir_dispatch(h->w, h->now, &next));
	/* One a second: a now, then c and d as debt, then b. */
	assert_int_equal(next.at_ns, start + UINT64_C(3000000000));
	h->now = next.at_ns;
	util_expect(h, b);
}

/* A discard moves no data: against a ceiling in bytes it is a sector, on whichever way it comes. */
static void discards_are_small(void **state)
{
	struct util_host *h = *state;
	struct weir_group_attr attr;
	struct weir_group *g;
	struct weir_next next;
	struct weir_rq *rq;
	unsigned int way;

	for (way = 0; way < 3; way++) {
		uint64_t start = h->now;

		weir_group_attr_init(&attr);
		attr.max.bps[WEIR_WRITE] = 512;
		g = weir_group_create(h->w, weir_root(h->w), &attr, h->now, NULL);
		rq = util_bio(h, WEIR_OP_DISCARD, 0, 4096);
		rq->group = g;
		rq->flags = way == 1 ? WEIR_RQ_META : 0;
		weir_insert(h->w, rq, way == 2 ? WEIR_HEAD : WEIR_TAIL, h->now);
		util_insert_as(h, g, NULL, WEIR_OP_WRITE, 0, 1);
		util_expect(h, h->nr_rqs - 2);
		assert_null(weir_dispatch(h->w, h->now, &next));
		assert_int_equal(next.at_ns, start + 1000000000);
		h->now = next.at_ns;
		util_expect(h, h->nr_rqs - 1);
		assert_int_equal(weir_group_remove(g, h->now), 0);
	}
}

/* Flushes and metadata are never held; flushes are not even charged. */
static void flush_and_meta_pass(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = slow_group(h);
	uint64_t start = h->now;
	struct weir_next next;
	struct weir_rq *rq;
	unsigned int n;

	for (n = 0; n < 5; n++)
		util_expect(h, util_insert_as(h, g, NULL, WEIR_OP_FLUSH, 0, 0));
	for (n = 0; n < 3; n++) {
		rq = util_bio(h, WEIR_OP_WRITE, 1000 * n, 8);
		rq->group = g;
		rq->flags = WEIR_RQ_META;
		weir_insert(h->w, rq, WEIR_TAIL, h->now);
		util_expect(h, h->nr_rqs - 1);
	}
	util_insert_as(h, g, NULL, WEIR_OP_WRITE, 0, 8);
	assert_null(weir_dispatch(h->w, h->now, &next));
	assert_int_equal(next.at_ns, start + UINT64_C(3000000000));
}

static void requeue_insert(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w);
	uint32_t a = util_insert(h, WEIR_OP_READ, 0, 8), b = util_insert(h, WEIR_OP_READ, 99, 8);
	struct weir_rq *rq = &h->rq[a];
	uint64_t start = h->now;
	struct weir_dir_stats d;

	h->now += 10;
	assert_int_equal(util_dispatch(h), a);
	h->now += 20;
	weir_requeue(h->w, rq, WEIR_REQUEUE_INSERT, h->now);
	assert_int_equal(rq->state, WEIR_RQ_QUEUED);
	assert_int_equal(rq->insert_ns, start); /* the first time, for its latency */
	assert_int_equal(rq->since_ns, start + 30);
	d = stats(h, root, WEIR_READ);
	assert_int_equal(d.inserted, 2);
	assert_int_equal(d.requeued, 1);
	assert_int_equal(d.waiting, 2);
	assert_int_equal(d.in_flight, 0);
	assert_int_equal(d.device_ns, 0); /* given back: it will be charged again */
	h->now += 40;
	assert_int_equal(util_dispatch(h), a); /* before b */
	d = stats(h, root, WEIR_READ);
	assert_int_equal(d.device_ns, 10000);
	assert_int_equal(d.queue_wait_ns, 10 + 40);
	assert_int_equal(d.queue_wait_max_ns, 40);
	h->now += 5;
	util_complete(h, a);
	d = stats(h, root, WEIR_READ);
	assert_int_equal(d.completed, 1);
	assert_int_equal(d.service_ns, 5);
	util_expect(h, b);
}

static void requeue_reissue(void **state)
{
	struct util_host *h = *state;
	uint32_t a = util_insert(h, WEIR_OP_WRITE, 0, 8);
	struct weir_dir_stats d;

	assert_int_equal(util_dispatch(h), a);
	h->now += 100;
	weir_requeue(h->w, &h->rq[a], WEIR_REQUEUE_REISSUE, h->now);
	assert_int_equal(h->rq[a].state, WEIR_RQ_DISPATCHED);
	assert_int_equal(weir_nr_in_flight(h->w), 1);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	h->now += 100;
	util_complete(h, a);
	d = stats(h, weir_root(h->w), WEIR_WRITE);
	assert_int_equal(d.requeued, 1);
	assert_int_equal(d.completed, 1);
	assert_int_equal(d.service_ns, 200);  /* all of its time in the device */
	assert_int_equal(d.device_ns, 10000); /* one charge */
}

static void remove_in_every_state(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = slow_group(h);
	uint32_t a, b, c, d;
	struct weir_dir_stats s;

	a = util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8);
	b = util_insert_as(h, g, NULL, WEIR_OP_READ, 8, 8);  /* held */
	c = util_insert_as(h, g, NULL, WEIR_OP_READ, 16, 8); /* held */
	d = util_insert_as(h, g, NULL, WEIR_OP_FLUSH, 0, 0); /* queued */
	assert_int_equal(util_dispatch(h), a);
	assert_int_equal(weir_remove(h->w, &h->rq[a], h->now), -WEIR_EBUSY);
	assert_int_equal(weir_remove(h->w, &h->rq[b], h->now), 0);
	assert_int_equal(weir_remove(h->w, &h->rq[d], h->now), 0);
	assert_int_equal(h->rq[b].state, WEIR_RQ_NEW);
	assert_int_equal(h->rq[d].state, WEIR_RQ_NEW);
	s = stats(h, g, WEIR_READ);
	assert_int_equal(s.removed, 1);
	assert_int_equal(s.waiting, 1);
	assert_int_equal(s.in_flight, 1);
	assert_int_equal(stats(h, g, WEIR_WRITE).removed, 1);
	weir_requeue(h->w, &h->rq[a], WEIR_REQUEUE_INSERT, h->now);
	assert_int_equal(weir_remove(h->w, &h->rq[a], h->now), 0);
	/* What was removed was not charged: c goes when b would have gone. */
	h->now += 1000000000;
	util_expect(h, c);
	assert_int_equal(weir_nr_waiting(h->w), 0);
	expect_assert_failure(weir_remove(h->w, &h->rq[c], h->now));
}

/* ---- dispatch and time ---- */

static void time_never_runs_back(void **state)
{
	struct util_host *h = *state;
	uint32_t a = util_insert(h, WEIR_OP_READ, 0, 8);
	uint64_t later = h->now + 1000;
	struct weir_group_stats s;

	assert_ptr_equal(weir_dispatch(h->w, later, NULL), &h->rq[a]);
	assert_int_equal(h->rq[a].dispatch_ns, later);
	weir_complete(h->w, &h->rq[a], h->now); /* "before" it was dispatched */
	weir_group_read_stats(weir_root(h->w), h->now, &s);
	assert_int_equal(s.dir[WEIR_READ].service_ns, 0);
	assert_int_equal(s.in_use_ns, 1000);
	h->now = later;
}

static void when_to_ask_again(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = slow_group(h);
	uint64_t start = h->now;
	struct weir_next next;
	uint32_t a, b;

	assert_false(weir_may_dispatch(h->w, h->now));
	assert_null(weir_dispatch(h->w, h->now, &next));
	assert_int_equal(next.at_ns, WEIR_NEVER);
	a = util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8);
	b = util_insert_as(h, g, NULL, WEIR_OP_READ, 8, 8);
	assert_true(weir_may_dispatch(h->w, h->now));
	assert_ptr_equal(weir_dispatch(h->w, h->now, &next), &h->rq[a]);
	assert_int_equal(next.at_ns, h->now);
	assert_null(weir_dispatch(h->w, h->now, &next));
	assert_int_equal(next.at_ns, start + 1000000000);
	assert_false(weir_may_dispatch(h->w, next.at_ns - 1));
	assert_true(weir_may_dispatch(h->w, next.at_ns));
	/* A completion may change the answer, so it has to be asked for. */
	util_complete(h, a);
	assert_true(weir_may_dispatch(h->w, h->now));
	assert_null(weir_dispatch(h->w, next.at_ns - 1, &next));
	assert_int_equal(next.at_ns, start + 1000000000);
	h->now = next.at_ns;
	util_expect(h, b);
	assert_false(weir_may_dispatch(h->w, h->now));
}

static void device_depth(void **state)
{
	struct util_host *h = *state;
	struct weir_config cfg = h->cfg;
	struct weir_next next;
	uint32_t n, first = h->nr_rqs;

	cfg.device_depth = 3;
	assert_int_equal(weir_reconfigure(h->w, &cfg, h->now), 0);
	for (n = 0; n < 5; n++)
		util_insert(h, WEIR_OP_READ, n * 100, 8);
	for (n = 0; n < 3; n++)
		assert_int_equal(util_dispatch(h), first + n);
	assert_null(weir_dispatch(h->w, h->now, &next));
	assert_int_equal(next.at_ns, WEIR_NEVER);
	assert_false(weir_may_dispatch(h->w, UINT64_MAX - 1));
	util_complete(h, first);
	assert_true(weir_may_dispatch(h->w, h->now));
	assert_int_equal(util_dispatch(h), first + 3);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	/* Drain goes past every limit, this one, too. */
	weir_set_drain(h->w, true, h->now);
	assert_int_equal(util_dispatch(h), first + 4);
}

static void drain(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = slow_group(h);
	uint32_t n, first = h->nr_rqs;
	uint64_t start = h->now;
	struct weir_next next;

	for (n = 0; n < 6; n++)
		util_insert_as(h, g, NULL, WEIR_OP_READ, n * 100, 8);
	util_expect(h, first);
	util_expect(h, UTIL_NONE);
	weir_set_drain(h->w, true, h->now);
	assert_true(weir_may_dispatch(h->w, h->now));
	for (n = 1; n < 6; n++)
		util_expect(h, first + n);
	util_expect(h, util_insert_as(h, g, NULL, WEIR_OP_READ, 5000, 8));
	weir_set_drain(h->w, false, h->now);
	/* Held ones were let go without a charge; the insertion while draining was charged as debt.
	 */
	n = util_insert_as(h, g, NULL, WEIR_OP_READ, 6000, 8);
	assert_null(weir_dispatch(h->w, h->now, &next));
	assert_int_equal(next.at_ns, start + UINT64_C(2000000000));
	h->now = next.at_ns;
	util_expect(h, n);
}

/* ---- contexts ---- */

static void contexts_outlive_their_exit(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = util_group(h, weir_root(h->w), 100);
	struct weir_ctx *ctx = weir_ctx_create(h->w, g, WEIR_IOPRIO_RT, 3, h->now);
	size_t before, with = h->memory.bytes;
	uint32_t a, b;

	assert_ptr_equal(weir_ctx_group(ctx), g);
	assert_int_equal(ctx->ioprio_class, WEIR_IOPRIO_RT);
	assert_int_equal(ctx->ioprio_level, 3);
	weir_ctx_set_ioprio(ctx, WEIR_IOPRIO_IDLE, 0, h->now);
	assert_int_equal(ctx->ioprio_class, WEIR_IOPRIO_IDLE);
	before = with - sizeof(*ctx);
	a = util_insert_as(h, g, ctx, WEIR_OP_READ, 0, 8);
	b = util_insert_as(h, g, ctx, WEIR_OP_READ, 8, 8);
	weir_ctx_exit(ctx, h->now);
	assert_int_equal(h->memory.bytes, with);
	util_expect(h, a);
	assert_int_equal(h->memory.bytes, with);
	assert_int_equal(weir_remove(h->w, &h->rq[b], h->now), 0);
	assert_int_equal(h->memory.bytes, before);
	/* Without requests it goes at once. */
	ctx = weir_ctx_create(h->w, g, WEIR_IOPRIO_NONE, 0, h->now);
	weir_ctx_exit(ctx, h->now);
	assert_int_equal(h->memory.bytes, before);
}

static void contexts_move(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 100);
	struct weir_group *b = util_group(h, weir_root(h->w), 100);
	struct weir_ctx *ctx = weir_ctx_create(h->w, a, WEIR_IOPRIO_NONE, 0, h->now);
	uint32_t old = util_insert_as(h, a, ctx, WEIR_OP_READ, 0, 8);

	weir_ctx_move(ctx, b, h->now);
	assert_ptr_equal(weir_ctx_group(ctx), b);
	assert_ptr_equal(h->rq[old].group, a); /* queued ones stay */
	assert_int_equal(weir_group_remove(a, h->now), 0);
	util_expect(h, old);
	assert_int_equal(weir_group_remove(b, h->now), 0);
	weir_ctx_exit(ctx, h->now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(through_all_states, setup, teardown),
		cmocka_unit_test_setup_teardown(head_passes_ceilings, setup, teardown),
		cmocka_unit_test_setup_teardown(discards_are_small, setup, teardown),
		cmocka_unit_test_setup_teardown(flush_and_meta_pass, setup, teardown),
		cmocka_unit_test_setup_teardown(requeue_insert, setup, teardown),
		cmocka_unit_test_setup_teardown(requeue_reissue, setup, teardown),
		cmocka_unit_test_setup_teardown(remove_in_every_state, setup, teardown),
		cmocka_unit_test_setup_teardown(time_never_runs_back, setup, teardown),
		cmocka_unit_test_setup_teardown(when_to_ask_again, setup, teardown),
		cmocka_unit_test_setup_teardown(device_depth, setup, teardown),
		cmocka_unit_test_setup_teardown(drain, setup, teardown),
		cmocka_unit_test_setup_teardown(contexts_outlive_their_exit, setup, teardown),
		cmocka_unit_test_setup_teardown(contexts_move, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
