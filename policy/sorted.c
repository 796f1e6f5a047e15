/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests by position and by expiry: see sorted.h. */
#include "policy/sorted.h"

static struct weir_rq *rq_of(struct weir_rb *node)
{
	return node ? weir_container_of(node, struct weir_sorted_rq, node)->rq : NULL;
}

void weir_sorted_init(struct weir_sorted *s)
{
	weir_rb_init(&s->tree);
	list_init(&s->fifo);
}

void weir_sorted_insert(struct weir_sorted *s, struct weir_rq *rq, uint64_t expires_ns)
{
	struct weir_sorted_rq *srq = weir_sorted_rq(rq);

	srq->rq = rq;
	srq->expires_ns = expires_ns;
	weir_rb_insert(&s->tree, &srq->node, rq->sector);
	list_push_back(&s->fifo, &rq->link);
}

void weir_sorted_remove(struct weir_sorted *s, struct weir_rq *rq)
{
	list_unlink(&rq->link);
	weir_rb_erase(&s->tree, &weir_sorted_rq(rq)->node);
}

struct weir_rq *weir_sorted_oldest(const struct weir_sorted *s)
{
	return list_is_empty(&s->fifo) ? NULL : list_first(&s->fifo, struct weir_rq, link);
}

struct weir_rq *weir_sorted_from(const struct weir_sorted *s, uint64_t sector)
{
	return rq_of(weir_rb_at_or_after(&s->tree, sector));
}

struct weir_rq *weir_sorted_at(const struct weir_sorted *s, uint64_t sector)
{
	struct weir_rq *rq = weir_sorted_from(s, sector);

	return rq && rq->sector == sector ? rq : NULL;
}

struct weir_rq *weir_sorted_next(struct weir_rq *rq)
{
	return rq_of(weir_rb_next(&weir_sorted_rq(rq)->node));
}

struct weir_rq *weir_sorted_prev(struct weir_rq *rq)
{
	return rq_of(weir_rb_prev(&weir_sorted_rq(rq)->node));
}

void weir_sorted_moved(struct weir_sorted *s, struct weir_rq *rq)
{
	struct weir_sorted_rq *srq = weir_sorted_rq(rq);

	weir_rb_erase(&s->tree, &srq->node);
	weir_rb_insert(&s->tree, &srq->node, rq->sector);
}

void weir_sorted_join(struct weir_rq *first, struct weir_rq *second)
{
	struct weir_sorted_rq *a = weir_sorted_rq(first), *b = weir_sorted_rq(second);

	if (b->expires_ns >= a->expires_ns)
		return;
	a->expires_ns = b->expires_ns;
	list_unlink(&first->link);
	list_replace(&second->link, &first->link);
	list_init(&second->link); /* for its removal, which follows */
}
