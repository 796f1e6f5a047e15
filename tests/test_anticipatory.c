// SPDX-License-Identifier: GPL-2.0-only
/* Anticipatory on a disk with an arm: what waiting is worth, and when it stops. */
#include "tests/disk_rig.h"

#include "core/spi.h"

/* A read of 64 KiB that follows the last one; and one that does not. */
enum { READ_NS = 128 * 4000, SEEK_NS = 8000000, THINK_NS = 200000 };

#define FAR UINT64_C(400000000)

static struct disk disk;

static void start(struct disk *d, const struct weir_policy *policy, const char *name,
		  uint64_t value)
{
	uint64_t values[WEIR_TUNABLES_MAX];

	util_defaults(policy, values);
	if (name)
		util_tune(policy, values, name, value);
	disk_init(d);
	disk_start(d, policy, values);
}

static struct disk_stream *reader(struct disk *d, uint64_t first_sector, uint64_t think_ns)
{
	struct disk_stream *s = disk_stream(d, NULL, first_sector);

	s->think_ns = think_ns;
	disk_start_stream(d, s);
	return s;
}

static struct disk_stream *writer(struct disk *d, uint32_t outstanding)
{
	struct disk_stream *s = disk_stream(d, NULL, FAR);

	s->op = WEIR_OP_WRITE;
	s->nr_sectors = 64;
	s->nr_places = 1000000;
	s->outstanding = outstanding;
	disk_start_stream(d, s);
	return s;
}

/* Two readers far from each other: long runs, nearly no seeks, where deadline seeks for each read. */
static void two_readers(void **state)
{
	static const struct {
		const struct weir_policy *policy;
		uint64_t least_kib, most_kib, runs_per_s;
	} want[] = {
		/* 64 KiB in 8.51 ms: 7520 KiB/s; alone it would be 89 900 with the think time. */
		{&weir_policy_deadline, 7300, 7700, 118},
		/* A run ends when the other's read has expired, after 125 ms. */
		{&weir_policy_anticipatory, 80000, 89900, 8},
	};
	struct disk *d = &disk;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct disk_stream *a, *b;
		uint64_t sum;

		start(d, want[i].policy, NULL, 0);
		a = reader(d, 0, THINK_NS);
		b = reader(d, FAR, THINK_NS);
		disk_run(d, DISK_S);
		disk_clear(d);
		disk_run(d, 10 * DISK_S);
		sum = disk_kib_per_s(d, a) + disk_kib_per_s(d, b);
		assert_in_range(sum, want[i].least_kib, want[i].most_kib);
		assert_in_range(a->runs + b->runs, want[i].runs_per_s * 10 * 9 / 10,
				want[i].runs_per_s * 10 * 11 / 10);
		/* Neither is favoured. */
		assert_in_range(a->done * 100 / (a->done + b->done), 47, 53);
		/* read_expire is looked at once per read_expire. */
		assert_true(a->wait_max_ns < (250 + 20) * DISK_MS);
		disk_stop(d);
	}
}

/* 500 ms of reads, 125 ms of writes, both at nearly the rate that they have alone. */
static void reader_against_writes(void **state)
{
	struct disk *d = &disk;
	struct disk_stream *r, *w;
	uint64_t alone_kib;

	(void)state;
	start(d, &weir_policy_anticipatory, NULL, 0);
	r = reader(d, 0, THINK_NS);
	disk_run(d, DISK_S);
	disk_clear(d);
	disk_run(d, 5 * DISK_S);
	alone_kib = disk_kib_per_s(d, r);
	assert_in_range(alone_kib, 64 * DISK_S / (READ_NS + THINK_NS) * 99 / 100,
			64 * DISK_S / (READ_NS + THINK_NS) * 1001 / 1000);
	w = writer(d, 32);
	disk_run(d, 5 * DISK_S);
	disk_clear(d);
	disk_run(d, 20 * DISK_S);
	/* 500 of 625 ms, less a seek. */
	assert_in_range(disk_kib_per_s(d, r), alone_kib * 77 / 100, alone_kib * 81 / 100);
	/* A round takes 500 + 125 ms, more or less one write of 8.26 ms. */
	assert_in_range(r->runs, 20 * 1000 / 640, 20 * 1000 / 610);
	/* One write goes in 8.256 ms: 15.1 in a batch, which the budget finds and keeps. */
	assert_in_range(w->done * 10 / w->runs, 140, 161);
	assert_in_range(r->wait_max_ns, 110 * DISK_MS, 145 * DISK_MS);
	disk_stop(d);
}

/*
 * A process that thinks longer than antic_expire isn't waited for, once that is known. Samples are
 * rounded down, to 249 of 256, so the mean is 2.8 % too long: 6.4 ms count as 6.58.
 */
static void long_thoughts(void **state)
{
	static const struct {
		uint64_t think_ns;
		bool waits;
	} want[] = {{6400 * DISK_US, true}, {7 * DISK_MS, false}, {15 * DISK_MS, false}};
	struct disk *d = &disk;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		start(d, &weir_policy_anticipatory, NULL, 0);
		reader(d, 0, want[i].think_ns);
		reader(d, FAR, want[i].think_ns);
		disk_run(d, 500 * DISK_MS); /* a dozen requests of each */
		disk_clear(d);
		disk_run(d, 10 * DISK_S);
		if (want[i].waits)
			assert_true(d->idle_ns > 6 * DISK_S);
		else
			assert_int_equal(d->idle_ns, 0);
		disk_stop(d);
	}
}

/* antic_expire=0: no gaps, and the batches of deadline. */
static void switched_off(void **state)
{
	struct disk *d = &disk;
	struct disk_stream *a, *b;

	(void)state;
	start(d, &weir_policy_anticipatory, "antic_expire", 0);
	a = reader(d, 0, THINK_NS);
	b = reader(d, FAR, THINK_NS);
	disk_run(d, 10 * DISK_S);
	assert_int_equal(d->idle_ns, 0);
	assert_int_equal(a->runs, a->done);
	assert_in_range(b->done, a->done - 1, a->done);
	disk_stop(d);
}

/* Thread 004: N threads share one stream, each takes the next place. No gap, no seek, as noop. */
static void interleaved_stream(void **state)
{
	static const struct weir_policy *const policy[] = {&weir_policy_noop,
							   &weir_policy_anticipatory};
	struct disk *d = &disk;
	uint64_t done[2], seeks[2];
	unsigned int i, n, threads;

	(void)state;
	for (threads = 1; threads <= 9; threads += 2) {
		for (i = 0; i < 2; i++) {
			start(d, policy[i], NULL, 0);
			for (n = 0; n < threads; n++) {
				struct disk_stream *s = reader(d, 0, THINK_NS);

				s->with = &d->stream[0];
			}
			disk_run(d, 10 * DISK_S);
			done[i] = d->done;
			seeks[i] = d->seeks;
			assert_int_equal(d->idle_ns, 0);
			disk_stop(d);
		}
		assert_int_equal(done[1], done[0]);
		assert_int_equal(seeks[1], seeks[0]);
		/* Alone it pauses between two requests; with more the disk is never without one. */
		if (threads > 1)
			assert_in_range(done[1], 10 * DISK_S / READ_NS - 20, 10 * DISK_S / READ_NS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_readers),	      cmocka_unit_test(reader_against_writes),
		cmocka_unit_test(long_thoughts),      cmocka_unit_test(switched_off),
		cmocka_unit_test(interleaved_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
