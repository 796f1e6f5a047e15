/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asking for cache lines before they are needed.
 *
 * With thousands of groups a request touches some twenty lines that are not in the near caches, one
 * found through the other. But which request goes next is known while the one before it goes: so
 * the memory can be at work between two calls, and the lines be there when the next one comes.
 * Asked for in steps, since a step can only look into what the one before it has brought near; none
 * may wait for memory itself, or it would cost what it should save.
 *
 * A hint: nothing depends on it, and any address will do.
 */
#ifndef WEIR_CORE_PREFETCH_H
#define WEIR_CORE_PREFETCH_H

#include "core/core.h"
#include "core/memory.h"

/*
 * gcc takes a function that does nothing but ask for one without effect, and drops the call if it is
 * not inlined before it looks: so all that ask are weir_inlined.
 */

/* So many groups and their requests fit the near caches. */
#define WEIR_PREFETCH_GROUPS 512

static inline bool weir_prefetch_pays(const struct weir *w)
{
	return w->nr_groups > WEIR_PREFETCH_GROUPS;
}

static weir_inlined void weir_prefetch(const void *p)
{
	__builtin_prefetch(p, 1);
}

/* The first lines from p on: all of an object that begins with a line. */
static weir_inlined void weir_prefetch_lines(const void *p, unsigned int lines)
{
	const char *line = p;

	while (lines--) {
		weir_prefetch(line);
		line += WEIR_LINE_BYTES;
	}
}

/* What the core touches of a group when one of its requests goes, and what of the request. */
static weir_inlined void weir_prefetch_group(const struct weir_group *g)
{
	weir_prefetch_lines(g, 2);
}

/* Requests begin anywhere in a line. */
static weir_inlined void weir_prefetch_rq(const struct weir_rq *rq)
{
	weir_prefetch(&rq->state);
	weir_prefetch(&rq->dispatch_ns);
	weir_prefetch(rq->policy);
}

/* rq is near, and the next to go: its neighbours in the merge look-up, and where it is counted. */
static weir_inlined void weir_prefetch_start(const struct weir_rq *rq, uint64_t now)
{
	const struct weir_tally *t = rq->group->tally[weir_op_dir(rq->op)];
	const struct weir_bins *b = &t->bins[WEIR_HIST_QUEUE_WAIT];

	weir_prefetch(&t->count);
	weir_prefetch(&b->bucket[weir_hist_index(now - rq->since_ns)]);
	weir_prefetch(rq->hash.next);
	weir_prefetch(rq->hash.prev);
}

#endif
