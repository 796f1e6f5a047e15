// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thread 004: "CFQ is worse than other IO schedulers in some cases", February and March 2009. Threads of
 * one program read a file in turns, 16 KiB each, on one SATA disk: together they are a sequential
 * stream, and each of them strides.
 *
 * Published: sysbench's MiB/s at 1 to 9 threads on three machines; machine A is shown. Stated: sysbench
 * 0.4.10 fileio, ext3, one disk. Assumed: the order of the threads, which the CPU scheduler makes,
 * is drawn; read-ahead is of the open file, which they share.
 */
#include <math.h>

#include "cli/reproduce/reproduce.h"

#define MIB 1.048576
#define INTERLEAVE(n) "builtin:interleave:threads=" #n ":size=256m"
/* Of that time: queues that cooperate were noticed later, for this very reason. */
#define CFQ "cfq:close_cooperator=0"
#define CROSS "cfq:close_cooperator=0:allow_cross_merge=1"
#define CLOSE "cfq"

static const struct repro_run runs_a[] = {
	{INTERLEAVE(1), .device = "hdd"}, {INTERLEAVE(3), .device = "hdd"},
	{INTERLEAVE(5), .device = "hdd"}, {INTERLEAVE(7), .device = "hdd"},
	{INTERLEAVE(9), .device = "hdd"}, {INTERLEAVE(3) ":rw=write", .device = "hdd"},
};
static const struct repro_column columns_a[] = {
	{"1", 0, repro_mb_per_s, "", 1},	  {"3", 1, repro_mb_per_s, "", 1},
	{"5", 2, repro_mb_per_s, "", 1},	  {"7", 3, repro_mb_per_s, "", 1},
	{"9", 4, repro_mb_per_s, "", 1},	  {"merged", 1, repro_merges, "", 0},
	{"commands", 1, repro_device_ios, "", 0}, {"write 3", 5, repro_mb_per_s, "", 1},
};
static const struct repro_published published_a[] = {
	{CFQ, {77.8 * MIB, 32.4 * MIB, 43.3 * MIB, 55.8 * MIB, 58.5 * MIB, -1, -1, -1}},
	{"noop", {78.2 * MIB, 79.0 * MIB, 78.2 * MIB, 77.2 * MIB, 77.0 * MIB, -1, -1, -1}},
	{"anticipatory", {78.2 * MIB, 78.6 * MIB, 78.4 * MIB, 77.8 * MIB, 78.1 * MIB, -1, -1, -1}},
	{"deadline", {76.9 * MIB, 78.4 * MIB, 77.0 * MIB, 78.4 * MIB, 77.9 * MIB, -1, -1, -1}},
};
static const struct repro_table table_a = {
	"004-A",
	"MB/s of 1 to 9 threads reading in turns; with 3 of them: requests merged, commands of the "
	"disk; "
	"and writing",
	runs_a,
	6,
	columns_a,
	8,
	CFQ ",noop,anticipatory,deadline," CROSS "," CLOSE,
	true,
	published_a,
	4,
};

static double of_noop(const struct repro_report *r, const char *row, const char *column)
{
	return repro_value(r, "004-A", row, column) / repro_value(r, "004-A", "noop", column);
}

static void judge(struct repro_report *r)
{
	static const char *const others[] = {"anticipatory", "deadline"};
	static const char *const threads[] = {"1", "3", "5", "7", "9"};
	unsigned int n;

	repro_faithful(r, of_noop(r, CFQ, "1"), 0.9, 1.1, NULL, "cfq, 1 thread: of noop, the same");
	repro_faithful(r, of_noop(r, CFQ, "3"), 0.35, 0.6, NULL,
		       "cfq, 3 threads: of noop, 35 to 60 %%");
	repro_faithful(r, repro_value(r, "004-A", CFQ, "9") / repro_value(r, "004-A", CFQ, "3"),
		       1.1, INFINITY, NULL, "cfq, 9 threads of 3: recovers");
	for (n = 0; n < 2; n++)
		repro_faithful(r, of_noop(r, others[n], "3"), 0.9, 1.1, NULL,
			       "%s, 3 threads: of noop, flat", others[n]);
	repro_faithful(r, of_noop(r, CFQ, "write 3"), 0.95, INFINITY, NULL,
		       "cfq, writing: of noop, no regression");
	repro_faithful(r, repro_value(r, "004-A", CROSS, "3") / repro_value(r, "004-A", CFQ, "3"),
		       1.2, INFINITY, NULL,
		       "allow_cross_merge, 3 threads: of cfq without, recovers");
	repro_faithful(r, of_noop(r, CLOSE, "3"), 0.9, INFINITY, NULL,
		       "cfq with close_cooperator: of noop, recovers");
	for (n = 0; n < 5; n++)
		repro_better(r, of_noop(r, "weir", threads[n]), 0.97, INFINITY,
			     "%s thread%s: of noop, at least", threads[n], n ? "s" : "");
}

static const struct repro_table *const tables[] = {&table_a, NULL};

const struct repro_thread repro_thread_004 = {
	"004",
	"CFQ and interleaved sequential reads, 2009",
	tables,
	judge,
};
