/* SPDX-License-Identifier: GPL-2.0-only */
/* An instance: creation, configuration, tunables, end. See <weir/weir.h>. */
#include "core/core.h"

#include "core/merge.h"
#include "core/record.h"

void weir_config_init(struct weir_config *cfg)
{
	*cfg = (struct weir_config){
		.profile = {.rbps = 500000000,
			    .rseqiops = 60000,
			    .rrandiops = 30000,
			    .wbps = 400000000,
			    .wseqiops = 40000,
			    .wrandiops = 20000},
		.nr_requests = 128,
		.max_sectors = 1024,
		.claim_ns = 2 * WEIR_NS_PER_MS,
		.merge = true,
		.accounting = true,
	};
}

static int config_check(const struct weir_config *cfg)
{
	if (weir_profile_check(&cfg->profile))
		return -WEIR_EINVAL;
	if (!cfg->nr_requests || !cfg->max_sectors || cfg->max_sectors > WEIR_RQ_SECTORS_MAX)
		return -WEIR_EINVAL;
	if (cfg->pool && cfg->pool < WEIR_ADMIT_MIN)
		return -WEIR_EINVAL;
	return 0;
}

static unsigned int nr_tunables(const struct weir_policy *p)
{
	unsigned int n = 0;

	while (p->info.tunables && p->info.tunables[n].name)
		n++;
	return n;
}

int weir_tunables_check(const struct weir_policy *policy, const uint64_t *tunables)
{
	const struct weir_tunable *t = policy->info.tunables;
	unsigned int i, n = nr_tunables(policy);

	for (i = 0; tunables && i < n; i++)
		if (tunables[i] < t[i].min || tunables[i] > t[i].max)
			return -WEIR_ERANGE;
	return 0;
}

void weir_tunables_load(uint64_t *to, const struct weir_policy *policy, const uint64_t *from)
{
	unsigned int i, n = nr_tunables(policy);

	for (i = 0; i < WEIR_TUNABLES_MAX; i++)
		to[i] = i >= n ? 0 : from ? from[i] : policy->info.tunables[i].def;
}

static int check_all(const struct weir_config *cfg, const struct weir_policy *policy,
		     const uint64_t *tunables)
{
	int e = config_check(cfg);

	return e ? e : weir_tunables_check(policy, tunables);
}

static void init_lists(struct weir *w)
{
	unsigned int i;

	list_init(&w->claims);
	list_init(&w->admit_waiters);
	list_init(&w->groups);
	list_init(&w->ctxs);
	list_init(&w->merge_new);
	for (i = 0; i < WEIR_MERGE_BUCKETS; i++)
		list_init(&w->merge_hash[i]);
}

static void set_full_at(struct weir *w)
{
	w->full_at = w->cfg.device_depth ? w->cfg.device_depth : UINT64_MAX;
}

static int init_policy(struct weir *w)
{
	if (w->policy->instance_size) {
		w->policy_data = w->host.alloc(w->host.priv, w->policy->instance_size);
		if (!w->policy_data)
			return -WEIR_ENOMEM;
	}
	return w->policy->init ? w->policy->init(w) : 0;
}

static void free_instance(struct weir *w)
{
	struct weir_host host = w->host;

	if (w->policy_data)
		host.free(host.priv, w->policy_data, w->policy->instance_size);
	weir_heap_free(&w->limit_timers, &host);
	weir_heap_free(&w->turn_all, &host);
	host.free(host.priv, w, sizeof(*w));
}

struct weir *weir_create(const struct weir_config *cfg, const struct weir_host *host,
			 const struct weir_policy *policy, const uint64_t *tunables, uint64_t now,
			 int *err)
{
	struct weir_group_attr attr;
	struct weir *w = NULL;
	int e = check_all(cfg, policy, tunables);

	if (!e) {
		w = host->alloc(host->priv, sizeof(*w));
		e = w ? 0 : -WEIR_ENOMEM;
	}
	if (!e) {
		w->cfg = *cfg;
		w->host = *host;
		w->policy = policy;
		w->now = now;
		w->verdict.at_ns = WEIR_NEVER;
		init_lists(w);
		set_full_at(w);
		weir_rare_update(w);
		weir_cost_model_init(&w->cost, &cfg->profile);
		weir_tunables_load(w->tunable, policy, tunables);
		e = init_policy(w);
		if (e)
			free_instance(w);
	}
	if (!e) {
		weir_group_attr_init(&attr);
		w->root = weir_group_create(w, NULL, &attr, now, &e);
		if (e) {
			if (policy->exit)
				policy->exit(w);
			free_instance(w);
		}
	}
	if (err)
		*err = e;
	return e ? NULL : w;
}

void weir_destroy(struct weir *w)
{
	weir_assert(!weir_nr_waiting(w) && !w->nr_in_flight);
	if (w->pending)
		weir_switch_cancel(w, w->pending);
	while (!list_is_empty(&w->ctxs))
		weir_ctx_destroy(list_first(&w->ctxs, struct weir_ctx, all));
	/* Children stand behind their parents. */
	while (!list_is_empty(&w->groups))
		weir_group_destroy(list_last(&w->groups, struct weir_group, all));
	if (w->policy->exit)
		w->policy->exit(w);
	free_instance(w);
}

const struct weir_policy *weir_current_policy(const struct weir *w)
{
	return w->policy;
}

int weir_tunable_set(struct weir *w, unsigned int index, uint64_t value, uint64_t now)
{
	const struct weir_tunable *t = w->policy->info.tunables;

	weir_tick(w, now);
	if (index >= nr_tunables(w->policy))
		return -WEIR_EINVAL;
	if (value < t[index].min || value > t[index].max)
		return -WEIR_ERANGE;
	w->tunable[index] = value;
	weir_record_tunable(w, index);
	if (w->policy->tuned)
		w->policy->tuned(w, index);
	w->retry_ns = 0;
	if (w->policy->places)
		weir_admission_changed(w);
	return 0;
}

uint64_t weir_tunable_get(const struct weir *w, unsigned int index)
{
	return index < WEIR_TUNABLES_MAX ? w->tunable[index] : 0;
}

int weir_reconfigure(struct weir *w, const struct weir_config *cfg, uint64_t now)
{
	weir_tick(w, now);
	if (config_check(cfg) || cfg->accounting != w->cfg.accounting)
		return -WEIR_EINVAL;
	/* Without merging nothing may stay in the look-up. */
	if (!cfg->merge)
		weir_merge_del_all(w);
	w->cfg = *cfg;
	set_full_at(w);
	weir_cost_model_init(&w->cost, &cfg->profile);
	weir_record_reconfigure(w);
	if (w->policy->tuned)
		w->policy->tuned(w, UINT32_MAX);
	w->retry_ns = 0;
	weir_admission_wake(w);
	return 0;
}

void weir_get_config(const struct weir *w, struct weir_config *cfg)
{
	*cfg = w->cfg;
}

void weir_note(struct weir *w, const char *text)
{
	if (w->host.note)
		w->host.note(w->host.priv, text);
}
