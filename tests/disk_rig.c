// SPDX-License-Identifier: GPL-2.0-only
/* A disk with an arm, and streams on it: see disk_rig.h. */
#include "tests/disk_rig.h"

#include "core/fixed.h"
#include "core/list.h"

static void note(void *priv, const char *text)
{
	(void)priv, (void)text;
}

void disk_init(struct disk *d)
{
	memset(d, 0, sizeof(*d));
	util_config(&d->cfg);
	d->cfg.merge = false;
	d->host = (struct weir_host){
		.alloc = util_alloc, .free = util_free, .note = note, .priv = &d->memory};
	d->seek_ns = 8 * DISK_MS;
	d->sector_ns = 4 * DISK_US;
	d->depth = 1;
	d->now = DISK_S;
	d->seed = 1;
	d->timer_ns = WEIR_NEVER;
	d->done_at_ns = WEIR_NEVER;
	d->since_ns = d->now;
}

void disk_start(struct disk *d, const struct weir_policy *policy, const uint64_t *values)
{
	int err;

	d->cfg.device_depth = d->depth;
	d->w = weir_create(&d->cfg, &d->host, policy, values, d->now, &err);
	assert_non_null(d->w);
}

struct weir_group *disk_group(struct disk *d, struct weir_group *parent, uint32_t weight)
{
	struct weir_group_attr attr;
	struct weir_group *g;

	weir_group_attr_init(&attr);
	attr.weight = weight;
	g = weir_group_create(d->w, parent ? parent : weir_root(d->w), &attr, d->now, NULL);
	assert_non_null(g);
	return g;
}

struct disk_stream *disk_stream(struct disk *d, struct weir_group *g, uint64_t first_sector)
{
	struct disk_stream *s = &d->stream[d->nr_streams++];

	assert_true(d->nr_streams <= DISK_STREAMS);
	s->group = g ? g : weir_root(d->w);
	s->ctx = weir_ctx_create(d->w, s->group, WEIR_IOPRIO_NONE, 0, d->now);
	s->op = WEIR_OP_READ;
	s->nr_sectors = 128;
	s->outstanding = 1;
	s->first_sector = first_sector;
	return s;
}

void disk_start_stream(struct disk *d, struct disk_stream *s)
{
	uint32_t n;

	assert_true(s->outstanding <= DISK_OUTSTANDING);
	s->next_sector = s->first_sector;
	for (n = 0; n < s->outstanding; n++) {
		s->rq[n].stream = s;
		s->rq[n].issue_ns = d->now;
	}
}

void disk_stop_stream(struct disk_stream *s)
{
	s->stopped = true;
}

static void issue(struct disk *d, struct disk_rq *r)
{
	struct disk_stream *s = r->stream;
	struct disk_stream *cursor = s->with ? s->with : s;
	uint64_t sector = cursor->next_sector;

	r->issue_ns = WEIR_NEVER;
	if (s->stopped)
		return;
	if (s->nr_places)
		sector = s->first_sector + util_below(&d->seed, s->nr_places) * s->nr_sectors;
	else
		cursor->next_sector += s->nr_sectors;
	weir_rq_init(&r->rq, s->op, sector, s->nr_sectors, s->group, s->ctx);
	r->rq.flags = s->flags;
	weir_insert(d->w, &r->rq, WEIR_TAIL, d->now);
}

static uint64_t service_ns(const struct disk *d, const struct weir_rq *rq)
{
	return rq->nr_sectors * d->sector_ns + (rq->sector == d->arm ? 0 : d->seek_ns);
}

static void serve_first(struct disk *d)
{
	d->done_at_ns = d->first ? d->now + service_ns(d, &d->first->rq) : WEIR_NEVER;
}

static bool dispatch(struct disk *d)
{
	struct weir_next next = {WEIR_NEVER};
	struct weir_rq *rq;
	struct disk_rq *r;

	if (d->in_device >= d->depth)
		return false;
	rq = weir_dispatch(d->w, d->now, &next);
	d->timer_ns = rq ? WEIR_NEVER : next.at_ns;
	if (!rq)
		return false;
	r = weir_container_of(rq, struct disk_rq, rq);
	r->next = NULL;
	r->stream->runs += d->before != r->stream;
	d->before = r->stream;
	if (d->now - rq->insert_ns > r->stream->wait_max_ns)
		r->stream->wait_max_ns = d->now - rq->insert_ns;
	if (d->in_device++) {
		d->last->next = r;
		d->last = r;
	} else {
		d->first = d->last = r;
		serve_first(d);
	}
	return true;
}

static void complete(struct disk *d)
{
	struct disk_rq *r = d->first;
	struct disk_stream *s = r->stream;

	s->done++;
	s->busy_ns += service_ns(d, &r->rq);
	d->done++;
	d->seeks += r->rq.sector != d->arm;
	d->arm = weir_rq_end(&r->rq);
	d->first = r->next;
	d->in_device--;
	serve_first(d);
	weir_complete(d->w, &r->rq, d->now);
	r->issue_ns = d->now + s->think_ns;
}

/* The next thing that happens, up to `end`. */
static uint64_t next_event(const struct disk *d, uint64_t end)
{
	uint64_t at = weir_min64(weir_min64(d->done_at_ns, d->timer_ns), end);
	uint32_t i, n;

	for (i = 0; i < d->nr_streams; i++)
		for (n = 0; n < d->stream[i].outstanding; n++)
			if (d->stream[i].rq[n].stream)
				at = weir_min64(at, d->stream[i].rq[n].issue_ns);
	return at > d->now ? at : d->now;
}

static void issue_due(struct disk *d)
{
	uint32_t i, n;

	for (i = 0; i < d->nr_streams; i++)
		for (n = 0; n < d->stream[i].outstanding; n++)
			if (d->stream[i].rq[n].stream && d->stream[i].rq[n].issue_ns <= d->now)
				issue(d, &d->stream[i].rq[n]);
}

void disk_run(struct disk *d, uint64_t length_ns)
{
	uint64_t end = d->now + length_ns;

	for (;;) {
		uint64_t at;

		if (d->done_at_ns <= d->now)
			complete(d);
		issue_due(d);
		while (dispatch(d))
			;
		if (d->now >= end && d->done_at_ns > d->now)
			break;
		at = next_event(d, end);
		if (!d->in_device && weir_nr_waiting(d->w))
			d->idle_ns += at - d->now;
		d->now = at;
	}
}

void disk_clear(struct disk *d)
{
	uint32_t i;

	for (i = 0; i < d->nr_streams; i++) {
		struct disk_stream *s = &d->stream[i];

		s->done = s->busy_ns = s->wait_max_ns = s->runs = 0;
	}
	d->since_ns = d->now;
	d->done = d->seeks = d->idle_ns = 0;
}

void disk_stop(struct disk *d)
{
	uint32_t i;

	for (i = 0; i < d->nr_streams; i++)
		disk_stop_stream(&d->stream[i]);
	while (weir_nr_waiting(d->w) || d->in_device)
		disk_run(d, 100 * DISK_MS);
	weir_destroy(d->w);
	assert_int_equal(d->memory.bytes, 0);
}

uint64_t disk_kib_per_s(const struct disk *d, const struct disk_stream *s)
{
	uint64_t ms = (d->now - d->since_ns) / DISK_MS;

	return ms ? s->done * s->nr_sectors / 2 * 1000 / ms : 0;
}
