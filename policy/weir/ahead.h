/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looking ahead: the memory that the next request will touch is asked for while others come and go
 * (core/prefetch.h).
 *
 * Whose turn is next is known while the one before it goes. So its leaf is asked for after a
 * dispatch; what the leaf names, its group, its first request and its parent, after a completion;
 * and what those name after an insertion. In a steady state there is one of each between one
 * dispatch and the next. All that is only looked at, and may change again.
 */
#ifndef WEIR_POLICY_WEIR_AHEAD_H
#define WEIR_POLICY_WEIR_AHEAD_H

#include "core/prefetch.h"
#include "policy/weir/leaf.h"

static weir_inlined void wp_ahead_dispatched(const struct wp *p)
{
	if (weir_policy_queued(p->w))
		weir_prefetch_lines(p->root->next, 2);
}

/* Most probably: reads and writes are in order between them, but to know it takes their memory. */
static weir_inlined struct weir_rq *wp_ahead_first(const struct wp_group *pg)
{
	const struct weir_list *reads = &pg->sync[WEIR_READ];

	return list_first(list_is_empty(reads) ? &pg->sync[WEIR_WRITE] : reads, struct weir_rq,
			  link);
}

static weir_inlined void wp_ahead_completed(const struct wp *p)
{
	const struct wp_group *pg = p->root->next;

	if (!weir_policy_queued(p->w))
		return;
	weir_prefetch_group(pg->g);
	weir_prefetch(pg->parent);
	if (wp_leaf_nr_sync(pg))
		weir_prefetch_rq(wp_ahead_first(pg));
}

static weir_inlined void wp_ahead_inserted(const struct wp *p)
{
	const struct wp_group *pg = p->root->next;

	if (pg->parent)
		weir_prefetch_lines(pg->parent->g, 2);
	if (wp_leaf_nr_sync(pg))
		weir_prefetch_start(wp_ahead_first(pg), weir_now(p->w));
}

#endif
