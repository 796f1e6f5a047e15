// SPDX-License-Identifier: GPL-2.0-only
/*
 * CFQ: merging, processes that cooperate and part, and what becomes of a queue whose process ends or
 * moves.
 */
#include "tests/cfq_steps.h"

/* ---- merging ---- */

/* Only with requests of the own queue, until allow_cross_merge says otherwise. */
static void merging(void **state)
{
	struct weir_ctx *a, *b;
	uint32_t n, into;
	unsigned int cross;

	(void)state;
	for (cross = 0; cross < 2; cross++) {
		start("allow_cross_merge", cross);
		a = any_process();
		b = any_process();
		n = read_at(a, 1000);
		assert_int_equal(merge_as(b, 1008, &into),
				 cross ? WEIR_MERGE_BACK : WEIR_MERGE_NONE);
		assert_int_equal(h->rq[n].nr_sectors, cross ? 16 : 8);
		assert_int_equal(merge_as(a, 992, &into), WEIR_MERGE_FRONT);
		assert_int_equal(into, n);
		assert_int_equal(merge_as(a, cross ? 1016 : 1008, &into), WEIR_MERGE_BACK);
		assert_int_equal(into, n);
		util_expect(h, n);
		util_host_stop(h);
	}
}

/* A gap is closed: the earlier expiry stays. */
static void joining(void **state)
{
	uint32_t low, high, far;
	enum weir_merge kind;

	(void)state;
	start(NULL, 0);
	high = util_insert(h, WEIR_OP_READ, FAR + 16, 8);
	h->now += 60 * MS;
	far = util_insert(h, WEIR_OP_READ, 0, 8);
	low = util_insert(h, WEIR_OP_READ, FAR, 8);
	assert_int_equal(util_merge(h, WEIR_OP_READ, FAR + 8, 8, &kind), low);
	assert_int_equal(h->rq[low].nr_sectors, 24);
	assert_int_equal(h->rq[high].state, WEIR_RQ_NEW);
	h->now += 65 * MS;
	util_expect(h, low);
	util_expect(h, far);
	util_host_stop(h);
}

/* ---- cooperators ---- */

/* Three processes read one stream, 16 KiB each in turn. Returns how long it waited. */
static uint64_t interleaved(struct weir_ctx *const p[3], unsigned int from, unsigned int to)
{
	uint64_t begin_ns = h->now;
	unsigned int n;

	for (n = from; n < to; n++)
		in_time(read_16k_at(p[n % 3], 32 * n));
	return h->now - begin_ns;
}

/* The three come together, so that the end of one's request finds the next one's near the head. */
static void come_together(struct weir_ctx *p[3])
{
	unsigned int n;

	for (n = 0; n < 3; n++)
		p[n] = any_process();
	for (n = 0; n < 3; n++)
		read_16k_at(p[n], 32 * n);
}

/* Joined, they are one queue: no waits, and what one reads merges with what another has queued. */
static void cooperators(void **state)
{
	struct weir_ctx *p[3];
	uint32_t into, first, n;

	(void)state;
	start(NULL, 0);
	come_together(p);
	for (n = 0; n < 3; n++)
		util_expect(h, n);
	assert_int_equal(interleaved(p, 3, 60), 0);
	first = read_at(p[0], 10000);
	assert_int_equal(merge_as(p[1], 10008, &into), WEIR_MERGE_BACK);
	assert_int_equal(into, first);
	assert_int_equal(merge_as(p[2], 10016, &into), WEIR_MERGE_BACK);
	util_host_stop(h);
}

/* Without, each switch from one to another costs a wait. */
static void no_cooperators(void **state)
{
	struct weir_ctx *p[3];
	uint32_t into, n;

	(void)state;
	start("close_cooperator", 0);
	come_together(p);
	for (n = 0; n < 3; n++) {
		util_expect(h, n);
		if (n < 2)
			expect_wait(8 * MS);
		h->now += 8 * MS;
	}
	read_at(p[0], 10000);
	assert_int_equal(merge_as(p[1], 10008, &into), WEIR_MERGE_NONE);
	util_host_stop(h);
}

/* Their queue gets seeky, and they part. */
static void parting(void **state)
{
	struct weir_ctx *p[3], *other;
	uint32_t into, n;

	(void)state;
	start(NULL, 0);
	come_together(p);
	other = any_process();
	for (n = 0; n < 3; n++)
		util_expect(h, n);
	interleaved(p, 3, 30);
	for (n = 0; n < 12; n++)
		in_time(read_at(p[n % 3], (n % 3 + 1) * FAR + 8 * n));
	/* Its slice ends with another one's turn. */
	h->now += 200 * MS;
	util_expect(h, read_at(other, 8 * FAR));
	h->now += 20 * MS;
	for (n = 0; n < 6; n++)
		read_at(p[n % 3], (n % 3 + 1) * FAR + 1000 + 1000 * n);
	read_at(p[0], 20000);
	assert_int_equal(merge_as(p[1], 20008, &into), WEIR_MERGE_NONE);
	assert_int_equal(merge_as(p[2], 20008, &into), WEIR_MERGE_NONE);
	assert_int_equal(merge_as(p[0], 20008, &into), WEIR_MERGE_BACK);
	util_host_stop(h);
}

/* The queue that they share is one's; it ends first, and nothing is lost. */
static void owner_ends(void **state)
{
	struct weir_ctx *p[3];
	uint32_t n, into, index, in_driver, left = 0;

	(void)state;
	start(NULL, 0);
	come_together(p);
	for (n = 0; n < 3; n++)
		util_expect(h, n);
	interleaved(p, 3, 30);
	/* Whose it is depends on who joined whom: each of them goes in turn, the last one stays. */
	for (n = 0; n < 2; n++) {
		read_at(p[2], 4000 + 64 * n);
		index = read_at(p[2], 6000 + 64 * n);
		in_driver = util_dispatch(h);
		assert_int_not_equal(in_driver, UTIL_NONE);
		weir_ctx_exit(p[n], h->now);
		assert_int_equal(merge_as(p[2], h->rq[index].sector + 8, &into), WEIR_MERGE_BACK);
		util_complete(h, in_driver);
		left++;
	}
	h->now += 200 * MS;
	while ((index = util_dispatch(h)) != UTIL_NONE) {
		util_complete(h, index);
		left++;
	}
	assert_int_equal(left, 4);
	util_host_stop(h);
}

/* Who goes to another group leaves behind what it has queued, and begins anew. */
static void moves(void **state)
{
	struct weir_group *a, *b;
	struct weir_ctx *p;
	uint32_t old[2], new;

	(void)state;
	start(NULL, 0);
	a = util_group(h, root, 500);
	b = util_group(h, root, 500);
	p = process(a, WEIR_IOPRIO_NONE, 4);
	old[0] = read_at(p, 0);
	old[1] = read_at(p, 8);
	assert_int_equal(util_dispatch(h), old[0]);
	weir_ctx_move(p, b, h->now);
	new = read_at(p, 16);
	assert_ptr_equal(h->rq[new].group, b);
	/* Both groups have something; the one with the older claim goes on. */
	util_complete(h, old[0]);
	util_expect(h, old[1]);
	h->now += 8 * MS;
	util_expect(h, new);
	assert_int_equal(weir_group_remove(a, h->now), 0);
	util_host_stop(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merging),     cmocka_unit_test(joining),
		cmocka_unit_test(cooperators), cmocka_unit_test(no_cooperators),
		cmocka_unit_test(parting),     cmocka_unit_test(owner_ends),
		cmocka_unit_test(moves),
	};

	return cmocka_run_group_tests_name("cfq, processes", tests, NULL, NULL);
}
