// SPDX-License-Identifier: GPL-2.0-only
/*
 * BFQ in closed loops on the serial device: shares of bandwidth and of time, of groups and of
 * processes within them, no gaps on flash, one request at a time, a bound on how far service lags,
 * and what low_latency is for.
 */
#include "tests/bfq_util.h"
#include "tests/serial_device.h"

static struct sd sd;
static uint64_t values[WEIR_TUNABLES_MAX];

static void assert_near(uint64_t value, uint64_t wanted, uint64_t by)
{
	if (value + by < wanted || value > wanted + by)
		fail_msg("%llu is not within %llu of %llu", (unsigned long long)value,
			 (unsigned long long)by, (unsigned long long)wanted);
}

static void set_up(bool rotational, uint32_t depth)
{
	sd_init(&sd);
	sd.cfg.profile.rotational = rotational;
	sd.cfg.device_depth = depth;
	util_defaults(&weir_policy_bfq, values);
	util_tune(&weir_policy_bfq, values, "low_latency", 0);
}

static struct sd_stream *stream(struct weir_group *g, uint32_t outstanding, bool sequential,
				uint32_t nr_sectors)
{
	struct sd_stream *s = sd_stream(&sd, g, outstanding);

	s->ctx = weir_ctx_create(sd.w, g, WEIR_IOPRIO_NONE, 0, sd.now);
	s->sequential = sequential;
	s->nr_sectors = nr_sectors;
	s->next_sector = UINT64_C(1) << 24 << sd.nr_streams;
	sd_start_stream(&sd, s);
	return s;
}

/* ---- weights ---- */

static const uint32_t weights[] = {100, 200, 400};

static void three_groups(uint32_t outstanding, bool sequential, const uint32_t *nr_sectors)
{
	uint32_t n;

	sd_start(&sd, &weir_policy_bfq, values);
	for (n = 0; n < 3; n++)
		stream(sd_group(&sd, weir_root(sd.w), weights[n]), outstanding, sequential,
		       nr_sectors[n]);
	sd_run(&sd, 2 * SD_S);
	sd_clear(&sd);
	sd_run(&sd, 40 * SD_S);
}

/* Bandwidth in thousandths of the first's. */
static void expect_bandwidth(const uint32_t *permille, uint32_t by)
{
	uint32_t n;

	for (n = 0; n < 3; n++)
		assert_near(sd.stream[n].done_bytes * 1000 / sd.stream[0].done_bytes, permille[n],
			    permille[n] * by / 100);
}

static void sequential_readers_share_bandwidth(void **state)
{
	static const uint32_t nr_sectors[] = {64, 64, 64}, permille[] = {1000, 2000, 4000};

	(void)state;
	set_up(true, 32);
	three_groups(4, true, nr_sectors);
	expect_bandwidth(permille, 3);
	sd_stop(&sd);

	/* One request at a time, so that each is waited for. */
	set_up(true, 32);
	three_groups(1, true, nr_sectors);
	expect_bandwidth(permille, 3);
	sd_stop(&sd);

	/* On flash as well. */
	set_up(false, 32);
	three_groups(64, true, nr_sectors);
	expect_bandwidth(permille, 3);
	sd_stop(&sd);
}

/* Small requests beside large ones that take twice as long: time is what is shared. */
static void random_readers_share_time(void **state)
{
	static const uint32_t nr_sectors[] = {8, 128, 8};
	static const uint64_t ppm[] = {142857, 285714, 571429};
	uint32_t n;

	(void)state;
	set_up(true, 1);
	sd.base_ns = 2 * SD_MS;
	sd.sector_ns = 20 * SD_US;
	three_groups(1, false, nr_sectors);
	for (n = 0; n < 3; n++)
		assert_near(sd_share_ppm(&sd, &sd.stream[n]), ppm[n], ppm[n] / 20);
	assert_true(sd.stream[1].done_bytes > 10 * sd.stream[0].done_bytes);
	sd_stop(&sd);
}

/*
 * A stream beside a seeking reader of the same weight: half of the time each, once the peak rate is
 * known. Beside seeks it can't be learned, and a stream that is faster than thought pays for it.
 */
static void stream_beside_seeks(void **state)
{
	struct sd_stream *s, *r;

	(void)state;
	set_up(true, 1);
	sd.base_ns = 5 * SD_MS;
	sd_start(&sd, &weir_policy_bfq, values);
	s = stream(sd_group(&sd, weir_root(sd.w), 100), 4, true, 1024);
	sd_run(&sd, 20 * SD_S);
	r = stream(sd_group(&sd, weir_root(sd.w), 100), 4, false, 8);
	sd_run(&sd, 2 * SD_S);
	sd_clear(&sd);
	sd_run(&sd, 20 * SD_S);
	assert_near(sd_share_ppm(&sd, s), 500000, 25000);
	assert_true(s->done_bytes > 100 * r->done_bytes);
	sd_stop(&sd);
}

/* Two processes share what their group has; another group's one process has all of its part. */
static void processes_share_their_groups_part(void **state)
{
	struct weir_group *two, *one;
	struct sd_stream *s[3];

	(void)state;
	set_up(true, 32);
	sd_start(&sd, &weir_policy_bfq, values);
	two = sd_group(&sd, weir_root(sd.w), 300);
	one = sd_group(&sd, weir_root(sd.w), 300);
	s[0] = stream(two, 4, true, 64);
	s[1] = stream(two, 4, true, 64);
	s[2] = stream(one, 4, true, 64);
	sd_run(&sd, 2 * SD_S);
	sd_clear(&sd);
	sd_run(&sd, 20 * SD_S);
	assert_near(sd_share_ppm(&sd, s[0]), 250000, 8000);
	assert_near(sd_share_ppm(&sd, s[1]), 250000, 8000);
	assert_near(sd_share_ppm(&sd, s[2]), 500000, 15000);
	sd_stop(&sd);
}

/* 1/4 of 3/4 and 3/4 of 3/4, beside 1/4; and a process at a node beside the groups below it. */
static void the_tree_counts(void **state)
{
	struct weir_group *outer, *inner[2], *other;
	struct sd_stream *s[3];

	(void)state;
	set_up(true, 32);
	sd_start(&sd, &weir_policy_bfq, values);
	outer = sd_group(&sd, weir_root(sd.w), 300);
	other = sd_group(&sd, weir_root(sd.w), 100);
	inner[0] = sd_group(&sd, outer, 40); /* as much as a process has by default */
	inner[1] = sd_group(&sd, outer, 40);
	s[0] = stream(inner[0], 4, true, 64);
	s[1] = stream(outer, 4, true, 64);
	s[2] = stream(other, 4, true, 64);
	(void)inner[1];
	sd_run(&sd, 2 * SD_S);
	sd_clear(&sd);
	sd_run(&sd, 40 * SD_S);
	assert_near(sd_share_ppm(&sd, s[0]), 375000, 12000);
	assert_near(sd_share_ppm(&sd, s[1]), 375000, 12000);
	assert_near(sd_share_ppm(&sd, s[2]), 250000, 8000);
	sd_stop(&sd);
}

/* ioprio 0 and 7: 80 to 10. */
static void ioprio_within_a_group(void **state)
{
	struct sd_stream *s[2];

	(void)state;
	set_up(true, 32);
	sd_start(&sd, &weir_policy_bfq, values);
	s[0] = stream(weir_root(sd.w), 4, true, 64);
	s[1] = stream(weir_root(sd.w), 4, true, 64);
	weir_ctx_set_ioprio(s[0]->ctx, WEIR_IOPRIO_BE, 0, sd.now);
	weir_ctx_set_ioprio(s[1]->ctx, WEIR_IOPRIO_BE, 7, sd.now);
	sd_run(&sd, 2 * SD_S);
	sd_clear(&sd);
	sd_run(&sd, 40 * SD_S);
	assert_near(s[0]->done * 1000 / s[1]->done, 8000, 400);
	sd_stop(&sd);
}

/* In force with the next turn. */
static void weight_changes_under_load(void **state)
{
	static const uint32_t nr_sectors[] = {64, 64, 64};
	struct weir_group_attr attr;

	(void)state;
	set_up(true, 32);
	three_groups(4, true, nr_sectors);
	weir_group_get(sd.stream[0].group, &attr);
	attr.weight = 400;
	assert_int_equal(weir_group_set(sd.stream[0].group, &attr, sd.now), 0);
	sd_run(&sd, SD_S);
	sd_clear(&sd);
	sd_run(&sd, 40 * SD_S);
	assert_near(sd.stream[0].done * 1000 / sd.stream[2].done, 1000, 30);
	assert_near(sd.stream[0].done * 1000 / sd.stream[1].done, 2000, 60);
	sd_stop(&sd);
}

/* ---- how far service lags ---- */

static uint64_t served_bytes[2], most_ahead;

static void count(struct sd_stream *s, const struct weir_rq *rq)
{
	uint64_t *mine = s->priv;
	uint64_t a, b, ahead;

	*mine += weir_rq_bytes(rq);
	/* Weights 1 and 3: in terms of the first. */
	a = served_bytes[0];
	b = served_bytes[1] / 3;
	ahead = a > b ? a - b : b - a;
	if (ahead > most_ahead)
		most_ahead = ahead;
}

/* With any sizes and budgets, no more than one largest budget of each behind or ahead. */
static void lag_is_bounded_by_a_budget(void **state)
{
	struct sd_stream *s[2];
	uint32_t n;

	(void)state;
	set_up(false, 4);
	util_tune(&weir_policy_bfq, values, "max_budget", 2048);
	sd_start(&sd, &weir_policy_bfq, values);
	memset(served_bytes, 0, sizeof(served_bytes));
	most_ahead = 0;
	for (n = 0; n < 2; n++) {
		s[n] = sd_stream(&sd, sd_group(&sd, weir_root(sd.w), n ? 300 : 100), 64);
		s[n]->ctx = weir_ctx_create(sd.w, s[n]->group, WEIR_IOPRIO_NONE, 0, sd.now);
		s[n]->nr_sectors = n ? 8 : 248;
		s[n]->sequential = true;
		s[n]->next_sector = n * UINT64_C(1) << 30;
		s[n]->priv = &served_bytes[n];
		s[n]->dispatched = count;
		sd_start_stream(&sd, s[n]);
	}
	sd_run(&sd, 20 * SD_S);
	assert_true(served_bytes[0] > 100 * 2048 * 512);
	/* In terms of the first: its budget, and a third of the other's; and one request. */
	assert_in_range(most_ahead, 1, (2048 + 2048 / 3 + 248) * 512);
	sd_stop(&sd);
}

/* ---- flash ---- */

static uint64_t flash_done(const struct weir_policy *policy, uint64_t *busy_ppm)
{
	uint64_t done;
	uint32_t n;

	set_up(false, 32);
	sd_start(&sd, policy, policy == &weir_policy_bfq ? values : NULL);
	for (n = 0; n < 4; n++) {
		struct weir_ctx *ctx;

		stream(weir_root(sd.w), 4, false, 8);
		/* Some have gaps: nobody is kept waiting in them. */
		sd.stream[n].think_ns = n * 100 * SD_US;
		ctx = sd.stream[n].ctx;
		assert_non_null(ctx);
		sd_run(&sd, 200 * SD_MS); /* not a burst of one parent */
	}
	sd_run(&sd, SD_S);
	sd_clear(&sd);
	sd_run(&sd, 4 * SD_S);
	done = sd.done;
	*busy_ppm = sd_busy_ppm(&sd);
	sd_stop(&sd);
	return done;
}

static void no_gaps_on_flash_among_equals(void **state)
{
	uint64_t noop_ppm, bfq_ppm, noop, bfq;

	(void)state;
	noop = flash_done(&weir_policy_noop, &noop_ppm);
	bfq = flash_done(&weir_policy_bfq, &bfq_ppm);
	assert_near(bfq * 1000 / noop, 1000, 5);
	assert_near(bfq_ppm, noop_ppm, 5000);
}

static void strict_guarantees(void **state)
{
	(void)state;
	set_up(false, 32);
	util_tune(&weir_policy_bfq, values, "strict_guarantees", 1);
	sd_start(&sd, &weir_policy_bfq, values);
	stream(weir_root(sd.w), 16, false, 8);
	stream(sd_group(&sd, weir_root(sd.w), 100), 16, true, 64);
	sd_run(&sd, SD_S);
	assert_int_equal(sd.in_device_max, 1);
	assert_true(sd.done > 4000);
	sd_stop(&sd);
}

/* ---- low latency ---- */

/* Time in which a task that has been silent for 2 s reads 10 MB beside so many greedy readers. */
static uint64_t task_ns(uint32_t greedy, bool low_latency)
{
	struct sd_stream *task;
	struct weir_ctx *ctx;
	uint64_t begin_ns, ns;
	uint32_t n;

	set_up(true, 32);
	sd.base_ns = SD_MS; /* 100 MB/s in requests of 128 KiB */
	sd.sector_ns = 1 * SD_US;
	util_tune(&weir_policy_bfq, values, "low_latency", low_latency);
	sd_start(&sd, &weir_policy_bfq, values);
	for (n = 0; n < greedy; n++) {
		stream(weir_root(sd.w), 1, true, 256);
		sd_run(&sd, 500 * SD_MS);
	}
	ctx = weir_ctx_create(sd.w, weir_root(sd.w), WEIR_IOPRIO_NONE, 0, sd.now);
	sd_run(&sd, 20 * SD_S); /* nobody else is interactive any more */
	task = sd_stream(&sd, weir_root(sd.w), 1);
	task->ctx = ctx;
	task->sequential = true;
	task->nr_sectors = 256;
	begin_ns = sd.now;
	sd_start_stream(&sd, task);
	while (task->done_bytes < 10 << 20)
		sd_run(&sd, 100 * SD_US);
	ns = sd.now - begin_ns;
	sd_stop(&sd);
	return ns;
}

static void interactive_task_beside_greedy_readers(void **state)
{
	uint64_t alone_ns = task_ns(0, true), raised_ns = task_ns(4, true);
	uint64_t plain_ns = task_ns(4, false);

	(void)state;
	/* 80 requests, and what is in front of the first; without raising, four turns of others. */
	assert_in_range(alone_ns, 100 * SD_MS, 115 * SD_MS);
	assert_in_range(raised_ns, alone_ns, alone_ns * 3 / 2);
	assert_true(plain_ns > 3 * alone_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequential_readers_share_bandwidth),
		cmocka_unit_test(random_readers_share_time),
		cmocka_unit_test(stream_beside_seeks),
		cmocka_unit_test(processes_share_their_groups_part),
		cmocka_unit_test(the_tree_counts),
		cmocka_unit_test(ioprio_within_a_group),
		cmocka_unit_test(weight_changes_under_load),
		cmocka_unit_test(lag_is_bounded_by_a_budget),
		cmocka_unit_test(no_gaps_on_flash_among_equals),
		cmocka_unit_test(strict_guarantees),
		cmocka_unit_test(interactive_task_beside_greedy_readers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
