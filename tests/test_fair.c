// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shares of the weir policy against the reference fair queue (tests/model_fair.h): groups that are
 * always backlogged, in trees and phases, judged in device time.
 */
#include "tests/model_fair.h"
#include "tests/toy_device.h"

#include "core/spi.h"

static struct toy toy;
static struct model_fair fair;

/* A leaf of the model, and the stream that keeps it backlogged. */
struct leaf {
	int node;
	struct toy_stream *s;
	uint64_t cost_ns;
	uint64_t base_ns, fair_base_ns; /* received before the phase that is judged */
};

static struct leaf leaf[TOY_STREAMS];
static uint32_t nr_leaves;

static void start(void)
{
	toy_init(&toy);
	/* 32 at once, 0.2 ms each: 160,000 a second. The profile says 100,000. */
	toy.depth = 32;
	toy.service_min_ns = 100 * TOY_US;
	toy.service_max_ns = 300 * TOY_US;
	toy_start(&toy, &weir_policy_weir, NULL);
	model_fair_init(&fair);
	nr_leaves = 0;
}

/* Keeps g's own requests backlogged; in the model they are `node`. */
static struct leaf *add_leaf(struct weir_group *g, int node, uint32_t nr_sectors)
{
	struct leaf *l = &leaf[nr_leaves++];

	*l = (struct leaf){.node = node, .s = toy_stream(&toy, g, 64)};
	l->s->nr_sectors = nr_sectors;
	l->cost_ns = weir_profile_cost_ns(&toy.cfg.profile, WEIR_OP_READ, nr_sectors, true);
	return l;
}

static void begin(struct leaf *l)
{
	toy_start_stream(&toy, l->s);
	model_fair_backlog(&fair, l->node, l->cost_ns);
}

static void end(struct leaf *l)
{
	toy_stop_stream(&toy, l->s);
	model_fair_backlog(&fair, l->node, 0);
}

static uint64_t received_ns(const struct leaf *l)
{
	struct weir_group_stats stats;

	weir_group_read_own_stats(l->s->group, toy.now, &stats);
	return stats.dir[WEIR_READ].device_ns;
}

/* Runs both; each leaf must get what the model says, within a permille and a few requests. */
static void run_and_compare(uint64_t length_ns, uint32_t permille)
{
	uint64_t total_ns = 0, most_ns = 0;
	uint32_t n;

	for (n = 0; n < nr_leaves; n++) {
		leaf[n].base_ns = received_ns(&leaf[n]);
		leaf[n].fair_base_ns = fair.node[leaf[n].node].served_ns;
		if (leaf[n].cost_ns > most_ns)
			most_ns = leaf[n].cost_ns;
	}
	toy_run(&toy, length_ns);
	for (n = 0; n < nr_leaves; n++)
		total_ns += received_ns(&leaf[n]) - leaf[n].base_ns;
	assert_true(total_ns > 1000 * most_ns);
	model_fair_run(&fair, total_ns);
	for (n = 0; n < nr_leaves; n++) {
		uint64_t got = received_ns(&leaf[n]) - leaf[n].base_ns;
		uint64_t want = fair.node[leaf[n].node].served_ns - leaf[n].fair_base_ns;
		uint64_t by = want * permille / 1000 + 3 * most_ns;

		if (got + by < want || got > want + by)
			fail_msg("leaf %u received %llu ns, the reference %llu", n,
				 (unsigned long long)got, (unsigned long long)want);
	}
}

static void flat(const uint32_t *weight, const uint32_t *nr_sectors, uint32_t nr,
		 uint64_t length_ns)
{
	uint32_t n;

	start();
	for (n = 0; n < nr; n++)
		begin(add_leaf(toy_group(&toy, weir_root(toy.w), weight[n]),
			       model_fair_add(&fair, 0, weight[n]), nr_sectors[n]));
	run_and_compare(length_ns, 1);
	toy_stop(&toy);
}

static void weights_200_300(void **state)
{
	static const uint32_t weight[] = {200, 300}, nr_sectors[] = {8, 8};

	(void)state;
	flat(weight, nr_sectors, 2, 2 * TOY_S);
}

static void weights_1_10000(void **state)
{
	static const uint32_t weight[] = {1, 10000}, nr_sectors[] = {8, 8};

	(void)state;
	flat(weight, nr_sectors, 2, 20 * TOY_S);
}

/* By device time, not by requests. */
static void sizes_differ(void **state)
{
	static const uint32_t weight[] = {100, 100, 200}, nr_sectors[] = {8, 256, 64};

	(void)state;
	flat(weight, nr_sectors, 3, 4 * TOY_S);
}

static void many_groups(void **state)
{
	uint32_t weight[32], nr_sectors[32], n;
	uint64_t seed = 9;

	(void)state;
	for (n = 0; n < 32; n++) {
		weight[n] = 10 + (uint32_t)util_below(&seed, 1000);
		nr_sectors[n] = 8u << util_below(&seed, 4);
	}
	flat(weight, nr_sectors, 32, 20 * TOY_S);
}

/*
 *	root -- a (300) -- aa (100), ab (50), own requests (25)
 *	     \- b (100) -- ba (10) -- baa (7), bab (3)
 *	     \- own requests (100)
 */
static void nested(void **state)
{
	struct weir_group *a, *b, *ba;
	struct weir_group_attr attr;
	int ma, mb, mba;

	(void)state;
	start();
	a = toy_group(&toy, weir_root(toy.w), 300);
	b = toy_group(&toy, weir_root(toy.w), 100);
	ba = toy_group(&toy, b, 10);
	weir_group_get(a, &attr);
	attr.own_weight = 25;
	assert_int_equal(weir_group_set(a, &attr, toy.now), 0);
	ma = model_fair_add(&fair, 0, 300);
	mb = model_fair_add(&fair, 0, 100);
	mba = model_fair_add(&fair, mb, 10);

	begin(add_leaf(toy_group(&toy, a, 100), model_fair_add(&fair, ma, 100), 8));
	begin(add_leaf(toy_group(&toy, a, 50), model_fair_add(&fair, ma, 50), 32));
	begin(add_leaf(a, model_fair_add(&fair, ma, 25), 8));
	begin(add_leaf(toy_group(&toy, ba, 7), model_fair_add(&fair, mba, 7), 8));
	begin(add_leaf(toy_group(&toy, ba, 3), model_fair_add(&fair, mba, 3), 16));
	begin(add_leaf(weir_root(toy.w), model_fair_add(&fair, 0, 100), 8));
	run_and_compare(10 * TOY_S, 1);
	toy_stop(&toy);
}

/* Groups come and go; each phase is judged by itself. What a group didn't ask for is gone. */
static void phases(void **state)
{
	struct weir_group *parent;
	struct leaf *a, *b, *c;
	int m;

	(void)state;
	start();
	parent = toy_group(&toy, weir_root(toy.w), 200);
	m = model_fair_add(&fair, 0, 200);
	a = add_leaf(toy_group(&toy, parent, 100), model_fair_add(&fair, m, 100), 8);
	b = add_leaf(toy_group(&toy, parent, 300), model_fair_add(&fair, m, 300), 8);
	c = add_leaf(toy_group(&toy, weir_root(toy.w), 100), model_fair_add(&fair, 0, 100), 8);
	begin(a);
	begin(c);
	run_and_compare(TOY_S, 2);
	begin(b);
	run_and_compare(TOY_S, 2);
	end(c);
	toy_run(&toy, 100 * TOY_MS);
	run_and_compare(TOY_S, 2);
	end(a);
	toy_run(&toy, 100 * TOY_MS);
	begin(c);
	run_and_compare(TOY_S, 2);
	begin(a);
	run_and_compare(TOY_S, 2);
	toy_stop(&toy);
}

/* The reference itself, where the answer is known. */
static void reference(void **state)
{
	int a, b, c;

	(void)state;
	model_fair_init(&fair);
	a = model_fair_add(&fair, 0, 1);
	b = model_fair_add(&fair, 0, 10000);
	assert_int_equal(model_fair_serve(&fair), -1);
	model_fair_backlog(&fair, a, 1000);
	model_fair_backlog(&fair, b, 1000);
	model_fair_run(&fair, UINT64_C(10001) * 1000 * 50);
	assert_in_range(fair.node[a].served_ns, 49000, 51000);
	/* One that was away doesn't catch up. */
	c = model_fair_add(&fair, 0, 10000);
	model_fair_backlog(&fair, c, 1000);
	model_fair_run(&fair, 20000000);
	assert_in_range(fair.node[c].served_ns, 9990000, 10010000);
	model_fair_backlog(&fair, b, 0);
	model_fair_backlog(&fair, a, 0);
	model_fair_run(&fair, 1000000);
	assert_in_range(fair.node[c].served_ns, 10990000, 11010000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reference),	   cmocka_unit_test(weights_200_300),
		cmocka_unit_test(weights_1_10000), cmocka_unit_test(sizes_differ),
		cmocka_unit_test(many_groups),	   cmocka_unit_test(nested),
		cmocka_unit_test(phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
