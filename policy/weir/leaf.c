/* SPDX-License-Identifier: GPL-2.0-only */
/* Order of one group's own requests, what is rare: see leaf.h. */
#include "policy/weir/leaf.h"

enum {
	LEAF_LOOK = 32, /* so far a look for a request of one direction goes */
};

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

static bool has_near_front(const struct weir_list *list, enum weir_dir dir)
{
	const struct weir_rq *rq;
	unsigned int n = 0;

	list_for_each(rq, list, struct weir_rq, link) {
		if (weir_op_dir(rq->op) == dir)
			return true;
		if (++n == LEAF_LOOK)
			break;
	}
	return false;
}

struct weir_rq *wp_leaf_peek_dir(const struct wp *p, const struct wp_group *pg, enum weir_dir dir)
{
	struct weir_rq *first = wp_leaf_peek(p, pg), *rq;

	if (!first || weir_op_dir(first->op) == dir || pg->nr_head)
		return first && weir_op_dir(first->op) == dir ? first : NULL;
	rq = first_in_dir(pg->nr_sync, &pg->sync, dir);
	if (!rq)
		rq = first_in_dir(pg->nr_async, &pg->async, dir);
	/* Behind others of its own kind: these go first. */
	if (!rq && (has_near_front(&pg->sync, dir) || has_near_front(&pg->async, dir)))
		rq = first;
	return rq;
}
