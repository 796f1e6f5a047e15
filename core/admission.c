/* SPDX-License-Identifier: GPL-2.0-only */
/* Admission to the request pool: see admission.h. */
#include "core/core.h"

#include "core/record.h"

void weir_admission_init(struct weir_group *g)
{
	unsigned int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		g->admission[dir].group = g;
		g->admission[dir].dir = (enum weir_dir)dir;
		list_init(&g->admission[dir].wait);
	}
}

static uint32_t limit(const struct weir_group *g, enum weir_dir dir)
{
	uint32_t pool = g->w->cfg.pool, n;

	if (!pool)
		return UINT32_MAX;
	n = (uint32_t)(weir_entitle_share(g) * pool >> 32);
	if (dir == WEIR_WRITE)
		n -= n / 4;
	return n > WEIR_ADMIT_MIN ? n : WEIR_ADMIT_MIN;
}

uint32_t weir_admit_limit(const struct weir_group *g, enum weir_dir dir)
{
	return limit(g, dir);
}

static uint32_t on_mark(uint32_t n)
{
	uint32_t on = n - n / 8 + 1;

	return on < n ? on : n;
}

static uint32_t off_mark(uint32_t n)
{
	uint32_t less = n / 8 + n / 16 + 1;

	return n > less ? n - less : 1;
}

/* Of this direction; reads count with the group's writes against the limit of both. */
static uint32_t admitted(const struct weir_group *g, enum weir_dir dir)
{
	uint32_t n = g->admission[dir].admitted;

	return dir == WEIR_READ ? n + g->admission[WEIR_WRITE].admitted : n;
}

static void refuse(struct weir_group *g, enum weir_dir dir)
{
	struct weir_admission *a = &g->admission[dir];

	if (a->waiting)
		return;
	a->waiting = true;
	list_push_back(&g->w->admit_waiters, &a->wait);
	/* Who waits for a place counts as active, or its share would stay with those who have one. */
	if (!g->entitle.own_active) {
		weir_entitle_busy(g, g->w->now);
		weir_entitle_quiet(g, g->w->now);
	}
}

/* Reads may use the pool up to the last place when the group is below its share. */
static bool may_admit(const struct weir_group *g, enum weir_dir dir)
{
	const struct weir *w = g->w;

	if (!w->cfg.pool)
		return true;
	return g->flow[dir].nr_held < WEIR_ADMIT_HELD && w->pool_used < w->cfg.pool &&
	       admitted(g, dir) < limit(g, dir);
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
		if (w->cfg.pool && admitted(g, dir) >= on_mark(limit(g, dir)))
			a->congested = true;
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

	if (!w->cfg.pool)
		return true;
	return g->flow[dir].nr_held < WEIR_ADMIT_HELD && w->pool_used < w->cfg.pool &&
	       admitted(g, dir) < off_mark(limit(g, dir)) + (limit(g, dir) <= 2 * WEIR_ADMIT_MIN);
}

static void wake(struct weir_group *g, enum weir_dir dir)
{
	struct weir_admission *a = &g->admission[dir];

	a->waiting = false;
	list_unlink(&a->wait);
	list_init(&a->wait);
	if (g->w->host.wake)
		g->w->host.wake(g->w->host.priv, g, dir);
}

void weir_admission_wake(struct weir *w)
{
	struct weir_admission *a, *next;
	struct weir_list *last = w->admit_waiters.prev;

	if (list_is_empty(&w->admit_waiters))
		return;
	/* wake() may run the host, which may be refused again: stop at today's last waiter. */
	for (a = list_first(&w->admit_waiters, struct weir_admission, wait);
	     &a->wait != &w->admit_waiters; a = next) {
		struct weir_group *g = a->group;
		bool is_last = &a->wait == last;

		next = list_next(a, struct weir_admission, wait);
		if (may_wake(g, a->dir))
			wake(g, a->dir);
		if (is_last || w->pool_used >= w->cfg.pool)
			break;
	}
}

void weir_release(struct weir *w, struct weir_group *g, enum weir_dir dir, uint64_t now)
{
	struct weir_admission *a = &g->admission[dir];

	weir_tick(w, now);
	weir_assert(a->admitted > 0 && w->pool_used > 0);
	a->admitted--;
	w->pool_used--;
	if (a->congested && admitted(g, dir) < off_mark(limit(g, dir)))
		a->congested = false;
	weir_record_release(w, g, dir);
	weir_admission_wake(w);
	weir_group_reap(g);
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
