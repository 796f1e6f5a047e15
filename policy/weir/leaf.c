/* SPDX-License-Identifier: GPL-2.0-only */
/* Order of one group's own requests, what is rare: see leaf.h. */
#include "policy/weir/leaf.h"

void wp_leaf_init(struct wp_group *pg)
{
	list_init(&pg->head);
	list_init(&pg->sync);
	list_init(&pg->async);
}

static struct weir_rq *first_in_dir(uint32_t nr, const struct weir_list *list, enum weir_dir dir)
{
	struct weir_rq *rq = nr ? list_first(list, struct weir_rq, link) : NULL;

	return rq && weir_op_dir(rq->op) == dir ? rq : NULL;
}

struct weir_rq *wp_leaf_peek_dir(const struct wp *p, const struct wp_group *pg, enum weir_dir dir)
{
	struct weir_rq *rq = wp_leaf_peek(p, pg);

	if (!rq || weir_op_dir(rq->op) == dir)
		return rq;
	if (pg->nr_head)
		return NULL;
	rq = first_in_dir(pg->nr_sync, &pg->sync, dir);
	return rq ? rq : first_in_dir(pg->nr_async, &pg->async, dir);
}
