// SPDX-License-Identifier: GPL-2.0-only
/* The device and its streams: see serial_device.h. */
#include "tests/serial_device.h"

enum sd_step {
	SD_INSERT,
	SD_ARRIVE, /* at the server, out of the pipeline */
	SD_COMPLETE,
};

struct sd_rq {
	struct weir_rq rq;
	struct sd_stream *s;
	struct sd_rq *next; /* in d->rqs */
	enum sd_step step;  /* of its event */
	uint64_t at_ns, seq;
	uint64_t server_ns;
};

/* ---- events: a binary heap by time and number ---- */

static bool before(const struct sd_rq *a, const struct sd_rq *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->seq < b->seq;
}

static void event_add(struct sd *d, struct sd_rq *r, enum sd_step step, uint64_t at_ns)
{
	uint32_t at = d->nr_events++;

	if (d->nr_events > d->room) {
		d->room = d->room ? 2 * d->room : 256;
		d->event = realloc(d->event, d->room * sizeof(d->event[0]));
		assert_non_null(d->event);
	}
	r->step = step;
	r->at_ns = at_ns;
	r->seq = d->seq++;
	for (; at && before(r, d->event[(at - 1) / 2]); at = (at - 1) / 2)
		d->event[at] = d->event[(at - 1) / 2];
	d->event[at] = r;
}

static struct sd_rq *event_take(struct sd *d)
{
	struct sd_rq *first = d->event[0], *last = d->event[--d->nr_events];
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < d->nr_events) {
		if (child + 1 < d->nr_events && before(d->event[child + 1], d->event[child]))
			child++;
		if (!before(d->event[child], last))
			break;
		d->event[at] = d->event[child];
		at = child;
	}
	if (d->nr_events)
		d->event[at] = last;
	return first;
}

/* ---- streams ---- */

/* When the stream may insert: now, or at its next burst. */
static uint64_t on_time(const struct sd_stream *s, uint64_t at_ns)
{
	uint64_t phase_ns;

	if (!s->off_ns)
		return at_ns;
	phase_ns = (at_ns - s->start_ns) % (s->on_ns + s->off_ns);
	return phase_ns < s->on_ns ? at_ns : at_ns + (s->on_ns + s->off_ns - phase_ns);
}

static void insert(struct sd *d, struct sd_rq *r)
{
	struct sd_stream *s = r->s;
	uint64_t sector = s->next_sector;

	if (s->sequential)
		s->next_sector += s->nr_sectors;
	else
		sector = util_below(&d->seed, UINT64_C(1) << 24) << 8;
	weir_rq_init(&r->rq, s->op, sector, s->op == WEIR_OP_FLUSH ? 0 : s->nr_sectors, s->group,
		     s->ctx);
	r->rq.flags = s->flags;
	weir_insert(d->w, &r->rq, WEIR_TAIL, d->now);
}

static void complete(struct sd *d, struct sd_rq *r)
{
	struct sd_stream *s = r->s;
	uint64_t think_ns = s->think_ns;

	weir_complete(d->w, &r->rq, d->now);
	d->in_device--;
	s->in_device--;
	d->done++;
	d->server_ns += r->server_ns;
	s->done++;
	s->done_bytes += weir_rq_bytes(&r->rq);
	s->server_ns += r->server_ns;
	weir_hist_add(&s->latency, d->now - r->rq.insert_ns);
	if (s->think_spread_ns)
		think_ns += util_below(&d->seed, s->think_spread_ns);
	event_add(d, r, SD_INSERT, on_time(s, d->now + think_ns));
}

/* ---- the device ---- */

/* What would be at at_ns comes after a standstill that it falls into. */
static uint64_t after_hold(struct sd *d, uint64_t at_ns)
{
	while (d->hold_every_ns && d->hold_at_ns + d->hold_ns <= at_ns)
		d->hold_at_ns += d->hold_ns + util_below(&d->seed, 2 * d->hold_every_ns);
	return d->hold_every_ns && d->hold_at_ns <= at_ns ? d->hold_at_ns + d->hold_ns : at_ns;
}

static void start(struct sd *d, struct sd_rq *r)
{
	struct sd_stream *s = r->s;
	uint64_t wait_ns = d->now - r->rq.insert_ns;

	s->wait_sum_ns += wait_ns;
	if (wait_ns > s->wait_max_ns)
		s->wait_max_ns = wait_ns;
	s->in_device++;
	if (++d->in_device > d->in_device_max)
		d->in_device_max = d->in_device;
	if (s->dispatched)
		s->dispatched(s, &r->rq);
	event_add(d, r, SD_ARRIVE, after_hold(d, d->now + d->latency_ns));
}

static void arrive(struct sd *d, struct sd_rq *r)
{
	uint64_t begin_ns = d->server_free_ns > d->now ? d->server_free_ns : d->now, end_ns;

	r->server_ns = d->base_ns + r->rq.nr_sectors * d->sector_ns;
	d->server_free_ns = begin_ns + r->server_ns;
	end_ns = d->server_free_ns;
	if (d->stall_every && ++d->nr_passed % d->stall_every == 0)
		end_ns += d->stall_ns;
	event_add(d, r, SD_COMPLETE, end_ns);
}

static void pump(struct sd *d)
{
	struct weir_next next;
	struct weir_rq *rq;

	while ((rq = weir_dispatch(d->w, d->now, &next)))
		start(d, (struct sd_rq *)rq);
	assert_true(next.at_ns > d->now);
	d->timer_ns = next.at_ns;
}

static void event_run(struct sd *d)
{
	struct sd_rq *r = event_take(d);

	switch (r->step) {
	case SD_INSERT:
		if (!r->s->stopped)
			insert(d, r);
		break;
	case SD_ARRIVE:
		arrive(d, r);
		break;
	case SD_COMPLETE:
		complete(d, r);
		break;
	}
}

void sd_run(struct sd *d, uint64_t length_ns)
{
	uint64_t end_ns = d->now + length_ns;

	pump(d);
	for (;;) {
		uint64_t next_ns = d->nr_events ? d->event[0]->at_ns : WEIR_NEVER;

		if (d->timer_ns < next_ns)
			next_ns = d->timer_ns;
		if (next_ns > end_ns)
			break;
		d->now = next_ns;
		while (d->nr_events && d->event[0]->at_ns <= d->now)
			event_run(d);
		pump(d);
	}
	d->now = end_ns;
}

/* ---- set up and down ---- */

static void *sd_alloc(void *priv, size_t bytes)
{
	return util_alloc(&((struct sd *)priv)->memory, bytes);
}

static void sd_free(void *priv, void *p, size_t bytes)
{
	util_free(&((struct sd *)priv)->memory, p, bytes);
}

void sd_init(struct sd *d)
{
	memset(d, 0, sizeof(*d));
	weir_config_init(&d->cfg);
	/* 16 us to start, 0.5 us a sector: 4 KiB take 20 us, 128 KiB 144. */
	d->latency_ns = 80 * SD_US;
	d->base_ns = 16 * SD_US;
	d->sector_ns = 500;
	d->cfg.profile = (struct weir_profile){
		.rbps = 1024000000,
		.rseqiops = 50000,
		.rrandiops = 50000,
		.wbps = 1024000000,
		.wseqiops = 50000,
		.wrandiops = 50000,
		.flush_ns = 16 * SD_US,
		.latency_ns = 100 * SD_US,
		.knee_ns = 100 * SD_US,
	};
	d->cfg.merge = false;
	d->now = SD_S;
	d->seed = 1;
	d->timer_ns = WEIR_NEVER;
}

void sd_start(struct sd *d, const struct weir_policy *policy, const uint64_t *values)
{
	int err = 0;

	d->host = (struct weir_host){.alloc = sd_alloc, .free = sd_free, .priv = d};
	d->w = weir_create(&d->cfg, &d->host, policy, values, d->now, &err);
	if (!d->w)
		fail_msg("weir_create: error %d", err);
	d->since_ns = d->now;
}

struct weir_group *sd_group(struct sd *d, struct weir_group *parent, uint32_t weight)
{
	struct weir_group_attr attr;
	struct weir_group *g;
	int err = 0;

	weir_group_attr_init(&attr);
	attr.weight = weight;
	g = weir_group_create(d->w, parent, &attr, d->now, &err);
	if (!g)
		fail_msg("weir_group_create: error %d", err);
	return g;
}

struct sd_stream *sd_stream(struct sd *d, struct weir_group *g, uint32_t outstanding)
{
	struct sd_stream *s = &d->stream[d->nr_streams];

	assert_true(d->nr_streams < SD_STREAMS);
	d->nr_streams++;
	s->group = g;
	s->op = WEIR_OP_READ;
	s->nr_sectors = 8;
	s->outstanding = outstanding;
	return s;
}

void sd_start_stream(struct sd *d, struct sd_stream *s)
{
	uint32_t n;

	s->stopped = false;
	s->start_ns = d->now;
	for (n = 0; n < s->outstanding; n++) {
		struct sd_rq *r = calloc(1, sizeof(*r));

		assert_non_null(r);
		r->s = s;
		r->next = d->rqs;
		d->rqs = r;
		insert(d, r);
	}
}

struct sd_stream *sd_load(struct sd *d, struct weir_group *g, uint32_t outstanding)
{
	struct sd_stream *s = sd_stream(d, g, outstanding);

	sd_start_stream(d, s);
	return s;
}

void sd_stop_stream(struct sd_stream *s)
{
	s->stopped = true;
}

void sd_clear(struct sd *d)
{
	uint32_t n;

	for (n = 0; n < d->nr_streams; n++) {
		struct sd_stream *s = &d->stream[n];

		s->done = 0;
		s->done_bytes = 0;
		s->server_ns = 0;
		s->wait_sum_ns = 0;
		s->wait_max_ns = 0;
		memset(&s->latency, 0, sizeof(s->latency));
	}
	d->done = 0;
	d->server_ns = 0;
	d->in_device_max = d->in_device;
	d->since_ns = d->now;
}

void sd_stop(struct sd *d)
{
	uint32_t n;

	for (n = 0; n < d->nr_streams; n++)
		sd_stop_stream(&d->stream[n]);
	weir_set_drain(d->w, true, d->now);
	pump(d);
	while (d->nr_events) {
		d->now = d->event[0]->at_ns;
		event_run(d);
	}
	assert_int_equal(weir_nr_waiting(d->w), 0);
	assert_int_equal(weir_nr_in_flight(d->w), 0);
	weir_destroy(d->w);
	assert_int_equal(d->memory.bytes, 0);
	free(d->event);
	while (d->rqs) {
		struct sd_rq *r = d->rqs;

		d->rqs = r->next;
		free(r);
	}
}
