// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flush sequences on a device with a volatile write cache: a flush goes before the data
 * (PREFLUSH), the data itself may have to reach the medium (FUA, which devices do by themselves),
 * or there is only a flush.
 *
 * A flush makes durable what had completed when the device began with it. So whoever asks while the
 * group's flush still waits in the queue rides along; who asks later waits for the next one. One
 * flush of a group is under way at a time. Groups do not share flushes: each is charged for its
 * own.
 *
 * A flush is never refused admission: there is one per group, and it must not wait behind the
 * group's data.
 */
#include "lab/blkhost.h"

static void push(struct lab_bio **head, struct lab_bio **tail, struct lab_bio *bio)
{
	bio->next = NULL;
	if (*head)
		(*tail)->next = bio;
	else
		*head = bio;
	*tail = bio;
}

static void instant(struct lab_event *ev, uint64_t now_ns)
{
	struct lab_host *h = weir_container_of(ev, struct lab_host, instant);
	struct lab_bio *bio = h->instant_head, *next;

	h->instant_head = NULL;
	for (; bio; bio = next) {
		next = bio->next;
		host_bio_done(h, bio, now_ns);
	}
}

void host_flush_init(struct lab_host *h)
{
	lab_event_init(&h->instant, instant);
}

/* A request for all of f->covered, in the name of the first. */
static void start_flush(struct lab_host *h, struct host_flush *f, uint64_t now_ns)
{
	const struct lab_bio *bio = f->covered;
	struct host_rq *r = host_rq_get(h);

	f->rq = r;
	r->bio = NULL;
	weir_rq_init(&r->rq, WEIR_OP_FLUSH, 0, 0, bio->group, bio->ctx);
	r->rq.flags = WEIR_RQ_SYNC | WEIR_RQ_NOMERGE | (bio->flags & WEIR_RQ_META);
	r->rq.ioprio_class = bio->ioprio_class;
	r->rq.ioprio_level = bio->ioprio_level;
	r->admitted = false;
	if (h->host_ns)
		host_cpu_call(h, &r->work, HOST_INSERT, now_ns);
	else
		weir_insert(h->weir, &r->rq, WEIR_TAIL, now_ns);
}

static void join_flush(struct lab_host *h, struct lab_bio *bio, uint64_t now_ns)
{
	struct host_flush *f = &host_group(h, bio->group)->flush;

	if (f->rq)
		h->stats.flush_joins++;
	if (f->rq && f->rq->rq.state == WEIR_RQ_DISPATCHED) {
		push(&f->later, &f->later_tail, bio);
		return;
	}
	push(&f->covered, &f->covered_tail, bio);
	if (!f->rq)
		start_flush(h, f, now_ns);
}

void host_flush_submit(struct lab_host *h, struct lab_bio *bio, uint64_t now_ns)
{
	bool data = bio->op != WEIR_OP_FLUSH;

	if (h->write_cache && (!data || (bio->flags & WEIR_RQ_PREFLUSH))) {
		join_flush(h, bio, now_ns);
	} else if (data) {
		host_submit_data(h, bio, now_ns);
	} else {
		/* Nothing is volatile: done, but not from within. */
		push(&h->instant_head, &h->instant_tail, bio);
		lab_event_at(h->engine, &h->instant, now_ns);
	}
}

void host_flush_done(struct lab_host *h, struct host_rq *r, uint64_t now_ns)
{
	struct host_flush *f = &host_group(h, r->rq.group)->flush;
	struct lab_bio *bio = f->covered, *next;

	weir_assert(f->rq == r);
	h->stats.flushes++;
	host_rq_put(h, r);
	f->rq = NULL;
	f->covered = f->later;
	f->covered_tail = f->later_tail;
	f->later = NULL;
	if (f->covered)
		start_flush(h, f, now_ns);
	for (; bio; bio = next) {
		next = bio->next;
		if (bio->op == WEIR_OP_FLUSH)
			host_bio_done(h, bio, now_ns);
		else
			host_submit_data(h, bio, now_ns);
	}
	host_run(h, now_ns);
}
