// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy/weir/floor.c on a modelled device: floors that fit are met, those that do not are scaled
 * down in device time and reported, nobody is starved for them, and the device stays busy.
 */
#include "tests/floor_groups.h"

#include "core/core.h"
#include "core/spi.h"
#include "policy/weir/internal.h"

static struct sd device;

static int setup(void **state)
{
	sd_init(&device);
	sd_start(&device, &weir_policy_weir, NULL);
	*state = &device;
	return 0;
}

static int teardown(void **state)
{
	sd_stop(*state);
	return 0;
}

static struct weir_group_stats stats(struct sd *d, struct weir_group *g)
{
	struct weir_group_stats s;

	weir_group_read_stats(g, d->now, &s);
	return s;
}

/* ---- floors that fit: 50,000 IOPS are there ---- */

static void feasible(void **state)
{
	struct sd *d = *state;
	struct weir_group *root = weir_root(d->w);
	struct weir_group *a = floor_group(d, root, 1, 20000), *b = floor_group(d, root, 1, 10000);
	struct sd_stream *sa = sd_load(d, a, 32), *sb = sd_load(d, b, 32);
	struct sd_stream *sc = sd_load(d, sd_group(d, root, 10000), 64);

	sd_run(d, SD_S);
	clear(d);
	sd_run(d, 5 * SD_S);
	assert_in_range(per_s(d, sa->done), 19950, 20600);
	assert_in_range(per_s(d, sb->done), 9970, 10300);
	/* The rest is the others', and all of it is used. */
	assert_true(per_s(d, sc->done) > 18000);
	assert_true(sd_busy_ppm(d) >= 970000);
	assert_true(stats(d, a).floor_deficit_device_ios < 20000 * 5 / 200);
	assert_int_equal(stats(d, a).floor_deficit_demand_ios, 0);
}

/* In bytes, for large requests beside small ones. */
static void feasible_in_bytes(void **state)
{
	struct sd *d = *state;
	struct weir_group *root = weir_root(d->w), *a = sd_group(d, root, 1);
	struct sd_stream *sa;

	set_floor(d, a, (struct weir_rates){.bps = {300000000, 0}});
	sa = sd_stream(d, a, 8);
	sa->nr_sectors = 256; /* 144 us each: a third of the device */
	sd_start_stream(d, sa);
	sd_load(d, sd_group(d, root, 10000), 64);
	sd_run(d, SD_S);
	clear(d);
	sd_run(d, 5 * SD_S);
	assert_in_range(per_s(d, sa->done_bytes), 299000000, 310000000);
	assert_true(sd_busy_ppm(d) >= 960000);
}

/* A floor below the weight share changes nothing: service by weight counts towards it. */
static void below_the_share(void **state)
{
	struct sd *d = *state;
	struct weir_group *root = weir_root(d->w), *a = floor_group(d, root, 300, 10000);
	struct sd_stream *sa = sd_load(d, a, 32);

	sd_load(d, sd_group(d, root, 100), 32);
	sd_run(d, SD_S);
	clear(d);
	sd_run(d, 5 * SD_S);
	assert_in_range(sd_share_ppm(d, sa), 748000, 752000);
	assert_int_equal(stats(d, a).floor_deficit_device_ios, 0);
}

/* Nobody has it who does not ask: an idle group's floor is used by the others. */
static void idle_floor(void **state)
{
	struct sd *d = *state;
	struct weir_group *root = weir_root(d->w), *a = floor_group(d, root, 100, 40000);
	struct sd_stream *sb = sd_load(d, sd_group(d, root, 100), 64), *sa;

	sd_run(d, SD_S);
	clear(d);
	sd_run(d, SD_S);
	assert_true(per_s(d, sb->done) > 48000);
	assert_in_range(stats(d, a).floor_deficit_demand_ios, 39900, 40000);
	assert_int_equal(stats(d, a).floor_deficit_device_ios, 0);
	/* And nothing was saved up: when it asks, it gets its floor and no more. */
	sa = sd_load(d, a, 64);
	sd_run(d, SD_MS);
	clear(d);
	sd_run(d, 200 * SD_MS);
	assert_in_range(per_s(d, sa->done), 39000, 42000);
}

/* ---- floors that do not fit ---- */

/* Equal weights, 60,000 and 120,000 wanted of 50,000: each keeps what is within its share. */
static void infeasible(void **state)
{
	struct sd *d = *state;
	struct weir_group *root = weir_root(d->w);
	struct weir_group *a = floor_group(d, root, 100, 60000),
			  *b = floor_group(d, root, 100, 120000);
	struct sd_stream *sa = sd_load(d, a, 64), *sb = sd_load(d, b, 64);
	struct sd_stream *sc = sd_load(d, sd_group(d, root, 1), 8);
	struct weir_group_stats s;

	sd_run(d, SD_S);
	clear(d);
	sd_run(d, 5 * SD_S);
	assert_in_range(sd_share_ppm(d, sa), 450000, 530000);
	assert_in_range(sd_share_ppm(d, sb), 450000, 530000);
	/* Who has no floor and next to no weight is not starved. */
	assert_true(sc->done > 100);
	assert_true(sc->wait_max_ns < 2 * SD_S);
	/* It knows whom it waits for. */
	assert_true(stats(d, sc->group).wait_ns[WEIR_WAIT_FLOOR] > 100 * SD_MS);
	/* What is missing is the device's fault, and told so. */
	s = stats(d, a);
	assert_in_range(s.floor_deficit_device_ios, 5 * (60000 - 27000), 5 * 60000);
	assert_true(s.floor_deficit_demand_ios * 100 < s.floor_deficit_device_ios);
	assert_true(sd_busy_ppm(d) >= 970000);
}

/* One wants all of the device; a small floor within its weight share is kept nevertheless. */
static void small_floor_beside_a_greedy_one(void **state)
{
	struct sd *d = *state;
	struct weir_group *root = weir_root(d->w);
	struct weir_group *a = floor_group(d, root, 100, 500000),
			  *b = floor_group(d, root, 100, 9000);
	struct sd_stream *sa = sd_load(d, a, 64), *sb = sd_load(d, b, 64);
	uint32_t n;

	for (n = 0; n < 3; n++)
		sd_load(d, sd_group(d, root, 100), 64);
	sd_run(d, SD_S);
	clear(d);
	sd_run(d, 5 * SD_S);
	/* 20 % of what there is for floors are 9,400. */
	assert_true(per_s(d, sb->done) >= 8900);
	assert_true(per_s(d, sa->done) >= 10000);
	assert_true(sd_busy_ppm(d) >= 970000);
}

/* The same part of what they ask for beyond their shares, in device time, large or small. */
static void scaled_in_device_time(void **state)
{
	struct sd *d = *state;
	struct weir_group *root = weir_root(d->w);
	struct weir_group *a = sd_group(d, root, 1), *b = sd_group(d, root, 1);
	struct sd_stream *sa, *sb;

	/* Both ask for the whole device: 50,000 of 4 KiB, or 6,944 of 128 KiB. */
	set_floor(d, a, (struct weir_rates){.iops = {50000, 0}});
	set_floor(d, b, (struct weir_rates){.bps = {UINT64_C(6944) * 131072, 0}});
	sa = sd_load(d, a, 64);
	sb = sd_stream(d, b, 16);
	sb->nr_sectors = 256;
	sd_start_stream(d, sb);
	sd_load(d, sd_group(d, root, 998), 64);
	sd_run(d, SD_S);
	clear(d);
	sd_run(d, 5 * SD_S);
	assert_in_range(sa->server_ns * 100 / sb->server_ns, 93, 107);
	assert_true(sd_share_ppm(d, sa) > 420000);
}

/* A child's floor counts inside its parent's: asked for once, it fits. */
static void nested_floors(void **state)
{
	struct sd *d = *state;
	struct weir_group *root = weir_root(d->w);
	struct weir_group *p = floor_group(d, root, 1, 30000), *c = floor_group(d, p, 1, 20000);
	struct sd_stream *sc = sd_load(d, c, 32), *sp = sd_load(d, sd_group(d, p, 10000), 32);

	sd_load(d, sd_group(d, root, 10000), 64);
	sd_run(d, SD_S);
	clear(d);
	sd_run(d, 5 * SD_S);
	assert_in_range(per_s(d, sc->done), 19800, 20700);
	assert_in_range(per_s(d, sc->done + sp->done), 29700, 30700); /* and not 50,000 */
	assert_true(stats(d, p).floor_deficit_device_ios < 30000 * 5 / 100);
}

/* ---- directions ---- */

/* Owed writes, and only reads to offer: it goes by weight, and delays nobody else's floor. */
static void wrong_direction(void **state)
{
	struct sd *d = *state;
	struct weir_group *root = weir_root(d->w), *a = sd_group(d, root, 100);
	struct weir_group *b = floor_group(d, root, 1, 10000);
	struct sd_stream *sa, *sb;

	set_floor(d, a, (struct weir_rates){.iops = {0, 40000}});
	sa = sd_load(d, a, 64);
	sb = sd_load(d, b, 64);
	sd_load(d, sd_group(d, root, 100), 64);
	sd_run(d, SD_S);
	clear(d);
	sd_run(d, 3 * SD_S);
	assert_in_range(per_s(d, sb->done), 9900, 10300);
	assert_in_range(per_s(d, sa->done), 19000, 20500);
	assert_true(sd_busy_ppm(d) >= 970000);
}

/* Owed writes behind its own reads: they go, though reads are first in the group. */
static void writes_behind_own_reads(void **state)
{
	struct sd *d = *state;
	struct weir_group *root = weir_root(d->w), *a = sd_group(d, root, 1);
	struct sd_stream *reads, *writes;

	set_floor(d, a, (struct weir_rates){.iops = {5000, 10000}});
	reads = sd_load(d, a, 32);
	writes = sd_stream(d, a, 32);
	writes->op = WEIR_OP_WRITE;
	sd_start_stream(d, writes);
	sd_load(d, sd_group(d, root, 10000), 64);
	sd_run(d, SD_S);
	clear(d);
	sd_run(d, 3 * SD_S);
	assert_in_range(per_s(d, writes->done), 9900, 10400);
	assert_in_range(per_s(d, reads->done), 4950, 5400);
}

/* Reads and writes of one process, in its order: the writes that are before a read go first. */
static void reads_behind_own_writes(void **state)
{
	struct sd *d = *state;
	struct weir_group *root = weir_root(d->w), *a = floor_group(d, root, 1, 8000);
	struct sd_stream *reads = sd_load(d, a, 8), *writes = sd_stream(d, a, 16);

	writes->op = WEIR_OP_WRITE;
	writes->flags = WEIR_RQ_SYNC;
	sd_start_stream(d, writes);
	sd_load(d, sd_group(d, root, 10000), 64);
	sd_run(d, SD_S);
	clear(d);
	sd_run(d, 3 * SD_S);
	assert_in_range(per_s(d, reads->done), 7950, 8300);
	assert_int_equal(stats(d, a).floor_deficit_demand_ios, 0);
}

/* ---- changes ---- */

/* What a floor gave out of turn is no debt that shuts its group out when the floor goes. */
static void floor_taken_away(void **state)
{
	struct sd *d = *state;
	struct weir_group *root = weir_root(d->w), *a = floor_group(d, root, 100, 45000);
	struct sd_stream *sa = sd_load(d, a, 64), *sb = sd_load(d, sd_group(d, root, 100), 64);

	sd_run(d, 20 * SD_S);
	assert_true(sa->done > 8 * sb->done);
	set_floor(d, a, (struct weir_rates){0});
	sd_run(d, 250 * SD_MS);
	clear(d);
	sd_run(d, SD_S);
	assert_in_range(sd_share_ppm(d, sa), 490000, 510000);
}

/* Removing the last group with a floor ends all of its control. */
static void floor_group_removed(void **state)
{
	struct sd *d = *state;
	struct weir_group *root = weir_root(d->w), *a = sd_group(d, root, 1);
	struct sd_stream *thinker = sd_stream(d, a, 1), *sb;

	/* One at a time, and a floor that it can only meet if nearly nothing else is in the device.
	 */
	set_floor(d, a, (struct weir_rates){.iops = {9500, 0}});
	sd_start_stream(d, thinker);
	sb = sd_load(d, sd_group(d, root, 100), 64);
	sd_run(d, SD_S);
	sd_stop_stream(thinker);
	wp_of(d->w)->floor_squeeze = 32; /* as after a long fight for it */
	assert_int_equal(weir_group_remove(a, d->now), 0);
	sd_run(d, 10 * SD_MS);
	clear(d);
	sd_run(d, SD_S);
	assert_true(per_s(d, sb->done) > 45000); /* squeezed, it would be 10,000 */
}

static void requeued_is_charged_once(void **state)
{
	static struct util_host host;
	struct util_host *h = &host;
	struct weir_group_attr attr;
	struct weir_group *a, *b;
	uint32_t n, of_a, rq, first = 0;

	(void)state;
	util_host_init(h);
	h->cfg.merge = false;
	util_host_start(h, &weir_policy_weir, NULL);
	weir_group_attr_init(&attr);
	attr.low.iops[WEIR_READ] = 50000; /* one each 20 us; requests take 10 */
	attr.weight = 1;
	a = weir_group_create(h->w, weir_root(h->w), &attr, h->now, NULL);
	b = util_group(h, weir_root(h->w), 10000);
	for (n = 0; n < 1000; n++) {
		util_insert_as(h, a, NULL, WEIR_OP_READ, n << 20, 8);
		util_insert_as(h, b, NULL, WEIR_OP_READ, n << 20, 8);
	}
	for (n = 0, of_a = 0; n < 1000; n++) {
		h->now += 10000;
		rq = util_dispatch(h);
		/* Every other one of a comes back once. */
		if (h->rq[rq].group == a && first++ % 2) {
			weir_requeue(h->w, &h->rq[rq], WEIR_REQUEUE_INSERT, h->now);
			rq = util_dispatch(h);
		}
		of_a += h->rq[rq].group == a;
		util_complete(h, rq);
	}
	assert_in_range(of_a, 490, 530);
	util_host_stop(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(feasible, setup, teardown),
		cmocka_unit_test_setup_teardown(feasible_in_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(below_the_share, setup, teardown),
		cmocka_unit_test_setup_teardown(idle_floor, setup, teardown),
		cmocka_unit_test_setup_teardown(infeasible, setup, teardown),
		cmocka_unit_test_setup_teardown(small_floor_beside_a_greedy_one, setup, teardown),
		cmocka_unit_test_setup_teardown(scaled_in_device_time, setup, teardown),
		cmocka_unit_test_setup_teardown(nested_floors, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_direction, setup, teardown),
		cmocka_unit_test_setup_teardown(writes_behind_own_reads, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_behind_own_writes, setup, teardown),
		cmocka_unit_test_setup_teardown(floor_taken_away, setup, teardown),
		cmocka_unit_test_setup_teardown(floor_group_removed, setup, teardown),
		cmocka_unit_test(requeued_is_charged_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
