// SPDX-License-Identifier: GPL-2.0-only
/*
 * core/group.c: attributes and their checks, creation under lack of memory, and removal with
 * requests held, queued and in flight, with contexts alive, and of parents before their children
 * have drained.
 */
#include "tests/util_host.h"

#include "core/core.h"

static struct util_host host;

void weir_assert_fail(const char *expr, const char *file, int line)
{
	mock_assert(0, expr, file, line);
}

static int setup_policy(void **state, const struct weir_policy *policy)
{
	util_host_init(&host);
	util_host_start(&host, policy, NULL);
	*state = &host;
	return 0;
}

static int setup_noop(void **state)
{
	return setup_policy(state, &weir_policy_noop);
}

static int setup_weir(void **state)
{
	return setup_policy(state, &weir_policy_weir);
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

/* ---- attributes ---- */

static void defaults(void **state)
{
	struct util_host *h = *state;
	struct weir_group_attr attr;
	unsigned int dir;

	weir_group_get(weir_root(h->w), &attr);
	assert_int_equal(attr.weight, 100);
	assert_int_equal(attr.own_weight, 100);
	assert_int_equal(attr.latency_target_ns, 0);
	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		assert_int_equal(attr.max.bps[dir], WEIR_UNLIMITED);
		assert_int_equal(attr.max.iops[dir], WEIR_UNLIMITED);
		assert_int_equal(attr.low.bps[dir], 0);
		assert_int_equal(attr.low.iops[dir], 0);
	}
	assert_null(weir_group_attr_check(&attr));
}

/* Sets one number of attr by its place in this list: all that can be wrong alone. */
static void set_number(struct weir_group_attr *attr, unsigned int which, uint64_t value)
{
	unsigned int dir = which & 1;

	switch (which) {
	case 0:
		attr->weight = (uint32_t)value;
		break;
	case 1:
		attr->own_weight = (uint32_t)value;
		break;
	case 2:
	case 3:
		attr->max.bps[dir] = value;
		break;
	case 4:
	case 5:
		attr->max.iops[dir] = value;
		break;
	case 6:
	case 7:
		attr->low.bps[dir] = value;
		break;
	case 8:
	case 9:
		attr->low.iops[dir] = value;
		break;
	case 10:
		attr->latency_target_ns = value;
		break;
	}
}

static void bounds(void **state)
{
	static const struct {
		unsigned int from, to; /* numbers of set_number() */
		uint64_t good[3], bad[3];
	} rule[] = {
		{0, 1, {1, 100, 10000}, {0, 10001, UINT32_MAX}},
		{2, 5, {1, 1000, WEIR_UNLIMITED}, {0, 0, 0}},
		{6,
		 9,
		 {0, 1, WEIR_UNLIMITED - 1},
		 {WEIR_UNLIMITED, WEIR_UNLIMITED, WEIR_UNLIMITED}},
		{10,
		 10,
		 {0, 1, UINT64_C(3600000000000)},
		 {UINT64_C(3600000000001), UINT64_MAX, UINT64_MAX}},
	};
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g = util_group(h, root, 100);
	struct weir_group_attr attr, before;
	unsigned int r, which, i;
	int err;

	for (r = 0; r < sizeof(rule) / sizeof(rule[0]); r++) {
		for (which = rule[r].from; which <= rule[r].to; which++) {
			for (i = 0; i < 3; i++) {
				weir_group_attr_init(&attr);
				set_number(&attr, which, rule[r].good[i]);
				assert_null(weir_group_attr_check(&attr));
				assert_int_equal(weir_group_set(g, &attr, h->now), 0);
				weir_group_get(g, &before);
				assert_memory_equal(&attr, &before, sizeof(attr));
				set_number(&attr, which, rule[r].bad[i]);
				assert_non_null(weir_group_attr_check(&attr));
				assert_int_equal(weir_group_set(g, &attr, h->now), -WEIR_EINVAL);
				weir_group_get(g, &attr);
				assert_memory_equal(&attr, &before, sizeof(attr));
				set_number(&attr, which, rule[r].bad[i]);
				assert_null(weir_group_create(h->w, root, &attr, h->now, &err));
				assert_int_equal(err, -WEIR_EINVAL);
			}
		}
	}
}

static void floor_within_ceiling(void **state)
{
	struct weir_group_attr attr;
	unsigned int which;

	(void)state;
	for (which = 2; which < 6; which++) {
		weir_group_attr_init(&attr);
		set_number(&attr, which, 1000);
		set_number(&attr, which + 4, 1000);
		assert_null(weir_group_attr_check(&attr));
		set_number(&attr, which + 4, 1001);
		assert_non_null(weir_group_attr_check(&attr));
	}
}

static void root_is_special(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w);
	struct weir_group_attr attr;
	int err;

	weir_group_attr_init(&attr);
	attr.own_weight = 300;
	attr.max.bps[WEIR_READ] = 1000000;
	attr.low.iops[WEIR_WRITE] = 10;
	assert_int_equal(weir_group_set(root, &attr, h->now), 0);
	attr.weight = 101;
	assert_int_equal(weir_group_set(root, &attr, h->now), -WEIR_EINVAL);
	attr.weight = 100;
	attr.latency_target_ns = 1;
	assert_int_equal(weir_group_set(root, &attr, h->now), -WEIR_EINVAL);
	weir_group_get(root, &attr);
	assert_int_equal(attr.own_weight, 300);
	assert_int_equal(attr.latency_target_ns, 0);
	assert_int_equal(weir_group_remove(root, h->now), -WEIR_EPERM);
	assert_null(weir_group_parent(root));
	assert_int_equal(weir_group_id(root), 0);
	/* There is one. */
	weir_group_attr_init(&attr);
	assert_null(weir_group_create(h->w, NULL, &attr, h->now, &err));
	assert_int_equal(err, -WEIR_EINVAL);
}

/* ---- creation ---- */

static void nesting(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = weir_root(h->w), *last = g;
	struct weir_group_attr attr;
	unsigned int depth;
	int err;

	weir_group_attr_init(&attr);
	for (depth = 1; depth <= WEIR_GROUP_DEPTH_MAX; depth++) {
		g = util_group(h, last, 100);
		assert_ptr_equal(weir_group_parent(g), last);
		assert_int_equal(weir_group_id(g), depth);
		last = g;
	}
	assert_null(weir_group_create(h->w, g, &attr, h->now, &err));
	assert_int_equal(err, -WEIR_EINVAL);
	/* It works down there. */
	util_expect(h, util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8));
	weir_group_set_host_data(g, &attr);
	assert_ptr_equal(weir_group_host_data(g), &attr);
	assert_null(weir_group_host_data(last->parent));
}

/* Each allocation fails once, here and at every sibling: heaps grow only now and then. */
static void lack_of_memory(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g;
	struct weir_group_attr attr;
	unsigned int i, k, failed = 0;
	uint32_t nr_groups;
	size_t bytes;
	int err;

	weir_group_attr_init(&attr);
	attr.max.iops[WEIR_READ] = 5;
	attr.low.bps[WEIR_WRITE] = 5;
	for (i = 0; i < 20; i++) {
		for (g = NULL, k = 1; !g; k++) {
			bytes = h->memory.bytes;
			nr_groups = h->w->nr_groups;
			h->memory.calls = 0;
			h->memory.fail_at = k;
			g = weir_group_create(h->w, root, &attr, h->now, &err);
			h->memory.fail_at = 0;
			if (g)
				break;
			failed++;
			assert_int_equal(err, -WEIR_ENOMEM);
			assert_int_equal(h->w->nr_groups, nr_groups);
			/* Heaps that grew for it may stay grown; the group itself is gone. */
			assert_true(h->memory.bytes < bytes + sizeof(*g));
			util_expect(h, util_insert(h, WEIR_OP_READ, 0, 8));
		}
		assert_int_equal(err, 0);
		util_expect(h, util_insert_as(h, g, NULL, WEIR_OP_WRITE, 0, 8));
	}
	assert_true(failed >= 25); /* each group, the policy's state of it, heaps now and then */
	/* Contexts, too. */
	bytes = h->memory.bytes;
	h->memory.calls = 0;
	h->memory.fail_at = 1;
	assert_null(weir_ctx_create(h->w, root, WEIR_IOPRIO_BE, 4, h->now));
	assert_int_equal(h->memory.bytes, bytes);
	h->memory.fail_at = 0;
}

/* ---- removal ---- */

static bool is_there(struct util_host *h, uint32_t id)
{
	struct weir_group *g;

	list_for_each(g, &h->w->groups, struct weir_group, all)
		if (g->id == id)
			return true;
	return false;
}

static struct weir_dir_stats own(struct util_host *h, struct weir_group *g, enum weir_dir dir)
{
	struct weir_group_stats s;

	weir_group_read_own_stats(g, h->now, &s);
	return s.dir[dir];
}

static void order_of_removal(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 100), *b = util_group(h, a, 100);
	uint32_t id_a = weir_group_id(a), id_b = weir_group_id(b);

	assert_int_equal(weir_group_remove(a, h->now), -WEIR_EBUSY);
	assert_true(is_there(h, id_a));
	assert_int_equal(weir_group_remove(b, h->now), 0);
	assert_false(is_there(h, id_b));
	assert_int_equal(weir_group_remove(a, h->now), 0);
	assert_false(is_there(h, id_a));
	/* Numbers are not used twice. */
	assert_int_equal(weir_group_id(util_group(h, weir_root(h->w), 100)), id_b + 1);
}

/* With requests held, queued and in flight at once: all leave, then the group goes. */
static void with_requests(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g;
	uint32_t id, in_flight, held, queued;
	struct weir_group_attr attr;
	int err;

	weir_group_attr_init(&attr);
	attr.max.iops[WEIR_READ] = 10;
	g = weir_group_create(h->w, root, &attr, h->now, &err);
	id = weir_group_id(g);
	in_flight = util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8);
	held = util_insert_as(h, g, NULL, WEIR_OP_READ, 1 << 20, 8);
	assert_int_equal(util_dispatch(h), in_flight);
	queued = util_insert_as(h, g, NULL, WEIR_OP_WRITE, 0, 8);
	assert_int_equal(h->rq[held].state, WEIR_RQ_HELD);
	assert_int_equal(weir_group_remove(g, h->now), 0);
	assert_int_equal(weir_group_remove(g, h->now), -WEIR_EPERM);
	assert_null(weir_group_create(h->w, g, &attr, h->now, &err));
	assert_int_equal(err, -WEIR_EPERM);
	util_expect(h, queued);
	util_complete(h, in_flight);
	assert_true(is_there(h, id)); /* its ceiling holds for the last one, too */
	util_expect(h, UTIL_NONE);
	h->now += 100000000;
	assert_int_equal(util_dispatch(h), held);
	assert_true(is_there(h, id));
	util_complete(h, held);
	assert_false(is_there(h, id));
	assert_int_equal(own(h, root, WEIR_READ).completed, 2);
	assert_int_equal(own(h, root, WEIR_READ).bytes, 2 * 4096);
	assert_int_equal(own(h, root, WEIR_WRITE).completed, 1);
	assert_int_equal(own(h, root, WEIR_READ).service_ns, 0);
	assert_int_equal(own(h, root, WEIR_READ).queue_wait_ns, 100000000);
}

/* The last request is removed by the host, or requeued, instead of completing. */
static void last_request_removed(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g = util_group(h, root, 100);
	uint32_t id = weir_group_id(g), a;

	a = util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8);
	assert_int_equal(util_dispatch(h), a);
	assert_int_equal(weir_group_remove(g, h->now), 0);
	weir_requeue(h->w, &h->rq[a], WEIR_REQUEUE_INSERT, h->now);
	assert_true(is_there(h, id));
	assert_int_equal(weir_remove(h->w, &h->rq[a], h->now), 0);
	assert_false(is_there(h, id));
	assert_int_equal(own(h, root, WEIR_READ).removed, 1);
	assert_int_equal(own(h, root, WEIR_READ).requeued, 1);
}

static void with_contexts(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g = util_group(h, root, 100);
	struct weir_ctx *ctx = weir_ctx_create(h->w, g, WEIR_IOPRIO_NONE, 0, h->now);
	struct weir_ctx *mover = weir_ctx_create(h->w, g, WEIR_IOPRIO_NONE, 0, h->now);
	uint32_t id = weir_group_id(g), a;

	a = util_insert_as(h, g, ctx, WEIR_OP_READ, 0, 8);
	assert_int_equal(weir_group_remove(g, h->now), 0);
	expect_assert_failure(weir_ctx_create(h->w, g, WEIR_IOPRIO_NONE, 0, h->now));
	weir_ctx_exit(ctx, h->now);
	assert_true(is_there(h, id));
	util_expect(h, a); /* the context goes with it */
	assert_true(is_there(h, id));
	weir_ctx_move(mover, root, h->now);
	assert_false(is_there(h, id));
	weir_ctx_exit(mover, h->now);
}

/* Parent and child are removed while the child's request is in the device: the path stays. */
static void parent_after_child(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *top = util_group(h, root, 100);
	struct weir_group *mid = util_group(h, top, 200), *leaf = util_group(h, mid, 300);
	uint32_t id[3] = {weir_group_id(top), weir_group_id(mid), weir_group_id(leaf)};
	struct weir_group_stats s;
	uint32_t a, b;

	a = util_insert_as(h, leaf, NULL, WEIR_OP_READ, 0, 8);
	b = util_insert_as(h, mid, NULL, WEIR_OP_READ, 0, 8);
	assert_int_equal(weir_group_remove(leaf, h->now), 0);
	assert_int_equal(weir_group_remove(top, h->now), -WEIR_EBUSY);
	assert_int_equal(weir_group_remove(mid, h->now), 0);
	assert_int_equal(weir_group_remove(top, h->now), 0);
	h->now += 500;
	assert_true(util_dispatch(h) != UTIL_NONE);
	assert_true(util_dispatch(h) != UTIL_NONE);
	h->now += 1000;
	util_complete(h, b);
	assert_true(is_there(h, id[0]) && is_there(h, id[1]) && is_there(h, id[2]));
	/* The top still shows all that is below. */
	weir_group_read_stats(top, h->now, &s);
	assert_int_equal(s.dir[WEIR_READ].inserted, 2);
	assert_int_equal(s.dir[WEIR_READ].in_flight, 1);
	util_complete(h, a);
	assert_false(is_there(h, id[0]) || is_there(h, id[1]) || is_there(h, id[2]));
	assert_int_equal(own(h, root, WEIR_READ).completed, 2);
	assert_int_equal(own(h, root, WEIR_READ).service_ns, 2000);
}

/* A child is removed while its parent lives: what it did is the parent's own from then on. */
static void folding(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *p = util_group(h, root, 100);
	struct weir_group *c = util_group(h, p, 100);
	struct weir_group_stats before, after;
	struct weir_hist hist;
	uint32_t a;

	a = util_insert_as(h, c, NULL, WEIR_OP_WRITE, 0, 16);
	h->now += 300000;
	assert_int_equal(util_dispatch(h), a);
	h->now += 5000000;
	util_complete(h, a);
	util_expect(h, util_insert_as(h, c, NULL, WEIR_OP_FLUSH, 0, 0));
	util_expect(h, util_insert_as(h, p, NULL, WEIR_OP_READ, 0, 8));
	h->now += 10000000;
	weir_group_read_stats(p, h->now, &before);
	assert_int_equal(weir_group_remove(c, h->now), 0);
	weir_group_read_stats(p, h->now, &after);
	assert_memory_equal(&before, &after, sizeof(after));
	weir_group_read_own_stats(p, h->now, &after);
	assert_memory_equal(&before, &after, sizeof(after)); /* entitlement included */
	assert_int_equal(after.dir[WEIR_WRITE].completed, 2);
	assert_int_equal(after.flushes, 1);
	assert_int_equal(after.entitled_ns, 5300000);
	weir_group_read_hist(p, WEIR_WRITE, WEIR_HIST_SERVICE, &hist);
	assert_int_equal(hist.count, 2);
	assert_int_equal(hist.max_ns, 5000000);
	assert_int_equal(hist.bucket[weir_hist_index(5000000)], 1);
}

/* Changes under load: every number, at once, with requests in every state. */
static void set_under_load(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g[4];
	struct weir_group_attr attr;
	uint64_t seed = 5;
	uint32_t n, i;

	for (i = 0; i < 4; i++)
		g[i] = util_group(h, i < 2 ? root : g[i - 2], 100);
	for (n = 0; n < 3000; n++) {
		i = (uint32_t)util_below(&seed, 4);
		util_insert_as(h, g[i], NULL, util_below(&seed, 3) ? WEIR_OP_READ : WEIR_OP_WRITE,
			       util_below(&seed, 1 << 20) * 8, 8);
		weir_group_attr_init(&attr);
		attr.weight = 1 + (uint32_t)util_below(&seed, 10000);
		attr.own_weight = 1 + (uint32_t)util_below(&seed, 10000);
		if (util_below(&seed, 2))
			attr.max.iops[util_below(&seed, 2)] = 1000 + util_below(&seed, 100000);
		if (util_below(&seed, 2))
			attr.low.bps[util_below(&seed, 2)] = util_below(&seed, 100000000);
		if (util_below(&seed, 4) == 0)
			attr.latency_target_ns = util_below(&seed, 1000000);
		assert_int_equal(weir_group_set(g[util_below(&seed, 4)], &attr, h->now), 0);
		h->now += util_below(&seed, 20000);
		util_dispatch(h);
		for (i = 0; i < n && util_below(&seed, 2); i++)
			if (h->rq[i].state == WEIR_RQ_DISPATCHED)
				util_complete(h, i);
	}
	/* Everything leaves once; the fixture checks that all memory came back. */
	weir_set_drain(h->w, true, h->now);
	while (util_dispatch(h) != UTIL_NONE)
		;
	for (i = 0; i < h->nr_rqs; i++)
		if (h->rq[i].state == WEIR_RQ_DISPATCHED)
			util_complete(h, i);
	for (i = 4; i--;)
		assert_int_equal(weir_group_remove(g[i], h->now), 0);
	assert_int_equal(h->w->nr_groups, 1);
	assert_int_equal(h->w->nr_limited, 0);
	assert_int_equal(h->w->nr_judged, 0);
	assert_int_equal(own(h, root, WEIR_READ).completed + own(h, root, WEIR_WRITE).completed,
			 3000);
}

#define both(test)                                                \
	{#test " (noop)", test, setup_noop, teardown, NULL},      \
	{                                                         \
#test " (weir)", test, setup_weir, teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(defaults, setup_noop, teardown),
		cmocka_unit_test_setup_teardown(bounds, setup_noop, teardown),
		cmocka_unit_test_setup_teardown(floor_within_ceiling, setup_noop, teardown),
		cmocka_unit_test_setup_teardown(root_is_special, setup_noop, teardown),
		both(nesting),
		both(lack_of_memory),
		both(order_of_removal),
		both(with_requests),
		both(last_request_removed),
		both(with_contexts),
		both(parent_after_child),
		both(folding),
		both(set_under_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
