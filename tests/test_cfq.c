// SPDX-License-Identifier: GPL-2.0-only
/*
 * CFQ, step by step: which request of a queue goes next, how many may be in the driver, what is
 * waited for, and for how long.
 */
#include "tests/util_host.h"

#include "core/spi.h"

#define MS UINT64_C(1000000)
#define FAR (UINT64_C(1) << 30) /* sectors: no neighbour of anything else here */

static struct util_host host, *h = &host;

static void start(const char *name, uint64_t value)
{
	uint64_t values[WEIR_TUNABLES_MAX];

	util_host_init(h);
	h->cfg.profile.rotational = true;
	util_defaults(&weir_policy_cfq, values);
	if (name)
		util_tune(&weir_policy_cfq, values, name, value);
	util_host_start(h, &weir_policy_cfq, values);
}

static struct weir_ctx *process(struct weir_group *g, enum weir_ioprio_class class,
				unsigned int level)
{
	return weir_ctx_create(h->w, g, class, level, h->now);
}

static struct weir_ctx *any_process(void)
{
	return process(weir_root(h->w), WEIR_IOPRIO_NONE, 0);
}

static uint32_t insert(struct weir_ctx *ctx, enum weir_op op, uint64_t sector, uint16_t flags)
{
	struct weir_rq *rq = util_bio(h, op, sector, 8);

	rq->group = weir_ctx_group(ctx);
	rq->ctx = ctx;
	rq->flags = flags;
	weir_insert(h->w, rq, WEIR_TAIL, h->now);
	return h->nr_rqs - 1;
}

static uint32_t read_at(struct weir_ctx *ctx, uint64_t sector)
{
	return insert(ctx, WEIR_OP_READ, sector, 0);
}

static uint32_t write_at(struct weir_ctx *ctx, uint64_t sector)
{
	return insert(ctx, WEIR_OP_WRITE, sector, 0);
}

/* Nothing goes, and asking again makes sense after so long; WEIR_NEVER: not by itself. */
static void expect_wait(uint64_t after_ns)
{
	struct weir_next next;

	assert_null(weir_dispatch(h->w, h->now, &next));
	if (after_ns == WEIR_NEVER)
		assert_true(next.at_ns == WEIR_NEVER);
	else
		assert_int_equal(next.at_ns - h->now, after_ns);
}

static void expect_start(uint32_t index)
{
	assert_int_equal(util_dispatch(h), index);
}

static uint32_t start_all(void)
{
	uint32_t n = 0;

	while (util_dispatch(h) != UTIL_NONE)
		n++;
	return n;
}

/* ---- the next request ---- */

/* On from the head; back if that is less than half as far; beyond back_seek_max only at last. */
static void nearest_first(void **state)
{
	uint32_t at[6];

	(void)state;
	start("back_seek_max", 100);
	util_expect(h, util_insert(h, WEIR_OP_READ, 992, 8)); /* the head is at 1000 */
	at[0] = util_insert(h, WEIR_OP_READ, 1100, 8);
	at[1] = util_insert(h, WEIR_OP_READ, 940, 8); /* counts as 120 away */
	at[2] = util_insert(h, WEIR_OP_READ, 2000, 8);
	at[3] = util_insert(h, WEIR_OP_READ, 500, 8); /* 250 KiB back from here: too far */
	at[4] = util_insert(h, WEIR_OP_READ, 400, 8);
	util_expect(h, at[0]);
	/* From 1100: 940 counts as 320, 2000 is 900 away. */
	util_expect(h, at[1]);
	util_expect(h, at[2]);
	util_expect(h, at[4]);
	util_expect(h, at[3]);
	util_host_stop(h);
}

static void metadata_first(void **state)
{
	struct weir_ctx *p;
	uint32_t near, meta;

	(void)state;
	start(NULL, 0);
	p = any_process();
	near = read_at(p, 8);
	meta = insert(p, WEIR_OP_READ, 4000, WEIR_RQ_META);
	util_expect(h, meta);
	util_expect(h, near);
	util_host_stop(h);
}

/* The oldest request goes first if it has expired, once in a slice. */
static void fifo(void **state)
{
	uint32_t old[2], near;

	(void)state;
	start(NULL, 0);
	old[0] = util_insert(h, WEIR_OP_READ, FAR, 8);
	old[1] = util_insert(h, WEIR_OP_READ, 2 * FAR, 8);
	h->now += 124 * MS;
	near = util_insert(h, WEIR_OP_READ, 0, 8);
	h->now += 1 * MS;
	util_expect(h, old[0]);
	h->now += 1 * MS;
	/* From there it is on to the other one, expired or not; the near one is behind the head. */
	util_expect(h, old[1]);
	util_expect(h, near);
	util_host_stop(h);

	start("fifo_expire_sync", 126);
	old[0] = util_insert(h, WEIR_OP_READ, FAR, 8);
	h->now += 125 * MS;
	near = util_insert(h, WEIR_OP_READ, 0, 8);
	util_expect(h, near);
	util_expect(h, old[0]);
	util_host_stop(h);
}

/* ---- how many in the driver ---- */

static void quantum(void **state)
{
	struct weir_ctx *a, *b;
	uint32_t first, n;

	(void)state;
	start(NULL, 0);
	a = any_process();
	first = read_at(a, 0);
	for (n = 1; n < 20; n++)
		read_at(a, 8 * n);
	b = any_process();
	read_at(b, FAR);
	/* Nothing has completed: half. */
	assert_int_equal(start_all(), 4);
	/* 3 x 8 ms fit into the slice that begins: all of it. */
	util_complete(h, first);
	assert_int_equal(start_all(), 5);
	/* 8 x 8 ms don't fit into what is left of it. */
	h->now += 40 * MS;
	util_complete(h, first + 1);
	assert_int_equal(start_all(), 1);
	h->now += 20 * MS;
	util_complete(h, first + 2);
	assert_int_equal(start_all(), 0);
	expect_wait(40 * MS); /* the end of the slice */
	util_host_stop(h);
}

/* A queue alone has no limit; nor has one that is the only sync one. */
static void no_limit(void **state)
{
	struct weir_ctx *a;
	uint32_t n;

	(void)state;
	start(NULL, 0);
	a = any_process();
	for (n = 0; n < 30; n++)
		read_at(a, 8 * n);
	assert_int_equal(start_all(), 30);
	write_at(a, FAR);
	for (n = 30; n < 60; n++)
		read_at(a, 8 * n);
	assert_int_equal(start_all(), 30);
	util_host_stop(h);
}

/* Sync requests wait until async ones have drained, and the other way round. */
static void drains(void **state)
{
	struct weir_ctx *a;
	uint32_t w[2], r;

	(void)state;
	start(NULL, 0);
	a = any_process();
	w[0] = write_at(a, 0);
	w[1] = write_at(a, 1000);
	expect_start(w[0]);
	r = read_at(a, FAR); /* preempts */
	expect_wait(WEIR_NEVER);
	util_complete(h, w[0]);
	expect_start(r);
	expect_wait(WEIR_NEVER);
	util_complete(h, r);
	expect_wait(8 * MS); /* the reader may have more */
	h->now += 8 * MS;
	util_expect(h, w[1]);
	util_host_stop(h);
}

/* After a late sync request async depth begins at one, and grows by one each slice_sync. */
static void async_ramp(void **state)
{
	struct weir_ctx *a;
	uint32_t late, first, n;
	uint64_t delayed_ns;

	(void)state;
	start(NULL, 0);
	a = any_process();
	late = read_at(a, 0);
	expect_start(late);
	h->now += 125 * MS;
	util_complete(h, late);
	delayed_ns = h->now;
	first = write_at(a, FAR);
	for (n = 1; n < 20; n++)
		write_at(a, FAR + 8 * n);
	h->now += 8 * MS; /* nobody reads on */
	assert_int_equal(start_all(), 1);
	expect_wait(delayed_ns + 200 * MS - h->now);
	util_complete(h, first);
	assert_int_equal(start_all(), 1);
	h->now = delayed_ns + 199 * MS;
	util_complete(h, first + 1);
	assert_int_equal(start_all(), 1);
	expect_wait(1 * MS);
	h->now += 1 * MS;
	assert_int_equal(start_all(), 1);
	expect_wait(100 * MS);
	h->now = delayed_ns + 350 * MS;
	util_complete(h, first + 2);
	util_complete(h, first + 3);
	assert_int_equal(start_all(), 3);
	util_host_stop(h);

	start("low_latency", 0);
	a = any_process();
	late = read_at(a, 0);
	expect_start(late);
	h->now += 125 * MS;
	util_complete(h, late);
	for (n = 0; n < 20; n++)
		write_at(a, FAR + 8 * n);
	h->now += 8 * MS;
	assert_int_equal(start_all(), 20);
	util_host_stop(h);
}

/* An async slice ends with 2 x slice_async_rq x (8 - level) requests, if others wait. */
static void async_requests(void **state)
{
	struct weir_ctx *high, *low;
	uint32_t n, first, done = 0;

	(void)state;
	start(NULL, 0);
	high = process(weir_root(h->w), WEIR_IOPRIO_BE, 0);
	low = process(weir_root(h->w), WEIR_IOPRIO_BE, 6);
	first = h->nr_rqs;
	for (n = 0; n < 40; n++)
		write_at(high, 8 * n);
	for (n = 0; n < 40; n++)
		write_at(low, FAR + 8 * n);
	/* 32 of the one, 8 of the other, ... */
	for (; done < 32 + 8 + 8; done++) {
		n = util_dispatch(h) - first;
		assert_true(done < 32 || done >= 40 ? n < 40 : n >= 40 && n < 80);
		util_complete(h, first + n);
	}
	util_host_stop(h);
}

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

/* When its turn comes. */
static void read_in_time(struct weir_ctx *ctx, uint64_t sector)
{
	uint32_t n = read_at(ctx, sector), got;

	do {
		h->now += 1 * MS;
		got = util_dispatch(h);
	} while (got == UTIL_NONE);
	assert_int_equal(got, n);
	util_complete(h, n);
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
		read_in_time(a, FAR * (n % 2) + n * 10000);
		read_in_time(b, FAR * (n % 2) + n * 10000 + 5000);
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
		util_host_init(h);
		h->cfg.profile.rotational = true;
		util_defaults(&weir_policy_cfq, values);
		util_tune(&weir_policy_cfq, values, "slice_idle", 0);
		util_tune(&weir_policy_cfq, values, "group_idle", idle_ms[i]);
		util_host_start(h, &weir_policy_cfq, values);
		a = process(util_group(h, weir_root(h->w), 500), WEIR_IOPRIO_NONE, 0);
		b = process(util_group(h, weir_root(h->w), 500), WEIR_IOPRIO_NONE, 0);
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
		util_host_init(h);
		util_defaults(&weir_policy_cfq, values);
		util_tune(&weir_policy_cfq, values, "nonrot_idle", 1);
		util_tune(&weir_policy_cfq, values, "group_idle", 0);
		util_host_start(h, &weir_policy_cfq, values);
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
	weir_group_read_stats(weir_root(h->w), h->now, &s);
	assert_int_equal(s.wait_ns[WEIR_WAIT_IDLE], 5 * MS);
	util_host_stop(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearest_first),
		cmocka_unit_test(metadata_first),
		cmocka_unit_test(fifo),
		cmocka_unit_test(quantum),
		cmocka_unit_test(no_limit),
		cmocka_unit_test(drains),
		cmocka_unit_test(async_ramp),
		cmocka_unit_test(async_requests),
		cmocka_unit_test(waits_for_reader),
		cmocka_unit_test(slice_ends),
		cmocka_unit_test(thinks_too_long),
		cmocka_unit_test(seeky),
		cmocka_unit_test(gone),
		cmocka_unit_test(group_idle),
		cmocka_unit_test(hw_tag),
		cmocka_unit_test(said_to_be_idle),
	};

	return cmocka_run_group_tests_name("cfq steps", tests, NULL, NULL);
}
