// SPDX-License-Identifier: GPL-2.0-only
/* deadline: batches, starvation, expiry, front merges, joining. Sector order in a tree. */
#include "tests/toy_device.h"

#include "core/rbtree.h"
#include "core/spi.h"

static struct util_host host;

#define MS UINT64_C(1000000)

static int setup(void **state)
{
	util_host_init(&host);
	util_host_start(&host, &weir_policy_deadline, NULL);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	util_host_stop(*state);
	return 0;
}

static void tune(struct util_host *h, const char *name, uint64_t value)
{
	int n = weir_tunable_find(&weir_policy_deadline, name);

	assert_true(n >= 0);
	assert_int_equal(weir_tunable_set(h->w, (unsigned int)n, value, h->now), 0);
}

/* Dispatches n, completes them, and checks that all are reads or all are writes. */
static void expect_batch(struct util_host *h, enum weir_op op, uint32_t n)
{
	while (n--) {
		uint32_t got = util_dispatch(h);

		assert_int_not_equal(got, UTIL_NONE);
		assert_int_equal(h->rq[got].op, op);
		util_complete(h, got);
	}
}

/* Both directions saturated: R R W, in batches of 16. */
static void batches_rrw(void **state)
{
	struct util_host *h = *state;
	uint32_t n, round;

	for (n = 0; n < 200; n++) {
		util_insert(h, WEIR_OP_READ, n * 100, 8);
		util_insert(h, WEIR_OP_WRITE, n * 100, 8);
	}
	for (round = 0; round < 5; round++) {
		expect_batch(h, WEIR_OP_READ, 32);
		expect_batch(h, WEIR_OP_WRITE, 16);
	}
}

static void starvation_and_batch_are_tunable(void **state)
{
	struct util_host *h = *state;
	uint32_t n, round;

	tune(h, "writes_starved", 3);
	tune(h, "fifo_batch", 4);
	for (n = 0; n < 100; n++) {
		util_insert(h, WEIR_OP_READ, n * 100, 8);
		util_insert(h, WEIR_OP_WRITE, n * 100, 8);
	}
	for (round = 0; round < 5; round++) {
		expect_batch(h, WEIR_OP_READ, 12);
		expect_batch(h, WEIR_OP_WRITE, 4);
	}
	/* Whatever is left waits for no one of the other direction. */
	tune(h, "writes_starved", 0);
	expect_batch(h, WEIR_OP_WRITE, 4);
}

/* Upwards within a batch; a new one begins with the oldest when nothing is further up. */
static void sector_order_within_a_batch(void **state)
{
	struct util_host *h = *state;
	uint32_t a, b, c, d;

	a = util_insert(h, WEIR_OP_READ, 5000, 8);
	b = util_insert(h, WEIR_OP_READ, 1000, 8);
	c = util_insert(h, WEIR_OP_READ, 9000, 8);
	d = util_insert(h, WEIR_OP_READ, 7000, 8);
	util_expect(h, a);
	util_expect(h, d);
	util_expect(h, c);
	util_expect(h, b);
	util_expect(h, UTIL_NONE);
}

/* A batch that is cut by fifo_batch goes on where it stopped, unless the oldest has expired. */
static void expiry_is_looked_at_between_batches(void **state)
{
	struct util_host *h = *state;
	uint32_t a, b, n;

	tune(h, "fifo_batch", 2);
	a = util_insert(h, WEIR_OP_READ, 100000, 8);
	util_expect(h, a);
	a = util_insert(h, WEIR_OP_READ, 8, 8);
	for (n = 0; n < 7; n++)
		util_insert(h, WEIR_OP_READ, 200000 + n * 100, 8);
	/* The batch ended with nothing above it: the oldest begins the next. */
	util_expect(h, a);
	b = util_insert(h, WEIR_OP_READ, 0, 8);
	/* Second of this batch, then a new batch goes on above. */
	util_expect(h, a + 1);
	util_expect(h, a + 2);
	h->now += 500 * MS - 1;
	util_expect(h, a + 3);
	util_expect(h, a + 4);
	h->now += 1;
	/* a + 5 is next upwards, in the middle of a batch: expiry doesn't cut it. */
	util_expect(h, a + 5);
	/* a + 6 is the oldest, and expired; so is b, after it. */
	util_expect(h, a + 6);
	util_expect(h, a + 7);
	util_expect(h, b);
}

/*
 * The bound: under an endless stream of low sectors, a request at the far end starts no later than
 * its expiry plus one batch of its direction plus the batches that writes_starved allows.
 */
static void far_request_starts_in_time(void **state)
{
	struct util_host *h = *state;
	uint32_t far, n, nr = 0, sector = 0;
	uint64_t late = 0;

	/* Reads arrive as fast as they are served, 1 ms each, below the far one and ascending. */
	for (n = 0; n < 16; n++)
		util_insert(h, WEIR_OP_READ, sector += 8, 8);
	tune(h, "writes_starved", 1000000);
	far = util_insert(h, WEIR_OP_WRITE, UINT64_C(1) << 40, 8);
	tune(h, "writes_starved", 2);
	for (;;) {
		uint32_t got = util_dispatch(h);

		assert_int_not_equal(got, UTIL_NONE);
		util_complete(h, got);
		if (got == far)
			break;
		h->now += MS;
		nr++;
		util_insert(h, WEIR_OP_READ, sector += 8, 8);
		assert_true(nr < 100);
	}
	/* A lone write: two batches of reads go before it, then it is chosen. */
	assert_int_equal(nr, 32);

	/* Now a read far up, and reads that arrive below it in descending order. */
	sector = 1 << 20;
	far = util_insert(h, WEIR_OP_READ, UINT64_C(1) << 40, 8);
	late = h->now + 500 * MS;
	for (nr = 0;; nr++) {
		uint32_t got = util_dispatch(h);

		util_complete(h, got);
		if (got == far)
			break;
		h->now += MS;
		util_insert(h, WEIR_OP_READ, sector -= 8, 8);
		assert_true(nr < 1000);
	}
	/* 17 older reads, and the rest of a batch. */
	assert_true(h->now <= late + (17 + 16) * MS);
}

/* fifo_batch=1, everything expired: order of arrival in each direction. */
static void expired_and_batch_of_one_is_fifo(void **state)
{
	struct util_host *h = *state;
	uint64_t seed = 7;
	uint32_t n, last[WEIR_NR_DIRS] = {0, 0}, got;
	bool any[WEIR_NR_DIRS] = {false, false};

	tune(h, "fifo_batch", 1);
	for (n = 0; n < 400; n++)
		util_insert(h, util_below(&seed, 2) ? WEIR_OP_READ : WEIR_OP_WRITE,
			    util_below(&seed, 1 << 20) * 8, 8);
	h->now += 5000 * MS;
	for (n = 0; n < 400; n++) {
		enum weir_dir dir;

		got = util_dispatch(h);
		assert_int_not_equal(got, UTIL_NONE);
		dir = weir_op_dir(h->rq[got].op);
		assert_true(!any[dir] || got > last[dir]);
		any[dir] = true;
		last[dir] = got;
		util_complete(h, got);
	}
}

static void front_merge_by_search(void **state)
{
	struct util_host *h = *state;
	enum weir_merge kind;
	uint32_t a;

	a = util_insert(h, WEIR_OP_READ, 1000, 8);
	util_insert(h, WEIR_OP_READ, 2000, 8);
	/* The hint is the second request; the first is found by search only. */
	tune(h, "front_merges", 0);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 992, 8, &kind), UTIL_NONE);
	tune(h, "front_merges", 1);
	assert_int_equal(util_merge(h, WEIR_OP_READ, 992, 8, &kind), a);
	assert_int_equal(kind, WEIR_MERGE_FRONT);
	assert_int_equal(h->rq[a].sector, 992);
	assert_int_equal(h->rq[a].nr_sectors, 16);
	/* Not a write to a read. */
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 984, 8, &kind), UTIL_NONE);
}

/* After growing at the front past another, the order is by the new first sector. */
static void front_merge_moves_in_the_tree(void **state)
{
	struct util_host *h = *state;
	enum weir_merge kind;
	uint32_t a, b, c;

	a = util_insert(h, WEIR_OP_READ, 10, 8);
	b = util_insert(h, WEIR_OP_READ, 1000, 8);
	c = util_insert(h, WEIR_OP_READ, 1040, 8);
	/* Overlapping writes by a confused client: c begins below b in the end. */
	assert_int_equal(util_merge(h, WEIR_OP_READ, 990, 50, &kind), c);
	assert_int_equal(kind, WEIR_MERGE_FRONT);
	util_expect(h, a);
	util_expect(h, c);
	util_expect(h, b);
}

/* The survivor takes the earlier expiry and the place in the list that goes with it. */
static void joining_inherits_the_expiry(void **state)
{
	struct util_host *h = *state;
	struct weir_rq *bio, *into;
	uint32_t early, other, late;

	early = util_insert(h, WEIR_OP_READ, 2000, 8);
	h->now += 100 * MS;
	other = util_insert(h, WEIR_OP_READ, 50, 8);
	h->now += 100 * MS;
	late = util_insert(h, WEIR_OP_READ, 1984, 8);

	bio = util_bio(h, WEIR_OP_READ, 1992, 8);
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_BACK);
	assert_ptr_equal(into, &h->rq[late]);
	assert_ptr_equal(weir_merge_bio(h->w, into, bio, WEIR_MERGE_BACK, h->now), &h->rq[early]);
	weir_merge_rq(h->w, into, &h->rq[early], h->now);
	assert_int_equal(h->rq[late].nr_sectors, 24);

	/* early's expiry has come, other's has not: the joined request is the oldest. */
	h->now += 300 * MS;
	util_expect(h, late);
	util_expect(h, other);
	util_expect(h, UTIL_NONE);
}

static void joining_keeps_its_own_earlier_expiry(void **state)
{
	struct util_host *h = *state;
	struct weir_rq *bio, *into;
	uint32_t first, other, second;

	first = util_insert(h, WEIR_OP_READ, 1984, 8);
	h->now += 100 * MS;
	other = util_insert(h, WEIR_OP_READ, 50, 8);
	h->now += 100 * MS;
	second = util_insert(h, WEIR_OP_READ, 2000, 8);
	util_insert(h, WEIR_OP_READ, 70, 8); /* takes the hint */
	bio = util_bio(h, WEIR_OP_READ, 1992, 8);
	assert_int_equal(weir_merge_find(h->w, bio, &into, h->now), WEIR_MERGE_BACK);
	assert_ptr_equal(weir_merge_bio(h->w, into, bio, WEIR_MERGE_BACK, h->now), &h->rq[second]);
	weir_merge_rq(h->w, into, &h->rq[second], h->now);
	util_expect(h, first);
	util_expect(h, other);
}

/* What the batch would go on with is taken away: it goes on behind the gap. */
static void removal_of_the_next(void **state)
{
	struct util_host *h = *state;
	uint32_t a, b, c, d;

	a = util_insert(h, WEIR_OP_READ, 100, 8);
	b = util_insert(h, WEIR_OP_READ, 200, 8);
	c = util_insert(h, WEIR_OP_READ, 300, 8);
	d = util_insert(h, WEIR_OP_READ, 50, 8);
	util_expect(h, a);
	assert_int_equal(weir_remove(h->w, &h->rq[b], h->now), 0);
	util_expect(h, c);
	util_expect(h, d);
	util_expect(h, UTIL_NONE);
}

static void flush_and_head_go_first(void **state)
{
	struct util_host *h = *state;
	struct weir_rq *head;
	enum weir_merge kind;
	uint32_t a, b, f;

	a = util_insert(h, WEIR_OP_WRITE, 1000, 8);
	b = util_insert(h, WEIR_OP_READ, 100, 8);
	f = util_insert(h, WEIR_OP_FLUSH, 0, 0);
	head = util_bio(h, WEIR_OP_WRITE, 5000, 8);
	weir_insert(h->w, head, WEIR_HEAD, h->now);
	/* Neither grows what stands in the driver's queue. */
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 5008, 8, &kind), UTIL_NONE);
	assert_int_equal(util_merge(h, WEIR_OP_WRITE, 4992, 8, &kind), UTIL_NONE);
	assert_ptr_equal(weir_dispatch(h->w, h->now, NULL), head);
	weir_complete(h->w, head, h->now);
	util_expect(h, f);
	util_expect(h, b);
	util_expect(h, a);
}

/* ---- the tree ---- */

#define NODES 300

/* Returns the number of black nodes to a leaf; checks colours, order and parents on the way. */
static uint32_t check_subtree(const struct weir_rb *node, const struct weir_rb *parent)
{
	uint32_t left, right;

	if (!node)
		return 1;
	assert_ptr_equal(node->parent, parent);
	assert_false(node->red && (!parent || parent->red));
	if (node->child[0])
		assert_true(node->child[0]->key <= node->key);
	if (node->child[1])
		assert_true(node->child[1]->key >= node->key);
	left = check_subtree(node->child[0], node);
	right = check_subtree(node->child[1], node);
	assert_int_equal(left, right);
	return left + !node->red;
}

struct model_node {
	struct weir_rb node;
	uint64_t arrival;
	bool in;
};

/* Against a plain array: order, equal keys by arrival, look-ups, and the rules of the tree. */
static void check_tree(const struct weir_rb_tree *tree, const struct model_node *nodes)
{
	const struct model_node *before = NULL;
	const struct weir_rb *at, *last = NULL;
	uint32_t n, nr = 0, nr_in = 0;
	uint64_t key = 20;

	check_subtree(tree->root, NULL);
	for (at = weir_rb_first(tree); at; at = weir_rb_next(at)) {
		const struct model_node *mn = (const struct model_node *)at;

		assert_true(mn->in);
		assert_ptr_equal(weir_rb_prev(at), last);
		if (before)
			assert_true(before->node.key < at->key ||
				    (before->node.key == at->key && before->arrival < mn->arrival));
		before = mn;
		last = at;
		nr++;
	}
	for (n = 0; n < NODES; n++)
		nr_in += nodes[n].in;
	assert_int_equal(nr, nr_in);

	for (at = weir_rb_first(tree); at && at->key < key; at = weir_rb_next(at))
		;
	assert_ptr_equal(weir_rb_at_or_after(tree, key), at);
}

static void tree_against_model(void **state)
{
	static struct model_node nodes[NODES];
	struct weir_rb_tree tree;
	uint64_t seed = 42, arrivals = 0;
	uint32_t step;

	(void)state;
	memset(nodes, 0, sizeof(nodes));
	weir_rb_init(&tree);
	for (step = 0; step < 20000; step++) {
		struct model_node *mn = &nodes[util_below(&seed, step < 10000 ? NODES : 12)];

		if (mn->in) {
			/* The key isn't looked at on the way out. */
			if (util_below(&seed, 2))
				mn->node.key = util_random(&seed);
			weir_rb_erase(&tree, &mn->node);
		} else {
			mn->arrival = ++arrivals;
			weir_rb_insert(&tree, &mn->node, util_below(&seed, 40));
		}
		mn->in = !mn->in;
		check_tree(&tree, nodes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(batches_rrw, setup, teardown),
		cmocka_unit_test_setup_teardown(starvation_and_batch_are_tunable, setup, teardown),
		cmocka_unit_test_setup_teardown(sector_order_within_a_batch, setup, teardown),
		cmocka_unit_test_setup_teardown(expiry_is_looked_at_between_batches, setup,
						teardown),
		cmocka_unit_test_setup_teardown(far_request_starts_in_time, setup, teardown),
		cmocka_unit_test_setup_teardown(expired_and_batch_of_one_is_fifo, setup, teardown),
		cmocka_unit_test_setup_teardown(front_merge_by_search, setup, teardown),
		cmocka_unit_test_setup_teardown(front_merge_moves_in_the_tree, setup, teardown),
		cmocka_unit_test_setup_teardown(joining_inherits_the_expiry, setup, teardown),
		cmocka_unit_test_setup_teardown(joining_keeps_its_own_earlier_expiry, setup,
						teardown),
		cmocka_unit_test_setup_teardown(removal_of_the_next, setup, teardown),
		cmocka_unit_test_setup_teardown(flush_and_head_go_first, setup, teardown),
		cmocka_unit_test(tree_against_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
