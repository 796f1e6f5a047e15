// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whole runs in virtual time: figures that can be worked out by hand on the null device, shares,
 * windows, phases, files, and the errors that only a run can find.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lab/sim.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)

static const char random_reads[] = "[global]\nfilename=/dev/x\ndirect=1\nioengine=libaio\n"
				   "rw=randread\nbs=4k\nnorandommap\ntime_based\n";

struct run {
	struct lab_jobs *jobs;
	struct lab_groups *groups;
	struct lab_policies policies;
	struct lab_builtin builtin;
	struct lab_sim_result *result;
	char err[1024];
};

/* jobs: fio text behind random_reads, or "builtin:...". NULL result: see err. */
static void start(struct run *r, const char *jobs, const char *ini, const char *device,
		  const char *policy, const char *host)
{
	struct lab_settings settings = {.given = {false}};
	struct lab_sim_spec spec = {.device = device, .seed = 1, .settings = &settings};
	char text[4096];
	bool builtin = !strncmp(jobs, LAB_BUILTIN_PREFIX, strlen(LAB_BUILTIN_PREFIX));
	bool bare = jobs[0] == '!';

	memset(r, 0, sizeof(*r));
	if (builtin) {
		r->jobs = lab_builtin_jobs(jobs, &r->builtin, r->err, sizeof(r->err));
		spec.builtin = &r->builtin;
	} else {
		snprintf(text, sizeof(text), "%s%s", bare ? "" : random_reads, jobs + bare);
		r->jobs = lab_jobs_parse(text, strlen(text), "job.fio", NULL, r->err,
					 sizeof(r->err));
	}
	if (!r->jobs)
		fail_msg("%s", r->err);
	r->groups = lab_groups_build_text(r->jobs, ini, "groups.ini", r->err, sizeof(r->err));
	if (!r->groups)
		fail_msg("%s", r->err);
	assert_true(lab_policies_parse(policy, &r->policies, r->err, sizeof(r->err)));
	if (host)
		assert_true(lab_settings_parse(host, &settings, r->err, sizeof(r->err)));
	spec.jobs = r->jobs;
	spec.groups = r->groups;
	spec.policy = &r->policies.choice[0];
	r->result = lab_sim_run(&spec, NULL, r->err, sizeof(r->err));
}

static void end(struct run *r)
{
	lab_sim_result_free(r->result);
	lab_policies_free(&r->policies);
	lab_groups_free(r->groups);
	lab_jobs_free(r->jobs);
}

static void run(struct run *r, const char *jobs, const char *ini, const char *device,
		const char *policy, const char *host)
{
	start(r, jobs, ini, device, policy, host);
	if (!r->result)
		fail_msg("%s", r->err);
}

static const struct lab_group_result *group(const struct run *r, const char *path)
{
	int at = lab_groups_find(r->groups, path);

	assert_true(at >= 0);
	return &r->result->whole.group[at];
}

static uint64_t received_ppm(const struct run *r, const char *path)
{
	return lab_device_ns(&group(r, path)->stats) * 1000000 /
	       lab_device_ns(&r->result->whole.group[0].stats);
}

/* ---- exact figures ---- */

static void depth_one_on_a_known_latency(void **state)
{
	struct run r;
	const struct lab_meter *m;

	(void)state;
	run(&r, "ramp_time=1\nruntime=1\n[a]\niodepth=1\n", NULL, "null:latency_us=100", "weir",
	    NULL);
	m = r.result->job[0].meter[LAB_DIR_READ];
	assert_int_equal(m->ios, 10000);
	assert_int_equal(m->bytes, 40960000);
	assert_int_equal(m->lat.min_ns, 100000);
	assert_int_equal(m->lat.max_ns, 100000);
	assert_int_equal(r.result->whole.measured_ns, SECOND);
	assert_int_equal(r.result->job[0].measured_ns, SECOND);
	assert_int_equal(r.result->whole.host.commands, 10000);
	assert_int_equal(r.result->virtual_ns, 2 * SECOND);
	/* Two half seconds, each of the same rate. */
	assert_int_equal(r.result->job[0].ios_per_s[LAB_DIR_READ].nr, 2);
	assert_int_equal(r.result->job[0].ios_per_s[LAB_DIR_READ].min, 10000);
	assert_int_equal(r.result->job[0].ios_per_s[LAB_DIR_READ].max, 10000);
	end(&r);
}

static void depth_times_rate_is_latency(void **state)
{
	struct run r;

	(void)state;
	/* 64 outstanding over 16 places of 100 us: 160,000 a second, 400 us each. */
	run(&r, "ramp_time=1\nruntime=1\n[a]\niodepth=64\n", NULL, "null:latency_us=100:depth=16",
	    "noop", NULL);
	assert_int_equal(r.result->job[0].meter[LAB_DIR_READ]->ios, 160000);
	assert_int_equal(r.result->job[0].meter[LAB_DIR_READ]->lat.max_ns, 400000);
	assert_int_equal(group(&r, "")->wait_max_ns, 300000);
	assert_int_equal(group(&r, "")->service_max_ns, 100000);
	end(&r);
}

static void rate_and_think_time(void **state)
{
	struct run r;

	(void)state;
	run(&r,
	    "ramp_time=1\nruntime=2\n[rate]\nrate_iops=1234\n[think]\nthinktime=900\n"
	    "[both]\nthinktime=100\nthinktime_blocks=4\n",
	    NULL, "null:latency_us=100", "noop", NULL);
	assert_int_equal(r.result->job[0].meter[LAB_DIR_READ]->ios, 2 * 1234);
	assert_int_equal(r.result->job[1].meter[LAB_DIR_READ]->ios, 2 * 1000);
	assert_int_equal(r.result->job[2].meter[LAB_DIR_READ]->ios, 2 * 8000);
	end(&r);
}

static void clones_report_as_one(void **state)
{
	struct run r;

	(void)state;
	run(&r, "runtime=1\n[a]\nnumjobs=4\ngroup_reporting\n[b]\nnew_group\nnumjobs=2\n", NULL,
	    "null:latency_us=100", "noop", NULL);
	assert_int_equal(r.result->nr_jobs, 3);
	assert_int_equal(r.result->job[0].nr_jobs, 4);
	assert_int_equal(r.result->job[0].meter[LAB_DIR_READ]->ios, 40000);
	assert_int_equal(r.result->job[0].ios_per_s[LAB_DIR_READ].nr, 2);
	assert_int_equal(r.result->job[0].ios_per_s[LAB_DIR_READ].min, 40000);
	assert_int_equal(r.result->job[1].meter[LAB_DIR_READ]->ios, 10000);
	assert_int_equal(lab_meters_ios(group(&r, "")->meter), 60000);
	end(&r);
}

static void phases_follow_each_other(void **state)
{
	struct run r;

	(void)state;
	run(&r,
	    "[a]\nruntime=1\ncgroup=a\n[b]\nstonewall\nruntime=2\nramp_time=500ms\ncgroup=b\n"
	    "iodepth=2\n",
	    NULL, "null:latency_us=100", "noop", NULL);
	assert_int_equal(r.result->nr_phases, 2);
	assert_int_equal(r.result->job[0].phase, 0);
	assert_int_equal(r.result->job[1].phase, 1);
	assert_int_equal(r.result->job[1].start_ns, 1 * SECOND);
	assert_int_equal(r.result->phase[0].measured_ns, SECOND);
	assert_int_equal(r.result->phase[1].measured_ns, 2 * SECOND);
	/* Each phase's groups count only what happened in its window. */
	assert_int_equal(r.result->phase[0].host.commands, 10000);
	assert_int_equal(r.result->phase[1].host.commands, 40000);
	assert_int_equal(r.result->phase[0].group[1].stats.dir[WEIR_READ].completed, 10000);
	assert_int_equal(r.result->phase[1].group[1].stats.dir[WEIR_READ].completed, 0);
	assert_int_equal(r.result->phase[1].group[2].stats.dir[WEIR_READ].completed, 40000);
	assert_null(r.result->phase[1].group[1].meter[LAB_DIR_READ]);
	/* The whole is their sum. */
	assert_int_equal(r.result->whole.measured_ns, 3 * SECOND);
	assert_int_equal(group(&r, "a")->stats.dir[WEIR_READ].completed, 10000);
	assert_int_equal(group(&r, "b")->stats.dir[WEIR_READ].completed, 40000);
	assert_int_equal(lab_meters_ios(group(&r, "")->meter), 50000);
	end(&r);
}

/* Without a runtime a phase ends with its last completion. */
static void jobs_with_a_size_end_by_themselves(void **state)
{
	struct run r;

	(void)state;
	run(&r,
	    "![a]\nfilename=/dev/x\ndirect=1\nrw=read\nsize=4m\n[b]\nfilename=/dev/x\ndirect=1\n"
	    "rw=write\nsize=8m\n",
	    NULL, "null:latency_us=100", "noop", NULL);
	assert_int_equal(r.result->job[0].measured_ns, 1024 * 100000);
	assert_int_equal(r.result->job[1].measured_ns, 2048 * 100000);
	assert_int_equal(r.result->whole.measured_ns, 2048 * 100000);
	end(&r);
}

static void the_queue_lock_bounds_the_rate(void **state)
{
	struct run r;

	(void)state;
	/* Insert, dispatch, complete: 3 x 5 us each I/O. */
	run(&r, "ramp_time=1\nruntime=1\n[a]\niodepth=64\n", NULL, "null:latency_us=100", "noop",
	    "host_ns=5us");
	assert_in_range(r.result->job[0].meter[LAB_DIR_READ]->ios, 66600, 66670);
	end(&r);
}

/* ---- groups ---- */

static void weights_on(const char *device, const char *depth)
{
	struct run r;
	char jobs[512];

	snprintf(jobs, sizeof(jobs),
		 "ramp_time=1\nruntime=2\niodepth=%s\n[a]\ncgroup=a\ncgroup_weight=200\n"
		 "[b]\ncgroup=b\ncgroup_weight=300\n",
		 depth);
	run(&r, jobs, NULL, device, "weir", NULL);
	assert_in_range(received_ppm(&r, "a"), 399000, 401000);
	assert_in_range(received_ppm(&r, "b"), 599000, 601000);
	assert_in_range(group(&r, "a")->stats.entitled_ns, 2 * SECOND / 100 * 39.9,
			2 * SECOND / 100 * 40.1);
	assert_int_equal(group(&r, "")->stats.in_use_ns, 2 * SECOND);
	assert_false(lab_demand_limited(&r.result->whole, group(&r, "a")));
	end(&r);
}

static void weights_are_exact(void **state)
{
	(void)state;
	weights_on("null:latency_us=100:depth=32", "128");
	weights_on("pcie-flash", "512");
}

static void who_does_not_ask_is_demand_limited(void **state)
{
	struct run r;

	(void)state;
	run(&r,
	    "ramp_time=1\nruntime=2\n[deep]\niodepth=128\ncgroup=deep\n"
	    "[slow]\nthinktime=900\ncgroup=slow\ncgroup_weight=1000\n",
	    NULL, "null:latency_us=100:depth=16", "weir", NULL);
	assert_true(lab_demand_limited(&r.result->whole, group(&r, "slow")));
	assert_false(lab_demand_limited(&r.result->whole, group(&r, "deep")));
	end(&r);
}

static void an_inner_group_is_the_sum_of_its_subtree(void **state)
{
	struct run r;
	const struct lab_group_result *p;

	(void)state;
	run(&r,
	    "ramp_time=1\nruntime=1\niodepth=8\n[x]\ncgroup=p/x\n[y]\ncgroup=p/y\n[z]\ncgroup=z\n",
	    "[p]\nio.weight = 300\n", "null:latency_us=100:depth=8", "weir", NULL);
	p = group(&r, "p");
	assert_int_equal(p->nr_children, 2);
	assert_int_equal(lab_meters_ios(p->meter), lab_meters_ios(group(&r, "p/x")->meter) +
							   lab_meters_ios(group(&r, "p/y")->meter));
	assert_in_range(received_ppm(&r, "p"), 745000, 755000);
	assert_int_equal(received_ppm(&r, ""), 1000000);
	end(&r);
}

static void waits_add_up(void **state)
{
	struct run r;
	uint64_t sum;
	unsigned int i, cause;

	(void)state;
	run(&r,
	    "ramp_time=1\nruntime=2\niodepth=64\n[a]\ncgroup=a\n[b]\ncgroup=b\n[c]\ncgroup=c/d\n",
	    "[a]\nio.max = riops=1000\n[b]\nio.latency = target=500\n", "ssd", "weir", NULL);
	for (i = 0; i < r.result->whole.nr_groups; i++) {
		const struct weir_group_stats *s = &r.result->whole.group[i].stats;

		for (cause = 0, sum = 0; cause < WEIR_NR_WAITS; cause++)
			sum += s->wait_ns[cause];
		assert_int_equal(sum, s->backlogged_ns);
	}
	/* The ceiling holds to the request. */
	assert_in_range(group(&r, "a")->stats.dir[WEIR_READ].completed, 1990, 2010);
	assert_int_equal(lab_dominant_wait(&group(&r, "a")->stats), WEIR_WAIT_CEILING);
	end(&r);
}

/* ---- files and the page cache ---- */

static void private_files_lie_apart(void **state)
{
	struct run r;

	(void)state;
	/* Reads through the cache: each job sees its own pages, the device each once. */
	run(&r, "![global]\nrw=read\nbs=4k\nsize=8m\n[a]\n[b]\n", NULL, "null:latency_us=10",
	    "noop", NULL);
	assert_true(r.result->has_cache);
	assert_int_equal(r.result->cache.read_bytes, 16 << 20);
	assert_int_equal(r.result->job[0].meter[LAB_DIR_READ]->bytes, 8 << 20);
	end(&r);
	/* The same name is the same file. */
	run(&r,
	    "![global]\nrw=read\nbs=4k\nsize=8m\nfilename=f\ninvalidate=0\n[a]\n[b]\nstonewall\n",
	    NULL, "null:latency_us=10", "noop", NULL);
	assert_int_equal(r.result->cache.read_bytes, 8 << 20);
	assert_int_equal(r.result->cache.hit_pages >= 2048, 1);
	end(&r);
}

static void direct_jobs_need_no_cache(void **state)
{
	struct run r;

	(void)state;
	run(&r, "![a]\nrw=read\ndirect=1\nsize=4m\n", NULL, "null:latency_us=10", "noop", NULL);
	assert_false(r.result->has_cache);
	assert_int_equal(r.result->whole.host.commands, 1024);
	end(&r);
}

static void fsync_goes_through_the_journal(void **state)
{
	struct run r;

	(void)state;
	run(&r, "![a]\nrw=write\nbs=4k\nfsync=1\nsize=400k\n", NULL, "null:latency_us=10", "noop",
	    NULL);
	/* The last write has no fsync behind it. */
	assert_int_equal(r.result->job[0].sync->ios, 99);
	assert_int_equal(r.result->cache.commits, 99);
	end(&r);
}

static void charged_to_the_dirtier(void **state)
{
	struct run r;
	static const char jobs[] = "![global]\nrw=write\nbs=64k\nsize=64m\ntime_based\nruntime=2\n"
				   "ramp_time=1\n[a]\ncgroup=a\n[b]\ncgroup=b\n";

	(void)state;
	run(&r, jobs, NULL, "ssd", "weir", "charge=root,dirty=32m");
	assert_int_equal(group(&r, "a")->stats.dir[WEIR_WRITE].bytes, 0);
	assert_true(group(&r, "")->stats.dir[WEIR_WRITE].bytes > 0);
	end(&r);
	run(&r, jobs, NULL, "ssd", "weir", "charge=dirtier,dirty=32m");
	assert_true(group(&r, "a")->stats.dir[WEIR_WRITE].bytes > 0);
	end(&r);
}

/* ---- what is built in ---- */

static void interleaved_threads_read_a_file_once(void **state)
{
	struct run r;
	unsigned int threads;
	char spec[128];

	(void)state;
	for (threads = 1; threads <= 9; threads += 2) {
		snprintf(spec, sizeof(spec), "builtin:interleave:threads=%u:size=32m", threads);
		run(&r, spec, NULL, "hdd", "noop", NULL);
		assert_int_equal(r.result->nr_jobs, 1);
		assert_int_equal(r.result->job[0].nr_jobs, threads);
		assert_int_equal(r.result->job[0].meter[LAB_DIR_READ]->ios, 2048);
		assert_int_equal(r.result->cache.read_bytes, 32 << 20);
		end(&r);
	}
}

/* ---- errors ---- */

static void errors_name_the_place(void **state)
{
	static const struct {
		const char *jobs, *device, *host, *err;
	} bad[] = {
		{"[a]\nruntime=1\nsize=2g\n", "null:capacity_gb=1", NULL,
		 "job.fio:11: [a] size 2147483648 at offset 0: accepted is a size up to "
		 "1000000000, "
		 "device null:capacity_gb=1 has 1000000000 bytes"},
		{"[a]\nruntime=1\noffset=2g\n", "null:capacity_gb=1", NULL,
		 "job.fio:9: [a] size 0 at offset 2147483648: accepted is a size up to 0, device "
		 "null:capacity_gb=1 has 1000000000 bytes"},
		{"![a]\nrw=read\nsize=600m\n[b]\nrw=read\nsize=600m\n", "null:capacity_gb=1", NULL,
		 "job.fio:6: [b] size 629145600: accepted is what is left on device "
		 "null:capacity_gb=1 behind the other files"},
		{"[a]\nioengine=net\nruntime=1\n", "null", NULL, "job.fio:9: [a] ioengine=net"},
		{"[a]\nruntime=1\n", "floppy", NULL, "floppy"},
		{"[a]\nruntime=1\n", "ssd:sparkle=1", NULL, "sparkle"},
		{"[a]\nruntime=1\n", "ssd", "dirty=2m,dirty_background=4m",
		 "--host: dirty_background=4m: accepted is less than dirty, which is 2m"},
	};
	struct run r;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		start(&r, bad[i].jobs, NULL, bad[i].device, "noop", bad[i].host);
		assert_null(r.result);
		if (!strstr(r.err, bad[i].err))
			fail_msg("case %u: got \"%s\"", i, r.err);
		assert_null(strchr(r.err, '\n'));
		end(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depth_one_on_a_known_latency),
		cmocka_unit_test(depth_times_rate_is_latency),
		cmocka_unit_test(rate_and_think_time),
		cmocka_unit_test(clones_report_as_one),
		cmocka_unit_test(phases_follow_each_other),
		cmocka_unit_test(jobs_with_a_size_end_by_themselves),
		cmocka_unit_test(the_queue_lock_bounds_the_rate),
		cmocka_unit_test(weights_are_exact),
		cmocka_unit_test(who_does_not_ask_is_demand_limited),
		cmocka_unit_test(an_inner_group_is_the_sum_of_its_subtree),
		cmocka_unit_test(waits_add_up),
		cmocka_unit_test(private_files_lie_apart),
		cmocka_unit_test(direct_jobs_need_no_cache),
		cmocka_unit_test(fsync_goes_through_the_journal),
		cmocka_unit_test(charged_to_the_dirtier),
		cmocka_unit_test(interleaved_threads_read_a_file_once),
		cmocka_unit_test(errors_name_the_place),
	};

	return cmocka_run_group_tests_name("sim", tests, NULL, NULL);
}
