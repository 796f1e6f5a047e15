/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iocost: shares of a device's time, as a model prices it. What Linux has since 5.4 for io.weight
 * beside "none" and mq-deadline.
 *
 * Problem. Weights are wanted without the order, idling and locks of a scheduler like CFQ: the
 * device may have hundreds of requests in flight, from all groups at once. So nobody's turn is
 * decided. Each group is only kept from issuing more than its part.
 *
 * The rule. Every request is priced in the device's time (model.c). The device has a clock, and a
 * group may spend as much of its own time as that has passed, where a request costs its price
 * divided by the group's part of the device (weights.c). Who cannot pay waits, in order within the
 * group; all that may go, goes in order of arrival (charge.c). Each period the clock's rate is
 * adjusted: slower when the device does not keep up, faster when it does and groups are short of
 * budget (period.c). A group that does not use its part lends it (donate.c). Metadata and swap are
 * never held: they become a debt (debt.c).
 *
 * Worked example. Random reads of 4 KiB at 160 us of device time; A and B have weights 100 and 200,
 * so 1/3 and 2/3, and their reads cost them 480 us and 240 us. Both always want more: A gets 2083
 * reads a second, B 4167, together what the model says the device can do. If B now reads only 1000
 * times a second, that is 16 % of the device. At the end of a period it has 50 % of a period of
 * budget left over, more is thrown away, and what it needs is 0.16 / (1 - 0.5 + 0.5) = 16 %: it
 * lends the rest, and A's part is 84 %. When B wants more again, it takes its weight back by
 * quarters until the requests fit, without waiting for the period's end.
 *
 * If the device can do 10,000 reads a second, not 6250, requests never wait for a place in it, and
 * both groups are short: after three such periods the rate rises by 1 % each, and by more later,
 * until requests begin to wait. That is the only sign of a full device unless latencies are set
 * (rpct, rlat): a device with a deep queue is full long before requests wait for it.
 *
 * Where this differs from the original, or it was silent:
 *   - times are in ns; the original's clock, periods and timers go by us and jiffies;
 *   - timers and period ends that nobody was there to see happen at their own time, afterwards. If
 *     nobody called for more than 64 periods, the time beyond is left out;
 *   - the six figures come from the instance's profile unless given. The original's built-in
 *     devices, and its change between them, are the tunable `auto`;
 *   - a request that waits has been admitted, so it holds a place of the host's pool, where there is
 *     one. The original holds back the caller before it asks for a place;
 *   - percentages are whole; min above max counts as max = min;
 *   - a deactivated group leaves nothing in the sum of its parent's weights in use (there: 1/65536
 *     of a weight of 1);
 *   - tasks' delays are told, not enforced: see debt.c. Tasks that are being killed are not known,
 *     so their requests wait like others;
 *   - a forced drain charges nothing.
 *
 * Faithful also in this: the root's own requests are free, and those of a node with active children
 * (own_weight has no meaning). Priorities are unknown.
 *
 * Costs: insert O(depth) after a change of any weight, else O(1), plus O(log groups) for who waits;
 * dispatch and complete O(1). Each period costs O(active groups x depth), and each waiter its group's
 * timer O(log groups), done in whatever call comes next.
 */
#include "policy/iocost/internal.h"

static int init(struct weir *w)
{
	struct iocost *ioc = iocost_of(w);

	ioc->w = w;
	ioc->now = weir_now(w);
	list_init(&ioc->ready);
	list_init(&ioc->active);
	ioc->clock.at_ns = ioc->now;
	ioc->clock.rate = IOCOST_RATE_ONE;
	ioc->base_rate = IOCOST_RATE_ONE;
	ioc->generation = 1;
	ioc->period_nr = 1;
	iocost_refresh(ioc);
	return 0;
}

static void tuned(struct weir *w, unsigned int index)
{
	struct iocost *ioc = iocost_of(w);

	(void)index;
	iocost_catch_up(ioc);
	iocost_refresh(ioc);
}

/* ---- groups ---- */

static void group_online(struct weir *w, struct weir_group *g)
{
	struct iocost_group *ig = iocost_group(g);

	(void)w;
	ig->group = g;
	ig->parent = g->parent ? iocost_group(g->parent) : NULL;
	ig->weight = g->attr.weight * IOCOST_ONE;
	list_init(&ig->waiting);
	weir_heap_item_init(&ig->timer, weir_group_id(g));
}

static void group_offline(struct weir *w, struct weir_group *g)
{
	struct iocost *ioc = iocost_of(w);
	struct iocost_group *ig = iocost_group(g);

	iocost_catch_up(ioc);
	weir_assert(!ig->nr_waiting);
	if (ig->is_active)
		iocost_deactivate(ioc, ig);
}

static void group_changed(struct weir *w, struct weir_group *g, unsigned int what)
{
	struct iocost *ioc = iocost_of(w);
	struct iocost_group *ig = iocost_group(g);

	if (!(what & WEIR_CHANGED_WEIGHT))
		return;
	iocost_catch_up(ioc);
	ig->weight = g->attr.weight * IOCOST_ONE;
	if (!ig->active_weight)
		return;
	iocost_weigh(ioc, ig, ig->weight, ig->inuse);
	iocost_save_margin(ioc, ig);
}

static uint64_t delay_ns(struct weir *w, const struct weir_group *g, uint64_t now)
{
	const struct iocost *ioc = iocost_of(w);
	uint64_t most = 0;

	for (; g; g = g->parent)
		most = weir_max64(most, iocost_delay_ns(ioc, iocost_group(g), now));
	return most;
}

/* ---- insertion and removal ---- */

static void insert(struct weir *w, struct weir_rq *rq, enum weir_where where)
{
	struct iocost *ioc = iocost_of(w);
	struct iocost_rq *irq = iocost_rq(rq);

	iocost_catch_up(ioc);
	if (ioc->requeued == rq) {
		/* Charged when it came, and still on its way. */
		ioc->requeued = NULL;
		irq->state = IOCOST_READY;
		list_push_front(&ioc->ready, &rq->link);
		return;
	}
	*irq = (struct iocost_rq){.sectors = rq->nr_sectors, .fence = where == WEIR_HEAD};
	if (where == WEIR_TAIL) {
		iocost_submit(ioc, iocost_group(rq->group), rq);
		return;
	}
	irq->state = IOCOST_READY;
	irq->ready_ns = ioc->now;
	list_push_front(&ioc->ready, &rq->link);
}

/* What was charged is charged; but it is no longer in flight. */
static void remove_rq(struct weir *w, struct weir_rq *rq)
{
	struct iocost *ioc = iocost_of(w);
	struct iocost_group *ig = iocost_group(rq->group);

	iocost_catch_up(ioc);
	list_unlink(&rq->link);
	if (iocost_rq(rq)->state == IOCOST_READY) {
		ig->done_vtime += iocost_rq(rq)->cost;
		return;
	}
	iocost_waiter_left(ioc, ig);
	if (ig->nr_waiting)
		iocost_kick(ioc, ig);
}

/* ---- dispatch ---- */

/* The group whose waiters are next, by time; there is one. */
static struct iocost_group *first_waiting(const struct iocost *ioc)
{
	return weir_container_of(weir_heap_min(weir_turn_all(ioc->w)), struct iocost_group, timer);
}

static struct weir_rq *first_ready(const struct iocost *ioc)
{
	return list_is_empty(&ioc->ready) ? NULL : list_first(&ioc->ready, struct weir_rq, link);
}

static struct weir_rq *force_waiter(struct iocost *ioc)
{
	struct iocost_group *ig = first_waiting(ioc);
	struct weir_rq *rq = list_first(&ig->waiting, struct weir_rq, link);

	iocost_rq(rq)->ready_ns = ioc->now;
	list_unlink(&rq->link);
	iocost_waiter_left(ioc, ig);
	return rq;
}

static struct weir_rq *dispatch(struct weir *w, bool force, struct weir_verdict *v)
{
	struct iocost *ioc = iocost_of(w);
	bool waiting;
	struct weir_rq *rq;

	iocost_catch_up(ioc);
	rq = first_ready(ioc);
	waiting = weir_turn_all(w)->nr;
	if (rq) {
		list_unlink(&rq->link);
	} else if (!waiting) {
		return NULL;
	} else if (force) {
		rq = force_waiter(ioc);
	} else {
		v->why = ioc->in_flight ? WEIR_STALL_DEPTH : WEIR_STALL_IDLE;
		v->next = first_waiting(ioc)->group;
		v->at_ns = iocost_next_ns(ioc);
		return NULL;
	}
	iocost_rq(rq)->state = IOCOST_ISSUED;
	ioc->in_flight++;
	return rq;
}

static struct weir_group *next_group(struct weir *w)
{
	const struct iocost *ioc = iocost_of(w);
	const struct weir_rq *rq = first_ready(ioc);

	if (rq)
		return rq->group;
	return weir_turn_all(w)->nr ? first_waiting(ioc)->group : NULL;
}

/* ---- the device is done ---- */

/* Late is who took longer than the latency that is asked for, besides what its size takes. */
static void count_latency(struct iocost *ioc, struct weir_rq *rq)
{
	enum weir_dir dir = weir_op_dir(rq->op);
	uint64_t ready_ns = iocost_rq(rq)->ready_ns, size_ns = iocost_size_ns(ioc, rq);

	if (rq->op > WEIR_OP_WRITE)
		return;
	if (ioc->now - ready_ns <= weir_add_sat(size_ns, ioc->latency_ns[dir]))
		ioc->met[dir]++;
	else
		ioc->missed[dir]++;
	if (rq->dispatch_ns > ready_ns)
		ioc->device_wait_ns += rq->dispatch_ns - ready_ns;
}

static void complete(struct weir *w, struct weir_rq *rq)
{
	struct iocost *ioc = iocost_of(w);

	iocost_catch_up(ioc);
	ioc->in_flight--;
	count_latency(ioc, rq);
	iocost_group(rq->group)->done_vtime += iocost_rq(rq)->cost;
}

static void undispatch(struct weir *w, struct weir_rq *rq)
{
	struct iocost *ioc = iocost_of(w);

	ioc->in_flight--;
	ioc->requeued = rq;
}

/* ---- merging ---- */

/* Who waits is not in the queue yet, and metadata must not drag others along. */
static bool may_merge(struct weir *w, const struct weir_rq *rq, const struct weir_rq *bio,
		      uint32_t nr_sectors)
{
	const struct iocost_rq *irq = (const struct iocost_rq *)rq->policy;

	(void)w;
	(void)nr_sectors;
	return irq->state == IOCOST_READY && !irq->fence &&
	       iocost_cannot_wait(rq) == iocost_cannot_wait(bio);
}

static void merged(struct weir *w, struct weir_rq *rq, enum weir_merge kind, uint64_t added_cost_ns)
{
	struct iocost *ioc = iocost_of(w);

	(void)added_cost_ns;
	iocost_catch_up(ioc);
	iocost_grown(ioc, iocost_group(rq->group), rq, kind == WEIR_MERGE_BACK);
}

/* Both were charged when they came. */
static void joining(struct weir *w, struct weir_rq *first, struct weir_rq *second)
{
	struct iocost_rq *a = iocost_rq(first), *b = iocost_rq(second);

	(void)w;
	weir_assert(a->state == IOCOST_READY && b->state == IOCOST_READY);
	a->cost += b->cost;
	b->cost = 0;
	a->sectors += b->sectors;
	a->ready_ns = weir_min64(a->ready_ns, b->ready_ns);
}

static struct weir_rq *joinable(struct weir *w, struct weir_rq *rq, struct weir_list *at)
{
	struct weir_rq *other = weir_container_of(at, struct weir_rq, link);

	if (at == &iocost_of(w)->ready || !may_merge(w, other, rq, 0))
		return NULL;
	return other;
}

static struct weir_rq *latter(struct weir *w, struct weir_rq *rq)
{
	return joinable(w, rq, rq->link.next);
}

static struct weir_rq *former(struct weir *w, struct weir_rq *rq)
{
	return joinable(w, rq, rq->link.prev);
}

const struct weir_policy weir_policy_iocost = {
	.info =
		{
			.name = "iocost",
			.help = "weights in device time by a cost model; order of arrival",
			.tunables = iocost_tunables,
			.keeps = WEIR_KEEPS_WEIGHTS | WEIR_KEEPS_TREE,
		},
	.instance_size = sizeof(struct iocost),
	.group_size = sizeof(struct iocost_group),
	.init = init,
	.group_online = group_online,
	.group_offline = group_offline,
	.group_changed = group_changed,
	.insert = insert,
	.dispatch = dispatch,
	.next_group = next_group,
	.complete = complete,
	.undispatch = undispatch,
	.remove = remove_rq,
	.may_merge = may_merge,
	.merged = merged,
	.joining = joining,
	.latter = latter,
	.former = former,
	.delay_ns = delay_ns,
	.tuned = tuned,
};
