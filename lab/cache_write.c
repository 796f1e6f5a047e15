// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffered writes, and holding writers back.
 *
 * A write dirties its pages and is done after the copying, unless its group has used up its part of
 * the dirty limit (dirty pages and pages under write-back count), or all groups together have. Then
 * it stops where it is and goes on as write-back completes. Held back writers of a group go on in
 * order, one completely before the next.
 */
#include "lab/cache_impl.h"

/* Pages that the group may dirty now. */
static uint64_t dirty_room(const struct cache_group *g)
{
	const struct lab_cache *c = g->cache;
	uint64_t total = c->nr_dirty + c->nr_writeback, used = g->nr_dirty + g->nr_writeback, share;

	if (c->stopping)
		return UINT64_MAX;
	share = cache_share_pages(g, c->dirty_pages);
	if (used >= share || total >= c->dirty_pages)
		return 0;
	return weir_min64(share - used, c->dirty_pages - total);
}

/* The pages up to `page` are written: the file may have grown, and its inode has changed. */
static void update_inode(const struct lab_fileop *op, uint64_t page)
{
	struct lab_file *f = op->file;
	uint64_t end = weir_min64(op->offset + op->bytes, page << CACHE_PAGE_SHIFT);

	f->meta_dirty = true;
	if (end > f->size_bytes) {
		f->size_bytes = end;
		f->size_dirty = true;
	}
}

/* Copies what there is room for. True: the write is complete. */
static bool write_step(struct lab_fileop *op, struct cache_group *g, uint64_t now_ns)
{
	struct lab_file *f = op->file;
	uint64_t page = op->priv[CACHE_OP_PAGE], end = op->priv[CACHE_OP_END], room, copied = 0;

	while (page < end && (room = dirty_room(g))) {
		uint64_t nr = weir_min64(room, end - page);

		cache_dirty(f, page, page + nr, g, now_ns);
		page += nr;
		copied += nr;
		update_inode(op, page);
	}
	op->priv[CACHE_OP_PAGE] = page;
	op->priv[CACHE_OP_BUSY_NS] = weir_max64(op->priv[CACHE_OP_BUSY_NS], now_ns) +
				     copied * f->cache->cfg.copy_ns;
	if (page < end)
		return false;
	cache_op_end(op, op->priv[CACHE_OP_BUSY_NS]);
	return true;
}

/* Writers of g wait: whoever can make room for them has to know. */
static void ask_for_room(struct cache_group *g, uint64_t now_ns)
{
	struct lab_cache *c = g->cache;

	cache_flusher_kick(cache_lane_of(g), now_ns);
	if (c->held_by_total || c->nr_dirty + c->nr_writeback < c->dirty_pages)
		return;
	c->held_by_total = true;
	cache_flusher_kick_all(c, now_ns);
}

static void wake_group(struct cache_group *g, uint64_t now_ns)
{
	struct lab_cache *c = g->cache;

	while (g->writers.head && dirty_room(g)) {
		struct lab_fileop *op = cache_opq_pop(&g->writers);

		c->stats.throttled_ns += now_ns - op->priv[CACHE_OP_BLOCKED_NS];
		if (!write_step(op, g, now_ns)) {
			op->priv[CACHE_OP_BLOCKED_NS] = now_ns;
			cache_opq_push_front(&g->writers, op);
			ask_for_room(g, now_ns);
			return;
		}
	}
	if (!g->writers.head)
		list_unlink(&g->held);
}

/* Each group gets its turn at the room that all share, and the first to be asked goes last. */
static void wake_in_turn(struct lab_cache *c, uint64_t now_ns)
{
	const struct cache_group *last;
	struct cache_group *g;

	if (list_is_empty(&c->held))
		return;
	last = list_last(&c->held, struct cache_group, held);
	do {
		g = list_first(&c->held, struct cache_group, held);
		list_unlink(&g->held);
		list_push_back(&c->held, &g->held);
		wake_group(g, now_ns);
		if (!c->stopping && c->nr_dirty + c->nr_writeback >= c->dirty_pages) {
			c->held_by_total = true;
			return;
		}
	} while (g != last);
}

void cache_writers_wake(struct lab_cache *c, struct cache_group *g, uint64_t now_ns)
{
	cache_share_refresh(c, now_ns);
	if (g && g->writers.head)
		wake_group(g, now_ns);
	if (g && !c->held_by_total)
		return;
	c->held_by_total = false;
	wake_in_turn(c, now_ns);
}

void lab_file_write(struct lab_fileop *op, uint64_t now_ns)
{
	struct lab_cache *c = op->file->cache;
	struct cache_group *g = cache_group_get(c, op->group, now_ns);

	weir_assert(cache_op_fits(op));
	cache_op_begin(op, now_ns);
	if (!op->bytes) {
		cache_op_end(op, now_ns);
		return;
	}
	cache_share_refresh(c, now_ns);
	cache_share_activate(g);
	if (g->writers.head)
		wake_group(g, now_ns); /* its share may have grown just now: nobody is overtaken */
	if (write_step(op, g, now_ns))
		return;
	op->priv[CACHE_OP_BLOCKED_NS] = now_ns;
	if (!g->writers.head)
		list_push_back(&c->held, &g->held);
	cache_opq_push(&g->writers, op);
	ask_for_room(g, now_ns);
}
