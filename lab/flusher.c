// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flusher: when to write back, and what.
 *
 * It works in lanes. With LAB_CHARGE_ROOT there is one, in the root group, for all dirty pages;
 * with LAB_CHARGE_DIRTIER each group has its own. A lane is asleep, about to run, or waits for its
 * group to have room in the request pool. It writes for one of three reasons:
 *
 *	background   more is dirty than its part of the background limit, until a sixteenth less is
 *	held         writers are held back for want of room
 *	due          pages are older than dirty_expire_ns; looked at every flush_interval_ns
 *
 * Before each run of pages it asks the host whether the group is congested, and if so sleeps until
 * the host says that it is not. How much it can write per wake-up is what hysteresis of that mark
 * decides (thread 002): so wake-ups are counted.
 *
 * Files take turns, 4 MiB each, and a file goes on where it stopped.
 */
#include "lab/cache_impl.h"

static bool is_shared(const struct lab_cache *c)
{
	return c->cfg.charge == LAB_CHARGE_ROOT;
}

struct cache_group *cache_lane_of(struct cache_group *owner)
{
	return is_shared(owner->cache) ? owner->cache->root_group : owner;
}

/* Keeps lane->background, the state of a mark with hysteresis. */
static bool is_above_background(struct cache_group *lane)
{
	struct lab_cache *c = lane->cache;
	uint64_t nr_dirty = lane->nr_dirty, limit;
	bool held = lane->writers.head;

	if (is_shared(c)) {
		nr_dirty = c->nr_dirty;
		limit = c->background_pages;
		held = !list_is_empty(&c->held);
	} else {
		limit = cache_share_pages(lane, c->background_pages);
	}
	if (lane->lane.background)
		limit -= limit / 16;
	lane->lane.background = nr_dirty > limit;
	return lane->lane.background || held || c->nr_dirty + c->nr_writeback >= c->dirty_pages;
}

static bool wants_to_write(struct cache_group *lane)
{
	if (lane->cache->stopping || list_is_empty(&lane->lane.dirt))
		return false;
	return is_above_background(lane) || lane->lane.nr_due;
}

void cache_flusher_kick(struct cache_group *lane, uint64_t now_ns)
{
	if (lane->lane.state != CACHE_LANE_IDLE || lane->lane.stuck || !wants_to_write(lane))
		return;
	lane->lane.state = CACHE_LANE_KICKED;
	lab_event_at(lane->cache->engine, &lane->lane.ev, now_ns);
}

void cache_flusher_kick_all(struct lab_cache *c, uint64_t now_ns)
{
	uint32_t slot;

	for (slot = 0; slot < c->nr_groups; slot++)
		cache_flusher_kick(c->group[slot], now_ns);
}

/* Not only the owner's lane: another group may have dirtied the pages meanwhile. */
void cache_flusher_unstick(struct lab_file *f, uint64_t now_ns)
{
	struct cache_dirt *dirt;

	list_for_each(dirt, &f->dirt, struct cache_dirt, in_file) {
		if (!dirt->lane->lane.stuck)
			continue;
		dirt->lane->lane.stuck = false;
		cache_flusher_kick(dirt->lane, now_ns);
	}
}

/* ---- what there is to write ---- */

static struct cache_dirt *find_dirt(struct lab_file *f, const struct cache_group *lane)
{
	struct cache_dirt *dirt;

	list_for_each(dirt, &f->dirt, struct cache_dirt, in_file)
		if (dirt->lane == lane)
			return dirt;
	return NULL;
}

static struct cache_dirt *add_dirt(struct lab_file *f, struct cache_group *lane, uint64_t now_ns)
{
	struct lab_cache *c = f->cache;
	struct cache_dirt *dirt = cache_pool_get(&c->dirts);

	dirt->file = f;
	dirt->lane = lane;
	dirt->since_ns = now_ns;
	list_push_back(&f->dirt, &dirt->in_file);
	list_push_back(&lane->lane.dirt, &dirt->in_lane);
	lane->lane.nr_dirt++;
	if (!lane->lane.ctx) {
		lane->lane.ctx = weir_ctx_create(c->weir, lane->group, WEIR_IOPRIO_NONE, 0, now_ns);
		weir_assert(lane->lane.ctx);
	}
	return dirt;
}

static void remove_dirt(struct cache_dirt *dirt)
{
	list_unlink(&dirt->in_file);
	list_unlink(&dirt->in_lane);
	dirt->lane->lane.nr_dirt--;
	cache_pool_put(&dirt->file->cache->dirts, dirt);
}

/* The next file's turn. */
static void rotate(struct cache_lane *lane)
{
	struct weir_list *first = lane->dirt.next;

	list_unlink(first);
	list_push_back(&lane->dirt, first);
	lane->quantum_pages = CACHE_QUANTUM_PAGES;
}

void cache_flusher_dirtied(struct lab_file *f, struct cache_group *owner, uint64_t nr,
			   uint64_t now_ns)
{
	struct lab_cache *c = f->cache;
	struct cache_group *lane = cache_lane_of(owner);

	if (nr) {
		struct cache_dirt *dirt = find_dirt(f, lane);

		if (!dirt)
			dirt = add_dirt(f, lane, now_ns);
		dirt->nr_dirty += nr;
		lane->lane.stuck = false;
		if (!lab_event_pending(&c->tick) && !c->stopping)
			lab_event_at(c->engine, &c->tick, now_ns + c->cfg.flush_interval_ns);
	}
	cache_flusher_kick(lane, now_ns);
}

static void set_due(struct cache_dirt *dirt, uint64_t nr)
{
	struct cache_lane *lane = &dirt->lane->lane;

	lane->nr_due -= !!dirt->nr_due;
	lane->nr_due += !!nr;
	dirt->nr_due = nr;
}

void cache_flusher_cleaned(struct lab_file *f, struct cache_group *owner, uint64_t nr)
{
	struct cache_group *lane = cache_lane_of(owner);
	struct cache_dirt *dirt = find_dirt(f, lane);
	bool is_first = &dirt->in_lane == lane->lane.dirt.next;

	weir_assert(dirt->nr_dirty >= nr);
	dirt->nr_dirty -= nr;
	if (dirt->nr_due) {
		set_due(dirt, dirt->nr_due - weir_min64(nr, dirt->nr_due));
		if (!dirt->nr_due)
			dirt->since_ns = lab_now(f->cache->engine); /* the rest is younger */
	}
	if (is_first)
		lane->lane.quantum_pages -= weir_min64(nr, lane->lane.quantum_pages);
	if (!dirt->nr_dirty) {
		remove_dirt(dirt);
		if (is_first)
			lane->lane.quantum_pages = CACHE_QUANTUM_PAGES;
	} else if (is_first && !lane->lane.quantum_pages) {
		rotate(&lane->lane);
	}
}

/* ---- writing ---- */

/* One run of the file, from where it stopped on and then from the beginning. */
static uint64_t write_run(struct cache_group *lane, struct lab_file *f, uint64_t now_ns)
{
	struct cache_writer w = {.file = f, .only = is_shared(f->cache) ? NULL : lane};
	uint64_t from = f->flush_page, most = lane->lane.quantum_pages, nr;

	nr = cache_write_some(&w, from, f->nr_pages, most, &f->flush_page, now_ns);
	if (!nr)
		nr = cache_write_some(&w, 0, from, most, &f->flush_page, now_ns);
	return nr;
}

/* False: all that should be written is under write-back already. */
static bool write_next(struct cache_group *lane, bool due_only, uint64_t now_ns)
{
	uint32_t tries;

	for (tries = lane->lane.nr_dirt; tries; tries--) {
		struct cache_dirt *dirt = list_first(&lane->lane.dirt, struct cache_dirt, in_lane);

		if (!due_only || dirt->nr_due) {
			if (write_run(lane, dirt->file, now_ns))
				return true;
			set_due(dirt, 0);
		}
		rotate(&lane->lane);
	}
	return false;
}

static void lane_run(struct lab_event *ev, uint64_t now_ns)
{
	struct cache_group *lane = weir_container_of(ev, struct cache_group, lane.ev);
	struct lab_cache *c = lane->cache;

	c->stats.flusher_wakeups++;
	lane->lane.state = CACHE_LANE_IDLE;
	while (wants_to_write(lane)) {
		bool due_only = !is_above_background(lane);

		if (lab_host_congested(c->host, lane->group, WEIR_WRITE)) {
			lane->lane.state = CACHE_LANE_CONGESTED;
			lab_host_wait_uncongested(c->host, lane->group, WEIR_WRITE, ev);
			return;
		}
		if (!write_next(lane, due_only, now_ns)) {
			lane->lane.stuck = true;
			return;
		}
	}
}

/* Pages too old are due, all that their file has: what follows is likely to be as old. */
static void tick(struct lab_event *ev, uint64_t now_ns)
{
	struct lab_cache *c = weir_container_of(ev, struct lab_cache, tick);
	struct cache_dirt *dirt;
	uint32_t slot;

	for (slot = 0; slot < c->nr_groups; slot++) {
		list_for_each(dirt, &c->group[slot]->lane.dirt, struct cache_dirt, in_lane)
			if (!dirt->nr_due && now_ns - dirt->since_ns >= c->cfg.dirty_expire_ns)
				set_due(dirt, dirt->nr_dirty);
		cache_flusher_kick(c->group[slot], now_ns);
	}
	if (c->nr_dirty)
		lab_event_at(c->engine, ev, now_ns + c->cfg.flush_interval_ns);
}

void cache_lane_init(struct cache_group *g)
{
	lab_event_init(&g->lane.ev, lane_run);
	g->lane.state = CACHE_LANE_IDLE;
	g->lane.quantum_pages = CACHE_QUANTUM_PAGES;
	list_init(&g->lane.dirt);
}

void cache_flusher_init(struct lab_cache *c)
{
	lab_event_init(&c->tick, tick);
}

void cache_flusher_stop(struct lab_cache *c)
{
	lab_event_cancel(c->engine, &c->tick);
}
