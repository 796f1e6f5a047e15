// SPDX-License-Identifier: GPL-2.0-only
/* Recordings in memory: see record_tape.h. */
#include "tests/record_tape.h"

#include "core/crc32c.h"
#include "core/record_format.h"

int tape_start(struct tape *t, struct weir *w, size_t ring_bytes, uint64_t now)
{
	int err;

	*t = (struct tape){.w = w, .ring = malloc(ring_bytes)};
	assert_non_null(t->ring);
	err = weir_record_start(w, t->ring, ring_bytes, now);
	if (err) {
		free(t->ring);
		t->ring = NULL;
	}
	return err;
}

void tape_append(struct tape *t, const void *data, size_t bytes)
{
	if (t->bytes + bytes > t->room) {
		t->room = 2 * (t->bytes + bytes);
		t->data = realloc(t->data, t->room);
		assert_non_null(t->data);
	}
	memcpy(t->data + t->bytes, data, bytes);
	t->bytes += bytes;
}

void tape_pull(struct tape *t, size_t piece)
{
	uint8_t buf[65536];
	size_t n;

	assert_true(piece && piece <= sizeof(buf));
	while ((n = weir_record_read(t->w, buf, piece))) {
		assert_true(n <= piece);
		tape_append(t, buf, n);
	}
}

void tape_stop(struct tape *t, uint64_t now)
{
	weir_record_stop(t->w, now);
	tape_pull(t, 1000);
}

void tape_free(struct tape *t)
{
	free(t->ring);
	free(t->data);
	*t = (struct tape){0};
}

static FILE *open_tape(const struct tape *t)
{
	FILE *f = t->bytes ? fmemopen(t->data, t->bytes, "rb") : fopen("/dev/null", "rb");

	assert_non_null(f);
	return f;
}

enum lab_rerun_verdict tape_rerun(const struct tape *t, struct lab_rerun_result *result)
{
	FILE *f = open_tape(t);

	assert_int_equal(lab_rerun(f, NULL, result), 0);
	fclose(f);
	return result->verdict;
}

static void explain(const struct lab_rerun_result *r)
{
	fprintf(stderr, "verdict %d\nerror: %s\nrecord %llu: %s\nexpected: %s\ngot: %s\n",
		(int)r->verdict, r->error, (unsigned long long)r->number, r->call, r->expected,
		r->got);
}

void tape_expect_equal(const struct tape *t)
{
	struct lab_rerun_result r;

	if (tape_rerun(t, &r) != LAB_RERUN_EQUAL) {
		explain(&r);
		fail();
	}
	lab_rerun_free(&r);
}

void tape_expect(const struct tape *t, enum lab_rerun_verdict verdict, const char *what)
{
	struct lab_rerun_result r;
	const char *why = verdict == LAB_RERUN_BAD ? r.error : r.got;

	if (tape_rerun(t, &r) != verdict || !strstr(why, what)) {
		fprintf(stderr, "wanted: verdict %d, %s\n", (int)verdict, what);
		explain(&r);
		fail();
	}
	lab_rerun_free(&r);
}

struct search {
	enum weir_record_type type;
	unsigned int left;
	size_t found;
};

static void look(void *priv, const struct lab_call *call, unsigned int depth)
{
	struct search *s = priv;

	(void)depth;
	if (call->type == s->type && !s->left--)
		s->found = (size_t)call->offset;
}

size_t tape_find(const struct tape *t, enum weir_record_type type, unsigned int n)
{
	struct search s = {.type = type, .left = n, .found = SIZE_MAX};
	const struct lab_rerun_options options = {.each = look, .priv = &s};
	struct lab_rerun_result r;
	FILE *f = open_tape(t);

	assert_int_equal(lab_rerun(f, &options, &r), 0);
	fclose(f);
	lab_rerun_free(&r);
	assert_true(s.found != SIZE_MAX);
	return s.found;
}

static void seal(uint8_t *block)
{
	uint32_t length = weir_get_le32(block + WEIR_BLOCK_LENGTH_AT);
	uint32_t crc = weir_crc32c(0, block, WEIR_BLOCK_CRC_AT);

	crc = weir_crc32c(crc, block + WEIR_BLOCK_HEADER_BYTES, length);
	weir_put_le32(block + WEIR_BLOCK_CRC_AT, crc);
}

void tape_replace(struct tape *t, size_t at, size_t old_bytes, const void *with, size_t bytes)
{
	size_t block = 0, next = 0;
	uint32_t length = 0;

	/* The block that it lies in, or ends. */
	while (next < at) {
		block = next;
		assert_true(block + WEIR_BLOCK_HEADER_BYTES < t->bytes);
		length = weir_get_le32(t->data + block + WEIR_BLOCK_LENGTH_AT);
		next = block + WEIR_BLOCK_HEADER_BYTES + length;
	}
	assert_true(at + old_bytes <= next);
	if (bytes > old_bytes)
		tape_append(t, with, bytes - old_bytes); /* any bytes: it's for the room */
	else
		t->bytes -= old_bytes - bytes;
	memmove(t->data + at + bytes, t->data + at + old_bytes, t->bytes - at - bytes);
	memcpy(t->data + at, with, bytes);
	weir_put_le32(t->data + block + WEIR_BLOCK_LENGTH_AT,
		      length + (uint32_t)bytes - (uint32_t)old_bytes);
	seal(t->data + block);
}
