// SPDX-License-Identifier: GPL-2.0-only
/* Job files as a whole: sections, who runs with whom, groups, what is ignored, what is refused. */
#include "lab/fio_option.h"
#include "tests/fio_util.h"

#define S UINT64_C(1000000000)

static void defaults(void **state)
{
	struct lab_jobs *jobs = parse("[alone]\nsize=1m\n");
	const struct lab_job *j = jobs->job[0];
	unsigned int dir;

	(void)state;
	assert_int_equal(jobs->nr, 1);
	assert_int_equal(jobs->nr_ignored, 0);
	assert_int_equal(jobs->nr_notes, 0);
	assert_string_equal(j->name, "alone");
	assert_string_equal(j->file, "t.fio");
	assert_int_equal(j->line, 1);
	assert_int_equal(j->size_line, 2);
	assert_int_equal(j->stonewall_group, 0);
	assert_int_equal(j->report_group, 0);
	assert_null(j->cgroup);
	assert_false(j->has_weight);
	assert_null(j->filename);
	assert_false(j->on_device || j->async || j->direct || j->sync_writes || j->identical);
	assert_true(j->invalidate && j->randrepeat);
	assert_int_equal(j->rw, LAB_RW_READ);
	assert_int_equal(j->iodepth, 1);
	assert_int_equal(j->iodepth_low, 1);
	assert_int_equal(j->iodepth_batch, 1);
	assert_int_equal(j->iodepth_batch_complete_min, 1);
	assert_int_equal(j->rwmixread, 50);
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		assert_int_equal(j->bs_min[dir], 4096);
		assert_int_equal(j->bs_max[dir], 4096);
		assert_int_equal(j->nr_splits[dir], 0);
		assert_int_equal(j->blockalign[dir], 0);
		assert_int_equal(j->percentage_random[dir], 100);
		assert_int_equal(j->dist[dir], LAB_DIST_RANDOM);
		assert_int_equal(j->rate_bps[dir], 0);
	}
	assert_int_equal(j->size, 1 << 20);
	assert_int_equal(j->nrfiles, 1);
	assert_int_equal(j->loops, 1);
	assert_int_equal(j->thinktime_blocks, 1);
	assert_int_equal(j->runtime_ns, 0);
	assert_int_equal(j->nr_percentiles, 0);
	assert_null(j->cannot_run);
	lab_jobs_free(jobs);
}

/* The job file of thread 001. */
static void write_and_fsync(void **state)
{
	struct lab_jobs *jobs = parse("[write-fsync]\ncgroup=test\ncgroup_weight=1000\nrw=write\n"
				      "fsync=1\nsize=100m\nruntime=10s\n");
	const struct lab_job *j = jobs->job[0];

	(void)state;
	assert_string_equal(j->cgroup, "test");
	assert_int_equal(j->cgroup_line, 2);
	assert_true(j->has_weight);
	assert_int_equal(j->cgroup_weight, 1000);
	assert_int_equal(j->weight_line, 3);
	assert_int_equal(j->rw, LAB_RW_WRITE);
	assert_int_equal(j->fsync_every, 1);
	assert_int_equal(j->size, 100 << 20);
	assert_int_equal(j->runtime_ns, 10 * S);
	assert_false(j->direct);
	assert_int_equal(jobs->nr_notes, 0);
	lab_jobs_free(jobs);
}

static void globals(void **state)
{
	struct lab_jobs *jobs = parse("[global]\nsize=1m\nbs=8k\n"
				      "[a]\nbs=16k\n"
				      "[global2]\nbs=32k\niodepth=7\nname=nobody\n"
				      "[b]\n"
				      "[c]\niodepth=9\nname=see\n");

	(void)state;
	assert_int_equal(jobs->nr, 3);
	assert_int_equal(jobs->job[0]->bs_min[0], 16384);
	assert_int_equal(jobs->job[0]->iodepth, 1);
	assert_int_equal(jobs->job[1]->bs_min[0], 32768);
	assert_int_equal(jobs->job[1]->iodepth, 7);
	assert_int_equal(jobs->job[1]->size, 1 << 20);
	assert_string_equal(jobs->job[1]->name, "b");
	assert_int_equal(jobs->job[2]->iodepth, 9);
	assert_string_equal(jobs->job[2]->name, "see");
	lab_jobs_free(jobs);
}

static void text_form(void **state)
{
	/* Comments to the end of the line, blanks anywhere, DOS line ends, later duplicates. */
	struct lab_jobs *jobs = parse("; head\n# head\n\n  [ a b ]  ; name\r\n"
				      "  size\t= 2m # two\r\n\tbs =8k;\n bs= 16k\n"
				      "description=x;size=9\ndirect\n");
	const struct lab_job *j = jobs->job[0];

	(void)state;
	assert_string_equal(j->name, "a b");
	assert_int_equal(j->line, 4);
	assert_int_equal(j->size, 2 << 20);
	assert_int_equal(j->bs_min[0], 16384);
	assert_true(j->direct);
	assert_int_equal(jobs->nr_ignored, 0);
	lab_jobs_free(jobs);
}

static void variables(void **state)
{
	struct lab_jobs *jobs;
	long page = sysconf(_SC_PAGESIZE);

	(void)state;
	setenv("WEIR_TEST_A", "12", 1);
	setenv("WEIR_TEST_B", "k", 1);
	unsetenv("WEIR_TEST_NONE");
	jobs = job_of("bs=${WEIR_TEST_A}${WEIR_TEST_B}\nfilesize=8*$pagesize\nio_size=$pagesize\n"
		      "iodepth=$ncpus\nfilename=/dev/${WEIR_TEST_NONE}sda${oops\n"
		      "number_ios=(${WEIR_TEST_A}*2)");
	assert_int_equal(jobs->job[0]->bs_min[0], 12288);
	assert_int_equal(jobs->job[0]->filesize, 8 * page);
	assert_int_equal(jobs->job[0]->io_size, page);
	assert_int_equal(jobs->job[0]->iodepth, sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(jobs->job[0]->number_ios, 24);
	assert_string_equal(jobs->job[0]->filename, "/dev/sda${oops");
	lab_jobs_free(jobs);
	refused("[a]\nsize=1m\nrw=${WEIR_TEST_NONE}\n",
		"t.fio:3: rw=${WEIR_TEST_NONE}: read, write, trim, randread, randwrite, randtrim, "
		"rw, readwrite, randrw, trimwrite or randtrimwrite is accepted; the variable is "
		"not "
		"set");
}

/* "walls reports clones" of each job. */
static void check_numbers(const char *text, const char *expected)
{
	struct lab_jobs *jobs = parse(text);
	char got[400] = "";
	unsigned int i;

	for (i = 0; i < jobs->nr; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s:%d,%d,%u%s ",
			 jobs->job[i]->name, jobs->job[i]->stonewall_group,
			 jobs->job[i]->report_group, jobs->job[i]->clone,
			 jobs->job[i]->cannot_run ? "!" : "");
	assert_string_equal(got, expected);
	lab_jobs_free(jobs);
}

static void walls_and_reports(void **state)
{
	(void)state;
	check_numbers("[global]\nsize=1m\n[a]\n[b]\n[c]\nstonewall\n[d]\n",
		      "a:0,0,0 b:0,1,0 c:1,2,0 d:1,3,0 ");
	/* A wall before the first job is none; and only the first clone stands behind one. */
	check_numbers("[global]\nsize=1m\nwait_for_previous=1\n[a]\nnumjobs=2\n[b]\nstonewall=0\n",
		      "a:0,0,0 a:0,1,1 b:0,2,0 ");
	/* Checked against fio 3.33. */
	check_numbers("[global]\nsize=1m\ngroup_reporting\n[a]\nnumjobs=2\n[b]\n[c]\nstonewall\n"
		      "numjobs=2\n[d]\nnew_group\n[e]\n[f]\ngroup_reporting=0\n[g]\n",
		      "a:0,0,0 a:0,0,1 b:0,0,0 c:1,1,0 c:1,1,1 d:1,2,0 e:1,2,0 f:1,3,0 g:1,3,0 ");
	check_numbers("[global]\nsize=1m\n[a]\nnew_group\n[b]\ngroup_reporting\nnumjobs=2\n",
		      "a:0,0,0 b:0,0,0 b:0,0,1 ");
}

static void waiting(void **state)
{
	(void)state;
	/* A chain is exact. */
	check_numbers("[global]\nsize=1m\n[w]\nnumjobs=2\n[r]\nwait_for=w\n[w2]\nwait_for=r\n",
		      "w:0,0,0 w:0,1,1 r:1,2,0 w2:2,3,0 ");
	/* Beside others only all of them can be waited for. */
	check_numbers("[global]\nsize=1m\n[a]\n[b]\n[c]\nwait_for=a\n",
		      "a:0,0,0 b:0,1,0 c:1,2,0! ");
	check_numbers("[global]\nsize=1m\n[a]\n[b]\nwait_for=a\n[c]\n",
		      "a:0,0,0 b:1,1,0! c:0,2,0 ");
	/* What is behind a wall has ended anyway. A wall after a chain begins behind all of it. */
	check_numbers("[global]\nsize=1m\n[a]\n[b]\nwait_for=a\n[c]\nstonewall\nwait_for=a\n[d]\n",
		      "a:0,0,0 b:1,1,0 c:2,2,0 d:2,3,0 ");
	refused("[a]\nsize=1m\nwait_for=b\n[b]\nsize=1m\n",
		"t.fio:3: wait_for=b: the name of a job above is accepted");
	refused("[a]\nsize=1m\nwait_for=a\n",
		"t.fio:3: wait_for=a: another job is accepted: this is the job itself");
}

static void cgroups(void **state)
{
	struct lab_jobs *jobs = parse(
		"[global]\nsize=1m\n[a]\ncgroup=/x/y\n[b/c]\ncgroup_weight=7\n"
		"[d]\ncgroup=/\n[e]\ncgroup=x\ncgroup_weight=10000\n[f]\n");

	(void)state;
	assert_string_equal(jobs->job[0]->cgroup, "x/y");
	assert_false(jobs->job[0]->has_weight);
	/* A weight without a group: the job's name is one. */
	assert_string_equal(jobs->job[1]->cgroup, "b/c");
	assert_int_equal(jobs->job[1]->cgroup_weight, 7);
	assert_null(jobs->job[2]->cgroup);
	assert_int_equal(jobs->job[3]->cgroup_weight, 10000);
	assert_null(jobs->job[4]->cgroup);
	/* fio takes 100 to 1000: said once. */
	assert_int_equal(jobs->nr_notes, 1);
	assert_string_equal(jobs->note[0],
			    "t.fio:6: cgroup_weight=7 is fine here; fio takes 100 to 1000");
	lab_jobs_free(jobs);
	refused("[a]\nsize=1m\ncgroup=/\ncgroup_weight=5\n",
		"t.fio:4: cgroup_weight=5: the root group has no weight; it is accepted with "
		"another cgroup");
	refused("[a/../b]\nsize=1m\ncgroup_weight=5\n",
		"t.fio:3: cgroup_weight=5: without cgroup the group has the name of the job, and "
		"a path without . and .. is accepted, such as a/b");
}

static void chosen_sections(void **state)
{
	static const char text[] =
		"[global]\nsize=1m\n[a]\n[b]\nstonewall\nbs=rubbish\n[c]\nstonewall\n";
	static const char *const a_c[] = {"a", "c"}, *const none[] = {"a", "zz"};
	struct lab_jobs_options opt = {a_c, 2};
	struct lab_jobs *jobs;
	char err[300];

	(void)state;
	jobs = lab_jobs_parse(text, strlen(text), "t.fio", &opt, err, sizeof(err));
	assert_non_null(jobs);
	assert_int_equal(jobs->nr, 2);
	assert_string_equal(jobs->job[1]->name, "c");
	assert_int_equal(jobs->job[1]->stonewall_group, 1);
	lab_jobs_free(jobs);
	opt = (struct lab_jobs_options){none, 2};
	assert_null(lab_jobs_parse(text, strlen(text), "t.fio", &opt, err, sizeof(err)));
	assert_string_equal(err, "t.fio: zz: the name of a job section is accepted");
	/* Without a choice the rubbish counts. */
	assert_null(lab_jobs_parse(text, strlen(text), "t.fio", NULL, err, sizeof(err)));
}

static void ignored_options(void **state)
{
	struct lab_jobs *jobs = job_of("verify=md5\nunlink=1\nioscheduler=noop\nfrobnicate=5\n"
				       "iodepht=8\nfrobnicate=6\nunlink\nverify=0\nexitall=0\n"
				       "thread\ndescription=hello");

	(void)state;
	assert_int_equal(jobs->nr_ignored, 5);
	assert_string_equal(jobs->ignored[0], "t.fio:3: verify");
	assert_string_equal(jobs->ignored[1], "t.fio:4: unlink");
	assert_string_equal(jobs->ignored[2], "t.fio:5: ioscheduler");
	assert_string_equal(jobs->ignored[3], "t.fio:6: frobnicate");
	assert_string_equal(jobs->ignored[4], "t.fio:7: iodepht");
	assert_int_equal(jobs->nr_notes, 2);
	assert_string_equal(
		jobs->note[0],
		"t.fio:3: verify has no effect here: nothing is read back and compared");
	assert_string_equal(jobs->note[1],
			    "t.fio:7: iodepht is not an option of fio: is iodepth meant?");
	assert_int_equal(jobs->job[0]->iodepth, 1);
	lab_jobs_free(jobs);
}

static void complaints(void **state)
{
	(void)state;
	refused("[a]\n", "t.fio:1: a: a job needs size=, filesize= or filename=/dev/...");
	refused("[a]\nsize=5%\n", "t.fio:2: size=5%: a job needs size=, filesize= or "
				  "filename=/dev/...");
	refused("[a]\nsize=2k\n",
		"t.fio:2: size=2k: a size of at least one block is accepted: 4096");
	refused("[a]\nsize=1m\nrate=1m\nrate_iops=5\n",
		"t.fio:4: rate_iops=5: rate or rate_iops is accepted, not both for one direction");
	refused("[a]\nsize=1m\nratemin=2m\nrate=1m\n",
		"t.fio:3: ratemin=2m: a minimum up to rate is accepted, which is 1048576");
	refused("[a]\nsize=1m\nnumjobs=16384\n[b]\nsize=1m\n",
		"t.fio:4: b: at most 16384 jobs in all are accepted");
	refused("[global]\nsize=1m\n",
		"t.fio: there is no job in it: a [section] is accepted whose name does not begin "
		"with global");
	refused("",
		"t.fio: there is no job in it: a [section] is accepted whose name does not begin "
		"with global");
	refused("[a]\ninclude x.fio\n", "t.fio:2: include: only a job file can include another");
	/* Bytes of somebody else's file don't reach the terminal. */
	refused("[a]\nsize=\x1b[2J\xff\n",
		"t.fio:2: size=\\x1b[2J\\xff: a size is accepted, such as "
		"4096, 64k or 1g, or 1% to 100%");
}

/* A message never runs over the room for it. */
static void short_room(void **state)
{
	char err[16];

	(void)state;
	memset(err, 'x', sizeof(err));
	assert_null(lab_jobs_parse("[a]\nbs=0\n", 9, "t.fio", NULL, err, 8));
	assert_string_equal(err, "t.fio:2");
	assert_int_equal(err[8], 'x');
	assert_null(lab_jobs_parse("[a]\nbs=0\n", 9, "t.fio", NULL, NULL, 0));
}

/* The table: unique names, sane ranges, and each option refuses rubbish. */
static void table(void **state)
{
	unsigned int i, k;
	char text[200], err[300];
	struct lab_jobs *jobs;

	(void)state;
	for (i = 0; i < fio_nr_options; i++) {
		const struct fio_option *o = &fio_options[i];

		assert_true(o->help && *o->help);
		assert_true(o->min <= o->max);
		assert_int_equal(fio_option_find(o->name), i);
		if (o->alias)
			assert_int_equal(fio_option_find(o->alias), i);
		for (k = 0; k < i; k++)
			assert_string_not_equal(o->name, fio_options[k].name);
		if (o->type == FIO_TEXT || o->type >= FIO_PLAIN || o->set == fio_set_name ||
		    o->set == fio_set_filename || o->set == fio_set_engine ||
		    o->set == fio_set_cgroup)
			continue;
		snprintf(text, sizeof(text), "[a]\nsize=1g\n%s=~\n", o->name);
		jobs = lab_jobs_parse(text, strlen(text), "t.fio", NULL, err, sizeof(err));
		if (jobs)
			fail_msg("%s=~ was accepted", o->name);
		if (strncmp(err, "t.fio:3: ", 9) != 0 || !strstr(err, "accepted"))
			fail_msg("%s", err);
	}
	assert_int_equal(fio_option_find("no_such_option"), -1);
	assert_null(fio_option_near("no_such_option"));
	assert_string_equal(fio_option_near("iodept"), "iodepth");
	assert_string_equal(fio_option_near("group_reproting"), "group_reporting");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),	   cmocka_unit_test(write_and_fsync),
		cmocka_unit_test(globals),	   cmocka_unit_test(text_form),
		cmocka_unit_test(variables),	   cmocka_unit_test(walls_and_reports),
		cmocka_unit_test(waiting),	   cmocka_unit_test(cgroups),
		cmocka_unit_test(chosen_sections), cmocka_unit_test(ignored_options),
		cmocka_unit_test(complaints),	   cmocka_unit_test(short_room),
		cmocka_unit_test(table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
