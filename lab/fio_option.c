// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of options. weir-job(5) describes those that have an effect, in this order; a test
 * holds the two together.
 */
#include "lab/fio_option.h"

#include <stddef.h>

/* An offset that doesn't compile unless the field has the type which the entry stores. */
#define FIELD(f, T)                                                                            \
	(offsetof(struct fio_job, f) +                                                         \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((struct fio_job *)0)->f), T) \
				 ? 1                                                           \
				 : -1]))

#define U8(f, lo, hi) .type = FIO_U8, .at = FIELD(f, uint8_t), .min = (lo), .max = (hi)
#define U32(f, lo, hi) .type = FIO_U32, .at = FIELD(f, uint32_t), .min = (lo), .max = (hi)
#define U64(f) .type = FIO_U64, .at = FIELD(f, uint64_t), .max = FIO_SIZE_MAX
#define SIZE_PERCENT(f, percent)                                                             \
	.type = FIO_SIZE_PERCENT, .at = FIELD(f, uint64_t), .at2 = FIELD(percent, uint32_t), \
	.max = FIO_SIZE_MAX
#define SIZE_3(f, lo, hi) \
	.type = FIO_SIZE_3, .at = FIELD(f, uint64_t[LAB_NR_JOB_DIRS]), .min = (lo), .max = (hi)
#define COUNT_3(f) \
	.type = FIO_COUNT_3, .at = FIELD(f, uint64_t[LAB_NR_JOB_DIRS]), .max = FIO_SIZE_MAX
#define PERCENT_3(f) .type = FIO_PERCENT_3, .at = FIELD(f, uint32_t[LAB_NR_JOB_DIRS]), .max = 100
#define TIME_S(f) .type = FIO_TIME_S, .at = FIELD(f, uint64_t)
#define TIME_US(f) .type = FIO_TIME_US, .at = FIELD(f, uint64_t)
#define BOOL(f) .type = FIO_BOOL, .at = FIELD(f, bool)
#define NOT(f) .type = FIO_NOT, .at = FIELD(f, bool)
#define WORD(f, list) .type = FIO_WORD_BOOL, .at = FIELD(f, bool), .words = (list)
#define TEXT(f) .type = FIO_TEXT, .at = FIELD(f, char *)
#define CUSTOM(fn) .type = FIO_CUSTOM, .set = (fn)
#define PLAIN .type = FIO_PLAIN
#define NOTHING(name, help)                                             \
	{                                                               \
		name, NULL, FIO_NO_EFFECT, 0, 0, 0, 0, NULL, NULL, help \
	}
#define NOTED(name, help)                                           \
	{                                                           \
		name, NULL, FIO_NOTED, 0, 0, 0, 0, NULL, NULL, help \
	}
#define CANNOT(name, help)                                           \
	{                                                            \
		name, NULL, FIO_CANNOT, 0, 0, 0, 0, NULL, NULL, help \
	}

static const struct fio_word sequencer_words[] = {{"sequential", 0}, {"identical", 1}, {NULL, 0}};
static const struct fio_word process_words[] = {{"linear", 0}, {"poisson", 1}, {NULL, 0}};
static const struct fio_word base_words[] = {{"1024", 0}, {"1000", 1}, {NULL, 0}};
static const struct fio_word sync_words[] = {{"none", 0}, {"sync", 1}, {"dsync", 1},
					     {"0", 0},	  {"1", 1},    {NULL, 0}};
static const struct fio_word generator_words[] = {
	{"tausworthe", 0}, {"lfsr", 0}, {"tausworthe64", 0}, {NULL, 0}};

/* clang-format off */
const struct fio_option fio_options[] = {
	/* Who, and how often. */
	{"name", CUSTOM(fio_set_name), .help = "name of the job, instead of its section's"},
	{"description", PLAIN, .help = "text for the reader"},
	{"numjobs", U32(numjobs, 1, FIO_JOBS_MAX), .help = "copies of the job that run at once"},
	{"thread", "threads", PLAIN, .help = "threads instead of processes"},
	{"group_reporting", BOOL(job.group_reporting), .help = "one report for a group of jobs"},
	{"new_group", BOOL(new_group), .help = "begins a group of jobs for reports"},
	{"stonewall", "wait_for_previous", BOOL(stonewall),
	 .help = "starts when all jobs above have ended"},
	{"wait_for", TEXT(wait_for), .help = "starts when the named job above has ended"},

	/* Control groups. */
	{"cgroup", CUSTOM(fio_set_cgroup), .help = "group that the I/O belongs to: a path"},
	{"cgroup_weight", CUSTOM(fio_set_cgroup_weight),
	 .help = "weight of that group, 1 to 10000"},

	/* Where. */
	{"filename", CUSTOM(fio_set_filename),
	 .help = "files, separated by :; or a device below /dev"},
	{"nrfiles", "nr_files", U32(job.nrfiles, 1, 1 << 20), .help = "files of the job's own"},
	{"size", SIZE_PERCENT(job.size, job.size_percent),
	 .help = "bytes to cover, over all files"},
	{"filesize", CUSTOM(fio_set_filesize), .help = "bytes of each file"},
	{"io_size", "io_limit", SIZE_PERCENT(job.io_size, job.io_size_percent),
	 .help = "bytes to move"},
	{"offset", "fileoffset", SIZE_PERCENT(job.offset, job.offset_percent),
	 .help = "where the job's part begins"},
	{"offset_increment", CUSTOM(fio_set_offset_increment),
	 .help = "added to offset for each clone"},
	{"number_ios", U64(job.number_ios), .help = "I/Os after which the job ends"},
	{"fill_device", "fill_fs", BOOL(fill_device), .help = "goes on to the end of the device"},

	/* How long. */
	{"runtime", "timeout", TIME_S(job.runtime_ns), .help = "time after which the job ends"},
	{"time_based", BOOL(job.time_based), .help = "repeats the workload until runtime is over"},
	{"startdelay", CUSTOM(fio_set_startdelay),
	 .help = "waits before it starts; a range is drawn from"},
	{"ramp_time", TIME_S(job.ramp_ns), .help = "runs that long before it measures"},
	{"loops", U32(job.loops, 0, UINT32_MAX), .help = "passes over the file"},

	/* What. */
	{"rw", "readwrite", CUSTOM(fio_set_rw), .help = "direction and order of the I/O"},
	{"rw_sequencer", WORD(job.identical, sequencer_words),
	 .help = "what rw=...:N does between new offsets"},
	{"rwmixread", U32(job.rwmixread, 0, 100), .help = "percent of reads in a mix"},
	{"rwmixwrite", CUSTOM(fio_set_rwmixwrite), .help = "percent of writes in a mix"},
	{"percentage_random", PERCENT_3(job.percentage_random),
	 .help = "percent of a random job that is random"},
	{"random_distribution", CUSTOM(fio_set_distribution),
	 .help = "how often which part is hit"},
	{"random_generator", WORD(no_effect, generator_words),
	 .help = "checked; the lab has its own"},
	{"randseed", CUSTOM(fio_set_randseed), .help = "seed of the job's random numbers"},
	{"randrepeat", BOOL(job.randrepeat), .help = "same random numbers in every run"},
	{"norandommap", BOOL(job.norandommap),
	 .help = "random offsets may repeat before all were hit"},

	/* How large. */
	{"bs", "blocksize", SIZE_3(bs, 1, FIO_BS_MAX), .help = "bytes of an I/O"},
	{"bsrange", "blocksize_range", CUSTOM(fio_set_bsrange), .help = "smallest and largest I/O"},
	{"bssplit", CUSTOM(fio_set_bssplit), .help = "sizes with the percent of each"},
	{"blockalign", "ba", SIZE_3(job.blockalign, 1, FIO_BS_MAX),
	 .help = "alignment of random offsets"},
	{"bs_unaligned", "blocksize_unaligned", BOOL(job.bs_unaligned),
	 .help = "sizes of a range need no alignment"},

	/* How many at once. */
	{"ioengine", CUSTOM(fio_set_engine),
	 .help = "how I/O is issued: one at a time, or iodepth"},
	{"iodepth", U32(job.iodepth, 1, 65536), .help = "I/Os in flight"},
	{"iodepth_low", U32(job.iodepth_low, 0, 65536), .help = "refills when so few are left"},
	{"iodepth_batch", "iodepth_batch_submit", U32(job.iodepth_batch, 0, 65536),
	 .help = "I/Os issued together"},
	{"iodepth_batch_complete_min", "iodepth_batch_complete", U32(job.iodepth_batch_complete_min, 0, 65536),
	 .help = "completions waited for at once"},

	/* How fast. */
	{"thinktime", TIME_US(job.thinktime_ns), .help = "pause between blocks"},
	{"thinktime_spin", TIME_US(job.thinktime_spin_ns), .help = "part of it that uses the CPU"},
	{"thinktime_blocks", U32(job.thinktime_blocks, 1, UINT32_MAX),
	 .help = "I/Os between two pauses"},
	{"thinktime_iotime", TIME_S(job.thinktime_iotime_ns),
	 .help = "time of I/O between two pauses"},
	{"rate", SIZE_3(job.rate_bps, 0, FIO_SIZE_MAX), .help = "bytes per second, not more"},
	{"rate_iops", COUNT_3(job.rate_iops), .help = "I/Os per second, not more"},
	{"rate_min", "ratemin", SIZE_3(rate_min, 0, FIO_SIZE_MAX),
	 .help = "checked against rate; fio fails a slower job, the lab doesn't"},
	{"rate_iops_min", COUNT_3(rate_iops_min), .help = "the same, of rate_iops"},
	{"rate_process", WORD(job.rate_poisson, process_words), .help = "even or random arrivals"},

	/* How safe. */
	{"direct", BOOL(job.direct), .help = "past the page cache"},
	{"buffered", NOT(job.direct), .help = "through the page cache"},
	{"sync", WORD(job.sync_writes, sync_words),
	 .help = "each write is on the medium before it completes"},
	{"fsync", U32(job.fsync_every, 0, UINT32_MAX), .help = "fsync after so many writes"},
	{"fdatasync", U32(job.fdatasync_every, 0, UINT32_MAX),
	 .help = "fdatasync after so many writes"},
	{"end_fsync", BOOL(job.end_fsync), .help = "fsync at the end"},
	{"fsync_on_close", BOOL(job.fsync_on_close), .help = "fsync when a file is closed"},
	{"invalidate", BOOL(job.invalidate), .help = "drops the file's pages before it starts"},

	/* How urgent, and how reported. */
	{"prio", U8(job.prio, 0, 7), .help = "I/O priority, 0 is the highest"},
	{"prioclass", U8(job.prioclass, 0, 3), .help = "1 real-time, 2 best effort, 3 idle"},
	{"percentile_list", CUSTOM(fio_set_percentiles), .help = "percentiles to report"},
	{"kb_base", WORD(kb_1000, base_words), .help = "what k means in this section"},

	/* Makes a workload of another kind. */
	{"zonemode", CUSTOM(fio_set_zonemode), .help = "none; zoned devices are not modelled"},
	CANNOT("read_iolog", "read_iolog replays a trace, which a job in the lab can't"),
	CANNOT("merge_blktrace_file", "merge_blktrace_file merges traces and runs no workload"),
	CANNOT("create_only", "create_only=1 lays out files and does no I/O"),
	CANNOT("verify_only", "verify_only reads data back that the lab doesn't keep"),
	CANNOT("profile", "profile= stands for a workload that is built into fio"),
	CANNOT("opendir", "opendir= takes the files of a directory, which the lab doesn't have"),

	/* Changes a run of fio, and has no effect here: said once, with a note. */
	NOTED("flow", "jobs of one flow are not held to a ratio"),
	NOTED("latency_target", "the depth is not searched for, iodepth stays as it is"),
	NOTED("max_latency", "no job fails for its latency"),
	NOTED("exitall", "the other jobs go on when this one ends"),
	NOTED("steadystate", "the run doesn't end on a steady state"),
	NOTED("ss", "the run doesn't end on a steady state"),
	NOTED("verify", "nothing is read back and compared"),
	NOTED("trim_percentage", "no trims are mixed in"),
	NOTED("sync_file_range", "no ranges are written back early"),
	NOTED("write_barrier", "no barriers are mixed in"),
	NOTED("file_append", "writes begin at offset, not at the end of the file"),
	NOTED("ramp_size", "measuring begins by ramp_time alone"),

	/* Of no consequence to a disk, or to a simulated one. */
	NOTHING("directory", "where files lie"),
	NOTHING("filename_format", "names of files"),
	NOTHING("unique_filename", "names of files"),
	NOTHING("lockfile", "locks on files"),
	NOTHING("file_service_type", "order of several files"),
	NOTHING("openfiles", "files open at once"),
	NOTHING("ignore_error", "errors that are fine"),
	NOTHING("continue_on_error", "errors that are fine"),
	NOTHING("error_dump", "prints errors"),
	NOTHING("iodepth_batch_complete_max", "completions taken at once"),
	NOTHING("serialize_overlap", "overlapping I/O"),
	NOTHING("io_submit_mode", "thread that issues"),
	NOTHING("offset_align", "alignment of offset in percent"),
	NOTHING("allrandrepeat", "same random numbers in every run"),
	NOTHING("fallocate", "how files are laid out"),
	NOTHING("fadvise_hint", "hint to the kernel"),
	NOTHING("write_hint", "hint to the device"),
	NOTHING("fdp", "hint to the device"),
	NOTHING("fdp_pli", "hint to the device"),
	NOTHING("plids", "hint to the device"),
	NOTHING("dataplacement", "hint to the device"),
	NOTHING("atomic", "atomic writes"),
	NOTHING("overwrite", "how files are laid out"),
	NOTHING("create_serialize", "how files are laid out"),
	NOTHING("create_fsync", "how files are laid out"),
	NOTHING("create_on_open", "how files are laid out"),
	NOTHING("allow_file_create", "how files are laid out"),
	NOTHING("allow_mounted_write", "safety of a real device"),
	NOTHING("pre_read", "reads before the run"),
	NOTHING("unlink", "files after the run"),
	NOTHING("unlink_each_loop", "files after a pass"),
	NOTHING("clocksource", "how time is taken"),
	NOTHING("gtod_reduce", "how time is taken"),
	NOTHING("gtod_cpu", "how time is taken"),
	NOTHING("disable_lat", "what is measured"),
	NOTHING("disable_clat", "what is measured"),
	NOTHING("disable_slat", "what is measured"),
	NOTHING("disable_bw_measurement", "what is measured"),
	NOTHING("disable_bw", "what is measured"),
	NOTHING("mem", "memory for buffers"),
	NOTHING("iomem", "memory for buffers"),
	NOTHING("iomem_align", "memory for buffers"),
	NOTHING("mem_align", "memory for buffers"),
	NOTHING("hugepage-size", "memory for buffers"),
	NOTHING("lockmem", "memory of the machine"),
	NOTHING("zero_buffers", "content of buffers"),
	NOTHING("refill_buffers", "content of buffers"),
	NOTHING("scramble_buffers", "content of buffers"),
	NOTHING("buffer_pattern", "content of buffers"),
	NOTHING("buffer_compress_percentage", "content of buffers"),
	NOTHING("buffer_compress_chunk", "content of buffers"),
	NOTHING("dedupe_percentage", "content of buffers"),
	NOTHING("dedupe_mode", "content of buffers"),
	NOTHING("dedupe_working_set_percentage", "content of buffers"),
	NOTHING("dedupe_global", "content of buffers"),
	NOTHING("do_verify", "verification"),
	NOTHING("verify_offset", "verification"),
	NOTHING("verify_interval", "verification"),
	NOTHING("verify_pattern", "verification"),
	NOTHING("verify_pattern_interval", "verification"),
	NOTHING("verify_fatal", "verification"),
	NOTHING("verify_dump", "verification"),
	NOTHING("verify_async", "verification"),
	NOTHING("verify_async_cpus", "verification"),
	NOTHING("verify_backlog", "verification"),
	NOTHING("verify_backlog_batch", "verification"),
	NOTHING("verify_state_load", "verification"),
	NOTHING("verify_state_save", "verification"),
	NOTHING("verify_write_sequence", "verification"),
	NOTHING("verify_header_seed", "verification"),
	NOTHING("experimental_verify", "verification"),
	NOTHING("trim_verify_zero", "verification"),
	NOTHING("trim_backlog", "verification"),
	NOTHING("trim_backlog_batch", "verification"),
	NOTHING("write_iolog", "trace of the run"),
	NOTHING("read_iolog_chunked", "replay of traces"),
	NOTHING("replay_no_stall", "replay of traces"),
	NOTHING("replay_redirect", "replay of traces"),
	NOTHING("replay_scale", "replay of traces"),
	NOTHING("replay_align", "replay of traces"),
	NOTHING("replay_time_scale", "replay of traces"),
	NOTHING("replay_skip", "replay of traces"),
	NOTHING("merge_blktrace_scalars", "replay of traces"),
	NOTHING("merge_blktrace_iters", "replay of traces"),
	NOTHING("exec_prerun", "commands around the run"),
	NOTHING("exec_postrun", "commands around the run"),
	NOTHING("ioscheduler", "scheduler of a real device"),
	NOTHING("zonesize", "zoned devices"),
	NOTHING("zonecapacity", "zoned devices"),
	NOTHING("zonerange", "zoned devices"),
	NOTHING("zoneskip", "zoned devices"),
	NOTHING("read_beyond_wp", "zoned devices"),
	NOTHING("max_open_zones", "zoned devices"),
	NOTHING("job_max_open_zones", "zoned devices"),
	NOTHING("ignore_zone_limits", "zoned devices"),
	NOTHING("zone_reset_threshold", "zoned devices"),
	NOTHING("zone_reset_frequency", "zoned devices"),
	NOTHING("nice", "CPU of the job"),
	NOTHING("cpumask", "CPU of the job"),
	NOTHING("cpus_allowed", "CPU of the job"),
	NOTHING("cpus_allowed_policy", "CPU of the job"),
	NOTHING("numa_cpu_nodes", "CPU of the job"),
	NOTHING("numa_mem_policy", "CPU of the job"),
	NOTHING("thinktime_blocks_type", "when thinktime_blocks counts"),
	NOTHING("rate_cycle", "averaging of rate"),
	NOTHING("ratecycle", "averaging of rate"),
	NOTHING("rate_ignore_thinktime", "rate beside thinktime"),
	NOTHING("latency_window", "search for a depth"),
	NOTHING("latency_percentile", "search for a depth"),
	NOTHING("latency_run", "search for a depth"),
	NOTHING("flow_id", "ratio between jobs"),
	NOTHING("flow_sleep", "ratio between jobs"),
	NOTHING("exit_what", "end of the other jobs"),
	NOTHING("exitall_on_error", "end of the other jobs"),
	NOTHING("steadystate_duration", "steady state"),
	NOTHING("ss_dur", "steady state"),
	NOTHING("steadystate_ramp_time", "steady state"),
	NOTHING("ss_ramp", "steady state"),
	NOTHING("ss_interval", "steady state"),
	NOTHING("per_job_logs", "log files"),
	NOTHING("write_bw_log", "log files"),
	NOTHING("write_lat_log", "log files"),
	NOTHING("write_iops_log", "log files"),
	NOTHING("write_hist_log", "log files"),
	NOTHING("bwavgtime", "log files"),
	NOTHING("iopsavgtime", "log files"),
	NOTHING("log_entries", "log files"),
	NOTHING("log_avg_msec", "log files"),
	NOTHING("log_hist_msec", "log files"),
	NOTHING("log_hist_coarseness", "log files"),
	NOTHING("log_window_value", "log files"),
	NOTHING("log_max_value", "log files"),
	NOTHING("log_offset", "log files"),
	NOTHING("log_prio", "log files"),
	NOTHING("log_issue_time", "log files"),
	NOTHING("log_compression", "log files"),
	NOTHING("log_compression_cpus", "log files"),
	NOTHING("log_store_compressed", "log files"),
	NOTHING("log_unix_epoch", "log files"),
	NOTHING("log_alternate_epoch", "log files"),
	NOTHING("log_alternate_epoch_clock_id", "log files"),
	NOTHING("stats", "reports"),
	NOTHING("block_error_percentiles", "reports"),
	NOTHING("clat_percentiles", "reports"),
	NOTHING("lat_percentiles", "reports"),
	NOTHING("slat_percentiles", "reports"),
	NOTHING("significant_figures", "reports"),
	NOTHING("disk_util", "reports"),
	NOTHING("unified_rw_reporting", "reports"),
	NOTHING("unit_base", "reports"),
	NOTHING("cgroup_nodelete", "groups of the machine"),
	NOTHING("uid", "user of the job"),
	NOTHING("gid", "user of the job"),
	NOTHING("prio_split", "priorities of single I/Os"),
	NOTHING("cmdprio", "priorities of single I/Os"),
	NOTHING("cmdprio_class", "priorities of single I/Os"),
	NOTHING("cmdprio_hint", "priorities of single I/Os"),
	NOTHING("cmdprio_percentage", "priorities of single I/Os"),
	NOTHING("cmdprio_bssplit", "priorities of single I/Os"),
	NOTHING("priohint", "hint to the device"),
	NOTHING("userspace_reap", "an engine's own"),
	NOTHING("hipri", "an engine's own"),
	NOTHING("hipri_percentage", "an engine's own"),
	NOTHING("fixedbufs", "an engine's own"),
	NOTHING("registerfiles", "an engine's own"),
	NOTHING("sqthread_poll", "an engine's own"),
	NOTHING("sqthread_poll_cpu", "an engine's own"),
	NOTHING("nonvectored", "an engine's own"),
	NOTHING("uncached", "an engine's own"),
	NOTHING("nowait", "an engine's own"),
	NOTHING("force_async", "an engine's own"),
	NOTHING("cmd_type", "an engine's own"),
	NOTHING("readfua", "an engine's own"),
	NOTHING("writefua", "an engine's own"),
	NOTHING("sg_write_mode", "an engine's own"),
	NOTHING("stream_id", "an engine's own"),
};
/* clang-format on */

const unsigned int fio_nr_options = sizeof(fio_options) / sizeof(fio_options[0]);

_Static_assert(sizeof(fio_options) / sizeof(fio_options[0]) <= FIO_OPTIONS_MAX,
	       "FIO_OPTIONS_MAX is too small");
