// SPDX-License-Identifier: GPL-2.0-only
/*
 * A run: its phases one after another, each with its window. See sim.h.
 *
 * The engine is run up to the end of the ramp, then until the last job ends, then until what is
 * still in flight has come back. Each step ends with all events of its last instant, since windows
 * are closed on the right.
 */
#include "lab/sim.h"

#include <stdlib.h>
#include <string.h>

#include "core/fixed.h"
#include "core/list.h"
#include "lab/sim_impl.h"

/* Requests wait and the device is idle: no limit that can be set makes them wait that long. */
#define STUCK_NS (3600 * WEIR_NS_PER_S)

bool sim_job_is_in_phase(const struct sim *s, unsigned int job, unsigned int phase)
{
	/* Stonewall groups are numbered in order, but --section may leave some out. */
	return s->result->job[s->job[job].entry->result].phase == (int)phase;
}

/* ---- every half second ---- */

static void watch(struct sim *s, uint64_t now_ns)
{
	struct lab_host_stats stats;

	lab_host_read_stats(s->host, &stats);
	if (stats.commands != s->commands_seen || !lab_host_outstanding(s->host) ||
	    s->device->in_flight) {
		s->commands_seen = stats.commands;
		s->idle_since_ns = now_ns;
	} else if (now_ns - s->idle_since_ns > STUCK_NS) {
		s->stuck = true;
		lab_engine_stop(s->engine);
	}
}

static void on_sample(struct lab_event *ev, uint64_t now_ns)
{
	struct sim *s = weir_container_of(ev, struct sim, sample);

	/* The half second ends with its last instant: again behind what is scheduled for it. */
	s->sample_due = !s->sample_due;
	if (s->sample_due) {
		lab_event_at(s->engine, ev, now_ns);
		return;
	}
	sim_sample(s, now_ns);
	watch(s, now_ns);
	lab_progress_at(s->spec->progress, s->phase, s->nr_phases, now_ns - s->start_ns,
			s->expected_ns);
	lab_event_at(s->engine, ev, now_ns + LAB_SAMPLE_NS);
}

/* ---- phases ---- */

static void begin_window(struct sim *s, uint64_t now_ns)
{
	s->window_ns = now_ns;
	s->sampled_ns = now_ns;
	weir_stats_reset(lab_host_weir(s->host), now_ns);
	lab_host_reset_stats(s->host);
	s->commands_seen = 0;
	s->idle_since_ns = now_ns;
	s->sample_due = false;
	lab_event_at(s->engine, &s->sample, now_ns + LAB_SAMPLE_NS);
}

/* Runs until the last job of the phase has ended. */
static void run_jobs(struct sim *s, uint64_t ramp_ns)
{
	if (ramp_ns) {
		lab_engine_run(s->engine, s->start_ns + ramp_ns);
		begin_window(s, lab_now(s->engine));
	}
	while (s->nr_active && !s->stuck) {
		lab_engine_run(s->engine, LAB_NEVER);
	}
	if (!s->stuck)
		lab_engine_run(s->engine, s->end_ns);
}

static void run_phase(struct sim *s, unsigned int phase)
{
	const struct lab_jobs *jobs = s->spec->jobs;
	uint64_t ramp_ns = 0, longest_ns = 0;
	bool endless = false;
	unsigned int i;

	s->phase = phase;
	s->collected = false;
	s->start_ns = lab_now(s->engine);
	s->nr_active = s->nr_busy = 0;
	for (i = 0; i < jobs->nr; i++) {
		const struct lab_job *job = jobs->job[i];

		if (!sim_job_is_in_phase(s, i, phase))
			continue;
		s->nr_active++;
		s->nr_busy++;
		ramp_ns = weir_max64(ramp_ns, job->ramp_ns);
		endless |= !job->runtime_ns;
		longest_ns = weir_max64(longest_ns,
					job->startdelay_ns + job->ramp_ns + job->runtime_ns);
	}
	s->expected_ns = endless ? 0 : longest_ns;
	if (!ramp_ns)
		begin_window(s, s->start_ns);
	else
		lab_event_at(s->engine, &s->sample, s->start_ns + LAB_SAMPLE_NS);
	for (i = 0; i < jobs->nr; i++)
		if (sim_job_is_in_phase(s, i, phase))
			lab_worker_start(s->job[i].worker, s->start_ns);
	run_jobs(s, ramp_ns);
	if (s->stuck)
		return;
	sim_collect_phase(s, lab_now(s->engine));
	while (s->nr_busy && !s->stuck)
		lab_engine_run(s->engine, LAB_NEVER);
	lab_event_cancel(s->engine, &s->sample);
}

static bool finish_recording(struct sim *s)
{
	struct lab_recording *rec = s->recording;

	if (!rec)
		return true;
	s->recording = NULL;
	lab_host_set_recording(s->host, NULL);
	return !lab_record_close(rec, lab_now(s->engine), s->err, s->err_bytes);
}

struct lab_sim_result *lab_sim_run(const struct lab_sim_spec *spec, bool *stuck, char *err,
				   size_t err_bytes)
{
	struct sim s = {.spec = spec, .err = err, .err_bytes = err_bytes};
	bool fine;
	unsigned int i;

	s.result = sim_alloc(1, sizeof(*s.result));
	lab_event_init(&s.sample, on_sample);
	fine = sim_open(&s) && sim_collect_init(&s);
	for (i = 0; fine && !s.stuck && i < s.nr_phases; i++)
		run_phase(&s, i);
	if (fine && s.stuck) {
		snprintf(err, err_bytes,
			 "policy %s stopped serving: %llu requests wait, the device is idle, and "
			 "nothing would wake them",
			 spec->policy->label,
			 (unsigned long long)weir_nr_waiting(lab_host_weir(s.host)));
		fine = false;
	}
	if (fine)
		sim_collect_end(&s);
	if (fine)
		fine = finish_recording(&s);
	if (stuck)
		*stuck = s.stuck;
	sim_close(&s);
	if (fine)
		return s.result;
	lab_sim_result_free(s.result);
	return NULL;
}
