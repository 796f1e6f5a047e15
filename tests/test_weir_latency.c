// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy/weir/latency.c on a modelled device: a target lowers the depth until it holds, the depth
 * comes back when it may, and a target that cannot hold names who stands in the way.
 */
#include "tests/serial_device.h"

#include "core/core.h"
#include "core/spi.h"

static struct sd device;

static int setup(void **state)
{
	sd_init(&device);
	*state = &device;
	return 0;
}

static int teardown(void **state)
{
	sd_stop(*state);
	return 0;
}

/* 400 us of work in the device, whatever is learned: a window that hurts. */
static void start(struct sd *d, uint64_t depth_us)
{
	uint64_t values[WEIR_TUNABLES_MAX];

	util_defaults(&weir_policy_weir, values);
	util_tune(&weir_policy_weir, values, "depth_us", depth_us);
	sd_start(d, &weir_policy_weir, values);
}

static void set_target(struct sd *d, struct weir_group *g, uint64_t target_us)
{
	struct weir_group_attr attr;

	weir_group_get(g, &attr);
	attr.latency_target_ns = target_us * SD_US;
	assert_int_equal(weir_group_set(g, &attr, d->now), 0);
}

static void set_weight(struct sd *d, struct weir_group *g, uint32_t weight)
{
	struct weir_group_attr attr;

	weir_group_get(g, &attr);
	attr.weight = weight;
	assert_int_equal(weir_group_set(g, &attr, d->now), 0);
}

static void set_limit(struct sd *d, struct weir_group *g, uint64_t riops)
{
	struct weir_group_attr attr;

	weir_group_get(g, &attr);
	attr.max.iops[WEIR_READ] = riops;
	assert_int_equal(weir_group_set(g, &attr, d->now), 0);
}

/* One block at a time with some thinking, in a group of its own, beside deep ones. */
static struct sd_stream *thinker(struct sd *d, uint64_t target_us)
{
	struct sd_stream *s = sd_stream(d, sd_group(d, weir_root(d->w), 100), 1);

	s->think_ns = 207 * SD_US;
	sd_start_stream(d, s);
	if (target_us)
		set_target(d, s->group, target_us);
	return s;
}

static uint64_t p90_ns(const struct sd_stream *s)
{
	return weir_hist_percentile_ns(&s->latency, 900000);
}

static struct weir_group_stats stats(struct sd *d, struct weir_group *g)
{
	struct weir_group_stats s;

	weir_group_read_stats(g, d->now, &s);
	return s;
}

static void clear(struct sd *d)
{
	weir_stats_reset(d->w, d->now);
	sd_clear(d);
}

static void squeezes_until_it_holds(void **state)
{
	struct sd *d = *state;
	struct sd_stream *t, *deep;
	struct weir_group_stats s;

	start(d, 400);
	t = thinker(d, 0);
	deep = sd_load(d, sd_group(d, weir_root(d->w), 100), 256);
	sd_run(d, SD_S);
	sd_clear(d);
	sd_run(d, SD_S);
	assert_true(p90_ns(t) > 350 * SD_US); /* what it is like without */
	set_target(d, t->group, 200);
	sd_run(d, 2 * SD_S);
	clear(d);
	sd_run(d, 5 * SD_S);
	assert_true(p90_ns(t) <= 225 * SD_US); /* of a bucket that may show 1/8 too much */
	s = stats(d, t->group);
	assert_true(s.latency_periods >= 45);
	assert_true(s.latency_missed * 10 <= s.latency_periods);
	assert_int_equal(s.latency_blocker, -1);
	/* It is not bought with more than it costs: 5 in flight would do, at 180 us. */
	assert_true(sd_busy_ppm(d) >= 850000);
	/* The deep ones know what holds them back. */
	s = stats(d, deep->group);
	assert_true(s.wait_ns[WEIR_WAIT_LATENCY] > s.backlogged_ns / 10);
	/* With the target gone the depth is back at once. */
	set_target(d, t->group, 0);
	sd_run(d, SD_MS);
	clear(d);
	sd_run(d, SD_S);
	assert_true(sd_busy_ppm(d) >= 990000);
	assert_int_equal(stats(d, deep->group).wait_ns[WEIR_WAIT_LATENCY], 0);
}

/* The group with the target goes idle, or is removed: the others do not go on paying. */
static void recovers(void **state)
{
	struct sd *d = *state;
	struct sd_stream *t, *deep;

	start(d, 400);
	t = thinker(d, 130);
	deep = sd_load(d, sd_group(d, weir_root(d->w), 100), 256);
	sd_run(d, 2 * SD_S);
	sd_clear(d);
	sd_run(d, SD_S);
	assert_true(sd_busy_ppm(d) < 900000);
	sd_stop_stream(t);
	sd_run(d, 2 * SD_S);
	clear(d);
	sd_run(d, SD_S);
	assert_true(sd_busy_ppm(d) >= 990000);
	assert_int_equal(stats(d, deep->group).wait_ns[WEIR_WAIT_LATENCY], 0);
}

static void recovers_from_removal(void **state)
{
	struct sd *d = *state;
	struct sd_stream *t;

	start(d, 400);
	t = thinker(d, 130);
	sd_load(d, sd_group(d, weir_root(d->w), 100), 256);
	sd_run(d, 2 * SD_S);
	sd_stop_stream(t);
	sd_run(d, 10 * SD_MS);
	assert_int_equal(weir_group_remove(t->group, d->now), 0);
	sd_run(d, SD_MS);
	clear(d);
	sd_run(d, SD_S);
	assert_true(sd_busy_ppm(d) >= 990000);
}

/* 90 us cannot be had of a device that takes 100: the largest of the others is named. */
static void names_the_blocker(void **state)
{
	struct sd *d = *state;
	struct sd_stream *t, *small, *large;
	struct weir_group_stats s;

	start(d, 400);
	t = thinker(d, 90);
	small = sd_load(d, sd_group(d, weir_root(d->w), 100), 64);
	large = sd_load(d, sd_group(d, weir_root(d->w), 400), 64);
	sd_run(d, 5 * SD_S);
	clear(d);
	sd_run(d, SD_S);
	s = stats(d, t->group);
	assert_true(s.latency_missed == s.latency_periods && s.latency_periods >= 8);
	assert_int_equal(s.latency_blocker, weir_group_id(large->group));
	assert_int_equal(stats(d, small->group).latency_blocker, -1);
	/* Even then nobody is stopped. */
	assert_true(small->done > 1000 && large->done > 4000);
	/* A target that can be met: nobody is in the way any more. */
	set_target(d, t->group, 1000);
	sd_run(d, 2 * SD_S);
	assert_int_equal(stats(d, t->group).latency_blocker, -1);
	/* And one whose group has gone is not named again. */
	set_target(d, t->group, 90);
	sd_run(d, SD_S);
	sd_stop_stream(large);
	sd_run(d, 100 * SD_MS);
	assert_int_equal(weir_group_remove(large->group, d->now), 0);
	sd_run(d, 4 * SD_S);
	assert_int_equal(stats(d, t->group).latency_blocker, weir_group_id(small->group));
}

/*
 * Who asks for more than its share waits for its turn, however little is in the device: nothing is
 * to be gained by squeezing, and it is told so.
 */
static void share_is_no_matter_of_depth(void **state)
{
	struct sd *d = *state;
	struct sd_stream *t, *deep;
	struct weir_group_stats s;

	start(d, 400);
	t = thinker(d, 250);
	set_weight(d, t->group, 10);
	deep = sd_load(d, sd_group(d, weir_root(d->w), 400), 256);
	sd_run(d, 4 * SD_S);
	clear(d);
	sd_run(d, 10 * SD_S);
	s = stats(d, t->group);
	assert_true(s.latency_missed == s.latency_periods && s.latency_periods >= 95);
	assert_int_equal(s.latency_blocker, weir_group_id(t->group));
	assert_in_range(sd_share_ppm(d, t), 23900, 24500); /* 10 of 410 */
	assert_true(sd_busy_ppm(d) >= 985000);
	/* The same where a ceiling makes it wait. */
	set_weight(d, t->group, 1000);
	set_limit(d, t->group, 500);
	sd_run(d, 4 * SD_S);
	clear(d);
	sd_run(d, 10 * SD_S);
	assert_int_equal(stats(d, t->group).latency_blocker, weir_group_id(t->group));
	assert_true(sd_busy_ppm(d) >= 985000);
	/* And when it asks for less, the target is held again, in a while. */
	set_limit(d, t->group, WEIR_UNLIMITED);
	sd_run(d, 40 * SD_S);
	clear(d);
	sd_run(d, 5 * SD_S);
	s = stats(d, t->group);
	assert_true(s.latency_missed * 10 <= s.latency_periods);
	assert_int_equal(s.latency_blocker, -1);
	assert_true(deep->done > 100000);
}

/*
 * A squeeze that helped once is given back when it doesn't any more: first the group thinks, and
 * then asks for more than its share.
 */
static void gains_are_not_forever(void **state)
{
	struct sd *d = *state;
	struct sd_stream *t;

	start(d, 400);
	t = thinker(d, 130);
	sd_load(d, sd_group(d, weir_root(d->w), 100), 256);
	sd_run(d, 5 * SD_S);
	sd_load(d, t->group, 64);
	sd_run(d, 30 * SD_S);
	clear(d);
	sd_run(d, 10 * SD_S);
	assert_true(sd_busy_ppm(d) >= 980000);
	assert_int_equal(stats(d, t->group).latency_blocker, weir_group_id(t->group));
}

/* What was in vain for one target says nothing about the next. */
static void another_target(void **state)
{
	struct sd *d = *state;
	struct sd_stream *t, *own;

	start(d, 400);
	t = thinker(d, 150);
	own = sd_load(d, t->group, 64);
	sd_load(d, sd_group(d, weir_root(d->w), 100), 256);
	sd_run(d, 40 * SD_S);
	sd_stop_stream(own);
	sd_run(d, 20 * SD_MS);
	set_target(d, t->group, 200);
	sd_run(d, 4 * SD_S);
	sd_clear(d);
	sd_run(d, 4 * SD_S);
	assert_true(p90_ns(t) <= 225 * SD_US);
}

/* A target with much to spare doesn't keep the depth from being found. */
static void easy_target(void **state)
{
	struct sd *d = *state;
	struct sd_stream *t;

	d->cfg.profile.knee_ns = 40 * SD_US; /* of 100 that it takes */
	start(d, 0);
	t = thinker(d, 2000);
	sd_load(d, sd_group(d, weir_root(d->w), 100), 256);
	sd_run(d, 3 * SD_S);
	clear(d);
	sd_run(d, 3 * SD_S);
	assert_true(sd_busy_ppm(d) >= 985000);
	assert_int_equal(stats(d, t->group).latency_missed, 0);
}

/* A disk has no window of its own; a target gives it one. */
static void on_a_disk(void **state)
{
	struct sd *d = *state;
	struct sd_stream *t;

	d->cfg.profile.rotational = true;
	d->base_ns = 8 * SD_MS;
	d->latency_ns = 0;
	d->cfg.profile.rrandiops = 125;
	start(d, 0);
	t = thinker(d, 0);
	sd_load(d, sd_group(d, weir_root(d->w), 100), 128);
	sd_run(d, 10 * SD_S);
	sd_clear(d);
	sd_run(d, 20 * SD_S);
	assert_true(p90_ns(t) > 500 * SD_MS); /* all 128 are in the device */
	set_target(d, t->group, 40000);
	sd_run(d, 60 * SD_S);
	sd_clear(d);
	sd_run(d, 60 * SD_S);
	assert_true(p90_ns(t) <= 45 * SD_MS);
	assert_true(sd_busy_ppm(d) >= 980000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(squeezes_until_it_holds, setup, teardown),
		cmocka_unit_test_setup_teardown(recovers, setup, teardown),
		cmocka_unit_test_setup_teardown(recovers_from_removal, setup, teardown),
		cmocka_unit_test_setup_teardown(names_the_blocker, setup, teardown),
		cmocka_unit_test_setup_teardown(share_is_no_matter_of_depth, setup, teardown),
		cmocka_unit_test_setup_teardown(gains_are_not_forever, setup, teardown),
		cmocka_unit_test_setup_teardown(another_target, setup, teardown),
		cmocka_unit_test_setup_teardown(easy_target, setup, teardown),
		cmocka_unit_test_setup_teardown(on_a_disk, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
