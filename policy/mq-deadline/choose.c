/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mq-deadline: which request goes. Nothing here changes anything but choose_any(), so it can be asked
 * whose turn it would be as often as one likes.
 */
#include "policy/mq-deadline/internal.h"

/* Between batches: reads, or it's time for writes. */
static enum weir_dir choose_dir(const struct weir *w, const struct mq_deadline *md,
				const struct mqd_level *level)
{
	if (weir_sorted_is_empty(&level->dir[WEIR_READ]))
		return WEIR_WRITE;
	if (weir_sorted_is_empty(&level->dir[WEIR_WRITE]) ||
	    md->starved < weir_policy_tunable(w, MQD_WRITES_STARVED))
		return WEIR_READ;
	return WEIR_WRITE;
}

static struct weir_rq *further_up(const struct mqd_level *level, enum weir_dir dir)
{
	return weir_sorted_from(&level->dir[dir], level->latest_sector[dir]);
}

/* The level's request that would go now. Changes nothing. */
static struct mqd_choice choose_in(const struct weir *w, const struct mq_deadline *md,
				   const struct mqd_level *level)
{
	struct mqd_choice c = {.rq = further_up(level, md->last_dir)};
	struct weir_rq *oldest;
	enum weir_dir dir;

	if (c.rq && md->batching < weir_policy_tunable(w, MQD_FIFO_BATCH))
		return c;
	c.begins = true;
	dir = choose_dir(w, md, level);
	oldest = weir_sorted_oldest(&level->dir[dir]);
	c.rq = further_up(level, dir);
	if (oldest && (!c.rq || weir_now(w) >= weir_sorted_rq(oldest)->expires_ns))
		c.rq = oldest;
	return c;
}

/*
 * When rq will have waited for prio_aging_expire. Its insertion is told from its expiry, as in the
 * original, so a change of the tunables concerns what is queued, too.
 */
static uint64_t aged_at_ns(const struct weir *w, struct weir_rq *rq)
{
	int64_t inserted_ns =
		(int64_t)(weir_sorted_rq(rq)->expires_ns - mqd_expire_ns(w, mqd_dir_of(rq)));
	int64_t at_ns = inserted_ns +
			(int64_t)(weir_policy_tunable(w, MQD_PRIO_AGING_EXPIRE) * WEIR_NS_PER_MS);

	return at_ns < 0 ? 0 : (uint64_t)at_ns;
}

static bool two_levels_have_some(const struct mq_deadline *md)
{
	return !!md->level[MQD_LEVEL_RT].nr + !!md->level[MQD_LEVEL_BE].nr +
		       !!md->level[MQD_LEVEL_IDLE].nr >
	       1;
}

struct mqd_choice mqd_choose(const struct weir *w, const struct mq_deadline *md)
{
	struct mqd_choice c = {.rq = NULL};
	int level;

	if (two_levels_have_some(md)) {
		for (level = MQD_LEVEL_BE; level < MQD_NR_LEVELS; level++) {
			c = choose_in(w, md, &md->level[level]);
			if (c.rq && weir_now(w) >= aged_at_ns(w, c.rq))
				return c;
		}
	}
	for (level = MQD_LEVEL_RT; level < MQD_NR_LEVELS; level++) {
		c = choose_in(w, md, &md->level[level]);
		if (c.rq || md->level[level].nr)
			return c;
	}
	return c;
}

struct mqd_choice mqd_choose_any(struct weir *w, struct mq_deadline *md)
{
	struct mqd_choice c = {.rq = NULL};
	int level;

	for (level = MQD_LEVEL_RT; level < MQD_NR_LEVELS && !c.rq; level++)
		c = choose_in(w, md, &md->level[level]);
	if (!c.rq && !list_is_empty(&md->outside)) {
		mqd_let_in_one(w, md);
		return mqd_choose_any(w, md);
	}
	return c;
}

/*
 * When aging may let something of the level go, at the earliest: what is chosen, or, once that has
 * expired, the oldest of that direction.
 */
static uint64_t level_ages_at_ns(const struct weir *w, const struct mq_deadline *md,
				 const struct mqd_level *level)
{
	struct mqd_choice c = choose_in(w, md, level);
	struct weir_rq *oldest;
	uint64_t at_ns;

	if (!c.rq)
		return WEIR_NEVER;
	at_ns = aged_at_ns(w, c.rq);
	if (!c.begins)
		return at_ns;
	oldest = weir_sorted_oldest(&level->dir[mqd_dir_of(c.rq)]);
	return weir_min64(at_ns,
			  weir_max64(weir_sorted_rq(oldest)->expires_ns, aged_at_ns(w, oldest)));
}

uint64_t mqd_ages_at_ns(const struct weir *w, const struct mq_deadline *md)
{
	return weir_min64(level_ages_at_ns(w, md, &md->level[MQD_LEVEL_BE]),
			  level_ages_at_ns(w, md, &md->level[MQD_LEVEL_IDLE]));
}
