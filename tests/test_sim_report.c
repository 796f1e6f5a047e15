// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reports of real runs: JSON that parses, with fio's names and with figures that agree with
 * each other; tables that fit 100 columns; the same bytes for the same seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "lab/sim.h"

static const char jobs_text[] =
	"[global]\nfilename=/dev/x\ndirect=1\nioengine=libaio\nrw=randrw\nbs=4k\nnorandommap\n"
	"time_based\nramp_time=200ms\nruntime=1\niodepth=32\nunheard_of=1\n"
	"[a]\ncgroup=web/a\ncgroup_weight=200\n"
	"[b]\ncgroup=web/a-group-with-quite-a-long-name\npercentile_list=50:99\n"
	"[sleeper]\ncgroup=c\nrate_iops=100\niodepth=1\nfsync=16\n"
	"[later]\nstonewall\ncgroup=c\nrw=read\n[beside]\ncgroup=c\nrw=read\n";

static const char groups_text[] = "[web]\nio.weight = 300\n"
				  "[c]\nio.low = riops=5000\nio.latency = target=50\n";

struct report {
	struct lab_jobs *jobs;
	struct lab_groups *groups;
	struct lab_policies policies;
	struct lab_sim_result *run[8];
	unsigned int nr;
};

static void run_all(struct report *r, const char *policies, uint64_t seed)
{
	struct lab_sim_spec spec = {.device = "ssd", .seed = seed};
	char err[1024] = "";
	unsigned int i;

	memset(r, 0, sizeof(*r));
	r->jobs = lab_jobs_parse(jobs_text, strlen(jobs_text), "job.fio", NULL, err, sizeof(err));
	if (!r->jobs)
		fail_msg("%s", err);
	r->groups = lab_groups_build_text(r->jobs, groups_text, "g.ini", err, sizeof(err));
	if (!r->groups)
		fail_msg("%s", err);
	assert_true(lab_policies_parse(policies, &r->policies, err, sizeof(err)));
	spec.jobs = r->jobs;
	spec.groups = r->groups;
	r->nr = r->policies.nr;
	for (i = 0; i < r->nr; i++) {
		spec.policy = &r->policies.choice[i];
		r->run[i] = lab_sim_run(&spec, NULL, err, sizeof(err));
		if (!r->run[i])
			fail_msg("%s", err);
	}
}

static void end(struct report *r)
{
	unsigned int i;

	for (i = 0; i < r->nr; i++)
		lab_sim_result_free(r->run[i]);
	lab_policies_free(&r->policies);
	lab_groups_free(r->groups);
	lab_jobs_free(r->jobs);
}

typedef void (*printer)(FILE *out, struct lab_sim_result *const *run, unsigned int nr,
			const struct lab_jobs *jobs);

static char *print(struct report *r, printer fn)
{
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	fn(out, r->run, r->nr, r->jobs);
	fclose(out);
	return text;
}

static json_t *print_json(struct report *r)
{
	char *text = print(r, lab_report_json);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		fail_msg("line %d: %s", error.line, error.text);
	free(text);
	return root;
}

static json_t *at(json_t *o, const char *name)
{
	json_t *value = json_object_get(o, name);

	if (!value)
		fail_msg("no \"%s\"", name);
	return value;
}

static void has_all(json_t *o, const char *const *names)
{
	for (; *names; names++)
		at(o, *names);
}

static const char *const job_names[] = {
	"jobname",    "groupid",    "error",	  "eta",  "elapsed",	 "job options",
	"read",	      "write",	    "trim",	  "sync", "job_runtime", "usr_cpu",
	"sys_cpu",    "ctx",	    "majf",	  "minf", "job_start",	 "iodepth_level",
	"latency_ns", "latency_us", "latency_ms", NULL};

static const char *const direction_names[] = {
	"io_bytes",  "io_kbytes", "bw_bytes", "bw",	 "iops",   "runtime", "total_ios",
	"short_ios", "drop_ios",  "slat_ns",  "clat_ns", "lat_ns", NULL};

static const char *const sample_names[] = {"bw_min",	  "bw_max",	  "bw_mean",  "bw_dev",
					   "bw_samples",  "iops_min",	  "iops_max", "iops_mean",
					   "iops_stddev", "iops_samples", NULL};

static const char *const latency_names[] = {"min", "max", "mean", "stddev", "N", NULL};

static const char *const group_names[] = {
	"path",	   "weight", "entitled",       "received",   "demand_limited",
	"read",	   "write",  "queue_wait_ns",  "service_ns", "backlogged_ns",
	"wait_ns", "floor",  "latency_target", NULL};

static const char *const wait_names[] = {"ceiling", "latency", "floor", "idle",
					 "device",  "share",   "host",	NULL};

static const char *const total_names[] = {"iops", "bw_bytes", "device_ios", "merges", NULL};

static void names_are_those_of_fio(void **state)
{
	struct report r;
	json_t *root, *run, *job, *read;
	size_t i;

	(void)state;
	run_all(&r, "weir", 1);
	root = print_json(&r);
	assert_string_equal(json_string_value(at(root, "weir version")), WEIR_VERSION);
	run = json_array_get(at(root, "runs"), 0);
	assert_string_equal(json_string_value(at(run, "policy")), "weir");
	assert_string_equal(json_string_value(at(run, "label")), "weir");
	assert_string_equal(json_string_value(at(run, "device")), "ssd");
	assert_int_equal(json_integer_value(at(run, "seed")), 1);
	json_array_foreach(at(run, "jobs"), i, job)
	{
		has_all(job, job_names);
		read = at(job, "read");
		has_all(read, direction_names);
		has_all(read, sample_names);
		has_all(at(read, "clat_ns"), latency_names);
		has_all(at(read, "lat_ns"), latency_names);
		has_all(at(read, "slat_ns"), latency_names);
		has_all(at(job, "sync"), (const char *const[]){"total_ios", "lat_ns", NULL});
	}
	assert_int_equal(i, 5);
	/* The default list of percentiles, or that of the job. */
	job = json_array_get(at(run, "jobs"), 0);
	assert_int_equal(json_object_size(at(at(at(job, "read"), "clat_ns"), "percentile")), 17);
	at(at(at(at(job, "read"), "clat_ns"), "percentile"), "99.950000");
	job = json_array_get(at(run, "jobs"), 1);
	assert_int_equal(json_object_size(at(at(at(job, "read"), "clat_ns"), "percentile")), 2);
	json_decref(root);
	end(&r);
}

static json_t *group_of(json_t *groups, const char *path)
{
	json_t *g;
	size_t i;

	json_array_foreach(groups, i,
			   g) if (!strcmp(json_string_value(at(g, "path")), path)) return g;
	fail_msg("no group \"%s\"", path);
	return NULL;
}

static void groups_agree(json_t *part)
{
	json_t *groups = at(part, "groups"), *g, *wait;
	size_t i, k;

	has_all(at(part, "total"), total_names);
	json_array_foreach(groups, i, g)
	{
		json_int_t sum = 0;

		has_all(g, group_names);
		has_all(at(g, "read"), direction_names);
		for (k = 0; wait_names[k]; k++) {
			wait = at(at(g, "wait_ns"), wait_names[k]);
			sum += json_integer_value(wait);
		}
		assert_int_equal(sum, json_integer_value(at(g, "backlogged_ns")));
	}
	assert_int_equal(i, 5);
	g = group_of(groups, "");
	assert_true(json_real_value(at(g, "received")) == 1);
	assert_true(json_real_value(at(g, "entitled")) == 1);
	assert_true(json_is_null(at(g, "floor")));
	assert_true(json_is_null(at(g, "latency_target")));
	g = group_of(groups, "c");
	has_all(at(g, "floor"),
		(const char *const[]){"met", "deficit_device", "deficit_demand", NULL});
	has_all(at(g, "latency_target"), (const char *const[]){"met", "blocker", NULL});
}

static void groups_and_phases(void **state)
{
	struct report r;
	json_t *root, *run, *part, *sum;
	size_t i;
	json_int_t commands = 0;

	(void)state;
	run_all(&r, "weir", 1);
	root = print_json(&r);
	run = json_array_get(at(root, "runs"), 0);
	groups_agree(run);
	json_array_foreach(at(run, "phases"), i, part)
	{
		groups_agree(part);
		commands += json_integer_value(at(at(part, "total"), "device_ios"));
	}
	assert_int_equal(i, 2);
	sum = at(at(run, "total"), "device_ios");
	assert_int_equal(json_integer_value(sum), commands);
	/* 100 a second for one second: it did not ask for its floor of 5000. */
	part = group_of(at(json_array_get(at(run, "phases"), 0), "groups"), "c");
	assert_true(json_is_true(at(part, "demand_limited")));
	assert_int_equal(json_integer_value(at(at(part, "read"), "total_ios")) +
				 json_integer_value(at(at(part, "write"), "total_ios")),
			 200);
	json_decref(root);
	end(&r);
}

static void the_same_seed_the_same_bytes(void **state)
{
	struct report a, b, c;
	char *x, *y, *z;

	(void)state;
	run_all(&a, "weir,noop", 7);
	run_all(&b, "weir,noop", 7);
	run_all(&c, "weir,noop", 8);
	x = print(&a, lab_report_json);
	y = print(&b, lab_report_json);
	z = print(&c, lab_report_json);
	assert_string_equal(x, y);
	assert_string_not_equal(x, z);
	free(x);
	free(y);
	free(z);
	end(&a);
	end(&b);
	end(&c);
}

static unsigned int count(const char *text, const char *what)
{
	unsigned int n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void tables_fit(void **state)
{
	struct report r;
	char *text, *line, *next;

	(void)state;
	run_all(&r, "noop,deadline,tpps,weir:adapt=0", 1);
	text = print(&r, lab_report_table);
	assert_int_equal(count(text, " entitled "), 8); /* four policies, two phases */
	assert_int_equal(count(text, "compared "), 1);
	assert_int_equal(count(text, "unheard_of"), 1);
	assert_int_equal(count(text, "weir:adapt=0 on ssd, phase 2 of 2 (later and 1 more)"), 1);
	assert_int_equal(count(text, "c: floor "), 8);
	assert_int_equal(count(text, "c: p90 above its target of 50.0us in "), 8);
	assert_int_equal(count(text, "fsync/s"), 4);
	assert_int_equal(count(text, "\njob "), 4); /* two jobs in one group */
	for (line = text; *line; line = next) {
		next = strchr(line, '\n');
		assert_non_null(next);
		if (next - line > 100)
			fail_msg("%.*s", (int)(next - line), line);
		/* No blanks at the end of a line. */
		if (next > line && next[-1] == ' ')
			fail_msg("blank at the end: %.*s", (int)(next - line), line);
		next++;
	}
	/* It ends with a sentence. */
	assert_int_equal(text[strlen(text) - 2], '.');
	free(text);
	end(&r);
}

static void one_policy_needs_no_comparison(void **state)
{
	struct report r;
	char *text;

	(void)state;
	run_all(&r, "weir", 1);
	text = print(&r, lab_report_table);
	assert_int_equal(count(text, "compared "), 0);
	assert_int_equal(count(text, " below its entitlement"), 1);
	free(text);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_fio),
		cmocka_unit_test(groups_and_phases),
		cmocka_unit_test(the_same_seed_the_same_bytes),
		cmocka_unit_test(tables_fit),
		cmocka_unit_test(one_policy_needs_no_comparison),
	};

	return cmocka_run_group_tests_name("sim_report", tests, NULL, NULL);
}
