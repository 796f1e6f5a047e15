// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flight recorder: each call as a record. record_format.h has the layout, record_ring.h where the
 * bytes go, record_start.c the beginning and the end.
 *
 * What makes records small: times are distances; a request is named by how many were inserted
 * since; and a bio is written as what differs from the one before it, so a look-up for a merge
 * followed by the insertion of the same bio costs three bytes more than the insertion alone.
 */
#include "core/record.h"

#include "core/record_encode.h"

/* The call did not fit. It happened, and is missing: so nothing after it could be run again. */
static void overflow(struct weir *w)
{
	struct weir_recorder *r = w->recorder;
	uint8_t *p = weir_ring_reserve_end(r);

	*p++ = WEIR_REC_OVERFLOW;
	p = weir_put_varint(p, w->now - r->last_ns);
	p = weir_put_varint(p, r->nr_calls);
	weir_ring_commit(r, p);
	weir_ring_seal(r);
	r->overflowed = true;
	w->recorder = NULL;
	weir_rare_update(w);
}

uint8_t *weir_record_begin(struct weir *w, enum weir_record_type type, uint32_t bytes)
{
	struct weir_recorder *r = w->recorder;
	uint8_t *p = weir_ring_reserve(r, bytes);

	if (weir_unlikely(!p)) {
		overflow(w);
		return NULL;
	}
	r->nr_calls++;
	if (w->now == r->last_ns) {
		*p++ = (uint8_t)type | WEIR_REC_SAME_NS;
		return p;
	}
	*p++ = (uint8_t)type;
	p = weir_put_varint(p, w->now - r->last_ns);
	r->last_ns = w->now;
	return p;
}

static uint8_t *begin(struct weir *w, enum weir_record_type type)
{
	return weir_record_begin(w, type, WEIR_REC_CALL_BYTES);
}

/* How many were inserted since: 0 is the latest. */
static uint8_t *put_rq(uint8_t *p, const struct weir *w, const struct weir_rq *rq)
{
	return weir_put_varint(p, w->seq - rq->seq);
}

/* The same plus one, or 0 for none. */
static uint8_t *put_rq_or_none(uint8_t *p, const struct weir *w, const struct weir_rq *rq)
{
	return weir_put_varint(p, rq ? 1 + w->seq - rq->seq : 0);
}

static uint8_t bio_mask(const struct weir_rec_bio *was, const struct weir_rec_bio *is)
{
	return (uint8_t)((is->sector != was->sector ? WEIR_REC_BIO_SECTOR : 0) |
			 (is->nr_sectors != was->nr_sectors ? WEIR_REC_BIO_LENGTH : 0) |
			 (is->op != was->op ? WEIR_REC_BIO_OP : 0) |
			 (is->flags != was->flags ? WEIR_REC_BIO_FLAGS : 0) |
			 (is->ioprio_class != was->ioprio_class ||
					  is->ioprio_level != was->ioprio_level
				  ? WEIR_REC_BIO_PRIO
				  : 0) |
			 (is->group != was->group ? WEIR_REC_BIO_GROUP : 0) |
			 (is->ctx != was->ctx ? WEIR_REC_BIO_CTX : 0));
}

static uint8_t *put_bio(uint8_t *p, struct weir_recorder *r, const struct weir_rq *rq, uint8_t head)
{
	struct weir_rec_bio is = {
		.sector = rq->sector,
		.nr_sectors = rq->nr_sectors,
		.op = rq->op,
		.flags = rq->flags,
		.ioprio_class = rq->ioprio_class,
		.ioprio_level = rq->ioprio_level,
		.group = rq->group->id,
		.ctx = rq->ctx ? 1 + rq->ctx->id : 0,
	};
	const struct weir_rec_bio *was = &r->bio;
	uint8_t mask = bio_mask(was, &is);

	*p++ = mask | head;
	if (mask & WEIR_REC_BIO_SECTOR)
		p = weir_put_varint(p, weir_zigzag(is.sector - was->sector - was->nr_sectors));
	if (mask & WEIR_REC_BIO_LENGTH)
		p = weir_put_varint(p, is.nr_sectors);
	if (mask & WEIR_REC_BIO_OP)
		*p++ = is.op;
	if (mask & WEIR_REC_BIO_FLAGS)
		p = weir_put_varint(p, is.flags);
	if (mask & WEIR_REC_BIO_PRIO) {
		*p++ = is.ioprio_class;
		*p++ = is.ioprio_level;
	}
	if (mask & WEIR_REC_BIO_GROUP)
		p = weir_put_varint(p, is.group);
	if (mask & WEIR_REC_BIO_CTX)
		p = weir_put_varint(p, is.ctx);
	r->bio = is;
	return p;
}

/*
 * w->now is about to pass. If no record has it, a call that is not recorded moved time there. No
 * answer was given, but what ends by itself (who counts as active) may have ended in another order
 * than it would without that stop.
 */
void weir_rec_tick(struct weir *w)
{
	uint8_t *p;

	if (w->now == w->recorder->last_ns)
		return;
	p = begin(w, WEIR_REC_TICK);
	if (p)
		weir_record_done(w, p);
}

/* ---- admission ---- */

void weir_rec_admit(struct weir *w, struct weir_group *g, enum weir_dir dir, uint32_t bytes,
		    bool yes)
{
	uint8_t *p = begin(w, WEIR_REC_ADMIT);

	if (!p)
		return;
	*p++ = (uint8_t)(dir | yes << 1);
	p = weir_put_varint(p, g->id);
	weir_record_done(w, weir_put_varint(p, bytes));
}

static void record_group_dir(struct weir *w, enum weir_record_type type, const struct weir_group *g,
			     enum weir_dir dir)
{
	uint8_t *p = begin(w, type);

	if (!p)
		return;
	*p++ = (uint8_t)dir;
	weir_record_done(w, weir_put_varint(p, g->id));
}

void weir_rec_release(struct weir *w, struct weir_group *g, enum weir_dir dir)
{
	record_group_dir(w, WEIR_REC_RELEASE, g, dir);
}

void weir_rec_wake(struct weir *w, struct weir_group *g, enum weir_dir dir)
{
	record_group_dir(w, WEIR_REC_WAKE, g, dir);
}

void weir_rec_woken(struct weir *w)
{
	uint8_t *p = begin(w, WEIR_REC_WOKEN);

	if (p)
		weir_record_done(w, p);
}

/* ---- requests ---- */

void weir_rec_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	uint8_t *p = begin(w, WEIR_REC_INSERT);

	if (p)
		weir_record_done(
			w, put_bio(p, w->recorder, rq, where == WEIR_HEAD ? WEIR_REC_BIO_HEAD : 0));
}

static void record_rq(struct weir *w, enum weir_record_type type, const struct weir_rq *rq)
{
	uint8_t *p = begin(w, type);

	if (p)
		weir_record_done(w, put_rq(p, w, rq));
}

void weir_rec_dispatch(struct weir *w, struct weir_rq *rq, uint64_t at_ns)
{
	uint8_t *p;

	if (rq) {
		record_rq(w, WEIR_REC_DISPATCH, rq);
		return;
	}
	p = begin(w, WEIR_REC_NONE);
	/* The core answers with a later time than now, so 0 is free to mean never. */
	if (p)
		weir_record_done(w, weir_put_varint(p, at_ns == WEIR_NEVER ? 0 : at_ns - w->now));
}

void weir_rec_complete(struct weir *w, struct weir_rq *rq)
{
	record_rq(w, WEIR_REC_COMPLETE, rq);
}

void weir_rec_requeue(struct weir *w, struct weir_rq *rq, enum weir_requeue how)
{
	uint8_t *p = begin(w, WEIR_REC_REQUEUE);

	if (!p)
		return;
	*p++ = (uint8_t)how;
	weir_record_done(w, put_rq(p, w, rq));
}

void weir_rec_remove(struct weir *w, struct weir_rq *rq, int ret)
{
	uint8_t *p = begin(w, WEIR_REC_REMOVE);

	if (!p)
		return;
	*p++ = ret ? 1 : 0;
	weir_record_done(w, put_rq(p, w, rq));
}

/* ---- merging ---- */

void weir_rec_merge_find(struct weir *w, const struct weir_rq *bio, enum weir_merge kind,
			 struct weir_rq *into)
{
	uint8_t *p = begin(w, WEIR_REC_MERGE_FIND);

	if (!p)
		return;
	p = put_bio(p, w->recorder, bio, 0);
	*p++ = (uint8_t)kind;
	if (kind != WEIR_MERGE_NONE)
		p = put_rq(p, w, into);
	weir_record_done(w, p);
}

void weir_rec_merge_bio(struct weir *w, struct weir_rq *into, const struct weir_rq *bio,
			enum weir_merge kind, struct weir_rq *then)
{
	uint8_t *p = begin(w, WEIR_REC_MERGE_BIO);

	if (!p)
		return;
	p = put_bio(p, w->recorder, bio, 0);
	*p++ = (uint8_t)kind;
	p = put_rq(p, w, into);
	weir_record_done(w, put_rq_or_none(p, w, then));
}

void weir_rec_merge_rq(struct weir *w, struct weir_rq *first, struct weir_rq *second)
{
	uint8_t *p = begin(w, WEIR_REC_MERGE_RQ);

	if (!p)
		return;
	p = put_rq(p, w, first);
	weir_record_done(w, put_rq(p, w, second));
}

/* ---- groups and contexts ---- */

void weir_rec_group_create(struct weir *w, struct weir_group *g)
{
	uint8_t *p = weir_record_begin(w, WEIR_REC_GROUP_CREATE, WEIR_REC_LARGE_BYTES);

	if (!p)
		return;
	p = weir_put_varint(p, g->id);
	p = weir_put_varint(p, g->parent->id);
	weir_record_done(w, weir_encode_attr(p, &g->attr));
}

void weir_rec_group_remove(struct weir *w, struct weir_group *g)
{
	uint8_t *p = begin(w, WEIR_REC_GROUP_REMOVE);

	if (p)
		weir_record_done(w, weir_put_varint(p, g->id));
}

void weir_rec_group_set(struct weir *w, struct weir_group *g, const struct weir_group_attr *attr)
{
	uint8_t *p = weir_record_begin(w, WEIR_REC_GROUP_SET, WEIR_REC_LARGE_BYTES);

	if (!p)
		return;
	p = weir_put_varint(p, g->id);
	weir_record_done(w, weir_encode_attr(p, attr));
}

void weir_rec_ctx_create(struct weir *w, struct weir_ctx *ctx)
{
	uint8_t *p = begin(w, WEIR_REC_CTX_CREATE);

	if (!p)
		return;
	p = weir_put_varint(p, ctx->id);
	p = weir_put_varint(p, ctx->group->id);
	*p++ = ctx->ioprio_class;
	*p++ = ctx->ioprio_level;
	weir_record_done(w, p);
}

void weir_rec_ctx_exit(struct weir *w, struct weir_ctx *ctx)
{
	uint8_t *p = begin(w, WEIR_REC_CTX_EXIT);

	if (p)
		weir_record_done(w, weir_put_varint(p, ctx->id));
}

void weir_rec_ctx_move(struct weir *w, struct weir_ctx *ctx, struct weir_group *to)
{
	uint8_t *p = begin(w, WEIR_REC_CTX_MOVE);

	if (!p)
		return;
	p = weir_put_varint(p, ctx->id);
	weir_record_done(w, weir_put_varint(p, to->id));
}

void weir_rec_ctx_ioprio(struct weir *w, struct weir_ctx *ctx)
{
	uint8_t *p = begin(w, WEIR_REC_CTX_IOPRIO);

	if (!p)
		return;
	p = weir_put_varint(p, ctx->id);
	*p++ = ctx->ioprio_class;
	*p++ = ctx->ioprio_level;
	weir_record_done(w, p);
}

/* ---- policy and configuration ---- */

void weir_rec_switch(struct weir *w)
{
	uint8_t *p = weir_record_begin(w, WEIR_REC_SWITCH, WEIR_REC_LARGE_BYTES);

	if (p)
		weir_record_done(w, weir_encode_policy(p, w));
}

void weir_rec_tunable(struct weir *w, unsigned int index)
{
	uint8_t *p = begin(w, WEIR_REC_TUNABLE);

	if (!p)
		return;
	p = weir_put_varint(p, index);
	weir_record_done(w, weir_put_varint(p, w->tunable[index]));
}

void weir_rec_reconfigure(struct weir *w)
{
	uint8_t *p = weir_record_begin(w, WEIR_REC_RECONFIGURE, WEIR_REC_LARGE_BYTES);

	if (p)
		weir_record_done(w, weir_encode_config(p, &w->cfg));
}

void weir_rec_stats_reset(struct weir *w)
{
	uint8_t *p = begin(w, WEIR_REC_STATS_RESET);

	if (p)
		weir_record_done(w, p);
}

void weir_rec_drain(struct weir *w, bool on)
{
	uint8_t *p = begin(w, WEIR_REC_DRAIN);

	if (!p)
		return;
	*p++ = on;
	weir_record_done(w, p);
}
