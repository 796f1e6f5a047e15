/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a group waited: see wait.h. */
#include "core/core.h"

/*
 * Gives the nodes on the path that is next the time since it was given last. Each is ready now as
 * it was all the while: who changes that calls this first.
 */
static void give_next(struct weir_wait_clocks *c)
{
	uint64_t share = c->clock_ns[WEIR_CLOCK_SHARE] - c->next_share_ns;
	uint64_t floor = c->clock_ns[WEIR_CLOCK_FLOOR] - c->next_floor_ns;
	struct weir_group *g;

	if (!(share | floor))
		return;
	c->next_share_ns = c->clock_ns[WEIR_CLOCK_SHARE];
	c->next_floor_ns = c->clock_ns[WEIR_CLOCK_FLOOR];
	for (g = c->next; g; g = g->parent) {
		if (!g->wait.nr_ready)
			continue;
		g->wait.share_ns += share;
		g->wait.floor_ns += floor;
		g->wait.device_ns += share + floor;
	}
}

/* Takes what the clocks gained since the node became ready. */
static void settle_ready(const struct weir_wait_clocks *c, const struct weir_wait *wt,
			 struct weir_wait_sums *s)
{
	static const uint8_t cause[WEIR_NR_PLAIN_CLOCKS] = {
		[WEIR_CLOCK_HOST] = WEIR_WAIT_HOST,
		[WEIR_CLOCK_IDLE] = WEIR_WAIT_IDLE,
		[WEIR_CLOCK_LATENCY] = WEIR_WAIT_LATENCY,
	};
	unsigned int i;

	for (i = 0; i < WEIR_NR_PLAIN_CLOCKS; i++)
		s->wait_ns[cause[i]] += c->clock_ns[i] - s->plain_ns[i];
	s->wait_ns[WEIR_WAIT_SHARE] += c->clock_ns[WEIR_CLOCK_SHARE] - wt->share_ns;
	s->wait_ns[WEIR_WAIT_FLOOR] += c->clock_ns[WEIR_CLOCK_FLOOR] - wt->floor_ns;
}

static void begin_ready(const struct weir_wait_clocks *c, struct weir_wait *wt,
			struct weir_wait_sums *s)
{
	unsigned int i;

	for (i = 0; i < WEIR_NR_PLAIN_CLOCKS; i++)
		s->plain_ns[i] = c->clock_ns[i];
	wt->share_ns = c->clock_ns[WEIR_CLOCK_SHARE];
	wt->floor_ns = c->clock_ns[WEIR_CLOCK_FLOOR];
}

static void begin_backlog(struct weir_wait_sums *s, uint64_t now)
{
	s->backlogged_since_ns = now;
	s->held_since_ns = now;
}

static void end_backlog(struct weir_wait_sums *s, uint64_t now)
{
	s->backlogged_ns += now - s->backlogged_since_ns;
	s->wait_ns[WEIR_WAIT_CEILING] += now - s->held_since_ns;
}

void weir_wait_ready_begin(struct weir_group *g, uint64_t free_ns, uint64_t now)
{
	struct weir_wait_clocks *c = &g->w->clocks;

	for (; g; g = g->parent) {
		struct weir_wait_sums *s = &g->wait_sums;

		if (g->wait.nr_ready) {
			g->wait.nr_ready++;
			return;
		}
		give_next(c);
		g->wait.nr_ready = 1;
		if (!g->wait.nr_held)
			begin_backlog(s, now);
		free_ns = weir_max64(free_ns, s->held_since_ns);
		s->wait_ns[WEIR_WAIT_CEILING] += free_ns - s->held_since_ns;
		s->wait_ns[WEIR_WAIT_HOST] += now - free_ns;
		begin_ready(c, &g->wait, s);
	}
}

void weir_wait_ready_end(struct weir_group *g, uint64_t now)
{
	struct weir_wait_clocks *c = &g->w->clocks;

	for (; g; g = g->parent) {
		weir_assert(g->wait.nr_ready > 0);
		if (g->wait.nr_ready > 1) {
			g->wait.nr_ready--;
			return;
		}
		give_next(c);
		g->wait.nr_ready = 0;
		settle_ready(c, &g->wait, &g->wait_sums);
		g->wait_sums.held_since_ns = now;
		if (!g->wait.nr_held)
			end_backlog(&g->wait_sums, now);
	}
}

void weir_wait_held_inc(struct weir_group *g, uint64_t now)
{
	for (; g; g = g->parent) {
		if (g->wait.nr_held++)
			return;
		if (!g->wait.nr_ready)
			begin_backlog(&g->wait_sums, now);
	}
}

void weir_wait_held_dec(struct weir_group *g, uint64_t now)
{
	for (; g; g = g->parent) {
		weir_assert(g->wait.nr_held > 0);
		if (--g->wait.nr_held)
			return;
		if (!g->wait.nr_ready)
			end_backlog(&g->wait_sums, now);
	}
}

void weir_wait_set_next(struct weir_wait_clocks *c, struct weir_group *g)
{
	if (g == c->next)
		return;
	give_next(c);
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
	struct weir_wait_sums s = g->wait_sums;
	unsigned int i;

	give_next(&g->w->clocks);
	if (g->wait.nr_ready)
		settle_ready(&g->w->clocks, &g->wait, &s);
	else if (g->wait.nr_held)
		s.wait_ns[WEIR_WAIT_CEILING] += now - s.held_since_ns;
	if (weir_wait_is_backlogged(&g->wait))
		s.backlogged_ns += now - s.backlogged_since_ns;
	*backlogged_ns = s.backlogged_ns;
	for (i = 0; i < WEIR_NR_WAITS; i++)
		wait_ns[i] = s.wait_ns[i];
	wait_ns[WEIR_WAIT_DEVICE] = g->wait.device_ns;
}

void weir_wait_reset(struct weir_group *g, uint64_t now)
{
	struct weir_wait_clocks *c = &g->w->clocks;
	struct weir_wait_sums *s = &g->wait_sums;

	give_next(c);
	g->wait.device_ns = 0;
	*s = (struct weir_wait_sums){.backlogged_since_ns = now, .held_since_ns = now};
	if (g->wait.nr_ready)
		begin_ready(c, &g->wait, s);
}

const char *weir_wait_cause_name(enum weir_wait_cause cause)
{
	static const char *const name[WEIR_NR_WAITS] = {"ceiling", "latency", "floor", "idle",
							"device",  "share",   "host"};

	return (unsigned int)cause < WEIR_NR_WAITS ? name[cause] : "?";
}
