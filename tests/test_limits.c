// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ceilings (io.max): exact within 1 % over windows of a second or 100 requests, whatever the rate,
 * the tree, the changes and the host's punctuality. The policy is noop, the device takes
 * everything.
 */
#include "tests/model_tokens.h"
#include "tests/toy_device.h"

#include "core/spi.h"

static struct toy toy;

#define KIB 1024
#define MB 1000000
#define NO_LIMIT WEIR_UNLIMITED

/* ---- releases, as they come ---- */

#define RELEASES 200000

static struct {
	uint64_t at_ns[RELEASES];
	uint32_t nr;
} seen;

static void record(struct toy_stream *s, const struct weir_rq *rq)
{
	(void)s;
	assert_true(seen.nr < RELEASES);
	seen.at_ns[seen.nr++] = rq->dispatch_ns;
}

/*
 * Every window of the given length, wherever it begins: at most and at least so many releases. The
 * fullest windows begin with a release, the emptiest just after one.
 */
static void check_windows(uint64_t length_ns, uint64_t least, uint64_t most)
{
	uint32_t first = 0, end = 0, windows = 0;

	for (; first < seen.nr; first++) {
		uint64_t begin = seen.at_ns[first];

		while (end < seen.nr && seen.at_ns[end] < begin + length_ns)
			end++;
		if (end == seen.nr)
			break;
		windows++;
		if (end - first > most)
			fail_msg("%u releases in a window, at most %llu expected", end - first,
				 (unsigned long long)most);
		/* (begin, begin + length] */
		if (end - first - 1 + (seen.at_ns[end] == begin + length_ns) < least)
			fail_msg("%u releases in a window, at least %llu expected", end - first - 1,
				 (unsigned long long)least);
	}
	assert_true(windows > 0);
}

/* ---- set up ---- */

static struct weir_group_attr limits(uint64_t bps, uint64_t iops)
{
	struct weir_group_attr attr;
	int dir;

	weir_group_attr_init(&attr);
	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		attr.max.bps[dir] = bps;
		attr.max.iops[dir] = iops;
	}
	return attr;
}

static void start(void)
{
	seen.nr = 0;
	toy_init(&toy);
	toy.service_min_ns = 1000;
	toy.service_max_ns = 3000;
	toy_start(&toy, &weir_policy_noop, NULL);
}

static struct weir_group *group(struct weir_group *parent, struct weir_group_attr attr)
{
	int err = 0;
	struct weir_group *g = weir_group_create(toy.w, parent, &attr, toy.now, &err);

	assert_non_null(g);
	return g;
}

static void set(struct weir_group *g, struct weir_group_attr attr)
{
	assert_int_equal(weir_group_set(g, &attr, toy.now), 0);
}

static struct toy_stream *stream(struct weir_group *g, uint32_t bytes)
{
	struct toy_stream *s = toy_stream(&toy, g, 64);

	s->nr_sectors = bytes / 512;
	toy_start_stream(&toy, s);
	return s;
}

static void assert_within(uint64_t value, uint64_t wanted, uint64_t permille)
{
	uint64_t by = wanted * permille / 1000;

	if (value + by < wanted || value > wanted + by)
		fail_msg("%llu is not within %llu permille of %llu", (unsigned long long)value,
			 (unsigned long long)permille, (unsigned long long)wanted);
}

/* One group under one ceiling, so long; its windows are judged. */
static void one_group(uint64_t bps, uint64_t iops, uint32_t bytes, uint64_t length_ns,
		      uint64_t window_ns, uint64_t per_window)
{
	struct toy_stream *s;

	start();
	s = toy_stream(&toy, group(weir_root(toy.w), limits(bps, iops)), 64);
	s->nr_sectors = bytes / 512;
	s->released = record;
	toy_start_stream(&toy, s);
	toy_run(&toy, length_ns);
	check_windows(window_ns, per_window - per_window / 100, per_window + per_window / 100);
	toy_stop(&toy);
}

/* ---- rates ---- */

static void iops_3000_in_every_second(void **state)
{
	(void)state;
	one_group(NO_LIMIT, 3000, 4096, 10 * TOY_S, TOY_S, 3000);
}

static void iops_1(void **state)
{
	(void)state;
	one_group(NO_LIMIT, 1, 4096, 1000 * TOY_S, 100 * TOY_S, 100);
}

static void iops_7(void **state)
{
	(void)state;
	one_group(NO_LIMIT, 7, 4096, 200 * TOY_S, 100 * TOY_S, 700);
}

static void bytes_4_kib_per_s(void **state)
{
	(void)state;
	/* 8 requests a second; and one every 32 s. */
	one_group(4 * KIB, NO_LIMIT, 512, 100 * TOY_S, 25 * TOY_S, 200);
	one_group(4 * KIB, NO_LIMIT, 128 * KIB, 10000 * TOY_S, 3200 * TOY_S, 100);
}

static void bytes_10_mb_per_s(void **state)
{
	(void)state;
	one_group(10 * MB, NO_LIMIT, 4096, 10 * TOY_S, TOY_S, 10 * MB / 4096);
	one_group(10 * MB, NO_LIMIT, 64 * KIB, 10 * TOY_S, TOY_S, 152);
}

static void the_tighter_of_two_binds(void **state)
{
	(void)state;
	one_group(10 * MB, 1000, 4096, 5 * TOY_S, TOY_S, 1000);
	one_group(10 * MB, 1000, 64 * KIB, 10 * TOY_S, TOY_S, 152);
}

/* Rates that don't divide a second: nothing drifts over an hour. */
static void no_drift(void **state)
{
	struct toy_stream *s;

	(void)state;
	start();
	s = stream(group(weir_root(toy.w), limits(NO_LIMIT, 37)), 4096);
	toy_run(&toy, 3600 * TOY_S);
	assert_true(s->done >= 3600 * 37 - 1 && s->done <= 3600 * 37 + 1);
	toy_stop(&toy);
}

static void directions_are_apart(void **state)
{
	struct weir_group_attr attr = limits(NO_LIMIT, NO_LIMIT);
	struct toy_stream *reads, *writes;
	struct weir_group *g;

	(void)state;
	attr.max.iops[WEIR_READ] = 1000;
	attr.max.iops[WEIR_WRITE] = 10;
	start();
	g = group(weir_root(toy.w), attr);
	reads = stream(g, 4096);
	writes = toy_stream(&toy, g, 64);
	writes->op = WEIR_OP_WRITE;
	toy_start_stream(&toy, writes);
	toy_run(&toy, 10 * TOY_S);
	assert_within(reads->done, 10000, 10);
	assert_within(writes->done, 100, 10);
	toy_stop(&toy);
}

static void others_are_not_held(void **state)
{
	struct toy_stream *held, *free_one;

	(void)state;
	start();
	held = stream(group(weir_root(toy.w), limits(NO_LIMIT, 1)), 4096);
	free_one = toy_stream(&toy, group(weir_root(toy.w), limits(NO_LIMIT, NO_LIMIT)), 1);
	toy_start_stream(&toy, free_one);
	toy_run(&toy, TOY_S / 10);
	/* 2 us a request at depth 1. */
	assert_true(free_one->done > 40000);
	assert_int_equal(free_one->wait_max_ns, 0);
	assert_true(held->done <= 1);
	toy_stop(&toy);
}

/* ---- trees ---- */

static void children_share_what_the_parent_may(void **state)
{
	struct weir_group *parent;
	struct toy_stream *a, *b;

	(void)state;
	start();
	parent = group(weir_root(toy.w), limits(20 * MB, NO_LIMIT));
	a = stream(group(parent, limits(15 * MB, NO_LIMIT)), 4096);
	b = stream(group(parent, limits(15 * MB, NO_LIMIT)), 4096);
	toy_run(&toy, 4 * TOY_S);
	assert_within(a->done_bytes, 40 * MB, 10);
	assert_within(b->done_bytes, 40 * MB, 10);
	/* One goes: the other is under its own ceiling then. */
	toy_stop_stream(&toy, a);
	toy_run(&toy, TOY_S);
	toy_clear(&toy);
	toy_run(&toy, 4 * TOY_S);
	assert_int_equal(a->done, 0);
	assert_within(b->done_bytes, 60 * MB, 10);
	toy_stop(&toy);
}

/* By weight; a size that differs doesn't matter to a ceiling in bytes. */
static void children_share_by_weight(void **state)
{
	static const uint32_t weight[] = {200, 300, 500};
	struct weir_group *parent;
	struct toy_stream *s[3];
	uint32_t n;

	(void)state;
	start();
	parent = group(weir_root(toy.w), limits(NO_LIMIT, 3000));
	for (n = 0; n < 3; n++) {
		struct weir_group_attr attr = limits(NO_LIMIT, NO_LIMIT);

		attr.weight = weight[n];
		s[n] = stream(group(parent, attr), 4096);
	}
	toy_run(&toy, TOY_S);
	toy_clear(&toy);
	toy_run(&toy, 4 * TOY_S);
	for (n = 0; n < 3; n++)
		assert_within(s[n]->done, 12 * weight[n], 10);
	toy_stop(&toy);
}

static void small_weight_is_not_forgotten(void **state)
{
	struct weir_group_attr attr = limits(NO_LIMIT, NO_LIMIT);
	struct weir_group *parent;
	struct toy_stream *small, *big;

	(void)state;
	start();
	parent = group(weir_root(toy.w), limits(NO_LIMIT, 10000));
	attr.weight = 10000;
	big = stream(group(parent, attr), 4096);
	attr.weight = 1;
	small = stream(group(parent, attr), 4096);
	toy_run(&toy, 200 * TOY_S);
	assert_true(small->done >= 198 && small->done <= 202);
	assert_within(big->done, 2000000, 10);
	toy_stop(&toy);
}

/* The node's own requests are one more child. */
static void own_requests_are_a_child(void **state)
{
	struct weir_group_attr attr = limits(NO_LIMIT, 3000);
	struct weir_group *parent;
	struct toy_stream *own, *below;

	(void)state;
	start();
	attr.own_weight = 50;
	parent = group(weir_root(toy.w), attr);
	own = stream(parent, 4096);
	below = stream(group(parent, limits(NO_LIMIT, NO_LIMIT)), 4096);
	toy_run(&toy, TOY_S);
	toy_clear(&toy);
	toy_run(&toy, 4 * TOY_S);
	assert_within(own->done, 4000, 10);
	assert_within(below->done, 8000, 10);
	toy_stop(&toy);
}

/* ---- changes ---- */

static struct model_bucket model;

static void check_against_model(struct toy_stream *s, const struct weir_rq *rq)
{
	(void)s;
	if (!model_bucket_may(&model, 0, rq->dispatch_ns))
		fail_msg("a release before its time");
	model_bucket_charge(&model, 1, rq->dispatch_ns);
}

/*
 * A thousand changes under load, one every 100 us or so: each release is checked against exact
 * arithmetic, and the last rate is in force afterwards.
 */
static void thousand_changes(void **state)
{
	uint64_t seed = 5, rate = 0;
	struct toy_stream *s;
	struct weir_group *g;
	uint32_t n;

	(void)state;
	start();
	g = group(weir_root(toy.w), limits(NO_LIMIT, 1000));
	model_bucket_init(&model, toy.now);
	model_bucket_set_rate(&model, 1000, toy.now);
	s = toy_stream(&toy, g, 64);
	s->released = check_against_model;
	toy_start_stream(&toy, s);
	for (n = 0; n < 1000; n++) {
		toy_run(&toy, util_below(&seed, 200 * TOY_US));
		rate = 1 + util_below(&seed, util_below(&seed, 2) ? 100 : 100000);
		set(g, limits(NO_LIMIT, rate));
		model_bucket_set_rate(&model, rate, toy.now);
	}
	rate = 2500;
	set(g, limits(NO_LIMIT, rate));
	model_bucket_set_rate(&model, rate, toy.now);
	toy_run(&toy, TOY_S);
	toy_clear(&toy);
	toy_run(&toy, 10 * TOY_S);
	assert_within(s->done, 10 * rate, 10);
	s->released = NULL;
	toy_stop(&toy);
}

/* What waits under a low rate goes under the new one: no hang, and no burst either. */
static void raising_lets_go(void **state)
{
	struct toy_stream *s;
	struct weir_group *g;

	(void)state;
	start();
	g = group(weir_root(toy.w), limits(1 * MB, NO_LIMIT));
	s = stream(g, MB / 512 * 512);
	toy_run(&toy, 2 * TOY_S);
	toy_clear(&toy);
	set(g, limits(100 * MB, NO_LIMIT));
	toy_run(&toy, 20 * TOY_MS);
	assert_in_range(s->done, 1, 3);
	toy_run(&toy, 980 * TOY_MS);
	assert_in_range(s->done, 99, 101);
	toy_stop(&toy);
}

static void no_burst_after_a_change(void **state)
{
	struct toy_stream *s;
	struct weir_group *g;
	uint32_t n;

	(void)state;
	start();
	g = group(weir_root(toy.w), limits(NO_LIMIT, 2));
	s = stream(g, 4096);
	toy_run(&toy, 10 * TOY_S);
	toy_clear(&toy);
	set(g, limits(NO_LIMIT, 1000));
	toy_run(&toy, 100 * TOY_MS);
	assert_in_range(s->done, 99, 105);
	/* Down again, up again, without time in between: nothing is won by it. */
	toy_clear(&toy);
	for (n = 0; n < 1000; n++) {
		set(g, limits(NO_LIMIT, 2));
		set(g, limits(NO_LIMIT, 1000));
	}
	toy_run(&toy, 100 * TOY_MS);
	assert_in_range(s->done, 95, 105);
	toy_clear(&toy);
	set(g, limits(NO_LIMIT, 10));
	toy_run(&toy, 10 * TOY_S);
	assert_in_range(s->done, 99, 101);
	toy_stop(&toy);
}

static void removing_the_ceiling_lets_all_go(void **state)
{
	struct toy_stream *s;
	struct weir_group *g;

	(void)state;
	start();
	g = group(weir_root(toy.w), limits(NO_LIMIT, 1));
	s = stream(g, 4096);
	toy_run(&toy, 10 * TOY_S);
	toy_clear(&toy);
	set(g, limits(NO_LIMIT, NO_LIMIT));
	toy_run(&toy, TOY_MS);
	assert_true(s->done > 1000);
	toy_stop(&toy);
}

/* ---- the host's punctuality ---- */

/* The host asks by so much too late, at most, each time. */
static void late_by(uint64_t late_ns, uint64_t bps, uint64_t iops, uint64_t window_ns,
		    uint64_t per_window)
{
	struct toy_stream *s;

	start();
	toy.host_late_ns = late_ns;
	s = toy_stream(&toy, group(weir_root(toy.w), limits(bps, iops)), 64);
	s->released = record;
	toy_start_stream(&toy, s);
	toy_run(&toy, 10 * window_ns);
	check_windows(window_ns, per_window - per_window / 100, per_window + per_window / 100);
	toy_stop(&toy);
}

static void late_host(void **state)
{
	(void)state;
	late_by(3 * TOY_MS, NO_LIMIT, 3000, TOY_S, 3000);
	late_by(7 * TOY_MS, NO_LIMIT, 3000, TOY_S, 3000);
	late_by(7 * TOY_MS, 500 * 4096, NO_LIMIT, TOY_S, 500);
}

/* A ceiling with long intervals forgives more. */
static void very_late_host(void **state)
{
	(void)state;
	late_by(45 * TOY_MS, NO_LIMIT, 10, 10 * TOY_S, 100);
	late_by(450 * TOY_MS, NO_LIMIT, 1, 100 * TOY_S, 100);
	late_by(450 * TOY_MS, 4096, NO_LIMIT, 100 * TOY_S, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(iops_3000_in_every_second),
		cmocka_unit_test(iops_1),
		cmocka_unit_test(iops_7),
		cmocka_unit_test(bytes_4_kib_per_s),
		cmocka_unit_test(bytes_10_mb_per_s),
		cmocka_unit_test(the_tighter_of_two_binds),
		cmocka_unit_test(no_drift),
		cmocka_unit_test(directions_are_apart),
		cmocka_unit_test(others_are_not_held),
		cmocka_unit_test(children_share_what_the_parent_may),
		cmocka_unit_test(children_share_by_weight),
		cmocka_unit_test(small_weight_is_not_forgotten),
		cmocka_unit_test(own_requests_are_a_child),
		cmocka_unit_test(thousand_changes),
		cmocka_unit_test(raising_lets_go),
		cmocka_unit_test(no_burst_after_a_change),
		cmocka_unit_test(removing_the_ceiling_lets_all_go),
		cmocka_unit_test(late_host),
		cmocka_unit_test(very_late_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
