/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flight recorder, as the core's files call it: nothing but a test of one pointer while it is off.
 */
#ifndef WEIR_CORE_RECORD_H
#define WEIR_CORE_RECORD_H

#include "core/core.h"

/* Declares weir_record_NAME(w, ...), which does nothing unless w records. */
#define WEIR_RECORD(name, params, args)                 \
	void weir_rec_##name params;                    \
	static inline void weir_record_##name params    \
	{                                               \
		if (weir_unlikely(w->recorder != NULL)) \
			weir_rec_##name args;           \
	}

WEIR_RECORD(admit,
	    (struct weir * w, struct weir_group *g, enum weir_dir dir, uint32_t bytes, bool yes),
	    (w, g, dir, bytes, yes))
WEIR_RECORD(release, (struct weir * w, struct weir_group *g, enum weir_dir dir), (w, g, dir))
WEIR_RECORD(insert, (struct weir * w, struct weir_rq *rq, enum weir_where where), (w, rq, where))
/* rq NULL: none, ask again at at_ns. */
WEIR_RECORD(dispatch, (struct weir * w, struct weir_rq *rq, uint64_t at_ns), (w, rq, at_ns))
WEIR_RECORD(complete, (struct weir * w, struct weir_rq *rq), (w, rq))
WEIR_RECORD(requeue, (struct weir * w, struct weir_rq *rq, enum weir_requeue how), (w, rq, how))
WEIR_RECORD(remove, (struct weir * w, struct weir_rq *rq, int ret), (w, rq, ret))
WEIR_RECORD(merge_find,
	    (struct weir * w, const struct weir_rq *bio, enum weir_merge kind,
	     struct weir_rq *into),
	    (w, bio, kind, into))
/* then: the neighbour offered, or NULL. */
WEIR_RECORD(merge_bio,
	    (struct weir * w, struct weir_rq *into, const struct weir_rq *bio, enum weir_merge kind,
	     struct weir_rq *then),
	    (w, into, bio, kind, then))
WEIR_RECORD(merge_rq, (struct weir * w, struct weir_rq *first, struct weir_rq *second),
	    (w, first, second))
WEIR_RECORD(group_create, (struct weir * w, struct weir_group *g), (w, g))
WEIR_RECORD(group_remove, (struct weir * w, struct weir_group *g), (w, g))
WEIR_RECORD(group_set, (struct weir * w, struct weir_group *g, const struct weir_group_attr *attr),
	    (w, g, attr))
WEIR_RECORD(ctx_create, (struct weir * w, struct weir_ctx *ctx), (w, ctx))
WEIR_RECORD(ctx_exit, (struct weir * w, struct weir_ctx *ctx), (w, ctx))
WEIR_RECORD(ctx_move, (struct weir * w, struct weir_ctx *ctx, struct weir_group *to), (w, ctx, to))
WEIR_RECORD(ctx_ioprio, (struct weir * w, struct weir_ctx *ctx), (w, ctx))
WEIR_RECORD(switch, (struct weir * w), (w)) /* policy and tunables are the new ones already */
WEIR_RECORD(tunable, (struct weir * w, unsigned int index), (w, index))
WEIR_RECORD(reconfigure, (struct weir * w), (w))
WEIR_RECORD(drain, (struct weir * w, bool on), (w, on))
WEIR_RECORD(stats_reset, (struct weir * w), (w))
/* Around the host's wake(), which may call back: what stands between them came from within. */
WEIR_RECORD(wake, (struct weir * w, struct weir_group *g, enum weir_dir dir), (w, g, dir))
WEIR_RECORD(woken, (struct weir * w), (w))

#endif
