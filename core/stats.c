/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters and histograms: see stats.h and <weir/stats.h>. */
#include "core/core.h"

#include "core/record.h"

static void halve(struct weir_bins *b)
{
	unsigned int i;

	for (i = 0; i < WEIR_HIST_BUCKETS; i++)
		b->bucket[i] /= 2;
}

void weir_bins_overflow(struct weir_bins *b, uint32_t *bucket)
{
	*bucket = UINT32_MAX;
	halve(b);
	++*bucket;
}

static void add_bins(struct weir_bins *into, const struct weir_bins *from)
{
	unsigned int i;

	for (i = 0; i < WEIR_HIST_BUCKETS; i++)
		while (from->bucket[i] > UINT32_MAX - into->bucket[i])
			halve(into);
	for (i = 0; i < WEIR_HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
}

static void add_counters(struct weir_counters *into, const struct weir_counters *from)
{
	into->completed += from->completed;
	into->bytes += from->bytes;
	into->device_ns += from->device_ns;
	into->queue_wait_ns += from->queue_wait_ns;
	into->queue_wait_max_ns = weir_max64(into->queue_wait_max_ns, from->queue_wait_max_ns);
	into->service_ns += from->service_ns;
	into->service_max_ns = weir_max64(into->service_max_ns, from->service_max_ns);
	into->waiting += from->waiting;
	into->in_flight += from->in_flight;
}

static void add_rare(struct weir_rare_counters *into, const struct weir_rare_counters *from)
{
	into->merged += from->merged;
	into->removed += from->removed;
	into->requeued += from->requeued;
}

void weir_stats_fold(struct weir_group *into, struct weir_group *from)
{
	unsigned int dir, kind;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		add_counters(&into->tally[dir]->count, &from->tally[dir]->count);
		add_rare(&into->stats.rare[dir], &from->stats.rare[dir]);
		for (kind = 0; kind < WEIR_NR_HISTS; kind++)
			add_bins(&into->tally[dir]->bins[kind], &from->tally[dir]->bins[kind]);
	}
	into->stats.flushes += from->stats.flushes;
}

/*
 * The next node after g in the order parent, then children, within the subtree of top; NULL at its
 * end. Walks without recursion.
 */
static struct weir_group *walk(struct weir_group *g, const struct weir_group *top)
{
	if (!list_is_empty(&g->children))
		return list_first(&g->children, struct weir_group, sibling);
	for (; g != top; g = g->parent)
		if (g->sibling.next != &g->parent->children)
			return list_next(g, struct weir_group, sibling);
	return NULL;
}

static void read_dir(const struct weir_counters *c, const struct weir_rare_counters *rare,
		     struct weir_dir_stats *out)
{
	out->inserted += c->completed + rare->merged + rare->removed + c->waiting + c->in_flight;
	out->completed += c->completed;
	out->removed += rare->removed;
	out->merged += rare->merged;
	out->requeued += rare->requeued;
	out->bytes += c->bytes;
	out->device_ns += c->device_ns;
	out->waiting += c->waiting;
	out->in_flight += c->in_flight;
	out->queue_wait_ns += c->queue_wait_ns;
	out->queue_wait_max_ns = weir_max64(out->queue_wait_max_ns, c->queue_wait_max_ns);
	out->service_ns += c->service_ns;
	out->service_max_ns = weir_max64(out->service_max_ns, c->service_max_ns);
}

static void read_counters(const struct weir_group *g, struct weir_group_stats *out)
{
	unsigned int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++)
		read_dir(&g->tally[dir]->count, &g->stats.rare[dir], &out->dir[dir]);
	out->flushes += g->stats.flushes;
}

static void read_node(struct weir_group *g, bool own, uint64_t now, struct weir_group_stats *out)
{
	weir_tick(g->w, now);
	__builtin_memset(out, 0, sizeof(*out));
	weir_wait_read(g, g->w->now, &out->backlogged_ns, out->wait_ns);
	weir_entitle_read(g, own, out);
	weir_judge_read(g, g->w->now, out);
}

void weir_group_read_own_stats(struct weir_group *g, uint64_t now, struct weir_group_stats *out)
{
	read_node(g, true, now, out);
	read_counters(g, out);
}

void weir_group_read_stats(struct weir_group *g, uint64_t now, struct weir_group_stats *out)
{
	struct weir_group *n;

	read_node(g, false, now, out);
	for (n = g; n; n = walk(n, g))
		read_counters(n, out);
}

void weir_group_read_load(const struct weir_group *g, enum weir_dir dir, struct weir_load *out)
{
	const struct weir_counters *d = &g->tally[dir]->count;

	out->held = g->flow[dir].nr_held;
	out->queued = d->waiting - out->held;
	out->in_flight = d->in_flight;
}

void weir_group_read_hist(struct weir_group *g, enum weir_dir dir, enum weir_hist_kind kind,
			  struct weir_hist *out)
{
	struct weir_group *n;

	__builtin_memset(out, 0, sizeof(*out));
	for (n = g; n; n = walk(n, g)) {
		const struct weir_counters *d = &n->tally[dir]->count;
		const struct weir_bins *b = &n->tally[dir]->bins[kind];
		unsigned int i;

		for (i = 0; i < WEIR_HIST_BUCKETS; i++) {
			out->bucket[i] += b->bucket[i];
			out->count += b->bucket[i];
		}
		out->sum_ns += kind == WEIR_HIST_SERVICE ? d->service_ns : d->queue_wait_ns;
		out->max_ns = weir_max64(out->max_ns, kind == WEIR_HIST_SERVICE
							      ? d->service_max_ns
							      : d->queue_wait_max_ns);
	}
}

void weir_hist_add(struct weir_hist *h, uint64_t value_ns)
{
	h->bucket[weir_hist_index(value_ns)]++;
	h->count++;
	h->sum_ns += value_ns;
	h->max_ns = weir_max64(h->max_ns, value_ns);
}

/* Upper bound of a bucket. */
static uint64_t bucket_end_ns(unsigned int index)
{
	unsigned int log = WEIR_HIST_MIN_BITS + (index >> WEIR_HIST_SUB_BITS);
	uint64_t sub = index & ((1u << WEIR_HIST_SUB_BITS) - 1);

	return ((UINT64_C(1) << WEIR_HIST_SUB_BITS) + sub + 1) << (log - WEIR_HIST_SUB_BITS);
}

uint64_t weir_hist_percentile_ns(const struct weir_hist *h, uint32_t ppm)
{
	uint64_t want, seen = 0;
	unsigned int i;

	if (!h->count)
		return 0;
	want = weir_mul_div(h->count, ppm, 1000000);
	for (i = 0; i < WEIR_HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen > want || seen == h->count)
			return weir_min64(bucket_end_ns(i), h->max_ns);
	}
	return h->max_ns;
}

static void reset_group(struct weir_group *g, uint64_t now)
{
	unsigned int i;

	for (i = 0; i < WEIR_NR_DIRS; i++) {
		struct weir_counters *c = &g->tally[i]->count;

		*c = (struct weir_counters){.waiting = c->waiting, .in_flight = c->in_flight};
		g->stats.rare[i] = (struct weir_rare_counters){0};
		__builtin_memset(g->tally[i]->bins, 0, sizeof(g->tally[i]->bins));
	}
	g->stats.flushes = 0;
	weir_wait_reset(g, now);
	weir_entitle_reset(g);
	weir_judge_reset(g, now);
}

void weir_stats_reset(struct weir *w, uint64_t now)
{
	struct weir_group *g;

	weir_tick(w, now);
	weir_record_stats_reset(w);
	list_for_each(g, &w->groups, struct weir_group, all)
		reset_group(g, w->now);
	w->in_use_reset_ns = w->in_use_ns;
}
