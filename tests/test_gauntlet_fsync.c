// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thread 001's job, as it was posted, on a disk and on an SSD under every policy: it runs its ten
 * seconds, each write is followed by its fsync, and with barriers on no policy stands out on the
 * disk, where a flush takes longer than an idle wait. On the SSD it takes less, and CFQ does: it
 * waits at each of the two switches, unless it has the change that the thread asks for.
 */
#include "tests/gauntlet.h"

#include <weir/policy.h>

#define JOB "examples/fsync-loop.fio"
#define SECONDS 10

/* The posted lines; a size that suits the lab or a shorter run would be a trick. */
static const char posted[] = "[write-fsync]\n"
			     "cgroup=test\n"
			     "cgroup_weight=1000\n"
			     "rw=write\n"
			     "fsync=1\n"
			     "size=100m\n"
			     "runtime=10s\n";

static const char *const devices[] = {"hdd", "ssd"};

/* What is not a comment or blank. */
static void job_as_posted(void **state)
{
	char text[sizeof(posted) + 1] = "", line[256];
	FILE *f = fopen(JOB, "r");

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#' || line[0] == ';' || line[0] == '\n')
			continue;
		assert_true(strlen(text) + strlen(line) < sizeof(text));
		strcat(text, line);
	}
	fclose(f);
	assert_string_equal(text, posted);
}

/* Writes with their fsync per second. */
static double loops_per_s(const json_t *run)
{
	const json_t *job = gauntlet_job(run, "write-fsync");
	double writes = gauntlet_number(job, "write/total_ios"),
	       syncs = gauntlet_number(job, "sync/total_ios");

	gauntlet_at_least("writes", writes, SECONDS);
	gauntlet_at_most("writes without an fsync", writes - syncs, 1);
	gauntlet_at_least("writes without an fsync", writes - syncs, 0);
	gauntlet_at_least("an fsync takes time", gauntlet_number(job, "sync/lat_ns/min"), 1);
	gauntlet_within("measured ms", gauntlet_number(job, "job_runtime"), SECONDS * 1000, 0.01);
	gauntlet_within("group and job", gauntlet_ios(gauntlet_group(run, "test")), writes, 0);
	return syncs / SECONDS;
}

/* The loop alone, without groups, under noop. */
static double bare_loops_per_s(const char *device)
{
	struct gauntlet_text job = {0};
	json_t *result;
	double rate;

	gauntlet_add(&job, "[write-fsync]\nrw=write\nfsync=1\nsize=100m\nruntime=10s\n");
	result = gauntlet_sim("", "%s --device %s --policy noop", gauntlet_file("bare.fio", &job),
			      device);
	rate = gauntlet_number(gauntlet_job(gauntlet_run(result, "noop"), "write-fsync"),
			       "sync/total_ios") /
	       SECONDS;
	json_decref(result);
	return rate;
}

/* On an SSD the waits for the other half of a commit are longer than all else: the thread's complaint. */
static bool waits_on(const char *device, const char *policy)
{
	return !strcmp(device, "ssd") && gauntlet_keeps_idle(policy);
}

/* Two waits of 8 ms in each loop; and none. */
static void judge_waiting(const char *device, double rate, double best)
{
	json_t *result = gauntlet_sim("", JOB " --device %s --policy cfq:group_preempt_noidle=1",
				      device);

	gauntlet_at_most("loops with two waits", rate, 1000.0 / (2 * 8));
	gauntlet_at_least("cfq with the change against the best policy",
			  loops_per_s(gauntlet_run(result, "cfq:group_preempt_noidle=1")) / best,
			  0.97);
	json_decref(result);
}

static void every_policy(void **state)
{
	unsigned int i, n;

	(void)state;
	for (i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		json_t *result = gauntlet_sim("", JOB " --device %s --policy all", devices[i]);
		double least = 0, most = 0, waiting = 0, bare = bare_loops_per_s(devices[i]), rate;

		for (n = 0; weir_policy_at(n); n++) {
			const char *name = weir_policy_info(weir_policy_at(n))->name;

			rate = loops_per_s(gauntlet_run(result, name));
			if (!waits_on(devices[i], name))
				least = !n || rate < least ? rate : least;
			else if (!strcmp(name, "cfq"))
				waiting = rate;
			most = rate > most ? rate : most;
			if (!strcmp(name, "weir"))
				gauntlet_at_least("weir against the bare loop", rate / bare, 0.97);
			gauntlet_report("%s, %s: %.1f fsync/s, the bare loop %.1f", devices[i],
					name, rate, bare);
		}
		assert_int_equal(json_array_size(gauntlet_part(result, "runs")), n);
		if (!strcmp(devices[i], "ssd"))
			judge_waiting(devices[i], waiting, most);
		gauntlet_at_least("slowest against fastest policy", least / most, 0.85);
		json_decref(result);
	}
	gauntlet_verdict();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(job_as_posted),
		cmocka_unit_test(every_policy),
	};

	return cmocka_run_group_tests_name("thread 001, the job", tests, NULL, NULL);
}
