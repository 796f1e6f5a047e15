// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plug: what one task submits in one go gathers here, and neighbours become one request before
 * the core sees any of it. Look-ups go from the newest entry back, since streams continue what came
 * last; the list is short. Unplugging inserts everything and only then asks for dispatch, so that
 * the core chooses among all of it.
 */
#include "lab/blkhost.h"

static bool may_join(const struct lab_host *h, const struct weir_rq *a, const struct weir_rq *b)
{
	const uint16_t alone = WEIR_RQ_NOMERGE | WEIR_RQ_FUA;

	return a->op == b->op && (a->op == WEIR_OP_READ || a->op == WEIR_OP_WRITE) &&
	       a->group == b->group && a->ctx == b->ctx && a->flags == b->flags &&
	       !(a->flags & alone) && a->ioprio_class == b->ioprio_class &&
	       a->ioprio_level == b->ioprio_level &&
	       a->nr_sectors + b->nr_sectors <= h->max_sectors;
}

static bool try_join(struct lab_host *h, struct host_rq *into, struct host_rq *r)
{
	bool back = weir_rq_end(&into->rq) == r->rq.sector;

	if (!back && weir_rq_end(&r->rq) != into->rq.sector)
		return false;
	if (!may_join(h, &into->rq, &r->rq))
		return false;
	into->rq.nr_sectors += r->rq.nr_sectors;
	if (!back)
		into->rq.sector = r->rq.sector;
	host_chain(into, r);
	h->stats.plug_merges++;
	return true;
}

/* Inserts what has gathered. Submissions from within the core's calls do not exist: no recursion.
 */
static void flush_plug(struct lab_host *h, uint64_t now_ns)
{
	uint32_t i, nr = h->nr_plugged;

	h->nr_plugged = 0;
	for (i = 0; i < nr; i++)
		host_enter(h, h->plugged[i], now_ns);
	host_run(h, now_ns);
}

void host_plug_add(struct lab_host *h, struct host_rq *r, uint64_t now_ns)
{
	uint32_t i;

	for (i = h->merge ? h->nr_plugged : 0; i--;)
		if (try_join(h, h->plugged[i], r))
			return;
	if (h->nr_plugged == h->cfg.plug)
		flush_plug(h, now_ns);
	h->plugged[h->nr_plugged++] = r;
}

void lab_host_plug(struct lab_host *h)
{
	h->plug_depth++;
}

void lab_host_unplug(struct lab_host *h, uint64_t now_ns)
{
	weir_assert(h->plug_depth > 0);
	/* Even if empty: a flush goes past the plug, and has not been dispatched yet. */
	if (!--h->plug_depth)
		flush_plug(h, now_ns);
}
