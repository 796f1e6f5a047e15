// SPDX-License-Identifier: GPL-2.0-only
/*
 * The journal: commits by a thread of the root group.
 *
 * An fsync whose data is on the device waits for a commit that has not begun yet. The thread begins
 * one when somebody waits and none is under way, so all that arrive during a commit share the next:
 *
 *	A  data ------|== commit 1 ==|
 *	B      data ------|          |== commit 2 ==|
 *	C          data ------|      |== commit 2 ==|
 *
 * A commit is two writes one after the other, sequential in a circular area: the description and
 * the changed blocks (a block for each inode, another where the size changed), and when these are
 * there the commit block, with a flush before it and FUA if there are barriers. Both are sync and
 * metadata, in a context of the thread's own: which is what makes a scheduler that idles between
 * contexts wait twice for each fsync (thread 001).
 */
#include "lab/cache_impl.h"

static void commit_begin(struct lab_cache *c, uint64_t now_ns);

static uint64_t area_pages(const struct lab_cache *c)
{
	return c->cfg.journal_sectors / CACHE_PAGE_SECTORS;
}

/* Writes the next nr pages of the area; in two bios where it wraps around. */
static void write_area(struct lab_cache *c, uint64_t nr, uint16_t flags,
		       void (*done)(struct lab_bio *bio, uint64_t now_ns), uint64_t now_ns)
{
	struct cache_journal *j = &c->journal;

	lab_host_plug(c->host);
	while (nr) {
		uint64_t some = weir_min64(nr, area_pages(c) - j->head_page);
		struct cache_io *io = cache_io_new(c, WEIR_OP_WRITE, done);

		io->bio.flags = WEIR_RQ_SYNC | WEIR_RQ_META | flags;
		io->bio.group = weir_root(c->weir);
		io->bio.ctx = j->ctx;
		io->bio.sector = c->cfg.journal_sector + j->head_page * CACHE_PAGE_SECTORS;
		io->bio.nr_sectors = (uint32_t)some * CACHE_PAGE_SECTORS;
		j->nr_bios++;
		j->head_page = (j->head_page + some) % area_pages(c);
		nr -= some;
		lab_host_submit(c->host, &io->bio, now_ns);
	}
	lab_host_unplug(c->host, now_ns);
}

static void let_go(struct cache_opq *q, uint64_t now_ns)
{
	struct lab_fileop *op;

	while ((op = cache_opq_pop(q)))
		cache_op_end(op, now_ns);
}

static void commit_block_done(struct lab_bio *bio, uint64_t now_ns)
{
	struct cache_io *io = bio->owner;
	struct lab_cache *c = io->cache;
	struct cache_journal *j = &c->journal;
	struct lab_fileop *op;

	cache_io_free(io);
	j->nr_bios--;
	j->running = false;
	c->stats.commits++;
	let_go(&j->committing, now_ns);
	while ((op = cache_opq_pop(&j->late)))
		cache_fsync_finish(op, now_ns);
	commit_begin(c, now_ns);
}

static void blocks_done(struct lab_bio *bio, uint64_t now_ns)
{
	struct cache_io *io = bio->owner;
	struct lab_cache *c = io->cache;
	uint16_t flags = c->cfg.barriers ? WEIR_RQ_PREFLUSH | WEIR_RQ_FUA : 0;

	cache_io_free(io);
	if (!--c->journal.nr_bios)
		write_area(c, 1, flags, commit_block_done, now_ns);
}

/* The changes of this file are in the commit that begins. Returns their blocks. */
static uint64_t take_changes(struct cache_journal *j, struct lab_file *f)
{
	uint64_t blocks = 0;

	if (f->meta_dirty) {
		blocks++;
		f->meta_commit = j->commit;
	}
	if (f->size_dirty) {
		blocks++;
		f->size_commit = j->commit;
	}
	f->meta_dirty = false;
	f->size_dirty = false;
	return blocks;
}

/* With all that wait by now. */
static void commit_begin(struct lab_cache *c, uint64_t now_ns)
{
	struct cache_journal *j = &c->journal;
	uint64_t blocks = 1; /* the description */
	struct lab_fileop *op;

	if (j->running)
		return;
	if (c->stopping)
		let_go(&j->waiting, now_ns);
	if (!j->waiting.head)
		return;
	j->running = true;
	j->commit++;
	while ((op = cache_opq_pop(&j->waiting))) {
		blocks += take_changes(j, op->file);
		cache_opq_push(&j->committing, op);
	}
	/* jbd2 bounds a transaction by a quarter of the area too. */
	write_area(c, weir_min64(blocks, area_pages(c) / 4), 0, blocks_done, now_ns);
}

static void thread_wakes(struct lab_event *ev, uint64_t now_ns)
{
	commit_begin(weir_container_of(ev, struct lab_cache, journal.ev), now_ns);
}

void cache_journal_join(struct lab_fileop *op, uint64_t now_ns)
{
	struct lab_cache *c = op->file->cache;
	struct cache_journal *j = &c->journal;

	cache_opq_push(&j->waiting, op);
	if (!j->running && !lab_event_pending(&j->ev))
		lab_event_at(c->engine, &j->ev, now_ns);
}

bool cache_journal_join_late(struct lab_fileop *op)
{
	const struct lab_file *f = op->file;
	struct cache_journal *j = &f->cache->journal;

	if (!j->running || (op->data_only ? f->size_commit : f->meta_commit) != j->commit)
		return false;
	cache_opq_push(&j->late, op);
	return true;
}

void cache_journal_init(struct lab_cache *c)
{
	struct cache_journal *j = &c->journal;

	lab_event_init(&j->ev, thread_wakes);
	j->ctx = weir_ctx_create(c->weir, weir_root(c->weir), WEIR_IOPRIO_NONE, 0,
				 lab_now(c->engine));
	weir_assert(j->ctx);
}
