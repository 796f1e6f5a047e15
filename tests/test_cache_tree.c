// SPDX-License-Identifier: GPL-2.0-only
/* Page cache: the tree of pages against a plain array, and its memory for sparse files. */
#include "tests/test_cache_fake.h"

#include "lab/cache_impl.h"
#include "lab/rng.h"

#define LEAF_BYTES (CACHE_LEAF_PAGES * PAGE)

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

static void height_follows_length(void **state)
{
	struct rig *r = *state;

	assert_int_equal(lab_file_open(r->cache, 0, 1)->height, 1);
	assert_int_equal(lab_file_open(r->cache, 0, 64 * LEAF_BYTES)->height, 1);
	assert_int_equal(lab_file_open(r->cache, 0, 64 * LEAF_BYTES + 1)->height, 2);
	assert_int_equal(lab_file_open(r->cache, 0, 4096 * LEAF_BYTES)->height, 2);
	assert_int_equal(lab_file_open(r->cache, 0, 4097 * LEAF_BYTES)->height, 3);
	assert_int_equal(lab_file_open(r->cache, 0, UINT64_C(16) << 40)->height, 5);
}

/* The words must not be touched behind the back of cache_pages.c, so leaves are made bare here. */
static void like_an_array(struct rig *r, uint64_t leaves, uint64_t seed)
{
	struct lab_file *f = lab_file_open(r->cache, 0, leaves * LEAF_BYTES);
	struct cache_leaf **model = calloc(leaves, sizeof(*model));
	bool *dirty = calloc(leaves, sizeof(*dirty));
	struct lab_rng rng;
	uint64_t step, n;

	lab_rng_seed(&rng, seed, 1);
	for (step = 0; step < 20000; step++) {
		uint64_t at = lab_rng_below(&rng, leaves), page = at * 64 + step % 64, want;
		uint64_t what = lab_rng_below(&rng, 8);
		struct cache_leaf *leaf;

		assert_ptr_equal(cache_leaf_find(f, page), model[at]);
		if (what < 3 && !model[at]) {
			model[at] = cache_leaf_get(f, page);
			assert_int_equal(model[at]->index, at);
		} else if (what == 3 && model[at] && !dirty[at]) {
			cache_leaf_remove(model[at]);
			model[at] = NULL;
		} else if (what == 4 && model[at]) {
			dirty[at] = !dirty[at];
			cache_leaf_tag_dirty(model[at], dirty[at]);
		}
		for (want = at; want < leaves && !model[want]; want++)
			;
		leaf = cache_leaf_next(f, page, false);
		assert_ptr_equal(leaf, want < leaves ? model[want] : NULL);
		for (want = at; want < leaves && !dirty[want]; want++)
			;
		leaf = cache_leaf_next(f, page, true);
		assert_ptr_equal(leaf, want < leaves ? model[want] : NULL);
	}
	for (n = 0; n < leaves; n++) {
		if (!model[n])
			continue;
		if (dirty[n])
			cache_leaf_tag_dirty(model[n], false);
		cache_leaf_remove(model[n]);
	}
	assert_null(f->root);
	assert_null(cache_leaf_next(f, 0, false));
	free(model);
	free(dirty);
}

static void random_leaves(void **state)
{
	struct rig *r = *state;
	uint64_t seed;

	for (seed = 1; seed <= 4; seed++) {
		like_an_array(r, 7, seed);
		like_an_array(r, 300, seed);
		like_an_array(r, 9000, seed);
	}
	assert_int_equal(r->cache->nodes.nr_used, 0);
	assert_int_equal(r->cache->leaves.nr_used, 0);
}

static void sparse_terabytes(void **state)
{
	struct rig *r = *state;
	uint64_t tib = UINT64_C(1) << 40, n;
	struct lab_file *f = lab_file_open(r->cache, 0, 16 * tib);

	assert_int_equal(r->cache->nodes.nr_used, 0);
	for (n = 0; n < 16; n++)
		cache_leaf_get(f, (n * tib + n) / PAGE);
	assert_int_equal(r->cache->leaves.nr_used, 16);
	assert_true(r->cache->nodes.nr_used <= 1 + 16 * 4);
	for (n = 1; n < 16; n++)
		assert_int_equal(cache_leaf_next(f, (n - 1) * tib / PAGE + 64, false)->index,
				 n * tib / LEAF_BYTES);
	assert_null(cache_leaf_next(f, 15 * tib / PAGE + 64, false));
	for (n = 0; n < 16; n++)
		cache_leaf_remove(cache_leaf_find(f, n * tib / PAGE));
	assert_int_equal(r->cache->nodes.nr_used, 0);
}

static void masks(void **state)
{
	(void)state;
	assert_int_equal(cache_leaf_mask(0, 1), 1);
	assert_int_equal(cache_leaf_mask(63, 64), UINT64_C(1) << 63);
	assert_int_equal(cache_leaf_mask(63, 900), UINT64_C(1) << 63);
	assert_true(cache_leaf_mask(64, 128) == UINT64_MAX);
	assert_true(cache_leaf_mask(64, 1000) == UINT64_MAX);
	assert_int_equal(cache_leaf_mask(66, 70), 0x3c);
	assert_int_equal(cache_leaf_end(0), 64);
	assert_int_equal(cache_leaf_end(63), 64);
	assert_int_equal(cache_leaf_end(64), 128);
}

static void pool_reuses(void **state)
{
	struct cache_pool p;
	void *item[300];
	int n;

	(void)state;
	cache_pool_init(&p, 24);
	for (n = 0; n < 300; n++) {
		unsigned char *bytes = item[n] = cache_pool_get(&p);
		int at;

		for (at = 0; at < 24; at++) {
			assert_int_equal(bytes[at], 0);
			bytes[at] = (unsigned char)n;
		}
	}
	for (n = 0; n < 300; n++)
		assert_int_equal(((unsigned char *)item[n])[23], (unsigned char)n);
	assert_int_equal(p.nr_used, 300);
	cache_pool_put(&p, item[7]);
	assert_ptr_equal(cache_pool_get(&p), item[7]);
	assert_int_equal(((unsigned char *)item[7])[23], 0);
	cache_pool_exit(&p);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(height_follows_length), TEST(random_leaves),
		TEST(sparse_terabytes),	     TEST(masks),
		TEST(pool_reuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
