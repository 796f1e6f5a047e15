// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffered reads. A reader goes through its pages in order: it copies what is there, waits for what
 * is being read (by whomever), and asks for what is missing, read-ahead first.
 *
 * Copying takes copy_ns a page. It is added up and spent at the end, or before the reader is woken
 * from its next wait, whichever is later: a read costs one event however many pages it finds.
 */
#include "lab/cache_impl.h"

static void read_step(struct lab_fileop *op, uint64_t now_ns);

/* Readers of the leaf that wait for a page in [page, end) move to `to`, in order. */
static void take_readers(struct cache_leaf *leaf, uint64_t page, uint64_t end, struct cache_opq *to)
{
	struct cache_opq all = leaf->readers;
	struct lab_fileop *op;

	leaf->readers = (struct cache_opq){NULL, NULL};
	while ((op = cache_opq_pop(&all))) {
		uint64_t at = op->priv[CACHE_OP_PAGE];

		cache_opq_push(at >= page && at < end ? to : &leaf->readers, op);
	}
}

static void read_done(struct lab_bio *bio, uint64_t now_ns)
{
	struct cache_io *io = bio->owner;
	struct lab_file *f = io->file;
	uint64_t page = io->page, end = page + io->nr_pages, at;
	struct cache_opq woken = {NULL, NULL};
	struct lab_fileop *op;

	for (at = page; at < end; at = cache_leaf_end(at))
		take_readers(cache_leaf_find(f, at), page, end, &woken);
	cache_read_end(f, page, end);
	cache_io_free(io);

	while ((op = cache_opq_pop(&woken))) {
		uint64_t busy_ns = weir_max64(op->priv[CACHE_OP_BUSY_NS], now_ns);

		/*
		 * The page that it waited for is copied at once: another reader's windows may push
		 * it out of a small cache before this one's turn comes, and it must get on.
		 */
		op->priv[CACHE_OP_BUSY_NS] = busy_ns + f->cache->cfg.copy_ns;
		op->priv[CACHE_OP_PAGE]++;
		read_step(op, now_ns);
	}
	cache_shrink(f->cache);
}

static void submit_read(struct lab_file *f, uint64_t page, uint64_t end,
			const struct lab_fileop *op, uint64_t now_ns)
{
	struct cache_io *io = cache_io_new(f->cache, WEIR_OP_READ, read_done);

	cache_read_begin(f, page, end);
	io->file = f;
	io->page = page;
	io->nr_pages = (uint32_t)(end - page);
	io->bio.flags = WEIR_RQ_SYNC;
	io->bio.group = op->group;
	io->bio.ctx = op->ctx;
	io->bio.ioprio_class = op->ioprio_class;
	io->bio.ioprio_level = op->ioprio_level;
	cache_io_submit_pages(io, now_ns);
}

uint64_t cache_read_missing(struct lab_file *f, uint64_t page, uint64_t end,
			    const struct lab_fileop *op, uint64_t now_ns)
{
	struct lab_cache *c = f->cache;
	uint64_t nr = 0;

	lab_host_plug(c->host);
	while ((page = cache_next_missing(f, page, end)) < end) {
		uint64_t at = page + 1, most = weir_min64(end, page + CACHE_RUN_PAGES);

		while (at < most && cache_next_missing(f, at, at + 1) == at)
			at++;
		submit_read(f, page, at, op, now_ns);
		nr += at - page;
		page = at;
	}
	lab_host_unplug(c->host, now_ns);
	c->stats.read_bytes += nr << CACHE_PAGE_SHIFT;
	return nr;
}

/* Copies, asks and waits, from the op's page on. */
static void read_step(struct lab_fileop *op, uint64_t now_ns)
{
	struct lab_file *f = op->file;
	struct lab_cache *c = f->cache;
	uint64_t page = op->priv[CACHE_OP_PAGE], end = op->priv[CACHE_OP_END], copied = 0;

	while (page < end) {
		uint64_t stop = end, nr;

		if (op->reader) {
			cache_readahead(op, page, now_ns);
			stop = weir_min64(end, cache_readahead_next(op->reader, page));
		}
		nr = cache_present_run(f, page, stop);
		copied += nr;
		page += nr;
		if (nr)
			continue;
		if (!cache_is_reading(f, page))
			cache_read_missing(f, page, weir_min64(end, page + CACHE_RUN_PAGES), op,
					   now_ns);
		cache_opq_push(&cache_leaf_find(f, page)->readers, op);
		break;
	}
	c->stats.hit_pages += copied;
	op->priv[CACHE_OP_PAGE] = page;
	if (copied)
		op->priv[CACHE_OP_BUSY_NS] = weir_max64(op->priv[CACHE_OP_BUSY_NS], now_ns) +
					     copied * c->cfg.copy_ns;
	if (page == end)
		cache_op_end(op, weir_max64(op->priv[CACHE_OP_BUSY_NS], now_ns));
}

void lab_file_read(struct lab_fileop *op, uint64_t now_ns)
{
	struct lab_file *f = op->file;
	struct lab_reader *r = op->reader;
	uint64_t page, end;

	cache_op_begin(op, now_ns);
	weir_assert(cache_op_fits(op) && (!r || r->file == f));
	/* Reads end where the file does. */
	if (op->offset >= f->size_bytes || !op->bytes) {
		cache_op_end(op, now_ns);
		return;
	}
	page = op->priv[CACHE_OP_PAGE];
	end = (weir_min64(op->offset + op->bytes, f->size_bytes) + CACHE_PAGE_BYTES - 1) >>
	      CACHE_PAGE_SHIFT;
	op->priv[CACHE_OP_END] = end;
	if (r) {
		/* Small reads may come to one page several times. */
		op->priv[CACHE_OP_SEQUENTIAL] = !page || page == r->read_end ||
						page + 1 == r->read_end;
		r->read_end = end;
	}
	read_step(op, now_ns);
}
