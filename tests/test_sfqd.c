// SPDX-License-Identifier: GPL-2.0-only
/* sfqd: tags, virtual time, the bound of depth, and fairness within its bounds. */
#include "tests/serial_device.h"

#include "core/spi.h"

static struct util_host host;

#define MS UINT64_C(1000000)

struct flows {
	struct util_host *h;
	struct weir_group *a, *b, *c;
};

static struct flows flows;

static int setup(void **state)
{
	util_host_init(&host);
	host.cfg.merge = false;
	util_host_start(&host, &weir_policy_sfqd, NULL);
	/* Tags are whole numbers then, so equal ones are. */
	util_set_tunable(&host, "unit_cost", 1);
	flows.h = &host;
	flows.a = util_group(&host, weir_root(host.w), 100);
	flows.b = util_group(&host, weir_root(host.w), 300);
	flows.c = util_group(&host, flows.a, 300); /* below a, and its equal */
	*state = &flows;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	util_host_stop(&host);
	return 0;
}

static void set_weight(struct util_host *h, struct weir_group *g, uint32_t weight)
{
	struct weir_group_attr attr;

	weir_group_get(g, &attr);
	attr.weight = weight;
	assert_int_equal(weir_group_set(g, &attr, h->now), 0);
}

/* Requests of one size; the first is returned. */
static uint32_t insert(struct flows *f, struct weir_group *g, uint32_t nr)
{
	uint32_t first = f->h->nr_rqs;

	while (nr--)
		util_insert_as(f->h, g, NULL, WEIR_OP_READ, 1000, 8);
	return first;
}

/* A letter for each that goes; each completes at once. */
static void expect_order(struct flows *f, const char *order)
{
	for (; *order; order++) {
		uint32_t got = util_dispatch(f->h);
		struct weir_group *g;

		assert_int_not_equal(got, UTIL_NONE);
		g = f->h->rq[got].group;
		assert_int_equal(g == f->a ? 'A' : g == f->b ? 'B' : 'C', *order);
		util_complete(f->h, got);
	}
}

/* Keeps the device from running empty, at no one's expense: it is put at the head. */
static uint32_t hold_device(struct flows *f)
{
	struct weir_rq *rq = util_bio(f->h, WEIR_OP_READ, 0, 8);

	weir_insert(f->h->w, rq, WEIR_HEAD, f->h->now);
	assert_ptr_equal(weir_dispatch(f->h->w, f->h->now, NULL), rq);
	return f->h->nr_rqs - 1;
}

static void smallest_start_first(void **state)
{
	struct flows *f = *state;
	uint32_t hold = hold_device(f);

	insert(f, f->a, 10);
	insert(f, f->b, 20);
	/* Equal tags: A's arrived first. */
	expect_order(f, "ABBBABBBA");
	util_complete(f->h, hold);
}

/* A new flow begins at v, the start of the last that went: as if it had never been away. */
static void newcomer_begins_at_v(void **state)
{
	struct flows *f = *state;
	uint32_t hold = hold_device(f);

	insert(f, f->a, 10);
	insert(f, f->b, 30);
	expect_order(f, "ABBBABBBABBBABBB");
	/* v is B's last: 11, F of B is 12. */
	insert(f, f->c, 9);
	expect_order(f, "CABCBCBCABC");
	util_complete(f->h, hold);
}

/* Idle time gives no credit, however long. */
static void idle_gives_nothing(void **state)
{
	struct flows *f = *state;
	uint32_t hold = hold_device(f);

	insert(f, f->b, 2);
	expect_order(f, "BB");
	insert(f, f->a, 100);
	expect_order(f, "AAAAAAAAAA");
	f->h->now += 1000000 * MS;
	insert(f, f->b, 30);
	expect_order(f, "BBBABBBABBBABBB");
	util_complete(f->h, hold);
}

/* Who has just been served and comes back at once begins where it ended; from v, A would go first. */
static void finish_tag_counts(void **state)
{
	struct flows *f = *state;
	uint32_t hold = hold_device(f), n;

	set_weight(f->h, f->b, 100);
	insert(f, f->b, 8);
	for (n = 0; n < 8; n++) {
		insert(f, f->a, 1);
		expect_order(f, "BA");
	}
	util_complete(f->h, hold);
}

/* All gone: v is the largest finish tag, and all begin together. */
static void empty_system(void **state)
{
	struct flows *f = *state;

	insert(f, f->a, 3);
	expect_order(f, "AAA");
	/* F of A is 9. Would v be A's last start, 6, B came first. */
	insert(f, f->a, 2);
	insert(f, f->b, 4);
	expect_order(f, "ABBBA");
	expect_order(f, "B");
	/* The last to leave may be one that is removed. */
	insert(f, f->a, 1);
	assert_int_equal(weir_remove(f->h->w, &f->h->rq[f->h->nr_rqs - 1], f->h->now), 0);
	insert(f, f->a, 1);
	insert(f, f->b, 1);
	expect_order(f, "AB");
}

static void depth(void **state)
{
	struct flows *f = *state;
	struct weir_group_stats stats;
	uint32_t n, got[5];

	util_set_tunable(f->h, "depth", 4);
	insert(f, f->a, 20);
	insert(f, f->b, 20);
	for (n = 0; n < 4; n++)
		got[n] = util_dispatch(f->h);
	assert_int_equal(util_dispatch(f->h), UTIL_NONE);
	/* A is next: A 0, B 0 1 2 are in the device. */
	f->h->now += 3 * MS;
	weir_group_read_own_stats(f->a, f->h->now, &stats);
	assert_int_equal(stats.wait_ns[WEIR_WAIT_DEVICE], 3 * MS);
	weir_group_read_stats(f->b, f->h->now, &stats);
	assert_int_equal(stats.wait_ns[WEIR_WAIT_SHARE], 3 * MS);
	util_complete(f->h, got[2]);
	got[2] = util_dispatch(f->h);
	assert_ptr_equal(f->h->rq[got[2]].group, f->a);
	assert_int_equal(util_dispatch(f->h), UTIL_NONE);
	util_set_tunable(f->h, "depth", 5);
	got[4] = util_dispatch(f->h);
	assert_ptr_equal(f->h->rq[got[4]].group, f->b);
	assert_int_equal(util_dispatch(f->h), UTIL_NONE);
	weir_set_drain(f->h->w, true, f->h->now);
	for (n = 0; n < 34; n++)
		assert_int_not_equal(util_dispatch(f->h), UTIL_NONE);
}

/* With four of A in the device, B begins at the first of them instead of the last. */
static void min_vtime(void **state)
{
	struct flows *f = *state;
	uint32_t n, on, first;

	set_weight(f->h, f->b, 100);
	util_set_tunable(f->h, "depth", 4);
	for (on = 0; on <= 1; on++) {
		util_set_tunable(f->h, "min_vtime", on);
		first = insert(f, f->a, 10);
		for (n = 0; n < 4; n++)
			assert_int_equal(util_dispatch(f->h), first + n);
		insert(f, f->b, 6);
		/* A: 0 3 6 9 in the device, 12 next. B: 9 12 15, or 0 3 6 9 12. */
		for (n = 0; n < 4; n++)
			util_complete(f->h, first + n);
		expect_order(f, on ? "BBBBABABAAAA" : "BABABABABABA");
		assert_int_equal(weir_nr_waiting(f->h->w), 0);
	}
}

/* The smallest in the device moves on with its completion, not with others'. */
static void min_vtime_follows_the_slowest(void **state)
{
	struct flows *f = *state;
	uint32_t n, first;

	set_weight(f->h, f->b, 100);
	util_set_tunable(f->h, "depth", 8);
	util_set_tunable(f->h, "min_vtime", 1);
	first = insert(f, f->a, 12);
	for (n = 0; n < 4; n++)
		assert_int_equal(util_dispatch(f->h), first + n);
	util_complete(f->h, first + 1);
	util_complete(f->h, first + 3);
	util_complete(f->h, first); /* the third is left: v is 6 */
	insert(f, f->b, 4);
	/* A's next is 12. */
	expect_order(f, "BBABAB");
	util_complete(f->h, first + 2);
}

static void flush_head_and_requeue_are_free(void **state)
{
	struct flows *f = *state;
	struct weir_rq *head;
	uint32_t a, hold;

	util_set_tunable(f->h, "depth", 2);
	hold = hold_device(f);
	set_weight(f->h, f->b, 100);
	a = insert(f, f->a, 4);
	insert(f, f->b, 4);
	assert_int_equal(util_dispatch(f->h), a);
	assert_int_equal(util_dispatch(f->h), UTIL_NONE);
	/* Past the depth. */
	head = util_bio(f->h, WEIR_OP_READ, 5, 8);
	head->group = f->a;
	util_insert_as(f->h, f->a, NULL, WEIR_OP_FLUSH, 0, 0);
	weir_insert(f->h->w, head, WEIR_HEAD, f->h->now);
	assert_ptr_equal(weir_dispatch(f->h->w, f->h->now, NULL), head);
	expect_order(f, "A");
	weir_complete(f->h->w, head, f->h->now);
	weir_requeue(f->h->w, &f->h->rq[a], WEIR_REQUEUE_INSERT, f->h->now);
	assert_int_equal(util_dispatch(f->h), a);
	util_complete(f->h, a);
	/* A had but one that counts. */
	expect_order(f, "BABABAB");
	util_complete(f->h, hold);
}

/* Weights count when a request goes, also for those that waited before. */
static void weight_changes(void **state)
{
	struct flows *f = *state;
	uint32_t hold = hold_device(f);

	insert(f, f->a, 30);
	insert(f, f->b, 30);
	expect_order(f, "ABBBABBB");
	set_weight(f->h, f->b, 100);
	expect_order(f, "ABABAB");
	set_weight(f->h, f->b, 50);
	expect_order(f, "ABAABAAB");
	util_complete(f->h, hold);
}

/* The first leaves, and the next takes its tag, with the place of its own arrival. */
static void removal(void **state)
{
	struct flows *f = *state;
	uint32_t hold = hold_device(f), a, b;

	set_weight(f->h, f->b, 100);
	a = insert(f, f->a, 1);
	b = insert(f, f->b, 2);
	insert(f, f->a, 2);
	assert_int_equal(weir_remove(f->h->w, &f->h->rq[a], f->h->now), 0);
	expect_order(f, "BAB");
	assert_int_equal(f->h->rq[b].state, WEIR_RQ_NEW);
	expect_order(f, "A");
	/* The only one leaves: it was never served, and costs nothing. */
	a = insert(f, f->a, 1);
	assert_int_equal(weir_remove(f->h->w, &f->h->rq[a], f->h->now), 0);
	insert(f, f->a, 1);
	insert(f, f->b, 1);
	expect_order(f, "AB");
	util_complete(f->h, hold);
}

/* What merging added is charged. */
static void merged_size_counts(void **state)
{
	struct util_host *h = &host;
	struct weir_group *a, *b;
	struct weir_rq *bio, *into;
	uint32_t first;

	(void)state;
	util_host_init(h);
	h->cfg.profile.rseqiops = h->cfg.profile.rrandiops =
		1000000; /* all by size: 4.1 us a block */
	util_host_start(h, &weir_policy_sfqd, NULL);
	a = util_group(h, weir_root(h->w), 100);
	b = util_group(h, weir_root(h->w), 100);
	first = util_insert_as(h, a, NULL, WEIR_OP_READ, 0, 8);
	bio = util_bio(h, WEIR_OP_READ, 8, 24);
	bio->group = a;
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_BACK);
	weir_merge_bio(h->w, into, bio, WEIR_MERGE_BACK, h->now);
	util_insert_as(h, a, NULL, WEIR_OP_READ, 100000, 8);
	util_insert_as(h, b, NULL, WEIR_OP_READ, 0, 8);
	util_insert_as(h, b, NULL, WEIR_OP_READ, 100, 8);
	util_insert_as(h, b, NULL, WEIR_OP_READ, 200, 8);
	util_insert_as(h, b, NULL, WEIR_OP_READ, 300, 8);
	/* A's first costs 4: B's at 0, 1, 2, 3 go before A's second. */
	util_expect(h, first);
	util_expect(h, first + 3);
	util_expect(h, first + 4);
	util_expect(h, first + 5);
	util_expect(h, first + 6);
	util_expect(h, first + 2);
	util_host_stop(h);
}

/* ---- closed loops ---- */

/*
 * Normalised service of two flows: how far the one was ever ahead of the other, from any time to any
 * later one. Weights are 1 and 3, so three of the second weigh as much as one of the first.
 */
struct lead {
	int64_t now, min, max;
};

static void lead_add(struct lead *l, int64_t thirds)
{
	l->now += thirds;
	if (l->now < l->min)
		l->min = l->now;
	if (l->now > l->max)
		l->max = l->now;
}

static void dispatched(struct sd_stream *s, const struct weir_rq *rq)
{
	(void)rq;
	lead_add(s->priv, s->group == flows.a ? 3 : -1);
}

/* 1 : 3 at D = 16, on a device that completes out of order; and within the bounds all the time. */
static void bound_holds(void **state)
{
	static struct sd d;
	struct lead sent = {0, 0, 0}, done = {0, 0, 0};
	struct sd_stream *a, *b;
	uint64_t last[2] = {0, 0}, values[WEIR_TUNABLES_MAX];
	uint32_t n;

	(void)state;
	sd_init(&d);
	d.stall_every = 7;
	d.stall_ns = 500 * SD_US;
	util_defaults(&weir_policy_sfqd, values);
	util_tune(&weir_policy_sfqd, values, "depth", 16);
	sd_start(&d, &weir_policy_sfqd, values);
	flows.a = sd_group(&d, weir_root(d.w), 100);
	flows.b = sd_group(&d, weir_root(d.w), 300);
	a = sd_stream(&d, flows.a, 64);
	b = sd_stream(&d, flows.b, 64);
	a->dispatched = b->dispatched = dispatched;
	a->priv = b->priv = &sent;
	sd_start_stream(&d, a);
	sd_start_stream(&d, b);
	for (n = 0; n < 200000; n++) {
		sd_run(&d, 10 * SD_US);
		lead_add(&done, 3 * (int64_t)(a->done - last[0]) - (int64_t)(b->done - last[1]));
		last[0] = a->done;
		last[1] = b->done;
	}
	/* One request of each: 3 + 1 thirds. */
	assert_in_range(sent.max - sent.min, 1, 4);
	/* (D + 1) of each. */
	assert_in_range(done.max - done.min, 1, 17 * 4);
	assert_in_range(sd_share_ppm(&d, a), 249000, 251000);
	assert_int_equal(d.in_device_max, 16);
	sd_stop(&d);
}

/* Large requests beside small ones: device time in proportion; or, with unit_cost, IOPS. */
static void sizes(void **state)
{
	static struct sd d;
	uint64_t values[WEIR_TUNABLES_MAX];
	struct sd_stream *a, *b;
	uint32_t unit;

	(void)state;
	for (unit = 0; unit <= 1; unit++) {
		sd_init(&d);
		util_defaults(&weir_policy_sfqd, values);
		util_tune(&weir_policy_sfqd, values, "unit_cost", unit);
		sd_start(&d, &weir_policy_sfqd, values);
		a = sd_stream(&d, sd_group(&d, weir_root(d.w), 100), 64);
		b = sd_stream(&d, sd_group(&d, weir_root(d.w), 300), 64);
		a->nr_sectors = 128;
		sd_start_stream(&d, a);
		sd_start_stream(&d, b);
		sd_run(&d, 2 * SD_S);
		if (unit)
			assert_in_range(b->done * 1000 / a->done, 2970, 3030);
		else
			assert_in_range(sd_share_ppm(&d, a), 247500, 252500);
		sd_stop(&d);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(smallest_start_first),
		TEST(newcomer_begins_at_v),
		TEST(idle_gives_nothing),
		TEST(finish_tag_counts),
		TEST(empty_system),
		TEST(depth),
		TEST(min_vtime),
		TEST(min_vtime_follows_the_slowest),
		TEST(flush_head_and_requeue_are_free),
		TEST(weight_changes),
		TEST(removal),
		cmocka_unit_test(merged_size_counts),
		cmocka_unit_test(bound_holds),
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
