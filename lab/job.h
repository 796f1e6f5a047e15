/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A workload as the lab runs it: what a fio job file says, with every value parsed and checked.
 * Times in nanoseconds, sizes in bytes.
 */
#ifndef LAB_JOB_H
#define LAB_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum lab_rw {
	LAB_RW_READ,
	LAB_RW_WRITE,
	LAB_RW_TRIM,
	LAB_RW_RANDREAD,
	LAB_RW_RANDWRITE,
	LAB_RW_RANDTRIM,
	LAB_RW_RW,     /* sequential, mixed by rwmixread */
	LAB_RW_RANDRW, /* random, mixed */
	LAB_RW_TRIMWRITE,
	LAB_RW_RANDTRIMWRITE,
};

enum lab_dist {
	LAB_DIST_RANDOM,
	LAB_DIST_ZIPF,
	LAB_DIST_PARETO,
	LAB_DIST_NORMAL,
	LAB_DIST_ZONED,
};

enum lab_job_dir {
	LAB_DIR_READ,
	LAB_DIR_WRITE,
	LAB_DIR_TRIM,
	LAB_NR_JOB_DIRS,
};

#define LAB_SPLIT_MAX 64
#define LAB_ZONES_MAX 64
#define LAB_PERCENTILES_MAX 20

struct lab_split { /* one entry of bssplit; percents of a direction sum to 100 */
	uint32_t bytes, percent;
};

struct lab_zone { /* random_distribution=zoned: access percent over span percent of the file */
	uint32_t access_percent, span_percent;
};

struct lab_job {
	char *name;
	char *file; /* of the job file, for messages; with the section's line */
	int line;
	int stonewall_group; /* jobs of one number run together; numbers run one after another */
	int report_group;    /* numjobs clones under group_reporting share one number */

	char *cgroup; /* "a/b", normalised, no leading slash; NULL: the root group */
	int cgroup_line;
	bool has_weight;
	uint32_t cgroup_weight;
	int weight_line;

	char *filename; /* first of filename=, or NULL for a private file NAME.N.0 */
	bool on_device; /* filename is /dev/...: offsets are the device's own */
	bool async;	/* iodepth counts; else one at a time */
	bool direct;
	bool sync_writes; /* sync=sync or dsync (O_SYNC): each write is on the medium before
			     completion */
	bool invalidate;
	enum lab_rw rw;
	bool identical;	   /* rw_sequencer */
	uint32_t rw_every; /* rw=...:N, random: new offset every N I/Os; 0: 1 */
	int64_t rw_hole;   /* rw=...:N, sequential: bytes added after each */
	uint32_t iodepth, iodepth_low, iodepth_batch, iodepth_batch_complete_min;
	uint32_t rwmixread; /* percent */
	uint32_t percentage_random[LAB_NR_JOB_DIRS];
	bool norandommap;

	uint64_t bs_min[LAB_NR_JOB_DIRS], bs_max[LAB_NR_JOB_DIRS];
	uint64_t blockalign[LAB_NR_JOB_DIRS]; /* 0: bs_min */
	bool bs_unaligned;
	struct lab_split split[LAB_NR_JOB_DIRS][LAB_SPLIT_MAX];
	uint32_t nr_splits[LAB_NR_JOB_DIRS];

	uint64_t size, io_size, offset, offset_increment, filesize; /* 0: not given */
	uint32_t size_percent, offset_percent, io_size_percent;	    /* 0: bytes given */
	int size_line;
	uint32_t nrfiles;
	uint64_t number_ios;
	uint32_t loops;
	uint32_t clone; /* 0..numjobs-1 */

	uint64_t runtime_ns, ramp_ns, startdelay_ns, startdelay_max_ns;
	bool time_based;

	uint64_t thinktime_ns, thinktime_spin_ns, thinktime_iotime_ns;
	uint32_t thinktime_blocks;
	uint64_t rate_bps[LAB_NR_JOB_DIRS]; /* 0: not limited */
	uint64_t rate_iops[LAB_NR_JOB_DIRS];
	bool rate_poisson;

	enum lab_dist dist[LAB_NR_JOB_DIRS];
	uint32_t dist_theta_micro[LAB_NR_JOB_DIRS];  /* zipf theta, pareto h, normal deviation %, x
							10^6 */
	uint32_t dist_center_micro[LAB_NR_JOB_DIRS]; /* UINT32_MAX: not given */
	struct lab_zone zone[LAB_NR_JOB_DIRS][LAB_ZONES_MAX];
	uint32_t nr_zones[LAB_NR_JOB_DIRS];
	uint64_t randseed;
	bool randrepeat;
	bool has_randseed;

	uint32_t fsync_every, fdatasync_every; /* writes; 0: never */
	bool end_fsync, fsync_on_close;

	uint8_t prio, prioclass; /* prioclass 0: none */
	bool group_reporting;
	uint32_t percentile_micro[LAB_PERCENTILES_MAX]; /* percent x 10^6 */
	uint32_t nr_percentiles;			/* 0: fio's default list */

	const char
		*cannot_run; /* why the lab can't run it (another engine's device ...), or NULL */
};

/* All jobs of a run, in file order, clones expanded. */
struct lab_jobs {
	struct lab_job **job;
	unsigned int nr;
	/* Options that were read and have no effect here: "file:line: option", each option once. */
	char **ignored;
	unsigned int nr_ignored;
	/* Remarks that change no answer but should be seen: "file:line: text". */
	char **note;
	unsigned int nr_notes;
	struct fio_pool *pool; /* storage of all of the above */
};

struct lab_jobs_options {
	const char *const *sections; /* --section: only these run; NULL: all */
	unsigned int nr_sections;
};

/*
 * Reads job files; each file is a stonewall of its own. On error returns NULL and writes one line
 * "file:line: value: what would be accepted" to err.
 */
struct lab_jobs *lab_jobs_read(const char *const *paths, unsigned int nr_paths,
			       const struct lab_jobs_options *opt, char *err, size_t err_bytes);
/* The same from memory, for tests and fuzzing. name stands for the file in messages. */
struct lab_jobs *lab_jobs_parse(const char *text, size_t bytes, const char *name,
				const struct lab_jobs_options *opt, char *err, size_t err_bytes);
void lab_jobs_free(struct lab_jobs *jobs);

#endif
