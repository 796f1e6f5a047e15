// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ceilings on a modelled SSD, second by second: exact within one percent at any rate, under every
 * policy, in a tree with floors and latency targets around, and while they are being changed.
 */
#include "tests/gauntlet.h"
#include "tests/gauntlet_loop.h"

#define DEVICE "ssd"
#define PERCENT 0.01

static struct weir_group_attr no_limits(void)
{
	struct weir_group_attr attr;

	weir_group_attr_init(&attr);
	return attr;
}

static struct weir_group_attr read_ios(uint64_t iops)
{
	struct weir_group_attr attr = no_limits();

	attr.max.iops[WEIR_READ] = iops;
	return attr;
}

static struct weir_group_attr bytes(enum weir_dir dir, uint64_t bps)
{
	struct weir_group_attr attr = no_limits();

	attr.max.bps[dir] = bps;
	return attr;
}

/* Each second from first to last. */
static void every_second(const char *what, const struct loop_stream *s, unsigned int first,
			 unsigned int last, double per_s)
{
	unsigned int n;

	for (n = first; n <= last; n++)
		gauntlet_within(what, (double)s->per_second[n], per_s, PERCENT);
}

/* ---- one group ---- */

/* 3000 IOPS at depth 128 beside an unlimited neighbour, whatever the policy. */
static void iops_3000(void **state)
{
	struct weir_group_attr limited = read_ios(3000), free_of_it = no_limits();
	unsigned int i, n;

	(void)state;
	for (i = 0; weir_policy_at(i); i++) {
		const char *name = weir_policy_info(weir_policy_at(i))->name;
		struct loop_stream *s, *other;
		struct loop l;

		loop_open(&l, DEVICE, name, 0);
		s = loop_stream(&l, loop_group(&l, NULL, &limited), WEIR_OP_READ, 4096, 128, 0);
		other = loop_stream(&l, loop_group(&l, NULL, &free_of_it), WEIR_OP_READ, 4096, 32,
				    0);
		loop_run(&l, 6 * LOOP_S);
		if (gauntlet_keeps_idle(name)) {
			for (n = 1; n <= 5; n++)
				gauntlet_at_most(name, (double)s->per_second[n],
						 3000 * (1 + PERCENT));
		} else {
			every_second(name, s, 1, 5, 3000);
			/* The rest of the device is used: it does 92,000. */
			gauntlet_at_least("neighbour", (double)other->done / 6, 85000);
		}
		loop_close(&l);
	}
	gauntlet_verdict();
}

struct low_rate {
	const char *what;
	struct weir_group_attr attr;
	uint32_t request_bytes;
	uint64_t window_ns; /* max(1 s, 100 / rate) */
	double per_window;
};

/* Windows one behind the other after the first. */
static void judge_low_rate(const struct low_rate *r)
{
	struct weir_group_attr slow = read_ios(50);
	struct loop_stream *s;
	struct loop l;
	unsigned int n;

	loop_open(&l, DEVICE, "weir", 0);
	s = loop_stream(&l, loop_group(&l, NULL, &r->attr), WEIR_OP_READ, r->request_bytes, 128,
			100000);
	/* Somebody else keeps the host asking. */
	loop_stream(&l, loop_group(&l, NULL, &slow), WEIR_OP_READ, 4096, 4, 0);
	loop_run(&l, 5 * r->window_ns);
	for (n = 1; n < 5; n++)
		gauntlet_within(r->what,
				(double)loop_count(s, n * r->window_ns, (n + 1) * r->window_ns),
				r->per_window, PERCENT);
	loop_close(&l);
}

static void low_rates(void **state)
{
	const struct low_rate rates[] = {
		{"1 IOPS", read_ios(1), 4096, 100 * LOOP_S, 100},
		{"3 IOPS", read_ios(3), 4096, 100 * LOOP_S, 300},
		{"1 IOPS of 128 KiB", read_ios(1), 131072, 100 * LOOP_S, 100},
		{"99 IOPS", read_ios(99), 4096, 2 * LOOP_S, 198},
		{"4 KiB/s of 4 KiB", bytes(WEIR_READ, 4096), 4096, 100 * LOOP_S, 100},
		{"4 KiB/s of 512 bytes", bytes(WEIR_READ, 4096), 512, 25 * LOOP_S, 200},
		{"100 KiB/s of 4 KiB", bytes(WEIR_READ, 102400), 4096, 4 * LOOP_S, 100},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		judge_low_rate(&rates[i]);
	gauntlet_verdict();
}

/* A second, looser limit changes nothing, to the nanosecond. */
static void loose_limit(void **state)
{
	struct weir_group_attr alone = bytes(WEIR_WRITE, 10000000), both = alone,
			       free_of_it = no_limits();
	static uint64_t at_ns[2][20000];
	uint64_t nr[2];
	unsigned int i;

	(void)state;
	both.max.iops[WEIR_WRITE] = 1000000;
	for (i = 0; i < 2; i++) {
		struct loop_stream *s;
		struct loop l;

		loop_open(&l, DEVICE, "weir", 0);
		s = loop_stream(&l, loop_group(&l, NULL, i ? &both : &alone), WEIR_OP_WRITE, 4096,
				64, 20000);
		loop_stream(&l, loop_group(&l, NULL, &free_of_it), WEIR_OP_READ, 4096, 16, 0);
		loop_run(&l, 4 * LOOP_S);
		every_second("10 MB/s of 4 KiB", s, 1, 3, 10000000.0 / 4096);
		nr[i] = s->nr_at;
		memcpy(at_ns[i], s->at_ns, s->nr_at * sizeof(at_ns[i][0]));
		loop_close(&l);
	}
	gauntlet_check("as many completions", nr[0] == nr[1] && nr[0] > 0);
	gauntlet_check("at the same times",
		       !memcmp(at_ns[0], at_ns[1], nr[0] * sizeof(at_ns[0][0])));
	gauntlet_verdict();
}

/* Of two limits the tighter holds. */
static void tighter_of_two(void **state)
{
	struct weir_group_attr by_ios = bytes(WEIR_READ, 100000000), by_bytes = by_ios;
	struct loop_stream *a, *b;
	struct loop l;

	(void)state;
	by_ios.max.iops[WEIR_READ] = 1000;   /* of 4 KiB: 4.1 MB/s */
	by_bytes.max.iops[WEIR_READ] = 2000; /* of 128 KiB: 763 IOPS are 100 MB/s */
	loop_open(&l, DEVICE, "weir", 0);
	a = loop_stream(&l, loop_group(&l, NULL, &by_ios), WEIR_OP_READ, 4096, 64, 0);
	b = loop_stream(&l, loop_group(&l, NULL, &by_bytes), WEIR_OP_READ, 131072, 64, 0);
	loop_run(&l, 6 * LOOP_S);
	every_second("by IOPS", a, 1, 5, 1000);
	every_second("by bytes", b, 1, 5, 100000000.0 / 131072);
	loop_close(&l);
	gauntlet_verdict();
}

/* ---- a tree with everything in it ---- */

/* At random: merged requests pass a ceiling as one, and a second would see few of them. */

struct tree {
	struct loop l;
	struct loop_stream *load, *log, *backup, *report, *web, *oltp;
};

static void grow_tree(struct tree *t)
{
	struct weir_group_attr attr, load, log, backup, report, oltp;
	struct weir_group *prod, *db, *batch, *etl;
	struct loop *l = &t->l;

	attr = no_limits();
	load = read_ios(3000);
	log = bytes(WEIR_WRITE, 20000000);
	backup = bytes(WEIR_READ, 30000000);
	report = no_limits();
	report.low.bps[WEIR_READ] = 80000000;
	oltp = no_limits();
	oltp.latency_target_ns = 2 * LOOP_MS;
	loop_open(l, DEVICE, "weir", 0);
	prod = loop_group(l, NULL, &attr);
	db = loop_group(l, prod, &attr);
	batch = loop_group(l, NULL, &attr);
	attr.max.iops[WEIR_READ] = 5000; /* looser than what is below it */
	etl = loop_group(l, batch, &attr);
	t->oltp = loop_stream(l, loop_group(l, db, &oltp), WEIR_OP_READ, 4096, 1, 0);
	t->report = loop_stream(l, loop_group(l, db, &report), WEIR_OP_READ, 16384, 32, 0);
	attr = no_limits();
	t->web = loop_stream(l, loop_group(l, prod, &attr), WEIR_OP_READ, 4096, 32, 0);
	t->load = loop_stream(l, loop_group(l, etl, &load), WEIR_OP_READ, 4096, 128, 0);
	t->log = loop_stream(l, loop_group(l, etl, &log), WEIR_OP_WRITE, 65536, 16, 0);
	t->backup = loop_stream(l, loop_group(l, batch, &backup), WEIR_OP_READ, 131072, 16, 0);
}

static void in_a_tree(void **state)
{
	static struct tree t;
	struct weir_group_stats floor, target;

	(void)state;
	grow_tree(&t);
	loop_run(&t.l, LOOP_S);
	weir_stats_reset(lab_host_weir(t.l.host), lab_now(t.l.engine));
	loop_run(&t.l, 9 * LOOP_S);
	every_second("reads of load", t.load, 1, 9, 3000);
	every_second("writes of log", t.log, 1, 9, 20000000.0 / 65536);
	every_second("reads of backup", t.backup, 1, 9, 30000000.0 / 131072);
	weir_group_read_stats(t.report->group, lab_now(t.l.engine), &floor);
	gauntlet_at_most("floor of report: missing to it",
			 (double)floor.floor_deficit_device_bytes / 9, 0.01 * 80000000);
	gauntlet_at_least("floor of report", (double)floor.dir[WEIR_READ].bytes / 9, 80000000);
	weir_group_read_stats(t.oltp->group, lab_now(t.l.engine), &target);
	gauntlet_at_least("periods of the target", (double)target.latency_periods, 80);
	gauntlet_at_most("missed ones", (double)target.latency_missed * 10,
			 (double)target.latency_periods);
	loop_close(&t.l);
	gauntlet_verdict();
}

/* An ancestor's ceiling holds for the sum of all below it. */
static void ancestors(void **state)
{
	struct weir_group_attr top = read_ios(10000), middle = bytes(WEIR_READ, 20480000),
			       leaf = read_ios(3000), attr = no_limits();
	struct loop_stream *c, *d, *e;
	struct weir_group *a, *b;
	struct loop l;
	unsigned int n;

	(void)state;
	loop_open(&l, DEVICE, "weir", 0);
	a = loop_group(&l, NULL, &top);
	b = loop_group(&l, a, &middle);
	c = loop_stream(&l, loop_group(&l, b, &leaf), WEIR_OP_READ, 4096, 128, 0);
	d = loop_stream(&l, loop_group(&l, b, &attr), WEIR_OP_READ, 4096, 32, 0);
	e = loop_stream(&l, loop_group(&l, a, &attr), WEIR_OP_READ, 4096, 8, 0);
	loop_stream(&l, loop_group(&l, NULL, &attr), WEIR_OP_READ, 4096, 32, 0);
	loop_run(&l, 6 * LOOP_S);
	for (n = 1; n < 6; n++) {
		double under_b = (double)(c->per_second[n] + d->per_second[n]);

		gauntlet_within("a/b", under_b, 5000, PERCENT);
		gauntlet_within("a", under_b + (double)e->per_second[n], 10000, PERCENT);
		gauntlet_at_most("a/b/c", (double)c->per_second[n], 3000 * (1 + PERCENT));
	}
	loop_close(&l);
	gauntlet_verdict();
}

/* ---- changes ---- */

/* A thousand values in two seconds; the last one is the one that holds, and nothing is lost. */
static void thousand_changes(void **state)
{
	struct weir_group_attr attr = read_ios(1000), free_of_it = no_limits();
	struct loop_stream *s, *other;
	struct lab_rng rng;
	struct loop l;
	unsigned int n;

	(void)state;
	lab_rng_seed(&rng, 1, 5);
	loop_open(&l, DEVICE, "weir", 0);
	s = loop_stream(&l, loop_group(&l, NULL, &attr), WEIR_OP_READ, 4096, 128, 0);
	other = loop_stream(&l, loop_group(&l, NULL, &free_of_it), WEIR_OP_READ, 4096, 16, 0);
	for (n = 0; n < 1000; n++) {
		loop_run(&l, 2 * LOOP_MS);
		attr = read_ios(1 + lab_rng_below(&rng, n % 3 ? 100000 : 10));
		if (n % 5 == 0)
			attr.max.bps[WEIR_READ] = 4096 + lab_rng_below(&rng, 100000000);
		loop_set(&l, s->group, &attr);
	}
	gauntlet_at_least("served meanwhile", (double)s->done, 1000);
	attr = read_ios(3000);
	loop_set(&l, s->group, &attr);
	loop_run(&l, 4 * LOOP_S); /* two to six */
	every_second("after the last change", s, 3, 5, 3000);
	loop_set(&l, s->group, &free_of_it);
	loop_run(&l, 2 * LOOP_S);
	gauntlet_at_least("without a limit", (double)(s->per_second[7] + other->per_second[7]),
			  0.98 * 92000);
	gauntlet_at_least("half of the device each", (double)s->per_second[7], 0.45 * 92000);
	loop_close(&l);
	gauntlet_verdict();
}

/* Nobody waits out the release time of an old value, or pays for it. */
static void at_once(void **state)
{
	struct weir_group_attr slow = read_ios(1), fast = read_ios(3000);
	struct loop_stream *s;
	struct loop l;

	(void)state;
	loop_open(&l, DEVICE, "weir", 0);
	s = loop_stream(&l, loop_group(&l, NULL, &slow), WEIR_OP_READ, 4096, 128, 100000);
	loop_run(&l, 10 * LOOP_S + LOOP_S / 2);
	gauntlet_within("at 1 IOPS", (double)s->done, 11, 0.1);
	loop_set(&l, s->group, &fast);
	loop_run(&l, LOOP_S);
	gauntlet_within("the second after", (double)loop_count(s, 10500 * LOOP_MS, 11500 * LOOP_MS),
			3000, PERCENT);
	loop_set(&l, s->group, &slow);
	loop_run(&l, 20 * LOOP_S);
	gauntlet_within("at 1 IOPS again", (double)loop_count(s, 11510 * LOOP_MS, 31510 * LOOP_MS),
			20, 0.06);
	loop_close(&l);
	gauntlet_verdict();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(iops_3000),	    cmocka_unit_test(low_rates),
		cmocka_unit_test(loose_limit),	    cmocka_unit_test(tighter_of_two),
		cmocka_unit_test(in_a_tree),	    cmocka_unit_test(ancestors),
		cmocka_unit_test(thousand_changes), cmocka_unit_test(at_once),
	};

	return cmocka_run_group_tests_name("ceilings", tests, NULL, NULL);
}
