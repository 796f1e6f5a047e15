// SPDX-License-Identifier: GPL-2.0-only
/*
 * core/wait.c against a model that knows nothing of clocks: random scenes, in which every interval
 * is charged to a cause for every node of a tree by the states of all requests, and added up.
 */
#include "tests/stall_policy.h"

static struct util_host host;

static int setup(void **state)
{
	util_host_init(&host);
	util_host_start(&host, &stall_policy, NULL);
	stall_obey(WEIR_STALL_NONE, NULL);
	*state = &host;
	return 0;
}

static int teardown(void **state)
{
	stall_obey(WEIR_STALL_NONE, NULL);
	util_host_stop(*state);
	return 0;
}

static uint32_t insert(struct util_host *h, struct weir_group *g)
{
	return util_insert_as(h, g, NULL, WEIR_OP_READ, 0, 8);
}

static void set_depth(struct util_host *h, uint32_t depth)
{
	h->cfg.device_depth = depth;
	assert_int_equal(weir_reconfigure(h->w, &h->cfg, h->now), 0);
}

#define NODES 9

static const int parent_of[NODES] = {-1, 0, 0, 1, 1, 3, 2, 2, 5};

struct model {
	struct weir_group *g[NODES];
	uint64_t wait_ns[NODES][WEIR_NR_WAITS], backlogged_ns[NODES];
	enum weir_wait_state state;
	struct weir_group *next;
};

static bool is_below(const struct weir_group *g, const struct weir_group *top)
{
	for (; g; g = g->parent)
		if (g == top)
			return true;
	return false;
}

/* What one interval is for a node, from the requests' states alone. */
static void model_interval(struct model *m, const struct util_host *h, uint64_t length_ns)
{
	static const enum weir_wait_cause cause[WEIR_NR_CLOCKS] = {
		[WEIR_CLOCK_HOST] = WEIR_WAIT_HOST,	  [WEIR_CLOCK_IDLE] = WEIR_WAIT_IDLE,
		[WEIR_CLOCK_LATENCY] = WEIR_WAIT_LATENCY, [WEIR_CLOCK_SHARE] = WEIR_WAIT_SHARE,
		[WEIR_CLOCK_FLOOR] = WEIR_WAIT_FLOOR,
	};
	uint32_t n, i;

	for (n = 0; n < NODES; n++) {
		bool held = false, queued = false;
		enum weir_wait_cause why = cause[m->state];

		for (i = 0; i < h->nr_rqs; i++) {
			if (!is_below(h->rq[i].group, m->g[n]))
				continue;
			held |= h->rq[i].state == WEIR_RQ_HELD;
			queued |= h->rq[i].state == WEIR_RQ_QUEUED;
		}
		if (!held && !queued)
			continue;
		if (!queued)
			why = WEIR_WAIT_CEILING;
		else if ((m->state == WEIR_CLOCK_SHARE || m->state == WEIR_CLOCK_FLOOR) &&
			 is_below(m->next, m->g[n]))
			why = WEIR_WAIT_DEVICE;
		m->wait_ns[n][why] += length_ns;
		m->backlogged_ns[n] += length_ns;
	}
}

/* As every host does after every event: asks until there is nothing more. */
static uint64_t ask(struct model *m, struct util_host *h)
{
	static const enum weir_wait_state clock[] = {
		[WEIR_STALL_NONE] = WEIR_CLOCK_HOST,	   [WEIR_STALL_DEPTH] = WEIR_CLOCK_SHARE,
		[WEIR_STALL_LATENCY] = WEIR_CLOCK_LATENCY, [WEIR_STALL_FLOOR] = WEIR_CLOCK_FLOOR,
		[WEIR_STALL_IDLE] = WEIR_CLOCK_IDLE,
	};
	struct weir_next next;

	while (weir_dispatch(h->w, h->now, &next))
		;
	if (weir_nr_in_flight(h->w) >= h->cfg.device_depth) {
		m->state = WEIR_CLOCK_SHARE;
		m->next = stall_next_group(h->w);
	} else if (stall_order.why != WEIR_STALL_NONE && h->w->nr_queued) {
		m->state = clock[stall_order.why];
		m->next = stall_order.next;
	} else {
		m->state = WEIR_CLOCK_HOST;
	}
	return next.at_ns;
}

static void random_event(struct model *m, struct util_host *h, uint64_t *seed)
{
	uint32_t i, what = (uint32_t)util_below(seed, 8);

	if (what < 3) {
		insert(h, m->g[util_below(seed, NODES)]);
		return;
	}
	if (what == 3) {
		struct weir_rq *rq;

		stall_obey((enum weir_stall)util_below(seed, 5), NULL);
		/* Whose turn: somebody's who has one queued. */
		rq = &h->rq[util_below(seed, h->nr_rqs)];
		if (rq->state == WEIR_RQ_QUEUED)
			stall_order.next = rq->group;
		if (stall_order.why != WEIR_STALL_IDLE && !stall_order.next)
			stall_obey(WEIR_STALL_NONE, NULL);
		return;
	}
	for (i = (uint32_t)util_below(seed, h->nr_rqs); i < h->nr_rqs; i++) {
		if (what < 6 && h->rq[i].state == WEIR_RQ_DISPATCHED) {
			util_complete(h, i);
			return;
		}
		if (what == 6 &&
		    (h->rq[i].state == WEIR_RQ_QUEUED || h->rq[i].state == WEIR_RQ_HELD)) {
			assert_int_equal(weir_remove(h->w, &h->rq[i], h->now), 0);
			return;
		}
		if (what == 7 && h->rq[i].state == WEIR_RQ_DISPATCHED) {
			weir_requeue(h->w, &h->rq[i], WEIR_REQUEUE_INSERT, h->now);
			return;
		}
	}
}

static void compare(struct model *m, struct util_host *h)
{
	struct weir_group_stats s;
	uint32_t n, i;

	for (n = 0; n < NODES; n++) {
		weir_group_read_stats(m->g[n], h->now, &s);
		assert_int_equal(s.backlogged_ns, m->backlogged_ns[n]);
		for (i = 0; i < WEIR_NR_WAITS; i++)
			assert_int_equal(s.wait_ns[i], m->wait_ns[n][i]);
	}
}

/* The group that the test calls next may lose its request: then it is next for nothing. */
static void drop_stale_next(void)
{
	if (stall_order.next && !stall_order.next->tally[WEIR_READ]->count.waiting)
		stall_obey(WEIR_STALL_NONE, NULL);
}

static void at_random(void **state)
{
	static struct model m;
	struct util_host *h = *state;
	uint64_t seed = 11, at_ns = WEIR_NEVER, end_ns;
	uint32_t n, step;

	memset(&m, 0, sizeof(m));
	set_depth(h, 3);
	for (n = 0; n < NODES; n++)
		m.g[n] = n ? util_group(h, m.g[parent_of[n]], 100) : weir_root(h->w);
	for (n = 0; n < NODES; n += 3) {
		struct weir_group_attr attr = m.g[n]->attr;

		attr.max.iops[WEIR_READ] = 2000000 + n * 1000000;
		assert_int_equal(weir_group_set(m.g[n], &attr, h->now), 0);
	}
	insert(h, m.g[0]);
	for (step = 0; step < 3500; step++) {
		/* Time goes on, with a stop wherever the instance wants to be asked. */
		end_ns = h->now + util_below(&seed, 1500);
		while (h->now < end_ns) {
			uint64_t to_ns = at_ns < end_ns ? at_ns : end_ns;

			model_interval(&m, h, to_ns - h->now);
			h->now = to_ns;
			at_ns = ask(&m, h);
		}
		random_event(&m, h, &seed);
		drop_stale_next();
		at_ns = ask(&m, h);
		if (step % 50 == 0)
			compare(&m, h);
	}
	compare(&m, h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(at_random, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
