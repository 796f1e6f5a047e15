// SPDX-License-Identifier: GPL-2.0-only
/*
 * core/heap.h against a plain array that is searched: random pushes, updates and removals with many
 * equal keys, with keys across the wrap of the clock, and at every size up to a few hundred.
 */
#include "tests/util_host.h"

#include "core/heap.h"
#include "core/memory.h"

#define ITEMS 300

struct thing {
	struct weir_heap_item item;
	uint64_t key;
	bool in;
};

struct fixture {
	struct util_memory memory;
	struct weir_host host;
	struct weir_heap heap;
	struct thing thing[ITEMS];
	uint32_t nr_in;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint32_t i;

	assert_non_null(f);
	f->host = (struct weir_host){.alloc = util_alloc, .free = util_free, .priv = &f->memory};
	/* Orders that are not the indices, each once. */
	for (i = 0; i < ITEMS; i++)
		weir_heap_item_init(&f->thing[i].item, i * 7 % ITEMS);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	weir_heap_free(&f->heap, &f->host);
	assert_int_equal(f->memory.bytes, 0);
	free(f);
	return 0;
}

static bool before(const struct thing *a, const struct thing *b)
{
	if (a->key != b->key)
		return (int64_t)(a->key - b->key) < 0;
	return a->item.order < b->item.order;
}

static struct thing *smallest(struct fixture *f)
{
	struct thing *best = NULL;
	uint32_t i;

	for (i = 0; i < ITEMS; i++)
		if (f->thing[i].in && (!best || before(&f->thing[i], best)))
			best = &f->thing[i];
	return best;
}

static void check(struct fixture *f)
{
	struct thing *best = smallest(f);
	uint32_t i;

	assert_int_equal(f->heap.nr, f->nr_in);
	assert_ptr_equal(weir_heap_min(&f->heap), best ? &best->item : NULL);
	if (best)
		assert_int_equal(weir_heap_min_key(&f->heap), best->key);
	for (i = 0; i < ITEMS; i++) {
		struct thing *t = &f->thing[i];

		assert_int_equal(weir_heap_has(&t->item), t->in);
		if (!t->in)
			continue;
		assert_true(t->item.at < f->heap.nr);
		assert_ptr_equal(f->heap.entry[t->item.at].item, &t->item);
	}
}

static void push(struct fixture *f, struct thing *t, uint64_t key)
{
	t->key = key;
	t->in = true;
	f->nr_in++;
	weir_heap_push(&f->heap, &t->item, key);
}

static void drop(struct fixture *f, struct thing *t)
{
	t->in = false;
	f->nr_in--;
	weir_heap_remove(&f->heap, &t->item);
}

/* range small: many equal keys. base near 2^64: keys wrap. */
static void random_calls(struct fixture *f, uint64_t base, uint64_t range)
{
	uint64_t seed = base + range;
	unsigned int n;

	assert_int_equal(weir_heap_reserve(&f->heap, &f->host, ITEMS), 0);
	for (n = 0; n < 20000; n++) {
		struct thing *t = &f->thing[util_below(&seed, ITEMS)];
		uint64_t key = base + util_below(&seed, range);

		if (!t->in) {
			push(f, t, key);
		} else if (util_below(&seed, 2)) {
			t->key = key;
			weir_heap_update(&f->heap, &t->item, key);
		} else {
			drop(f, t);
		}
		if (n % 8 == 0 || f->nr_in < 8)
			check(f);
	}
	while (f->nr_in) {
		check(f);
		drop(f, smallest(f));
	}
}

static void many_equal_keys(void **state)
{
	random_calls(*state, 1000, 5);
}

static void few_equal_keys(void **state)
{
	random_calls(*state, 0, UINT64_C(1) << 40);
}

static void keys_wrap(void **state)
{
	random_calls(*state, UINT64_MAX - 500, 1000);
}

static void sorts_at_every_size(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 3;
	uint32_t size, i;

	assert_int_equal(weir_heap_reserve(&f->heap, &f->host, ITEMS), 0);
	for (size = 1; size <= ITEMS; size += size < 30 ? 1 : 27) {
		for (i = 0; i < size; i++)
			push(f, &f->thing[i], util_below(&seed, size));
		for (i = 0; i < size; i++) {
			assert_ptr_equal(weir_heap_min(&f->heap), &smallest(f)->item);
			drop(f, smallest(f));
		}
		assert_null(weir_heap_min(&f->heap));
	}
}

/* A queue that serves its first again and again, at every size; step small: many equal keys. */
static void serve(struct fixture *f, uint64_t step)
{
	uint64_t seed = step;
	uint32_t size, i;

	assert_int_equal(weir_heap_reserve(&f->heap, &f->host, ITEMS), 0);
	for (size = 1; size <= ITEMS; size += size < 30 ? 1 : 27) {
		for (i = 0; i < size; i++)
			push(f, &f->thing[i], UINT64_MAX - 20 * step + util_below(&seed, step));
		for (i = 0; i < 400; i++) {
			struct thing *t = smallest(f);

			t->key += util_below(&seed, step);
			weir_heap_defer_first(&f->heap, &t->item, t->key);
			check(f);
		}
		while (f->nr_in)
			drop(f, smallest(f));
	}
}

static void first_deferred(void **state)
{
	serve(*state, UINT64_C(1) << 40);
	serve(*state, 4);
}

/* Room doubles, what is inside stays, and a refused reservation changes nothing. */
static void reserve(void **state)
{
	struct fixture *f = *state;
	uint32_t i, room;

	for (i = 0; i < 9; i++) {
		assert_int_equal(weir_heap_reserve(&f->heap, &f->host, i + 1), 0);
		push(f, &f->thing[i], 100 - i);
		check(f);
	}
	assert_int_equal(f->heap.room, 13); /* 1 + 4 + 8 */
	if (sizeof(struct weir_heap_entry) == 16) {
		/* Children of one entry lie in one cache line. */
		assert_int_equal((uintptr_t)&f->heap.entry[1] % 64, 0);
		assert_int_equal((uintptr_t)&f->heap.entry[9] % 64, 0);
	}
	room = f->heap.room;
	f->memory.fail_at = f->memory.calls + 1;
	assert_int_equal(weir_heap_reserve(&f->heap, &f->host, room), 0);
	assert_int_equal(weir_heap_reserve(&f->heap, &f->host, room + 1), -WEIR_ENOMEM);
	assert_int_equal(f->heap.room, room);
	check(f);
	while (f->nr_in)
		drop(f, smallest(f));
}

/* Whatever the host's alignment, storage begins with a line, is zeroed, and goes back whole. */
static uint8_t pool[1024];
static size_t pool_offset, pool_bytes;

static void *pool_alloc(void *priv, size_t bytes)
{
	(void)priv;
	memset(pool, 0xff, sizeof(pool));
	memset(pool + pool_offset, 0, bytes);
	pool_bytes = bytes;
	return pool + pool_offset;
}

static void pool_free(void *priv, void *p, size_t bytes)
{
	(void)priv;
	assert_ptr_equal(p, pool + pool_offset);
	assert_int_equal(bytes, pool_bytes);
	pool_bytes = 0;
}

static void lines(void **unused)
{
	const struct weir_host odd = {.alloc = pool_alloc, .free = pool_free};
	uint8_t *p;
	size_t i;

	(void)unused;
	for (pool_offset = 0; pool_offset < 130; pool_offset++) {
		p = weir_alloc_lines(&odd, 200);
		assert_int_equal((uintptr_t)p % WEIR_LINE_BYTES, 0);
		assert_true(p >= pool + pool_offset && p + 200 <= pool + pool_offset + pool_bytes);
		for (i = 0; i < 200; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xee, 200);
		weir_free_lines(&odd, p, 200);
		assert_int_equal(pool_bytes, 0);
	}
	weir_free_lines(&odd, NULL, 200);
}

/* Room for one beside its owner; it moves out when there are more. */
static void room_for_one(void **state)
{
	struct fixture *f = *state;
	struct weir_heap_entry one;

	weir_heap_init_one(&f->heap, &one);
	assert_int_equal(weir_heap_reserve(&f->heap, &f->host, 1), 0);
	push(f, &f->thing[0], 7);
	assert_ptr_equal(f->heap.entry, &one);
	assert_int_equal(f->memory.bytes, 0);
	f->memory.fail_at = f->memory.calls + 1;
	assert_int_equal(weir_heap_reserve(&f->heap, &f->host, 2), -WEIR_ENOMEM);
	check(f);
	assert_int_equal(weir_heap_reserve(&f->heap, &f->host, 2), 0);
	assert_true(f->memory.bytes > 0);
	push(f, &f->thing[1], 3);
	check(f);
	drop(f, &f->thing[0]);
	drop(f, &f->thing[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test_setup_teardown(room_for_one, setup, teardown),
		cmocka_unit_test_setup_teardown(many_equal_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(few_equal_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(keys_wrap, setup, teardown),
		cmocka_unit_test_setup_teardown(sorts_at_every_size, setup, teardown),
		cmocka_unit_test_setup_teardown(first_deferred, setup, teardown),
		cmocka_unit_test_setup_teardown(reserve, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
