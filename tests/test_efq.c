// SPDX-License-Identifier: GPL-2.0-only
/* efq on a disk with an arm: shares of time, and what they need to hold. */
#include "tests/disk_rig.h"

#include "core/spi.h"

enum { PLACES = 1000000 };

static struct disk disk;

struct setting {
	const char *name;
	uint64_t value;
};

static const struct setting leaf_noop = {"leaf", 0}, leaf_deadline = {"leaf", 1},
			    leaf_anticipatory = {"leaf", 2};

/* settings: up to the first without a name. */
static void start(struct disk *d, uint32_t depth, const struct setting *settings)
{
	uint64_t values[WEIR_TUNABLES_MAX];

	util_defaults(&weir_policy_efq, values);
	for (; settings->name; settings++)
		util_tune(&weir_policy_efq, values, settings->name, settings->value);
	disk_init(d);
	d->depth = depth;
	disk_start(d, &weir_policy_efq, values);
}

static struct disk_stream *load(struct disk *d, struct weir_group *g, uint64_t first,
				uint32_t outstanding, uint64_t nr_places)
{
	struct disk_stream *s = disk_stream(d, g, first);

	s->outstanding = outstanding;
	s->nr_places = nr_places;
	disk_start_stream(d, s);
	return s;
}

static uint64_t permille(const struct disk_stream *a, const struct disk_stream *b)
{
	return a->busy_ns * 1000 / (a->busy_ns + b->busy_ns);
}

/*
 * Two groups, weights 2 : 1, random readers over deadline, on a disk that takes 32 at once. With
 * fairness and idling the time is 2 : 1; without, what is in the device is shared by who asks.
 */
static void fairness_on_a_deep_disk(void **state)
{
	static const struct {
		uint64_t fairness, idle_ms, low, high;
	} want[] = {{1, 8, 655, 680}, {0, 0, 490, 540}};
	struct disk *d = &disk;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		const struct setting s[] = {leaf_deadline,
					    {"fairness", want[i].fairness},
					    {"slice_idle", want[i].idle_ms},
					    {"group_idle", want[i].idle_ms},
					    {NULL, 0}};
		struct disk_stream *a, *b;

		start(d, 32, s);
		a = load(d, disk_group(d, NULL, 200), 0, 8, PLACES);
		b = load(d, disk_group(d, NULL, 100), 0, 8, PLACES);
		disk_run(d, 2 * DISK_S);
		disk_clear(d);
		disk_run(d, 30 * DISK_S);
		assert_in_range(permille(a, b), want[i].low, want[i].high);
		disk_stop(d);
	}
}

/* At depth 1 turns pay for themselves: the share holds over each leaf order. */
static void shares_over_each_leaf(void **state)
{
	const struct setting *leaf[] = {&leaf_noop, &leaf_deadline, &leaf_anticipatory};
	struct disk *d = &disk;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		const struct setting s[] = {*leaf[i], {NULL, 0}};
		struct disk_stream *a, *b, *c;
		struct weir_group *parent;

		start(d, 1, s);
		/* 3 : 1, and below the first 1 : 2. */
		parent = disk_group(d, NULL, 300);
		a = load(d, disk_group(d, parent, 100), 0, 4, PLACES);
		b = load(d, disk_group(d, parent, 200), 0, 4, PLACES);
		c = load(d, disk_group(d, NULL, 100), 0, 4, PLACES);
		disk_run(d, 2 * DISK_S);
		disk_clear(d);
		disk_run(d, 60 * DISK_S);
		assert_in_range(permille(a, b), 325, 342);
		assert_in_range(c->busy_ns * 1000 / (a->busy_ns + b->busy_ns + c->busy_ns), 240,
				260);
		disk_stop(d);
	}
}

/*
 * A sequential reader that thinks a little, and one with a queue: without group_idle the first loses
 * its turn with each request.
 */
static void a_group_is_waited_for(void **state)
{
	struct disk *d = &disk;
	uint64_t done[2];
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		const struct setting s[] = {
			{"slice_idle", 0}, {"group_idle", i ? 8 : 0}, {NULL, 0}};
		struct disk_stream *a, *b;

		start(d, 1, s);
		a = disk_stream(d, disk_group(d, NULL, 100), 0);
		a->think_ns = 1 * DISK_MS;
		disk_start_stream(d, a);
		b = load(d, disk_group(d, NULL, 100), 400000000, 4, PLACES);
		disk_run(d, 2 * DISK_S);
		disk_clear(d);
		disk_run(d, 20 * DISK_S);
		done[i] = a->done;
		if (i)
			/* 1.512 ms each, in 100 of 217 ms: b's turns have a seek at both ends. */
			assert_in_range(a->done, 5900, 6300);
		else
			assert_in_range(a->runs, a->done - 1, a->done);
		assert_true(b->done > 0);
		disk_stop(d);
	}
	assert_true(done[1] > 3 * done[0]);
}

/* slice_idle goes by how long the queue thinks; fairness doesn't. */
static void long_thoughts(void **state)
{
	static const struct {
		uint64_t fairness, think_ms;
		bool waits;
	} want[] = {{0, 4, true}, {0, 12, false}, {1, 12, true}};
	struct disk *d = &disk;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		const struct setting s[] = {
			{"group_idle", 0}, {"fairness", want[i].fairness}, {NULL, 0}};
		struct disk_stream *a;

		start(d, 1, s);
		a = disk_stream(d, disk_group(d, NULL, 100), 0);
		a->think_ns = want[i].think_ms * DISK_MS;
		disk_start_stream(d, a);
		load(d, disk_group(d, NULL, 100), 400000000, 4, PLACES);
		disk_run(d, 3 * DISK_S);
		disk_clear(d);
		disk_run(d, 10 * DISK_S);
		assert_int_equal(d->idle_ns > 100 * DISK_MS, want[i].waits);
		disk_stop(d);
	}
}

/* Slices: 100 ms of reads, 40 ms of writes that nobody waits for; each with one seek at least. */
static void slices(void **state)
{
	const struct setting s[] = {{NULL, 0}};
	struct disk *d = &disk;
	struct disk_stream *a, *b;

	(void)state;
	start(d, 1, s);
	a = load(d, disk_group(d, NULL, 100), 0, 4, 0);
	b = load(d, disk_group(d, NULL, 100), 400000000, 4, 0);
	b->op = WEIR_OP_WRITE;
	disk_run(d, 2 * DISK_S);
	disk_clear(d);
	disk_run(d, 20 * DISK_S);
	/* The slice begins with the first completion: 512 us a request. */
	assert_in_range(a->done / a->runs, 194, 200);
	/* 80 each, and two or three after one another. */
	assert_in_range(b->done / b->runs, 180, 210);
	/* Equal time, in turns of different length. */
	assert_in_range(permille(a, b), 490, 515);
	disk_stop(d);
}

/* Shares of sectors, of requests: large requests against small ones. */
static void other_charges(void **state)
{
	static const char *const counted[] = {"time", "sectors", "requests"};
	struct disk *d = &disk;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		const struct setting s[] = {{"charge", i}, {NULL, 0}};
		struct disk_stream *a, *b;
		uint64_t of_a, of_b;

		start(d, 1, s);
		a = disk_stream(d, disk_group(d, NULL, 100), 0);
		a->nr_sectors = 1024;
		a->outstanding = 4;
		a->nr_places = PLACES / 10;
		disk_start_stream(d, a);
		b = load(d, disk_group(d, NULL, 100), 0, 4, PLACES);
		disk_run(d, 2 * DISK_S);
		disk_clear(d);
		disk_run(d, 60 * DISK_S);
		of_a = i == 0 ? a->busy_ns : i == 1 ? a->done * 1024 : a->done;
		of_b = i == 0 ? b->busy_ns : i == 1 ? b->done * 128 : b->done;
		if (of_a * 100 < of_b * 95 || of_a * 100 > of_b * 105)
			fail_msg("%s: %llu against %llu", counted[i], (unsigned long long)of_a,
				 (unsigned long long)of_b);
		disk_stop(d);
	}
}

/* A reader keeps its share beside another group's write-back, which keeps its pool full. */
static void reader_beside_writer(void **state)
{
	const struct setting s[] = {leaf_deadline, {"fairness", 1}, {NULL, 0}};
	struct disk *d = &disk;
	struct disk_stream *r, *w;

	(void)state;
	start(d, 32, s);
	r = disk_stream(d, disk_group(d, NULL, 300), 0);
	r->think_ns = 200 * DISK_US;
	disk_start_stream(d, r);
	w = load(d, disk_group(d, NULL, 100), 400000000, 64, PLACES);
	w->op = WEIR_OP_WRITE;
	disk_run(d, 5 * DISK_S);
	disk_clear(d);
	disk_run(d, 60 * DISK_S);
	/* Of the time, thinking included: 512 of 712 us. */
	assert_in_range(r->busy_ns * 712 / 512 * 1000 / (r->busy_ns * 712 / 512 + w->busy_ns), 720,
			780);
	disk_stop(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fairness_on_a_deep_disk),
		cmocka_unit_test(shares_over_each_leaf),
		cmocka_unit_test(a_group_is_waited_for),
		cmocka_unit_test(long_thoughts),
		cmocka_unit_test(slices),
		cmocka_unit_test(other_charges),
		cmocka_unit_test(reader_beside_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
