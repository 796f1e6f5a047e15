// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where files lie. A job on /dev/... has the device itself. Other files are laid out one after
 * another from 1 MiB on, each on a boundary of 1 MiB and in one piece, in the order in which jobs
 * name them; jobs that name the same file share it. With a page cache the end of the device belongs
 * to the journal.
 */
#include <inttypes.h>
#include <string.h>

#include "core/fixed.h"
#include "lab/sim_impl.h"
#include "lab/sim_units.h"

#define MIB (UINT64_C(1) << 20)
#define PAGE 4096

static uint64_t device_bytes(const struct sim *s)
{
	return s->device->info.sectors << WEIR_SECTOR_SHIFT;
}

static int size_line(const struct lab_job *job)
{
	return job->size_line ? job->size_line : job->line;
}

/* The file of a job; a new one if nobody named it before. */
static struct sim_file *find_file(struct sim *s, const struct lab_job *job)
{
	const char *name = job->on_device ? "/dev/" : job->filename;
	struct sim_file *f;
	unsigned int i;

	for (i = 0; name && i < s->nr_files; i++)
		if (s->file[i].name && !strcmp(s->file[i].name, name))
			return &s->file[i];
	f = &s->file[s->nr_files++];
	f->name = name;
	f->job = job;
	f->on_device = job->on_device;
	return f;
}

static bool calls_fsync(const struct lab_job *job)
{
	return job->fsync_every || job->fdatasync_every || job->end_fsync || job->fsync_on_close;
}

/* The page cache has whole pages: what the device has beyond the last is out of its reach. */
static uint64_t reach_bytes(const struct sim *s, const struct lab_job *job)
{
	uint64_t bytes = device_bytes(s);

	return job->on_device && !job->direct ? bytes / PAGE * PAGE : bytes;
}

/* What percentages are of. */
static uint64_t whole_bytes(const struct sim *s, const struct lab_job *job)
{
	if (job->on_device)
		return reach_bytes(s, job);
	return job->filesize ? job->filesize * (job->nrfiles ? job->nrfiles : 1) : job->size;
}

static bool set_region(struct sim *s, const struct lab_job *job, struct sim_job *j)
{
	uint64_t whole = whole_bytes(s, job), reach = reach_bytes(s, job);
	uint64_t offset = job->offset, room;

	if (job->offset_percent)
		offset = weir_mul_div(whole, job->offset_percent, 100) / PAGE * PAGE;
	offset = weir_add_sat(offset, weir_mul_div(job->offset_increment, job->clone, 1));
	j->start = offset;
	if (job->size)
		j->bytes = job->size;
	else if (job->size_percent)
		j->bytes = weir_mul_div(whole, job->size_percent, 100);
	else
		j->bytes = whole > offset ? whole - offset : 0;
	room = reach > offset ? reach - offset : 0;
	/* All of the device means what is left of it behind the offset. */
	if (job->on_device && job->size_percent && j->bytes > room)
		j->bytes = room;
	if (j->bytes && j->bytes <= room)
		return true;
	snprintf(s->err, s->err_bytes,
		 "%s:%d: [%s] size %" PRIu64 " at offset %" PRIu64
		 ": accepted is a size up to %" PRIu64 ", device %s has %" PRIu64 " bytes",
		 job->file, size_line(job), job->name, j->bytes, offset, room, s->spec->device,
		 reach);
	return false;
}

static bool add_job(struct sim *s, unsigned int index)
{
	const struct lab_job *job = s->spec->jobs->job[index];
	struct sim_job *j = &s->job[index];

	if (job->cannot_run) {
		snprintf(s->err, s->err_bytes, "%s:%d: [%s] %s", job->file, job->line, job->name,
			 job->cannot_run);
		return false;
	}
	if (!set_region(s, job, j))
		return false;
	j->file = find_file(s, job);
	if (j->file->bytes < j->start + j->bytes)
		j->file->bytes = j->start + j->bytes;
	if (!job->direct)
		j->file->buffered = true;
	/* A flush is all there is to a direct job's fsync on a device. */
	if (calls_fsync(job) && !(job->direct && job->on_device))
		j->file->synced = true;
	return true;
}

/* The run of a private file, behind what is taken. */
static bool place_file(struct sim *s, struct sim_file *f, uint64_t *taken, uint64_t end)
{
	uint64_t at = (*taken + MIB - 1) / MIB * MIB;
	uint64_t bytes = (f->bytes + PAGE - 1) / PAGE * PAGE;

	if (at > end || bytes > end - at) {
		snprintf(s->err, s->err_bytes,
			 "%s:%d: [%s] size %" PRIu64 ": accepted is what is left on device %s "
			 "behind the other files, %" PRIu64 " bytes",
			 f->job->file, size_line(f->job), f->job->name, f->bytes, s->spec->device,
			 end > at ? end - at : 0);
		return false;
	}
	f->sector = at >> WEIR_SECTOR_SHIFT;
	f->bytes = bytes;
	*taken = at + bytes;
	return true;
}

bool sim_layout(struct sim *s)
{
	const struct lab_jobs *jobs = s->spec->jobs;
	uint64_t taken = MIB, end = device_bytes(s);
	bool cached = false;
	unsigned int i;

	s->file = sim_alloc(jobs->nr, sizeof(*s->file));
	for (i = 0; i < jobs->nr; i++)
		if (!add_job(s, i))
			return false;
	for (i = 0; i < s->nr_files; i++)
		cached |= s->file[i].buffered || s->file[i].synced;
	if (cached)
		end = s->cache_cfg.journal_sector << WEIR_SECTOR_SHIFT;
	for (i = 0; i < s->nr_files; i++) {
		struct sim_file *f = &s->file[i];

		if (f->on_device)
			f->bytes = device_bytes(s) / PAGE * PAGE;
		else if (!place_file(s, f, &taken, end))
			return false;
	}
	if (cached)
		s->cache = lab_cache_new(s->host, &s->cache_cfg);
	for (i = 0; cached && i < s->nr_files; i++) {
		struct sim_file *f = &s->file[i];

		if (f->buffered || f->synced)
			f->file = lab_file_open(s->cache, f->sector, f->bytes);
	}
	return true;
}
