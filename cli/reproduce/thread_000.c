// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thread 000: "[RFC v1] add new io-scheduler to use cgroup on high-speed device", June 2013. TPPS
 * beside CFQ on a PCIe flash card, four groups with deep queues; then the objection, a group that
 * is not always backlogged.
 *
 * Published are rates, mean and worst response times. Stated: fio, four groups, depth 512 and randrw
 * where the tables say so. From the numbers: each group is a closed loop of 256, then 512 requests,
 * and the weights have the ratios 10:8:6:4. Assumed: blocks of 4 KiB, direct, one job a group.
 */
#include <math.h>

#include "cli/reproduce/reproduce.h"
#include "cli/job_texts.h"

#define CARD "pcie-flash"
#define NO_STALLS "pcie-flash:stall=0"
#define CFQ_A "cfq:slice_idle=0:quantum=128"
#define CFQ_B "cfq:group_idle=0:quantum=512"
#define CFQ_B2 "cfq:group_idle=0:quantum=512:slice_sync=10"
#define CFQ_C "cfq:group_idle=0:quantum=512:slice_sync=10:slice_async=10"

static const struct repro_column rates[] = {
	{"total", 0, repro_iops, "", 0},	 {"test1", 0, repro_iops, "test1", 0},
	{"test2", 0, repro_iops, "test2", 0},	 {"test3", 0, repro_iops, "test3", 0},
	{"test4", 0, repro_iops, "test4", 0},	 {"worst1", 0, repro_max_ms, "test1", 0},
	{"worst2", 0, repro_max_ms, "test2", 0}, {"worst3", 0, repro_max_ms, "test3", 0},
	{"worst4", 0, repro_max_ms, "test4", 0},
};

enum {
	NR_RATES = sizeof(rates) / sizeof(rates[0]),
};

static const struct repro_run run_a = {closed_loop, .rw = "randread", .depth = "256",
				       .device = CARD};
static const struct repro_run run_b = {closed_loop, .rw = "randread", .depth = "512",
				       .device = CARD};
static const struct repro_run run_c = {closed_loop, .rw = "randrw", .depth = "512", .device = CARD};

static const struct repro_published published_a[] = {
	{CFQ_A, {44880, 16148, 12756, 9778, 6198, 188, 117, 268, 209}},
	{"tpps", {52588, 17292, 15221, 12080, 7995, 65, 80, 66, 90}},
};
static const struct repro_published published_b[] = {
	{CFQ_B, {41740, 15259, 11858, 8885, 5738, 305, 345, 335, 355}},
	{CFQ_B2, {44727, 16507, 12896, 9301, 6023, 177, 366, 188, 545}},
	{"tpps", {51914, 16316, 15066, 12182, 8350, 99, 106, 101, 180}},
};
/* Reads and writes together; the worse of the two worst. */
static const struct repro_published published_c[] = {
	{CFQ_C, {47491, 17443, 13887, 9935, 6226, 576, 514, 725, 1107}},
	{"tpps", {52813, 18277, 15296, 11460, 7780, 98, 118, 146, 214}},
};

static const struct repro_table table_a = {
	"000-A",       "randread, depth 256 in each group: IOPS; worst response in ms",
	&run_a,	       1,
	rates,	       NR_RATES,
	CFQ_A ",tpps", true,
	published_a,   2,
};
static const struct repro_table table_b = {
	"000-B",
	"randread, depth 512: IOPS; worst response in ms",
	&run_b,
	1,
	rates,
	NR_RATES,
	CFQ_B "," CFQ_B2 ",tpps",
	true,
	published_b,
	3,
};
static const struct repro_table table_c = {
	"000-C",       "randrw, depth 512: IOPS, reads and writes together; worst response in ms",
	&run_c,	       1,
	rates,	       NR_RATES,
	CFQ_C ",tpps", true,
	published_c,   2,
};

/* What the thread did not print, and weir is judged by: with die stalls and without. */
static const struct repro_run runs_d[] = {
	{closed_loop, .rw = "randread", .depth = "256", .device = CARD},
	{closed_loop, .rw = "randread", .depth = "512", .device = NO_STALLS},
	{closed_loop, .rw = "randrw", .depth = "256", .device = CARD},
	{closed_loop, .rw = "randrw", .depth = "512", .device = NO_STALLS},
};
static const struct repro_column columns_d[] = {
	{"total1", 0, repro_iops, "", 0},	 {"error1", 0, repro_share_error, "", 2},
	{"wait1", 0, repro_wait_bound, "", 2},	 {"total2", 1, repro_iops, "", 0},
	{"error2", 1, repro_share_error, "", 2}, {"wait2", 1, repro_wait_bound, "", 2},
	{"total3", 2, repro_iops, "", 0},	 {"error3", 2, repro_share_error, "", 2},
	{"wait3", 2, repro_wait_bound, "", 2},
};
static const struct repro_table table_d = {
	"000-D",
	"IOPS, % off the weights, longest wait of 1.25 x mean + longest service: randread 256; "
	"randread "
	"512 without stalls; randrw 256",
	runs_d,
	3,
	columns_d,
	9,
	"noop,tpps",
	true,
	NULL,
	0,
};

static const struct repro_run runs_e[] = {
	{objection, .section = "test1", .device = CARD},
	{objection, .device = CARD},
	{bursty, .device = CARD},
};
static const struct repro_column columns_e[] = {
	{"alone", 0, repro_p99_us, "test1", 0},	      {"p99", 1, repro_p99_us, "test1", 0},
	{"test1", 1, repro_iops, "test1", 0},	      {"total", 1, repro_iops, "", 0},
	{"bursts", 2, repro_of_entitled, "test1", 3},
};
static const struct repro_table table_e = {
	"000-E",
	"the objection: p99 in us of a group at depth 1 alone and beside three deep ones, its "
	"IOPS, the "
	"total; and what a bursty group gets of its entitlement",
	runs_e,
	3,
	columns_e,
	5,
	"noop,tpps",
	true,
	NULL,
	0,
};

static double mean_worst(const struct repro_report *r, const char *table, const char *row)
{
	return (repro_value(r, table, row, "worst1") + repro_value(r, table, row, "worst2") +
		repro_value(r, table, row, "worst3") + repro_value(r, table, row, "worst4")) /
	       4;
}

static void judge_cfq(struct repro_report *r, const char *table, const char *cfq, const char *name)
{
	repro_faithful(r,
		       repro_value(r, table, cfq, "total") / repro_value(r, table, "tpps", "total"),
		       0, 0.999, NULL, "%s, %s: total rate of TPPS's, below it", table, name);
	repro_faithful(r, mean_worst(r, table, cfq) / mean_worst(r, table, "tpps"), 2, 6, NULL,
		       "%s, %s: worst latency of TPPS's, 2 to 6 times", table, name);
}

static void judge_weir(struct repro_report *r, const char *n, const char *what)
{
	char total[8], error[8], wait[8];

	snprintf(total, sizeof(total), "total%s", n);
	snprintf(error, sizeof(error), "error%s", n);
	snprintf(wait, sizeof(wait), "wait%s", n);
	repro_better(
		r, repro_value(r, "000-D", "weir", total) / repro_value(r, "000-D", "noop", total),
		0.99, INFINITY, "%s: total of noop's, at least", what);
	repro_better(r, repro_value(r, "000-D", "weir", error), 0, 1,
		     "%s: percent off a weight, at most", what);
	repro_better(r, repro_value(r, "000-D", "weir", wait), 0, 1,
		     "%s: longest wait of its bound, at most", what);
}

static void judge(struct repro_report *r)
{
	double alone = repro_value(r, "000-E", "noop", "alone");

	judge_cfq(r, "000-A", CFQ_A, "cfq");
	judge_cfq(r, "000-B", CFQ_B, "cfq");
	judge_cfq(r, "000-B", CFQ_B2, "cfq with slice_sync=10");
	judge_cfq(r, "000-C", CFQ_C, "cfq");
	repro_faithful(r,
		       repro_value(r, "000-A", "tpps", "test1") /
			       repro_value(r, "000-A", "tpps", "test4"),
		       1.9, 2.6, NULL, "000-A, tpps: test1 of test4, between 1.9 and 2.6");
	repro_faithful(
		r, repro_value(r, "000-E", "tpps", "p99") / repro_value(r, "000-E", "weir", "p99"),
		2, INFINITY, NULL, "000-E, tpps: loses the group at depth 1, p99 of weir's");
	judge_weir(r, "1", "randread 256");
	judge_weir(r, "2", "randread 512, no stalls");
	judge_weir(r, "3", "randrw 256");
	repro_better(r, repro_value(r, "000-E", "weir", "p99") / alone, 0, 2.5,
		     "depth 1 beside deep ones: p99 of the idle card's, at most");
	repro_better(r,
		     repro_value(r, "000-E", "weir", "total") /
			     repro_value(r, "000-E", "noop", "total"),
		     0.97, INFINITY, "the same: total of noop's, at least");
	repro_better(r, repro_value(r, "000-E", "weir", "bursts"), 0.95, INFINITY,
		     "a bursty group: of its entitlement, at least");
}

static const struct repro_table *const tables[] = {&table_a, &table_b, &table_c,
						   &table_d, &table_e, NULL};

const struct repro_thread repro_thread_000 = {
	"000",
	"TPPS, 2013: weights among groups on fast flash",
	tables,
	judge,
};
