// SPDX-License-Identifier: GPL-2.0-only
/* From workers and groups to a lab_sim_result. */
#include <stdlib.h>
#include <string.h>

#include "core/fixed.h"
#include "lab/sim_impl.h"

/* ---- before the run: which jobs report together, and in which phase they are ---- */

static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* Stonewall groups in use, in order, without repetition. Returns their number. */
static unsigned int list_walls(const struct lab_jobs *jobs, int *wall)
{
	unsigned int i, nr = 0;

	for (i = 0; i < jobs->nr; i++)
		wall[i] = jobs->job[i]->stonewall_group;
	qsort(wall, jobs->nr, sizeof(*wall), compare_ints);
	for (i = 0; i < jobs->nr; i++)
		if (!nr || wall[nr - 1] != wall[i])
			wall[nr++] = wall[i];
	return nr;
}

/* Jobs that report together stand next to each other. */
static struct sim_entry *last_entry(struct sim *s, const struct lab_job *job)
{
	struct sim_entry *e = s->nr_entries ? &s->entry[s->nr_entries - 1] : NULL;

	return e && s->result->job[e->result].job->report_group == job->report_group ? e : NULL;
}

static struct sim_entry *add_entry(struct sim *s, const struct lab_job *job, int phase)
{
	struct sim_entry *e = &s->entry[s->nr_entries];
	struct lab_job_result *r = &s->result->job[s->nr_entries];
	unsigned int dir;

	e->result = s->nr_entries++;
	e->from_ns = UINT64_MAX;
	r->job = job;
	r->phase = phase;
	r->start_ns = UINT64_MAX;
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		r->bytes_per_s[dir].min = UINT64_MAX;
		r->ios_per_s[dir].min = UINT64_MAX;
	}
	return e;
}

bool sim_collect_init(struct sim *s)
{
	const struct lab_jobs *jobs = s->spec->jobs;
	struct lab_sim_result *r = s->result;
	int *wall = sim_alloc(jobs->nr, sizeof(*wall)), phase;
	unsigned int i;

	s->nr_phases = list_walls(jobs, wall);
	s->entry = sim_alloc(jobs->nr, sizeof(*s->entry));
	r->job = sim_alloc(jobs->nr, sizeof(*r->job));
	r->policy = weir_policy_info(s->spec->policy->policy)->name;
	r->label = s->spec->policy->label;
	r->device = strdup(s->spec->device);
	r->seed = s->spec->seed;
	r->nr_phases = s->nr_phases;
	if (s->nr_phases > 1)
		r->phase = sim_alloc(s->nr_phases, sizeof(*r->phase));
	for (i = 0; i < jobs->nr; i++) {
		struct sim_entry *e = last_entry(s, jobs->job[i]);

		for (phase = 0; wall[phase] != jobs->job[i]->stonewall_group; phase++)
			;
		if (!e)
			e = add_entry(s, jobs->job[i], phase);
		e->nr_jobs++;
		r->job[e->result].nr_jobs++;
		s->job[i].entry = e;
	}
	r->nr_jobs = s->nr_entries;
	free(wall);
	return true;
}

/* ---- samples ---- */

static void add_sample(struct lab_samples *s, uint64_t rate)
{
	s->nr++;
	s->sum += rate;
	s->sum_squares += (lab_u128)rate * rate;
	if (rate < s->min)
		s->min = rate;
	if (rate > s->max)
		s->max = rate;
}

static void sample_entry(struct sim *s, struct sim_entry *e, const uint64_t *ios,
			 const uint64_t *bytes, uint64_t now_ns)
{
	struct lab_job_result *r = &s->result->job[e->result];
	uint64_t span_ns = now_ns - s->sampled_ns;
	bool whole = e->from_ns <= s->sampled_ns &&
		     (e->nr_ended < e->nr_jobs || e->to_ns >= now_ns);
	unsigned int dir;

	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
		if (whole && lab_job_does(r->job, dir)) {
			add_sample(&r->ios_per_s[dir],
				   lab_per_second(ios[dir] - e->ios[dir], span_ns));
			add_sample(&r->bytes_per_s[dir],
				   lab_per_second(bytes[dir] - e->bytes[dir], span_ns));
		}
		e->ios[dir] = ios[dir];
		e->bytes[dir] = bytes[dir];
	}
}

void sim_sample(struct sim *s, uint64_t now_ns)
{
	uint64_t ios[LAB_NR_JOB_DIRS] = {0}, bytes[LAB_NR_JOB_DIRS] = {0};
	unsigned int i, dir, nr = s->spec->jobs->nr;

	if (s->collected || now_ns <= s->sampled_ns)
		return;
	for (i = 0; i < nr; i++) {
		struct sim_entry *e = s->job[i].entry;
		const struct lab_worker *w = s->job[i].worker;

		if (!sim_job_is_in_phase(s, i, s->phase))
			continue;
		e->from_ns = weir_min64(e->from_ns, w->measure_from_ns);
		if (w->ended)
			e->to_ns = weir_max64(e->to_ns, w->end_ns);
		e->nr_ended = (i && s->job[i - 1].entry == e ? e->nr_ended : 0) + w->ended;
		for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++) {
			ios[dir] += w->meter[dir] ? w->meter[dir]->ios : 0;
			bytes[dir] += w->meter[dir] ? w->meter[dir]->bytes : 0;
		}
		if (i + 1 < nr && s->job[i + 1].entry == e)
			continue;
		sample_entry(s, e, ios, bytes, now_ns);
		memset(ios, 0, sizeof(ios));
		memset(bytes, 0, sizeof(bytes));
	}
	s->sampled_ns = now_ns;
}

/* ---- at the end of a phase ---- */

static void merge_meter(struct lab_meter **into, const struct lab_meter *from)
{
	if (!from)
		return;
	if (!*into)
		*into = lab_meter_new();
	lab_meter_merge(*into, from);
}

/* The entry takes the worker's meters over, or adds them to those of its clones. */
static void take_meter(struct lab_meter **into, struct lab_meter **from)
{
	if (!*into) {
		*into = *from;
		*from = NULL;
	} else {
		merge_meter(into, *from);
	}
}

static void collect_job(struct sim *s, unsigned int index)
{
	struct sim_job *j = &s->job[index];
	struct lab_worker *w = j->worker;
	struct lab_job_result *r = &s->result->job[j->entry->result];
	unsigned int i;

	r->start_ns = weir_min64(r->start_ns, w->start_ns);
	r->end_ns = weir_max64(r->end_ns, w->end_ns);
	r->measured_ns = weir_max64(r->measured_ns, lab_worker_measured_ns(w));
	for (i = 0; i < LAB_DEPTH_LEVELS; i++)
		r->depth_level[i] += w->depth_level[i];
	for (i = 0; i < LAB_NR_JOB_DIRS; i++)
		take_meter(&r->meter[i], &w->meter[i]);
	take_meter(&r->sync, &w->sync);
}

/* A client's I/O is that of its group and of all groups above. */
static void add_clients(struct sim *s, struct lab_phase_result *p, unsigned int index)
{
	const struct lab_worker *w = s->job[index].worker;
	unsigned int at = s->job[index].group, dir;

	for (;; at = s->parent[at]) {
		for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++)
			merge_meter(&p->group[at].meter[dir], w->meter[dir]);
		if (!at)
			break;
	}
}

static void add_hist(struct weir_group *g, enum weir_hist_kind kind, uint64_t *nr, uint64_t *sum_ns,
		     uint64_t *max_ns)
{
	struct weir_hist hist;
	unsigned int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		weir_group_read_hist(g, (enum weir_dir)dir, kind, &hist);
		*nr += hist.count;
		*sum_ns += hist.sum_ns;
		*max_ns = weir_max64(*max_ns, hist.max_ns);
	}
}

static const char *path_of_id(const struct sim *s, int64_t id)
{
	unsigned int i;

	for (i = 0; id >= 0 && i < s->spec->groups->nr; i++)
		if (weir_group_id(s->group[i]) == (uint64_t)id)
			return s->spec->groups->group[i].path;
	return NULL;
}

static void collect_groups(struct sim *s, struct lab_phase_result *p, uint64_t now_ns)
{
	const struct lab_groups *groups = s->spec->groups;
	unsigned int i;

	p->nr_groups = groups->nr;
	p->group = sim_alloc(groups->nr, sizeof(*p->group));
	for (i = 0; i < groups->nr; i++) {
		struct lab_group_result *r = &p->group[i];
		struct weir_group *g = s->group[i];

		r->path = groups->group[i].path;
		r->parent = s->parent[i];
		if (i)
			p->group[r->parent].nr_children++;
		weir_group_get(g, &r->attr);
		weir_group_read_stats(g, now_ns, &r->stats);
		add_hist(g, WEIR_HIST_QUEUE_WAIT, &r->wait_nr, &r->wait_sum_ns, &r->wait_max_ns);
		add_hist(g, WEIR_HIST_SERVICE, &r->service_nr, &r->service_sum_ns,
			 &r->service_max_ns);
		if (r->stats.latency_missed)
			r->blocker = path_of_id(s, r->stats.latency_blocker);
	}
	for (i = 0; i < s->spec->jobs->nr; i++)
		if (sim_job_is_in_phase(s, i, s->phase))
			add_clients(s, p, i);
}

/* ---- all phases together ---- */

static void add_stats(struct weir_group_stats *to, const struct weir_group_stats *from)
{
	unsigned int i;

	for (i = 0; i < WEIR_NR_DIRS; i++) {
		struct weir_dir_stats *t = &to->dir[i];
		const struct weir_dir_stats *f = &from->dir[i];

		t->inserted += f->inserted;
		t->completed += f->completed;
		t->removed += f->removed;
		t->merged += f->merged;
		t->requeued += f->requeued;
		t->bytes += f->bytes;
		t->device_ns += f->device_ns;
		t->waiting = f->waiting;
		t->in_flight = f->in_flight;
		t->queue_wait_ns += f->queue_wait_ns;
		t->queue_wait_max_ns = weir_max64(t->queue_wait_max_ns, f->queue_wait_max_ns);
		t->service_ns += f->service_ns;
		t->service_max_ns = weir_max64(t->service_max_ns, f->service_max_ns);
	}
	for (i = 0; i < WEIR_NR_WAITS; i++)
		to->wait_ns[i] += from->wait_ns[i];
	to->flushes += from->flushes;
	to->backlogged_ns += from->backlogged_ns;
	to->entitled_ns += from->entitled_ns;
	to->in_use_ns += from->in_use_ns;
	to->active_ns += from->active_ns;
	to->floor_backlogged_ns += from->floor_backlogged_ns;
	to->floor_deficit_device_bytes += from->floor_deficit_device_bytes;
	to->floor_deficit_device_ios += from->floor_deficit_device_ios;
	to->floor_deficit_demand_bytes += from->floor_deficit_demand_bytes;
	to->floor_deficit_demand_ios += from->floor_deficit_demand_ios;
	to->latency_periods += from->latency_periods;
	to->latency_missed += from->latency_missed;
	to->latency_blocker = from->latency_blocker;
}

static void add_group(struct lab_group_result *to, const struct lab_group_result *from)
{
	unsigned int dir;

	to->path = from->path;
	to->parent = from->parent;
	to->nr_children = from->nr_children;
	to->attr = from->attr;
	add_stats(&to->stats, &from->stats);
	to->wait_nr += from->wait_nr;
	to->wait_sum_ns += from->wait_sum_ns;
	to->wait_max_ns = weir_max64(to->wait_max_ns, from->wait_max_ns);
	to->service_nr += from->service_nr;
	to->service_sum_ns += from->service_sum_ns;
	to->service_max_ns = weir_max64(to->service_max_ns, from->service_max_ns);
	for (dir = 0; dir < LAB_NR_JOB_DIRS; dir++)
		merge_meter(&to->meter[dir], from->meter[dir]);
	if (from->blocker)
		to->blocker = from->blocker;
}

static void add_phase(struct lab_phase_result *to, const struct lab_phase_result *from)
{
	unsigned int i;

	if (!to->group)
		to->group = sim_alloc(from->nr_groups, sizeof(*to->group));
	to->nr_groups = from->nr_groups;
	to->measured_ns += from->measured_ns;
	for (i = 0; i < from->nr_groups; i++)
		add_group(&to->group[i], &from->group[i]);
	to->host.commands += from->host.commands;
	to->host.splits += from->host.splits;
	to->host.plug_merges += from->host.plug_merges;
	to->host.bio_merges += from->host.bio_merges;
	to->host.rq_merges += from->host.rq_merges;
	to->host.admit_waits += from->host.admit_waits;
	to->host.flushes += from->host.flushes;
	to->host.flush_joins += from->host.flush_joins;
}

void sim_collect_phase(struct sim *s, uint64_t now_ns)
{
	struct lab_sim_result *r = s->result;
	struct lab_phase_result *p = s->nr_phases > 1 ? &r->phase[s->phase] : &r->whole;
	unsigned int i;

	p->start_ns = s->start_ns;
	p->measured_ns = now_ns - s->window_ns;
	lab_host_read_stats(s->host, &p->host);
	collect_groups(s, p, now_ns);
	for (i = 0; i < s->spec->jobs->nr; i++)
		if (sim_job_is_in_phase(s, i, s->phase))
			collect_job(s, i);
	if (s->nr_phases > 1)
		add_phase(&r->whole, p);
	s->collected = true;
}

void sim_collect_end(struct sim *s)
{
	s->result->virtual_ns = lab_now(s->engine);
	if (!s->cache)
		return;
	s->result->has_cache = true;
	lab_cache_read_stats(s->cache, &s->result->cache);
}
