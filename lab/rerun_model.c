// SPDX-License-Identifier: GPL-2.0-only
/* The instance of a rerun and its books: see rerun_model.h. */
#include "lab/rerun_model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((format(printf, 2, 3))) static bool refuse(struct lab_model *m, const char *format,
							 ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(m->err, m->err_bytes, format, args);
	va_end(args);
	return false;
}

/* ---- memory ---- */

struct block {
	struct weir_list link;
	_Alignas(max_align_t) unsigned char data[];
};

static void *host_alloc(void *priv, size_t bytes)
{
	struct lab_model *m = priv;
	struct block *b = calloc(1, sizeof(*b) + bytes);

	if (!b)
		return NULL;
	list_push_back(&m->memory, &b->link);
	return b->data;
}

static void host_free(void *priv, void *p, size_t bytes)
{
	struct block *b = weir_container_of(p, struct block, data);

	(void)priv;
	(void)bytes;
	list_unlink(&b->link);
	free(b);
}

static void host_wake(void *priv, struct weir_group *g, enum weir_dir dir)
{
	struct lab_model *m = priv;
	struct lab_model_group *mg = weir_group_host_data(g);

	m->wake(m->priv, mg->id, dir);
}

void lab_model_init(struct lab_model *m, char *err, size_t err_bytes)
{
	*m = (struct lab_model){.err = err, .err_bytes = err_bytes};
	list_init(&m->memory);
}

void lab_model_free(struct lab_model *m)
{
	while (!list_is_empty(&m->memory)) {
		struct block *b = list_first(&m->memory, struct block, link);

		list_unlink(&b->link);
		free(b);
	}
	lab_names_free(&m->groups);
	lab_names_free(&m->ctxs);
	lab_names_free(&m->rqs);
	m->w = NULL;
}

/* ---- the state at the start ---- */

const struct weir_policy *lab_model_policy(struct lab_model *m, const struct lab_call *call)
{
	const struct weir_policy *policy = weir_policy_find(call->policy);
	const struct weir_tunable *t;
	unsigned int nr = 0;

	if (!policy) {
		refuse(m, "policy %s: not in this weir (weir policies lists them)", call->policy);
		return NULL;
	}
	for (t = weir_policy_info(policy)->tunables; t && t[nr].name; nr++)
		;
	if (nr == call->nr_tunables)
		return policy;
	refuse(m, "policy %s has %u tunables in the recording, %u in this weir: another version",
	       call->policy, call->nr_tunables, nr);
	return NULL;
}

bool lab_model_create(struct lab_model *m, const struct lab_call *start,
		      const struct weir_policy *policy)
{
	const struct weir_host host = {
		.alloc = host_alloc, .free = host_free, .wake = host_wake, .priv = m};
	int err = 0;

	m->w = weir_create(&start->cfg, &host, policy, start->tunable, start->now_ns, &err);
	if (m->w)
		return true;
	return refuse(m, "the configuration or a tunable of %s is out of range (error %d)",
		      start->policy, err);
}

/* Ids are given in rising order and never twice. */
static bool take_id(struct lab_model *m, uint32_t id, uint32_t *next, const char *what)
{
	if (id < *next || id == UINT32_MAX)
		return refuse(m, "%s %" PRIu32 ": expected a new one, from %" PRIu32, what, id,
			      *next);
	*next = id + 1;
	return true;
}

static bool name_group(struct lab_model *m, struct weir_group *g, uint32_t id,
		       struct lab_model_group *parent)
{
	struct lab_model_group *mg = calloc(1, sizeof(*mg));

	if (!mg || !lab_names_add(&m->groups, id, mg)) {
		free(mg);
		return refuse(m, "no memory for group %" PRIu32, id);
	}
	mg->group = g;
	mg->id = id;
	mg->parent = parent;
	if (parent)
		parent->nr_children++;
	weir_group_set_host_data(g, mg);
	return true;
}

static bool add_root(struct lab_model *m, const struct lab_call *call)
{
	struct weir_group *root = weir_root(m->w);
	int err = weir_group_set(root, &call->attr, call->now_ns);

	if (err || call->yes)
		return refuse(m, "group %" PRIu32 ": has what the root can't have", call->group);
	return name_group(m, root, call->group, NULL);
}

bool lab_model_add_group(struct lab_model *m, const struct lab_call *call)
{
	const char *wrong = weir_group_attr_check(&call->attr);
	struct lab_model_group *parent;
	struct weir_group *g;
	int err = 0;

	if (!take_id(m, call->group, &m->next_group, "group"))
		return false;
	if (wrong)
		return refuse(m, "group %" PRIu32 ": %s", call->group, wrong);
	if (call->type == WEIR_REC_GROUP && call->parent == call->group && !m->groups.nr)
		return add_root(m, call);
	parent = lab_model_group(m, call->parent);
	if (!parent)
		return false;
	g = weir_group_create(m->w, parent->group, &call->attr, call->now_ns, &err);
	if (!g)
		return refuse(m, "group %" PRIu32 " cannot be made below %" PRIu32 " (error %d)",
			      call->group, call->parent, err);
	if (!name_group(m, g, call->group, parent))
		return false;
	if (call->yes) {
		struct lab_model_group *mg = lab_names_find(&m->groups, call->group);

		mg->next_dying = m->dying;
		m->dying = mg;
	}
	return true;
}

bool lab_model_add_ctx(struct lab_model *m, const struct lab_call *call)
{
	struct lab_model_group *g = lab_model_group(m, call->group);
	struct lab_model_ctx *ctx;

	if (!g || !take_id(m, call->ctx, &m->next_ctx, "context"))
		return false;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx || !lab_names_add(&m->ctxs, call->ctx, ctx)) {
		free(ctx);
		return refuse(m, "no memory for context %" PRIu32, call->ctx);
	}
	ctx->id = call->ctx;
	ctx->group = g;
	g->nr_ctxs++;
	ctx->ctx = weir_ctx_create(m->w, g->group, (enum weir_ioprio_class)call->ioprio_class,
				   call->ioprio_level, call->now_ns);
	return ctx->ctx || refuse(m, "no memory for context %" PRIu32, call->ctx);
}

/* Goes through the core's own restart, as the recorded instance did. */
static bool restart(struct lab_model *m, uint64_t now)
{
	size_t bytes = 4 * (size_t)WEIR_RECORD_RING_MIN;
	int err;

	/* The ring has to take the state once; how much that is only the recorder knows. */
	for (;; bytes *= 2) {
		void *ring = host_alloc(m, bytes);

		if (!ring)
			return refuse(m, "no memory for the state at the start");
		err = weir_record_start(m->w, ring, bytes, now);
		if (err != -WEIR_EINVAL)
			break;
		host_free(m, ring, bytes);
	}
	weir_record_stop(m->w, now);
	return !err || refuse(m, "the state at the start is not drained (error %d)", err);
}

bool lab_model_begin(struct lab_model *m, const struct lab_call *start,
		     const struct lab_call *begin)
{
	struct lab_model_group *g, *next;

	if (!m->groups.nr)
		return refuse(m, "no root group in the state at the start");
	if (begin->next_group < m->next_group || begin->next_ctx < m->next_ctx)
		return refuse(m, "ids go on at %" PRIu32 " and %" PRIu32 ", below those in use",
			      begin->next_group, begin->next_ctx);
	m->next_group = begin->next_group;
	m->next_ctx = begin->next_ctx;
	/* Children come after their parents in the recording, so they go first here. */
	for (g = m->dying; g; g = next) {
		int err = weir_group_remove(g->group, begin->now_ns);

		next = g->next_dying;
		if (err)
			return refuse(m, "group %" PRIu32 " cannot have been removed (error %d)",
				      g->id, err);
		g->dying = true;
		lab_model_reap(m, g);
	}
	weir_set_drain(m->w, start->yes, begin->now_ns);
	return restart(m, begin->now_ns);
}

/* ---- names ---- */

struct lab_model_group *lab_model_group(struct lab_model *m, uint32_t id)
{
	struct lab_model_group *g = lab_names_find(&m->groups, id);

	if (!g)
		refuse(m, "group %" PRIu32 ": there is none", id);
	return g;
}

struct lab_model_ctx *lab_model_ctx(struct lab_model *m, uint32_t id)
{
	struct lab_model_ctx *ctx = lab_names_find(&m->ctxs, id);

	if (ctx && !ctx->exited)
		return ctx;
	refuse(m, "context %" PRIu32 ": there is none", id);
	return NULL;
}

struct lab_model_rq *lab_model_rq(struct lab_model *m, uint64_t number)
{
	struct lab_model_rq *rq = lab_names_find(&m->rqs, number);

	if (!rq)
		refuse(m, "request %" PRIu64 ": it has left already", number);
	return rq;
}

/* ---- requests ---- */

static void fill(struct weir_rq *rq, const struct lab_call_bio *from, struct weir_group *g,
		 struct weir_ctx *ctx)
{
	weir_rq_init(rq, (enum weir_op)from->op, from->sector, from->nr_sectors, g, ctx);
	rq->flags = from->flags;
	rq->ioprio_class = from->ioprio_class;
	rq->ioprio_level = from->ioprio_level;
}

/* A context that has exited may be named no more. */
static bool find_owner(struct lab_model *m, const struct lab_call_bio *from,
		       struct lab_model_group **g, struct lab_model_ctx **ctx)
{
	*ctx = NULL;
	*g = lab_model_group(m, from->group);
	if (!*g)
		return false;
	if (!from->ctx)
		return true;
	*ctx = lab_model_ctx(m, from->ctx - 1);
	return *ctx != NULL;
}

bool lab_model_bio(struct lab_model *m, const struct lab_call_bio *from, struct weir_rq *bio)
{
	struct lab_model_group *g;
	struct lab_model_ctx *ctx;

	if (!find_owner(m, from, &g, &ctx))
		return false;
	fill(bio, from, g->group, ctx ? ctx->ctx : NULL);
	return true;
}

struct lab_model_rq *lab_model_new_rq(struct lab_model *m, const struct lab_call *call)
{
	struct lab_model_group *g;
	struct lab_model_ctx *ctx;
	struct lab_model_rq *rq;

	if (!find_owner(m, &call->bio, &g, &ctx))
		return NULL;
	rq = calloc(1, sizeof(*rq));
	if (!rq || !lab_names_add(&m->rqs, call->rq, rq)) {
		free(rq);
		refuse(m, "no memory for request %" PRIu64, call->rq);
		return NULL;
	}
	fill(&rq->rq, &call->bio, g->group, ctx ? ctx->ctx : NULL);
	rq->number = call->rq;
	rq->group = g;
	rq->ctx = ctx;
	g->nr_rqs++;
	if (ctx)
		ctx->nr_rqs++;
	return rq;
}

/* ---- what leaves ---- */

void lab_model_reap(struct lab_model *m, struct lab_model_group *g)
{
	while (g && g->dying && !g->nr_rqs && !g->nr_ctxs && !g->nr_children &&
	       !g->admitted[WEIR_READ] && !g->admitted[WEIR_WRITE]) {
		struct lab_model_group *parent = g->parent;

		lab_names_del(&m->groups, g->id);
		free(g);
		if (parent)
			parent->nr_children--;
		g = parent;
	}
}

static void reap_ctx(struct lab_model *m, struct lab_model_ctx *ctx)
{
	struct lab_model_group *g = ctx->group;

	if (!ctx->exited || ctx->nr_rqs)
		return;
	lab_names_del(&m->ctxs, ctx->id);
	free(ctx);
	g->nr_ctxs--;
	lab_model_reap(m, g);
}

void lab_model_rq_left(struct lab_model *m, struct lab_model_rq *rq)
{
	struct lab_model_group *g = rq->group;

	if (rq->ctx) {
		rq->ctx->nr_rqs--;
		reap_ctx(m, rq->ctx);
	}
	lab_names_del(&m->rqs, rq->number);
	free(rq);
	g->nr_rqs--;
	lab_model_reap(m, g);
}

void lab_model_ctx_exited(struct lab_model *m, struct lab_model_ctx *ctx)
{
	ctx->exited = true;
	reap_ctx(m, ctx);
}

void lab_model_ctx_moved(struct lab_model *m, struct lab_model_ctx *ctx, struct lab_model_group *to)
{
	struct lab_model_group *from = ctx->group;

	ctx->group = to;
	to->nr_ctxs++;
	from->nr_ctxs--;
	lab_model_reap(m, from);
}
