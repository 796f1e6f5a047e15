// SPDX-License-Identifier: GPL-2.0-only
/* noop, and the merging rules that all policies without a search of their own share. */
#include "tests/util_host.h"

#include "core/spi.h"

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

static void order_of_arrival(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = util_group(h, weir_root(h->w), 1000);
	uint32_t a, b, c, d;

	/* Neither sector, direction, nor group matters. */
	a = util_insert(h, WEIR_OP_WRITE, 90000, 8);
	b = util_insert(h, WEIR_OP_READ, 100, 8);
	c = util_insert_as(h, g, NULL, WEIR_OP_READ, 50000, 8);
	d = util_insert(h, WEIR_OP_FLUSH, 0, 0);
	util_expect(h, a);
	util_expect(h, b);
	util_expect(h, c);
	util_expect(h, d);
	util_expect(h, UTIL_NONE);
}

static void nothing_is_held_back(void **state)
{
	struct util_host *h = *state;
	uint32_t n;

	for (n = 0; n < 1000; n++)
		util_insert(h, WEIR_OP_READ, n * 100, 8);
	for (n = 0; n < 1000; n++)
		assert_int_equal(util_dispatch(h), n);
	assert_int_equal(weir_nr_in_flight(h->w), 1000);
}

static void head_and_requeue_go_first(void **state)
{
	struct util_host *h = *state;
	uint32_t a, b;
	struct weir_rq *first;

	a = util_insert(h, WEIR_OP_READ, 100, 8);
	b = util_insert(h, WEIR_OP_READ, 200, 8);
	first = util_bio(h, WEIR_OP_READ, 300, 8);
	weir_insert(h->w, first, WEIR_HEAD, h->now);
	assert_ptr_equal(weir_dispatch(h->w, h->now, NULL), first);
	assert_int_equal(util_dispatch(h), a);
	weir_requeue(h->w, &h->rq[a], WEIR_REQUEUE_INSERT, h->now);
	util_expect(h, a);
	util_expect(h, b);
	weir_complete(h->w, first, h->now);
}

static void removal(void **state)
{
	struct util_host *h = *state;
	uint32_t a, b, c;

	a = util_insert(h, WEIR_OP_READ, 100, 8);
	b = util_insert(h, WEIR_OP_READ, 200, 8);
	c = util_insert(h, WEIR_OP_READ, 300, 8);
	assert_int_equal(weir_remove(h->w, &h->rq[b], h->now), 0);
	assert_int_equal(util_dispatch(h), a);
	assert_int_equal(weir_remove(h->w, &h->rq[a], h->now), -WEIR_EBUSY);
	util_complete(h, a);
	util_expect(h, c);
	util_expect(h, UTIL_NONE);
}

/* 4 KiB bios in sequence become requests of max_sectors; the next begins a new one, which grows. */
static void sequential_bios_fill_requests(void **state)
{
	struct util_host *h = *state;
	uint32_t max = h->cfg.max_sectors, sector, inserted = 0;
	enum weir_merge kind;

	for (sector = 0; sector < 4 * max; sector += 8) {
		if (util_merge(h, WEIR_OP_READ, sector, 8, &kind) != UTIL_NONE) {
			assert_int_equal(kind, WEIR_MERGE_BACK);
			continue;
		}
		util_insert(h, WEIR_OP_READ, sector, 8);
		inserted++;
	}
	assert_int_equal(inserted, 4);
	for (sector = 0; sector < 4 * max; sector += max) {
		struct weir_rq *rq = weir_dispatch(h->w, h->now, NULL);

		assert_non_null(rq);
		assert_int_equal(rq->sector, sector);
		assert_int_equal(rq->nr_sectors, max);
		assert_int_equal(rq->nr_merged, max / 8 - 1);
		weir_complete(h->w, rq, h->now);
	}
}

/* A front merge is found only where the hint happens to point. */
static void front_merge_needs_the_hint(void **state)
{
	struct util_host *h = *state;
	enum weir_merge kind;
	uint32_t a, b;

	a = util_insert(h, WEIR_OP_WRITE, 1000, 8);
	b = util_insert(h, WEIR_OP_WRITE, 2000, 8);
	/* The hint is b, inserted last. */
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 992, 8, &kind), UTIL_NONE);
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 1992, 8, &kind), b);
	assert_int_equal(kind, WEIR_MERGE_FRONT);
	assert_int_equal(h->rq[b].sector, 1992);
	/* Growing moves it to a. */
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 1008, 8, &kind), a);
	assert_int_equal(kind, WEIR_MERGE_BACK);
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 1984, 8, &kind), UTIL_NONE);
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 992, 8, &kind), a);
	assert_int_equal(kind, WEIR_MERGE_FRONT);
	/* The hinted request goes, and the hint with it. */
	util_expect(h, a);
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 1984, 8, &kind), UTIL_NONE);
	util_expect(h, b);
}

static void dispatched_never_grows(void **state)
{
	struct util_host *h = *state;
	enum weir_merge kind;

	util_insert(h, WEIR_OP_READ, 1000, 8);
	assert_int_equal(util_dispatch(h), 0);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 1008, 8, &kind), UTIL_NONE);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 992, 8, &kind), UTIL_NONE);
}

/* Joining looks at neighbours in the list, not on the disk. */
static void joins_list_neighbours_only(void **state)
{
	struct util_host *h = *state;
	struct weir_rq *bio, *into;
	uint32_t a, b, c, d;

	a = util_insert(h, WEIR_OP_READ, 1000, 8);
	util_insert(h, WEIR_OP_READ, 7000, 8);
	b = util_insert(h, WEIR_OP_READ, 1016, 8);
	util_insert(h, WEIR_OP_READ, 9000, 8); /* takes the hint from b */
	bio = util_bio(h, WEIR_OP_READ, 1008, 8);
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_BACK);
	assert_ptr_equal(into, &h->rq[a]);
	/* 1000 .. 1016 touches b now, but 7000 stands between them. */
	assert_null(weir_merge_bio(h->w, into, bio, WEIR_MERGE_BACK, h->now));

	c = util_insert(h, WEIR_OP_READ, 8000, 8);
	d = util_insert(h, WEIR_OP_READ, 8016, 8);
	util_insert(h, WEIR_OP_READ, 9016, 8);
	bio = util_bio(h, WEIR_OP_READ, 8008, 8);
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_BACK);
	assert_ptr_equal(into, &h->rq[c]);
	assert_ptr_equal(weir_merge_bio(h->w, into, bio, WEIR_MERGE_BACK, h->now), &h->rq[d]);
	weir_merge_rq(h->w, into, &h->rq[d], h->now);
	assert_int_equal(h->rq[c].nr_sectors, 24);
	assert_int_equal(h->rq[c].nr_merged, 2);
	assert_int_equal(h->rq[d].state, WEIR_RQ_NEW);
	assert_int_equal(h->rq[b].nr_sectors, 8);
	assert_int_equal(weir_nr_waiting(h->w), 6);
}

/* Requests of different groups stay apart, whatever the policy thinks of groups. */
static void never_across_groups(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = util_group(h, weir_root(h->w), 100);
	struct weir_rq *bio, *into;

	util_insert(h, WEIR_OP_READ, 1000, 8);
	bio = util_bio(h, WEIR_OP_READ, 1008, 8);
	bio->group = g;
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_NONE);
	assert_null(into);
	bio->sector = 992;
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_NONE);
}

/* A choice has a name for each value, and no two are the same; others have none. */
static void check_names(const struct weir_tunable *t)
{
	uint64_t n;

	assert_int_equal(t->names != NULL, t->unit == WEIR_UNIT_CHOICE);
	assert_int_equal(weir_choice_find(t, "no_such_name"), -WEIR_ENOENT);
	assert_null(weir_choice_name(t, t->max + 1));
	if (!t->names) {
		assert_null(weir_choice_name(t, t->min));
		return;
	}
	assert_int_equal(t->min, 0);
	for (n = 0; n <= t->max; n++) {
		assert_string_equal(weir_choice_name(t, n), t->names[n]);
		assert_int_equal(weir_choice_find(t, t->names[n]), n);
	}
	assert_null(t->names[n]);
}

static void registry(void **state)
{
	static const char *const order[] = {"noop",   "deadline", "anticipatory", "cfq",   "efq",
					    "tpps",   "bfq",	  "mq-deadline",  "kyber", "iocost",
					    "mclock", "sfqd",	  "weir"};
	unsigned int n, t;

	(void)state;
	for (n = 0; n < sizeof(order) / sizeof(order[0]); n++) {
		const struct weir_policy *p = weir_policy_at(n);
		const struct weir_policy_info *info = weir_policy_info(p);

		assert_string_equal(info->name, order[n]);
		assert_ptr_equal(weir_policy_find(order[n]), p);
		assert_non_null(info->help);
		for (t = 0; info->tunables[t].name; t++) {
			const struct weir_tunable *tn = &info->tunables[t];

			assert_int_equal(weir_tunable_find(p, tn->name), t);
			assert_true(tn->min <= tn->def && tn->def <= tn->max);
			assert_non_null(tn->help);
			assert_string_not_equal(weir_unit_name(tn->unit), "?");
			check_names(tn);
		}
		assert_true(t <= WEIR_TUNABLES_MAX);
		assert_int_equal(weir_tunable_find(p, "no_such_tunable"), -WEIR_ENOENT);
	}
	assert_null(weir_policy_at(n));
	assert_null(weir_policy_find("noo"));
	assert_null(weir_policy_find("noopy"));
	assert_null(weir_policy_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(order_of_arrival, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_held_back, setup, teardown),
		cmocka_unit_test_setup_teardown(head_and_requeue_go_first, setup, teardown),
		cmocka_unit_test_setup_teardown(removal, setup, teardown),
		cmocka_unit_test_setup_teardown(sequential_bios_fill_requests, setup, teardown),
		cmocka_unit_test_setup_teardown(front_merge_needs_the_hint, setup, teardown),
		cmocka_unit_test_setup_teardown(dispatched_never_grows, setup, teardown),
		cmocka_unit_test_setup_teardown(joins_list_neighbours_only, setup, teardown),
		cmocka_unit_test_setup_teardown(never_across_groups, setup, teardown),
		cmocka_unit_test(registry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
