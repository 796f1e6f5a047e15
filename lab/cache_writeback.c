// SPDX-License-Identifier: GPL-2.0-only
/*
 * From dirty pages to bios: the flusher, fsync and direct I/O write through here.
 *
 * A bio is a run of touching dirty pages of one owner, so that it can be charged to that group; up
 * to 1 MiB. Touching runs go to the host under one plug, where those that are charged to the same
 * group may merge.
 *
 * Pages may be written to while they are under write-back (no stable pages): they become dirty
 * again and are written a second time, after the first.
 */
#include "lab/cache_impl.h"

static bool is_writable(const struct cache_writer *w, const struct cache_leaf *leaf,
			unsigned int at)
{
	if (!((leaf->dirty & ~leaf->writeback) >> at & 1))
		return false;
	return !w->only || leaf->owner[at] == w->only->slot;
}

static uint64_t next_writable(const struct cache_writer *w, uint64_t page, uint64_t end)
{
	while (page < end) {
		struct cache_leaf *leaf = cache_leaf_next(w->file, page, true);
		uint64_t first, bits;

		if (!leaf)
			break;
		first = leaf->index * CACHE_LEAF_PAGES;
		page = weir_max64(page, first);
		if (page >= end)
			break;
		bits = leaf->dirty & cache_leaf_mask(page, end);
		for (; bits; bits &= bits - 1) {
			unsigned int at = (unsigned int)__builtin_ctzll(bits);

			if (is_writable(w, leaf, at))
				return first + at;
		}
		page = cache_leaf_end(page);
	}
	return CACHE_NO_PAGE;
}

/* `page` is writable: the end of its run. */
static uint64_t run_end(const struct cache_writer *w, uint64_t page, uint64_t end)
{
	struct cache_leaf *leaf = cache_leaf_find(w->file, page);
	uint16_t owner = leaf->owner[page % CACHE_LEAF_PAGES];

	for (page++; page < end; page++) {
		unsigned int at = page % CACHE_LEAF_PAGES;

		leaf = cache_leaf_find(w->file, page);
		if (!leaf || !is_writable(w, leaf, at) || leaf->owner[at] != owner)
			break;
	}
	return page;
}

static void writeback_done(struct lab_bio *bio, uint64_t now_ns)
{
	struct cache_io *io = bio->owner;
	struct lab_file *f = io->file;
	struct lab_cache *c = f->cache;
	struct cache_group *owner = io->owner;

	list_unlink(&io->link);
	cache_writeback_end(f, io->page, io->page + io->nr_pages, owner);
	c->stats.written_bytes += (uint64_t)io->nr_pages << CACHE_PAGE_SHIFT;
	cache_io_free(io);
	cache_shrink(c);

	cache_flusher_unstick(f, now_ns);
	cache_writers_wake(c, owner, now_ns);
	cache_syncers_wake(f, now_ns);
}

/* In whose name: the caller's of fsync, the flusher's, or the dirtier's. */
static void charge(struct cache_io *io, const struct cache_writer *w)
{
	struct cache_group *lane = cache_lane_of(io->owner);
	const struct lab_fileop *op = w->op;

	io->bio.group = lane->group;
	io->bio.ctx = lane->lane.ctx;
	if (!op)
		return;
	io->bio.ioprio_class = op->ioprio_class;
	io->bio.ioprio_level = op->ioprio_level;
	if (io->cache->cfg.charge == LAB_CHARGE_ROOT || op->group == lane->group) {
		io->bio.group = op->group;
		io->bio.ctx = op->ctx;
	}
}

static void submit_run(const struct cache_writer *w, uint64_t page, uint64_t end, uint64_t now_ns)
{
	struct lab_file *f = w->file;
	struct lab_cache *c = f->cache;
	struct cache_leaf *leaf = cache_leaf_find(f, page);
	struct cache_io *io = cache_io_new(c, WEIR_OP_WRITE, writeback_done);

	io->file = f;
	io->page = page;
	io->nr_pages = (uint32_t)(end - page);
	io->owner = c->group[leaf->owner[page % CACHE_LEAF_PAGES]];
	io->seq = ++f->write_seq;
	list_push_back(&f->writes, &io->link);
	io->bio.flags = w->flags;
	charge(io, w);
	cache_writeback_begin(f, page, end, io->owner);
	cache_io_submit_pages(io, now_ns);
}

uint64_t cache_write_some(const struct cache_writer *w, uint64_t page, uint64_t end, uint64_t most,
			  uint64_t *next, uint64_t now_ns)
{
	uint64_t first = next_writable(w, page, end);

	if (first == CACHE_NO_PAGE)
		return 0;
	page = first;
	end = weir_min64(end, page + weir_min64(most, CACHE_RUN_PAGES));
	lab_host_plug(w->file->cache->host);
	do {
		uint64_t stop = run_end(w, page, end);

		submit_run(w, page, stop, now_ns);
		page = stop;
	} while (page < end && next_writable(w, page, page + 1) == page);
	lab_host_unplug(w->file->cache->host, now_ns);
	*next = page;
	return page - first;
}

bool cache_write_all(const struct cache_writer *w, uint64_t page, uint64_t end, uint64_t now_ns)
{
	struct lab_file *f = w->file;
	struct cache_leaf *left;
	uint64_t at = page;

	lab_host_plug(f->cache->host);
	while (cache_write_some(w, at, end, CACHE_RUN_PAGES, &at, now_ns))
		;
	lab_host_unplug(f->cache->host, now_ns);
	left = cache_leaf_next(f, page, true);
	return left && left->index * CACHE_LEAF_PAGES < end;
}
