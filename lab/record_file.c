// SPDX-License-Identifier: GPL-2.0-only
/* A flight recording into a file: see record_file.h. */
#include "lab/record_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lab_recording {
	struct weir *w;
	FILE *file;
	char *path;
	void *ring;
	int error; /* errno of the first write that failed */
};

static void forget(struct lab_recording *rec)
{
	free(rec->ring);
	free(rec->path);
	free(rec);
}

static struct lab_recording *new_recording(struct weir *w, const char *path)
{
	struct lab_recording *rec = calloc(1, sizeof(*rec));

	if (!rec)
		return NULL;
	rec->w = w;
	rec->path = strdup(path);
	rec->ring = malloc(LAB_RECORD_RING_BYTES);
	if (rec->path && rec->ring)
		return rec;
	forget(rec);
	return NULL;
}

static const char *start_error(int err)
{
	if (err == -WEIR_EBUSY)
		return "requests are waiting or in flight, or it is being recorded already";
	return "too many groups and contexts for the recorder's ring";
}

struct lab_recording *lab_record_open(struct weir *w, const char *path, uint64_t now, char *err,
				      size_t err_bytes)
{
	struct lab_recording *rec = new_recording(w, path);
	int e;

	if (!rec) {
		snprintf(err, err_bytes, "%s: no memory for a recording", path);
		return NULL;
	}
	rec->file = fopen(path, "wb");
	if (!rec->file) {
		snprintf(err, err_bytes, "%s: cannot be written: %s", path, strerror(errno));
		forget(rec);
		return NULL;
	}
	e = weir_record_start(w, rec->ring, LAB_RECORD_RING_BYTES, now);
	if (e) {
		snprintf(err, err_bytes, "%s: cannot record: %s", path, start_error(e));
		fclose(rec->file);
		forget(rec);
		return NULL;
	}
	return rec;
}

void lab_record_pump(struct lab_recording *rec)
{
	char buf[8192];
	size_t n;

	while ((n = weir_record_read(rec->w, buf, sizeof(buf))))
		if (!rec->error && fwrite(buf, 1, n, rec->file) != n)
			rec->error = errno ? errno : EIO;
}

int lab_record_close(struct lab_recording *rec, uint64_t now, char *err, size_t err_bytes)
{
	int ret = 0;

	weir_record_stop(rec->w, now);
	lab_record_pump(rec);
	if (fclose(rec->file) && !rec->error)
		rec->error = errno;
	if (rec->error) {
		snprintf(err, err_bytes, "%s: cannot be written: %s", rec->path,
			 strerror(rec->error));
		ret = -1;
	} else if (weir_record_overflowed(rec->w)) {
		snprintf(err, err_bytes, "%s: ends early: more was recorded than read out",
			 rec->path);
		ret = -1;
	}
	forget(rec);
	return ret;
}
