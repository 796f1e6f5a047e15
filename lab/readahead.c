// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read-ahead: windows ahead of a sequential reader.
 *
 * A stream is a row of windows, each read by one bio. It begins where a read misses the cache and
 * continues the read before it (or begins the file), with a small window. Each further window is
 * twice as long, up to the configured size.
 *
 *	  entered      ahead of the reader
 *	|---- 4 ----|-------- 8 --------|---------------- 16 ----------------|
 *	      ^     ^ trigger
 *	      reader
 *
 * Whoever reads at or behind the trigger page while the stream holds pages there asks for more,
 * until read_ahead_windows windows are entered last or not entered yet. So with one window the
 * reader waits for each; with two the next is read while one is consumed (what Linux does); with
 * three the device has two to work on, which is what keeps a device busy that moves whole commands
 * over its link one after the other.
 *
 * The state belongs to the open file, not to a task: tasks that interleave one stream arrive out of
 * order. So a miss a little beyond the stream's end (up to one full window) continues it, and pages
 * of the stream that are there already are hits in any order. Other misses are random reads: they
 * get what they asked for and leave the stream alone.
 */
#include "lab/cache_impl.h"

#include <stdlib.h>

/* 16 KiB: what a stream begins with, or twice its first read if that is more. */
#define FIRST_WINDOW_PAGES 4

struct lab_reader *lab_reader_new(struct lab_file *f)
{
	struct lab_reader *r = calloc(1, sizeof(*r));

	weir_assert(r);
	r->file = f;
	r->read_end = CACHE_NO_PAGE;
	r->next = f->readers;
	f->readers = r;
	return r;
}

static uint64_t file_end(const struct lab_file *f)
{
	return (f->size_bytes + CACHE_PAGE_BYTES - 1) >> CACHE_PAGE_SHIFT;
}

static void forget_window(struct lab_reader *r)
{
	uint32_t n;

	for (n = 1; n < r->nr_windows; n++)
		r->window[n - 1] = r->window[n];
	r->nr_windows--;
}

/* Reads one window at the end of the stream. False: the file ends there. */
static bool add_window(struct lab_reader *r, uint32_t pages, const struct lab_fileop *op,
		       uint64_t now_ns)
{
	struct lab_cache *c = r->file->cache;
	uint64_t end = weir_min64(r->end_page + pages, file_end(r->file)), nr;

	if (end <= r->end_page)
		return false;
	if (r->nr_windows == c->cfg.read_ahead_windows)
		forget_window(r);
	r->window[r->nr_windows++] = r->end_page;
	r->window_pages = pages;
	nr = cache_read_missing(r->file, r->end_page, end, op, now_ns);
	c->stats.read_ahead_bytes += nr << CACHE_PAGE_SHIFT;
	r->end_page = end;
	return true;
}

static void begin_stream(const struct lab_fileop *op, uint64_t page, uint64_t now_ns)
{
	struct lab_reader *r = op->reader;
	uint64_t asked = op->priv[CACHE_OP_END] - page, pages = FIRST_WINDOW_PAGES;

	while (pages < 2 * asked)
		pages *= 2;
	r->streaming = true;
	r->nr_windows = 0;
	r->end_page = page;
	add_window(r, (uint32_t)weir_min64(pages, r->file->cache->window_pages), op, now_ns);
	/* The next read proves that the stream goes on, so it may ask for more. */
	r->trigger_page = weir_min64(page + asked, r->end_page);
}

/* The reader is at `page`, in the stream or a little beyond its end. */
static void continue_stream(const struct lab_fileop *op, uint64_t page, uint64_t now_ns)
{
	struct lab_reader *r = op->reader;
	struct lab_cache *c = r->file->cache;

	while (r->nr_windows > 1 && r->window[1] <= page)
		forget_window(r);
	if (page >= r->end_page)
		r->nr_windows = 0;
	lab_host_plug(c->host);
	while (r->nr_windows < c->cfg.read_ahead_windows || r->end_page <= page) {
		uint64_t pages = weir_min64(2 * (uint64_t)r->window_pages, c->window_pages);

		if (!add_window(r, (uint32_t)pages, op, now_ns))
			break;
	}
	lab_host_unplug(c->host, now_ns);
	r->trigger_page = r->nr_windows > 1 ? r->window[1] : r->end_page;
}

void cache_readahead(const struct lab_fileop *op, uint64_t page, uint64_t now_ns)
{
	struct lab_reader *r = op->reader;
	struct lab_cache *c = r->file->cache;

	if (!c->window_pages || c->stopping)
		return;
	if (cache_next_missing(r->file, page, page + 1) != page) {
		/* Nobody waits for these windows: where the group has no room they can wait. */
		if (r->streaming && page >= r->trigger_page && page < r->end_page &&
		    !lab_host_congested(c->host, op->group, WEIR_READ))
			continue_stream(op, page, now_ns);
		return;
	}
	if (r->streaming && page >= r->end_page && page - r->end_page <= c->window_pages)
		continue_stream(op, page, now_ns);
	else if (op->priv[CACHE_OP_SEQUENTIAL] ||
		 (r->nr_windows && page >= r->window[0] && page < r->end_page))
		begin_stream(op, page, now_ns); /* or again: its pages were evicted */
}

uint64_t cache_readahead_next(const struct lab_reader *r, uint64_t page)
{
	if (r->streaming && r->trigger_page > page && r->trigger_page < r->end_page)
		return r->trigger_page;
	return CACHE_NO_PAGE;
}
