// SPDX-License-Identifier: GPL-2.0-only
/*
 * A worker's buffered I/O, one operation at a time, and its fsyncs.
 *
 * fsync goes through the page cache, which knows dirty pages and the journal. A direct job on the
 * device itself has neither: its fsync is a flush. On a device file there is no journal either, so
 * that fsync and fdatasync are the same.
 */
#include "core/assert.h"
#include "core/list.h"
#include "lab/worker.h"

static void op_done(struct lab_fileop *op, uint64_t now_ns);

void worker_file_init(struct lab_worker *w)
{
	const struct lab_job *job = w->job;

	w->op = (struct lab_fileop){
		.file = w->place.file,
		.group = w->group,
		.ctx = w->ctx,
		.ioprio_class = job->prioclass,
		.ioprio_level = job->prio,
		.done = op_done,
		.owner = w,
	};
	/* fio tells the kernel that an access is random, and read-ahead is off then. */
	if (w->place.file && w->buffered && !lab_job_is_random(job) &&
	    lab_job_does(job, LAB_DIR_READ))
		w->op.reader = lab_reader_new(w->place.file);
}

void lab_worker_take_turns(struct lab_worker *w, struct lab_turns *t)
{
	if (!t->reader)
		t->reader = w->op.reader;
	w->op.reader = t->reader;
	w->turns = t;
	w->plain = false;
}

void worker_file_issue(struct lab_worker *w, struct lab_worker_io *io, uint64_t now_ns)
{
	weir_assert(!w->op_io);
	w->op_io = io;
	w->op.offset = io->bio.sector;
	w->op.bytes = io->bytes;
	if (io->dir == LAB_DIR_READ)
		lab_file_read(&w->op, now_ns);
	else
		lab_file_write(&w->op, now_ns);
}

static void sync_done(struct lab_worker *w, uint64_t now_ns)
{
	if (w->sync && lab_worker_measures(w, now_ns)) {
		w->sync->ios++;
		lab_lat_add(&w->sync->lat, now_ns - w->sync_issue_ns);
	}
	w->halt &= ~(uint32_t)LAB_HALT_SYNC;
	worker_pump(w, now_ns);
}

static void op_done(struct lab_fileop *op, uint64_t now_ns)
{
	struct lab_worker *w = op->owner;
	struct lab_worker_io *io = w->op_io;

	if (!io) {
		sync_done(w, now_ns);
		return;
	}
	if (io->dir == LAB_DIR_WRITE && w->job->sync_writes && !w->write_synced) {
		/* O_SYNC: the write is over when it is on the medium. */
		w->write_synced = true;
		w->op.data_only = w->job->on_device;
		lab_file_fsync(&w->op, now_ns);
		return;
	}
	w->write_synced = false;
	w->op_io = NULL;
	worker_completed(w, io, now_ns);
}

static void flush_done(struct lab_bio *bio, uint64_t now_ns)
{
	sync_done(bio->owner, now_ns);
}

bool worker_wants_sync(const struct lab_worker *w)
{
	const struct lab_job *job = w->job;

	return (job->fsync_every && w->writes_since_fsync >= job->fsync_every) ||
	       (job->fdatasync_every && w->writes_since_fdatasync >= job->fdatasync_every);
}

/* Begins an fsync (or fdatasync); the job does nothing else until it is over. */
void worker_sync(struct lab_worker *w, bool final, uint64_t now_ns)
{
	const struct lab_job *job = w->job;
	bool full = final || (job->fsync_every && w->writes_since_fsync >= job->fsync_every);

	w->halt |= LAB_HALT_SYNC;
	w->sync_issue_ns = now_ns;
	w->writes_since_fdatasync = 0;
	if (full)
		w->writes_since_fsync = 0;
	if (!w->place.file) {
		w->flush = (struct lab_bio){
			.op = WEIR_OP_FLUSH,
			.flags = WEIR_RQ_SYNC,
			.group = w->group,
			.ctx = w->ctx,
			.ioprio_class = job->prioclass,
			.ioprio_level = job->prio,
			.done = flush_done,
			.owner = w,
		};
		lab_host_submit(w->host, &w->flush, now_ns);
		return;
	}
	weir_assert(!w->op_io);
	w->op.data_only = !full || job->on_device;
	lab_file_fsync(&w->op, now_ns);
}
