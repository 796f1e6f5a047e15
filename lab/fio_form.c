// SPDX-License-Identifier: GPL-2.0-only
/*
 * The form of options that have no effect in the lab. fio refuses a job file in which one of them
 * has a value that it can't have, so it is refused here; the value itself is not kept.
 *
 * Only what every version of fio agrees on is checked. Texts may be anything but nothing.
 */
#include <inttypes.h>
#include <string.h>

#include "lab/fio_option.h"

/* 0, 1, or alone. */
static const char booleans[] =
	" allow_file_create allow_mounted_write allrandrepeat atomic block_error_percentiles"
	" cgroup_nodelete clat_percentiles create_fsync create_on_open create_serialize"
	" dedupe_global disable_bw disable_bw_measurement disable_clat disable_lat disable_slat"
	" disk_util do_verify error_dump exitall exitall_on_error experimental_verify file_append"
	" gtod_reduce ignore_zone_limits lat_percentiles latency_run log_alternate_epoch "
	"log_max_value"
	" log_prio log_store_compressed log_unix_epoch overwrite per_job_logs pre_read"
	" rate_ignore_thinktime read_beyond_wp read_iolog_chunked refill_buffers replay_no_stall"
	" scramble_buffers serialize_overlap slat_percentiles stats thread threads trim_verify_zero"
	" unique_filename unlink unlink_each_loop verify_dump verify_fatal verify_state_load"
	" verify_state_save zero_buffers ";

static const struct {
	const char *name;
	uint64_t min, max;
} numbers[] = {
	{"buffer_compress_chunk", 0, FIO_SIZE_MAX},
	{"buffer_compress_percentage", 0, 100},
	{"bwavgtime", 0, FIO_SIZE_MAX},
	{"cpumask", 0, FIO_SIZE_MAX},
	{"dedupe_percentage", 0, 100},
	{"dedupe_working_set_percentage", 0, 100},
	{"flow", 0, 1000},
	{"flow_id", 0, FIO_SIZE_MAX},
	{"flow_sleep", 0, FIO_SIZE_MAX},
	{"gid", 0, FIO_SIZE_MAX},
	{"gtod_cpu", 0, FIO_SIZE_MAX},
	{"hugepage-size", 0, FIO_SIZE_MAX},
	{"iodepth_batch_complete_max", 0, FIO_SIZE_MAX},
	{"iomem_align", 0, FIO_SIZE_MAX},
	{"iopsavgtime", 0, FIO_SIZE_MAX},
	{"job_max_open_zones", 0, 4096},
	{"log_avg_msec", 0, FIO_SIZE_MAX},
	{"log_compression", 1024, 512 << 20},
	{"log_entries", 1024, 1 << 20},
	{"log_hist_coarseness", 0, FIO_SIZE_MAX},
	{"log_hist_msec", 0, FIO_SIZE_MAX},
	{"max_open_zones", 0, 4096},
	{"mem_align", 0, FIO_SIZE_MAX},
	{"offset_align", 0, FIO_SIZE_MAX},
	{"openfiles", 0, FIO_SIZE_MAX},
	{"rate_cycle", 0, FIO_SIZE_MAX},
	{"ratecycle", 0, FIO_SIZE_MAX},
	{"replay_align", 0, FIO_SIZE_MAX},
	{"replay_scale", 0, FIO_SIZE_MAX},
	{"replay_time_scale", 1, FIO_SIZE_MAX},
	{"significant_figures", 1, 10},
	{"trim_backlog_batch", 0, FIO_SIZE_MAX},
	{"trim_percentage", 0, 100},
	{"uid", 0, FIO_SIZE_MAX},
	{"verify_async", 0, FIO_SIZE_MAX},
	{"verify_backlog_batch", 0, FIO_SIZE_MAX},
	{"write_barrier", 0, FIO_SIZE_MAX},
};

/* One of some words; what stands behind a colon is the word's own. */
static const struct {
	const char *name, *words;
} choices[] = {
	{"clocksource", "gettimeofday, clock_gettime, cpu"},
	{"continue_on_error", "none, read, write, io, verify, all, 0, 1"},
	{"cpus_allowed_policy", "shared, split"},
	{"dedupe_mode", "repeat, working_set"},
	{"exit_what", "group, stonewall, all"},
	{"fadvise_hint", "0, 1, random, sequential, noreuse"},
	{"fallocate", "none, native, posix, keep, truncate, 0, 1"},
	{"file_service_type", "random, zipf, pareto, normal, gauss, roundrobin, sequential"},
	{"io_submit_mode", "inline, offload"},
	{"lockfile", "none, exclusive, readwrite"},
	{"thinktime_blocks_type", "complete, issue"},
	{"unified_rw_reporting", "none, mixed, both, 0, 1, 2"},
	{"unit_base", "0, 1, 8"},
	{"write_hint", "none, short, medium, long, extreme"},
};

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* Is the word in a list whose words stand between the separators? */
static bool is_listed(const char *list, const char *separators, const char *word, size_t bytes)
{
	size_t length;

	for (; *list; list += length) {
		list += strspn(list, separators);
		length = strcspn(list, separators);
		if (length == bytes && length && !memcmp(list, word, bytes))
			return true;
	}
	return false;
}

static int check_boolean(struct fio_parser *p)
{
	uint64_t number;

	if (!p->at->value || (fio_number(p->at->value, false, &number) && number <= 1))
		return 0;
	return fio_expected(p, "0 or 1 is accepted");
}

static int check_number(struct fio_parser *p, const struct fio_job *j, uint64_t min, uint64_t max)
{
	int64_t number;

	/* fio makes very large ones of negative ones, and takes them. */
	if (p->at->value && fio_signed_number(p->at->value, j->kb_1000, &number) &&
	    (number < 0 || ((uint64_t)number >= min && (uint64_t)number <= max)))
		return 0;
	if (max == FIO_SIZE_MAX)
		return fio_expected(p, "a whole number is accepted");
	return fio_expected(p, "a whole number from %" PRIu64 " to %" PRIu64 " is accepted", min,
			    max);
}

static int check_choice(struct fio_parser *p, const char *words)
{
	const char *value = p->at->value;

	if (value && is_listed(words, ", ", value, strcspn(value, ":")))
		return 0;
	return fio_expected(p, "one of %s is accepted", words);
}

int fio_check_form(struct fio_parser *p, const struct fio_job *j)
{
	const char *name = p->at->name;
	size_t i;

	if (is_listed(booleans, " ", name, strlen(name)))
		return check_boolean(p);
	for (i = 0; i < NR(numbers); i++)
		if (!strcmp(numbers[i].name, name))
			return check_number(p, j, numbers[i].min, numbers[i].max);
	for (i = 0; i < NR(choices); i++)
		if (!strcmp(choices[i].name, name))
			return check_choice(p, choices[i].words);
	return 0;
}
