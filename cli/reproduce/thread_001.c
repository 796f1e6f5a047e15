// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thread 001: "[PATCH] cfq-iosched: allow groups preemption for sync-noidle workloads", June 2011. A
 * loop of write and fsync in a group of its own, against CFQ's idle waits at each switch between the
 * task and the journal's thread in the root group.
 *
 * The job is the posted one. Published are 49 and 798 IOPS without and with the change, on a storage
 * that was not named; who tried it on a SATA disk with barriers saw 100 KB/s with and without groups,
 * and took it that the reporter had them off. Assumed: a SATA disk with its write cache on.
 */
#include <math.h>

#include "cli/reproduce/reproduce.h"
#include "cli/job_texts.h"

#define PATCHED "cfq:group_preempt_noidle=1"

static const struct repro_run runs_a[] = {
	{fsync_loop, .device = "hdd", .host = "barriers=0"},
	{fsync_loop, .device = "hdd", .host = "barriers=1"},
	{fsync_loop, .device = "ssd", .host = "barriers=0"},
	{fsync_loop, .device = "ssd", .host = "barriers=1"},
};
static const struct repro_column columns_a[] = {
	{"hdd", 0, repro_fsyncs, "", 0},
	{"hdd+b", 1, repro_fsyncs, "", 1},
	{"ssd", 2, repro_fsyncs, "", 0},
	{"ssd+b", 3, repro_fsyncs, "", 1},
};
static const struct repro_published published_a[] = {
	{"cfq", {49, -1, -1, -1}},
	{PATCHED, {798, -1, -1, -1}},
};
static const struct repro_table table_a = {
	"001-A",
	"fsyncs a second of the loop alone, in a group; +b with barriers",
	runs_a,
	4,
	columns_a,
	4,
	"noop,deadline,cfq," PATCHED,
	true,
	published_a,
	2,
};

static const struct repro_run runs_b[] = {
	{neighbours, .device = "hdd", .host = "barriers=0"},
	{neighbours, .device = "ssd", .host = "barriers=0"},
};
static const struct repro_column columns_b[] = {
	{"hdd", 0, repro_fsyncs, "", 1},
	{"seq", 0, repro_of_entitled, "sequential", 2},
	{"rand", 0, repro_of_entitled, "random", 2},
	{"ssd", 1, repro_fsyncs, "", 1},
	{"seq s", 1, repro_of_entitled, "sequential", 2},
	{"rand s", 1, repro_of_entitled, "random", 2},
};
static const struct repro_table table_b = {
	"001-B",
	"fsyncs a second beside a sequential and a random reader, and what these get of their "
	"entitlement: hdd, then ssd",
	runs_b,
	2,
	columns_b,
	6,
	"noop,deadline,cfq," PATCHED,
	true,
	NULL,
	0,
};

/* The slowest policy of the fastest. */
static double spread(const struct repro_report *r, const char *column)
{
	const struct repro_result *t = &r->result[0];
	double least = INFINITY, most = 0;
	unsigned int n;

	for (n = 0; n < t->nr_rows; n++) {
		double value = repro_value(r, "001-A", t->row[n].label, column);

		least = value < least ? value : least;
		most = value > most ? value : most;
	}
	return least / most;
}

static void judge_neighbours(struct repro_report *r, const char *device, const char *seq,
			     const char *rand)
{
	static const char *const rivals[] = {"noop", "deadline", "bfq"};
	double best = 0, value;
	unsigned int n;

	for (n = 0; n < 3; n++) {
		if (!repro_has(r, "001-B", rivals[n]))
			continue;
		value = repro_value(r, "001-B", rivals[n], device);
		best = value > best ? value : best;
	}
	repro_better(r, repro_value(r, "001-B", "weir", device) / best, 1, INFINITY,
		     "%s, beside readers: of the best of noop, deadline, bfq, at least", device);
	repro_better(r, repro_value(r, "001-B", "weir", seq), 0.9, INFINITY,
		     "%s: the sequential reader, of its entitlement, at least", device);
	repro_better(r, repro_value(r, "001-B", "weir", rand), 0.9, INFINITY,
		     "%s: the random reader, of its entitlement, at least", device);
}

static void judge(struct repro_report *r)
{
	repro_faithful(
		r, repro_value(r, "001-A", PATCHED, "hdd") / repro_value(r, "001-A", "cfq", "hdd"),
		8, INFINITY, NULL, "no barriers: cfq with the change of cfq without, at least 8");
	repro_faithful(r, spread(r, "hdd+b"), 0.85, 1, NULL,
		       "barriers: slowest policy of the fastest, within 15 %%");
	repro_better(
		r, repro_value(r, "001-A", "weir", "hdd") / repro_value(r, "001-A", "noop", "hdd"),
		0.97, INFINITY, "hdd: the loop of its rate under noop, at least");
	repro_better(
		r, repro_value(r, "001-A", "weir", "ssd") / repro_value(r, "001-A", "noop", "ssd"),
		0.97, INFINITY, "ssd: the loop of its rate under noop, at least");
	judge_neighbours(r, "hdd", "seq", "rand");
	judge_neighbours(r, "ssd", "seq s", "rand s");
}

static const struct repro_table *const tables[] = {&table_a, &table_b, NULL};

const struct repro_thread repro_thread_001 = {
	"001",
	"CFQ group preemption, 2011: write and fsync in a group",
	tables,
	judge,
};
