// SPDX-License-Identifier: GPL-2.0-only
/*
 * fsync and fdatasync.
 *
 *	1. Write the file's dirty pages, sync and in the caller's name, and wait for them and for
 * all other write-back of the file that is in flight.
 *	2. Pages that were dirty again while under write-back could not be written in 1: once more.
 *	   Who writes to them meanwhile can't keep this going, since whatever is dirty after the
 *	   second time was written to after the call.
 *	3. If the inode changed (fdatasync: if the size did), wait for a commit of the journal that
 *	   begins now or later. Its flush also makes the data of 1 and 2 durable.
 *	4. Else, with barriers, send a flush for the data alone.
 */
#include "lab/cache_impl.h"

enum fsync_stage {
	FSYNC_FIRST,
	FSYNC_AGAIN, /* waiting for the first pass; a second follows */
	FSYNC_LAST,
};

static bool is_written(const struct lab_file *f, uint64_t seq)
{
	if (list_is_empty(&f->writes))
		return true;
	return list_first(&f->writes, struct cache_io, link)->seq > seq;
}

static void flush_done(struct lab_bio *bio, uint64_t now_ns)
{
	struct cache_io *io = bio->owner;

	cache_op_end(io->op, now_ns);
	cache_io_free(io);
}

void cache_fsync_finish(struct lab_fileop *op, uint64_t now_ns)
{
	struct lab_cache *c = op->file->cache;
	struct cache_io *io;

	if (!c->cfg.barriers || c->stopping) {
		cache_op_end(op, now_ns);
		return;
	}
	io = cache_io_new(c, WEIR_OP_FLUSH, flush_done);
	io->op = op;
	io->bio.flags = WEIR_RQ_SYNC;
	io->bio.group = op->group;
	io->bio.ctx = op->ctx;
	io->bio.ioprio_class = op->ioprio_class;
	io->bio.ioprio_level = op->ioprio_level;
	lab_host_submit(c->host, &io->bio, now_ns);
}

static void commit(struct lab_fileop *op, uint64_t now_ns)
{
	const struct lab_file *f = op->file;

	if (f->cache->stopping)
		cache_op_end(op, now_ns);
	else if (op->data_only ? f->size_dirty : f->meta_dirty)
		cache_journal_join(op, now_ns);
	else if (!cache_journal_join_late(op))
		cache_fsync_finish(op, now_ns);
}

/* From the current stage on, as far as it goes without waiting. */
static void fsync_step(struct lab_fileop *op, uint64_t now_ns)
{
	struct lab_file *f = op->file;
	struct cache_writer w = {.file = f, .op = op, .flags = WEIR_RQ_SYNC};

	while (op->priv[CACHE_OP_STAGE] != FSYNC_LAST) {
		bool first = op->priv[CACHE_OP_STAGE] == FSYNC_FIRST, left = false;

		if (!f->cache->stopping)
			left = cache_write_all(&w, 0, f->nr_pages, now_ns);
		op->priv[CACHE_OP_STAGE] = first && left ? FSYNC_AGAIN : FSYNC_LAST;
		op->priv[CACHE_OP_SEQ] = f->write_seq;
		if (!is_written(f, f->write_seq)) {
			cache_opq_push(&f->syncers, op);
			return;
		}
	}
	commit(op, now_ns);
}

void cache_syncers_wake(struct lab_file *f, uint64_t now_ns)
{
	struct cache_opq all = f->syncers;
	struct lab_fileop *op;

	f->syncers = (struct cache_opq){NULL, NULL};
	while ((op = cache_opq_pop(&all))) {
		if (is_written(f, op->priv[CACHE_OP_SEQ]))
			fsync_step(op, now_ns);
		else
			cache_opq_push(&f->syncers, op);
	}
}

void lab_file_fsync(struct lab_fileop *op, uint64_t now_ns)
{
	cache_op_begin(op, now_ns);
	op->priv[CACHE_OP_STAGE] = FSYNC_FIRST;
	fsync_step(op, now_ns);
}
