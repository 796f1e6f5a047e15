/* SPDX-License-Identifier: GPL-2.0-only */
/* Order of one group's own requests, what is rare: see leaf.h. */
#include "policy/weir/leaf.h"

void wp_leaf_init(struct wp_group *pg)
{
	list_init(&pg->head);
	list_init(&pg->sync[WEIR_READ]);
	list_init(&pg->sync[WEIR_WRITE]);
	list_init(&pg->async);
}

struct weir_rq *wp_leaf_peek_dir(const struct wp *p, const struct wp_group *pg, enum weir_dir dir)
{
	struct weir_rq *first = wp_leaf_peek(p, pg), *rq = NULL;

	if (!first || weir_op_dir(first->op) == dir)
		return first;
	if (!list_is_empty(&pg->sync[dir]))
		rq = list_first(&pg->sync[dir], struct weir_rq, link);
	else if (dir == WEIR_WRITE && pg->nr_async)
		rq = list_first(&pg->async, struct weir_rq, link);
	/* Nothing goes before head insertions. */
	return rq && pg->nr_head ? first : rq;
}
