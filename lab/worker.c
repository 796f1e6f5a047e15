// SPDX-License-Identifier: GPL-2.0-only
/* A worker's life: see worker.h. */
#include "lab/worker.h"

#include <stdlib.h>

#include "core/assert.h"
#include "core/fixed.h"
#include "core/list.h"

/* Random streams of one worker: four of each pattern (three used), pacing, start delay. */
enum {
	STREAM_PACING,
	STREAM_START,
	STREAM_PATTERN,
	STREAMS_PER_PATTERN = 4,
};
#define STREAMS_PER_WORKER (UINT64_C(1) << 32)

/* ---- passes ---- */

static void begin_budget(struct lab_worker *w)
{
	const struct lab_job *job = w->job;
	uint64_t bytes = job->io_size ? job->io_size : w->place.bytes;

	if (job->io_size_percent)
		bytes = weir_mul_div(w->place.bytes, job->io_size_percent, 100);
	/* What is trimmed is written too. */
	if (job->rw == LAB_RW_TRIMWRITE || job->rw == LAB_RW_RANDTRIMWRITE)
		bytes *= 2;
	w->bytes_left = w->time_based ? UINT64_MAX : bytes;
	w->ios_left = job->number_ios ? job->number_ios : UINT64_MAX;
}

static uint64_t longest_block(const struct lab_job *job)
{
	uint64_t most = 0;
	unsigned int dir;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++)
		if (lab_job_does(job, dir))
			most = weir_max64(most, job->bs_max[dir]);
	return most;
}

/* All of a pass has come back. True: there is another one. */
static bool next_pass(struct lab_worker *w)
{
	uint32_t i;

	/* Left over: less than a block is the remainder of a division, more is another round. */
	if (w->turns || !w->ios_left || w->bytes_left < longest_block(w->job)) {
		if (w->turns || w->loops_left <= 1)
			return false;
		w->loops_left--;
		begin_budget(w);
	}
	for (i = 0; i < w->nr_patterns; i++)
		lab_pattern_rewind(&w->patterns[i]);
	w->has_want = false;
	w->halt &= ~(uint32_t)LAB_HALT_PASS;
	return true;
}

/* ---- the end ---- */

static void mark_ended(struct lab_worker *w, uint64_t now_ns)
{
	if (w->ended)
		return;
	w->ended = true;
	w->end_ns = now_ns;
	w->measure_to_ns = now_ns;
	w->env->ended(w->env->priv, now_ns);
}

/* Nothing is in flight, and nothing is to come. */
static void finish(struct lab_worker *w, uint64_t now_ns)
{
	if (w->final_sync_due) {
		w->final_sync_due = false;
		worker_sync(w, true, now_ns);
		return;
	}
	if (w->idle)
		return;
	lab_event_cancel(w->engine, &w->timer);
	lab_event_cancel(w->engine, &w->ramp);
	lab_event_cancel(w->engine, &w->deadline);
	mark_ended(w, now_ns);
	w->idle = true;
	/* The page cache may still write in the name of the context. */
	if (!w->place.file)
		weir_ctx_exit(w->ctx, now_ns);
	w->env->idle(w->env->priv, now_ns);
}

static uint64_t think_ns(struct lab_worker *w)
{
	if (w->turns)
		return lab_rng_below(&w->turns->rng, w->turns->pause_ns + 1);
	return lab_pacing_think_ns(&w->pacing);
}

void worker_settle(struct lab_worker *w, uint64_t now_ns)
{
	if (w->halt & (LAB_HALT_START | LAB_HALT_SYNC))
		return;
	if (w->halt & LAB_HALT_STOP) {
		finish(w, now_ns);
		return;
	}
	if ((w->halt & LAB_HALT_PASS) && !next_pass(w)) {
		w->halt |= LAB_HALT_STOP;
		finish(w, now_ns);
		return;
	}
	if (!(w->halt & LAB_HALT_THINK))
		worker_pump(w, now_ns);
	else if (!lab_event_pending(&w->timer))
		lab_event_at(w->engine, &w->timer, now_ns + think_ns(w));
}

/* The runtime is over. What is in flight comes back later and does not count. */
static void on_deadline(struct lab_event *ev, uint64_t now_ns)
{
	struct lab_worker *w = weir_container_of(ev, struct lab_worker, deadline);

	w->halt |= LAB_HALT_STOP;
	/* An fsync at the end belongs to the run; without one the run ends here. */
	if (!w->final_sync_due)
		mark_ended(w, now_ns);
	if (!w->in_flight)
		worker_settle(w, now_ns);
}

/* ---- the beginning ---- */

/* What went before was warming up: rates and sizes count from here. */
static void on_ramp_end(struct lab_event *ev, uint64_t now_ns)
{
	struct lab_worker *w = weir_container_of(ev, struct lab_worker, ramp);

	if (w->halt & LAB_HALT_STOP)
		return;
	begin_budget(w);
	w->loops_left = w->job->loops ? w->job->loops : 1;
	lab_pacing_start(&w->pacing, now_ns);
	if (w->pacing.limited)
		worker_pump(w, now_ns);
}

static void begin(struct lab_worker *w, uint64_t now_ns)
{
	const struct lab_job *job = w->job;

	w->halt &= ~(uint32_t)LAB_HALT_START;
	w->start_ns = now_ns;
	w->measure_from_ns = now_ns + job->ramp_ns;
	w->measure_to_ns = UINT64_MAX;
	if (job->runtime_ns) {
		uint64_t end_ns = weir_add_sat(w->measure_from_ns, job->runtime_ns);

		lab_event_at(w->engine, &w->deadline, end_ns);
		if (!w->final_sync_due)
			w->measure_to_ns = end_ns;
	}
	if (job->ramp_ns)
		lab_event_at(w->engine, &w->ramp, w->measure_from_ns);
	lab_pacing_start(&w->pacing, now_ns);
	if (w->buffered && job->invalidate)
		lab_file_invalidate(w->place.file);
	if (w->turns)
		w->halt |= LAB_HALT_THINK;
	worker_pump(w, now_ns);
}

/* A start delay, a think time or the wait for a rate is over. */
static void on_timer(struct lab_event *ev, uint64_t now_ns)
{
	struct lab_worker *w = weir_container_of(ev, struct lab_worker, timer);

	if (w->halt & LAB_HALT_START) {
		begin(w, now_ns);
		return;
	}
	if (w->halt & LAB_HALT_THINK) {
		w->halt &= ~(uint32_t)LAB_HALT_THINK;
		lab_pacing_thought(&w->pacing, now_ns);
	}
	worker_pump(w, now_ns);
}

void lab_worker_start(struct lab_worker *w, uint64_t now_ns)
{
	const struct lab_job *job = w->job;
	uint64_t delay_ns = job->startdelay_ns;
	struct lab_rng rng;

	if (job->startdelay_max_ns > delay_ns) {
		lab_rng_seed(&rng, w->env->seed, w->stream + STREAM_START);
		delay_ns += lab_rng_below(&rng, job->startdelay_max_ns - delay_ns + 1);
	}
	lab_event_at(w->engine, &w->timer, now_ns + delay_ns);
}

/* ---- set-up ---- */

/* Every completion can issue the next I/O without a second look. */
static bool is_plain(const struct lab_worker *w)
{
	const struct lab_job *job = w->job;

	return !w->buffered && !w->turns && !w->pacing.limited && !w->pacing.thinks &&
	       w->low >= w->depth && w->batch <= 1 && w->complete_min <= 1 && !job->fsync_every &&
	       !job->fdatasync_every;
}

static const char *init_patterns(struct lab_worker *w)
{
	const struct lab_worker_place *place = &w->place;
	uint64_t seed = w->job->has_randseed ? w->job->randseed : w->env->seed;
	uint64_t each = place->bytes / place->nr_files;
	const char *wrong = NULL;
	uint32_t i;

	w->patterns = calloc(place->nr_files, sizeof(*w->patterns));
	if (!w->patterns)
		return "out of memory for its files";
	for (i = 0; i < place->nr_files && !wrong; i++) {
		wrong = lab_pattern_init(
			&w->patterns[i], w->job, place->start + i * each, each, seed,
			w->stream + STREAM_PATTERN + (uint64_t)i * STREAMS_PER_PATTERN);
		if (!wrong)
			w->nr_patterns++;
	}
	w->pattern = w->patterns;
	return wrong;
}

static void init_depth(struct lab_worker *w)
{
	const struct lab_job *job = w->job;

	/* Buffered I/O is done by the caller, whatever the engine. */
	w->depth = job->async && !w->buffered && job->iodepth ? job->iodepth : 1;
	w->low = job->iodepth_low && job->iodepth_low < w->depth ? job->iodepth_low : w->depth;
	w->batch = job->iodepth_batch < w->depth ? job->iodepth_batch : w->depth;
	w->complete_min = job->iodepth_batch_complete_min < w->depth
				  ? job->iodepth_batch_complete_min
				  : w->depth;
}

static void init_meters(struct lab_worker *w)
{
	const struct lab_job *job = w->job;
	unsigned int dir;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++)
		if (lab_job_does(job, dir))
			w->meter[dir] = lab_meter_new();
	w->final_sync_due = (job->end_fsync || job->fsync_on_close) &&
			    lab_job_does(job, LAB_DIR_WRITE);
	if (w->final_sync_due || job->fsync_every || job->fdatasync_every)
		w->sync = lab_meter_new();
}

struct lab_worker *lab_worker_new(const struct lab_worker_env *env, const struct lab_job *job,
				  const struct lab_worker_place *place, struct weir_group *group,
				  unsigned int index, const char **wrong)
{
	struct lab_worker *w = calloc(1, sizeof(*w));

	*wrong = "out of memory";
	if (!w)
		return NULL;
	w->env = env;
	w->host = env->host;
	w->engine = env->engine;
	w->job = job;
	w->place = *place;
	w->group = group;
	w->stream = index * STREAMS_PER_WORKER;
	w->sector = place->sector;
	w->buffered = !job->direct;
	w->halt = LAB_HALT_START;
	w->measure_from_ns = UINT64_MAX;
	w->time_based = job->time_based && job->runtime_ns;
	w->loops_left = job->loops ? job->loops : 1;
	lab_event_init(&w->timer, on_timer);
	lab_event_init(&w->ramp, on_ramp_end);
	lab_event_init(&w->deadline, on_deadline);
	init_depth(w);
	init_meters(w);
	lab_pacing_init(&w->pacing, job, env->seed, w->stream + STREAM_PACING);
	*wrong = init_patterns(w);
	w->io = calloc(w->depth, sizeof(*w->io));
	if (!*wrong && w->io)
		w->ctx = weir_ctx_create(lab_host_weir(env->host), group,
					 (enum weir_ioprio_class)job->prioclass, job->prio,
					 lab_now(env->engine));
	if (!w->ctx) {
		if (!*wrong)
			*wrong = "out of memory";
		lab_worker_free(w);
		return NULL;
	}
	worker_init_io(w);
	worker_file_init(w);
	begin_budget(w);
	w->plain = is_plain(w);
	return w;
}

void lab_worker_free(struct lab_worker *w)
{
	unsigned int i;

	if (!w)
		return;
	weir_assert(!w->in_flight);
	lab_event_cancel(w->engine, &w->timer);
	lab_event_cancel(w->engine, &w->ramp);
	lab_event_cancel(w->engine, &w->deadline);
	for (i = 0; i < w->nr_patterns; i++)
		lab_pattern_free(&w->patterns[i]);
	for (i = 0; i < LAB_NR_JOB_DIRS; i++)
		free(w->meter[i]);
	free(w->sync);
	free(w->patterns);
	free(w->io);
	free(w);
}
