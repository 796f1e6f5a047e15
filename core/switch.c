/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Change of policy with requests queued. Prepare gets all the memory; commit takes everything out
 * of the old policy by forced dispatch, puts it in the order of insertion and gives it to the new
 * one.
 */
#include "core/core.h"

#include "core/memory.h"
#include "core/record.h"

struct weir_switch {
	const struct weir_policy *policy;
	void *policy_data;
	uint64_t tunable[WEIR_TUNABLES_MAX];
};

const struct weir_policy *weir_switch_policy(const struct weir *w)
{
	return w->pending->policy;
}

static int alloc_states(struct weir *w, const struct weir_policy *p)
{
	struct weir_group *g;
	struct weir_ctx *ctx;

	if (p->group_size) {
		list_for_each(g, &w->groups, struct weir_group, all) {
			g->policy_next = weir_alloc_lines(&w->host, p->group_size);
			if (!g->policy_next)
				return -WEIR_ENOMEM;
		}
	}
	if (p->ctx_size) {
		list_for_each(ctx, &w->ctxs, struct weir_ctx, all) {
			ctx->policy_next = w->host.alloc(w->host.priv, p->ctx_size);
			if (!ctx->policy_next)
				return -WEIR_ENOMEM;
		}
	}
	return 0;
}

struct weir_switch *weir_switch_prepare(struct weir *w, const struct weir_policy *policy,
					const uint64_t *tunables, int *err)
{
	struct weir_switch *sw = NULL;
	int e = w->pending ? -WEIR_EBUSY : weir_tunables_check(policy, tunables);

	if (!e) {
		sw = w->host.alloc(w->host.priv, sizeof(*sw));
		e = sw ? 0 : -WEIR_ENOMEM;
	}
	if (!e) {
		sw->policy = policy;
		weir_tunables_load(sw->tunable, policy, tunables);
		w->pending = sw;
		if (policy->instance_size) {
			sw->policy_data = w->host.alloc(w->host.priv, policy->instance_size);
			e = sw->policy_data ? 0 : -WEIR_ENOMEM;
		}
		if (!e)
			e = alloc_states(w, policy);
		if (e)
			weir_switch_cancel(w, sw);
	}
	if (err)
		*err = e;
	return e ? NULL : sw;
}

void weir_switch_cancel(struct weir *w, struct weir_switch *sw)
{
	const struct weir_policy *p = sw->policy;
	struct weir_group *g;
	struct weir_ctx *ctx;

	list_for_each(g, &w->groups, struct weir_group, all) {
		if (g->policy_next)
			weir_free_lines(&w->host, g->policy_next, p->group_size);
		g->policy_next = NULL;
	}
	list_for_each(ctx, &w->ctxs, struct weir_ctx, all) {
		if (ctx->policy_next)
			w->host.free(w->host.priv, ctx->policy_next, p->ctx_size);
		ctx->policy_next = NULL;
	}
	if (sw->policy_data)
		w->host.free(w->host.priv, sw->policy_data, p->instance_size);
	w->pending = NULL;
	w->host.free(w->host.priv, sw, sizeof(*sw));
}

/* Merges two lists ordered by seq. Lists here are chains through link.next, ended by NULL. */
static struct weir_list *merge_chains(struct weir_list *a, struct weir_list *b)
{
	struct weir_list head, *tail = &head;

	while (a && b) {
		bool first = weir_container_of(a, struct weir_rq, link)->seq <
			     weir_container_of(b, struct weir_rq, link)->seq;
		struct weir_list **from = first ? &a : &b;

		tail->next = *from;
		tail = *from;
		*from = tail->next;
	}
	tail->next = a ? a : b;
	return head.next;
}

/* Everything that the policy has queued, in order of insertion: a bottom-up merge sort. */
static struct weir_list *take_all(struct weir *w)
{
	struct weir_list *run[64] = {NULL}, *all = NULL;
	uint64_t left;
	unsigned int i;

	for (left = w->nr_queued; left; left--) {
		struct weir_verdict v = {.at_ns = WEIR_NEVER};
		struct weir_rq *rq = w->policy->dispatch(w, true, &v);
		struct weir_list *chain;

		weir_assert(rq);
		if (!rq)
			break;
		if (w->policy->undispatch)
			w->policy->undispatch(w, rq);
		chain = &rq->link;
		chain->next = NULL;
		for (i = 0; run[i]; i++) {
			chain = merge_chains(run[i], chain);
			run[i] = NULL;
		}
		run[i] = chain;
	}
	for (i = 0; i < 64; i++)
		all = merge_chains(run[i], all);
	return all;
}

/* The old policy's state goes, the new one's takes its place. */
static void replace_states(struct weir *w, const struct weir_policy *old)
{
	struct weir_group *g;
	struct weir_ctx *ctx;

	list_for_each(g, &w->groups, struct weir_group, all) {
		if (g->policy)
			weir_free_lines(&w->host, g->policy, old->group_size);
		g->policy = g->policy_next;
		g->policy_next = NULL;
	}
	list_for_each(ctx, &w->ctxs, struct weir_ctx, all) {
		if (ctx->policy)
			w->host.free(w->host.priv, ctx->policy, old->ctx_size);
		ctx->policy = ctx->policy_next;
		ctx->policy_next = NULL;
	}
}

static void all_offline(struct weir *w)
{
	struct weir_group *g;
	struct weir_ctx *ctx;

	if (w->policy->ctx_offline)
		list_for_each(ctx, &w->ctxs, struct weir_ctx, all)
			w->policy->ctx_offline(w, ctx);
	if (w->policy->group_offline)
		for (g = list_last(&w->groups, struct weir_group, all); &g->all != &w->groups;
		     g = list_prev(g, struct weir_group, all))
			w->policy->group_offline(w, g);
	if (w->policy->exit)
		w->policy->exit(w);
}

static void all_online(struct weir *w)
{
	struct weir_group *g;
	struct weir_ctx *ctx;

	if (w->policy->group_online)
		list_for_each(g, &w->groups, struct weir_group, all)
			w->policy->group_online(w, g);
	if (w->policy->ctx_online)
		list_for_each(ctx, &w->ctxs, struct weir_ctx, all)
			w->policy->ctx_online(w, ctx);
}

static void zero_states(struct weir *w)
{
	const struct weir_policy *p = w->policy;
	struct weir_group *g;
	struct weir_ctx *ctx;

	if (w->policy_data)
		__builtin_memset(w->policy_data, 0, p->instance_size);
	list_for_each(g, &w->groups, struct weir_group, all)
		if (g->policy)
			__builtin_memset(g->policy, 0, p->group_size);
	list_for_each(ctx, &w->ctxs, struct weir_ctx, all)
		if (ctx->policy)
			__builtin_memset(ctx->policy, 0, p->ctx_size);
}

static void init_policy(struct weir *w)
{
	int err = w->policy->init ? w->policy->init(w) : 0;

	weir_assert(!err);
	all_online(w);
}

void weir_policy_restart(struct weir *w)
{
	weir_assert(!weir_nr_waiting(w) && !w->nr_in_flight);
	all_offline(w);
	zero_states(w);
	init_policy(w);
	w->retry_ns = 0;
}

void weir_switch_commit(struct weir *w, struct weir_switch *sw, uint64_t now)
{
	const struct weir_policy *old = w->policy;
	struct weir_list *chain, *next;

	weir_tick(w, now);
	weir_assert(w->pending == sw);
	chain = take_all(w);
	all_offline(w);
	if (w->policy_data)
		w->host.free(w->host.priv, w->policy_data, old->instance_size);
	replace_states(w, old);
	w->policy = sw->policy;
	w->policy_data = sw->policy_data;
	weir_tunables_load(w->tunable, sw->policy, sw->tunable);
	w->pending = NULL;
	w->host.free(w->host.priv, sw, sizeof(*sw));
	w->epoch++;
	init_policy(w);
	weir_record_switch(w);
	for (; chain; chain = next) {
		next = chain->next;
		w->policy->insert(w, weir_container_of(chain, struct weir_rq, link), WEIR_TAIL);
	}
	weir_wait_set(&w->clocks, WEIR_CLOCK_HOST);
	w->retry_ns = 0;
	if (old->places || w->policy->places)
		weir_admission_changed(w);
}
