// SPDX-License-Identifier: GPL-2.0-only
/* CFQ: what is waited for, and for how long. */
#include "tests/cfq_steps.h"

/* ---- waiting ---- */

static void waits_for_reader(void **state)
{
	struct weir_ctx *a, *b;
	uint32_t other, n;

	(void)state;
	start(NULL, 0);
	a = any_process();
	b = any_process();
	n = read_at(a, 0);
	other = read_at(b, FAR);
	util_expect(h, n);
	expect_wait(8 * MS);
	h->now += 1 * MS;
	n = read_at(a, 8);
	util_expect(h, n);
	expect_wait(8 * MS);
	h->now += 8 * MS - 1;
	expect_wait(1);
	h->now += 1;
	util_expect(h, other);
	util_host_stop(h);
}

/* A slice_sync after its first completion the other one's turn comes. */
static void slice_ends(void **state)
{
	struct weir_ctx *a, *b;
	uint32_t other, n;
	uint64_t begin_ns;

	(void)state;
	start(NULL, 0);
	a = any_process();
	b = any_process();
	n = read_at(a, 0);
	other = read_at(b, FAR);
	expect_start(n);
	h->now += 10 * MS; /* the seek is not on its account */
	util_complete(h, n);
	begin_ns = h->now;
	while (h->now < begin_ns + 98 * MS) {
		h->now += 1 * MS;
		n = read_at(a, h->rq[n].sector + 8);
		h->now += 1 * MS;
		util_expect(h, n);
	}
	expect_wait(2 * MS);
	h->now = begin_ns + 100 * MS;
	util_expect(h, other);
	util_host_stop(h);
}

/* Not for a process that would come back after the end of its slice. */
static void not_beyond_the_slice(void **state)
{
	struct weir_ctx *a, *b;
	uint32_t n, other, i;

	(void)state;
	start(NULL, 0);
	a = any_process();
	b = any_process();
	n = read_at(a, 0);
	other = read_at(b, FAR);
	util_expect(h, n);
	for (i = 0; i < 24; i++) {
		h->now += 4 * MS;
		n = read_at(a, 8 * (i + 1));
		util_expect(h, n);
	}
	/* It is over in 4 ms. */
	h->now += 1 * MS;
	n = read_at(a, 8 * (i + 1));
	util_expect(h, n);
	util_expect(h, other);
	util_host_stop(h);
}

/* One long thought proves nothing. */
static void first_thought(void **state)
{
	struct weir_ctx *a, *b;

	(void)state;
	start(NULL, 0);
	a = any_process();
	b = any_process();
	h->now += 100 * MS;
	util_expect(h, read_at(a, 0));
	read_at(b, FAR);
	expect_wait(8 * MS);
	util_host_stop(h);
}

/* Whoever thinks longer than slice_idle isn't waited for. */
static void thinks_too_long(void **state)
{
	struct weir_ctx *a, *b;
	uint32_t n, sector, other;

	(void)state;
	start(NULL, 0);
	a = any_process();
	b = any_process();
	for (sector = 0; sector < 8 * 8; sector += 8) {
		h->now += 12 * MS;
		util_expect(h, read_at(a, sector));
	}
	h->now += 12 * MS;
	n = read_at(a, sector);
	other = read_at(b, FAR);
	util_expect(h, n);
	util_expect(h, other);
	util_host_stop(h);
}

/* Nor who seeks, but the last of them is, for all. */
static void seeky(void **state)
{
	struct weir_ctx *a, *b, *c;
	uint32_t n, more, other;

	(void)state;
	start(NULL, 0);
	a = any_process();
	b = any_process();
	c = any_process();
	for (n = 0; n < 8; n++) {
		in_time(read_at(a, FAR * (n % 2) + n * 10000));
		in_time(read_at(b, FAR * (n % 2) + n * 10000 + 5000));
	}
	n = read_at(a, 0);
	more = read_at(b, 2 * FAR);
	other = write_at(c, 8 * FAR);
	util_expect(h, n);
	util_expect(h, more);
	expect_wait(8 * MS);
	h->now += 8 * MS;
	util_expect(h, other);
	util_host_stop(h);
}

/*
 * Seeky, and with several requests at once: deep. It is waited for, unless the device is done with
 * them in less than half of the slice.
 */
static void deep(void **state)
{
	struct weir_ctx *a, *b;
	uint32_t n[4], other, first, i, late;

	(void)state;
	for (late = 0; late < 2; late++) {
		start("close_cooperator", 0);
		a = any_process();
		b = any_process();
		for (i = 0; i < 8; i++)
			in_time(read_at(a, FAR * (i % 2) + i * 10000));
		h->now += 10 * MS;
		for (i = 0; i < 4; i++)
			n[i] = read_at(a, FAR * (i % 2) + i * 20000);
		other = read_at(b, 3 * FAR);
		first = util_dispatch(h);
		assert_in_range(first, n[0], n[3]);
		util_complete(h, first);
		h->now += late ? 60 * MS : 10 * MS;
		assert_int_equal(start_all(), late ? 3 : 4);
		assert_int_equal(h->rq[other].state, late ? WEIR_RQ_QUEUED : WEIR_RQ_DISPATCHED);
		util_host_stop(h);
	}
}

/* No more requests will come of a process that has ended. */
static void gone(void **state)
{
	struct weir_ctx *a, *b;
	uint32_t n, other;

	(void)state;
	start("group_idle", 0);
	a = any_process();
	b = any_process();
	n = read_at(a, 0);
	other = read_at(b, FAR);
	expect_start(n);
	weir_ctx_exit(a, h->now);
	util_complete(h, n);
	util_expect(h, other);
	util_host_stop(h);
}

/* A group's only queue is waited for by group_idle alone. */
static void group_idle(void **state)
{
	static const uint64_t idle_ms[] = {8, 0};
	uint64_t values[WEIR_TUNABLES_MAX];
	struct weir_ctx *a, *b;
	uint32_t n, other, i;

	(void)state;
	for (i = 0; i < 2; i++) {
		util_defaults(&weir_policy_cfq, values);
		util_tune(&weir_policy_cfq, values, "slice_idle", 0);
		util_tune(&weir_policy_cfq, values, "group_idle", idle_ms[i]);
		start_with(values, true);
		a = process(util_group(h, root, 500), WEIR_IOPRIO_NONE, 0);
		b = process(util_group(h, root, 500), WEIR_IOPRIO_NONE, 0);
		n = read_at(a, 0);
		other = read_at(b, FAR);
		expect_start(n);
		if (idle_ms[i])
			expect_wait(WEIR_NEVER);
		util_complete(h, n);
		if (idle_ms[i])
			expect_wait(idle_ms[i] * MS);
		h->now += idle_ms[i] * MS;
		util_expect(h, other);
		util_host_stop(h);
	}
}

/*
 * Without seeks, a queue is waited for only if the device takes one at a time, which is known after
 * 50 completions with more than it takes.
 */
static void hw_tag(void **state)
{
	uint32_t depth, n, sector = 0, other, in_device[8];
	uint64_t values[WEIR_TUNABLES_MAX];
	struct weir_ctx *a, *b;

	(void)state;
	for (depth = 1; depth <= 8; depth += 7) {
		util_defaults(&weir_policy_cfq, values);
		util_tune(&weir_policy_cfq, values, "nonrot_idle", 1);
		util_tune(&weir_policy_cfq, values, "group_idle", 0);
		start_with(values, false);
		a = any_process();
		b = any_process();
		for (n = 0; n < 640; n++, sector += 64) {
			struct weir_rq *rq = util_bio(h, WEIR_OP_READ, sector, 64);

			rq->ctx = a;
			weir_insert(h->w, rq, WEIR_TAIL, h->now);
		}
		while (weir_nr_waiting(h->w)) {
			for (n = 0; n < depth; n++)
				in_device[n] = util_dispatch(h);
			h->now += 10000;
			for (n = 0; n < depth; n++)
				util_complete(h, in_device[n]);
		}
		other = read_at(b, FAR);
		if (depth == 1)
			expect_wait(8 * MS);
		else
			expect_start(other);
		util_host_stop(h);
	}
}

/* What waits at the end of a turn is counted as idle. */
static void said_to_be_idle(void **state)
{
	struct weir_group_stats s;
	struct weir_ctx *a, *b;

	(void)state;
	start(NULL, 0);
	a = any_process();
	b = any_process();
	util_expect(h, read_at(a, 0));
	read_at(b, FAR);
	expect_wait(8 * MS);
	h->now += 5 * MS;
	weir_group_read_stats(root, h->now, &s);
	assert_int_equal(s.wait_ns[WEIR_WAIT_IDLE], 5 * MS);
	util_host_stop(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_reader),
		cmocka_unit_test(slice_ends),
		cmocka_unit_test(not_beyond_the_slice),
		cmocka_unit_test(first_thought),
		cmocka_unit_test(thinks_too_long),
		cmocka_unit_test(seeky),
		cmocka_unit_test(deep),
		cmocka_unit_test(gone),
		cmocka_unit_test(group_idle),
		cmocka_unit_test(hw_tag),
		cmocka_unit_test(said_to_be_idle),
	};

	return cmocka_run_group_tests_name("cfq, idling", tests, NULL, NULL);
}
