// SPDX-License-Identifier: GPL-2.0-only
/* The closed loop: see toy_device.h. */
#include "tests/toy_device.h"

struct toy_rq {
	struct weir_rq rq;
	struct toy_stream *s;
	struct toy_rq *next; /* in toy->rqs */
	uint64_t at_ns;	     /* event: completion, or insertion after thinking */
	uint64_t seq;	     /* of the event: order among equal times */
	bool in_device;
};

/* ---- events: a binary heap by time and number ---- */

static bool before(const struct toy_rq *a, const struct toy_rq *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->seq < b->seq;
}

static void event_add(struct toy *t, struct toy_rq *trq, uint64_t at_ns)
{
	uint32_t at = t->nr_events++;

	if (t->nr_events > t->room) {
		t->room = t->room ? 2 * t->room : 256;
		t->event = realloc(t->event, t->room * sizeof(t->event[0]));
		assert_non_null(t->event);
	}
	trq->at_ns = at_ns;
	trq->seq = t->seq++;
	for (; at && before(trq, t->event[(at - 1) / 2]); at = (at - 1) / 2)
		t->event[at] = t->event[(at - 1) / 2];
	t->event[at] = trq;
}

static struct toy_rq *event_take(struct toy *t)
{
	struct toy_rq *first = t->event[0], *last = t->event[--t->nr_events];
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < t->nr_events) {
		if (child + 1 < t->nr_events && before(t->event[child + 1], t->event[child]))
			child++;
		if (!before(t->event[child], last))
			break;
		t->event[at] = t->event[child];
		at = child;
	}
	if (t->nr_events)
		t->event[at] = last;
	return first;
}

/* ---- the loop ---- */

static void set_now(struct toy *t, uint64_t now)
{
	uint64_t passed_ns = now - t->now;
	uint32_t n;

	t->in_device_ns += passed_ns * t->in_device;
	for (n = 0; n < t->nr_streams; n++)
		t->stream[n].in_device_ns += passed_ns * t->stream[n].in_device;
	t->now = now;
}

static uint64_t service_end_ns(struct toy *t)
{
	uint64_t end_ns = t->now + t->service_min_ns +
			  util_below(&t->seed, t->service_max_ns - t->service_min_ns + 1);

	if (t->coalesce_ns)
		end_ns = (end_ns + t->coalesce_ns - 1) / t->coalesce_ns * t->coalesce_ns;
	return end_ns;
}

static void pump(struct toy *t)
{
	struct weir_next next = {.at_ns = WEIR_NEVER};

	t->timer_ns = WEIR_NEVER;
	while (!t->depth || t->in_device < t->depth) {
		struct weir_rq *rq = weir_dispatch(t->w, t->now, &next);
		struct toy_rq *trq = (struct toy_rq *)rq;
		struct toy_stream *s;
		uint64_t wait_ns;

		if (!rq) {
			if (next.at_ns == WEIR_NEVER)
				return;
			assert_true(next.at_ns > t->now);
			t->timer_ns = next.at_ns;
			if (t->host_late_ns)
				t->timer_ns += util_below(&t->seed, t->host_late_ns + 1);
			return;
		}
		s = trq->s;
		wait_ns = t->now - rq->insert_ns;
		s->wait_sum_ns += wait_ns;
		if (wait_ns > s->wait_max_ns)
			s->wait_max_ns = wait_ns;
		s->in_device++;
		t->in_device++;
		trq->in_device = true;
		if (s->released)
			s->released(s, rq);
		event_add(t, trq, service_end_ns(t));
	}
}

static void insert(struct toy *t, struct toy_rq *trq)
{
	struct toy_stream *s = trq->s;
	uint64_t sector = s->next_sector;

	if (s->nr_places)
		sector = s->first_sector + util_below(&t->seed, s->nr_places) * s->nr_sectors;
	else
		s->next_sector += s->nr_sectors;
	trq->in_device = false;
	weir_rq_init(&trq->rq, s->op, sector, s->op == WEIR_OP_FLUSH ? 0 : s->nr_sectors, s->group,
		     s->ctx);
	trq->rq.flags = s->flags;
	trq->rq.ioprio_class = s->ioprio_class;
	weir_insert(t->w, &trq->rq, WEIR_TAIL, t->now);
}

static void event_run(struct toy *t)
{
	struct toy_rq *trq = event_take(t);
	struct toy_stream *s = trq->s;

	if (trq->in_device) {
		weir_complete(t->w, &trq->rq, t->now);
		s->in_device--;
		t->in_device--;
		s->done++;
		s->done_bytes += weir_rq_bytes(&trq->rq);
		t->done++;
		trq->in_device = false;
		if (s->think_ns) {
			event_add(t, trq, t->now + s->think_ns);
			return;
		}
	}
	if (!s->stopped)
		insert(t, trq);
}

void toy_run(struct toy *t, uint64_t length_ns)
{
	uint64_t end_ns = t->now + length_ns;

	pump(t);
	for (;;) {
		uint64_t next_ns = t->nr_events ? t->event[0]->at_ns : WEIR_NEVER;

		if (t->timer_ns < next_ns)
			next_ns = t->timer_ns;
		if (next_ns > end_ns)
			break;
		set_now(t, next_ns);
		while (t->nr_events && t->event[0]->at_ns <= t->now)
			event_run(t);
		pump(t);
	}
	set_now(t, end_ns);
}

/* ---- set up and down ---- */

static void *toy_alloc(void *priv, size_t bytes)
{
	return util_alloc(&((struct toy *)priv)->memory, bytes);
}

static void toy_free(void *priv, void *p, size_t bytes)
{
	util_free(&((struct toy *)priv)->memory, p, bytes);
}

void toy_init(struct toy *t)
{
	memset(t, 0, sizeof(*t));
	util_config(&t->cfg);
	t->service_min_ns = 500 * TOY_US;
	t->service_max_ns = 1500 * TOY_US;
	t->now = TOY_S;
	t->seed = 1;
	t->timer_ns = WEIR_NEVER;
}

void toy_start(struct toy *t, const struct weir_policy *policy, const uint64_t *values)
{
	int err = 0;

	t->host = (struct weir_host){.alloc = toy_alloc, .free = toy_free, .priv = t};
	t->w = weir_create(&t->cfg, &t->host, policy, values, t->now, &err);
	if (!t->w)
		fail_msg("weir_create: error %d", err);
	t->since_ns = t->now;
}

struct toy_stream *toy_stream(struct toy *t, struct weir_group *g, uint32_t outstanding)
{
	struct toy_stream *s = &t->stream[t->nr_streams];

	assert_true(t->nr_streams < TOY_STREAMS);
	t->nr_streams++;
	s->group = g;
	s->op = WEIR_OP_READ;
	s->nr_sectors = 8;
	s->outstanding = outstanding;
	s->nr_places = 1 << 20;
	return s;
}

void toy_start_stream(struct toy *t, struct toy_stream *s)
{
	uint32_t n;

	s->next_sector = s->first_sector;
	s->stopped = false;
	for (n = 0; n < s->outstanding; n++) {
		struct toy_rq *trq = calloc(1, sizeof(*trq));

		assert_non_null(trq);
		trq->s = s;
		trq->next = t->rqs;
		t->rqs = trq;
		insert(t, trq);
	}
}

void toy_stop_stream(struct toy *t, struct toy_stream *s)
{
	(void)t;
	s->stopped = true;
}

void toy_clear(struct toy *t)
{
	uint32_t n;

	for (n = 0; n < t->nr_streams; n++) {
		struct toy_stream *s = &t->stream[n];

		s->done = 0;
		s->done_bytes = 0;
		s->wait_sum_ns = 0;
		s->wait_max_ns = 0;
		s->in_device_ns = 0;
	}
	t->done = 0;
	t->in_device_ns = 0;
	t->since_ns = t->now;
}

uint64_t toy_mean_in_device(struct toy *t, const struct toy_stream *s)
{
	uint64_t sum_ns = s ? s->in_device_ns : t->in_device_ns;

	return t->now > t->since_ns ? sum_ns / ((t->now - t->since_ns) / 100) : 0;
}

void toy_stop(struct toy *t)
{
	uint32_t n;

	for (n = 0; n < t->nr_streams; n++)
		toy_stop_stream(t, &t->stream[n]);
	weir_set_drain(t->w, true, t->now);
	t->depth = 0;
	pump(t);
	while (t->nr_events) {
		set_now(t, t->event[0]->at_ns);
		event_run(t);
	}
	assert_int_equal(weir_nr_waiting(t->w), 0);
	assert_int_equal(weir_nr_in_flight(t->w), 0);
	weir_destroy(t->w);
	assert_int_equal(t->memory.bytes, 0);
	free(t->event);
	while (t->rqs) {
		struct toy_rq *trq = t->rqs;

		t->rqs = trq->next;
		free(trq);
	}
}

struct weir_group *toy_group(struct toy *t, struct weir_group *parent, uint32_t weight)
{
	struct weir_group_attr attr;
	struct weir_group *g;
	int err = 0;

	weir_group_attr_init(&attr);
	attr.weight = weight;
	g = weir_group_create(t->w, parent, &attr, t->now, &err);
	if (!g)
		fail_msg("weir_group_create: error %d", err);
	return g;
}
