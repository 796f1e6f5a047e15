/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Floors: io.low.
 *
 * A group that is behind its floor goes first; nobody is ever throttled to make a floor look met,
 * so the device stays busy (blk-throttle's io.low cost its tester 64-75 % of the device: thread
 * 003).
 *
 * For each rate the group has a due time: the time by which its next request of that direction is
 * owed, advanced by size / rate with everything that the subtree is served, in or out of turn; as
 * the reservation tags of mClock (Gulati, Merchant and Varman, 2010), except that service by weight
 * counts too. A due time never runs more than one request ahead, and never lags more than
 * WP_FLOOR_LAG_NS; who was idle starts from when he asked again: no credit from idle time. It
 * advances by 1/128 less than size / rate, so that requests that do not divide a window miss no
 * floor. Where floors are inside a floor's subtree, what they get counts for it, whenever that is:
 * its due time may run WP_FLOOR_AHEAD_NS ahead.
 *
 * Floors that do not fit: each backlogged floor asks for a device time, rate x the cost that its
 * requests have shown. If the sum is more than floor_percent of what the device completes
 * (work_rate), each is scaled down, in device time: what it asks for within its weight share it
 * keeps, and of what it asks for beyond, all get the same part. Its due times advance faster by
 * what it asks for / what it gets. A floor inside another's subtree counts inside that one.
 *
 * Example: of 94 ms of device time that there are for floors, A wants 100, B 60 and C 10, at equal
 * weights. C keeps its 10, A and B keep 31 each; so 22 are left for what is beyond, of which A gets
 * 22 x 69 / 98 and B 22 x 29 / 98. A has 46 in the end, B 38, C 10.
 *
 * floor_percent also bounds what floors take out of turn while others wait.
 *
 * Some floors fit, and yet going first is not enough: a process that reads one block at a time
 * waits for what is in the device already. It may go with more in flight than others
 * (WP_OWED_WINDOWS); and when a floor is missed in a period although its group asked all the time,
 * the window is squeezed, as long as that costs no more than WP_FLOOR_COST_PERCENT of the peak.
 */
#include "policy/weir/leaf.h"

/* Work out of turn may run ahead of its part by this much device time. */
#define FLOOR_AHEAD_NS UINT64_C(2000000)

static uint64_t rate_of(const struct weir_group *g, unsigned int dir, unsigned int kind)
{
	return kind ? g->attr.low.iops[dir] : g->attr.low.bps[dir];
}

void wp_floor_init(struct wp *p)
{
	p->floor_squeeze = 256;
	p->floor_since_ns = weir_now(p->w);
	p->floor_work_ns = 0;
	p->floor_run_ns = 0;
	p->floor_missed = false;
	p->floor_reference = false;
	p->floor_periods = 0;
	p->peak_rate = 0;
}

static bool has_floor_in(const struct weir_group *g, unsigned int dir)
{
	return g->attr.low.bps[dir] || g->attr.low.iops[dir];
}

static uint64_t earliest_due(const struct weir_group *g)
{
	const struct wp_floor *f = &wp_group(g)->floor;
	uint64_t due = WEIR_NEVER >> 1;
	unsigned int dir, kind;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++)
		for (kind = 0; kind < 2; kind++)
			if (rate_of(g, dir, kind))
				due = weir_min64(due, f->due_ns[dir][kind]);
	return due;
}

static bool is_inside_another(const struct weir_group *g)
{
	for (g = g->parent; g; g = g->parent)
		if (wp_group(g)->floor.has)
			return true;
	return false;
}

static void uncount(struct wp *p, struct wp_floor *f)
{
	if (!f->counted)
		return;
	f->counted = false;
	p->floor_kept_ns -= f->kept_ns;
	p->floor_over_ns -= f->need_ns - f->kept_ns;
}

static void count(struct wp *p, const struct weir_group *g)
{
	struct wp_floor *f = &wp_group(g)->floor;

	if (f->counted || !weir_heap_has(&f->item) || is_inside_another(g))
		return;
	f->counted = true;
	p->floor_kept_ns += f->kept_ns;
	p->floor_over_ns += f->need_ns - f->kept_ns;
}

void wp_floor_activate(struct wp *p, struct weir_group *g)
{
	struct wp_floor *f = &wp_group(g)->floor;
	uint64_t since_ns = weir_group_active_since_ns(g);
	unsigned int dir, kind;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++)
		for (kind = 0; kind < 2; kind++)
			f->due_ns[dir][kind] = weir_max64(f->due_ns[dir][kind], since_ns);
	weir_heap_push(weir_turn_all(p->w), &f->item, earliest_due(g));
	count(p, g);
}

void wp_floor_deactivate(struct wp *p, struct weir_group *g)
{
	struct wp_floor *f = &wp_group(g)->floor;

	uncount(p, f);
	weir_heap_remove(weir_turn_all(p->w), &f->item);
}

static void period_begin(struct wp_floor *f, const struct weir_group *g, uint64_t now)
{
	__builtin_memset(f->period_units, 0, sizeof(f->period_units));
	__builtin_memset(f->unasked, 0, sizeof(f->unasked));
	f->since_ns = now;
	f->active_at_ns = weir_group_active_ns(g);
}

static void set_has(struct wp *p, struct weir_group *g, bool has)
{
	struct wp_floor *f = &wp_group(g)->floor;

	if (has == f->has)
		return;
	f->has = has;
	p->nr_floors += has ? 1 : -1;
	wp_update_plain(p);
	for (g = g->parent; g; g = g->parent)
		wp_group(g)->floor.nr_inside += has ? 1 : -1;
	/* The first, or the last: what was measured before isn't of its time. */
	if (p->nr_floors == (has ? 1 : 0))
		wp_floor_init(p);
}

void wp_floor_offline(struct wp *p, struct weir_group *g)
{
	set_has(p, g, false);
}

void wp_floor_changed(struct wp *p, struct weir_group *g)
{
	struct wp_floor *f = &wp_group(g)->floor;
	bool has = has_floor_in(g, WEIR_READ) || has_floor_in(g, WEIR_WRITE);

	if (f->has && weir_heap_has(&f->item))
		wp_floor_deactivate(p, g);
	set_has(p, g, has);
	f->need_ns = 0;
	f->kept_ns = 0;
	__builtin_memset(f->due_ns, 0, sizeof(f->due_ns));
	period_begin(f, g, weir_now(p->w));
	if (has && g->turn.nr)
		wp_floor_activate(p, g);
}

/* Device time per second that there is for floors. */
static uint64_t capacity_ns(const struct wp *p)
{
	uint64_t all = weir_mul_div(p->work_rate, WEIR_NS_PER_S, UINT64_C(1) << 20);

	return weir_div64(all, 100) * weir_policy_tunable(p->w, WP_FLOOR_PERCENT);
}

/* Of that, what is left for those who ask for more than their shares. */
static uint64_t spare_ns(const struct wp *p)
{
	uint64_t all = capacity_ns(p);

	return all > p->floor_kept_ns ? all - p->floor_kept_ns : 0;
}

bool wp_floor_fits(const struct wp *p)
{
	return p->floor_over_ns <= spare_ns(p);
}

uint64_t wp_floor_promised(const struct wp *p, const struct weir_group *g)
{
	const struct weir_group *n = g;
	uint64_t capacity, part, inside;

	if (!p->nr_floors)
		return 0;
	while (n && !wp_group(n)->floor.need_ns)
		n = n->parent;
	if (!n)
		return 0;
	capacity = weir_max64(capacity_ns(p), 1);
	part = weir_mul_div(weir_min64(wp_group(n)->floor.need_ns, capacity), UINT64_C(1) << 32,
			    capacity);
	if (n == g)
		return part;
	/* Of a floor around it: its share in there. */
	inside = weir_mul_div(weir_entitle_share(g), UINT64_C(1) << 32,
			      weir_max64(weir_entitle_node_share(n), 1));
	return weir_mul_div(part, weir_min64(inside, UINT64_C(1) << 32), UINT64_C(1) << 32);
}

/* A step of a due time, longer if f does not get what it asks for. */
static uint64_t scaled(const struct wp *p, const struct wp_floor *f, uint64_t step)
{
	uint64_t get;

	if (wp_floor_fits(p) || !f->need_ns)
		return step;
	get = f->kept_ns + weir_mul_div(f->need_ns - f->kept_ns, spare_ns(p), p->floor_over_ns);
	return weir_mul_div(step, f->need_ns, weir_min64(weir_max64(get, 1), f->need_ns));
}

/* What g asks for: per direction the larger of its bytes and its requests. */
static void update_need(struct wp *p, struct weir_group *g)
{
	struct wp_floor *f = &wp_group(g)->floor;
	/* Of 2^16, so that the product fits for a device 200 times faster than its profile. */
	uint64_t need = 0, share = weir_entitle_node_share(g) >> 16;
	unsigned int dir, kind;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		uint64_t most = 0;

		for (kind = 0; kind < 2; kind++) {
			uint64_t n = weir_mul_div(rate_of(g, dir, kind),
						  f->cost_per_unit[dir][kind], 1u << 16);

			most = weir_max64(most, weir_min64(n, UINT64_C(1) << 40));
		}
		need += most;
	}
	uncount(p, f);
	f->need_ns = need;
	f->kept_ns = weir_min64(need, capacity_ns(p) * share >> 16);
	count(p, g);
}

static void learn_cost(struct wp_floor *f, unsigned int dir, unsigned int kind, uint64_t cost_ns,
		       uint64_t units)
{
	uint64_t sample = weir_div64(cost_ns << 16, units), *avg = &f->cost_per_unit[dir][kind];

	*avg = *avg ? *avg - *avg / 16 + sample / 16 : sample;
}

/*
 * Did g ask all through the period, in that direction, and get less than its floor? Then the depth
 * is in the way.
 */
static void judge_period(struct wp *p, struct weir_group *g, uint64_t now)
{
	struct wp_floor *f = &wp_group(g)->floor;
	uint64_t length_ns = now - f->since_ns;
	uint64_t active_ns = weir_group_active_ns(g) - f->active_at_ns;
	unsigned int dir, kind;

	if (active_ns >= length_ns - length_ns / 8 && wp_floor_fits(p)) {
		for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
			for (kind = 0; kind < 2; kind++) {
				uint64_t want = weir_mul_div(rate_of(g, dir, kind), length_ns,
							     WEIR_NS_PER_S);

				if (f->period_units[dir][kind] < want - want / 64 &&
				    !f->unasked[dir])
					p->floor_missed = true;
			}
		}
	}
	period_begin(f, g, now);
}

/* By how much a due time moves on for so many bytes or requests. */
static uint64_t step_of(const struct wp *p, const struct wp_floor *f, uint64_t rate, uint64_t units)
{
	uint64_t step = weir_mul_div(units, WEIR_NS_PER_S, rate);

	return weir_min64(scaled(p, f, step - step / 128), WEIR_NS_PER_S * 3600);
}

static void charge_one(struct wp *p, struct weir_group *g, const struct weir_rq *rq, uint64_t now)
{
	struct wp_floor *f = &wp_group(g)->floor;
	enum weir_dir dir = weir_op_dir(rq->op);
	uint64_t units[2] = {weir_rq_bytes(rq), 1u + rq->nr_merged};
	uint64_t ahead_ns = f->nr_inside ? WP_FLOOR_AHEAD_NS : 0;
	unsigned int kind;

	for (kind = 0; kind < 2; kind++) {
		uint64_t rate = rate_of(g, dir, kind), step, due = f->due_ns[dir][kind];

		if (!rate || !units[kind])
			continue;
		learn_cost(f, dir, kind, rq->cost_ns, units[kind]);
		f->period_units[dir][kind] += units[kind];
		step = step_of(p, f, rate, units[kind]);
		if (due + WP_FLOOR_LAG_NS < now)
			due = now - WP_FLOOR_LAG_NS;
		f->due_ns[dir][kind] = weir_min64(due + step, now + step + ahead_ns);
	}
	update_need(p, g);
	if (weir_heap_has(&f->item))
		weir_heap_update(weir_turn_all(p->w), &f->item, earliest_due(g));
	if (now - f->since_ns >= WP_FLOOR_PERIOD_NS)
		judge_period(p, g, now);
}

void wp_floor_charge(struct wp *p, struct weir_group *g, const struct weir_rq *rq, uint64_t now)
{
	for (; g; g = g->parent)
		if (wp_group(g)->floor.has)
			charge_one(p, g, rq, now);
}

void wp_floor_refund(struct wp *p, struct weir_group *g, const struct weir_rq *rq)
{
	enum weir_dir dir = weir_op_dir(rq->op);
	uint64_t units[2] = {weir_rq_bytes(rq), 1u + rq->nr_merged};
	unsigned int kind;

	for (; g; g = g->parent) {
		struct wp_floor *f = &wp_group(g)->floor;

		for (kind = 0; f->has && kind < 2; kind++)
			if (rate_of(g, dir, kind))
				f->due_ns[dir][kind] -= weir_min64(
					f->due_ns[dir][kind],
					step_of(p, f, rate_of(g, dir, kind), units[kind]));
		if (f->has && weir_heap_has(&f->item))
			weir_heap_update(weir_turn_all(p->w), &f->item, earliest_due(g));
	}
}

void wp_floor_account(struct wp *p, uint64_t cost_ns, bool out_of_turn)
{
	uint64_t percent = weir_policy_tunable(p->w, WP_FLOOR_PERCENT);

	if (out_of_turn)
		p->floor_run_ns += cost_ns * (100 - percent);
	else
		p->floor_run_ns -= weir_min64(p->floor_run_ns, cost_ns * percent);
}

static bool is_owed_in(const struct weir_group *g, unsigned int dir, uint64_t now)
{
	const struct wp_floor *f = &wp_group(g)->floor;

	return (rate_of(g, dir, 0) && f->due_ns[dir][0] <= now) ||
	       (rate_of(g, dir, 1) && f->due_ns[dir][1] <= now);
}

/*
 * The request by which g's floor is served, whose turn it is below g: the first, if it is of a
 * direction that is owed, or one of the other direction behind it.
 */
static struct weir_rq *find_owed(struct wp *p, struct weir_group *g, uint64_t now)
{
	const struct wp_group *leaf = wp_group(g)->next;
	struct weir_rq *rq = wp_leaf_peek(p, leaf);
	unsigned int first = weir_op_dir(rq->op);

	if (is_owed_in(g, first, now))
		return rq;
	return is_owed_in(g, !first, now) ? wp_leaf_peek_dir(p, leaf, !first) : NULL;
}

/* What is owed is owed in a direction of which nothing can go: ask again later. */
static void postpone(struct wp *p, struct weir_group *g, uint64_t now)
{
	struct wp_floor *f = &wp_group(g)->floor;
	unsigned int dir, kind;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		for (kind = 0; kind < 2; kind++) {
			if (!rate_of(g, dir, kind) || f->due_ns[dir][kind] > now)
				continue;
			f->due_ns[dir][kind] = now + WEIR_NS_PER_MS;
			f->unasked[dir] = true;
		}
	}
	weir_heap_update(weir_turn_all(p->w), &f->item, earliest_due(g));
}

static bool has_run_ahead(const struct wp *p)
{
	return p->floor_run_ns > FLOOR_AHEAD_NS * 100;
}

uint64_t wp_floor_when(const struct wp *p)
{
	const struct weir_heap *h = weir_turn_all(p->w);

	return h->nr && !has_run_ahead(p) ? weir_heap_min_key(h) : WEIR_NEVER;
}

struct weir_rq *wp_floor_next(struct wp *p, uint64_t now, struct weir_group **owed)
{
	struct weir_heap *h = weir_turn_all(p->w);

	if (has_run_ahead(p))
		return NULL;
	while (h->nr && weir_heap_min_key(h) <= now) {
		struct wp_floor *f = weir_container_of(weir_heap_min(h), struct wp_floor, item);
		struct weir_group *g = weir_container_of(f, struct wp_group, floor)->g;
		struct weir_rq *rq = find_owed(p, g, now);

		if (rq) {
			*owed = g;
			return rq;
		}
		postpone(p, g, now);
	}
	return NULL;
}

/* How far the squeeze goes, after a period at it with this rate. */
static void adapt_squeeze(struct wp *p, uint64_t rate, uint64_t now)
{
	uint64_t least = p->peak_rate - weir_div64(p->peak_rate, 100) * WP_FLOOR_COST_PERCENT;

	if (p->floor_missed)
		p->floor_missed_ns = now;
	if (p->floor_squeeze < 256 && rate < least)
		p->floor_squeeze += 8; /* too dear */
	else if (p->floor_missed && (p->floor_squeeze < 256 || wp_probe_settled(p)))
		p->floor_squeeze -= p->floor_squeeze / 32;
	else if (now - p->floor_missed_ns > 40 * (uint64_t)WP_FLOOR_PERIOD_NS)
		p->floor_squeeze += 4;
	if (p->floor_squeeze > 256)
		p->floor_squeeze = 256;
}

void wp_floor_complete(struct wp *p, uint64_t cost_ns, uint64_t now)
{
	uint64_t length_ns = now - p->floor_since_ns, rate;

	p->floor_work_ns += cost_ns;
	if (length_ns < WP_FLOOR_PERIOD_NS)
		return;
	rate = weir_mul_div(p->floor_work_ns, UINT64_C(1) << 20, length_ns);
	if (p->floor_reference)
		p->peak_rate = p->peak_rate ? (p->peak_rate + rate) / 2 : rate;
	else
		adapt_squeeze(p, rate, now);
	/* With plenty now and then while squeezed, or a worse peak would be taken for the peak. */
	if (++p->floor_periods >= WP_FLOOR_REFERENCE_EVERY || !p->peak_rate)
		p->floor_periods = 0;
	p->floor_reference = !p->floor_periods && (p->floor_squeeze < 256 || !p->peak_rate);
	p->floor_missed = false;
	p->floor_work_ns = 0;
	p->floor_since_ns = now;
}
