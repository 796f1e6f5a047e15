/* SPDX-License-Identifier: GPL-2.0-only */
/* Flight recorder: placeholder until the writer is in. */
#include "core/record.h"

void weir_rec_admit(struct weir *w, struct weir_group *g, enum weir_dir dir, uint32_t bytes,
		    bool yes)
{
	(void)w, (void)g, (void)dir, (void)bytes, (void)yes;
}

void weir_rec_release(struct weir *w, struct weir_group *g, enum weir_dir dir)
{
	(void)w, (void)g, (void)dir;
}

void weir_rec_insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	(void)w, (void)rq, (void)where;
}

void weir_rec_dispatch(struct weir *w, struct weir_rq *rq, uint64_t at_ns)
{
	(void)w, (void)rq, (void)at_ns;
}

void weir_rec_complete(struct weir *w, struct weir_rq *rq)
{
	(void)w, (void)rq;
}

void weir_rec_requeue(struct weir *w, struct weir_rq *rq, enum weir_requeue how)
{
	(void)w, (void)rq, (void)how;
}

void weir_rec_remove(struct weir *w, struct weir_rq *rq, int ret)
{
	(void)w, (void)rq, (void)ret;
}

void weir_rec_merge_find(struct weir *w, const struct weir_rq *bio, enum weir_merge kind, struct weir_rq *into)
{
	(void)w, (void)bio, (void)kind, (void)into;
}

void weir_rec_merge_bio(struct weir *w, struct weir_rq *into, const struct weir_rq *bio, enum weir_merge kind, struct weir_rq *then)
{
	(void)w, (void)into, (void)bio, (void)kind, (void)then;
}

void weir_rec_merge_rq(struct weir *w, struct weir_rq *first, struct weir_rq *second)
{
	(void)w, (void)first, (void)second;
}

void weir_rec_group_create(struct weir *w, struct weir_group *g)
{
	(void)w, (void)g;
}

void weir_rec_group_remove(struct weir *w, struct weir_group *g)
{
	(void)w, (void)g;
}

void weir_rec_group_set(struct weir *w, struct weir_group *g, const struct weir_group_attr *attr)
{
	(void)w, (void)g, (void)attr;
}

void weir_rec_ctx_create(struct weir *w, struct weir_ctx *ctx)
{
	(void)w, (void)ctx;
}

void weir_rec_ctx_exit(struct weir *w, struct weir_ctx *ctx)
{
	(void)w, (void)ctx;
}

void weir_rec_ctx_move(struct weir *w, struct weir_ctx *ctx, struct weir_group *to)
{
	(void)w, (void)ctx, (void)to;
}

void weir_rec_ctx_ioprio(struct weir *w, struct weir_ctx *ctx)
{
	(void)w, (void)ctx;
}

void weir_rec_switch(struct weir *w)
{
	(void)w;
}

void weir_rec_tunable(struct weir *w, unsigned int index)
{
	(void)w, (void)index;
}

void weir_rec_reconfigure(struct weir *w)
{
	(void)w;
}

void weir_rec_drain(struct weir *w, bool on)
{
	(void)w, (void)on;
}

int weir_record_start(struct weir *w, void *ring, size_t bytes, uint64_t now)
{
	(void)w, (void)ring, (void)bytes, (void)now;
	return -WEIR_EOPNOTSUPP;
}

void weir_record_stop(struct weir *w, uint64_t now)
{
	(void)w, (void)now;
}

size_t weir_record_read(struct weir *w, void *buf, size_t bytes)
{
	(void)w, (void)buf, (void)bytes;
	return 0;
}

bool weir_record_overflowed(const struct weir *w)
{
	(void)w;
	return false;
}
