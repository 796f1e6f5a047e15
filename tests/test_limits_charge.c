// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a ceiling charges: each original request once, however it is merged, split or requeued, and
 * debt for what may not wait. Idle time gives no burst.
 */
#include "tests/util_host.h"

#include "core/spi.h"

static struct util_host host;

#define KIB 1024
#define MB 1000000
#define NO_LIMIT WEIR_UNLIMITED
#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

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

static struct weir_group *limited_host(uint64_t bps, uint64_t iops)
{
	struct weir_group_attr attr = limits(bps, iops);
	struct weir_group *g;

	util_host_init(&host);
	util_host_start(&host, &weir_policy_noop, NULL);
	g = util_group(&host, weir_root(host.w), 100);
	assert_int_equal(weir_group_set(g, &attr, host.now), 0);
	return g;
}

/* When the next held request may go, in ns from now; it isn't taken. */
static uint64_t held_for_ns(struct util_host *h)
{
	struct weir_next next;

	assert_null(weir_dispatch(h->w, h->now, &next));
	return next.at_ns - h->now;
}

static uint32_t insert(struct weir_group *g, uint32_t nr_sectors)
{
	return util_insert_as(&host, g, NULL, WEIR_OP_WRITE, 0, nr_sectors);
}

/* A request that comes back from the device has been paid for. */
static void requeued_is_charged_once(void **state)
{
	struct weir_group *g = limited_host(NO_LIMIT, 10);
	uint32_t a, n;

	(void)state;
	a = insert(g, 8);
	for (n = 0; n < 20; n++) {
		assert_int_equal(util_dispatch(&host), a);
		weir_requeue(host.w, &host.rq[a],
			     n % 2 ? WEIR_REQUEUE_REISSUE : WEIR_REQUEUE_INSERT, host.now);
		if (n % 2)
			weir_requeue(host.w, &host.rq[a], WEIR_REQUEUE_INSERT, host.now);
	}
	insert(g, 8);
	assert_int_equal(util_dispatch(&host), a);
	assert_int_equal(held_for_ns(&host), 100 * MS);
	util_host_stop(&host);
}

/* One of 64 KiB, or sixteen of 4 KiB that were cut from it: the same bytes, and once. */
static void split_is_charged_by_its_bytes(void **state)
{
	struct weir_group *g = limited_host(64 * KIB, NO_LIMIT);
	uint64_t whole_ns;
	uint32_t n;

	(void)state;
	insert(g, 128);
	assert_int_equal(util_dispatch(&host), 0);
	insert(g, 8);
	whole_ns = held_for_ns(&host);
	assert_int_equal(whole_ns, S);
	util_host_stop(&host);

	g = limited_host(64 * KIB, NO_LIMIT);
	for (n = 0; n < 16; n++)
		insert(g, 8);
	insert(g, 8);
	for (n = 0; n < 16; n++) {
		while (util_dispatch(&host) == UTIL_NONE)
			host.now += held_for_ns(&host);
	}
	/* 1 s for the sixteen; the first of them went at once. */
	host.now += held_for_ns(&host);
	assert_int_equal(host.now, 2 * S);
	util_host_stop(&host);
}

/* Each bio counts once, merged while held or while queued. */
static void merged_is_charged_once_per_bio(void **state)
{
	struct weir_group *g = limited_host(NO_LIMIT, 1000);
	struct weir_rq *bio, *into;
	uint32_t n, held;

	(void)state;
	/* 4 ms may come early, and one more pays later. */
	for (n = 0; n < 5; n++) {
		insert(g, 8);
		assert_int_equal(util_dispatch(&host), n);
	}
	/* Held, and grown by three bios: four in one. */
	held = util_insert_as(&host, g, NULL, WEIR_OP_WRITE, 1000, 8);
	assert_int_equal(host.rq[held].state, WEIR_RQ_HELD);
	for (n = 1; n < 4; n++) {
		bio = util_bio(&host, WEIR_OP_WRITE, 1000 + 8 * n, 8);
		bio->group = g;
		assert_int_equal(weir_merge_find(host.w, bio, &into, host.now), WEIR_MERGE_BACK);
		weir_merge_bio(host.w, into, bio, WEIR_MERGE_BACK, host.now);
	}
	insert(g, 8);
	assert_int_equal(held_for_ns(&host), 1 * MS);
	host.now += 1 * MS;
	assert_int_equal(util_dispatch(&host), held);
	assert_int_equal(host.rq[held].nr_merged, 3);
	assert_int_equal(held_for_ns(&host), 4 * MS);
	util_host_stop(&host);
}

/* A bio that joins a request which has passed already is charged then. */
static void merging_into_the_queue_is_charged(void **state)
{
	struct weir_group *g = limited_host(NO_LIMIT, 100000);
	struct weir_rq *bio, *into;
	uint32_t n, merged = 0;

	(void)state;
	insert(g, 8);
	for (n = 1; n < 128; n++) {
		bio = util_bio(&host, WEIR_OP_WRITE, 8 * n, 8);
		bio->group = g;
		if (weir_merge_find(host.w, bio, &into, host.now) == WEIR_MERGE_NONE)
			break;
		weir_merge_bio(host.w, into, bio, WEIR_MERGE_BACK, host.now);
		merged++;
	}
	assert_int_equal(merged, 127);
	assert_int_equal(util_dispatch(&host), 0);
	/* 4 ms of slack hold 400, of which 128 are gone; and one more goes, which pays later. */
	for (n = 0; n < 400 - 128 + 1; n++) {
		insert(g, 8);
		assert_int_not_equal(util_dispatch(&host), UTIL_NONE);
	}
	insert(g, 8);
	assert_int_equal(held_for_ns(&host), 10 * US);
	util_host_stop(&host);
}

/* Journal and metadata never wait, and what follows pays. */
static void metadata_passes_as_debt(void **state)
{
	struct weir_group *g = limited_host(NO_LIMIT, 10);
	struct weir_rq *meta;
	uint32_t a, b;

	(void)state;
	a = insert(g, 8);
	b = insert(g, 8);
	assert_int_equal(util_dispatch(&host), a);
	assert_int_equal(held_for_ns(&host), 100 * MS);
	meta = util_bio(&host, WEIR_OP_WRITE, 5000, 8);
	meta->group = g;
	meta->flags = WEIR_RQ_META;
	weir_insert(host.w, meta, WEIR_TAIL, host.now);
	assert_ptr_equal(weir_dispatch(host.w, host.now, NULL), meta);
	assert_int_equal(held_for_ns(&host), 200 * MS);
	host.now += 200 * MS;
	assert_int_equal(util_dispatch(&host), b);
	util_host_stop(&host);
}

static void flush_passes_and_costs_nothing(void **state)
{
	struct weir_group *g = limited_host(1 * MB, 10);
	uint32_t a, f;

	(void)state;
	a = insert(g, 8);
	insert(g, 8);
	f = util_insert_as(&host, g, NULL, WEIR_OP_FLUSH, 0, 0);
	assert_int_equal(util_dispatch(&host), a);
	assert_int_equal(util_dispatch(&host), f);
	assert_int_equal(held_for_ns(&host), 100 * MS);
	util_host_stop(&host);
}

/* No data crosses: one sector, by whichever way it passes. */
static void discard_counts_as_one_sector(void **state)
{
	struct weir_group *g = limited_host(512, NO_LIMIT);
	struct weir_rq *discard;

	(void)state;
	util_insert_as(&host, g, NULL, WEIR_OP_DISCARD, 0, 1 << 20);
	assert_int_equal(util_dispatch(&host), 0);
	insert(g, 1);
	assert_int_equal(held_for_ns(&host), S);

	discard = util_bio(&host, WEIR_OP_DISCARD, 5000, 1 << 20);
	discard->group = g;
	discard->flags = WEIR_RQ_META;
	weir_insert(host.w, discard, WEIR_TAIL, host.now);
	assert_ptr_equal(weir_dispatch(host.w, host.now, NULL), discard);
	assert_int_equal(held_for_ns(&host), 2 * S);
	util_host_stop(&host);
}

/* A removed request that has not passed costs nothing. */
static void removed_is_not_charged(void **state)
{
	struct weir_group *g = limited_host(NO_LIMIT, 10);
	uint32_t n;

	(void)state;
	for (n = 0; n < 10; n++)
		insert(g, 8);
	assert_int_equal(util_dispatch(&host), 0);
	for (n = 1; n < 9; n++)
		assert_int_equal(weir_remove(host.w, &host.rq[n], host.now), 0);
	assert_int_equal(held_for_ns(&host), 100 * MS);
	host.now += 100 * MS;
	assert_int_equal(util_dispatch(&host), 9);
	util_host_stop(&host);
}

static uint32_t go_at_once(struct util_host *h, struct weir_group *g)
{
	uint32_t n, went = 0;

	for (n = 0; n < 100; n++)
		util_insert_as(h, g, NULL, WEIR_OP_READ, n * 1000, 8);
	while (util_dispatch(h) != UTIL_NONE)
		went++;
	return went;
}

static uint32_t burst_at(uint64_t iops)
{
	struct weir_group *g = limited_host(NO_LIMIT, iops);
	uint32_t went;

	host.now += 3600 * S;
	went = go_at_once(&host, g);
	util_host_stop(&host);
	return went;
}

static void no_burst_after_idling(void **state)
{
	(void)state;
	assert_int_equal(burst_at(1), 1);
	assert_int_equal(burst_at(100), 1);
	/* 4 ms of 3000, and one. */
	assert_in_range(burst_at(3000), 1, 13);
}

/* The wait is the ceiling's, to the nanosecond. */
static void the_wait_is_accounted(void **state)
{
	struct weir_group *g = limited_host(NO_LIMIT, 10);
	struct weir_group_stats stats;

	(void)state;
	insert(g, 8);
	insert(g, 8);
	assert_int_equal(util_dispatch(&host), 0);
	host.now += 100 * MS;
	assert_int_equal(util_dispatch(&host), 1);
	weir_group_read_stats(g, host.now, &stats);
	assert_int_equal(stats.wait_ns[WEIR_WAIT_CEILING], 100 * MS);
	assert_int_equal(stats.backlogged_ns, 100 * MS);
	util_host_stop(&host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_burst_after_idling),
		cmocka_unit_test(requeued_is_charged_once),
		cmocka_unit_test(split_is_charged_by_its_bytes),
		cmocka_unit_test(merged_is_charged_once_per_bio),
		cmocka_unit_test(merging_into_the_queue_is_charged),
		cmocka_unit_test(metadata_passes_as_debt),
		cmocka_unit_test(flush_passes_and_costs_nothing),
		cmocka_unit_test(discard_counts_as_one_sector),
		cmocka_unit_test(removed_is_not_charged),
		cmocka_unit_test(the_wait_is_accounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
