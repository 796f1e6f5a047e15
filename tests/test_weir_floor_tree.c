// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy/weir: who pays for a floor in a tree of groups, and what goes before an owed request: for
 * streams on a modelled device, and call by call.
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

/* ---- streams on a device: 50,000 IOPS are there ---- */

/* a, f and b compete at the root; below b are e, and far below d, which has a floor. */
struct subtree {
	struct weir_group *d, *e;
	struct sd_stream *sa, *sd, *se, *sf;
};

static struct subtree subtree(struct sd *d, uint64_t riops)
{
	struct weir_group *root = weir_root(d->w), *b = sd_group(d, root, 100);
	struct subtree t = {.d = floor_group(d, sd_group(d, b, 100), 100, riops)};

	t.e = sd_group(d, b, 100);
	t.sa = sd_load(d, sd_group(d, root, 100), 32);
	t.sf = sd_load(d, sd_group(d, root, 100), 32);
	t.sd = sd_load(d, t.d, 32);
	return t;
}

/* What b's share can bear, b bears, and the others have theirs. */
static void paid_by_the_subtree(void **state)
{
	struct sd *d = *state;
	struct subtree t = subtree(d, 12000);

	t.se = sd_load(d, t.e, 32);
	sd_run(d, SD_S);
	clear(d);
	sd_run(d, 5 * SD_S);
	assert_in_range(per_s(d, t.sd->done), 11970, 12360);
	assert_in_range(sd_share_ppm(d, t.sa), 332000, 335000);
	assert_in_range(sd_share_ppm(d, t.sf), 332000, 335000);
}

/* What it can't, others bear as well; and e is not starved for it, not even as a newcomer. */
static void beyond_the_subtree(void **state)
{
	struct sd *d = *state;
	struct subtree t = subtree(d, 30000);

	sd_run(d, 3 * SD_S);
	t.se = sd_load(d, t.e, 32);
	clear(d);
	sd_run(d, SD_S / 2);
	assert_true(t.se->done >= 50);
	clear(d);
	sd_run(d, 5 * SD_S);
	assert_in_range(per_s(d, t.sd->done), 29900, 30900);
	/* Floors take 94 % of b's turns, so e has some 6 % of what a sibling of b has. */
	assert_in_range(t.se->done * 1000, t.sa->done * 50, t.sa->done * 70);
	assert_in_range(t.sa->done * 100, t.sf->done * 99, t.sf->done * 101);
	assert_true(sd_busy_ppm(d) >= 970000);
}

/* On two levels others are left with something: of one rest, and not of the rest of a rest. */
static void beyond_two_levels(void **state)
{
	struct sd *d = *state;
	struct subtree t = subtree(d, 30000);
	struct sd_stream *sg = sd_load(d, sd_group(d, t.d->parent, 100), 32);

	t.se = sd_load(d, t.e, 32);
	sd_run(d, SD_S);
	clear(d);
	sd_run(d, 5 * SD_S);
	assert_in_range(per_s(d, t.sd->done), 29900, 30900);
	assert_in_range((t.se->done + sg->done) * 1000, t.sa->done * 50, t.sa->done * 75);
	assert_in_range(sg->done * 100, t.se->done * 80, t.se->done * 125);
}

/* ---- call by call, with all the depth there may be ---- */

static struct util_host host;

static int setup_host(void **state)
{
	uint64_t values[WEIR_TUNABLES_MAX];

	util_host_init(&host);
	host.cfg.merge = false;
	util_defaults(&weir_policy_weir, values);
	util_tune(&weir_policy_weir, values, "depth_us", 10000000);
	util_host_start(&host, &weir_policy_weir, values);
	*state = &host;
	return 0;
}

static struct weir_group *group(struct util_host *h, struct weir_group *parent, uint32_t weight,
				struct weir_rates low)
{
	struct weir_group_attr attr;
	struct weir_group *g;

	weir_group_attr_init(&attr);
	attr.weight = weight;
	attr.low = low;
	g = weir_group_create(h->w, parent, &attr, h->now, NULL);
	assert_non_null(g);
	return g;
}

#define NONE ((struct weir_rates){0})
#define READS(n) ((struct weir_rates){.iops = {(n), 0}})
#define WRITES(n) ((struct weir_rates){.iops = {0, (n)}})

static void insert_again(struct util_host *h, uint32_t i)
{
	struct weir_rq *rq = &h->rq[i];
	uint16_t flags = rq->flags;

	weir_rq_init(rq, rq->op, rq->sector, rq->nr_sectors, rq->group, NULL);
	rq->flags = flags;
	weir_insert(h->w, rq, WEIR_TAIL, h->now);
}

static void load(struct util_host *h, struct weir_group *g, uint32_t nr)
{
	uint32_t n;

	for (n = 0; n < nr; n++)
		util_insert_as(h, g, NULL, WEIR_OP_READ, (uint64_t)n << 20, 8);
}

/* So many requests one after another, each back at once; how many of them were g's. */
static uint32_t serve(struct util_host *h, uint32_t nr, const struct weir_group *g)
{
	uint32_t of_g = 0, i;

	while (nr--) {
		i = util_dispatch(h);
		assert_true(i != UTIL_NONE);
		h->now += h->rq[i].cost_ns;
		of_g += h->rq[i].group == g;
		util_complete(h, i);
		insert_again(h, i);
	}
	return of_g;
}

static int teardown_host(void **state)
{
	util_host_stop(*state);
	return 0;
}

/* What was charged to nobody is not given back to anybody. */
static void requeue_gives_no_credit(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *s = group(h, root, 100, NONE);
	struct weir_group *t = group(h, root, 100, NONE), *f = group(h, s, 100, READS(60000));
	uint32_t before, i, n = 0;

	load(h, f, 64);
	load(h, group(h, s, 100, NONE), 64);
	load(h, t, 64);
	serve(h, 20000, t);
	before = serve(h, 2000, t);
	assert_true(before > 500);
	while (n < 2000) {
		i = util_dispatch(h);
		if (h->rq[i].group == f) {
			weir_requeue(h->w, &h->rq[i], WEIR_REQUEUE_INSERT, h->now);
			h->now += 1000;
			n++;
		} else {
			h->now += h->rq[i].cost_ns;
			util_complete(h, i);
			insert_again(h, i);
		}
	}
	assert_true(serve(h, 2000, t) > before * 3 / 4);
	assert_true(serve(h, 2000, t) > before * 9 / 10);
}

/* Hours later, when the virtual clock has gone round, a floor is paid for as before. */
static void old_clocks(void **state)
{
	struct util_host *h = *state;
	struct weir_profile fast = h->cfg.profile;
	struct weir_group *root = weir_root(h->w), *s = group(h, root, 1, NONE);
	struct weir_group *t = group(h, root, 1, NONE), *f;

	load(h, group(h, s, 100, NONE), 64);
	load(h, t, 64);
	/* 4 s a request. */
	h->cfg.profile.rbps = 1024;
	h->cfg.profile.rrandiops = 1;
	h->cfg.profile.rseqiops = 1;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
	serve(h, 200 + 5000, t);
	h->cfg.profile = fast;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
	serve(h, 200, t);
	f = group(h, s, 100, READS(40000));
	load(h, f, 64);
	serve(h, 200000, t);
	assert_in_range(serve(h, 10000, t), 4950, 5050);
}

/* A read that was inserted at the head goes before an owed write, and doesn't keep it back. */
static void behind_a_head_insertion(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g = group(h, root, 1, WRITES(1000));
	struct weir_rq *rq;
	uint32_t n;

	load(h, group(h, root, 10000, NONE), 64);
	for (n = 0; n < 32; n++)
		util_insert_as(h, g, NULL, WEIR_OP_WRITE, (uint64_t)n << 20, 8);
	serve(h, 20000, g);
	assert_in_range(serve(h, 20000, g), 190, 210); /* of 0.2 s */
	rq = util_bio(h, WEIR_OP_READ, 1, 8);
	rq->group = g;
	weir_insert(h->w, rq, WEIR_HEAD, h->now);
	for (n = 0; rq->state != WEIR_RQ_DISPATCHED; n++) {
		uint32_t i = util_dispatch(h);

		h->now += h->rq[i].cost_ns;
		if (&h->rq[i] != rq) {
			util_complete(h, i);
			insert_again(h, i);
		}
		assert_true(n < 200); /* 2 ms */
	}
	weir_complete(h->w, rq, h->now);
	assert_in_range(serve(h, 20000, g), 190, 210);
}

/* An owed write goes by itself: the reads before it are not owed. */
static void strangers_do_not_ride_along(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g = group(h, root, 1, WRITES(1000));
	struct weir_rq *rq;
	uint32_t n;

	load(h, group(h, root, 10000, NONE), 64);
	for (n = 0; n < 128; n++) {
		rq = util_bio(h, n % 32 == 31 ? WEIR_OP_WRITE : WEIR_OP_READ, (uint64_t)n << 20, 8);
		rq->group = g;
		rq->flags = WEIR_RQ_SYNC;
		weir_insert(h->w, rq, WEIR_TAIL, h->now);
	}
	/* 1 s. */
	assert_in_range(serve(h, 100000, g), 990, 1050);
}

/* A floor is worth as much of the request pool as of the device: 40,000 of 94,000 IOPS. */
static void places_for_floors(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *s = group(h, root, 1, READS(40000));
	struct weir_group *a = group(h, s, 100, NONE), *b = group(h, s, 300, NONE);

	load(h, a, 64);
	load(h, b, 64);
	load(h, group(h, root, 10000, NONE), 64);
	serve(h, 100000, a);
	h->cfg.pool = 100;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
	assert_in_range(weir_admit_limit(a, WEIR_READ), 10, 12);
	assert_in_range(weir_admit_limit(b, WEIR_READ), 30, 34);
	h->cfg.pool = 0;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(paid_by_the_subtree, setup, teardown),
		cmocka_unit_test_setup_teardown(beyond_the_subtree, setup, teardown),
		cmocka_unit_test_setup_teardown(beyond_two_levels, setup, teardown),
		cmocka_unit_test_setup_teardown(requeue_gives_no_credit, setup_host, teardown_host),
		cmocka_unit_test_setup_teardown(old_clocks, setup_host, teardown_host),
		cmocka_unit_test_setup_teardown(behind_a_head_insertion, setup_host, teardown_host),
		cmocka_unit_test_setup_teardown(strangers_do_not_ride_along, setup_host,
						teardown_host),
		cmocka_unit_test_setup_teardown(places_for_floors, setup_host, teardown_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
