/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flight recording that goes into a file while a run of the lab goes on. It owns the ring that
 * the core writes to, and the file.
 *
 *	rec = lab_record_open(w, "run.weirrec", now, err, sizeof(err));	// w is drained
 *	while (...) {
 *		lab_engine_run(e, until_ns += slice_ns);
 *		lab_record_pump(rec);		// often enough that the ring doesn't fill up
 *	}
 *	lab_record_close(rec, now, err, sizeof(err));
 *
 * The file is what weir_record_read() gives, byte by byte: see weir-recording(5).
 */
#ifndef LAB_RECORD_FILE_H
#define LAB_RECORD_FILE_H

#include <weir/weir.h>

/* Room for about a million calls between two pumps. */
#define LAB_RECORD_RING_BYTES (UINT32_C(16) << 20)

struct lab_recording;

/*
 * Creates (or empties) the file and starts recording. NULL with a message in err: the file cannot
 * be written, or the instance is not drained.
 */
struct lab_recording *lab_record_open(struct weir *w, const char *path, uint64_t now, char *err,
				      size_t err_bytes);
/*
 * Writes out what is finished. May be called at any time, also from within the instance's wake().
 * An error of the file is kept for lab_record_close(). O(bytes written), a few ns when there are
 * none.
 */
void lab_record_pump(struct lab_recording *rec);
/*
 * Stops recording, writes the rest, closes the file and frees rec. 0, or -1 with a message in err:
 * the file could not be written, or the ring overflowed and the recording ends before its time.
 */
int lab_record_close(struct lab_recording *rec, uint64_t now, char *err, size_t err_bytes);

#endif
