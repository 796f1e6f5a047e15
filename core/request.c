/* SPDX-License-Identifier: GPL-2.0-only */
/* The life of a request: see <weir/request.h> and <weir/weir.h>. */
#include "core/core.h"

#include "core/merge.h"
#include "core/record.h"
#include "core/wait_count.h"

static inline struct weir_tally *rq_tally(const struct weir_rq *rq)
{
	return rq->group->tally[weir_op_dir(rq->op)];
}

static struct weir_rare_counters *rq_rare(const struct weir_rq *rq)
{
	return &rq->group->stats.rare[weir_op_dir(rq->op)];
}

/* Why a group waits and how long its requests take: no answer needs it, so it can be off. */
static bool accounts(const struct weir *w)
{
	return weir_likely(w->cfg.accounting);
}

/* Into the policy, past the limits stage. It was free to go since free_ns. */
static void queue(struct weir *w, struct weir_rq *rq, enum weir_where where, uint64_t free_ns)
{
	rq->state = WEIR_RQ_QUEUED;
	rq->release_ns = w->now;
	w->nr_queued++;
	if (accounts(w))
		weir_wait_ready_inc(rq->group, free_ns, w->now);
	w->policy->insert(w, rq, where);
}

/* Does it go past the ceilings? Then it is charged as debt, and what follows waits longer. */
static bool passes_limits(const struct weir *w, const struct weir_rq *rq, enum weir_where where)
{
	return where == WEIR_HEAD || (rq->flags & WEIR_RQ_META) || rq->op == WEIR_OP_FLUSH ||
	       w->drain;
}

static bool route(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	if (weir_likely(!w->nr_limited && !w->nr_held))
		return true;
	if (passes_limits(w, rq, where)) {
		if (rq->op != WEIR_OP_FLUSH)
			weir_limits_charge(rq->group, weir_op_dir(rq->op), weir_limit_bytes(rq), 1,
					   w->now);
		return true;
	}
	return weir_limits_pass(rq, w->now);
}

/* It is counted and priced. Its group is active. */
static weir_inlined void enter(struct weir *w, struct weir_rq *rq, enum weir_op op)
{
	enum weir_dir dir = weir_op_dir(op);
	struct weir_group *g = rq->group;

	rq->seq = ++w->seq;
	rq->insert_ns = w->now;
	rq->since_ns = w->now;
	rq->nr_merged = 0;
	rq->hash.next = NULL;
	g->nr_rqs++;
	if (rq->ctx)
		rq->ctx->nr_rqs++;
	weir_price(&w->cost, rq, op, rq->ctx ? &rq->ctx->end_sector[dir] : &g->end_sector[dir]);
	g->tally[dir]->count.waiting++;
	weir_merge_add(w, rq);
	w->retry_ns = 0;
}

/* With all that may be to do. */
static weir_apart void insert_rare(struct weir *w, struct weir_rq *rq, enum weir_where where,
				   uint64_t now)
{
	struct weir_group *g = rq->group;

	weir_tick(w, now);
	weir_assert(rq->state == WEIR_RQ_NEW);
	weir_assert(rq->nr_sectors <= WEIR_RQ_SECTORS_MAX);
	if (!g->nr_rqs)
		weir_entitle_busy(g, w->now);
	enter(w, rq, rq->op);
	if (weir_unlikely(w->nr_judged))
		weir_judge_insert(g, weir_op_dir(rq->op));
	weir_record_insert(w, rq, where);
	if (route(w, rq, where)) {
		queue(w, rq, where, w->now);
	} else {
		rq->state = WEIR_RQ_HELD;
		w->nr_held++;
		weir_rare_update(w);
		if (accounts(w))
			weir_wait_held_inc(g, w->now);
		weir_limits_hold(rq, w->now);
	}
}

/* Is inserting it nothing but entering and queueing it? */
static bool inserts_plainly(const struct weir *w, const struct weir_rq *rq)
{
	const struct weir_group *g = rq->group;

	return !w->rare && g->nr_rqs && g->wait.nr_ready && rq->state == WEIR_RQ_NEW &&
	       rq->op <= WEIR_OP_WRITE && rq->nr_sectors <= WEIR_RQ_SECTORS_MAX;
}

void weir_insert(struct weir *w, struct weir_rq *rq, enum weir_where where, uint64_t now)
{
	if (weir_unlikely(!inserts_plainly(w, rq))) {
		insert_rare(w, rq, where, now);
		return;
	}
	weir_tick_plain(w, now);
	enter(w, rq, rq->op ? WEIR_OP_WRITE : WEIR_OP_READ);
	rq->state = WEIR_RQ_QUEUED;
	rq->release_ns = w->now;
	w->nr_queued++;
	rq->group->wait.nr_ready++;
	w->policy->insert(w, rq, where);
}

/* Lets everything through whose time has come. */
static weir_apart void release_due(struct weir *w)
{
	struct weir_rq *rq;

	for (;;) {
		rq = w->drain ? weir_limits_force(w, w->now) : weir_limits_next(w, w->now);
		if (!rq)
			break;
		w->nr_held--;
		queue(w, rq, WEIR_TAIL, rq->release_ns);
		if (accounts(w))
			weir_wait_held_dec(rq->group, w->now);
	}
	weir_rare_update(w);
	weir_admission_wake(w);
}

static void device_full(struct weir *w)
{
	weir_wait_set(&w->clocks, WEIR_CLOCK_SHARE);
	if (w->nr_queued && accounts(w))
		weir_wait_set_next(&w->clocks,
				   w->policy->next_group ? w->policy->next_group(w) : NULL);
}

static inline void account_wait(struct weir_tally *t, uint64_t wait_ns)
{
	t->count.queue_wait_ns += wait_ns;
	if (wait_ns > t->count.queue_wait_max_ns)
		t->count.queue_wait_max_ns = wait_ns;
	weir_bins_add(&t->bins[WEIR_HIST_QUEUE_WAIT], wait_ns);
}

static inline void account_service(struct weir_tally *t, uint64_t service_ns)
{
	t->count.service_ns += service_ns;
	if (service_ns > t->count.service_max_ns)
		t->count.service_max_ns = service_ns;
	weir_bins_add(&t->bins[WEIR_HIST_SERVICE], service_ns);
}

/* It is counted as started; accounts: that includes how long it waited. */
static weir_inlined void count_started(struct weir *w, struct weir_rq *rq, bool accounts)
{
	struct weir_tally *t = rq_tally(rq);

	rq->state = WEIR_RQ_DISPATCHED;
	rq->epoch = w->epoch;
	rq->dispatch_ns = w->now;
	w->nr_queued--;
	w->nr_in_flight++;
	weir_merge_del(w, rq);
	t->count.waiting--;
	t->count.in_flight++;
	t->count.device_ns += rq->cost_ns;
	if (accounts)
		account_wait(t, w->now - rq->since_ns);
}

/* With all that may be to do. Returns rq. */
static weir_apart struct weir_rq *start_rare(struct weir *w, struct weir_rq *rq)
{
	weir_assert(rq->state == WEIR_RQ_QUEUED);
	if (accounts(w))
		weir_wait_ready_dec(rq->group, w->now);
	count_started(w, rq, accounts(w));
	if (w->nr_in_flight >= w->full_at)
		device_full(w);
	else
		weir_wait_set(&w->clocks, WEIR_CLOCK_HOST);
	return rq;
}

/* Is starting it nothing but counting it? Others of its group stay ready. */
static bool starts_plainly(const struct weir_rq *rq)
{
	return rq->group->wait.nr_ready > 1 && rq->state == WEIR_RQ_QUEUED;
}

static weir_inlined struct weir_rq *start(struct weir *w, struct weir_rq *rq)
{
	if (weir_unlikely(!starts_plainly(rq)))
		return start_rare(w, rq);
	rq->group->wait.nr_ready--;
	weir_wait_set(&w->clocks, WEIR_CLOCK_HOST);
	count_started(w, rq, true);
	return rq;
}

static void account_stall(struct weir *w, const struct weir_verdict *v)
{
	static const uint8_t clock[] = {
		[WEIR_STALL_NONE] = WEIR_CLOCK_HOST,	   [WEIR_STALL_DEPTH] = WEIR_CLOCK_SHARE,
		[WEIR_STALL_LATENCY] = WEIR_CLOCK_LATENCY, [WEIR_STALL_FLOOR] = WEIR_CLOCK_FLOOR,
		[WEIR_STALL_IDLE] = WEIR_CLOCK_IDLE,
	};

	weir_wait_set(&w->clocks, clock[v->why]);
	if (!accounts(w))
		return;
	if (v->why == WEIR_STALL_DEPTH || v->why == WEIR_STALL_FLOOR)
		weir_wait_set_next(&w->clocks, v->next);
}

/* Nothing goes, for what the verdict says or because the device is full. Returns when to ask again. */
static uint64_t stall(struct weir *w, bool full)
{
	struct weir_verdict *v = &w->verdict;
	uint64_t at_ns = v->at_ns;

	if (full)
		device_full(w);
	else
		account_stall(w, v);
	*v = (struct weir_verdict){.at_ns = WEIR_NEVER};
	at_ns = weir_min64(at_ns, w->nr_held ? weir_limits_when(w) : WEIR_NEVER);
	if (at_ns <= w->now)
		at_ns = w->now + 1;
	w->retry_ns = at_ns;
	return at_ns;
}

/* With all that may be to do. */
static weir_apart struct weir_rq *dispatch_rare(struct weir *w, uint64_t now,
						struct weir_next *next)
{
	struct weir_rq *rq = NULL;
	uint64_t at_ns;
	bool full;

	weir_tick(w, now);
	full = w->nr_in_flight >= w->full_at && !w->drain;
	if (w->nr_held)
		release_due(w);
	if (w->nr_queued && !full)
		rq = w->policy->dispatch(w, w->drain, &w->verdict);
	if (rq)
		start_rare(w, rq);
	at_ns = rq ? w->now : stall(w, full);
	weir_record_dispatch(w, rq, at_ns);
	if (next)
		next->at_ns = at_ns;
	return rq;
}

static weir_apart struct weir_rq *dispatch_none(struct weir *w, struct weir_next *next)
{
	uint64_t at_ns = stall(w, false);

	if (next)
		next->at_ns = at_ns;
	return NULL;
}

struct weir_rq *weir_dispatch(struct weir *w, uint64_t now, struct weir_next *next)
{
	struct weir_rq *rq;

	/* The device is not full, nor does one more fill it. */
	if (weir_unlikely(w->rare || w->nr_in_flight + 1 >= w->full_at))
		return dispatch_rare(w, now, next);
	weir_tick_plain(w, now);
	if (weir_unlikely(!w->nr_queued))
		return dispatch_none(w, next);
	rq = w->policy->dispatch(w, false, &w->verdict);
	if (weir_unlikely(!rq))
		return dispatch_none(w, next);
	if (next)
		next->at_ns = w->now;
	return start(w, rq);
}

bool weir_may_dispatch(const struct weir *w, uint64_t now)
{
	const volatile struct weir *v = w;

	if (!v->nr_queued && !v->nr_held)
		return false;
#if UINTPTR_MAX > UINT32_MAX
	/* As dispatch would see it: never before the last call. */
	return weir_max64(now, v->now) >= v->retry_ns;
#else
	(void)now; /* a 64-bit time could be read in halves: better true than wrongly false */
	return true;
#endif
}

void weir_rq_left(struct weir *w, struct weir_rq *rq)
{
	struct weir_group *g = rq->group;

	rq->state = WEIR_RQ_NEW;
	if (weir_unlikely(w->nr_judged))
		weir_judge_left(g, weir_op_dir(rq->op));
	if (rq->ctx)
		weir_ctx_put(rq->ctx);
	weir_assert(g->nr_rqs > 0);
	if (!--g->nr_rqs) {
		weir_entitle_quiet(g, w->now);
		weir_group_reap(g);
	}
}

/* It no longer occupies the device. */
static inline void leave_device(struct weir *w, struct weir_counters *d)
{
	w->nr_in_flight--;
	d->in_flight--;
	if (w->clocks.state != WEIR_CLOCK_IDLE)
		weir_wait_set(&w->clocks, WEIR_CLOCK_HOST);
	w->retry_ns = 0;
}

/* It is counted as completed; accounts: that includes how long it took. */
static weir_inlined void count_completed(struct weir *w, struct weir_rq *rq, bool accounts)
{
	struct weir_tally *t = rq_tally(rq);

	leave_device(w, &t->count);
	t->count.completed++;
	t->count.bytes += weir_rq_bytes(rq);
	if (weir_unlikely(rq->op == WEIR_OP_FLUSH))
		rq->group->stats.flushes++;
	if (accounts)
		account_service(t, w->now - rq->dispatch_ns);
}

/* With all that may be to do. */
static weir_apart void complete_rare(struct weir *w, struct weir_rq *rq, uint64_t now)
{
	weir_tick(w, now);
	weir_assert(rq->state == WEIR_RQ_DISPATCHED);
	weir_assert(w->nr_in_flight > 0);
	weir_record_complete(w, rq);
	count_completed(w, rq, accounts(w));
	if (weir_unlikely(w->nr_judged))
		weir_judge_complete(rq->group, rq, w->now);
	if (w->policy->complete && rq->epoch == w->epoch)
		w->policy->complete(w, rq);
	weir_rq_left(w, rq);
}

/* Is completing it nothing but counting it, and telling the policy? Others of its group remain. */
static bool completes_plainly(const struct weir *w, const struct weir_rq *rq)
{
	return !w->rare && rq->group->nr_rqs > 1 && (!rq->ctx || rq->ctx->nr_rqs > 1) &&
	       rq->state == WEIR_RQ_DISPATCHED && w->nr_in_flight;
}

void weir_complete(struct weir *w, struct weir_rq *rq, uint64_t now)
{
	if (weir_unlikely(!completes_plainly(w, rq))) {
		complete_rare(w, rq, now);
		return;
	}
	weir_tick_plain(w, now);
	count_completed(w, rq, true);
	rq->state = WEIR_RQ_NEW;
	if (rq->ctx)
		rq->ctx->nr_rqs--;
	rq->group->nr_rqs--;
	if (w->policy->complete && weir_likely(rq->epoch == w->epoch))
		w->policy->complete(w, rq);
}

void weir_requeue(struct weir *w, struct weir_rq *rq, enum weir_requeue how, uint64_t now)
{
	struct weir_counters *d = &rq_tally(rq)->count;

	weir_tick(w, now);
	weir_assert(rq->state == WEIR_RQ_DISPATCHED);
	weir_record_requeue(w, rq, how);
	rq_rare(rq)->requeued++;
	if (how == WEIR_REQUEUE_REISSUE)
		return;
	weir_assert(w->nr_in_flight > 0);
	leave_device(w, d);
	if (w->policy->undispatch && rq->epoch == w->epoch)
		w->policy->undispatch(w, rq);
	/* It may have been charged before a reset of the counters. */
	d->device_ns -= weir_min64(d->device_ns, rq->cost_ns);
	d->waiting++;
	rq->since_ns = w->now;
	queue(w, rq, WEIR_HEAD, w->now);
}

void weir_rq_unqueue(struct weir *w, struct weir_rq *rq)
{
	weir_merge_del(w, rq);
	if (rq->state == WEIR_RQ_HELD) {
		weir_limits_unhold(rq, w->now);
		w->nr_held--;
		weir_rare_update(w);
		if (accounts(w))
			weir_wait_held_dec(rq->group, w->now);
	} else {
		weir_assert(rq->state == WEIR_RQ_QUEUED);
		w->policy->remove(w, rq);
		w->nr_queued--;
		if (accounts(w))
			weir_wait_ready_dec(rq->group, w->now);
	}
	rq_tally(rq)->count.waiting--;
	w->retry_ns = 0;
}

int weir_remove(struct weir *w, struct weir_rq *rq, uint64_t now)
{
	int ret = rq->state == WEIR_RQ_DISPATCHED ? -WEIR_EBUSY : 0;

	weir_tick(w, now);
	weir_assert(rq->state != WEIR_RQ_NEW);
	weir_record_remove(w, rq, ret);
	if (ret)
		return ret;
	weir_rq_unqueue(w, rq);
	rq_rare(rq)->removed++;
	weir_rq_left(w, rq);
	return 0;
}

uint64_t weir_nr_waiting(const struct weir *w)
{
	return w->nr_held + w->nr_queued;
}

uint64_t weir_nr_held(const struct weir *w)
{
	return w->nr_held;
}

uint64_t weir_nr_in_flight(const struct weir *w)
{
	return w->nr_in_flight;
}

void weir_set_drain(struct weir *w, bool on, uint64_t now)
{
	weir_tick(w, now);
	weir_record_drain(w, on);
	w->drain = on;
	weir_rare_update(w);
	w->retry_ns = 0;
}
