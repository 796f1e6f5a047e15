// SPDX-License-Identifier: GPL-2.0-only
/*
 * The worker's loop, and direct I/O.
 *
 * The short way: a job without pacing, batches or fsync issues its next I/O from the completion of
 * the last, with the same memory. Everything else goes through worker_pump(), which issues as long
 * as nothing holds the job back and is called again when whatever held it is over.
 */
#include "core/assert.h"
#include "core/fixed.h"
#include "core/list.h"
#include "lab/worker.h"

static const uint8_t op_of_dir[LAB_NR_JOB_DIRS] = {
	[LAB_DIR_READ] = WEIR_OP_READ,
	[LAB_DIR_WRITE] = WEIR_OP_WRITE,
	[LAB_DIR_TRIM] = WEIR_OP_DISCARD,
};

static struct lab_worker_io *take_io(struct lab_worker *w)
{
	struct lab_worker_io *io = w->free;

	w->free = io->next;
	return io;
}

static void give_io(struct lab_worker *w, struct lab_worker_io *io)
{
	io->next = w->free;
	w->free = io;
}

/* ---- where to ---- */

/* The file whose turn it is has no more in this pass. Is there another one? */
static bool other_pattern(struct lab_worker *w, enum lab_job_dir dir, struct lab_extent *out)
{
	uint32_t tries;

	for (tries = 1; tries < w->nr_patterns; tries++) {
		w->at_pattern = (w->at_pattern + 1) % w->nr_patterns;
		w->pattern = &w->patterns[w->at_pattern];
		if (lab_pattern_next(w->pattern, dir, out))
			return true;
	}
	return false;
}

/* False: everything of this pass is issued. */
static bool next_extent(struct lab_worker *w, enum lab_job_dir dir, struct lab_extent *out)
{
	uint32_t i;

	if (weir_likely(lab_pattern_next(w->pattern, dir, out)))
		return true;
	if (w->nr_patterns > 1 && other_pattern(w, dir, out))
		return true;
	if (!w->time_based)
		return false;
	/* A job that is bound by time goes on with the next pass while the last one comes back. */
	for (i = 0; i < w->nr_patterns; i++)
		lab_pattern_rewind(&w->patterns[i]);
	return lab_pattern_next(w->pattern, dir, out);
}

/* The next block of the file that all threads share. */
static bool next_turn(struct lab_worker *w, struct lab_extent *out)
{
	struct lab_turns *t = w->turns;
	uint32_t block = (uint32_t)w->job->bs_min[LAB_DIR_READ];

	if (t->next_offset + block > w->place.bytes) {
		if (!w->time_based)
			return false;
		t->next_offset = 0;
	}
	out->offset = t->next_offset;
	out->bytes = block;
	t->next_offset += block;
	return true;
}

/* ---- one I/O ---- */

static void count_depth(struct lab_worker *w, uint64_t now_ns)
{
	unsigned int level = 31u - (unsigned int)__builtin_clz(w->in_flight);

	/* Issued in the window, which for beginnings is closed on the left. */
	if (now_ns >= w->measure_from_ns && now_ns < w->measure_to_ns)
		w->depth_level[level < LAB_DEPTH_LEVELS ? level : LAB_DEPTH_LEVELS - 1]++;
}

static void submit_direct(struct lab_worker *w, struct lab_worker_io *io, uint64_t offset,
			  uint64_t now_ns)
{
	struct lab_bio *bio = &io->bio;

	bio->op = (enum weir_op)op_of_dir[io->dir];
	/* As in Linux: who writes past the cache is likely to go on. */
	bio->flags = io->dir == LAB_DIR_READ ? 0 : WEIR_RQ_SYNC | WEIR_RQ_IDLE_OK;
	if (io->dir == LAB_DIR_WRITE && w->job->sync_writes)
		bio->flags |= WEIR_RQ_FUA;
	bio->sector = w->sector + (offset >> WEIR_SECTOR_SHIFT);
	bio->nr_sectors = io->bytes >> WEIR_SECTOR_SHIFT;
	if (weir_unlikely(w->place.shared_with_cache))
		lab_file_discard_range(w->place.file, offset, io->bytes);
	lab_host_submit(w->host, bio, now_ns);
}

/* Issues the next I/O of the pass in direction dir. False: there is none. */
static bool issue(struct lab_worker *w, struct lab_worker_io *io, enum lab_job_dir dir,
		  uint64_t now_ns)
{
	struct lab_extent extent;

	if (!w->ios_left || !w->bytes_left)
		return false;
	if (weir_unlikely(w->turns) ? !next_turn(w, &extent) : !next_extent(w, dir, &extent))
		return false;
	if (w->bytes_left != UINT64_MAX)
		w->bytes_left -= weir_min64(extent.bytes, w->bytes_left);
	if (w->ios_left != UINT64_MAX)
		w->ios_left--;
	if (w->nr_patterns > 1 && !w->pattern->write_next) {
		w->at_pattern = (w->at_pattern + 1) % w->nr_patterns;
		w->pattern = &w->patterns[w->at_pattern];
	}
	io->dir = (uint8_t)dir;
	io->bytes = extent.bytes;
	io->issue_ns = now_ns;
	w->in_flight++;
	count_depth(w, now_ns);
	if (weir_unlikely(w->buffered && dir != LAB_DIR_TRIM)) {
		io->bio.sector = extent.offset; /* bytes, until worker_file_issue() */
		worker_file_issue(w, io, now_ns);
	} else {
		submit_direct(w, io, extent.offset, now_ns);
	}
	return true;
}

/* ---- the loop ---- */

/* Direction of the next I/O, or false while its rate says wait. */
static bool may_go(struct lab_worker *w, enum lab_job_dir *dir, uint64_t now_ns)
{
	uint64_t due_ns;

	/* Drawn once, however often we are called while waiting. */
	if (!w->has_want) {
		w->want = (uint8_t)lab_pattern_dir(w->pattern);
		w->has_want = true;
	}
	*dir = (enum lab_job_dir)w->want;
	if (!w->pacing.limited)
		return true;
	*dir = lab_pacing_choose(&w->pacing, *dir, now_ns, &due_ns);
	w->want = (uint8_t)*dir;
	if (due_ns <= now_ns)
		return true;
	if (!lab_event_pending(&w->timer) || w->timer.at_ns != due_ns)
		lab_event_at(w->engine, &w->timer, due_ns);
	return false;
}

/* One round: an I/O, an fsync, or the reason why not. False: nothing more for now. */
static bool pump_once(struct lab_worker *w, uint64_t now_ns)
{
	struct lab_worker_io *io;
	enum lab_job_dir dir;

	if (w->halt)
		return false;
	if (!w->free) {
		w->full = true;
		return false;
	}
	/* An fsync comes before the next I/O, not behind the last. */
	if (w->ios_left && w->bytes_left && worker_wants_sync(w)) {
		worker_sync(w, false, now_ns);
		return false;
	}
	if (w->full && w->in_flight > w->low)
		return false;
	w->full = false;
	if (!may_go(w, &dir, now_ns))
		return false;
	io = take_io(w);
	if (!issue(w, io, dir, now_ns)) {
		give_io(w, io);
		w->halt |= LAB_HALT_PASS;
		return false;
	}
	w->has_want = false;
	if (dir == LAB_DIR_WRITE) {
		w->writes_since_fsync++;
		w->writes_since_fdatasync++;
	}
	if (w->pacing.limited)
		lab_pacing_issued(&w->pacing, dir, io->bytes);
	return true;
}

void worker_pump(struct lab_worker *w, uint64_t now_ns)
{
	uint32_t plugged = 0;

	if (w->batch <= 1) {
		while (pump_once(w, now_ns))
			;
	} else {
		lab_host_plug(w->host);
		while (pump_once(w, now_ns)) {
			if (++plugged < w->batch)
				continue;
			lab_host_unplug(w->host, now_ns);
			lab_host_plug(w->host);
			plugged = 0;
		}
		lab_host_unplug(w->host, now_ns);
	}
	if (w->halt && !w->in_flight)
		worker_settle(w, now_ns);
}

/* ---- completions ---- */

static void reap(struct lab_worker *w, struct lab_worker_io *io, uint64_t now_ns)
{
	w->in_flight--;
	worker_meter(w, io, now_ns);
	if (w->turns)
		w->halt |= LAB_HALT_THINK;
	else if (w->pacing.thinks && !(w->halt & LAB_HALT_THINK) &&
		 lab_pacing_completed(&w->pacing, now_ns))
		w->halt |= LAB_HALT_THINK;
	give_io(w, io);
}

/* Completions are looked at in batches if the job says so and has its depth full. */
static void reap_batch(struct lab_worker *w, uint64_t now_ns)
{
	struct lab_worker_io *io;

	if (w->full && w->nr_reaped < w->complete_min && w->nr_reaped < w->in_flight)
		return;
	while ((io = w->reaped)) {
		w->reaped = io->next;
		reap(w, io, now_ns);
	}
	w->nr_reaped = 0;
	w->reaped_tail = &w->reaped;
}

void worker_completed(struct lab_worker *w, struct lab_worker_io *io, uint64_t now_ns)
{
	io->next = NULL;
	*w->reaped_tail = io;
	w->reaped_tail = &io->next;
	w->nr_reaped++;
	reap_batch(w, now_ns);
	worker_pump(w, now_ns);
}

static void direct_done(struct lab_bio *bio, uint64_t now_ns)
{
	struct lab_worker_io *io = weir_container_of(bio, struct lab_worker_io, bio);
	struct lab_worker *w = bio->owner;

	if (weir_unlikely(!w->plain || w->halt)) {
		worker_completed(w, io, now_ns);
		return;
	}
	w->in_flight--;
	worker_meter(w, io, now_ns);
	if (weir_likely(issue(w, io, lab_pattern_dir(w->pattern), now_ns)))
		return;
	give_io(w, io);
	w->halt |= LAB_HALT_PASS;
	if (!w->in_flight)
		worker_settle(w, now_ns);
}

void worker_init_io(struct lab_worker *w)
{
	uint32_t i;

	for (i = w->depth; i--;) {
		struct lab_worker_io *io = &w->io[i];

		io->bio = (struct lab_bio){
			.group = w->group,
			.ctx = w->ctx,
			.ioprio_class = w->job->prioclass,
			.ioprio_level = w->job->prio,
			.done = direct_done,
			.owner = w,
		};
		give_io(w, io);
	}
	w->reaped_tail = &w->reaped;
}
