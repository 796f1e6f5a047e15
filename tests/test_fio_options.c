// SPDX-License-Identifier: GPL-2.0-only
/* What options of a job file mean. */
#include "tests/fio_util.h"

#define S UINT64_C(1000000000)

static void block_sizes(void **state)
{
	static const struct {
		const char *lines;
		uint64_t min[3], max[3];
	} rows[] = {
		{"bs=8k", {8192, 8192, 8192}, {8192, 8192, 8192}},
		{"bs=8k,32k", {8192, 32768, 32768}, {8192, 32768, 32768}},
		{"bs=,8k", {4096, 8192, 8192}, {4096, 8192, 8192}},
		{"bs=,8k,", {4096, 8192, 4096}, {4096, 8192, 4096}},
		{"bs=8k,", {8192, 4096, 4096}, {8192, 4096, 4096}},
		{"bs=8k,,16k", {8192, 4096, 16384}, {8192, 4096, 16384}},
		{"blocksize=1k\nbs=,2k", {1024, 2048, 2048}, {1024, 2048, 2048}},
		{"bsrange=4k-8k", {4096, 4096, 4096}, {8192, 8192, 8192}},
		{"bsrange=8k:4k", {4096, 4096, 4096}, {8192, 8192, 8192}},
		{"bsrange=4k-8k,1k-2k", {4096, 1024, 1024}, {8192, 2048, 2048}},
		{"bsrange=4k-8k/1k-2k", {4096, 1024, 1024}, {8192, 2048, 2048}},
		/* fio: a range beats bs, and a split beats both, in whatever order. */
		{"bsrange=4k-8k\nbs=64k", {4096, 4096, 4096}, {8192, 8192, 8192}},
		{"bssplit=1k/50:64k/50\nbs=4k\nbsrange=4k-8k",
		 {1024, 1024, 1024},
		 {65536, 65536, 65536}},
		{"bssplit=,64k/100", {4096, 65536, 65536}, {4096, 65536, 65536}},
	};
	struct lab_jobs *jobs;
	unsigned int dir;
	size_t i;

	(void)state;
	for (i = 0; i < ROWS(rows); i++) {
		jobs = job_of(rows[i].lines);
		for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++)
			if (jobs->job[0]->bs_min[dir] != rows[i].min[dir] ||
			    jobs->job[0]->bs_max[dir] != rows[i].max[dir])
				fail_msg("%s, direction %u: %llu-%llu", rows[i].lines, dir,
					 (unsigned long long)jobs->job[0]->bs_min[dir],
					 (unsigned long long)jobs->job[0]->bs_max[dir]);
		lab_jobs_free(jobs);
	}
}

static void check_split(const char *value, unsigned int dir, const char *expected)
{
	char line[300], got[300] = "";
	struct lab_jobs *jobs;
	uint32_t i, sum = 0;

	snprintf(line, sizeof(line), "bssplit=%s", value);
	jobs = job_of(line);
	for (i = 0; i < jobs->job[0]->nr_splits[dir]; i++) {
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u/%u ",
			 jobs->job[0]->split[dir][i].bytes, jobs->job[0]->split[dir][i].percent);
		sum += jobs->job[0]->split[dir][i].percent;
	}
	assert_string_equal(got, expected);
	assert_int_equal(sum, *expected ? 100 : 0);
	lab_jobs_free(jobs);
}

static void splits(void **state)
{
	(void)state;
	check_split("4k/60:64k/40", LAB_DIR_READ, "4096/60 65536/40 ");
	check_split("4k/60:64k/40", LAB_DIR_TRIM, "4096/60 65536/40 ");
	check_split("4k/60:64k/", LAB_DIR_READ, "4096/60 65536/40 ");
	check_split("4k:64k", LAB_DIR_READ, "4096/50 65536/50 ");
	check_split("1k/10:2k/:4k:8k/", LAB_DIR_WRITE, "1024/10 2048/30 4096/30 8192/30 ");
	check_split("1k:2k:4k", LAB_DIR_READ, "1024/33 2048/33 4096/34 ");
	check_split("1k/100,2k/100", LAB_DIR_READ, "1024/100 ");
	check_split("1k/100,2k/100", LAB_DIR_TRIM, "2048/100 ");
	check_split(",2k/100", LAB_DIR_READ, "");
	check_split(",2k/100,", LAB_DIR_TRIM, "");
	check_split("512/10:1k/5:2k/5:4k/60:8k/2:16k/4:32k/4:64k/10", LAB_DIR_READ,
		    "512/10 1024/5 2048/5 4096/60 8192/2 16384/4 32768/4 65536/10 ");
}

static void directions(void **state)
{
	static const struct {
		const char *value;
		enum lab_rw rw;
		uint32_t every;
		int64_t hole;
	} rows[] = {
		{"read", LAB_RW_READ, 0, 0},
		{"write", LAB_RW_WRITE, 0, 0},
		{"trim", LAB_RW_TRIM, 0, 0},
		{"randread", LAB_RW_RANDREAD, 0, 0},
		{"randwrite", LAB_RW_RANDWRITE, 0, 0},
		{"randtrim", LAB_RW_RANDTRIM, 0, 0},
		{"rw", LAB_RW_RW, 0, 0},
		{"readwrite", LAB_RW_RW, 0, 0},
		{"randrw", LAB_RW_RANDRW, 0, 0},
		{"trimwrite", LAB_RW_TRIMWRITE, 0, 0},
		{"randtrimwrite", LAB_RW_RANDTRIMWRITE, 0, 0},
		{"randread:8", LAB_RW_RANDREAD, 8, 0},
		{"read:4k", LAB_RW_READ, 0, 4096},
		{"read:-8k", LAB_RW_READ, 0, -8192},
	};
	char line[64];
	struct lab_jobs *jobs;
	size_t i;

	(void)state;
	for (i = 0; i < ROWS(rows); i++) {
		snprintf(line, sizeof(line), "readwrite=%s", rows[i].value);
		jobs = job_of(line);
		assert_int_equal(jobs->job[0]->rw, rows[i].rw);
		assert_int_equal(jobs->job[0]->rw_every, rows[i].every);
		assert_true(jobs->job[0]->rw_hole == rows[i].hole);
		lab_jobs_free(jobs);
	}
	/* A suffix goes with its direction. */
	jobs = job_of("rw=randread:8\nrw=write");
	assert_int_equal(jobs->job[0]->rw_every, 0);
	lab_jobs_free(jobs);
}

static void distributions(void **state)
{
	struct lab_jobs *jobs = job_of("random_distribution=zipf:1.2:0.25");
	const struct lab_job *j = jobs->job[0];

	(void)state;
	assert_int_equal(j->dist[LAB_DIR_WRITE], LAB_DIST_ZIPF);
	assert_int_equal(j->dist_theta_micro[LAB_DIR_WRITE], 1200000);
	assert_int_equal(j->dist_center_micro[LAB_DIR_WRITE], 250000);
	lab_jobs_free(jobs);

	jobs = job_of("random_distribution=zipf");
	assert_int_equal(jobs->job[0]->dist_theta_micro[0], 1100000);
	assert_int_equal(jobs->job[0]->dist_center_micro[0], UINT32_MAX);
	lab_jobs_free(jobs);

	jobs = job_of("random_distribution=pareto");
	assert_int_equal(jobs->job[0]->dist[0], LAB_DIST_PARETO);
	assert_int_equal(jobs->job[0]->dist_theta_micro[0], 200000);
	lab_jobs_free(jobs);

	jobs = job_of("random_distribution=normal:12.5");
	assert_int_equal(jobs->job[0]->dist[0], LAB_DIST_NORMAL);
	assert_int_equal(jobs->job[0]->dist_theta_micro[0], 12500000);
	lab_jobs_free(jobs);

	jobs = job_of("random_distribution=zoned:50/5:30/15:20/,100/40");
	j = jobs->job[0];
	assert_int_equal(j->dist[LAB_DIR_READ], LAB_DIST_ZONED);
	assert_int_equal(j->nr_zones[LAB_DIR_READ], 3);
	assert_int_equal(j->zone[LAB_DIR_READ][1].access_percent, 30);
	assert_int_equal(j->zone[LAB_DIR_READ][1].span_percent, 15);
	assert_int_equal(j->zone[LAB_DIR_READ][2].span_percent, 80);
	assert_int_equal(j->nr_zones[LAB_DIR_TRIM], 1);
	assert_int_equal(j->zone[LAB_DIR_TRIM][0].span_percent, 40);
	lab_jobs_free(jobs);

	jobs = job_of("random_distribution=zoned_abs:50/1g:50/1g");
	assert_non_null(strstr(jobs->job[0]->cannot_run, "zoned_abs"));
	lab_jobs_free(jobs);
}

static void rates_and_pauses(void **state)
{
	struct lab_jobs *jobs = parse("[global]\nsize=1m\nrate=1m\n[a]\nrate=,500k\n"
				      "[b]\nrate=0\nrate_iops=50,70\nrate_process=poisson\n"
				      "thinktime=20ms\nthinktime_spin=1s\nthinktime_blocks=3\n"
				      "thinktime_iotime=2\n");
	const struct lab_job *a = jobs->job[0], *b = jobs->job[1];

	(void)state;
	/* An empty field leaves what was there. */
	assert_int_equal(a->rate_bps[LAB_DIR_READ], 1 << 20);
	assert_int_equal(a->rate_bps[LAB_DIR_WRITE], 500 << 10);
	assert_int_equal(a->rate_bps[LAB_DIR_TRIM], 500 << 10);
	assert_int_equal(b->rate_bps[LAB_DIR_READ], 0);
	assert_int_equal(b->rate_iops[LAB_DIR_READ], 50);
	assert_int_equal(b->rate_iops[LAB_DIR_TRIM], 70);
	assert_true(b->rate_poisson);
	assert_int_equal(b->thinktime_ns, 20000000);
	assert_int_equal(b->thinktime_spin_ns, 20000000); /* not more than the pause */
	assert_int_equal(b->thinktime_blocks, 3);
	assert_int_equal(b->thinktime_iotime_ns, 2 * S);
	lab_jobs_free(jobs);
}

static void area_and_time(void **state)
{
	struct lab_jobs *jobs = job_of("size=50%\nfilename=/dev/sda\noffset=25%\nio_limit=10%\n"
				       "timeout=1m\ntime_based\nramp_time=500ms\nstartdelay=4-1\n"
				       "number_ios=1k\nloops=0\noffset_increment=4m");
	const struct lab_job *j = jobs->job[0];

	(void)state;
	assert_true(j->on_device);
	assert_int_equal(j->size, 0);
	assert_int_equal(j->size_percent, 50);
	assert_int_equal(j->offset_percent, 25);
	assert_int_equal(j->io_size_percent, 10);
	assert_int_equal(j->runtime_ns, 60 * S);
	assert_true(j->time_based);
	assert_int_equal(j->ramp_ns, S / 2);
	assert_int_equal(j->startdelay_ns, S);
	assert_int_equal(j->startdelay_max_ns, 4 * S);
	assert_int_equal(j->number_ios, 1024);
	assert_int_equal(j->loops, 1);
	assert_int_equal(j->offset_increment, 4 << 20);
	lab_jobs_free(jobs);

	jobs = job_of("startdelay=3\ntime_based");
	assert_int_equal(jobs->job[0]->startdelay_max_ns, 3 * S);
	assert_false(jobs->job[0]->time_based);
	assert_int_equal(jobs->nr_notes, 1);
	assert_string_equal(jobs->note[0], "t.fio:4: time_based without runtime has no effect");
	lab_jobs_free(jobs);

	/* Percent and bytes replace each other. */
	jobs = job_of("size=50%\nsize=2m");
	assert_int_equal(jobs->job[0]->size, 2 << 20);
	assert_int_equal(jobs->job[0]->size_percent, 0);
	lab_jobs_free(jobs);
}

static void files(void **state)
{
	struct lab_jobs *jobs = job_of("filename=a\\:b:c:d");

	(void)state;
	assert_string_equal(jobs->job[0]->filename, "a:b");
	assert_int_equal(jobs->job[0]->nrfiles, 3);
	assert_false(jobs->job[0]->on_device);
	lab_jobs_free(jobs);
	jobs = job_of("filename=a:b:c\nnrfiles=2");
	assert_int_equal(jobs->job[0]->nrfiles, 2);
	lab_jobs_free(jobs);
	jobs = job_of("filename=a\nnr_files=5");
	assert_int_equal(jobs->job[0]->nrfiles, 1);
	lab_jobs_free(jobs);
	jobs = job_of("nrfiles=5");
	assert_int_equal(jobs->job[0]->nrfiles, 5);
	lab_jobs_free(jobs);
	jobs = job_of("filename=/dev/shm/x");
	assert_false(jobs->job[0]->on_device);
	lab_jobs_free(jobs);
	jobs = job_of("filesize=1m-3m");
	assert_int_equal(jobs->job[0]->filesize, 3 << 20);
	assert_int_equal(jobs->nr_notes, 1);
	lab_jobs_free(jobs);
}

/* Each of these was understood and can't be run; the reason names the option. */
static void cannot_run(void **state)
{
	static const struct {
		const char *lines, *reason;
	} rows[] = {
		{"ioengine=cpuio", "ioengine=cpuio"},
		{"ioengine=null", "ioengine=null"},
		{"ioengine=net", "ioengine=net"},
		{"ioengine=rbd", "ioengine=rbd"},
		{"ioengine=splice", "ioengine=splice"},
		{"ioengine=external:/tmp/x.o", "ioengine=external"},
		{"ioengine=./whatever.so", "engine that the lab doesn't know"},
		{"read_iolog=foo.log", "read_iolog"},
		{"zonemode=zbd", "zonemode=zbd"},
		{"zonemode=strided", "zonemode=strided"},
		{"create_only=1", "create_only"},
		{"size=10z", "zones"},
		{"filename=/dev/a:/dev/b", "one device"},
		{"direct=1\nbs=1000", "512"},
		{"direct=1\nbssplit=4k/50:700/50", "512"},
		{"direct=1\noffset=100", "512"},
		{"size=0\nfilename=/tmp/x", "size="},
		{"size=0\nfill_device=1", "fill_device"},
		{"offset_increment=5%", "offset_increment"},
		{"random_distribution=sequence:1", "sequence"},
	};
	static const char *const runs[] = {
		"ioengine=sync",
		"ioengine=psync",
		"ioengine=mmap",
		"zonemode=none",
		"create_only=0",
		"bs=1000",
		"ioengine=cpuio\nioengine=libaio",
		"direct=1\nbs=512",
		"size=0\nfilesize=1m",
		"size=0\nfilename=/dev/sda",
		"fill_device=1\nfilename=/dev/sda\nsize=0",
	};
	struct lab_jobs *jobs;
	size_t i;

	(void)state;
	for (i = 0; i < ROWS(rows); i++) {
		jobs = job_of(rows[i].lines);
		if (!jobs->job[0]->cannot_run || !strstr(jobs->job[0]->cannot_run, rows[i].reason))
			fail_msg("%s: %s", rows[i].lines, jobs->job[0]->cannot_run);
		lab_jobs_free(jobs);
	}
	for (i = 0; i < ROWS(runs); i++) {
		jobs = job_of(runs[i]);
		if (jobs->job[0]->cannot_run)
			fail_msg("%s: %s", runs[i], jobs->job[0]->cannot_run);
		lab_jobs_free(jobs);
	}
}

static void depth(void **state)
{
	static const struct {
		const char *lines;
		bool async;
		uint32_t depth, low, batch, complete;
	} rows[] = {
		{"iodepth=32", false, 32, 32, 1, 1},
		{"ioengine=libaio\niodepth=32", true, 32, 32, 1, 1},
		{"ioengine=io_uring\niodepth=32\niodepth_low=8", true, 32, 8, 1, 1},
		{"ioengine=posixaio\niodepth=4\niodepth_low=8", true, 4, 4, 1, 1},
		{"ioengine=libaio\niodepth=4\niodepth_batch=0", true, 4, 4, 4, 1},
		{"ioengine=libaio\niodepth=4\niodepth_batch_submit=3\niodepth_batch_complete=9",
		 true, 4, 4, 3, 4},
		{"ioengine=libaio\niodepth=4\niodepth_batch_complete_min=0", true, 4, 4, 1, 0},
		{"ioengine=libaio\nioengine=sync", false, 1, 1, 1, 1},
	};
	struct lab_jobs *jobs;
	const struct lab_job *j;
	size_t i;

	(void)state;
	for (i = 0; i < ROWS(rows); i++) {
		jobs = job_of(rows[i].lines);
		j = jobs->job[0];
		assert_int_equal(j->async, rows[i].async);
		assert_int_equal(j->iodepth, rows[i].depth);
		assert_int_equal(j->iodepth_low, rows[i].low);
		assert_int_equal(j->iodepth_batch, rows[i].batch);
		assert_int_equal(j->iodepth_batch_complete_min, rows[i].complete);
		lab_jobs_free(jobs);
	}
}

static void small_options(void **state)
{
	struct lab_jobs *jobs = job_of(
		"buffered=0\nsync=dsync\nfdatasync=7\nend_fsync=1\n"
		"fsync_on_close=1\ninvalidate=0\nrwmixread=30\nrwmixwrite=20\n"
		"percentage_random=50,20\nnorandommap\nrandseed=0x10\n"
		"randrepeat=0\nrw_sequencer=identical\nbs_unaligned\nprio=3\n"
		"percentile_list=99.9:50:99\nrandom_generator=lfsr\n");
	const struct lab_job *j = jobs->job[0];

	(void)state;
	assert_true(j->direct && j->sync_writes && j->end_fsync && j->fsync_on_close);
	assert_false(j->invalidate || j->randrepeat);
	assert_int_equal(j->fdatasync_every, 7);
	assert_int_equal(j->rwmixread, 80); /* the later of the two */
	assert_int_equal(j->percentage_random[LAB_DIR_READ], 50);
	assert_int_equal(j->percentage_random[LAB_DIR_TRIM], 20);
	assert_true(j->norandommap && j->has_randseed && j->identical && j->bs_unaligned);
	assert_int_equal(j->randseed, 16);
	assert_int_equal(j->prio, 3);
	assert_int_equal(j->prioclass, 2);
	assert_int_equal(j->nr_percentiles, 3);
	assert_int_equal(j->percentile_micro[0], 50000000);
	assert_int_equal(j->percentile_micro[2], 99900000);
	lab_jobs_free(jobs);

	jobs = job_of("blockalign=2k\nsync=0\ndirect=1\nbuffered=1\nprioclass=3");
	j = jobs->job[0];
	assert_int_equal(j->blockalign[LAB_DIR_TRIM], 2048);
	assert_true(j->norandommap); /* as in fio, with blockalign */
	assert_false(j->sync_writes || j->direct);
	assert_int_equal(j->prioclass, 3);
	lab_jobs_free(jobs);

	/* kb_base counts for the whole section, and goes from [global] to its jobs. */
	jobs = parse("[global]\nsize=1m\nkb_base=1000\n[a]\nbs=1k\n[b]\nbs=1k\nkb_base=1024\n");
	assert_int_equal(jobs->job[0]->size, 1000000);
	assert_int_equal(jobs->job[0]->bs_min[0], 1000);
	assert_int_equal(jobs->job[1]->size, 1000000);
	assert_int_equal(jobs->job[1]->bs_min[0], 1024);
	lab_jobs_free(jobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(block_sizes),
		cmocka_unit_test(splits),
		cmocka_unit_test(directions),
		cmocka_unit_test(distributions),
		cmocka_unit_test(rates_and_pauses),
		cmocka_unit_test(area_and_time),
		cmocka_unit_test(files),
		cmocka_unit_test(cannot_run),
		cmocka_unit_test(depth),
		cmocka_unit_test(small_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
