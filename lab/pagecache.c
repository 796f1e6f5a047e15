// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page cache as a whole: configuration, set-up, files, groups, and the small things that its
 * parts share. cache_impl.h has the map.
 */
#include "lab/cache_impl.h"

#include <stdlib.h>

/* ---- configuration ---- */

#define DEFAULT_CACHE_BYTES (UINT64_C(1) << 30)
#define DEFAULT_READ_AHEAD_BYTES (128u << 10) /* Linux: read_ahead_kb */
#define DEFAULT_READ_AHEAD_WINDOWS 2	      /* Linux: one consumed, one in flight */
#define DEFAULT_DIRTY_PERCENT 20	      /* Linux: vm.dirty_ratio */
#define DEFAULT_BACKGROUND_PERCENT 10	      /* Linux: vm.dirty_background_ratio */
#define DEFAULT_EXPIRE_NS (30 * WEIR_NS_PER_S)
#define DEFAULT_INTERVAL_NS (5 * WEIR_NS_PER_S)
#define DEFAULT_COPY_NS 500
#define DEFAULT_JOURNAL_SECTORS (UINT64_C(128) << 20 >> WEIR_SECTOR_SHIFT)
#define JOURNAL_SECTORS_MIN (64 * CACHE_PAGE_SECTORS)

void lab_cache_config_init(struct lab_cache_config *cfg, const struct lab_device_info *info)
{
	uint64_t journal = weir_min64(DEFAULT_JOURNAL_SECTORS, info->sectors / 16);

	journal -= journal % CACHE_PAGE_SECTORS;
	*cfg = (struct lab_cache_config){
		.cache_bytes = DEFAULT_CACHE_BYTES,
		.read_ahead_bytes = DEFAULT_READ_AHEAD_BYTES,
		.read_ahead_windows = info->read_ahead_windows,
		.dirty_bytes = DEFAULT_CACHE_BYTES / 100 * DEFAULT_DIRTY_PERCENT,
		.dirty_background_bytes = DEFAULT_CACHE_BYTES / 100 * DEFAULT_BACKGROUND_PERCENT,
		.dirty_expire_ns = DEFAULT_EXPIRE_NS,
		.flush_interval_ns = DEFAULT_INTERVAL_NS,
		.charge = LAB_CHARGE_ROOT,
		.barriers = true,
		.copy_ns = DEFAULT_COPY_NS,
		.journal_sector = (info->sectors - journal) / CACHE_PAGE_SECTORS *
				  CACHE_PAGE_SECTORS,
		.journal_sectors = (uint32_t)journal,
	};
	if (!cfg->read_ahead_windows)
		cfg->read_ahead_windows = DEFAULT_READ_AHEAD_WINDOWS;
}

const char *lab_cache_config_check(const struct lab_cache_config *cfg)
{
	if (cfg->cache_bytes < UINT64_C(1) << 20)
		return "cache_bytes is below 1 MiB";
	if (cfg->read_ahead_bytes % CACHE_PAGE_BYTES || cfg->read_ahead_bytes > 64u << 20)
		return "read_ahead_bytes is not a multiple of 4096 up to 64 MiB";
	if (!cfg->read_ahead_windows || cfg->read_ahead_windows > LAB_READ_AHEAD_WINDOWS_MAX)
		return "read_ahead_windows is not in 1..32";
	if (cfg->dirty_bytes < 2 * CACHE_SHARE_MIN_PAGES * CACHE_PAGE_BYTES)
		return "dirty_bytes is below 128 KiB";
	if (cfg->dirty_bytes > cfg->cache_bytes)
		return "dirty_bytes is above cache_bytes";
	if (cfg->dirty_background_bytes >= cfg->dirty_bytes)
		return "dirty_background_bytes is not below dirty_bytes";
	if (cfg->flush_interval_ns < WEIR_NS_PER_MS)
		return "flush_interval_ns is below 1 ms";
	if (cfg->charge != LAB_CHARGE_ROOT && cfg->charge != LAB_CHARGE_DIRTIER)
		return "charge is neither root nor dirtier";
	if (cfg->journal_sectors < JOURNAL_SECTORS_MIN ||
	    cfg->journal_sectors % CACHE_PAGE_SECTORS || cfg->journal_sector % CACHE_PAGE_SECTORS)
		return "the journal is not a whole number of 4 KiB blocks, 64 at least";
	return NULL;
}

/* ---- groups ---- */

static uint32_t *slot_at_id(struct lab_cache *c, uint32_t id)
{
	if (id >= c->room_ids) {
		uint32_t room = c->room_ids ? c->room_ids : 64, old = c->room_ids;

		while (room <= id)
			room *= 2;
		c->slot_of_id = realloc(c->slot_of_id, room * sizeof(*c->slot_of_id));
		weir_assert(c->slot_of_id);
		for (; old < room; old++)
			c->slot_of_id[old] = 0;
		c->room_ids = room;
	}
	return &c->slot_of_id[id];
}

struct cache_group *cache_group_get(struct lab_cache *c, struct weir_group *group, uint64_t now_ns)
{
	uint32_t slot = *slot_at_id(c, weir_group_id(group));
	struct weir_group *parent = weir_group_parent(group);
	struct cache_group *g;

	if (slot)
		return c->group[slot - 1];
	g = calloc(1, sizeof(*g));
	weir_assert(g && c->nr_groups < CACHE_GROUPS_MAX);
	g->cache = c;
	g->group = group;
	if (parent)
		g->parent = cache_group_get(c, parent, now_ns);
	cache_lane_init(g);

	if (c->nr_groups == c->room_groups) {
		c->room_groups = c->room_groups ? 2 * c->room_groups : 16;
		c->group = realloc(c->group, c->room_groups * sizeof(struct cache_group *));
		weir_assert(c->group);
	}
	g->slot = (uint16_t)c->nr_groups;
	c->group[c->nr_groups++] = g;
	*slot_at_id(c, weir_group_id(group)) = c->nr_groups;
	return g;
}

/* ---- operations ---- */

void cache_opq_push(struct cache_opq *q, struct lab_fileop *op)
{
	op->next = NULL;
	if (q->tail)
		q->tail->next = op;
	else
		q->head = op;
	q->tail = op;
}

void cache_opq_push_front(struct cache_opq *q, struct lab_fileop *op)
{
	op->next = q->head;
	q->head = op;
	if (!q->tail)
		q->tail = op;
}

struct lab_fileop *cache_opq_pop(struct cache_opq *q)
{
	struct lab_fileop *op = q->head;

	if (!op)
		return NULL;
	q->head = op->next;
	if (!q->head)
		q->tail = NULL;
	op->next = NULL;
	return op;
}

static void op_is_done(struct lab_event *ev, uint64_t now_ns)
{
	struct lab_fileop *op = weir_container_of(ev, struct lab_fileop, ev);

	op->file->cache->nr_ops--;
	op->done(op, now_ns); /* which may begin the next with the same storage */
}

void cache_op_begin(struct lab_fileop *op, uint64_t now_ns)
{
	unsigned int n;

	lab_event_init(&op->ev, op_is_done);
	op->next = NULL;
	for (n = 0; n < sizeof(op->priv) / sizeof(op->priv[0]); n++)
		op->priv[n] = 0;
	op->priv[CACHE_OP_PAGE] = op->offset >> CACHE_PAGE_SHIFT;
	op->priv[CACHE_OP_END] = (op->offset + op->bytes + CACHE_PAGE_BYTES - 1) >>
				 CACHE_PAGE_SHIFT;
	op->priv[CACHE_OP_BUSY_NS] = now_ns;
	op->file->cache->nr_ops++;
}

void cache_op_end(struct lab_fileop *op, uint64_t at_ns)
{
	lab_event_at(op->file->cache->engine, &op->ev, at_ns);
}

/* ---- bios ---- */

struct cache_io *cache_io_new(struct lab_cache *c, enum weir_op op,
			      void (*done)(struct lab_bio *bio, uint64_t now_ns))
{
	struct cache_io *io = cache_pool_get(&c->ios);

	io->cache = c;
	io->bio.op = op;
	io->bio.done = done;
	io->bio.owner = io;
	c->nr_ios++;
	return io;
}

void cache_io_free(struct cache_io *io)
{
	io->cache->nr_ios--;
	cache_pool_put(&io->cache->ios, io);
}

void cache_io_submit_pages(struct cache_io *io, uint64_t now_ns)
{
	const struct lab_file *f = io->file;
	uint64_t end = f->sector + (io->page + io->nr_pages) * CACHE_PAGE_SECTORS;

	io->bio.sector = f->sector + io->page * CACHE_PAGE_SECTORS;
	end = weir_min64(end, f->end_sector); /* the last page may be a part of one */
	io->bio.nr_sectors = (uint32_t)(end - io->bio.sector);
	lab_host_submit(io->cache->host, &io->bio, now_ns);
}

/* ---- files ---- */

struct lab_file *lab_file_open(struct lab_cache *c, uint64_t sector, uint64_t bytes)
{
	struct lab_file *f = calloc(1, sizeof(*f));

	weir_assert(f && bytes);
	f->cache = c;
	f->sector = sector;
	f->end_sector = sector + (bytes + WEIR_SECTOR_BYTES - 1) / WEIR_SECTOR_BYTES;
	f->nr_pages = (bytes + CACHE_PAGE_BYTES - 1) >> CACHE_PAGE_SHIFT;
	f->size_bytes = bytes;
	list_init(&f->dirt);
	list_init(&f->writes);
	cache_tree_init(f);
	f->next = c->files;
	c->files = f;
	return f;
}

void lab_file_set_size(struct lab_file *f, uint64_t bytes)
{
	weir_assert(bytes <= f->nr_pages << CACHE_PAGE_SHIFT);
	f->size_bytes = bytes;
}

void lab_file_invalidate(struct lab_file *f)
{
	cache_drop(f, 0, f->nr_pages, false);
}

void lab_file_discard_range(struct lab_file *f, uint64_t offset, uint64_t bytes)
{
	struct cache_writer w = {.file = f, .flags = WEIR_RQ_SYNC};
	uint64_t page = offset >> CACHE_PAGE_SHIFT;
	uint64_t end = (offset + bytes + CACHE_PAGE_BYTES - 1) >> CACHE_PAGE_SHIFT;

	end = weir_min64(end, f->nr_pages);
	if (!f->root || page >= end)
		return;
	if (!f->cache->stopping)
		cache_write_all(&w, page, end, lab_now(f->cache->engine));
	cache_drop(f, page, end, true);
}

/* ---- the whole ---- */

struct lab_cache *lab_cache_new(struct lab_host *h, const struct lab_cache_config *cfg)
{
	struct lab_cache *c = calloc(1, sizeof(*c));

	weir_assert(c && !lab_cache_config_check(cfg));
	c->host = h;
	c->engine = lab_host_engine(h);
	c->weir = lab_host_weir(h);
	c->cfg = *cfg;
	c->max_pages = cfg->cache_bytes >> CACHE_PAGE_SHIFT;
	c->dirty_pages = cfg->dirty_bytes >> CACHE_PAGE_SHIFT;
	c->background_pages = cfg->dirty_background_bytes >> CACHE_PAGE_SHIFT;
	c->window_pages = cfg->read_ahead_bytes >> CACHE_PAGE_SHIFT;
	list_init(&c->lru);
	list_init(&c->held);
	cache_pool_init(&c->leaves, sizeof(struct cache_leaf));
	cache_tree_pool_init(&c->nodes);
	cache_pool_init(&c->dirts, sizeof(struct cache_dirt));
	cache_pool_init(&c->ios, sizeof(struct cache_io));
	c->root_group = cache_group_get(c, weir_root(c->weir), lab_now(c->engine));
	cache_flusher_init(c);
	cache_journal_init(c);
	return c;
}

void lab_cache_stop(struct lab_cache *c, uint64_t now_ns)
{
	c->stopping = true;
	cache_flusher_stop(c);
	cache_writers_wake(c, NULL, now_ns);
}

static void free_file(struct lab_file *f)
{
	while (f->readers) {
		struct lab_reader *next = f->readers->next;

		free(f->readers);
		f->readers = next;
	}
	free(f);
}

void lab_cache_free(struct lab_cache *c)
{
	uint64_t now_ns = lab_now(c->engine);
	uint32_t slot;

	weir_assert(!c->nr_ops && !c->nr_ios);
	cache_flusher_stop(c);
	while (c->files) {
		struct lab_file *next = c->files->next;

		free_file(c->files);
		c->files = next;
	}
	weir_ctx_exit(c->journal.ctx, now_ns);
	for (slot = 0; slot < c->nr_groups; slot++) {
		struct cache_group *g = c->group[slot];

		lab_event_cancel(c->engine, &g->lane.ev);
		if (g->lane.ctx)
			weir_ctx_exit(g->lane.ctx, now_ns);
		free(g);
	}
	free(c->group);
	free(c->slot_of_id);
	cache_pool_exit(&c->leaves);
	cache_pool_exit(&c->nodes);
	cache_pool_exit(&c->dirts);
	cache_pool_exit(&c->ios);
	free(c);
}

void lab_cache_read_stats(const struct lab_cache *c, struct lab_cache_stats *out)
{
	*out = c->stats;
	out->cached_bytes = c->nr_pages << CACHE_PAGE_SHIFT;
	out->dirty_bytes = c->nr_dirty << CACHE_PAGE_SHIFT;
	out->writeback_bytes = c->nr_writeback << CACHE_PAGE_SHIFT;
}

uint64_t lab_cache_group_dirty_bytes(const struct lab_cache *c, const struct weir_group *g)
{
	uint32_t id = weir_group_id(g), slot = id < c->room_ids ? c->slot_of_id[id] : 0;

	if (!slot)
		return 0;
	return (c->group[slot - 1]->nr_dirty + c->group[slot - 1]->nr_writeback)
	       << CACHE_PAGE_SHIFT;
}
