/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Anticipatory: batches. Reads and writes have the device in turns, by time; what the one has in the
 * device completes before the first of the other goes. A batch of writes is bounded by a number of
 * requests too, which is tuned so that the batch takes the time that it should, the device's own
 * queue and cache included.
 */
#include "policy/anticipatory/internal.h"

enum {
	/* A first guess of writes per batch: one in 10 ms of it, as many as there are ticks of 1 ms. */
	MS_PER_WRITE = 10,
	LEAST_FIRST_BUDGET = 2,
	/* Off by this factor: the budget is halved or doubled, not stepped. */
	FAR_OFF = 3,
	MOST_BUDGET = 1 << 20, /* no queue holds more */
};

static uint32_t write_budget(struct antic_queue *q)
{
	if (!q->write_budget) {
		uint64_t ms = weir_div64(q->device->batch_ns[ANTIC_ASYNC], WEIR_NS_PER_MS);
		uint64_t n = weir_min64(weir_div64(ms, MS_PER_WRITE), MOST_BUDGET);

		q->write_budget = (uint32_t)weir_max64(n, LEAST_FIRST_BUDGET);
	}
	return q->write_budget;
}

/* Reads follow, and the first of them has completed: was the batch of writes as long as it should be? */
static void tune_writes(struct antic_queue *q, uint64_t now)
{
	uint64_t took_ns = now - weir_min64(now, q->writes_began_ns);
	uint64_t want_ns = q->device->batch_ns[ANTIC_ASYNC];
	uint32_t n = write_budget(q);

	if (took_ns > want_ns && !q->writes_idled)
		n = took_ns > want_ns * FAR_OFF ? n / 2 : n - 1;
	else if (took_ns < want_ns && !q->writes_left)
		n = want_ns > took_ns * FAR_OFF ? n * 2 : n + 1;
	q->write_budget = n < 1 ? 1 : n > MOST_BUDGET ? MOST_BUDGET : n;
}

/* The device has nothing of the other class any more. */
static void batch_starts(struct antic_queue *q, uint64_t now)
{
	q->changed = false;
	if (q->batch == ANTIC_SYNC) {
		q->new_batch = true;
		return;
	}
	q->writes_began_ns = now;
	q->batch_ends_ns = weir_add_sat(now, q->device->batch_ns[ANTIC_ASYNC]);
}

static bool batch_is_over(const struct antic_queue *q, uint64_t now)
{
	if (q->changed || q->new_batch)
		return false;
	return now > q->batch_ends_ns || (q->batch == ANTIC_ASYNC && !q->writes_left);
}

/* Looked at once in a while: a whole queue that has expired would be served all over the disk. */
static bool has_expired(struct antic_queue *q, unsigned int class, uint64_t now)
{
	struct antic_class *c = &q->class[class];

	if (now - c->last_check_ns < q->device->expire_ns[class])
		return false;
	c->last_check_ns = now;
	return !antic_is_empty(q, class) && now > antic_rq(antic_oldest(q, class))->expires_ns;
}

void antic_book(struct antic_queue *q, struct weir_rq *rq)
{
	unsigned int class = antic_rq(rq)->class;

	q->state = ANTIC_OFF;
	q->from_fifo = false;
	q->class[class].last_sector = weir_rq_end(rq);
	antic_set_reader(q, class == ANTIC_SYNC ? antic_process_of(rq) : NULL);
	q->reader_done = false;
	if (class == ANTIC_ASYNC && q->writes_left)
		q->writes_left--;
	/* One of its neighbours is next, whatever was. */
	q->class[class].next = rq;
	antic_take(q, rq);
	q->nr_in_device++;
}

/* It has been booked, and goes. */
static struct weir_rq *start(struct weir_rq *rq)
{
	struct antic_process *p = antic_process_of(rq);

	antic_rq(rq)->where = ANTIC_IN_DEVICE;
	if (p)
		p->nr_queued--;
	return rq;
}

static struct weir_rq *next_of_batch(struct antic_queue *q)
{
	if (q->from_fifo && !antic_is_empty(q, q->batch))
		return antic_oldest(q, q->batch);
	return q->class[q->batch].next;
}

/* The batch goes on: what with? NULL with *waits set: for the reader; without: with nothing. */
static struct weir_rq *go_on(struct antic_queue *q, uint64_t now, bool *waits)
{
	struct weir_rq *rq = next_of_batch(q);

	*waits = false;
	if (q->batch == ANTIC_SYNC && q->device->wait_ns) {
		if (has_expired(q, ANTIC_SYNC, now))
			return antic_oldest(q, ANTIC_SYNC);
		*waits = antic_waits_instead(q, rq, now);
		if (*waits)
			return NULL;
	}
	/* Without writes that wait, the time of a batch of reads doesn't run. */
	if (rq && !antic_is_empty(q, ANTIC_SYNC) && antic_is_empty(q, ANTIC_ASYNC))
		q->batch_ends_ns = weir_add_sat(now, q->device->batch_ns[ANTIC_SYNC]);
	if (rq && has_expired(q, q->batch, now))
		return antic_oldest(q, q->batch);
	return rq;
}

/* The other class's turn, or the same one's again if it is alone. One of them has something. */
static void change_batch(struct antic_queue *q, uint64_t now)
{
	unsigned int before = q->batch;

	q->batch = antic_is_empty(q, ANTIC_SYNC) ||
				   (before == ANTIC_SYNC && !antic_is_empty(q, ANTIC_ASYNC))
			   ? ANTIC_ASYNC
			   : ANTIC_SYNC;
	q->from_fifo = true;
	q->class[q->batch].last_check_ns = now;
	if (q->batch == ANTIC_ASYNC) {
		q->new_batch = false;
		q->writes_left = write_budget(q);
		q->writes_idled = false;
	}
	if (q->batch != before)
		q->changed = true;
}

/* Nothing goes, though something is queued. */
static struct weir_rq *stall(const struct antic_queue *q, struct weir_verdict *v)
{
	v->why = WEIR_STALL_IDLE;
	if (q->state == ANTIC_WAIT_NEXT)
		v->at_ns = q->wait_until_ns;
	return NULL;
}

static struct weir_rq *choose(struct antic_queue *q, uint64_t now, struct weir_verdict *v)
{
	bool reads = !antic_is_empty(q, ANTIC_SYNC), writes = !antic_is_empty(q, ANTIC_ASYNC);
	struct weir_rq *rq;
	bool waits;

	if (q->batch == ANTIC_ASYNC && !reads && (!q->writes_left || !writes))
		q->writes_idled = true;
	if (antic_is_waiting(q) || q->changed)
		return stall(q, v);
	if (!(reads && writes && batch_is_over(q, now))) {
		rq = go_on(q, now, &waits);
		if (rq)
			return rq;
		if (waits)
			return stall(q, v);
	}
	change_batch(q, now);
	if (q->changed) {
		if (q->nr_in_device)
			return stall(q, v);
		batch_starts(q, now);
	}
	return antic_oldest(q, q->batch);
}

/* Anything; accounting of batches makes no sense. */
static struct weir_rq *choose_forced(struct antic_queue *q)
{
	antic_stop(q);
	q->batch = ANTIC_SYNC;
	q->changed = false;
	q->new_batch = false;
	return antic_is_empty(q, ANTIC_SYNC) ? q->class[ANTIC_ASYNC].next
					     : q->class[ANTIC_SYNC].next;
}

struct weir_rq *antic_dispatch(struct weir *w, void *queue, bool force, struct weir_verdict *v)
{
	struct antic_queue *q = queue;
	uint64_t now = weir_now(w);
	struct weir_rq *rq;

	antic_look_at_clock(q, now);
	rq = weir_express_take(&q->moved);
	if (rq)
		return start(rq);
	rq = force ? choose_forced(q) : choose(q, now, v);
	if (!rq)
		return NULL;
	antic_book(q, rq);
	return start(rq);
}

void antic_one_less(struct antic_queue *q, uint64_t now)
{
	weir_assert(q->nr_in_device);
	if (!--q->nr_in_device && q->changed)
		batch_starts(q, now);
}

void antic_complete(struct weir *w, void *queue, struct weir_rq *rq)
{
	struct antic_process *p = antic_process_of(rq);
	unsigned int class = antic_rq(rq)->class;
	struct antic_queue *q = queue;
	uint64_t now = weir_now(w);

	antic_one_less(q, now);
	if (q->new_batch && class == ANTIC_SYNC) {
		tune_writes(q, now);
		q->batch_ends_ns = weir_add_sat(now, q->device->batch_ns[ANTIC_SYNC]);
		q->new_batch = false;
	}
	if (!p)
		return;
	if (p == q->reader) {
		q->wait_from_ns = now;
		q->reader_done = true;
		if (q->state == ANTIC_WAIT_REQ) {
			q->state = ANTIC_WAIT_NEXT;
			q->wait_until_ns = weir_add_sat(now, q->device->wait_ns);
		}
	}
	if (class == ANTIC_SYNC) {
		p->completed = true;
		p->last_end_ns = now;
	}
}
