// SPDX-License-Identifier: GPL-2.0-only
/*
 * core/merge.c: which look-ups find what, everything that keeps two requests apart, and the books:
 * each original request is counted, charged and priced once.
 */
#include "tests/util_host.h"

#include "core/core.h"

static struct util_host host;

static int setup_policy(void **state, const struct weir_policy *policy)
{
	util_host_init(&host);
	util_host_start(&host, policy, NULL);
	*state = &host;
	return 0;
}

static int setup(void **state)
{
	return setup_policy(state, &weir_policy_noop);
}

/* Its requests are sorted: it looks for front merges, and joins neighbours by sector. */
static int setup_deadline(void **state)
{
	return setup_policy(state, &weir_policy_deadline);
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static enum weir_merge find(struct util_host *h, const struct weir_rq *bio, struct weir_rq **into)
{
	enum weir_merge kind = weir_merge_find(h->w, bio, into, h->now);

	assert_true((kind == WEIR_MERGE_NONE) == (*into == NULL));
	return kind;
}

/* What a read of 8 sectors there would join. */
static enum weir_merge find_at(struct util_host *h, uint64_t sector, struct weir_rq **into)
{
	struct weir_rq bio;

	weir_rq_init(&bio, WEIR_OP_READ, sector, 8, weir_root(h->w), NULL);
	return find(h, &bio, into);
}

static struct weir_dir_stats stats(struct util_host *h, struct weir_group *g, enum weir_dir dir)
{
	struct weir_group_stats s;

	weir_group_read_stats(g, h->now, &s);
	return s.dir[dir];
}

static void back_by_hint_and_hash(void **state)
{
	struct util_host *h = *state;
	uint32_t a = util_insert(h, WEIR_OP_READ, 1000, 8),
		 b = util_insert(h, WEIR_OP_READ, 2000, 8);
	struct weir_rq *into;

	assert_int_equal(find_at(h, 2008, &into), WEIR_MERGE_BACK); /* the last that came */
	assert_ptr_equal(into, &h->rq[b]);
	assert_int_equal(find_at(h, 1008, &into), WEIR_MERGE_BACK); /* by its end */
	assert_ptr_equal(into, &h->rq[a]);
	assert_int_equal(find_at(h, 1007, &into), WEIR_MERGE_NONE);
	assert_int_equal(find_at(h, 1009, &into), WEIR_MERGE_NONE);
	/* Looking changes nothing. */
	assert_int_equal(h->rq[a].nr_sectors, 8);
	assert_int_equal(stats(h, weir_root(h->w), WEIR_READ).inserted, 2);
}

static void front_by_hint(void **state)
{
	struct util_host *h = *state;
	uint32_t a = util_insert(h, WEIR_OP_READ, 1000, 8);
	enum weir_merge kind;
	struct weir_rq *into;

	assert_int_equal(find_at(h, 992, &into), WEIR_MERGE_FRONT);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 992, 8, &kind), a);
	assert_int_equal(kind, WEIR_MERGE_FRONT);
	assert_int_equal(h->rq[a].sector, 992);
	assert_int_equal(h->rq[a].nr_sectors, 16);
	util_insert(h, WEIR_OP_READ, 5000, 8);
	assert_int_equal(find_at(h, 984, &into), WEIR_MERGE_NONE); /* noop does not search */
}

static void front_by_policy(void **state)
{
	struct util_host *h = *state;
	uint32_t a = util_insert(h, WEIR_OP_READ, 1000, 8);
	struct weir_rq *into;

	util_insert(h, WEIR_OP_READ, 5000, 8);
	assert_int_equal(find_at(h, 992, &into), WEIR_MERGE_FRONT);
	assert_ptr_equal(into, &h->rq[a]);
	/* Back comes first where both would do. */
	util_insert(h, WEIR_OP_READ, 984, 8);
	util_insert(h, WEIR_OP_READ, 7000, 8);
	assert_int_equal(find_at(h, 992, &into), WEIR_MERGE_BACK);
}

static void follows_the_end(void **state)
{
	struct util_host *h = *state;
	uint32_t a = util_insert(h, WEIR_OP_READ, 1000, 8);
	enum weir_merge kind;
	struct weir_rq *into;

	assert_int_equal(util_merge(h, WEIR_OP_READ, 1008, 8, &kind), a);
	util_insert(h, WEIR_OP_READ, 5000, 8);
	assert_int_equal(find_at(h, 1008, &into), WEIR_MERGE_NONE);
	assert_int_equal(find_at(h, 1016, &into), WEIR_MERGE_BACK);
	/* What left is not found: dispatched, removed, or back from the device. */
	assert_int_equal(util_dispatch(h), a);
	assert_int_equal(find_at(h, 1016, &into), WEIR_MERGE_NONE);
	weir_requeue(h->w, &h->rq[a], WEIR_REQUEUE_INSERT, h->now);
	assert_int_equal(find_at(h, 1016, &into), WEIR_MERGE_NONE);
	assert_int_equal(find_at(h, 5008, &into), WEIR_MERGE_BACK);
	assert_int_equal(weir_remove(h->w, into, h->now), 0);
	assert_int_equal(find_at(h, 5008, &into), WEIR_MERGE_NONE);
}

static void size_limit(void **state)
{
	struct util_host *h = *state;
	struct weir_rq bio, *into;

	h->cfg.max_sectors = 64;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
	util_insert(h, WEIR_OP_READ, 1000, 40);
	weir_rq_init(&bio, WEIR_OP_READ, 1040, 24, weir_root(h->w), NULL);
	assert_int_equal(find(h, &bio, &into), WEIR_MERGE_BACK);
	bio.nr_sectors = 25;
	assert_int_equal(find(h, &bio, &into), WEIR_MERGE_NONE);
	weir_rq_init(&bio, WEIR_OP_READ, 1000 - 25, 25, weir_root(h->w), NULL);
	assert_int_equal(find(h, &bio, &into), WEIR_MERGE_NONE);
}

/* One thing differs at a time. */
static void kept_apart(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w), *g = util_group(h, root, 100);
	struct weir_rq *rq, bio, *into;
	unsigned int what;

	for (what = 0; what < 13; what++) {
		rq = util_bio(h, WEIR_OP_WRITE, 1000, 8);
		weir_rq_init(&bio, WEIR_OP_WRITE, 1008, 8, root, NULL);
		switch (what) {
		case 0:
			break;
		case 1:
			bio.group = g;
			break;
		case 2:
			bio.op = WEIR_OP_READ;
			break;
		case 3:
			bio.flags = WEIR_RQ_SYNC;
			break;
		case 4:
			rq->flags = WEIR_RQ_SYNC;
			break;
		case 5:
			bio.flags = WEIR_RQ_META;
			break;
		case 6:
			bio.ioprio_class = WEIR_IOPRIO_RT;
			break;
		case 7:
			bio.flags = WEIR_RQ_NOMERGE;
			break;
		case 8:
			rq->flags = WEIR_RQ_NOMERGE;
			break;
		case 9:
			bio.flags = WEIR_RQ_FUA;
			break;
		case 10:
			rq->flags = WEIR_RQ_PREFLUSH;
			break;
		case 11:
			rq->op = WEIR_OP_DISCARD;
			bio.op = WEIR_OP_DISCARD;
			break;
		case 12:
			rq->op = WEIR_OP_WRITE_ZEROES;
			bio.op = WEIR_OP_WRITE_ZEROES;
			break;
		}
		weir_insert(h->w, rq, WEIR_TAIL, h->now);
		assert_int_equal(find(h, &bio, &into), what ? WEIR_MERGE_NONE : WEIR_MERGE_BACK);
		bio.sector = 992;
		assert_int_equal(find(h, &bio, &into), what ? WEIR_MERGE_NONE : WEIR_MERGE_FRONT);
		util_expect(h, (uint32_t)(rq - h->rq));
	}
	/* Equal in all of it, they do. */
	rq = util_bio(h, WEIR_OP_WRITE, 1000, 8);
	rq->flags = WEIR_RQ_SYNC | WEIR_RQ_META;
	rq->group = g;
	rq->ioprio_class = WEIR_IOPRIO_IDLE;
	weir_insert(h->w, rq, WEIR_TAIL, h->now);
	bio = *rq;
	bio.sector = 1008;
	assert_int_equal(find(h, &bio, &into), WEIR_MERGE_BACK);
}

static void switched_off(void **state)
{
	struct util_host *h = *state;
	uint32_t a = util_insert(h, WEIR_OP_READ, 1000, 8);
	struct weir_rq *into;

	h->cfg.merge = false;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
	assert_int_equal(find_at(h, 1008, &into), WEIR_MERGE_NONE);
	util_insert(h, WEIR_OP_READ, 1008, 8);
	h->cfg.merge = true;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
	/* Those that came before are not looked up any more; they leave as any other. */
	assert_int_equal(find_at(h, 1016, &into), WEIR_MERGE_NONE);
	util_expect(h, a);
	util_insert(h, WEIR_OP_READ, 2000, 8);
	assert_int_equal(find_at(h, 2008, &into), WEIR_MERGE_BACK);
}

/* ---- books ---- */

static void counted_once(void **state)
{
	struct util_host *h = *state;
	struct weir_group *root = weir_root(h->w);
	uint32_t a = util_insert(h, WEIR_OP_READ, 1000, 8), n;
	struct weir_dir_stats d;
	enum weir_merge kind;

	for (n = 0; n < 4; n++) {
		h->now += 1000;
		assert_int_equal(util_merge(h, WEIR_OP_READ, 1008 + n * 8, 8, &kind), a);
	}
	d = stats(h, root, WEIR_READ);
	assert_int_equal(d.inserted, 5);
	assert_int_equal(d.merged, 4);
	assert_int_equal(d.waiting, 1);
	assert_int_equal(h->rq[a].nr_merged, 4);
	/* One start, and the bytes of five pages at 1 ns: 10000 + 4 * 4096. */
	assert_int_equal(h->rq[a].cost_ns, 26384);
	assert_int_equal(d.device_ns, 0);
	assert_int_equal(util_dispatch(h), a);
	d = stats(h, root, WEIR_READ);
	assert_int_equal(d.device_ns, 26384);
	assert_int_equal(d.queue_wait_ns, 4000);
	util_complete(h, a);
	d = stats(h, root, WEIR_READ);
	assert_int_equal(d.completed, 1);
	assert_int_equal(d.bytes, 5 * 4096);
	assert_int_equal(weir_nr_waiting(h->w) + weir_nr_in_flight(h->w), 0);
}

/* More than the counter of absorbed requests can hold are not absorbed: each is charged. */
static void countable(void **state)
{
	struct util_host *h = *state;
	uint32_t a = util_insert(h, WEIR_OP_READ, 1000, 8), b;
	enum weir_merge kind;
	struct weir_rq *into;

	h->rq[a].nr_merged = UINT16_MAX - 2;
	assert_int_equal(util_merge(h, WEIR_OP_READ, 1008, 8, &kind), a);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 1016, 8, &kind), a);
	assert_int_equal(h->rq[a].nr_merged, UINT16_MAX);
	assert_int_equal(find_at(h, 1024, &into), WEIR_MERGE_NONE);
	/* Nor does a neighbour that would sum up to too many. */
	b = util_insert(h, WEIR_OP_READ, 1032, 8);
	h->rq[a].nr_merged = UINT16_MAX - 2;
	h->rq[b].nr_merged = 1;
	assert_int_equal(util_merge(h, WEIR_OP_READ, 1024, 8, &kind), b);
	assert_int_equal(kind, WEIR_MERGE_FRONT);
	assert_int_equal(h->rq[a].state, WEIR_RQ_QUEUED);
	assert_int_equal(h->rq[b].nr_merged, 2);
}

/* A bio fills a gap: the two that touch now become one, and the one that is absorbed leaves. */
static void join_neighbours(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g = util_group(h, weir_root(h->w), 100);
	struct weir_ctx *ctx = weir_ctx_create(h->w, g, WEIR_IOPRIO_NONE, 0, h->now);
	struct weir_ctx *other = weir_ctx_create(h->w, g, WEIR_IOPRIO_NONE, 0, h->now);
	uint64_t start = h->now;
	struct weir_rq *into, *then, *bio;
	struct weir_dir_stats d;
	uint32_t low, high;

	high = util_insert_as(h, g, other, WEIR_OP_READ, 1016, 8);
	h->now += 5000;
	low = util_insert_as(h, g, ctx, WEIR_OP_READ, 1000, 8);
	weir_ctx_exit(other, h->now); /* goes with its last request: when that is absorbed */
	h->now += 5000;
	bio = util_bio(h, WEIR_OP_READ, 1008, 8);
	bio->group = g;
	bio->ctx = ctx;
	assert_int_equal(find(h, bio, &into), WEIR_MERGE_BACK);
	assert_ptr_equal(into, &h->rq[low]);
	then = weir_merge_bio(h->w, into, bio, WEIR_MERGE_BACK, h->now);
	assert_ptr_equal(then, &h->rq[high]);
	weir_merge_rq(h->w, into, then, h->now);
	assert_int_equal(then->state, WEIR_RQ_NEW);
	assert_int_equal(g->nr_ctx, 1);
	assert_int_equal(into->sector, 1000);
	assert_int_equal(into->nr_sectors, 24);
	assert_int_equal(into->nr_merged, 2);
	assert_int_equal(into->insert_ns, start); /* of the older one */
	/* 10000 with one start, and two pages more. */
	assert_int_equal(into->cost_ns, 10000 + 2 * 4096);
	d = stats(h, g, WEIR_READ);
	assert_int_equal(d.inserted, 3);
	assert_int_equal(d.merged, 2);
	assert_int_equal(d.waiting, 1);
	assert_int_equal(weir_nr_waiting(h->w), 1);
	assert_int_equal(g->nr_rqs, 1);
	h->now += 1000;
	util_expect(h, low);
	d = stats(h, g, WEIR_READ);
	assert_int_equal(d.queue_wait_ns, 11000);
	assert_int_equal(d.bytes, 24 * 512);
	weir_ctx_exit(ctx, h->now);
}

/* A front merge finds the neighbour below. The lower one absorbs. */
static void join_below(void **state)
{
	struct util_host *h = *state;
	uint32_t low = util_insert(h, WEIR_OP_READ, 1000, 8);
	uint32_t high = util_insert(h, WEIR_OP_READ, 1016, 8);
	struct weir_rq *bio = util_bio(h, WEIR_OP_READ, 1008, 8), *then;

	then = weir_merge_bio(h->w, &h->rq[high], bio, WEIR_MERGE_FRONT, h->now);
	assert_ptr_equal(then, &h->rq[low]);
	weir_merge_rq(h->w, then, &h->rq[high], h->now);
	util_expect(h, low);
	assert_int_equal(h->rq[low].nr_sectors, 24);
	util_expect(h, UTIL_NONE);
	/* One that only lies near is none. */
	util_insert(h, WEIR_OP_READ, 1000, 8);
	high = util_insert(h, WEIR_OP_READ, 1024, 8);
	bio = util_bio(h, WEIR_OP_READ, 1016, 8);
	assert_null(weir_merge_bio(h->w, &h->rq[high], bio, WEIR_MERGE_FRONT, h->now));
}

/* ---- at random: a valid candidate at the back is always found, and nothing invalid ever ---- */

static bool valid(const struct weir_rq *rq, const struct weir_rq *bio, uint32_t max)
{
	return rq->state == WEIR_RQ_QUEUED && rq->group == bio->group && rq->op == bio->op &&
	       weir_rq_is_sync(rq) == weir_rq_is_sync(bio) &&
	       rq->nr_sectors + bio->nr_sectors <= max;
}

static void at_random(void **state)
{
	struct util_host *h = *state;
	struct weir_group *g[2] = {weir_root(h->w), util_group(h, weir_root(h->w), 100)};
	uint64_t seed = 23, merged = 0, joined = 0;
	uint32_t step, i;

	h->cfg.max_sectors = 64;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
	for (step = 0; step < 4000; step++) {
		struct weir_rq *bio = util_bio(
			h, util_below(&seed, 2) ? WEIR_OP_READ : WEIR_OP_WRITE,
			util_below(&seed, 400) * 8, 8 * (1 + (uint32_t)util_below(&seed, 2)));
		struct weir_rq *into, *then;
		enum weir_merge kind;
		bool back = false;

		bio->group = g[util_below(&seed, 2)];
		bio->flags = util_below(&seed, 2) ? WEIR_RQ_SYNC : 0;
		for (i = 0; i < h->nr_rqs; i++)
			back |= valid(&h->rq[i], bio, 64) && weir_rq_end(&h->rq[i]) == bio->sector;
		kind = find(h, bio, &into);
		if (kind != WEIR_MERGE_NONE) {
			assert_true(valid(into, bio, 64));
			assert_true(kind == WEIR_MERGE_BACK ? weir_rq_end(into) == bio->sector
							    : weir_rq_end(bio) == into->sector);
			then = weir_merge_bio(h->w, into, bio, kind, h->now);
			merged++;
			if (then) {
				struct weir_rq *first = kind == WEIR_MERGE_BACK ? into : then;
				struct weir_rq *second = kind == WEIR_MERGE_BACK ? then : into;

				assert_int_equal(weir_rq_end(first), second->sector);
				assert_true(valid(first, second, 64));
				weir_merge_rq(h->w, first, second, h->now);
				joined++;
			}
		} else {
			assert_false(back);
			weir_insert(h->w, bio, WEIR_TAIL, h->now);
		}
		if (step % 3 == 0) {
			i = util_dispatch(h);
			if (i != UTIL_NONE)
				util_complete(h, i);
		}
	}
	assert_in_range(merged, 500, 4000);
	/* noop joins list neighbours only; at random they never touch. */
	if (weir_current_policy(h->w) == &weir_policy_deadline)
		assert_in_range(joined, 20, 4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(back_by_hint_and_hash, setup, teardown),
		cmocka_unit_test_setup_teardown(front_by_hint, setup, teardown),
		cmocka_unit_test_setup_teardown(front_by_policy, setup_deadline, teardown),
		cmocka_unit_test_setup_teardown(follows_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(size_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(kept_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(switched_off, setup, teardown),
		cmocka_unit_test_setup_teardown(counted_once, setup, teardown),
		cmocka_unit_test_setup_teardown(countable, setup, teardown),
		cmocka_unit_test_setup_teardown(join_neighbours, setup_deadline, teardown),
		cmocka_unit_test_setup_teardown(join_below, setup_deadline, teardown),
		cmocka_unit_test_setup_teardown(at_random, setup, teardown),
		{"at_random (deadline)", at_random, setup_deadline, teardown, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
