// SPDX-License-Identifier: GPL-2.0-only
/* Page cache: how the dirty limits are divided among groups. */
#include "tests/test_cache_fake.h"

#include "lab/cache_impl.h"
#include "lab/rng.h"

static struct rig rig;

static int setup(void **state)
{
	rig_init(&rig);
	rig_start(&rig);
	*state = &rig;
	return 0;
}

static int teardown(void **state)
{
	rig_stop(*state);
	return 0;
}

static struct cache_group *active(struct rig *r, struct weir_group *g)
{
	struct cache_group *cg = cache_group_get(r->cache, g, rig_now(r));

	cg->dirtied_ns = rig_now(r);
	cache_share_activate(cg);
	return cg;
}

static void alone_it_has_all(void **state)
{
	struct rig *r = *state;
	struct weir_group *a = rig_group(r, NULL, 1);
	struct cache_group *ca = active(r, a);

	rig_group(r, NULL, 10000); /* not active: does not count */
	assert_int_equal(cache_share_pages(ca, 1000), 1000);
	assert_int_equal(cache_share_pages(ca, 7), 7);
}

/* The example at the top of cache_share.c. */
static void down_the_tree(void **state)
{
	struct rig *r = *state;
	struct weir_group *a = rig_group(r, NULL, 300), *b = rig_group(r, NULL, 100);
	struct weir_group *x = rig_group(r, a, 100), *y = rig_group(r, a, 200);
	struct cache_group *cx = active(r, x), *cy = active(r, y), *cb = active(r, b);
	struct cache_group *ca;

	assert_int_equal(cache_share_pages(cx, 10000), 2500);
	assert_int_equal(cache_share_pages(cy, 10000), 5000);
	assert_int_equal(cache_share_pages(cb, 10000), 2500);
	/* a's own pages: a hidden child of weight 100. */
	ca = active(r, a);
	assert_int_equal(cache_share_pages(ca, 10000), 1875);
	assert_int_equal(cache_share_pages(cx, 10000), 1875);
	assert_int_equal(cache_share_pages(cy, 10000), 3750);
	assert_int_equal(cache_share_pages(cb, 10000), 2500);
	/* The root's own: beside 300 and 100. */
	assert_int_equal(cache_share_pages(active(r, weir_root(r->weir)), 10000), 2000);
	assert_int_equal(cache_share_pages(cb, 10000), 2000);
}

static void no_share_is_too_small_to_write(void **state)
{
	struct rig *r = *state;
	struct weir_group *small = rig_group(r, NULL, 1), *large = rig_group(r, NULL, 10000);
	struct cache_group *cs = active(r, small), *cl = active(r, large);

	assert_int_equal(cache_share_pages(cs, 10001), CACHE_SHARE_MIN_PAGES);
	assert_int_equal(cache_share_pages(cl, 10001), 10000);
}

static void who_stops_is_forgotten(void **state)
{
	struct rig *r = *state;
	struct cache_group *ca = active(r, rig_group(r, NULL, 100));
	struct cache_group *cb = active(r, rig_group(r, NULL, 100));

	rig_run(r, 900 * MS);
	ca->dirtied_ns = rig_now(r);
	cache_share_refresh(r->cache, rig_now(r));
	assert_int_equal(cache_share_pages(ca, 1000), 500);
	rig_run(r, 200 * MS);
	cache_share_refresh(r->cache, rig_now(r));
	assert_int_equal(cache_share_pages(ca, 1000), 1000);
	/* Whoever still has something dirty stays. */
	cache_share_activate(cb);
	cb->nr_dirty = 1;
	rig_run(r, 700 * MS);
	cache_share_refresh(r->cache, rig_now(r));
	assert_int_equal(cache_share_pages(ca, 1000), 500);
	cb->nr_dirty = 0;
}

static void changed_weights_are_noticed(void **state)
{
	struct rig *r = *state;
	struct weir_group *a = rig_group(r, NULL, 100), *b = rig_group(r, NULL, 100);
	struct cache_group *ca = active(r, a), *cb = active(r, b);
	struct weir_group_attr attr;

	weir_group_get(a, &attr);
	attr.weight = 300;
	assert_int_equal(weir_group_set(a, &attr, 0), 0);
	assert_int_equal(cache_share_pages(ca, 1000), 500);
	rig_run(r, 100 * MS);
	cache_share_refresh(r->cache, rig_now(r));
	assert_int_equal(cache_share_pages(ca, 1000), 750);
	assert_int_equal(cache_share_pages(cb, 1000), 250);
}

/* Parts never add up to more than the limit, whoever is active in whatever tree. */
static void parts_fit_the_limit(void **state)
{
	enum { GROUPS = 60, LIMIT = 1000000 };
	struct rig *r = *state;
	struct weir_group *g[GROUPS];
	struct lab_rng rng;
	uint32_t n, step;

	lab_rng_seed(&rng, 11, 0);
	for (n = 0; n < GROUPS; n++)
		g[n] = rig_group(r, n % 4 ? g[lab_rng_below(&rng, n)] : NULL,
				 1 + (uint32_t)lab_rng_below(&rng, 100));
	for (step = 0; step < 50; step++) {
		uint64_t sum = 0;

		for (n = 0; n < 5; n++)
			active(r, g[lab_rng_below(&rng, GROUPS)]);
		for (n = 0; n < r->cache->nr_groups; n++)
			if (r->cache->group[n]->own_active)
				sum += cache_share_pages(r->cache->group[n], LIMIT);
		/* Each may be rounded up to the smallest part, and down at each level. */
		assert_in_range(sum, LIMIT - 4 * GROUPS, LIMIT + GROUPS * CACHE_SHARE_MIN_PAGES);
		rig_run(r, 130 * MS);
		cache_share_refresh(r->cache, rig_now(r));
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(alone_it_has_all),
		TEST(down_the_tree),
		TEST(no_share_is_too_small_to_write),
		TEST(who_stops_is_forgotten),
		TEST(changed_weights_are_noticed),
		TEST(parts_fit_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
