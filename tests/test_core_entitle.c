// SPDX-License-Identifier: GPL-2.0-only
/*
 * core/entitle.c: the integral of a group's share while the device is in use, to the nanosecond
 * against sums done by hand, and at random against a model that integrates every interval.
 */
#include "tests/util_host.h"

#include "core/core.h"
#include "core/entitle.h"

#define MS UINT64_C(1000000)

static struct util_host host;

static int setup(void **state)
{
	util_host_init(&host); /* a claim lasts 2 ms */
	util_host_start(&host, &weir_policy_noop, NULL);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static uint32_t insert(struct util_host *h, struct weir_group *g)
{
	return util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8);
}

/* In and out of the device at once: what remains is a claim. */
static void touch(struct util_host *h, struct weir_group *g)
{
	util_expect(h, insert(h, g));
}

static struct weir_group_stats stats(struct util_host *h, struct weir_group *g)
{
	struct weir_group_stats s;

	weir_group_read_stats(g, h->now, &s);
	return s;
}

static uint64_t entitled(struct util_host *h, struct weir_group *g)
{
	return stats(h, g).entitled_ns;
}

static uint64_t own_entitled(struct util_host *h, struct weir_group *g)
{
	struct weir_group_stats s;

	weir_group_read_own_stats(g, h->now, &s);
	return s.entitled_ns;
}

static void set_weights(struct util_host *h, struct weir_group *g, uint32_t weight, uint32_t own)
{
	struct weir_group_attr attr;

	weir_group_get(g, &attr);
	attr.weight = weight;
	attr.own_weight = own;
	assert_int_equal(weir_group_set(g, &attr, h->now), 0);
}

static void one_alone(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g = util_group(h, root, 1);

	h->now += 7 * MS; /* nothing to do: no use */
	insert(h, g);
	h->now += 123456;
	assert_int_equal(entitled(h, g), 123456);
	assert_int_equal(entitled(h, root), 123456);
	assert_int_equal(stats(h, root).in_use_ns, 123456);
	assert_int_equal(stats(h, g).active_ns, 123456);
	assert_int_equal(own_entitled(h, root), 0);
	util_expect(h, h->nr_rqs - 1);
	h->now += 100 * MS; /* idle again; the claim is activity without use */
	assert_int_equal(entitled(h, g), 123456);
	assert_int_equal(stats(h, g).active_ns, 123456 + 2 * MS);
}

static void two_by_weight(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 200);
	struct weir_group *b = util_group(h, weir_root(h->w), 300);

	insert(h, a);
	insert(h, b);
	h->now += 1 * MS;
	assert_int_equal(entitled(h, a), 400000);
	assert_int_equal(entitled(h, b), 600000);
	/* In the device instead of the queue: the same. */
	util_dispatch(h);
	h->now += 1 * MS;
	assert_int_equal(entitled(h, a), 800000);
	assert_int_equal(entitled(h, b), 1200000);
	assert_int_equal(entitled(h, weir_root(h->w)), 2 * MS);
}

/* The claim ends in the middle of a long step without calls, and is honoured to the nanosecond. */
static void claims_expire(void **state)
{
	struct util_host *h = *state;
	struct weir_group *a = util_group(h, weir_root(h->w), 300);
	struct weir_group *b = util_group(h, weir_root(h->w), 100);

	insert(h, b);
	util_dispatch(h);
	touch(h, a);
	h->now += 10 * MS;
	/* 2 ms at 3/4, then nothing; b has the rest. */
	assert_int_equal(entitled(h, a), 1500000);
	assert_int_equal(entitled(h, b), 8500000);
	assert_int_equal(stats(h, a).active_ns, 2 * MS);
	/* Back within its claim, a second time: no gap, and the claim begins anew. */
	touch(h, a);
	h->now += 1 * MS;
	touch(h, a);
	h->now += 10 * MS;
	assert_int_equal(entitled(h, a), 1500000 + 2250000);
	assert_int_equal(stats(h, a).active_ns, 5 * MS);
}

static void claims_expire_in_order(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w);
	struct weir_group *a = util_group(h, root, 100), *b = util_group(h, root, 100);
	struct weir_group *c = util_group(h, root, 100);

	insert(h, c);
	util_dispatch(h);
	touch(h, a);
	h->now += 500000;
	touch(h, b);
	h->now += 20 * MS;
	/* .5 ms in halves, 1.5 in thirds, .5 in halves, the rest alone. */
	assert_int_equal(entitled(h, a), 250000 + 500000);
	assert_int_equal(entitled(h, b), 500000 + 250000);
	assert_int_equal(entitled(h, c), 250000 + 500000 + 250000 + 18 * MS);
}

/* The length of claims is cut while some run: they end late by no more than the old length. */
static void claim_length_changes(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w);
	struct weir_group *a = util_group(h, root, 100), *b = util_group(h, root, 100);
	uint64_t start = h->now;

	insert(h, root);
	util_dispatch(h);
	touch(h, a);
	h->cfg.claim_ns = 0;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
	h->now = start + 100000;
	touch(h, b);
	h->now = start + 50 * MS;
	assert_int_equal(stats(h, a).active_ns, 2 * MS);
	assert_true(stats(h, b).active_ns <= 2 * MS);
	assert_int_equal(stats(h, root).in_use_ns, 50 * MS);
	/* a 1/2 and, with b for 1.9 ms, 1/3; the rest is the root's own. */
	assert_in_range(entitled(h, a), 680000, 690000);
	assert_true(entitled(h, b) <= 640000);
	assert_in_range(own_entitled(h, root), 48 * MS, 49500000);
	/* Without claims, whoever is done is gone. */
	touch(h, a);
	h->now += 1 * MS;
	assert_int_equal(stats(h, a).active_ns, 2 * MS);
}

static void weights_change(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w);
	struct weir_group *a = util_group(h, root, 100), *b = util_group(h, root, 100);

	insert(h, a);
	insert(h, b);
	h->now += 1 * MS;
	set_weights(h, a, 300, 100);
	h->now += 1 * MS;
	set_weights(h, b, 700, 100);
	h->now += 1 * MS;
	assert_int_equal(entitled(h, a), 500000 + 750000 + 300000);
	assert_int_equal(entitled(h, b), 500000 + 250000 + 700000);
	/* Of an inactive group nobody takes note, until it comes. */
	set_weights(h, util_group(h, root, 10000), 9000, 100);
	h->now += 1 * MS;
	assert_int_equal(entitled(h, a), 500000 + 750000 + 300000 + 300000);
}

/* A node's own requests are one more child of its own_weight, the root's, too. */
static void hidden_child(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *a = util_group(h, root, 300);
	struct weir_group *x = util_group(h, a, 400);

	insert(h, root);
	insert(h, x);
	insert(h, a);
	h->now += 1 * MS;
	/* Root's own 100 : a 300; within a, own 100 : x 400. */
	assert_int_equal(own_entitled(h, root), 250000);
	assert_int_equal(entitled(h, a), 750000);
	assert_int_equal(own_entitled(h, a), 150000);
	assert_int_equal(entitled(h, x), 600000);
	assert_int_equal(own_entitled(h, x), 600000);
	set_weights(h, a, 300, 1600);
	set_weights(h, root, 100, 700);
	h->now += 1 * MS;
	assert_int_equal(own_entitled(h, root), 250000 + 700000);
	assert_int_equal(entitled(h, a), 750000 + 300000);
	assert_int_equal(own_entitled(h, a), 150000 + 240000);
	assert_int_equal(entitled(h, x), 600000 + 60000);
}

/* What only waits for a ceiling is active, but does not use the device. */
static void held_is_not_use(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *b = util_group(h, root, 100), *a;
	struct weir_group_attr attr;
	uint64_t start = h->now;

	weir_group_attr_init(&attr);
	attr.max.iops[WEIR_READ] = 10;
	a = weir_group_create(h->w, root, &attr, h->now, NULL);
	util_expect(h, insert(h, a));
	insert(h, a); /* held until 100 ms */
	h->now = start + 10 * MS;
	assert_int_equal(stats(h, root).in_use_ns, 0);
	assert_int_equal(entitled(h, a), 0);
	assert_int_equal(stats(h, a).active_ns, 10 * MS);
	insert(h, b);
	h->now = start + 11 * MS;
	assert_int_equal(entitled(h, a), 500000);
	assert_int_equal(entitled(h, b), 500000);
}

/* The clock of one group of the smallest weight must not wrap, however long it is alone. */
static void long_at_weight_one(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w);
	struct weir_group *a = util_group(h, root, 1), *b = util_group(h, root, 1);
	const uint64_t hours_ns = UINT64_C(100) * 3600 * 1000 * MS;

	insert(h, a);
	util_dispatch(h);
	h->now += 5000 * MS;
	assert_int_equal(entitled(h, a), 5000 * MS);
	h->now += hours_ns;
	insert(h, b);
	h->now += hours_ns;
	assert_int_equal(entitled(h, a), 5000 * MS + hours_ns + hours_ns / 2);
	assert_int_equal(entitled(h, b), hours_ns / 2);
}

/* Read at every nanosecond, nothing is lost by rounding. */
static void often_read(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g[3];
	uint64_t sum = 0;
	unsigned int n;

	for (n = 0; n < 3; n++) {
		g[n] = util_group(h, weir_root(h->w), 3333);
		insert(h, g[n]);
	}
	for (n = 0; n < 9000; n++) {
		h->now++;
		entitled(h, g[n % 3]);
	}
	for (n = 0; n < 3; n++) {
		assert_in_range(entitled(h, g[n]), 2990, 3000);
		sum += entitled(h, g[n]);
	}
	assert_in_range(sum, 8980, 9000);
}

static void share_now(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *a = util_group(h, root, 300);
	struct weir_group *x = util_group(h, a, 400), *b = util_group(h, root, 100);
	const uint64_t all = UINT64_C(1) << 32;

	/* As if it were active, with nobody else so. */
	assert_int_equal(weir_entitle_share(x), all);
	assert_int_equal(weir_entitle_share(b), all);
	insert(h, b);
	assert_int_equal(weir_entitle_share(b), all);
	assert_int_equal(weir_entitle_share(x), all / 4 * 3);
	insert(h, a);
	assert_int_equal(weir_entitle_share(a), all / 4 * 3);
	assert_int_equal(weir_entitle_share(x), (uint64_t)(3 * (all / 4)) * 400 / 500);
	assert_int_equal(weir_entitle_share(b), all / 4);
}

/* ---- at random, against a model ---- */

#define NODES 8

static const int parent_of[NODES] = {-1, 0, 0, 1, 1, 2, 3, 3};

struct model {
	struct weir_group *g[NODES];
	uint64_t claim_end_ns[NODES]; /* of own requests; UINT64_MAX: some are there; 0: none */
	uint64_t in_use_ns;
	/* ns << 20 */
	uint64_t sum[NODES], own[NODES];
};

static bool own_is_active(const struct model *m, unsigned int n, uint64_t now)
{
	return m->claim_end_ns[n] > now;
}

static bool is_active(const struct model *m, unsigned int n, uint64_t now)
{
	unsigned int i;

	for (i = n; i < NODES; i++) {
		int up = (int)i;

		while (up >= 0 && up != (int)n)
			up = parent_of[up];
		if (up == (int)n && own_is_active(m, i, now))
			return true;
	}
	return false;
}

/* Gives length_ns << 20 to the root, and from each node to what is active in it. */
static void model_interval(struct model *m, uint64_t now, uint64_t length_ns)
{
	uint64_t gain[NODES] = {length_ns << 20};
	unsigned int n, c;

	m->in_use_ns += length_ns;
	for (n = 0; n < NODES; n++) {
		const struct weir_group_attr *attr = &m->g[n]->attr;
		uint64_t weights = own_is_active(m, n, now) ? attr->own_weight : 0;

		for (c = n + 1; c < NODES; c++)
			if (parent_of[c] == (int)n && is_active(m, c, now))
				weights += m->g[c]->attr.weight;
		m->sum[n] += gain[n];
		if (!weights)
			continue;
		if (own_is_active(m, n, now))
			m->own[n] +=
				(uint64_t)((unsigned __int128)gain[n] * attr->own_weight / weights);
		for (c = n + 1; c < NODES; c++)
			if (parent_of[c] == (int)n && is_active(m, c, now))
				gain[c] = (uint64_t)((unsigned __int128)gain[n] *
						     m->g[c]->attr.weight / weights);
	}
}

static void model_advance(struct model *m, struct util_host *h, uint64_t length_ns)
{
	uint64_t end_ns = h->now + length_ns;
	bool in_use = weir_nr_waiting(h->w) + weir_nr_in_flight(h->w) > 0;
	unsigned int n;

	while (h->now < end_ns) {
		uint64_t to_ns = end_ns;

		for (n = 0; n < NODES; n++)
			if (m->claim_end_ns[n] > h->now && m->claim_end_ns[n] < to_ns)
				to_ns = m->claim_end_ns[n];
		if (in_use)
			model_interval(m, h->now, to_ns - h->now);
		h->now = to_ns;
	}
}

static void model_update(struct model *m, struct util_host *h)
{
	unsigned int n;

	for (n = 0; n < NODES; n++) {
		if (m->g[n]->nr_rqs)
			m->claim_end_ns[n] = UINT64_MAX;
		else if (m->claim_end_ns[n] == UINT64_MAX)
			m->claim_end_ns[n] = h->now + h->cfg.claim_ns;
	}
}

static void near_to(uint64_t got, uint64_t want)
{
	assert_in_range(got + 500, want, want + 1000);
}

static void at_random(void **state)
{
	static struct model m;
	struct util_host *h = *state;
	uint64_t seed = 17;
	uint32_t n, step, i;

	memset(&m, 0, sizeof(m));
	for (n = 0; n < NODES; n++)
		m.g[n] = n ? util_group(h, m.g[parent_of[n]], 100) : weir_root(h->w);
	for (step = 0; step < 4000; step++) {
		uint32_t what = (uint32_t)util_below(&seed, 16);
		struct weir_group *g = m.g[util_below(&seed, NODES)];

		if (what == 0 && g->parent)
			set_weights(h, g, 1 + (uint32_t)util_below(&seed, 1000),
				    1 + (uint32_t)util_below(&seed, 1000));
		else if (what < 8)
			insert(h, g);
		util_dispatch(h);
		for (i = 0; what >= 8 && i < h->nr_rqs; i++)
			if (h->rq[i].state == WEIR_RQ_DISPATCHED && util_below(&seed, 4))
				util_complete(h, i);
		model_update(&m, h);
		model_advance(&m, h, util_below(&seed, 3 * MS));
	}
	assert_true(m.in_use_ns > 1000 * MS);
	assert_int_equal(stats(h, m.g[0]).in_use_ns, m.in_use_ns);
	for (n = 0; n < NODES; n++) {
		near_to(entitled(h, m.g[n]), m.sum[n] >> 20);
		near_to(own_entitled(h, m.g[n]), m.own[n] >> 20);
		assert_true(m.own[n] >> 20 > 100 * MS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(two_by_weight, setup, teardown),
		cmocka_unit_test_setup_teardown(claims_expire, setup, teardown),
		cmocka_unit_test_setup_teardown(claims_expire_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(claim_length_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(weights_change, setup, teardown),
		cmocka_unit_test_setup_teardown(hidden_child, setup, teardown),
		cmocka_unit_test_setup_teardown(held_is_not_use, setup, teardown),
		cmocka_unit_test_setup_teardown(long_at_weight_one, setup, teardown),
		cmocka_unit_test_setup_teardown(often_read, setup, teardown),
		cmocka_unit_test_setup_teardown(share_now, setup, teardown),
		cmocka_unit_test_setup_teardown(at_random, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
