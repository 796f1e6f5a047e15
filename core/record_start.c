// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flight recorder: beginning and end.
 *
 * A rerun knows nothing of what the instance did before. So a recording starts where no request
 * waits or is in flight, and all that is left of earlier ones is forgotten: the policy's state,
 * what ceilings are owed, where the last request ended, who is active. What then decides about
 * answers is the configuration, the policy with its tunables, the groups and the contexts, and
 * those are written first. Counters, histograms and judgements are not touched: no answer
 * may depend on them, other than by how much they grow.
 *
 * The rerun builds the same groups and contexts and calls weir_record_start() too. Both go through
 * restart() below in the same order, so that nothing depends on how the state had come about.
 */
#include "core/record.h"

#include "core/record_encode.h"

/* Whose turn it is to be told that there is room again is told now: everything is free. */
static bool is_drained(struct weir *w)
{
	if (weir_nr_waiting(w) || w->nr_in_flight)
		return false;
	weir_admission_wake(w);
	return !weir_nr_waiting(w) && !w->nr_in_flight && !w->pool_used && !w->waking &&
	       list_is_empty(&w->admit_waiters);
}

static void forget_group(struct weir_group *g)
{
	unsigned int dir;

	weir_entitle_unclaim(g, g->w->now);
	for (dir = 0; dir < WEIR_NR_DIRS; dir++)
		g->end_sector[dir] = 0;
}

static void restart(struct weir *w)
{
	struct weir_group *g;
	struct weir_ctx *ctx;
	unsigned int dir;

	list_for_each(g, &w->groups, struct weir_group, all)
		forget_group(g);
	list_for_each(ctx, &w->ctxs, struct weir_ctx, all)
		for (dir = 0; dir < WEIR_NR_DIRS; dir++)
			ctx->end_sector[dir] = 0;
	weir_assert(list_is_empty(&w->claims) && !w->last_merge);
	weir_wait_set_next(&w->clocks, NULL);
	weir_wait_set(&w->clocks, WEIR_CLOCK_HOST);
	weir_limits_reset(w);
	weir_policy_restart(w);
}

/* ---- the state at the start ---- */

static void write_start(struct weir *w)
{
	uint8_t *p = weir_record_begin(w, WEIR_REC_START, WEIR_REC_LARGE_BYTES);

	if (!p)
		return;
	*p++ = WEIR_RECORD_VERSION;
	p = weir_encode_name(p, WEIR_VERSION);
	p = weir_put_varint(p, w->now);
	p = weir_put_varint(p, w->seq);
	*p++ = w->drain;
	p = weir_encode_config(p, &w->cfg);
	weir_record_done(w, weir_encode_policy(p, w));
}

static void write_group(struct weir *w, const struct weir_group *g)
{
	uint8_t *p = weir_record_begin(w, WEIR_REC_GROUP, WEIR_REC_LARGE_BYTES);

	if (!p)
		return;
	p = weir_put_varint(p, g->id);
	p = weir_put_varint(p, g->parent ? g->parent->id : g->id);
	*p++ = g->dying ? WEIR_REC_GROUP_DYING : 0;
	weir_record_done(w, weir_encode_attr(p, &g->attr));
}

static void write_ctx(struct weir *w, const struct weir_ctx *ctx)
{
	uint8_t *p = weir_record_begin(w, WEIR_REC_CONTEXT, WEIR_REC_CALL_BYTES);

	if (!p)
		return;
	p = weir_put_varint(p, ctx->id);
	p = weir_put_varint(p, ctx->group->id);
	*p++ = ctx->ioprio_class;
	*p++ = ctx->ioprio_level;
	weir_record_done(w, p);
}

static void write_begin(struct weir *w)
{
	uint8_t *p = weir_record_begin(w, WEIR_REC_BEGIN, WEIR_REC_CALL_BYTES);

	if (!p)
		return;
	p = weir_put_varint(p, w->next_group_id);
	weir_record_done(w, weir_put_varint(p, w->next_ctx_id));
}

/* False: the ring has no room for it. */
static bool write_state(struct weir *w)
{
	struct weir_group *g;
	struct weir_ctx *ctx;

	write_start(w);
	list_for_each(g, &w->groups, struct weir_group, all)
		if (w->recorder)
			write_group(w, g);
	list_for_each(ctx, &w->ctxs, struct weir_ctx, all)
		if (w->recorder)
			write_ctx(w, ctx);
	if (w->recorder)
		write_begin(w);
	return w->recorder != NULL;
}

/* ---- for the host ---- */

int weir_record_start(struct weir *w, void *ring, size_t bytes, uint64_t now)
{
	struct weir_recorder *r;

	weir_tick(w, now);
	if (w->recorder || !is_drained(w))
		return -WEIR_EBUSY;
	r = weir_ring_init(ring, bytes);
	if (!r)
		return -WEIR_EINVAL;
	r->last_ns = w->now;
	w->recording = NULL;
	w->recorder = r;
	if (!write_state(w))
		return -WEIR_EINVAL;
	/* Not yet on the record: what the policy does while it restarts is part of the start. */
	w->recorder = NULL;
	restart(w);
	r->nr_calls = 0;
	w->recorder = r;
	w->recording = r;
	weir_rare_update(w);
	return 0;
}

void weir_record_stop(struct weir *w, uint64_t now)
{
	struct weir_recorder *r;
	uint8_t *p;

	weir_tick(w, now);
	r = w->recorder;
	if (!r)
		return;
	p = weir_ring_reserve_end(r);
	*p++ = WEIR_REC_END;
	p = weir_put_varint(p, w->now - r->last_ns);
	p = weir_put_varint(p, r->nr_calls);
	weir_ring_commit(r, p);
	weir_ring_seal(r);
	w->recorder = NULL;
	weir_rare_update(w);
}

size_t weir_record_read(struct weir *w, void *buf, size_t bytes)
{
	return w->recording ? weir_ring_read(w->recording, buf, bytes) : 0;
}

bool weir_record_overflowed(const struct weir *w)
{
	return w->recording && w->recording->overflowed;
}

size_t weir_record_used(const struct weir *w)
{
	const struct weir_recorder *r = w->recording;

	if (!r)
		return 0;
	return (size_t)r->sealed_bytes + (w->recorder ? r->fill : 0);
}
