// SPDX-License-Identifier: GPL-2.0-only
/*
 * core/switch.c: every policy to every other and to itself, with requests held, queued and in
 * flight, groups and contexts that come and go between prepare and commit, and lack of memory at
 * every step.
 */
#include "tests/util_host.h"

#include "core/core.h"
#include "core/spi.h"
#include "core/spi_state.h"

#define MS UINT64_C(1000000)
#define ROUND 40

static struct util_host host;

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

static struct weir_switch *prepare(struct util_host *h, const struct weir_policy *p)
{
	bool tunable = weir_policy_info(p)->tunables;
	uint64_t values[WEIR_TUNABLES_MAX];
	struct weir_switch *sw;
	int err = 1;

	/* None of these tests is about a device that is kept idle on purpose. */
	if (tunable) {
		util_defaults(p, values);
		if (weir_tunable_find(p, "slice_idle") >= 0)
			util_tune(p, values, "slice_idle", 0);
	}
	sw = weir_switch_prepare(h->w, p, tunable ? values : NULL, &err);
	assert_non_null(sw);
	assert_int_equal(err, 0);
	return sw;
}

static void switch_to(struct util_host *h, const struct weir_policy *p)
{
	weir_switch_commit(h->w, prepare(h, p), h->now);
	assert_ptr_equal(weir_current_policy(h->w), p);
}

struct crowd {
	struct weir_group *g[4];
	struct weir_ctx *ctx[4];
};

static void crowd_come(struct util_host *h, struct crowd *c)
{
	struct weir_group_attr attr;
	unsigned int n;

	for (n = 0; n < 4; n++) {
		weir_group_attr_init(&attr);
		attr.weight = 100 + 100 * n;
		if (n == 3)
			attr.max.iops[WEIR_READ] = 100;
		if (n == 2)
			attr.low.iops[WEIR_READ] = 100;
		if (n == 1)
			attr.latency_target_ns = 1 * MS;
		c->g[n] = weir_group_create(h->w, n ? c->g[n / 2] : weir_root(h->w), &attr, h->now,
					    NULL);
		assert_non_null(c->g[n]);
		c->ctx[n] = weir_ctx_create(h->w, c->g[n], WEIR_IOPRIO_BE, n, h->now);
		assert_non_null(c->ctx[n]);
	}
}

static void crowd_go(struct util_host *h, struct crowd *c)
{
	unsigned int n;

	for (n = 4; n--;) {
		weir_ctx_exit(c->ctx[n], h->now);
		assert_int_equal(weir_group_remove(c->g[n], h->now), 0);
	}
}

static uint32_t count(const struct util_host *h, enum weir_rq_state state)
{
	uint32_t n, sum = 0;

	for (n = 0; n < h->nr_rqs; n++)
		sum += h->rq[n].state == state;
	return sum;
}

static void check_identities(struct util_host *h, uint32_t inserted)
{
	struct weir_group_stats s;
	uint64_t sum = 0, waits_ns = 0;
	unsigned int i;

	weir_group_read_stats(weir_root(h->w), h->now, &s);
	for (i = 0; i < WEIR_NR_DIRS; i++) {
		assert_int_equal(s.dir[i].inserted, s.dir[i].completed + s.dir[i].removed +
							    s.dir[i].waiting + s.dir[i].in_flight);
		sum += s.dir[i].inserted;
	}
	for (i = 0; i < WEIR_NR_WAITS; i++)
		waits_ns += s.wait_ns[i];
	assert_int_equal(sum, inserted);
	assert_int_equal(waits_ns, s.backlogged_ns);
}

/* Requests in every state under the one policy; after the switch all of them leave, once. */
static void one_pair(struct util_host *h, const struct weir_policy *from,
		     const struct weir_policy *to)
{
	uint32_t first = h->nr_rqs, held, queued, in_flight, n, left = 0;
	struct crowd c;

	switch_to(h, from);
	crowd_come(h, &c);
	for (n = 0; n < ROUND; n++)
		util_insert_as(h, c.g[n % 4], n % 3 ? c.ctx[n % 4] : NULL,
			       n % 5 ? WEIR_OP_READ : WEIR_OP_WRITE, n * 1000, 8);
	/* Some policies give one, and wait for it. */
	for (n = 0; n < 6 && util_dispatch(h) != UTIL_NONE; n++)
		;
	held = count(h, WEIR_RQ_HELD);
	queued = count(h, WEIR_RQ_QUEUED);
	in_flight = count(h, WEIR_RQ_DISPATCHED);
	assert_true(held >= 5 && queued >= 20 && in_flight >= 1 && in_flight == n);
	h->now += 1000;
	switch_to(h, to);
	assert_int_equal(count(h, WEIR_RQ_HELD), held);
	assert_int_equal(count(h, WEIR_RQ_QUEUED), queued);
	assert_int_equal(count(h, WEIR_RQ_DISPATCHED), in_flight);
	check_identities(h, h->nr_rqs);
	/* One that the old policy sent comes back to the new one. */
	for (n = first; h->rq[n].state != WEIR_RQ_DISPATCHED; n++)
		;
	weir_requeue(h->w, &h->rq[n], WEIR_REQUEUE_INSERT, h->now);
	while (left < ROUND) {
		for (n = first; n < h->nr_rqs; n++) {
			if (h->rq[n].state != WEIR_RQ_DISPATCHED)
				continue;
			h->now += 50000;
			util_complete(h, n);
			left++;
		}
		h->now += 1 * MS;
		while (util_dispatch(h) != UTIL_NONE)
			;
		assert_true(h->now < UINT64_C(4000000000) + first * 50 * MS);
	}
	assert_int_equal(weir_nr_waiting(h->w) + weir_nr_in_flight(h->w), 0);
	check_identities(h, h->nr_rqs);
	crowd_go(h, &c);
	assert_int_equal(h->w->nr_groups, 1);
}

static void all_pairs(void **state)
{
	const struct weir_policy *from, *to;
	struct util_host *h = *state;
	unsigned int i, k, pairs = 0;

	for (i = 0; (from = weir_policy_at(i)); i++) {
		for (k = 0; (to = weir_policy_at(k)); k++) {
			one_pair(h, from, to);
			pairs++;
		}
	}
	assert_true(pairs >= 16);
	/* Whatever the policies keep must be back, too. */
	switch_to(h, &weir_policy_noop);
}

/* The order of insertion is kept, whatever order the old policy had made of it. */
static void order_is_kept(void **state)
{
	const struct weir_policy *from;
	struct util_host *h = *state;
	uint64_t seed = 9;
	unsigned int i;
	uint32_t n;

	for (i = 0; (from = weir_policy_at(i)); i++) {
		uint32_t first = h->nr_rqs;
		struct crowd c;

		switch_to(h, from);
		crowd_come(h, &c);
		for (n = 0; n < 100; n++) {
			struct weir_rq *rq =
				util_bio(h, util_below(&seed, 2) ? WEIR_OP_READ : WEIR_OP_WRITE,
					 util_below(&seed, 1 << 20) * 8, 8);

			rq->group = c.g[util_below(&seed, 3)];
			weir_insert(h->w, rq, util_below(&seed, 8) ? WEIR_TAIL : WEIR_HEAD, h->now);
		}
		switch_to(h, &weir_policy_noop);
		for (n = 0; n < 100; n++)
			util_expect(h, first + n);
		crowd_go(h, &c);
	}
}

/* ---- a policy that counts what it is told of ---- */

static uint32_t nr_completed, nr_given_back;

static void counting_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct weir_list *fifo = weir_policy_data(w);

	(void)where;
	list_push_back(fifo, &rq->link);
}

static int counting_init(struct weir *w)
{
	list_init(weir_policy_data(w));
	return 0;
}

static void counting_remove(struct weir *w, struct weir_rq *rq)
{
	(void)w;
	list_unlink(&rq->link);
}

static struct weir_rq *counting_dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct weir_list *fifo = weir_policy_data(w);
	struct weir_rq *rq;

	(void)force, (void)v;
	if (list_is_empty(fifo))
		return NULL;
	rq = list_first(fifo, struct weir_rq, link);
	list_unlink(&rq->link);
	return rq;
}

static void counting_complete(struct weir *w, struct weir_rq *rq)
{
	(void)w, (void)rq;
	nr_completed++;
}

static void counting_undispatch(struct weir *w, struct weir_rq *rq)
{
	(void)w, (void)rq;
	nr_given_back++;
}

static const struct weir_policy counting = {
	.info = {.name = "counting", .help = "counts"},
	.instance_size = sizeof(struct weir_list),
	.init = counting_init,
	.insert = counting_insert,
	.dispatch = counting_dispatch,
	.remove = counting_remove,
	.complete = counting_complete,
	.undispatch = counting_undispatch,
};

/* What another policy sent is none of this one's business when it comes back. */
static void not_mine(void **state)
{
	struct util_host *h = *state;
	uint32_t n, first = h->nr_rqs;

	nr_completed = 0;
	nr_given_back = 0;
	for (n = 0; n < 6; n++)
		util_insert(h, WEIR_OP_READ, n * 1000, 8);
	assert_int_equal(util_dispatch(h), first);
	assert_int_equal(util_dispatch(h), first + 1);
	switch_to(h, &counting);
	util_complete(h, first);
	weir_requeue(h->w, &h->rq[first + 1], WEIR_REQUEUE_INSERT, h->now);
	assert_int_equal(nr_completed + nr_given_back, 0);
	assert_int_equal(util_dispatch(h), first + 2);
	assert_int_equal(util_dispatch(h), first + 3);
	weir_requeue(h->w, &h->rq[first + 2], WEIR_REQUEUE_INSERT, h->now);
	util_complete(h, first + 3);
	assert_int_equal(nr_completed, 1);
	assert_int_equal(nr_given_back, 1);
	/* To itself it is another one as well. */
	assert_int_equal(util_dispatch(h), first + 4);
	nr_given_back = 0;
	switch_to(h, &counting);
	assert_int_equal(nr_given_back, 3); /* the three that waited, taken out of it */
	util_complete(h, first + 4);
	assert_int_equal(nr_completed, 1);
	switch_to(h, &weir_policy_noop);
}

/* Merge look-ups still know the requests. */
static void merging_goes_on(void **state)
{
	struct util_host *h = *state;
	uint32_t a = util_insert(h, WEIR_OP_READ, 1000, 8);
	enum weir_merge kind;

	util_insert(h, WEIR_OP_READ, 5000, 8);
	switch_to(h, &weir_policy_deadline);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 1008, 8, &kind), a);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 992, 8, &kind), a);
	assert_int_equal(kind, WEIR_MERGE_FRONT);
	switch_to(h, &weir_policy_weir);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 1016, 8, &kind), a);
	assert_int_equal(util_dispatch(h), a);
	assert_int_equal(h->rq[a].nr_sectors, 32);
	util_complete(h, a);
}

static void between_prepare_and_commit(void **state)
{
	const struct weir_policy *to;
	struct util_host *h = *state;
	unsigned int i;

	for (i = 0; (to = weir_policy_at(i)); i++) {
		struct weir_group *old = util_group(h, weir_root(h->w), 100);
		struct weir_ctx *old_ctx = weir_ctx_create(h->w, old, WEIR_IOPRIO_NONE, 0, h->now);
		struct weir_switch *sw = prepare(h, to);
		struct crowd c;
		uint32_t a, b;

		crowd_come(h, &c);
		weir_ctx_exit(old_ctx, h->now);
		assert_int_equal(weir_group_remove(old, h->now), 0);
		a = util_insert_as(h, c.g[1], c.ctx[1], WEIR_OP_READ, 0, 8);
		weir_switch_commit(h->w, sw, h->now);
		b = util_insert_as(h, c.g[2], NULL, WEIR_OP_READ, 0, 8);
		/* Some would let the second wait. */
		weir_set_drain(h->w, true, h->now);
		assert_in_range(util_dispatch(h), a, b);
		assert_in_range(util_dispatch(h), a, b);
		weir_set_drain(h->w, false, h->now);
		util_complete(h, a);
		util_complete(h, b);
		crowd_go(h, &c);
	}
}

/* One at a time; a prepared one can be given back; destruction gives it back, too. */
static void cancel(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = util_group(h, weir_root(h->w), 100);
	size_t before = h->memory.bytes;
	struct weir_switch *sw = prepare(h, &weir_policy_weir);
	struct weir_group *late = util_group(h, g, 100);
	int err;

	assert_null(weir_switch_prepare(h->w, &weir_policy_tpps, NULL, &err));
	assert_int_equal(err, -WEIR_EBUSY);
	assert_int_equal(weir_group_remove(late, h->now), 0);
	weir_switch_cancel(h->w, sw);
	assert_ptr_equal(weir_current_policy(h->w), &weir_policy_noop);
	/* Heaps of g and of the instance have grown for `late`; nothing else. */
	assert_in_range(h->memory.bytes, before, before + 2000);
	util_expect(h, util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8));
	prepare(h, &weir_policy_tpps); /* the fixture destroys */
}

static void tunables_of_the_new_one(void **state)
{
	struct util_host *h = *state;
	uint64_t values[WEIR_TUNABLES_MAX];
	int err, index = weir_tunable_find(&weir_policy_deadline, "fifo_batch");
	struct weir_switch *sw;

	assert_true(index >= 0);
	util_defaults(&weir_policy_deadline, values);
	util_tune(&weir_policy_deadline, values, "fifo_batch", 3);
	sw = weir_switch_prepare(h->w, &weir_policy_deadline, values, &err);
	assert_non_null(sw);
	values[index] = 5; /* it has its own copy */
	weir_switch_commit(h->w, sw, h->now);
	assert_int_equal(weir_tunable_get(h->w, (unsigned int)index), 3);
	values[index] = weir_policy_info(&weir_policy_deadline)->tunables[index].max + 1;
	assert_null(weir_switch_prepare(h->w, &weir_policy_deadline, values, &err));
	assert_int_equal(err, -WEIR_ERANGE);
	switch_to(h, &weir_policy_deadline);
	assert_int_equal(weir_tunable_get(h->w, (unsigned int)index),
			 weir_policy_info(&weir_policy_deadline)->tunables[index].def);
}

static void lack_of_memory(void **state)
{
	const struct weir_policy *to;
	struct util_host *h = *state;
	unsigned int i, k, err_seen = 0;
	struct crowd c;
	size_t before;
	int err;

	crowd_come(h, &c);
	util_insert_as(h, c.g[0], NULL, WEIR_OP_READ, 0, 8);
	for (i = 0; (to = weir_policy_at(i)); i++) {
		struct weir_switch *sw = NULL;

		before = h->memory.bytes;
		for (k = 1; !sw; k++) {
			h->memory.calls = 0;
			h->memory.fail_at = k;
			sw = weir_switch_prepare(h->w, to, NULL, &err);
			h->memory.fail_at = 0;
			if (sw)
				break;
			err_seen++;
			assert_int_equal(err, -WEIR_ENOMEM);
			assert_int_equal(h->memory.bytes, before);
			assert_null(h->w->pending);
		}
		/* A group, and a context, that cannot be had while one is prepared. */
		h->memory.calls = 0;
		h->memory.fail_at = 1;
		assert_null(weir_group_create(h->w, c.g[0], &c.g[0]->attr, h->now, &err));
		assert_int_equal(err, -WEIR_ENOMEM);
		h->memory.calls = 0;
		assert_null(weir_ctx_create(h->w, c.g[0], WEIR_IOPRIO_NONE, 0, h->now));
		h->memory.fail_at = 0;
		weir_switch_commit(h->w, sw, h->now);
	}
	assert_true(err_seen > 10);
	util_expect(h, 0);
	crowd_go(h, &c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_pairs, setup, teardown),
		cmocka_unit_test_setup_teardown(order_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(not_mine, setup, teardown),
		cmocka_unit_test_setup_teardown(merging_goes_on, setup, teardown),
		cmocka_unit_test_setup_teardown(between_prepare_and_commit, setup, teardown),
		cmocka_unit_test_setup_teardown(cancel, setup, teardown),
		cmocka_unit_test_setup_teardown(tunables_of_the_new_one, setup, teardown),
		cmocka_unit_test_setup_teardown(lack_of_memory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
