/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CFQ: groups. All that have busy queues are in one tree, wherever they stand in the hierarchy,
 * sorted by their virtual disk time: the device time they have had, divided by their share of the
 * device.
 *
 * The share is the product over the levels of weight / sum of the active weights; a group's own
 * tasks stand beside its children with the weight leaf_weight. Example: A and B in the root, 2:1,
 * and AA and AB in A, 1:2. With tasks in AA, AB and B, the shares are 2/3 x 1/3, 2/3 x 2/3 and 1/3.
 *
 * Shares are computed when a group enters the tree, which it also does after each slice. So it is
 * then that a new weight takes effect: weights that stand in a sum must not change. Other groups'
 * shares are renewed when they are served themselves.
 */
#include "policy/cfq/internal.h"

static char *put_text(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

static char *put_number(char *at, uint32_t n)
{
	char digits[10];
	int nr = 0;

	do {
		digits[nr++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (nr)
		*at++ = digits[--nr];
	return at;
}

static uint32_t clamp_weight(struct cfq *c, const struct weir_group *g, const char *what,
			     uint32_t wanted)
{
	uint32_t weight = wanted < CFQ_MIN_WEIGHT   ? CFQ_MIN_WEIGHT
			  : wanted > CFQ_MAX_WEIGHT ? CFQ_MAX_WEIGHT
						    : wanted;
	char text[96], *at = text;

	if (weight == wanted)
		return weight;
	at = put_text(at, "cfq: ");
	at = put_text(at, what);
	at = put_number(at, wanted);
	at = put_text(at, " of group ");
	at = put_number(at, weir_group_id(g));
	at = put_text(at, " is outside 10..1000, taken as ");
	at = put_number(at, weight);
	*at = '\0';
	weir_note(c->w, text);
	return weight;
}

void cfq_group_read_weights(struct cfq *c, struct cfq_group *cg)
{
	const struct weir_group *g = cg->group;

	/* The root has no siblings. */
	cg->next_weight = g->parent ? clamp_weight(c, g, "weight ", g->attr.weight)
				    : (uint32_t)CFQ_MAX_WEIGHT;
	cg->next_leaf_weight = clamp_weight(c, g, "own weight ", g->attr.own_weight);
}

void cfq_group_init(struct cfq *c, struct cfq_group *cg, struct weir_group *g)
{
	unsigned int level;

	cg->group = g;
	cfq_group_read_weights(c, cg);
	cg->weight = cg->next_weight;
	cg->leaf_weight = cg->next_leaf_weight;
	cg->think.last_end_ns = cfq_now(c);
	cfq_proc_init(&cg->anonymous, NULL, cg, cfq_now(c));
	for (level = 0; level < CFQ_LEVELS; level++) {
		cfq_queue_init(&cg->async[CFQ_RT][level], cg, false);
		cg->async[CFQ_RT][level].class = CFQ_RT;
		cg->async[CFQ_RT][level].level = (uint8_t)level;
		cfq_queue_init(&cg->async[CFQ_BE][level], cg, false);
		cg->async[CFQ_BE][level].level = (uint8_t)level;
	}
	cfq_queue_init(&cg->async_idle, cg, false);
	cg->async_idle.class = CFQ_IDLE;
	cg->async_idle.level = CFQ_LEVEL_LAST;
}

/* ---- the hierarchy ---- */

static struct cfq_group *parent_of(const struct cfq_group *cg)
{
	return cg->group->parent ? cfq_group(cg->group->parent) : NULL;
}

/* Its own tasks become active, and with them ancestors that weren't; and its share is computed. */
static void activate(struct cfq_group *cg)
{
	struct cfq_group *at = cg, *up;
	uint32_t fraction = 1u << CFQ_SHIFT;
	bool came;

	cg->leaf_weight = cg->next_leaf_weight;
	came = !cg->nr_active++;
	cg->children_weight += cg->leaf_weight;
	fraction = fraction * cg->leaf_weight / cg->children_weight;
	for (; (up = parent_of(at)); at = up) {
		if (came) {
			at->weight = at->next_weight;
			came = !up->nr_active++;
			up->children_weight += at->weight;
		}
		fraction = fraction * at->weight / up->children_weight;
	}
	cg->fraction = fraction ? fraction : 1;
}

static void deactivate(struct cfq_group *cg)
{
	struct cfq_group *at = cg, *up;

	cg->children_weight -= cg->leaf_weight;
	while (!--at->nr_active && (up = parent_of(at))) {
		weir_assert(!at->children_weight);
		up->children_weight -= at->weight;
		at = up;
	}
}

/* ---- the tree ---- */

static struct cfq_group *group_of(struct weir_rb *node)
{
	return node ? weir_container_of(node, struct cfq_group, by_vdisktime) : NULL;
}

static void enter_tree(struct cfq *c, struct cfq_group *cg)
{
	weir_assert(!cg->on_tree);
	cg->on_tree = true;
	weir_rb_insert(&c->groups, &cg->by_vdisktime, cg->vdisktime);
	activate(cg);
}

static void leave_tree(struct cfq *c, struct cfq_group *cg)
{
	weir_assert(cg->on_tree);
	cg->on_tree = false;
	weir_rb_erase(&c->groups, &cg->by_vdisktime);
	deactivate(cg);
}

/* Units of virtual disk time that CFQ_BEHIND raw units of the original are: ticks are ms there. */
static uint64_t behind(const struct cfq *c)
{
	return cfq_iops_mode(c) ? CFQ_BEHIND : CFQ_BEHIND * (uint64_t)(CFQ_TICK_NS / 1000);
}

void cfq_group_queue_added(struct cfq *c, struct cfq_group *cg)
{
	struct weir_rb *last = c->groups.root;

	cg->nr_queues++;
	if (cg->on_tree)
		return;
	while (last && last->child[1])
		last = last->child[1];
	cg->vdisktime = last ? weir_add_sat(last->key, behind(c)) : c->min_vdisktime;
	enter_tree(c, cg);
}

void cfq_group_queue_removed(struct cfq *c, struct cfq_group *cg)
{
	weir_assert(cg->nr_queues);
	if (--cg->nr_queues)
		return;
	leave_tree(c, cg);
	cg->saved_ns = 0;
}

struct cfq_group *cfq_group_first(const struct cfq *c)
{
	return group_of(weir_rb_first(&c->groups));
}

struct cfq_group *cfq_group_next(struct cfq *c)
{
	struct cfq_group *cg = cfq_group_first(c);

	if (cg)
		c->min_vdisktime = weir_max64(c->min_vdisktime, cg->vdisktime);
	return cg;
}

/* ---- what a slice costs ---- */

static uint64_t time_used(const struct cfq *c, const struct cfq_queue *q)
{
	uint64_t now = cfq_now(c);

	/*
	 * Nothing or only just completed: then the seek is charged, or several queues with one
	 * request each would have their seeks for nothing.
	 */
	if (q->slice_new || q->slice_from_ns == now)
		return weir_max64(now - q->chosen_ns, CFQ_TICK_NS);
	return weir_min64(now - q->slice_from_ns, q->allocated_ns);
}

void cfq_group_charge(struct cfq *c, const struct cfq_queue *q)
{
	struct cfq_group *cg = q->group;
	uint32_t fraction = cg->fraction;
	uint32_t not_sync = cfq_nr_busy_async(cg) + cg->idle.count;
	uint64_t charge = time_used(c, q), now = cfq_now(c);

	if (!q->sync && cg->nr_queues == not_sync)
		charge = q->allocated_ns;
	charge = weir_div64(charge + 999, 1000);
	if (cfq_iops_mode(c))
		charge = q->slice_dispatched;
	charge = weir_min64(charge, CFQ_CHARGE_MAX);
	leave_tree(c, cg);
	/* At most 2^54: charge below 2^30 by a share of at least 2^-12 at shift 12. */
	cg->vdisktime = weir_add_sat(cg->vdisktime,
				     weir_div64(charge << (2 * CFQ_SHIFT), fraction));
	enter_tree(c, cg);
	cg->saved_ns = c->workload_end_ns > now ? c->workload_end_ns - now : 0;
	cg->saved_class = c->serving_class;
	cg->saved_type = c->serving_type;
}
