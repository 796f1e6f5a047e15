// SPDX-License-Identifier: GPL-2.0-only
/*
 * A rerun's calls: each is made as recorded, and its answer compared. See rerun_impl.h.
 *
 * Checked here is what would otherwise lead the core to memory that isn't there; what the core
 * asserts is left to it, since the failed assertion says more.
 *
 * A call that may wake the host can have a whole run within it: what it needs afterwards, it takes
 * beforehand.
 */
#include <inttypes.h>

#include "lab/rerun_impl.h"

static uint64_t number_of(struct weir_rq *rq)
{
	return rq ? lab_model_rq_of(rq)->number : 0;
}

static void refuse(struct lab_rerun *r, const struct lab_call *call, const char *why)
{
	snprintf(r->err, sizeof(r->err), "%s", why);
	lab_rerun_bad_call(r, call);
}

/* ---- admission ---- */

static void admit(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_model_group *g = lab_model_group(&r->model, call->group);
	struct lab_call got = {.type = call->type};

	if (!g) {
		lab_rerun_bad_call(r, call);
		return;
	}
	got.yes = weir_admit(r->model.w, g->group, call->dir, call->bytes, call->now_ns);
	if (got.yes)
		g->admitted[call->dir]++;
	if (got.yes != call->yes)
		lab_rerun_answered(r, call, &got);
}

static void release(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_model_group *g = lab_model_group(&r->model, call->group);
	struct weir_group *group;

	if (!g) {
		lab_rerun_bad_call(r, call);
		return;
	}
	if (!g->admitted[call->dir]) {
		refuse(r, call, "the group has no place to give back");
		return;
	}
	group = g->group;
	g->admitted[call->dir]--;
	lab_model_reap(&r->model, g);
	weir_release(r->model.w, group, call->dir, call->now_ns);
}

/* ---- dispatch ---- */

static void check_dispatch(struct lab_rerun *r, const struct lab_call *call, struct weir_rq *rq,
			   uint64_t at_ns)
{
	struct lab_call got = {.type = rq ? WEIR_REC_DISPATCH : WEIR_REC_NONE,
			       .now_ns = call->now_ns,
			       .rq = number_of(rq),
			       .at_ns = at_ns};

	if (r->over)
		return;
	if (got.type != call->type || got.rq != call->rq ||
	    (got.type == WEIR_REC_NONE && at_ns != call->at_ns))
		lab_rerun_answered(r, call, &got);
}

static void dispatch(struct lab_rerun *r, const struct lab_call *call)
{
	struct weir_next next = {.at_ns = WEIR_NEVER};
	struct weir_rq *rq = weir_dispatch(r->model.w, call->now_ns, &next);

	check_dispatch(r, call, rq, next.at_ns);
}

/*
 * A wake that no recorded call explains comes from a dispatch, the one call that is recorded after
 * what happened within it. Its record comes when that is over.
 */
static void dispatch_with_wakes(struct lab_rerun *r, const struct lab_call *wake)
{
	struct weir_next next = {.at_ns = WEIR_NEVER};
	struct lab_call answer;
	struct weir_rq *rq;

	r->wake = wake;
	rq = weir_dispatch(r->model.w, wake->now_ns, &next);
	if (r->over)
		return;
	if (r->wake) {
		r->wake = NULL;
		lab_rerun_differs(r, wake, "no wake");
		return;
	}
	if (!lab_rerun_next(r, &answer))
		return;
	r->current = &answer;
	if (answer.type == WEIR_REC_WAKE)
		lab_rerun_differs(r, &answer, "no further wake");
	else if (answer.type != WEIR_REC_DISPATCH && answer.type != WEIR_REC_NONE)
		refuse(r, &answer, "expected the dispatch from which the host was woken");
	else
		check_dispatch(r, &answer, rq, next.at_ns);
	r->current = wake;
}

/* ---- requests ---- */

static void insert(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_model_rq *rq = lab_model_new_rq(&r->model, call);

	if (!rq)
		lab_rerun_bad_call(r, call);
	else
		weir_insert(r->model.w, &rq->rq, call->bio.head ? WEIR_HEAD : WEIR_TAIL,
			    call->now_ns);
}

static void complete(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_model_rq *rq = lab_model_rq(&r->model, call->rq);

	if (!rq) {
		lab_rerun_bad_call(r, call);
		return;
	}
	weir_complete(r->model.w, &rq->rq, call->now_ns);
	lab_model_rq_left(&r->model, rq);
}

static void requeue(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_model_rq *rq = lab_model_rq(&r->model, call->rq);

	if (!rq)
		lab_rerun_bad_call(r, call);
	else
		weir_requeue(r->model.w, &rq->rq, call->requeue, call->now_ns);
}

static void take_out(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_model_rq *rq = lab_model_rq(&r->model, call->rq);
	struct lab_call got = {.type = call->type};

	if (!rq) {
		lab_rerun_bad_call(r, call);
		return;
	}
	got.yes = !weir_remove(r->model.w, &rq->rq, call->now_ns);
	if (got.yes)
		lab_model_rq_left(&r->model, rq);
	if (got.yes != call->yes)
		lab_rerun_answered(r, call, &got);
}

/* ---- merging ---- */

static void merge_find(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_call got = {.type = call->type};
	struct weir_rq bio, *into = NULL;

	if (!lab_model_bio(&r->model, &call->bio, &bio)) {
		lab_rerun_bad_call(r, call);
		return;
	}
	got.merge = weir_merge_find(r->model.w, &bio, &into, call->now_ns);
	got.rq = number_of(into);
	if (got.merge != call->merge || got.rq != call->rq)
		lab_rerun_answered(r, call, &got);
}

static void merge_bio(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_model_rq *into = lab_model_rq(&r->model, call->rq);
	struct lab_call got = {.type = call->type};
	struct weir_rq bio;

	if (!into || !lab_model_bio(&r->model, &call->bio, &bio)) {
		lab_rerun_bad_call(r, call);
		return;
	}
	if (bio.group != into->rq.group || bio.op != into->rq.op) {
		refuse(r, call, "different groups or operations never merge");
		return;
	}
	got.other =
		number_of(weir_merge_bio(r->model.w, &into->rq, &bio, call->merge, call->now_ns));
	if (got.other != call->other)
		lab_rerun_answered(r, call, &got);
}

static void merge_rq(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_model_rq *first = lab_model_rq(&r->model, call->rq);
	struct lab_model_rq *second = first ? lab_model_rq(&r->model, call->other) : NULL;

	if (!second) {
		lab_rerun_bad_call(r, call);
		return;
	}
	/* Both must be in the look-up: what was never offered for merging is not. */
	if (first == second || !first->rq.hash.next || !second->rq.hash.next) {
		refuse(r, call, "these two can't be joined");
		return;
	}
	weir_merge_rq(r->model.w, &first->rq, &second->rq, call->now_ns);
	lab_model_rq_left(&r->model, second);
}

/* ---- groups and contexts ---- */

static void group_create(struct lab_rerun *r, const struct lab_call *call)
{
	if (!lab_model_add_group(&r->model, call))
		lab_rerun_bad_call(r, call);
}

static void group_remove(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_model_group *g = lab_model_group(&r->model, call->group);
	int err;

	if (!g) {
		lab_rerun_bad_call(r, call);
		return;
	}
	if (!g->parent || g->dying) {
		refuse(r, call, "it can't be removed, or was already");
		return;
	}
	/* As the core does: it stays until the host has been woken for the last time. */
	g->nr_ctxs++;
	g->dying = true;
	err = weir_group_remove(g->group, call->now_ns);
	if (r->over)
		return;
	g->nr_ctxs--;
	if (err)
		refuse(r, call, "it has children");
	else
		lab_model_reap(&r->model, g);
}

static void group_set(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_model_group *g = lab_model_group(&r->model, call->group);
	const char *wrong = weir_group_attr_check(&call->attr);

	if (!g)
		lab_rerun_bad_call(r, call);
	else if (weir_group_set(g->group, &call->attr, call->now_ns))
		refuse(r, call, wrong ? wrong : "has what the root can't have");
}

static void ctx_create(struct lab_rerun *r, const struct lab_call *call)
{
	if (!lab_model_add_ctx(&r->model, call))
		lab_rerun_bad_call(r, call);
}

static void ctx_exit(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_model_ctx *ctx = lab_model_ctx(&r->model, call->ctx);

	if (!ctx) {
		lab_rerun_bad_call(r, call);
		return;
	}
	weir_ctx_exit(ctx->ctx, call->now_ns);
	lab_model_ctx_exited(&r->model, ctx);
}

static void ctx_move(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_model_ctx *ctx = lab_model_ctx(&r->model, call->ctx);
	struct lab_model_group *to = ctx ? lab_model_group(&r->model, call->group) : NULL;

	if (!to) {
		lab_rerun_bad_call(r, call);
		return;
	}
	weir_ctx_move(ctx->ctx, to->group, call->now_ns);
	lab_model_ctx_moved(&r->model, ctx, to);
}

static void ctx_ioprio(struct lab_rerun *r, const struct lab_call *call)
{
	struct lab_model_ctx *ctx = lab_model_ctx(&r->model, call->ctx);

	if (!ctx)
		lab_rerun_bad_call(r, call);
	else
		weir_ctx_set_ioprio(ctx->ctx, (enum weir_ioprio_class)call->ioprio_class,
				    call->ioprio_level, call->now_ns);
}

/* ---- policy and configuration ---- */

static void switch_policy(struct lab_rerun *r, const struct lab_call *call)
{
	const struct weir_policy *policy = lab_model_policy(&r->model, call);
	struct weir_switch *sw;
	int err = 0;

	if (!policy) {
		lab_rerun_bad_call(r, call);
		return;
	}
	sw = weir_switch_prepare(r->model.w, policy, call->tunable, &err);
	if (!sw)
		refuse(r, call, err == -WEIR_ERANGE ? "a tunable is out of range" : "no memory");
	else
		weir_switch_commit(r->model.w, sw, call->now_ns);
}

static void tunable_set(struct lab_rerun *r, const struct lab_call *call)
{
	if (weir_tunable_set(r->model.w, call->index, call->tunable[0], call->now_ns))
		refuse(r, call, "the policy has no such tunable, or the value is out of range");
}

static void reconfigure(struct lab_rerun *r, const struct lab_call *call)
{
	if (weir_reconfigure(r->model.w, &call->cfg, call->now_ns))
		refuse(r, call, "the configuration is out of range");
}

static void drain(struct lab_rerun *r, const struct lab_call *call)
{
	weir_set_drain(r->model.w, call->yes, call->now_ns);
}

static void stats_reset(struct lab_rerun *r, const struct lab_call *call)
{
	weir_stats_reset(r->model.w, call->now_ns);
}

/* The recorded host read statistics, or was refused something; either moves time. */
static void tick(struct lab_rerun *r, const struct lab_call *call)
{
	struct weir_group_stats stats;

	weir_group_read_own_stats(weir_root(r->model.w), call->now_ns, &stats);
}

/* ---- the end ---- */

static void end(struct lab_rerun *r, const struct lab_call *call)
{
	if (call->count != r->result->nr_calls) {
		snprintf(r->err, sizeof(r->err),
			 "says that %" PRIu64 " calls came before: %" PRIu64 " did", call->count,
			 r->result->nr_calls);
		lab_rerun_bad_call(r, call);
		return;
	}
	r->result->overflowed = call->type == WEIR_REC_OVERFLOW;
	r->result->last_ns = call->now_ns;
	lab_rerun_equal(r);
}

static void out_of_place(struct lab_rerun *r, const struct lab_call *call)
{
	refuse(r, call, "out of place");
}

void lab_rerun_replay(struct lab_rerun *r, const struct lab_call *call)
{
	static void (*const replay[WEIR_REC_TYPES])(struct lab_rerun * r,
						    const struct lab_call *call) = {
		[WEIR_REC_ADMIT] = admit,
		[WEIR_REC_RELEASE] = release,
		[WEIR_REC_INSERT] = insert,
		[WEIR_REC_DISPATCH] = dispatch,
		[WEIR_REC_NONE] = dispatch,
		[WEIR_REC_COMPLETE] = complete,
		[WEIR_REC_REQUEUE] = requeue,
		[WEIR_REC_REMOVE] = take_out,
		[WEIR_REC_MERGE_FIND] = merge_find,
		[WEIR_REC_MERGE_BIO] = merge_bio,
		[WEIR_REC_MERGE_RQ] = merge_rq,
		[WEIR_REC_GROUP_CREATE] = group_create,
		[WEIR_REC_GROUP_REMOVE] = group_remove,
		[WEIR_REC_GROUP_SET] = group_set,
		[WEIR_REC_CTX_CREATE] = ctx_create,
		[WEIR_REC_CTX_EXIT] = ctx_exit,
		[WEIR_REC_CTX_MOVE] = ctx_move,
		[WEIR_REC_CTX_IOPRIO] = ctx_ioprio,
		[WEIR_REC_SWITCH] = switch_policy,
		[WEIR_REC_TUNABLE] = tunable_set,
		[WEIR_REC_RECONFIGURE] = reconfigure,
		[WEIR_REC_DRAIN] = drain,
		[WEIR_REC_STATS_RESET] = stats_reset,
		[WEIR_REC_TICK] = tick,
		[WEIR_REC_WAKE] = dispatch_with_wakes,
		[WEIR_REC_END] = end,
		[WEIR_REC_OVERFLOW] = end,
	};
	const struct lab_call *outer = r->current;

	r->current = call;
	if (replay[call->type])
		replay[call->type](r, call);
	else
		out_of_place(r, call);
	r->current = outer;
}
