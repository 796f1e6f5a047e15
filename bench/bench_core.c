// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one request costs in the core, against what it may cost.
 *
 * Nanoseconds of insert, dispatch and complete together, statistics on, for each policy at 4, 100
 * and 10,000 groups (those nested 4 deep), and for dmClock's add and pull in the same loop.
 * Subjects take turns, round by round, so that a slow moment of the machine hits all of them; the
 * figure is the median over the rounds.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/rig.h"

#define ROUNDS_MAX 99
#define SLICE_NS 40000000 /* of one subject in one round */
#define CHUNK 16 /* steps until the first look at the clock; then twice as many each time */

enum {
	NOOP,
	DEADLINE,
	TPPS,
	WEIR,
	DMCLOCK,
	NR_SUBJECTS,
};

static const char *const subject[NR_SUBJECTS] = {"noop", "deadline", "tpps", "weir", "dmclock"};

/* The goals: noop in nanoseconds, weir as a part of dmClock. */
#define NOOP_GOAL_NS 60

static const struct setting {
	struct rig_shape shape;
	double goal;
} setting[] = {
	{{.groups = 4, .fanout = 0, .rqs = 4}, 0.7},
	{{.groups = 100, .fanout = 0, .rqs = 4}, 0.5},
	{{.groups = 10000, .fanout = 10, .rqs = 2}, 0.7},
};

#define NR_SETTINGS (sizeof(setting) / sizeof(setting[0]))

/* With statistics, and without what can be left out of them. */
static double sample_ns[2][NR_SETTINGS][NR_SUBJECTS][ROUNDS_MAX];

/* Time that this thread ran: another process in between costs cache lines, not its whole turn. */
static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Caches and page tables must not depend on where the scheduler of this machine moves us. */
static void stay_on_this_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((unsigned int)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Runs up to that many steps, or until the time is over; returns the steps. */
static uint64_t run_for(struct rig *rig, uint64_t steps_max, uint64_t until_ns)
{
	uint64_t steps = 0, chunk = CHUNK;

	do {
		rig_run(rig, chunk);
		steps += chunk;
		chunk = steps; /* the clock is a system call: few of them */
	} while (steps < steps_max && clock_ns() < until_ns);
	return steps;
}

static double measure_ns(const char *policy, const struct rig_shape *shape)
{
	struct rig *rig = rig_new(policy, shape);
	uint64_t steps, begin_ns, end_ns;

	/* Until every request has gone round a few times; with a policy that walks all groups for
	 * each request that would take minutes. */
	run_for(rig, 4ULL * shape->groups * shape->rqs, clock_ns() + SLICE_NS);
	begin_ns = clock_ns();
	steps = run_for(rig, UINT64_MAX, begin_ns + SLICE_NS);
	end_ns = clock_ns();
	rig_free(rig);
	return (double)(end_ns - begin_ns) / (double)steps;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_ns(bool bare, size_t s, int which, unsigned int rounds)
{
	double *samples = sample_ns[bare][s][which];

	qsort(samples, rounds, sizeof(*samples), compare);
	return samples[rounds / 2];
}

static void print_goal(const char *what, double value, double goal, const char *unit)
{
	printf("  %-46s %8.2f %-4s <= %.2f  %s\n", what, value, unit, goal,
	       value <= goal ? "reached" : "MISSED");
}

static void print_table(bool bare, double ns[NR_SETTINGS][NR_SUBJECTS], unsigned int rounds)
{
	size_t s;
	int i;

	printf("  %-10s", "groups");
	for (i = 0; i < NR_SUBJECTS - bare; i++)
		printf("%10s", subject[i]);
	putchar('\n');
	for (s = 0; s < NR_SETTINGS; s++) {
		printf("  %-10u", setting[s].shape.groups);
		for (i = 0; i < NR_SUBJECTS - bare; i++) {
			ns[s][i] = median_ns(bare, s, i, rounds);
			printf("%10.1f", ns[s][i]);
		}
		putchar('\n');
	}
}

static void print_results(unsigned int rounds)
{
	double ns[NR_SETTINGS][NR_SUBJECTS], bare_ns[NR_SETTINGS][NR_SUBJECTS];
	char what[64];
	size_t s;

	printf("core: insert + dispatch + complete, ns a request, median of %u rounds\n", rounds);
	print_table(false, ns, rounds);
	puts("\nthe same without wait causes and histograms");
	print_table(true, bare_ns, rounds);
	puts("\ngoals                                                measured        goal");
	print_goal("noop, 4 groups", ns[0][NOOP], NOOP_GOAL_NS, "ns");
	for (s = 0; s < NR_SETTINGS; s++) {
		snprintf(what, sizeof(what), "weir / dmclock, %u groups", setting[s].shape.groups);
		print_goal(what, ns[s][WEIR] / ns[s][DMCLOCK], setting[s].goal, "");
	}
}

static void print_memory(void)
{
	struct rig *rig = rig_new("weir", &setting[NR_SETTINGS - 1].shape);
	double bytes = (double)rig_group_bytes(rig);

	printf("\nmemory: %u groups under weir take %.1f MiB, %.0f bytes each\n",
	       rig_nr_groups(rig), bytes / (1 << 20), bytes / rig_nr_groups(rig));
	rig_free(rig);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 7;
	struct rig_shape shape;
	unsigned int round;
	int i, bare;
	size_t s;

	if (argc > 2 || rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: bench_core [ROUNDS, 1..%d]\n", ROUNDS_MAX);
		return 2;
	}
	stay_on_this_cpu();
	for (round = 0; round < rounds; round++)
		for (s = 0; s < NR_SETTINGS; s++)
			for (i = 0; i < NR_SUBJECTS; i++)
				for (bare = 0; bare < 2 - (i == DMCLOCK); bare++) {
					shape = setting[s].shape;
					shape.bare = bare;
					sample_ns[bare][s][i][round] = measure_ns(subject[i],
										  &shape);
				}
	print_results((unsigned int)rounds);
	print_memory();
	return 0;
}
