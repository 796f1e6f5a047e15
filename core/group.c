/* SPDX-License-Identifier: GPL-2.0-only */
/* The group tree: creation, attributes, removal. See <weir/group.h>. */
#include "core/core.h"

#include "core/memory.h"
#include "core/record.h"

/* The group, up to the end of a cache line, and what its requests are counted in. */
enum {
	OWN_BYTES = (sizeof(struct weir_group) + WEIR_LINE_BYTES - 1) / WEIR_LINE_BYTES *
		    WEIR_LINE_BYTES,
	GROUP_BYTES = OWN_BYTES + WEIR_NR_DIRS * sizeof(struct weir_tally),
};

void weir_group_attr_init(struct weir_group_attr *attr)
{
	unsigned int dir;

	*attr = (struct weir_group_attr){.weight = WEIR_WEIGHT_DEFAULT,
					 .own_weight = WEIR_WEIGHT_DEFAULT};
	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		attr->max.bps[dir] = WEIR_UNLIMITED;
		attr->max.iops[dir] = WEIR_UNLIMITED;
	}
}

static bool weight_ok(uint32_t weight)
{
	return weight >= WEIR_WEIGHT_MIN && weight <= WEIR_WEIGHT_MAX;
}

const char *weir_group_attr_check(const struct weir_group_attr *attr)
{
	const struct weir_rates *max = &attr->max, *low = &attr->low;
	unsigned int dir;

	if (!weight_ok(attr->weight) || !weight_ok(attr->own_weight))
		return "weight outside 1..10000";
	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		if (!max->bps[dir] || !max->iops[dir])
			return "io.max of 0: nothing could ever pass";
		if (low->bps[dir] == WEIR_UNLIMITED || low->iops[dir] == WEIR_UNLIMITED)
			return "io.low without a number";
		if (low->bps[dir] > max->bps[dir] || low->iops[dir] > max->iops[dir])
			return "io.low above io.max";
	}
	if (attr->latency_target_ns > WEIR_NS_PER_S * 3600)
		return "io.latency above one hour";
	return NULL;
}

static void link_group(struct weir *w, struct weir_group *parent, struct weir_group *g)
{
	g->parent = parent;
	if (parent) {
		g->depth = parent->depth + 1;
		list_push_back(&parent->children, &g->sibling);
		parent->nr_children++;
		parent->nr_living_children++;
	}
	list_push_back(&w->groups, &g->all);
	w->nr_groups++;
}

static void free_group(struct weir_group *g)
{
	struct weir *w = g->w;

	weir_limits_group_exit(g);
	weir_heap_free(&g->turn, &w->host);
	if (g->policy)
		weir_free_lines(&w->host, g->policy, w->policy->group_size);
	if (g->policy_next)
		weir_free_lines(&w->host, g->policy_next, weir_switch_policy(w)->group_size);
	weir_free_lines(&w->host, g, GROUP_BYTES);
}

static void place_tallies(struct weir_group *g)
{
	struct weir_tally *t = (struct weir_tally *)((uint8_t *)g + OWN_BYTES);
	unsigned int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++)
		g->tally[dir] = &t[dir];
}

/* Without children the own requests have the only place: policies go by that. */
static void give_back_turns(struct weir_group *g)
{
	if (!g->nr_children)
		weir_heap_keep_one(&g->turn, &g->turn_one, &g->w->host);
}

/* Policies can't allocate: they find room for all that they may have to order. */
static int reserve_turns(struct weir_group *g)
{
	struct weir *w = g->w;
	int e = 0;

	weir_heap_init_one(&g->turn, &g->turn_one);
	if (g->parent)
		e = weir_heap_reserve(&g->parent->turn, &w->host, g->parent->nr_children + 2);
	return e ? e : weir_heap_reserve(&w->turn_all, &w->host, w->nr_groups + 1);
}

/* State for the policy, and for the one that a prepared switch brings. */
static int alloc_policy_state(struct weir_group *g)
{
	struct weir *w = g->w;

	if (w->policy->group_size) {
		g->policy = weir_alloc_lines(&w->host, w->policy->group_size);
		if (!g->policy)
			return -WEIR_ENOMEM;
	}
	if (w->pending && weir_switch_policy(w)->group_size) {
		g->policy_next = weir_alloc_lines(&w->host, weir_switch_policy(w)->group_size);
		if (!g->policy_next)
			return -WEIR_ENOMEM;
	}
	return 0;
}

/* Only weir_create() makes a group without a parent: the root. */
static int create_check(const struct weir *w, const struct weir_group *parent,
			const struct weir_group_attr *attr)
{
	if (!parent && w->root)
		return -WEIR_EINVAL;
	if (weir_group_attr_check(attr))
		return -WEIR_EINVAL;
	if (parent && parent->dying)
		return -WEIR_EPERM;
	if (parent && parent->depth >= WEIR_GROUP_DEPTH_MAX)
		return -WEIR_EINVAL;
	return 0;
}

struct weir_group *weir_group_create(struct weir *w, struct weir_group *parent,
				     const struct weir_group_attr *attr, uint64_t now, int *err)
{
	struct weir_group *g = NULL;
	int e = create_check(w, parent, attr);

	weir_tick(w, now);
	if (!e) {
		g = weir_alloc_lines(&w->host, GROUP_BYTES);
		e = g ? 0 : -WEIR_ENOMEM;
	}
	if (!e) {
		g->w = w;
		g->parent = parent;
		g->id = w->next_group_id++;
		g->attr = *attr;
		place_tallies(g);
		list_init(&g->children);
		g->judge.blocker = -1;
		weir_admission_init(g);
		e = weir_limits_group_init(g);
		if (!e)
			e = reserve_turns(g);
		if (!e)
			e = alloc_policy_state(g);
		if (e) {
			free_group(g);
			if (parent)
				give_back_turns(parent);
		}
	}
	if (err)
		*err = e;
	if (e)
		return NULL;
	link_group(w, parent, g);
	weir_limits_changed(g, w->now);
	weir_judge_changed(g, w->now);
	if (w->policy->group_online)
		w->policy->group_online(w, g);
	weir_record_group_create(w, g);
	return g;
}

/* Takes g out of everything and frees it. Nothing names it. */
void weir_group_destroy(struct weir_group *g)
{
	struct weir *w = g->w;

	weir_assert(!g->nr_rqs && !g->nr_ctx && !g->nr_children);
	if (w->policy->group_offline)
		w->policy->group_offline(w, g);
	weir_entitle_forget(g, w->now);
	weir_wait_forget(&w->clocks, g);
	if (g->judge.on) {
		w->nr_judged--;
		weir_rare_update(w);
	}
	if (g->parent) {
		weir_stats_fold(g->parent, g);
		list_unlink(&g->sibling);
		g->parent->nr_children--;
		give_back_turns(g->parent);
	}
	list_unlink(&g->all);
	w->nr_groups--;
	w->retry_ns = 0;
	free_group(g);
}

void weir_group_reap(struct weir_group *g)
{
	while (g && g->dying && !g->nr_rqs && !g->nr_ctx && !g->nr_children &&
	       !g->admission[WEIR_READ].admitted && !g->admission[WEIR_WRITE].admitted) {
		struct weir_group *parent = g->parent;

		weir_group_destroy(g);
		g = parent;
	}
}

int weir_group_remove(struct weir_group *g, uint64_t now)
{
	struct weir *w = g->w;

	weir_tick(w, now);
	if (!g->parent || g->dying)
		return -WEIR_EPERM;
	if (g->nr_living_children)
		return -WEIR_EBUSY;
	weir_record_group_remove(w, g);
	g->dying = true;
	g->parent->nr_living_children--;
	/* Tells the host, which may give the group's last place back: it stays until that is over.
	 */
	g->nr_ctx++;
	weir_admission_forget(g);
	g->nr_ctx--;
	weir_group_reap(g);
	return 0;
}

static bool rates_differ(const struct weir_rates *a, const struct weir_rates *b)
{
	return __builtin_memcmp(a, b, sizeof(*a)) != 0;
}

int weir_group_set(struct weir_group *g, const struct weir_group_attr *attr, uint64_t now)
{
	struct weir *w = g->w;
	unsigned int what = 0;

	weir_tick(w, now);
	if (weir_group_attr_check(attr))
		return -WEIR_EINVAL;
	if (!g->parent && (attr->weight != g->attr.weight || attr->latency_target_ns))
		return -WEIR_EINVAL;
	if (attr->weight != g->attr.weight || attr->own_weight != g->attr.own_weight) {
		what |= WEIR_CHANGED_WEIGHT;
		weir_entitle_weights(g, attr->weight, attr->own_weight);
	}
	if (rates_differ(&attr->max, &g->attr.max))
		what |= WEIR_CHANGED_MAX;
	if (rates_differ(&attr->low, &g->attr.low))
		what |= WEIR_CHANGED_LOW;
	if (attr->latency_target_ns != g->attr.latency_target_ns)
		what |= WEIR_CHANGED_LATENCY;
	weir_record_group_set(w, g, attr);
	if (what & (WEIR_CHANGED_LOW | WEIR_CHANGED_LATENCY))
		weir_judge_changing(g, w->now);
	g->attr = *attr;
	if (what & WEIR_CHANGED_MAX)
		weir_limits_changed(g, w->now);
	if (what & (WEIR_CHANGED_LOW | WEIR_CHANGED_LATENCY))
		weir_judge_changed(g, w->now);
	if (what && w->policy->group_changed)
		w->policy->group_changed(w, g, what);
	w->retry_ns = 0;
	return 0;
}

void weir_group_get(const struct weir_group *g, struct weir_group_attr *attr)
{
	*attr = g->attr;
}

struct weir_group *weir_root(struct weir *w)
{
	return w->root;
}

struct weir_group *weir_group_parent(const struct weir_group *g)
{
	return g->parent;
}

uint64_t weir_group_delay_ns(const struct weir_group *g, uint64_t now)
{
	struct weir *w = g->w;

	return w->policy->delay_ns ? w->policy->delay_ns(w, g, weir_max64(now, w->now)) : 0;
}

uint32_t weir_group_id(const struct weir_group *g)
{
	return g->id;
}

void weir_group_set_host_data(struct weir_group *g, void *data)
{
	g->host_data = data;
}

void *weir_group_host_data(const struct weir_group *g)
{
	return g->host_data;
}
