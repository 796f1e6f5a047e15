/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a group waited: see wait.h. */
#include "core/core.h"

static void next_close(const struct weir_wait_clocks *c, struct weir_wait *wt)
{
	wt->is_next = false;
	wt->share_ns += c->clock_ns[WEIR_CLOCK_SHARE];
	wt->floor_ns += c->clock_ns[WEIR_CLOCK_FLOOR];
	wt->device_ns += c->clock_ns[WEIR_CLOCK_SHARE] + c->clock_ns[WEIR_CLOCK_FLOOR];
}

static void next_open(const struct weir_wait_clocks *c, struct weir_wait *wt)
{
	wt->is_next = true;
	wt->share_ns -= c->clock_ns[WEIR_CLOCK_SHARE];
	wt->floor_ns -= c->clock_ns[WEIR_CLOCK_FLOOR];
	wt->device_ns -= c->clock_ns[WEIR_CLOCK_SHARE] + c->clock_ns[WEIR_CLOCK_FLOOR];
}

/* Takes what the clocks gained since the node became ready. */
static void settle_ready(const struct weir_wait_clocks *c, struct weir_wait *wt)
{
	static const uint8_t cause[WEIR_NR_PLAIN_CLOCKS] = {
		[WEIR_CLOCK_HOST] = WEIR_WAIT_HOST,
		[WEIR_CLOCK_IDLE] = WEIR_WAIT_IDLE,
		[WEIR_CLOCK_LATENCY] = WEIR_WAIT_LATENCY,
	};
	unsigned int i;

	if (wt->is_next)
		next_close(c, wt);
	for (i = 0; i < WEIR_NR_PLAIN_CLOCKS; i++)
		wt->wait_ns[cause[i]] += c->clock_ns[i] - wt->plain_ns[i];
	wt->wait_ns[WEIR_WAIT_SHARE] += c->clock_ns[WEIR_CLOCK_SHARE] - wt->share_ns;
	wt->wait_ns[WEIR_WAIT_FLOOR] += c->clock_ns[WEIR_CLOCK_FLOOR] - wt->floor_ns;
}

static void begin_ready(const struct weir_wait_clocks *c, struct weir_wait *wt)
{
	unsigned int i;

	for (i = 0; i < WEIR_NR_PLAIN_CLOCKS; i++)
		wt->plain_ns[i] = c->clock_ns[i];
	wt->share_ns = c->clock_ns[WEIR_CLOCK_SHARE];
	wt->floor_ns = c->clock_ns[WEIR_CLOCK_FLOOR];
}

void weir_wait_backlog_inc(struct weir_group *g, uint64_t now)
{
	for (; g; g = g->parent) {
		struct weir_wait *wt = &g->wait;

		if (wt->nr_backlogged++)
			return;
		wt->backlogged_since_ns = now;
		wt->held_since_ns = now;
	}
}

void weir_wait_backlog_dec(struct weir_group *g, uint64_t now)
{
	for (; g; g = g->parent) {
		struct weir_wait *wt = &g->wait;

		weir_assert(wt->nr_backlogged > 0);
		if (--wt->nr_backlogged)
			return;
		weir_assert(wt->nr_ready == 0);
		wt->backlogged_ns += now - wt->backlogged_since_ns;
		wt->wait_ns[WEIR_WAIT_CEILING] += now - wt->held_since_ns;
	}
}

void weir_wait_ready_inc(struct weir_group *g, uint64_t free_ns, uint64_t now)
{
	const struct weir_wait_clocks *c = &g->w->clocks;

	for (; g; g = g->parent) {
		struct weir_wait *wt = &g->wait;

		if (wt->nr_ready++)
			return;
		free_ns = weir_max64(free_ns, wt->held_since_ns);
		wt->wait_ns[WEIR_WAIT_CEILING] += free_ns - wt->held_since_ns;
		wt->wait_ns[WEIR_WAIT_HOST] += now - free_ns;
		begin_ready(c, wt);
	}
}

void weir_wait_ready_dec(struct weir_group *g, uint64_t now)
{
	const struct weir_wait_clocks *c = &g->w->clocks;

	for (; g; g = g->parent) {
		struct weir_wait *wt = &g->wait;

		weir_assert(wt->nr_ready > 0);
		if (--wt->nr_ready)
			return;
		settle_ready(c, wt);
		wt->held_since_ns = now;
	}
}

/* From g up to where the path of `other` joins, which may be nowhere, they are next no longer. */
static void close_up_to(const struct weir_wait_clocks *c, struct weir_group *g,
			const struct weir_group *other)
{
	while (g && g != other) {
		if (other && other->depth > g->depth) {
			other = other->parent;
			continue;
		}
		if (other && other->depth == g->depth)
			other = other->parent;
		if (g->wait.is_next)
			next_close(c, &g->wait);
		g = g->parent;
	}
}

void weir_wait_set_next(struct weir_wait_clocks *c, struct weir_group *g)
{
	struct weir_group *n;

	/* A node that is next and ready has ancestors that are: nothing to do. */
	if (g == c->next && (!g || g->wait.is_next))
		return;
	close_up_to(c, c->next, g);
	for (n = g; n && !n->wait.is_next; n = n->parent)
		if (n->wait.nr_ready)
			next_open(c, &n->wait);
	c->next = g;
}

void weir_wait_forget(struct weir_wait_clocks *c, struct weir_group *g)
{
	if (c->next == g)
		weir_wait_set_next(c, NULL);
}

void weir_wait_read(const struct weir_group *g, uint64_t now, uint64_t *backlogged_ns,
		    uint64_t wait_ns[WEIR_NR_WAITS])
{
	struct weir_wait wt = g->wait;
	unsigned int i;

	if (wt.nr_ready)
		settle_ready(&g->w->clocks, &wt);
	else if (wt.nr_backlogged)
		wt.wait_ns[WEIR_WAIT_CEILING] += now - wt.held_since_ns;
	if (wt.nr_backlogged)
		wt.backlogged_ns += now - wt.backlogged_since_ns;
	*backlogged_ns = wt.backlogged_ns;
	for (i = 0; i < WEIR_NR_WAITS; i++)
		wait_ns[i] = wt.wait_ns[i];
	wait_ns[WEIR_WAIT_DEVICE] = wt.device_ns;
}

void weir_wait_reset(struct weir_group *g, uint64_t now)
{
	const struct weir_wait_clocks *c = &g->w->clocks;
	struct weir_wait *wt = &g->wait;
	bool was_next = wt->is_next;
	unsigned int i;

	if (wt->nr_ready) {
		settle_ready(c, wt);
		begin_ready(c, wt);
	}
	wt->device_ns = 0;
	if (was_next)
		next_open(c, wt);
	wt->backlogged_since_ns = now;
	wt->held_since_ns = now;
	wt->backlogged_ns = 0;
	for (i = 0; i < WEIR_NR_WAITS; i++)
		wt->wait_ns[i] = 0;
}

const char *weir_wait_cause_name(enum weir_wait_cause cause)
{
	static const char *const name[WEIR_NR_WAITS] = {"ceiling", "latency", "floor", "idle",
							"device",  "share",   "host"};

	return (unsigned int)cause < WEIR_NR_WAITS ? name[cause] : "?";
}
