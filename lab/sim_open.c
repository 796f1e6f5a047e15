// SPDX-License-Identifier: GPL-2.0-only
/* Building a run: device, block layer, page cache, groups, workers; and taking it down. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sim_impl.h"

void *sim_alloc(size_t nr, size_t bytes)
{
	void *p = calloc(nr ? nr : 1, bytes);

	if (!p) {
		fputs("weir: out of memory for a run of the lab\n", stderr);
		abort();
	}
	return p;
}

static void note(void *priv, const char *text)
{
	sim_note_text(priv, text);
}

static bool open_host(struct sim *s)
{
	const struct lab_sim_spec *spec = s->spec;
	struct lab_host_config cfg;
	const char *wrong;
	uint32_t got;

	lab_host_config_init(&cfg, &s->device->info);
	lab_cache_config_init(&s->cache_cfg, &s->device->info);
	if (spec->settings) {
		lab_settings_apply(spec->settings, &cfg, &s->cache_cfg);
		if (!lab_settings_check(spec->settings, &s->cache_cfg, s->err, s->err_bytes))
			return false;
	}
	wrong = lab_cache_config_check(&s->cache_cfg);
	if (wrong) {
		snprintf(s->err, s->err_bytes, "--host: %s", wrong);
		return false;
	}
	cfg.note = note;
	cfg.note_priv = s;
	s->host = lab_host_new(s->engine, s->device, &cfg, spec->policy->policy,
			       spec->policy->tunable, s->err, s->err_bytes);
	if (!s->host)
		return false;
	got = lab_host_max_sectors(s->host);
	if (got < cfg.core.max_sectors)
		sim_note_lowered(s, "max_sectors", cfg.core.max_sectors, got);
	return true;
}

/* Index of the group that contains it, or -1 if the path is longer than any that is accepted. */
static int find_parent(const struct lab_groups *groups, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t bytes = slash ? (size_t)(slash - path) : 0;
	char parent[PATH_MAX];

	if (bytes >= sizeof(parent))
		return -1;
	memcpy(parent, path, bytes);
	parent[bytes] = '\0';
	return lab_groups_find(groups, parent);
}

/* Parents stand before their children; the root has been there from the beginning. */
static bool open_groups(struct sim *s)
{
	const struct lab_groups *groups = s->spec->groups;
	struct weir *w = lab_host_weir(s->host);
	unsigned int i;
	int err, at;

	s->group = sim_alloc(groups->nr, sizeof(struct weir_group *));
	s->parent = sim_alloc(groups->nr, sizeof(*s->parent));
	s->group[0] = weir_root(w);
	err = weir_group_set(s->group[0], &groups->group[0].attr, 0);
	for (i = 1; i < groups->nr && !err; i++) {
		at = find_parent(groups, groups->group[i].path);
		if (at < 0) {
			err = -WEIR_EINVAL;
			break;
		}
		s->parent[i] = (unsigned int)at;
		s->group[i] = weir_group_create(w, s->group[at], &groups->group[i].attr, 0, &err);
		if (err)
			break;
	}
	if (err)
		snprintf(s->err, s->err_bytes, "group \"%s\": %s",
			 groups->group[i < groups->nr ? i : 0].path,
			 err == -WEIR_ENOMEM
				 ? "out of memory"
				 : "accepted are attributes in range, nested at most 32 deep");
	return !err;
}

static void ended(void *priv, uint64_t now_ns)
{
	struct sim *s = priv;

	if (--s->nr_active)
		return;
	s->end_ns = now_ns;
	lab_engine_stop(s->engine);
}

static void idle(void *priv, uint64_t now_ns)
{
	struct sim *s = priv;

	(void)now_ns;
	/* Before the window is closed, its last instant has to be played to the end. */
	if (!--s->nr_busy && s->collected)
		lab_engine_stop(s->engine);
}

static bool open_worker(struct sim *s, unsigned int index)
{
	const struct lab_job *job = s->spec->jobs->job[index];
	struct sim_job *j = &s->job[index];
	struct lab_worker_place place = {
		.sector = j->file->sector,
		.start = j->start,
		.bytes = j->bytes,
		.nr_files = job->nrfiles ? job->nrfiles : 1,
		.file = j->file->file,
		.shared_with_cache = job->direct && j->file->buffered,
	};
	int group = lab_groups_find(s->spec->groups, job->cgroup ? job->cgroup : "");
	const char *wrong;

	j->group = group < 0 ? 0 : (unsigned int)group;
	j->worker = lab_worker_new(&s->env, job, &place, s->group[j->group], index, &wrong);
	if (!j->worker) {
		snprintf(s->err, s->err_bytes, "%s:%d: [%s] its file %s", job->file,
			 job->size_line ? job->size_line : job->line, job->name, wrong);
		return false;
	}
	if (s->spec->builtin)
		lab_worker_take_turns(j->worker, &s->turns);
	return true;
}

static bool open_workers(struct sim *s)
{
	const struct lab_builtin *builtin = s->spec->builtin;
	unsigned int i;

	s->env = (struct lab_worker_env){
		.engine = s->engine,
		.host = s->host,
		.cache = s->cache,
		.seed = s->spec->seed,
		.ended = ended,
		.idle = idle,
		.priv = s,
	};
	if (builtin) {
		lab_rng_seed(&s->turns.rng, builtin->seed ? builtin->seed : s->spec->seed,
			     UINT64_MAX);
		s->turns.pause_ns = builtin->pause_ns;
	}
	for (i = 0; i < s->spec->jobs->nr; i++)
		if (!open_worker(s, i))
			return false;
	return true;
}

bool sim_open(struct sim *s)
{
	const struct lab_sim_spec *spec = s->spec;

	s->engine = lab_engine_new();
	s->job = sim_alloc(spec->jobs->nr, sizeof(*s->job));
	s->device = lab_device_open(spec->device, s->engine, spec->seed, s->err, s->err_bytes);
	if (!s->device || !open_host(s) || !sim_layout(s) || !open_groups(s))
		return false;
	if (spec->record) {
		s->recording = lab_record_open(lab_host_weir(s->host), spec->record, 0, s->err,
					       s->err_bytes);
		if (!s->recording)
			return false;
		lab_host_set_recording(s->host, s->recording);
	}
	if (!open_workers(s))
		return false;
	sim_note_settings(s);
	return true;
}

void sim_close(struct sim *s)
{
	unsigned int i;
	char ignored[256];

	if (s->recording) {
		lab_host_set_recording(s->host, NULL);
		lab_record_close(s->recording, lab_now(s->engine), ignored, sizeof(ignored));
	}
	/* A policy that stopped serving left requests everywhere: nothing can be taken down. */
	if (s->stuck)
		return;
	if (s->cache)
		lab_cache_stop(s->cache, lab_now(s->engine));
	if (s->host) {
		lab_host_drain(s->host, lab_now(s->engine));
		lab_engine_run(s->engine, LAB_NEVER);
	}
	for (i = 0; s->job && i < s->spec->jobs->nr; i++)
		lab_worker_free(s->job[i].worker);
	if (s->cache)
		lab_cache_free(s->cache);
	lab_host_free(s->host);
	if (s->device)
		s->device->destroy(s->device);
	lab_engine_free(s->engine);
	free(s->job);
	free(s->entry);
	free(s->file);
	free(s->group);
	free(s->parent);
}
