/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside a run of the lab: shared by the lab/sim_*.c files. */
#ifndef LAB_SIM_IMPL_H
#define LAB_SIM_IMPL_H

#include "lab/record_file.h"
#include "lab/sim.h"

struct sim_file {
	const char *name;	   /* NULL: private to one job */
	const struct lab_job *job; /* the first that uses it */
	bool on_device;
	bool buffered; /* some job goes through the page cache */
	bool synced;   /* some job calls fsync on it */
	uint64_t sector, bytes;
	struct lab_file *file; /* in the page cache, or NULL */
};

struct sim_job {
	struct sim_file *file;
	uint64_t start, bytes; /* region in the file */
	struct lab_worker *worker;
	struct sim_entry *entry;
	unsigned int group; /* index in the run's groups */
};

/* What the samples need of a lab_job_result. */
struct sim_entry {
	unsigned int result; /* index in result->job */
	unsigned int nr_jobs, nr_ended;
	uint64_t from_ns, to_ns; /* first begins, last ends being measured; to_ns once all have */
	uint64_t ios[LAB_NR_JOB_DIRS], bytes[LAB_NR_JOB_DIRS]; /* at the last sample */
};

struct sim {
	const struct lab_sim_spec *spec;
	struct lab_engine *engine;
	struct lab_device *device;
	struct lab_host *host;
	struct lab_cache *cache; /* NULL: nobody needs it */
	struct lab_cache_config cache_cfg;
	struct lab_recording *recording;
	struct weir_group **group;
	unsigned int *parent; /* index of each group's parent */
	struct sim_file *file;
	unsigned int nr_files;
	struct sim_job *job; /* one per job */
	struct sim_entry *entry;
	unsigned int nr_entries;
	struct lab_worker_env env;
	struct lab_turns turns;

	/* The phase that runs. */
	unsigned int phase, nr_phases;
	unsigned int nr_active, nr_busy;      /* not ended, not idle */
	uint64_t start_ns, window_ns, end_ns; /* begin of phase, of window, end of the last job */
	uint64_t expected_ns;		      /* length of the phase, 0: unknown */
	struct lab_event sample;
	uint64_t sampled_ns;
	bool sample_due;		       /* the half second is over, the instant not yet */
	uint64_t commands_seen, idle_since_ns; /* watchdog */
	bool collected; /* nothing counts any more: what is in flight comes back */
	bool stuck;

	struct lab_sim_result *result;
	char *err;
	size_t err_bytes;
};

/* All return false with a line in s->err. */
bool sim_layout(struct sim *s);
bool sim_open(struct sim *s);
void sim_close(struct sim *s);

bool sim_job_is_in_phase(const struct sim *s, unsigned int job, unsigned int phase);
void sim_sample(struct sim *s, uint64_t now_ns);
void sim_collect_phase(struct sim *s, uint64_t now_ns);
void sim_collect_end(struct sim *s);
bool sim_collect_init(struct sim *s);

/* ---- sim_notes.c: what was asked for and is not in force ---- */

void sim_note_text(struct sim *s, const char *text);
/* Of --host: the device takes less. */
void sim_note_lowered(struct sim *s, const char *setting, uint64_t wanted, uint64_t got);
/* Once groups and workers are there. */
void sim_note_settings(struct sim *s);

void *sim_alloc(size_t nr, size_t bytes);

#endif
