// SPDX-License-Identifier: GPL-2.0-only
/* CFQ: who may interrupt whom, which class goes first, and what goes past all of it. */
#include "tests/cfq_steps.h"

/* ---- preemption ---- */

/* A reader has the disk, and more to read; what comes of another process? */
static void among_busy_queues(void **state)
{
	struct weir_ctx *a, *b, *rt;
	uint32_t n, more, other;

	(void)state;
	start(NULL, 0);
	a = process(root, WEIR_IOPRIO_BE, 4);
	b = process(root, WEIR_IOPRIO_BE, 4);
	rt = process(root, WEIR_IOPRIO_RT, 4);
	n = read_at(a, 0);
	read_at(a, 8);
	util_expect(h, n);
	/* Nothing, if it is one like this one. */
	other = read_at(b, FAR);
	more = read_at(a, 16);
	util_expect(h, n + 1);
	/* Metadata goes first, unless this one has some as well. */
	util_expect(h, insert(b, WEIR_OP_READ, FAR + 8, WEIR_RQ_META));
	util_expect(h, other);
	/* Real-time always does. */
	other = read_at(rt, 3 * FAR);
	util_expect(h, other);
	expect_wait(8 * MS);
	h->now += 8 * MS;
	util_expect(h, more);
	util_host_stop(h);
}

/* Who was interrupted has what was left of its slice to its credit, and goes before its equals. */
static void rest_of_slice(void **state)
{
	struct weir_ctx *a, *b, *rt;
	uint32_t n, other, more;

	(void)state;
	start(NULL, 0);
	/* Of the highest level: there the number of others doesn't move a queue back. */
	a = process(root, WEIR_IOPRIO_BE, 0);
	b = process(root, WEIR_IOPRIO_BE, 0);
	rt = process(root, WEIR_IOPRIO_RT, 4);
	n = read_at(a, 0);
	more = read_at(a, 8);
	read_at(a, 16);
	other = read_at(b, FAR);
	util_expect(h, n);
	h->now += 30 * MS;
	util_expect(h, more);
	util_expect(h, read_at(rt, 3 * FAR)); /* 150 ms are left */
	h->now += 8 * MS;
	util_expect(h, more + 1);
	expect_wait(8 * MS);
	h->now += 8 * MS;
	util_expect(h, other);
	util_host_stop(h);
}

/* Nobody has a right to more when the slice is used up: a newcomer is next, before who waits. */
static void after_the_slice(void **state)
{
	struct weir_ctx *a, *b, *c;
	uint32_t n, other, new;

	(void)state;
	start(NULL, 0);
	a = any_process();
	b = any_process();
	c = any_process();
	n = read_at(a, 0);
	read_at(a, 8);
	other = read_at(b, FAR);
	util_expect(h, n);
	h->now += 100 * MS;
	new = read_at(c, 3 * FAR);
	util_expect(h, new);
	h->now += 8 * MS;
	util_expect(h, other);
	util_host_stop(h);
}

/* Best effort never interrupts real-time, not even while that is waited for. */
static void real_time_is_not_interrupted(void **state)
{
	struct weir_ctx *a, *rt;
	uint32_t n;

	(void)state;
	start(NULL, 0);
	a = process(root, WEIR_IOPRIO_BE, 4);
	rt = process(root, WEIR_IOPRIO_RT, 4);
	util_expect(h, read_at(rt, 0));
	n = insert(a, WEIR_OP_READ, 8, WEIR_RQ_META);
	expect_wait(8 * MS);
	h->now += 8 * MS;
	util_expect(h, n);
	util_host_stop(h);
}

/* Close to the head is as good as the request that is waited for. */
static void close_to_the_head(void **state)
{
	struct weir_ctx *a, *b;
	uint32_t n;

	(void)state;
	start("close_cooperator", 0);
	a = process(root, WEIR_IOPRIO_BE, 4);
	b = process(root, WEIR_IOPRIO_BE, 4);
	util_expect(h, read_at(a, 0));
	n = read_at(b, 8 + 8193);
	expect_wait(8 * MS);
	h->now += 8 * MS;
	util_expect(h, n); /* the head is at 8209, then */
	n = read_at(a, 8209 + 8192);
	util_expect(h, n);
	util_host_stop(h);
}

/* The idle class goes when nothing else is busy, one at a time, by turns. */
static void idle_class(void **state)
{
	struct weir_ctx *a, *b, *be;
	uint32_t n[4], other;

	(void)state;
	start(NULL, 0);
	a = process(root, WEIR_IOPRIO_IDLE, 4);
	b = process(root, WEIR_IOPRIO_IDLE, 4);
	be = process(root, WEIR_IOPRIO_BE, 4);
	n[0] = read_at(a, 0);
	n[1] = read_at(a, 8);
	n[2] = read_at(b, FAR);
	n[3] = read_at(b, FAR + 8);
	util_expect(h, n[0]);
	util_expect(h, n[2]);
	util_expect(h, n[1]);
	other = read_at(be, 3 * FAR);
	util_expect(h, other);
	expect_wait(8 * MS);
	h->now += 8 * MS;
	util_expect(h, n[3]);
	util_host_stop(h);
}

/*
 * Thread 001: a task in a group of its own, and the journal's thread in the root group, each writes
 * when the other one is done. In 4.2's order each switch costs a wait, with the change none.
 */
static void noidle_across_groups(void **state)
{
	struct weir_ctx *task, *journal;
	unsigned int patched, n;
	uint64_t waited_ns;

	(void)state;
	for (patched = 0; patched < 2; patched++) {
		start("group_preempt_noidle", patched);
		task = process(util_group(h, root, 1000), WEIR_IOPRIO_NONE, 4);
		journal = any_process();
		in_time(commit_at(task, 0));
		in_time(commit_at(journal, FAR));
		in_time(commit_at(task, 8));
		waited_ns = h->now;
		for (n = 1; n <= 20; n++) {
			uint32_t w = n % 2 ? commit_at(journal, FAR) : commit_at(task, 16 * n);

			if (!patched) {
				expect_wait(8 * MS);
				h->now += 8 * MS;
			}
			util_expect(h, w);
		}
		assert_int_equal(h->now - waited_ns, patched ? 0 : 20 * 8 * MS);
		util_host_stop(h);
	}
}

/* In one group the rule holds as it is. */
static void noidle_in_one_group(void **state)
{
	struct weir_ctx *task, *journal;
	unsigned int patched, n;

	(void)state;
	for (patched = 0; patched < 2; patched++) {
		start("group_preempt_noidle", patched);
		task = any_process();
		journal = any_process();
		for (n = 0; n < 20; n++)
			util_expect(h, n % 2 ? commit_at(journal, FAR) : commit_at(task, 8 * n));
		util_host_stop(h);
	}
}

/* If there are two in the other group, it isn't clear any more which one is waited for. */
static void noidle_of_three(void **state)
{
	struct weir_ctx *a, *b, *c;
	uint32_t n[2], other;

	(void)state;
	start("group_preempt_noidle", 1);
	a = process(util_group(h, root, 500), WEIR_IOPRIO_NONE, 4);
	b = any_process();
	c = any_process();
	in_time(commit_at(b, FAR));
	in_time(commit_at(c, 2 * FAR));
	in_time(commit_at(a, 0));
	h->now += 100 * MS;
	n[0] = commit_at(a, 8);
	n[1] = commit_at(a, 16);
	util_expect(h, n[0]);
	other = commit_at(b, FAR + 8);
	commit_at(c, 2 * FAR + 8);
	util_expect(h, n[1]);
	expect_wait(8 * MS);
	commit_at(c, 2 * FAR + 16);
	expect_wait(8 * MS);
	h->now += 8 * MS;
	util_expect(h, other);
	util_host_stop(h);
}

/* O_DIRECT writes are of the kind that is waited for. */
static void direct_writes_are_not_noidle(void **state)
{
	struct weir_ctx *a, *b;
	uint32_t n;

	(void)state;
	start("group_preempt_noidle", 1);
	a = process(util_group(h, root, 1000), WEIR_IOPRIO_NONE, 4);
	b = any_process();
	util_expect(h, insert(a, WEIR_OP_WRITE, 0, WEIR_RQ_SYNC | WEIR_RQ_IDLE_OK));
	n = commit_at(b, FAR);
	expect_wait(8 * MS);
	h->now += 8 * MS;
	util_expect(h, n);
	util_host_stop(h);
}

/* ---- past the scheduler ---- */

static void express(void **state)
{
	struct weir_ctx *a, *b;
	uint32_t n, flush, fua, head;
	struct weir_rq *rq;

	(void)state;
	start(NULL, 0);
	a = any_process();
	b = any_process();
	util_expect(h, read_at(a, 0));
	n = read_at(b, FAR);
	expect_wait(8 * MS);
	rq = util_bio(h, WEIR_OP_FLUSH, 0, 0);
	flush = h->nr_rqs - 1;
	weir_insert(h->w, rq, WEIR_TAIL, h->now);
	fua = insert(b, WEIR_OP_WRITE, 16, WEIR_RQ_SYNC | WEIR_RQ_FUA);
	rq = util_bio(h, WEIR_OP_READ, 4 * FAR, 8);
	head = h->nr_rqs - 1;
	weir_insert(h->w, rq, WEIR_HEAD, h->now);
	util_expect(h, head);
	util_expect(h, flush);
	assert_int_equal(util_dispatch(h), fua);
	weir_requeue(h->w, &h->rq[fua], WEIR_REQUEUE_INSERT, h->now);
	util_expect(h, fua);
	expect_wait(8 * MS);
	h->now += 8 * MS;
	/* What the driver gives back goes again, at once. */
	assert_int_equal(util_dispatch(h), n);
	weir_requeue(h->w, &h->rq[n], WEIR_REQUEUE_INSERT, h->now);
	util_expect(h, n);
	util_host_stop(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(among_busy_queues),
		cmocka_unit_test(rest_of_slice),
		cmocka_unit_test(after_the_slice),
		cmocka_unit_test(real_time_is_not_interrupted),
		cmocka_unit_test(close_to_the_head),
		cmocka_unit_test(idle_class),
		cmocka_unit_test(noidle_across_groups),
		cmocka_unit_test(noidle_in_one_group),
		cmocka_unit_test(noidle_of_three),
		cmocka_unit_test(direct_writes_are_not_noidle),
		cmocka_unit_test(express),
	};

	return cmocka_run_group_tests_name("cfq, preemption", tests, NULL, NULL);
}
