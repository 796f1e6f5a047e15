// SPDX-License-Identifier: GPL-2.0-only
/* The property test's calls that an operator makes: see property.h. */
#include "tests/property.h"

/* One in a few, the next allocation but so many fails. */
static bool break_memory(struct run *r)
{
	bool broken = draw_one_in(&r->seed, 6);

	r->memory.fail_at = broken ? r->memory.calls + 1 + util_below(&r->seed, 6) : 0;
	return broken;
}

/* ---- groups ---- */

static void trace_rates(struct run *r, const char *name, const struct weir_rates *rates)
{
	int dir;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++)
		TRACE(r, "    %s, dir %d: %lld bytes/s %lld ios/s\n", name, dir,
		      (long long)rates->bps[dir], (long long)rates->iops[dir]);
}

static void trace_attr(struct run *r, const struct weir_group_attr *attr)
{
	trace_rates(r, "max", &attr->max);
	trace_rates(r, "low", &attr->low);
	TRACE(r, "    weight %u own %u target %llu\n", attr->weight, attr->own_weight,
	      (unsigned long long)attr->latency_target_ns);
}

void call_group_create(struct run *r)
{
	struct weir_group_attr attr;
	struct weir_group *g;
	int n, err = 0, parent = pick_group(r);
	bool bad = draw_one_in(&r->seed, 8), broken;

	for (n = 0; n < BOOKS_GROUPS && r->books.group[n].used; n++)
		;
	if (n == BOOKS_GROUPS)
		return;
	draw_attr(&r->seed, &attr, false);
	if (bad)
		draw_bad_attr(&r->seed, &attr);
	CHECK(r, bad == (weir_group_attr_check(&attr) != NULL));
	broken = break_memory(r);
	g = weir_group_create(r->w, r->books.group[parent].g, &attr, now(r), &err);
	r->memory.fail_at = 0;
	TRACE(r, "  create %d below %d: %d\n", n, parent, err);
	trace_attr(r, &attr);
	if (bad) {
		CHECK(r, !g && err == -WEIR_EINVAL);
		return;
	}
	CHECK(r, (g && !err) || (broken && !g && err == -WEIR_ENOMEM));
	if (g)
		books_group_created(&r->books, n, parent, g);
}

static bool has_living_children(const struct run *r, int parent)
{
	int n;

	for (n = 0; n < BOOKS_GROUPS; n++)
		if (r->books.group[n].used && !r->books.group[n].removed &&
		    r->books.group[n].parent == parent)
			return true;
	return false;
}

void call_group_remove(struct run *r)
{
	int n = pick_group(r), ret;

	ret = weir_group_remove(r->books.group[n].g, now(r));
	TRACE(r, "  remove group %d: %d\n", n, ret);
	if (!n) {
		CHECK(r, ret == -WEIR_EPERM);
		return;
	}
	CHECK(r, ret == (has_living_children(r, n) ? -WEIR_EBUSY : 0));
	if (!ret)
		books_group_removed(&r->books, n);
	woken(r);
}

void call_group_set(struct run *r)
{
	int n = pick_group(r), ret;
	struct weir_group_attr attr, after;
	bool bad = draw_one_in(&r->seed, 6);

	draw_attr(&r->seed, &attr, !n);
	if (bad)
		draw_bad_attr(&r->seed, &attr);
	ret = weir_group_set(r->books.group[n].g, &attr, now(r));
	TRACE(r, "  set group %d: %d\n", n, ret);
	trace_attr(r, &attr);
	CHECK(r, ret == (bad ? -WEIR_EINVAL : 0));
	if (!ret)
		books_group_set(&r->books, n, &attr);
	weir_group_get(r->books.group[n].g, &after);
	CHECK(r, !memcmp(&after.max, &r->books.group[n].attr.max, sizeof(after.max)));
	CHECK(r, !memcmp(&after.low, &r->books.group[n].attr.low, sizeof(after.low)));
	CHECK(r, after.weight == r->books.group[n].attr.weight);
	CHECK(r, after.own_weight == r->books.group[n].attr.own_weight);
	CHECK(r, after.latency_target_ns == r->books.group[n].attr.latency_target_ns);
	woken(r);
}

/* ---- contexts ---- */

void call_ctx_create(struct run *r)
{
	int n, group = pick_group(r);
	struct weir_ctx *ctx;
	bool broken;

	for (n = 0; n < BOOKS_CTXS && r->books.ctx[n].used; n++)
		;
	if (n == BOOKS_CTXS)
		return;
	broken = break_memory(r);
	ctx = weir_ctx_create(r->w, r->books.group[group].g,
			      (enum weir_ioprio_class)util_below(&r->seed, 4),
			      (unsigned int)util_below(&r->seed, 8), now(r));
	r->memory.fail_at = 0;
	TRACE(r, "  create ctx %d in %d: %d\n", n, group, ctx != NULL);
	CHECK(r, ctx || broken);
	if (!ctx)
		return;
	CHECK(r, weir_ctx_group(ctx) == r->books.group[group].g);
	books_ctx_created(&r->books, n, group, ctx);
	woken(r);
}

void call_ctx_exit(struct run *r)
{
	int n = pick_ctx(r);

	if (n == BOOKS_NONE)
		return;
	TRACE(r, "  exit ctx %d\n", n);
	weir_ctx_exit(r->books.ctx[n].ctx, now(r));
	books_ctx_exited(&r->books, n);
	woken(r);
}

void call_ctx_change(struct run *r)
{
	int n = pick_ctx(r), to = pick_group(r);

	if (n == BOOKS_NONE)
		return;
	if (draw_one_in(&r->seed, 3)) {
		weir_ctx_set_ioprio(r->books.ctx[n].ctx,
				    (enum weir_ioprio_class)util_below(&r->seed, 4),
				    (unsigned int)util_below(&r->seed, 8), now(r));
		woken(r);
		return;
	}
	TRACE(r, "  move ctx %d to %d\n", n, to);
	weir_ctx_move(r->books.ctx[n].ctx, r->books.group[to].g, now(r));
	books_ctx_moved(&r->books, n, to);
	woken(r);
}

/* ---- the policy ---- */

static const struct weir_policy *draw_policy(struct run *r)
{
	unsigned int nr = 0;

	while (weir_policy_at(nr))
		nr++;
	return weir_policy_at((unsigned int)util_below(&r->seed, nr));
}

static void switch_prepare(struct run *r)
{
	const struct weir_policy *p = draw_policy(r);
	uint64_t values[WEIR_TUNABLES_MAX];
	const struct weir_tunable *t = weir_policy_info(p)->tunables;
	bool bad, broken;
	int err = 0;

	draw_tunables(&r->seed, p, values);
	bad = t[0].name && t[0].max < UINT64_MAX && draw_one_in(&r->seed, 6);
	if (bad)
		values[0] = t[0].max + 1;
	broken = break_memory(r);
	r->pending = weir_switch_prepare(r->w, p, draw_one_in(&r->seed, 3) && !bad ? NULL : values,
					 &err);
	r->memory.fail_at = 0;
	TRACE(r, "  prepare %s: %d\n", weir_policy_info(p)->name, err);
	CHECK(r, (r->pending != NULL) == !err);
	if (bad)
		CHECK(r, err == -WEIR_ERANGE || (broken && err == -WEIR_ENOMEM));
	else
		CHECK(r, !err || (broken && err == -WEIR_ENOMEM));
}

/* Prepares a change of policy, or ends one that is prepared. */
void call_switch(struct run *r)
{
	if (!r->pending) {
		switch_prepare(r);
		return;
	}
	if (draw_one_in(&r->seed, 4)) {
		TRACE(r, "  cancel\n");
		weir_switch_cancel(r->w, r->pending);
	} else {
		TRACE(r, "  commit\n");
		weir_switch_commit(r->w, r->pending, now(r));
		books_forget_heads(&r->books);
		woken(r);
	}
	r->pending = NULL;
}

void call_tunable(struct run *r)
{
	const struct weir_tunable *t = weir_policy_info(weir_current_policy(r->w))->tunables;
	unsigned int nr = 0, n;
	uint64_t value;

	while (t[nr].name)
		nr++;
	CHECK(r, weir_tunable_set(r->w, nr, 0, now(r)) == -WEIR_EINVAL);
	if (!nr)
		return;
	n = (unsigned int)util_below(&r->seed, nr);
	if (t[n].max < UINT64_MAX)
		CHECK(r, weir_tunable_set(r->w, n, t[n].max + 1, now(r)) == -WEIR_ERANGE);
	value = draw_log(&r->seed, t[n].min, t[n].max);
	TRACE(r, "  %s=%llu\n", t[n].name, (unsigned long long)value);
	CHECK(r, !weir_tunable_set(r->w, n, value, now(r)));
	CHECK(r, weir_tunable_get(r->w, n) == value);
	woken(r);
}

/* ---- the instance ---- */

void call_reconfigure(struct run *r)
{
	struct weir_config cfg, after;

	draw_config(&r->seed, &cfg);
	if (draw_one_in(&r->seed, 4)) {
		cfg.profile.rbps = 0;
		CHECK(r, weir_reconfigure(r->w, &cfg, now(r)) == -WEIR_EINVAL);
		weir_get_config(r->w, &after);
		CHECK(r, after.max_sectors == r->cfg.max_sectors);
		CHECK(r, after.profile.rbps == r->cfg.profile.rbps);
		return;
	}
	TRACE(r, "  reconfigure: pool %u depth %u requests %u\n", cfg.pool, cfg.device_depth,
	      cfg.nr_requests);
	r->cfg = cfg; /* before: it may wake */
	CHECK(r, !weir_reconfigure(r->w, &cfg, now(r)));
	woken(r);
}

void call_drain(struct run *r)
{
	bool on = draw_one_in(&r->seed, 4);

	TRACE(r, "  drain %d\n", on);
	weir_set_drain(r->w, on, now(r));
	r->books.drain = on;
	woken(r);
}

void call_reset(struct run *r)
{
	TRACE(r, "  reset statistics\n");
	weir_stats_reset(r->w, now(r));
	books_reset_stats(&r->books);
}
