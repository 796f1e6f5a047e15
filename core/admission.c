/* SPDX-License-Identifier: GPL-2.0-only */
/* Admission to the request pool: see admission.h. */
#include "core/core.h"

#include "core/record.h"

#define POOL_WHOLE (UINT64_C(1) << 32)

void weir_admission_init(struct weir_group *g)
{
	unsigned int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		g->admission[dir].group = g;
		g->admission[dir].dir = (enum weir_dir)dir;
		list_init(&g->admission[dir].wait);
	}
}

static bool is_lending(const struct weir_group *g)
{
	return g->admission[WEIR_READ].lent || g->admission[WEIR_WRITE].lent;
}

/*
 * Of 2^32. The shares of those who can't use them are shared out to all others in proportion, across
 * the tree: what is lent is no promise, and goes back with the next completions.
 */
static uint64_t pool_share(const struct weir_group *g)
{
	uint64_t share = weir_entitle_share(g), lent = g->w->pool_lent;
	const struct weir_policy *policy = g->w->policy;

	if (lent && !is_lending(g)) {
		/* It may have been lent when fewer were active, and be more than there is now. */
		if (lent + share >= POOL_WHOLE)
			return POOL_WHOLE;
		share = weir_div64(share << 32, POOL_WHOLE - lent);
	}
	return policy->promised ? weir_max64(share, policy->promised(g->w, g)) : share;
}

/* Of a pool, with that share of it. */
static uint32_t places(uint64_t share, uint32_t pool, enum weir_dir dir)
{
	uint32_t n;

	/* To the nearest: 200 of 500 is 40 of 100, though the share is cut off after 32 bits. */
	n = (uint32_t)((share * pool + (UINT64_C(1) << 31)) >> 32);
	if (dir == WEIR_WRITE)
		n -= n / 4;
	return n > WEIR_ADMIT_MIN ? n : WEIR_ADMIT_MIN;
}

/* Does anything limit it, the pool or the policy? */
static bool is_limited(const struct weir *w)
{
	return w->cfg.pool || w->policy->places;
}

/* The default rule: the share of the pool, and the block layer's marks on it. */
static struct weir_places places_by_share(uint64_t share, uint32_t pool, enum weir_dir dir)
{
	uint32_t n = places(share, pool, dir);

	return (struct weir_places){
		.most = n,
		.on = weir_on_mark(n),
		.off = weir_off_mark(n),
		.wake = weir_off_mark(n) + (n <= 2 * WEIR_ADMIT_MIN),
	};
}

static struct weir_places places_of(const struct weir_group *g, enum weir_dir dir)
{
	struct weir *w = g->w;
	struct weir_places p;

	if (!w->policy->places)
		return places_by_share(pool_share(g), w->cfg.pool, dir);
	w->policy->places(w, g, dir, &p);
	weir_assert(p.off && p.off <= p.on && p.on <= p.most && p.wake && p.wake <= p.most);
	return p;
}

static uint32_t limit(const struct weir_group *g, enum weir_dir dir)
{
	return is_limited(g->w) ? places_of(g, dir).most : UINT32_MAX;
}

uint32_t weir_admit_limit(const struct weir_group *g, enum weir_dir dir)
{
	return limit(g, dir);
}

bool weir_admits_all(const struct weir *w)
{
	return !is_limited(w);
}

uint32_t weir_admitted(const struct weir_group *g, enum weir_dir dir)
{
	return g->admission[dir].admitted;
}

uint32_t weir_pool_used(const struct weir *w)
{
	return w->pool_used;
}

bool weir_admit_waits(const struct weir_group *g, enum weir_dir dir)
{
	return g->admission[dir].waiting;
}

/*
 * Of this direction; by the default rule reads count with the group's writes against the limit of
 * both.
 */
static uint32_t admitted(const struct weir_group *g, enum weir_dir dir)
{
	uint32_t n = g->admission[dir].admitted;

	return dir == WEIR_READ && !g->w->policy->places ? n + g->admission[WEIR_WRITE].admitted
							 : n;
}

/* Less than the least limit, and so below every mark. */
static bool is_far_from_limit(const struct weir_group *g)
{
	return !g->w->policy->places && admitted(g, WEIR_READ) < WEIR_ADMIT_MIN &&
	       !g->admission[WEIR_READ].congested && !g->admission[WEIR_WRITE].congested;
}

static void set_congested(struct weir_group *g, enum weir_dir dir, const struct weir_places *p)
{
	uint32_t used = admitted(g, dir);

	if (used >= p->on)
		g->admission[dir].congested = true;
	else if (used < p->off)
		g->admission[dir].congested = false;
}

/* Of both directions, since reads count with the writes. */
static void update_congested(struct weir_group *g)
{
	struct weir *w = g->w;
	uint64_t share = w->cfg.pool && !w->policy->places ? pool_share(g) : 0;
	unsigned int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		struct weir_places p = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};

		if (w->policy->places)
			p = places_of(g, (enum weir_dir)dir);
		else if (w->cfg.pool)
			p = places_by_share(share, w->cfg.pool, (enum weir_dir)dir);
		set_congested(g, (enum weir_dir)dir, &p);
	}
}

/* Only then can a share be lent. */
static bool divides_by_share(const struct weir *w)
{
	return w->cfg.pool && !w->policy->places;
}

/* More than waits for a ceiling. */
static bool uses(const struct weir_group *g, unsigned int dir)
{
	return g->admission[dir].admitted > g->flow[dir].nr_held;
}

static void set_lent(struct weir_admission *a, uint64_t share)
{
	a->group->w->pool_lent += share - a->lent;
	a->lent = share;
}

/* Its ceiling keeps g from using more places, until it is woken: others may. */
static void lend(struct weir_group *g, enum weir_dir dir)
{
	struct weir_admission *a = &g->admission[dir];

	if (g->flow[dir].nr_held >= WEIR_ADMIT_HELD && !is_lending(g) && !uses(g, !dir))
		set_lent(a, weir_entitle_share(g));
}

/* Others came or went since, or have other weights; or g needs it itself. */
static void lend_again(struct weir_admission *a)
{
	if (a->lent)
		set_lent(a, uses(a->group, !a->dir) ? 0 : weir_entitle_share(a->group));
	else
		lend(a->group, a->dir);
}

static void refuse(struct weir_group *g, enum weir_dir dir)
{
	struct weir_admission *a = &g->admission[dir];

	if (a->waiting)
		return;
	a->waiting = true;
	g->flow[dir].refused = true;
	list_push_back(&g->w->admit_waiters, &a->wait);
	/*
	 * Who waits for a place counts as active, or its share would stay with those who have one.
	 * The claim that begins here lasts until it is woken: weir_entitle_expire().
	 */
	if (!g->entitle.own_active) {
		weir_entitle_busy(g, g->w->now);
		weir_entitle_quiet(g, g->w->now);
	}
	if (divides_by_share(g->w))
		lend(g, dir);
}

static bool pool_is_full(const struct weir *w)
{
	return w->cfg.pool && w->pool_used >= w->cfg.pool;
}

/* Reads may use the pool up to the last place when the group is below its share. */
static bool may_admit(const struct weir_group *g, enum weir_dir dir)
{
	const struct weir *w = g->w;

	if (!is_limited(w))
		return true;
	return g->flow[dir].nr_held < WEIR_ADMIT_HELD && !pool_is_full(w) &&
	       (admitted(g, dir) < WEIR_ADMIT_MIN || admitted(g, dir) < limit(g, dir));
}

bool weir_admit(struct weir *w, struct weir_group *g, enum weir_dir dir, uint32_t bytes,
		uint64_t now)
{
	struct weir_admission *a = &g->admission[dir];
	bool yes;

	weir_tick(w, now);
	weir_assert(!g->dying);
	/* Behind those who were refused before: no overtaking while they wait to be woken. */
	yes = !a->waiting && may_admit(g, dir);
	if (yes) {
		a->admitted++;
		w->pool_used++;
		if (is_limited(w) && !is_far_from_limit(g))
			update_congested(g);
	} else {
		refuse(g, dir);
	}
	weir_record_admit(w, g, dir, bytes, yes);
	return yes;
}

/* May a refused group ask again? At its own limit only below the off mark. */
static bool may_wake(const struct weir_group *g, enum weir_dir dir)
{
	const struct weir *w = g->w;

	if (!is_limited(w))
		return true;
	if (g->flow[dir].nr_held >= WEIR_ADMIT_HELD || pool_is_full(w))
		return false;
	return admitted(g, dir) < places_of(g, dir).wake;
}

/* Runs the host, which may do anything: the group may be gone afterwards. */
static void wake(struct weir_group *g, enum weir_dir dir)
{
	struct weir_admission *a = &g->admission[dir];
	struct weir *w = g->w;

	a->waiting = false;
	set_lent(a, 0);
	list_unlink(&a->wait);
	list_init(&a->wait);
	weir_record_wake(w, g, dir);
	if (w->host.wake)
		w->host.wake(w->host.priv, g, dir);
	weir_record_woken(w);
}

/*
 * Once through today's waiters. Two marks in the list keep the place: who is refused again goes
 * behind the end, and who leaves takes nothing along.
 */
static void wake_waiters(struct weir *w)
{
	struct weir_list *at = w->admit_waiters.next, *end = &w->wake_end, *after = &w->wake_after;

	list_push_back(&w->admit_waiters, end);
	while (at != end && !pool_is_full(w)) {
		struct weir_admission *a = weir_container_of(at, struct weir_admission, wait);

		list_insert_between(after, at, at->next);
		if (may_wake(a->group, a->dir))
			wake(a->group, a->dir);
		else if (divides_by_share(w))
			lend_again(a);
		at = after->next;
		list_unlink(after);
	}
	list_unlink(end);
}

void weir_admission_wake(struct weir *w)
{
	if (list_is_empty(&w->admit_waiters))
		return;
	/* From within wake(): the one that is running goes round again. */
	w->wake_again = true;
	if (w->waking)
		return;
	w->waking = true;
	while (w->wake_again && !list_is_empty(&w->admit_waiters)) {
		w->wake_again = false;
		wake_waiters(w);
	}
	w->waking = false;
}

void weir_admission_changed(struct weir *w)
{
	struct weir_group *g;

	list_for_each(g, &w->groups, struct weir_group, all)
		update_congested(g);
	weir_admission_wake(w);
}

void weir_release(struct weir *w, struct weir_group *g, enum weir_dir dir, uint64_t now)
{
	struct weir_admission *a = &g->admission[dir];

	weir_tick(w, now);
	weir_assert(a->admitted > 0 && w->pool_used > 0);
	a->admitted--;
	w->pool_used--;
	if (g->admission[WEIR_READ].congested || g->admission[WEIR_WRITE].congested)
		update_congested(g);
	weir_record_release(w, g, dir);
	weir_group_reap(g);
	weir_admission_wake(w);
}

bool weir_congested(const struct weir_group *g, enum weir_dir dir)
{
	return g->admission[dir].congested;
}

void weir_admission_forget(struct weir_group *g)
{
	unsigned int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		struct weir_admission *a = &g->admission[dir];

		if (a->waiting)
			wake(g, dir);
	}
}
