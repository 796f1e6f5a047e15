/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Anticipatory: whether to wait. The rules of it, in order, are in break_by(); they are asked before
 * a wait begins, with the request that would go instead, and when one comes during a wait.
 */
#include "policy/anticipatory/internal.h"

enum {
	CLOSE_SECTORS = 8192, /* doubles with each ms of waiting */
	CLOSE_MOST_MS = 20,   /* and after so many everything is close */
};

void antic_set_reader(struct antic_queue *q, struct antic_process *p)
{
	if (q->reader)
		list_unlink(&q->awaits);
	q->reader = p;
	if (p)
		list_push_back(&p->awaited_by, &q->awaits);
}

void antic_stop(struct antic_queue *q)
{
	if (antic_is_waiting(q))
		q->state = ANTIC_FINISHED;
}

void antic_look_at_clock(struct antic_queue *q, uint64_t now)
{
	struct antic_device *d = q->device;

	if (q->state != ANTIC_WAIT_NEXT || now < q->wait_until_ns)
		return;
	q->state = ANTIC_FINISHED;
	if (!q->reader->think.samples)
		antic_probability(&d->exit_prob, true);
	if (antic_has_exited(q->reader))
		antic_probability(&d->exit_no_coop, true);
}

/* Is it as near as what the reader is expected to ask for? */
static bool is_close(const struct antic_queue *q, const struct weir_rq *rq, uint64_t now)
{
	uint64_t last = q->class[q->batch].last_sector, next = rq->sector, delay_ns = 0, window;
	const struct antic_device *d = q->device;
	const struct antic_process *p = q->reader;

	if (q->state != ANTIC_OFF && q->reader_done)
		delay_ns = now - q->wait_from_ns;
	if (delay_ns >= (CLOSE_MOST_MS + 1) * WEIR_NS_PER_MS || delay_ns > d->wait_ns)
		return true;
	window = (uint64_t)CLOSE_SECTORS << weir_div64(delay_ns, WEIR_NS_PER_MS);
	if (last <= next + window / 2 && next <= last + window)
		return true;
	return antic_distance(last, next) < (p->seek.samples ? p->seek.mean : d->new_seek_sectors);
}

/* Something close of another process: it counts as what the reader would have asked for. */
static void served_by_another(struct antic_queue *q, const struct weir_rq *rq, uint64_t now)
{
	struct antic_device *d = q->device;

	if (antic_has_exited(q->reader)) {
		if (!q->reader->think.samples)
			antic_probability(&d->exit_prob, true);
		antic_probability(&d->exit_no_coop, false);
	}
	antic_learn(d, q->reader, rq, now);
}

/* There is a reader. Is waiting for it hopeless, too long, or is rq as good? */
static bool break_by(struct antic_queue *q, struct weir_rq *rq, uint64_t now)
{
	struct antic_device *d = q->device;
	struct antic_process *p = q->reader;

	if (rq && antic_process_of(rq) == p)
		return true;
	if (q->reader_done && now - q->wait_from_ns >= d->wait_ns)
		return true;
	if (p->nr_queued)
		return true;
	if (rq && weir_rq_is_sync(rq) && is_close(q, rq, now)) {
		served_by_another(q, rq, now);
		return true;
	}
	if (antic_has_exited(p)) {
		if (!p->think.samples)
			antic_probability(&d->exit_prob, true);
		if (d->exit_no_coop > ANTIC_ONE / 2)
			return true;
	}
	if (p->think.samples)
		return p->think.mean > d->wait_ns;
	return d->new_think_ns > d->wait_ns ||
	       d->exit_prob * d->exit_no_coop > ANTIC_ONE / 2 * ANTIC_ONE;
}

bool antic_waits_instead(struct antic_queue *q, struct weir_rq *rq, uint64_t now)
{
	if (!q->reader || q->state == ANTIC_FINISHED || break_by(q, rq, now))
		return false;
	q->state = q->reader_done ? ANTIC_WAIT_NEXT : ANTIC_WAIT_REQ;
	q->wait_until_ns = weir_add_sat(q->wait_from_ns, q->device->wait_ns);
	return true;
}

void antic_arrived(struct antic_queue *q, struct weir_rq *rq, uint64_t now)
{
	if (antic_is_waiting(q) && break_by(q, rq, now))
		antic_stop(q);
}
