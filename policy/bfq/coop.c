/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BFQ: early queue merge. Processes that read one stretch of a disk in turns (a database's threads,
 * dump, a virtual machine's I/O threads) have queues that are served one after another, with a wait
 * in between, where all together would be one sequential stream. So, where idling or seeking costs
 * (not on flash that queues), a queue whose new request is close to what another has next goes over
 * to that one, and its process with it: at once, before the first wait. Too late is 100 ms after it
 * began to be served in this backlog.
 *
 * Beside that, queues that one parent makes within 180 ms are merged for good if they have the same
 * ioprio: on flash at once, elsewhere when they are 600 ms old and idling doesn't pay for them.
 *
 * A shared queue that gets seeky was a mistake: each process goes home with its next request, but for
 * the owner of the storage and whoever is the last, and all go on with the weight raising that they
 * came with.
 *
 * O(log queues of a group).
 */
#include "policy/bfq/internal.h"

static bool too_late(const struct bfq *bfq, const struct bfq_queue *q)
{
	return q->service_backlogged && bfq_passed(bfq, q->first_io_ns, BFQ_MERGE_LIMIT_NS);
}

static bool is_close(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= BFQ_CLOSE_SECTORS;
}

static bool may_cooperate(const struct bfq *bfq, const struct bfq_queue *q,
			  const struct bfq_queue *to)
{
	return to->owner && to != q && to->group == q->group && !too_late(bfq, to) &&
	       q->entity.class != BFQ_IDLE && q->entity.class == to->entity.class &&
	       !bfq_is_seeky(q) && !bfq_is_seeky(to);
}

/* ---- redirections ---- */

static void set_into(struct bfq_queue *q, struct bfq_queue *to)
{
	list_unlink(&q->heir);
	list_init(&q->heir);
	q->into = to;
	if (to)
		list_push_back(&to->heirs, &q->heir);
}

static void set_stable(struct bfq_process *p, struct bfq_queue *q)
{
	if (p->stable)
		list_unlink(&p->stable_of);
	p->stable = q;
	if (q)
		list_push_back(&q->stables, &p->stable_of);
}

static struct bfq_queue *end_of_chain(struct bfq_queue *q)
{
	while (q->into)
		q = q->into;
	return q;
}

/* From now on q's processes go to `to`, or to where that one's go; NULL: they can't. */
static struct bfq_queue *redirect(struct bfq_queue *q, struct bfq_queue *to)
{
	to = end_of_chain(to);
	if (to == q || to->group != q->group || bfq_is_orphan(q) || bfq_is_orphan(to))
		return NULL;
	set_into(q, to);
	return to;
}

/* ---- whom to join ---- */

static struct bfq_queue *at(struct weir_rb *node)
{
	return node ? weir_container_of(node, struct bfq_queue, position) : NULL;
}

static struct bfq_queue *close_one(const struct bfq *bfq, const struct bfq_queue *q,
				   uint64_t sector)
{
	struct weir_rb *after = weir_rb_at_or_after(&q->group->positions, sector), *before;
	struct bfq_queue *to = at(after);

	if (to && is_close(to->position.key, sector) && may_cooperate(bfq, q, to))
		return to;
	before = after ? weir_rb_prev(after) : NULL;
	if (!after)
		for (before = q->group->positions.root; before && before->child[1];)
			before = before->child[1];
	to = at(before);
	return to && is_close(to->position.key, sector) && may_cooperate(bfq, q, to) ? to : NULL;
}

static struct bfq_queue *stable_one(struct bfq *bfq, struct bfq_process *p)
{
	struct bfq_queue *q = p->sync, *to = p->stable;

	if (bfq->flash || !to || q->just_created || q->coop ||
	    !bfq_passed(bfq, q->split_ns, BFQ_STABLE_MERGE_NS) ||
	    !bfq_passed(bfq, q->created_ns, BFQ_STABLE_MERGE_NS))
		return NULL;
	set_stable(p, NULL);
	if (bfq_idling_boosts(bfq, q))
		return NULL;
	to = redirect(q, to);
	if (to) {
		p->stably_merged = true;
		to->owner->stably_merged = true;
	}
	return to;
}

struct bfq_queue *bfq_coop_find(struct bfq *bfq, struct bfq_process *p, uint64_t sector)
{
	struct bfq_queue *q = p->sync, *to;

	if (q->into) {
		to = end_of_chain(q);
		if (to->nr_sharers)
			return to;
		set_into(q, NULL);
	}
	to = stable_one(bfq, p);
	if (to)
		return to;
	if (bfq->flash || too_late(bfq, q) || bfq_total_busy(bfq) == 1)
		return NULL;
	to = bfq->served;
	if (to && is_close(bfq->served_last_sector, sector) && may_cooperate(bfq, q, to)) {
		to = redirect(q, to);
		if (to)
			return to;
	}
	to = close_one(bfq, q, sector);
	return to ? redirect(q, to) : NULL;
}

/* ---- joining and parting ---- */

/* What a process finds when it comes home: what it would have been given, had it stayed. */
static void save(struct bfq *bfq, struct bfq_process *p)
{
	const struct bfq_queue *home = &p->home;

	p->saved = home->raise;
	if (home->just_created && !home->in_large_burst && bfq_tunable(bfq, BFQ_LOW_LATENCY))
		p->saved = (struct bfq_raise){
			.kind = BFQ_INTERACTIVE,
			.coeff = BFQ_RAISE,
			.since_ns = bfq->now,
			.length_ns = bfq_raise_length_ns(bfq),
		};
}

void bfq_coop_join(struct bfq *bfq, struct bfq_process *p, struct bfq_queue *to)
{
	struct bfq_queue *q = p->sync;

	if (q == &p->home)
		save(bfq, p);
	if (to->owner && to == &to->owner->home && !to->coop)
		save(bfq, to->owner);
	to->io_bound |= q->io_bound;
	q->io_bound = false;
	if (q->waker && !to->waker && q->waker != to)
		bfq_waker_set(to, q->waker);
	bfq_raise_hand_over(bfq, q, to);
	if (q->group->last_created == q)
		q->group->last_created = to;
	q->just_created = false;
	bfq_process_unuse(p);
	bfq_process_use(p, to);
	to->coop = true;
}

/* The queue is as good as new, unless there is something in it still. */
static void refresh(struct bfq *bfq, struct bfq_queue *q)
{
	set_into(q, NULL);
	q->split_ns = bfq->now;
	q->created_ns = bfq->now;
	q->coop = q->nr_sharers > 0;
	q->split = false;
	q->seek_history = 1;
	q->io_bound = true;
	q->io_start_ns = bfq->now;
	q->idle_total_ns = 0;
	if (!q->busy && !q->dispatched)
		q->max_budget = weir_max64(2 * bfq_max_budget(bfq) / 3, 1);
}

void bfq_coop_go_home(struct bfq *bfq, struct bfq_process *p)
{
	bfq_process_unuse(p);
	refresh(bfq, &p->home);
	bfq_process_use(p, &p->home);
	bfq_raise_resume(bfq, &p->home, &p->saved, p->home.in_large_burst);
}

void bfq_coop_split(struct bfq *bfq, struct bfq_process *p)
{
	struct bfq_queue *q = p->sync;

	if (!q->coop || !q->split || p->stably_merged)
		return;
	if (q->nr_sharers == 1) {
		q->coop = false;
		q->split = false;
		q->split_ns = bfq->now;
		bfq_raise_resume(bfq, q, &p->saved, q->in_large_burst);
	} else if (q != &p->home) {
		bfq_coop_go_home(bfq, p);
	}
}

void bfq_coop_created(struct bfq *bfq, struct bfq_process *p)
{
	struct bfq_queue *q = p->sync, *last = q->group->last_created, *to;

	if (!last || bfq_passed(bfq, last->created_ns, BFQ_BURST_NS) ||
	    last->entity.new_class != q->entity.new_class ||
	    last->entity.new_weight != q->entity.new_weight) {
		q->group->last_created = q;
		return;
	}
	if (!bfq->flash) {
		set_stable(p, last);
		return;
	}
	to = redirect(q, last);
	if (!to)
		return;
	p->stably_merged = true;
	to->owner->stably_merged = true;
	bfq_coop_join(bfq, p, to);
}

void bfq_coop_forget(struct bfq *bfq, struct bfq_queue *q)
{
	(void)bfq;
	set_into(q, NULL);
	while (!list_is_empty(&q->heirs))
		set_into(list_first(&q->heirs, struct bfq_queue, heir), NULL);
	while (!list_is_empty(&q->stables))
		set_stable(list_first(&q->stables, struct bfq_process, stable_of), NULL);
	if (q->group->last_created == q)
		q->group->last_created = NULL;
}

void bfq_coop_leave(struct bfq_process *p)
{
	set_stable(p, NULL);
	p->stably_merged = false;
}
