// SPDX-License-Identifier: GPL-2.0-only
/* See fio_dump.h. */
#include "tests/fio_dump.h"

#include <inttypes.h>
#include <string.h>

enum kind {
	KIND_U8,
	KIND_U32,
	KIND_U64,
	KIND_I64,
	KIND_BOOL,
	KIND_TEXT,
	KIND_U32_3,
	KIND_U64_3,
};

struct field {
	const char *name;
	size_t at;
	enum kind kind;
};

#define FIELD(f, k)                                \
	{                                          \
#f, offsetof(struct lab_job, f), k \
	}

static const struct field fields[] = {
	FIELD(cgroup, KIND_TEXT),
	FIELD(has_weight, KIND_BOOL),
	FIELD(cgroup_weight, KIND_U32),
	FIELD(filename, KIND_TEXT),
	FIELD(on_device, KIND_BOOL),
	FIELD(async, KIND_BOOL),
	FIELD(direct, KIND_BOOL),
	FIELD(sync_writes, KIND_BOOL),
	FIELD(invalidate, KIND_BOOL),
	FIELD(rw, KIND_U32),
	FIELD(identical, KIND_BOOL),
	FIELD(rw_every, KIND_U32),
	FIELD(rw_hole, KIND_I64),
	FIELD(iodepth, KIND_U32),
	FIELD(iodepth_low, KIND_U32),
	FIELD(iodepth_batch, KIND_U32),
	FIELD(iodepth_batch_complete_min, KIND_U32),
	FIELD(rwmixread, KIND_U32),
	FIELD(percentage_random, KIND_U32_3),
	FIELD(norandommap, KIND_BOOL),
	FIELD(bs_min, KIND_U64_3),
	FIELD(bs_max, KIND_U64_3),
	FIELD(blockalign, KIND_U64_3),
	FIELD(bs_unaligned, KIND_BOOL),
	FIELD(nr_splits, KIND_U32_3),
	FIELD(size, KIND_U64),
	FIELD(io_size, KIND_U64),
	FIELD(offset, KIND_U64),
	FIELD(offset_increment, KIND_U64),
	FIELD(filesize, KIND_U64),
	FIELD(size_percent, KIND_U32),
	FIELD(offset_percent, KIND_U32),
	FIELD(io_size_percent, KIND_U32),
	FIELD(nrfiles, KIND_U32),
	FIELD(number_ios, KIND_U64),
	FIELD(loops, KIND_U32),
	FIELD(clone, KIND_U32),
	FIELD(runtime_ns, KIND_U64),
	FIELD(ramp_ns, KIND_U64),
	FIELD(startdelay_ns, KIND_U64),
	FIELD(startdelay_max_ns, KIND_U64),
	FIELD(time_based, KIND_BOOL),
	FIELD(thinktime_ns, KIND_U64),
	FIELD(thinktime_spin_ns, KIND_U64),
	FIELD(thinktime_iotime_ns, KIND_U64),
	FIELD(thinktime_blocks, KIND_U32),
	FIELD(rate_bps, KIND_U64_3),
	FIELD(rate_iops, KIND_U64_3),
	FIELD(rate_poisson, KIND_BOOL),
	FIELD(dist, KIND_U32_3),
	FIELD(dist_theta_micro, KIND_U32_3),
	FIELD(dist_center_micro, KIND_U32_3),
	FIELD(nr_zones, KIND_U32_3),
	FIELD(randseed, KIND_U64),
	FIELD(randrepeat, KIND_BOOL),
	FIELD(has_randseed, KIND_BOOL),
	FIELD(fsync_every, KIND_U32),
	FIELD(fdatasync_every, KIND_U32),
	FIELD(end_fsync, KIND_BOOL),
	FIELD(fsync_on_close, KIND_BOOL),
	FIELD(prio, KIND_U8),
	FIELD(prioclass, KIND_U8),
	FIELD(group_reporting, KIND_BOOL),
	FIELD(nr_percentiles, KIND_U32),
	FIELD(cannot_run, KIND_TEXT),
};

_Static_assert(sizeof(enum lab_rw) == sizeof(uint32_t) && sizeof(enum lab_dist) == sizeof(uint32_t),
	       "the table takes enumerations for uint32_t");

static void print_value(char *out, size_t bytes, const struct lab_job *job, const struct field *f)
{
	const void *p = (const char *)job + f->at;
	const uint32_t *u32 = p;
	const uint64_t *u64 = p;
	const char *text;

	switch (f->kind) {
	case KIND_U8:
		snprintf(out, bytes, "%u", *(const uint8_t *)p);
		break;
	case KIND_U32:
		snprintf(out, bytes, "%" PRIu32, *u32);
		break;
	case KIND_U64:
		snprintf(out, bytes, "%" PRIu64, *u64);
		break;
	case KIND_I64:
		snprintf(out, bytes, "%" PRId64, *(const int64_t *)p);
		break;
	case KIND_BOOL:
		snprintf(out, bytes, "%d", *(const bool *)p);
		break;
	case KIND_TEXT:
		text = *(const char *const *)p;
		snprintf(out, bytes, "%s", text ? text : "-");
		break;
	case KIND_U32_3:
		snprintf(out, bytes, "%" PRIu32 ",%" PRIu32 ",%" PRIu32, u32[0], u32[1], u32[2]);
		break;
	case KIND_U64_3:
		snprintf(out, bytes, "%" PRIu64 ",%" PRIu64 ",%" PRIu64, u64[0], u64[1], u64[2]);
		break;
	}
}

static void dump_lists(FILE *out, const struct lab_job *job)
{
	unsigned int dir, i;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		for (i = 0; i < job->nr_splits[dir]; i++)
			fprintf(out, "  split[%u] %u/%u\n", dir, job->split[dir][i].bytes,
				job->split[dir][i].percent);
		for (i = 0; i < job->nr_zones[dir]; i++)
			fprintf(out, "  zone[%u] %u/%u\n", dir, job->zone[dir][i].access_percent,
				job->zone[dir][i].span_percent);
	}
	for (i = 0; i < job->nr_percentiles; i++)
		fprintf(out, "  percentile %u\n", job->percentile_micro[i]);
}

void test_dump_jobs(FILE *out, const struct lab_jobs *jobs, const struct lab_job *plain)
{
	char value[300], usual[300];
	unsigned int i, k;

	for (i = 0; i < jobs->nr; i++) {
		const struct lab_job *job = jobs->job[i];

		fprintf(out, "%s:%d [%s] after %d report %d\n", job->file, job->line, job->name,
			job->stonewall_group, job->report_group);
		for (k = 0; k < sizeof(fields) / sizeof(fields[0]); k++) {
			print_value(value, sizeof(value), job, &fields[k]);
			print_value(usual, sizeof(usual), plain, &fields[k]);
			if (strcmp(value, usual) != 0)
				fprintf(out, "  %s %s\n", fields[k].name, value);
		}
		dump_lists(out, job);
	}
	for (i = 0; i < jobs->nr_ignored; i++)
		fprintf(out, "ignored %s\n", jobs->ignored[i]);
	for (i = 0; i < jobs->nr_notes; i++)
		fprintf(out, "note %s\n", jobs->note[i]);
}
