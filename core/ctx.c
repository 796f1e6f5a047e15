/* SPDX-License-Identifier: GPL-2.0-only */
/* Contexts: processes and streams. See <weir/group.h>. */
#include "core/core.h"

#include "core/record.h"

static void free_ctx(struct weir_ctx *ctx)
{
	struct weir *w = ctx->w;

	if (ctx->policy)
		w->host.free(w->host.priv, ctx->policy, w->policy->ctx_size);
	if (ctx->policy_next)
		w->host.free(w->host.priv, ctx->policy_next, weir_switch_policy(w)->ctx_size);
	w->host.free(w->host.priv, ctx, sizeof(*ctx));
}

static int alloc_policy_state(struct weir_ctx *ctx)
{
	struct weir *w = ctx->w;

	if (w->policy->ctx_size) {
		ctx->policy = w->host.alloc(w->host.priv, w->policy->ctx_size);
		if (!ctx->policy)
			return -WEIR_ENOMEM;
	}
	if (w->pending && weir_switch_policy(w)->ctx_size) {
		ctx->policy_next = w->host.alloc(w->host.priv, weir_switch_policy(w)->ctx_size);
		if (!ctx->policy_next)
			return -WEIR_ENOMEM;
	}
	return 0;
}

struct weir_ctx *weir_ctx_create(struct weir *w, struct weir_group *g, enum weir_ioprio_class class,
				 unsigned int level, uint64_t now)
{
	struct weir_ctx *ctx;

	weir_tick(w, now);
	weir_assert(!g->dying);
	ctx = w->host.alloc(w->host.priv, sizeof(*ctx));
	if (!ctx)
		return NULL;
	ctx->w = w;
	ctx->group = g;
	ctx->id = w->next_ctx_id++;
	ctx->ioprio_class = (uint8_t) class;
	ctx->ioprio_level = (uint8_t)level;
	if (alloc_policy_state(ctx)) {
		free_ctx(ctx);
		return NULL;
	}
	g->nr_ctx++;
	list_push_back(&w->ctxs, &ctx->all);
	if (w->policy->ctx_online)
		w->policy->ctx_online(w, ctx);
	weir_record_ctx_create(w, ctx);
	return ctx;
}

void weir_ctx_destroy(struct weir_ctx *ctx)
{
	struct weir *w = ctx->w;
	struct weir_group *g = ctx->group;

	weir_assert(!ctx->nr_rqs);
	if (w->policy->ctx_offline)
		w->policy->ctx_offline(w, ctx);
	list_unlink(&ctx->all);
	w->retry_ns = 0;
	free_ctx(ctx);
	g->nr_ctx--;
	weir_group_reap(g);
}

void weir_ctx_put(struct weir_ctx *ctx)
{
	weir_assert(ctx->nr_rqs > 0);
	if (!--ctx->nr_rqs && ctx->exited)
		weir_ctx_destroy(ctx);
}

void weir_ctx_exit(struct weir_ctx *ctx, uint64_t now)
{
	weir_tick(ctx->w, now);
	weir_record_ctx_exit(ctx->w, ctx);
	ctx->exited = true;
	ctx->w->retry_ns = 0; /* a policy that idles for it needn't any longer */
	if (!ctx->nr_rqs)
		weir_ctx_destroy(ctx);
}

void weir_ctx_move(struct weir_ctx *ctx, struct weir_group *g, uint64_t now)
{
	struct weir *w = ctx->w;
	struct weir_group *from = ctx->group;

	weir_tick(w, now);
	weir_assert(!g->dying);
	weir_record_ctx_move(w, ctx, g);
	ctx->group = g;
	g->nr_ctx++;
	if (w->policy->ctx_moved)
		w->policy->ctx_moved(w, ctx, from);
	w->retry_ns = 0;
	from->nr_ctx--;
	weir_group_reap(from);
}

void weir_ctx_set_ioprio(struct weir_ctx *ctx, enum weir_ioprio_class class, unsigned int level,
			 uint64_t now)
{
	weir_tick(ctx->w, now);
	ctx->ioprio_class = (uint8_t) class;
	ctx->ioprio_level = (uint8_t)level;
	ctx->w->retry_ns = 0;
	weir_record_ctx_ioprio(ctx->w, ctx);
}

struct weir_group *weir_ctx_group(const struct weir_ctx *ctx)
{
	return ctx->group;
}
