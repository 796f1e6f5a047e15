/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merging: look-ups in a hash by end sector (back merges) and by the policy (front merges), and the
 * books of what the host joined. Rules as in the block layer, with one that is weir's own: requests
 * of different groups never merge.
 */
#include "core/core.h"

#include "core/merge.h"
#include "core/record.h"

/* May rq (waiting) and what (a bio, or another waiting request) become one request? */
static bool may_join(struct weir *w, const struct weir_rq *rq, const struct weir_rq *what)
{
	uint32_t sectors = rq->nr_sectors + what->nr_sectors;

	if (!rq->hash.next || !weir_mergeable(what) || rq->group != what->group ||
	    rq->op != what->op || weir_rq_is_sync(rq) != weir_rq_is_sync(what) ||
	    ((rq->flags ^ what->flags) & WEIR_RQ_META) || rq->ioprio_class != what->ioprio_class)
		return false;
	/* Each of them is charged by its number: they must be countable. */
	if (sectors > w->cfg.max_sectors || 1u + rq->nr_merged + what->nr_merged > UINT16_MAX)
		return false;
	if (rq->state == WEIR_RQ_HELD)
		return weir_limits_may_join(rq->group, weir_op_dir(rq->op),
					    (uint64_t)sectors * WEIR_SECTOR_BYTES,
					    2u + rq->nr_merged + what->nr_merged);
	if (!weir_limits_may_grow(rq->group, weir_op_dir(rq->op), w->now))
		return false;
	return !w->policy->may_merge || w->policy->may_merge(w, rq, what, sectors);
}

/* Who came later stands before who came earlier. */
static void hash_new(struct weir *w)
{
	while (!list_is_empty(&w->merge_new)) {
		struct weir_rq *rq = list_first(&w->merge_new, struct weir_rq, hash);

		list_unlink(&rq->hash);
		list_push_front(weir_merge_bucket(w, weir_rq_end(rq)), &rq->hash);
	}
}

static struct weir_rq *find_by_end(struct weir *w, const struct weir_rq *what, uint64_t end)
{
	struct weir_list *head = weir_merge_bucket(w, end);
	struct weir_rq *rq;

	hash_new(w);
	list_for_each(rq, head, struct weir_rq, hash)
		if (weir_rq_end(rq) == end && rq != what && may_join(w, rq, what))
			return rq;
	return NULL;
}

static enum weir_merge find(struct weir *w, const struct weir_rq *bio, struct weir_rq **into)
{
	struct weir_rq *hint = w->last_merge;

	if (!w->cfg.merge || !weir_mergeable(bio))
		return WEIR_MERGE_NONE;
	*into = hint;
	if (hint && weir_rq_end(hint) == bio->sector && may_join(w, hint, bio))
		return WEIR_MERGE_BACK;
	if (hint && hint->sector == weir_rq_end(bio) && may_join(w, hint, bio))
		return WEIR_MERGE_FRONT;
	*into = find_by_end(w, bio, bio->sector);
	if (*into)
		return WEIR_MERGE_BACK;
	*into = w->policy->find_front ? w->policy->find_front(w, bio) : NULL;
	if (*into && (*into)->sector == weir_rq_end(bio) && may_join(w, *into, bio))
		return WEIR_MERGE_FRONT;
	return WEIR_MERGE_NONE;
}

void weir_merge_del_all(struct weir *w)
{
	struct weir_rq *rq, *tmp;
	unsigned int i;

	hash_new(w);
	for (i = 0; i < WEIR_MERGE_BUCKETS; i++)
		list_for_each_safe(rq, tmp, &w->merge_hash[i], struct weir_rq, hash)
			weir_merge_del(w, rq);
}

enum weir_merge weir_merge_find(struct weir *w, const struct weir_rq *bio, struct weir_rq **into,
				uint64_t now)
{
	enum weir_merge kind;

	weir_tick(w, now);
	*into = NULL;
	kind = find(w, bio, into);
	if (kind == WEIR_MERGE_NONE)
		*into = NULL;
	weir_record_merge_find(w, bio, kind, *into);
	return kind;
}

/* The look-up follows the request's new end. */
static void rehash(struct weir *w, struct weir_rq *rq)
{
	list_unlink(&rq->hash);
	list_push_back(&w->merge_new, &rq->hash);
	w->last_merge = rq;
}

/* A waiting request that touches `rq` on the side on which it grew, and may be joined with it. */
static struct weir_rq *neighbour(struct weir *w, struct weir_rq *rq, enum weir_merge kind)
{
	const struct weir_policy *p = w->policy;
	bool back = kind == WEIR_MERGE_BACK;
	struct weir_rq *other = NULL;

	if (rq->state == WEIR_RQ_QUEUED && back && p->latter)
		other = p->latter(w, rq);
	else if (rq->state == WEIR_RQ_QUEUED && !back && p->former)
		other = p->former(w, rq);
	else if (!back)
		other = find_by_end(w, rq, rq->sector);
	if (!other || other->state != rq->state || !other->hash.next)
		return NULL;
	if (back ? other->sector != weir_rq_end(rq) : weir_rq_end(other) != rq->sector)
		return NULL;
	if (other->ctx != rq->ctx && p->may_merge && rq->state == WEIR_RQ_QUEUED &&
	    !p->may_merge(w, other, rq, rq->nr_sectors + other->nr_sectors))
		return NULL;
	return may_join(w, rq, other) ? other : NULL;
}

struct weir_rq *weir_merge_bio(struct weir *w, struct weir_rq *into, const struct weir_rq *bio,
			       enum weir_merge kind, uint64_t now)
{
	enum weir_dir dir = weir_op_dir(into->op);
	uint64_t added_ns = weir_cost_added_ns(&w->cost, into->op, bio->nr_sectors);
	struct weir_rq *then;

	weir_tick(w, now);
	weir_assert(into->hash.next && kind != WEIR_MERGE_NONE);
	weir_assert(kind == WEIR_MERGE_BACK ? weir_rq_end(into) == bio->sector
					    : weir_rq_end(bio) == into->sector);
	into->nr_sectors += bio->nr_sectors;
	if (kind == WEIR_MERGE_FRONT)
		into->sector = bio->sector;
	into->nr_merged++;
	into->cost_ns = weir_min64(into->cost_ns + added_ns, WEIR_COST_MAX_NS);
	rehash(w, into);
	into->group->stats.rare[dir].merged++;
	if (into->ctx)
		into->ctx->end_sector[dir] = weir_rq_end(bio);
	else
		into->group->end_sector[dir] = weir_rq_end(bio);
	if (into->state == WEIR_RQ_QUEUED) {
		weir_limits_charge(into->group, dir, weir_rq_bytes(bio), 1, w->now);
		if (w->policy->merged)
			w->policy->merged(w, into, kind, added_ns);
	}
	then = neighbour(w, into, kind);
	weir_record_merge_bio(w, into, bio, kind, then);
	w->retry_ns = 0;
	return then;
}

void weir_merge_rq(struct weir *w, struct weir_rq *first, struct weir_rq *second, uint64_t now)
{
	enum weir_dir dir = weir_op_dir(first->op);
	uint64_t added_ns = weir_cost_added_ns(&w->cost, second->op, second->nr_sectors);

	weir_tick(w, now);
	weir_assert(first->group == second->group && first->state == second->state);
	weir_assert(weir_rq_end(first) == second->sector);
	weir_record_merge_rq(w, first, second);
	if (first->state == WEIR_RQ_QUEUED && w->policy->joining)
		w->policy->joining(w, first, second);
	weir_rq_unqueue(w, second);
	first->nr_sectors += second->nr_sectors;
	first->nr_merged = (uint16_t)(first->nr_merged + 1 + second->nr_merged);
	/* The longer wait of the two goes on. */
	first->insert_ns = weir_min64(first->insert_ns, second->insert_ns);
	first->since_ns = weir_min64(first->since_ns, second->since_ns);
	if (first->state == WEIR_RQ_QUEUED)
		first->release_ns = weir_min64(first->release_ns, second->release_ns);
	first->cost_ns = weir_min64(first->cost_ns + added_ns, WEIR_COST_MAX_NS);
	rehash(w, first);
	second->group->stats.rare[dir].merged++;
	if (first->state == WEIR_RQ_QUEUED && w->policy->merged)
		w->policy->merged(w, first, WEIR_MERGE_BACK, added_ns);
	weir_rq_left(w, second);
}
