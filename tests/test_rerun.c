// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reruns of recordings that are damaged, forged or of another version, and answers that differ.
 * tests/test_record.c has those that are equal.
 */
#include "tests/record_tape.h"

#include "lab/record_file.h"

/* ---- what is recorded of a request is all that the host said ---- */

#define DRAWN 2000

struct drawn {
	struct lab_call_bio bio[DRAWN];
	uint32_t nr, seen;
};

static void compare_inserted(void *priv, const struct lab_call *call, unsigned int depth)
{
	struct drawn *d = priv;
	const struct lab_call_bio *want = &d->bio[d->seen], *got = &call->bio;

	(void)depth;
	if (call->type != WEIR_REC_INSERT)
		return;
	assert_true(d->seen < d->nr);
	assert_int_equal(call->rq, ++d->seen);
	assert_int_equal(got->sector, want->sector);
	assert_int_equal(got->nr_sectors, want->nr_sectors);
	assert_int_equal(got->group, want->group);
	assert_int_equal(got->ctx, want->ctx);
	assert_int_equal(got->flags, want->flags);
	assert_int_equal(got->op, want->op);
	assert_int_equal(got->ioprio_class, want->ioprio_class);
	assert_int_equal(got->ioprio_level, want->ioprio_level);
	assert_int_equal(got->head, want->head);
}

/* Some fields stay as they were, as in life. */
static void draw_bio(uint64_t *seed, struct lab_call_bio *bio)
{
	uint64_t change = util_random(seed);

	if (change & 1)
		bio->sector = util_random(seed) >> util_below(seed, 64) >> 1;
	if (change & 2)
		bio->nr_sectors = (uint32_t)(UINT64_C(1) << util_below(seed, 24));
	if (change & 4)
		bio->op = (uint8_t)util_below(seed, WEIR_NR_OPS);
	if (change & 8)
		bio->flags = (uint16_t)util_random(seed);
	if (change & 16)
		bio->ioprio_class = (uint8_t)util_below(seed, 4);
	if (change & 32)
		bio->ioprio_level = (uint8_t)util_below(seed, 8);
	if (change & 64)
		bio->group = (uint32_t)util_below(seed, 2);
	if (change & 128)
		bio->ctx = (uint32_t)util_below(seed, 3);
	bio->head = change & 256;
}

static void all_fields_come_back(void **state)
{
	static struct drawn d;
	static struct util_host h;
	const struct lab_rerun_options options = {.each = compare_inserted, .priv = &d};
	struct lab_call_bio bio = {0};
	struct lab_rerun_result r;
	struct weir_group *group[2];
	struct weir_ctx *ctx[3] = {NULL};
	uint64_t seed = 11;
	struct tape t;
	FILE *f;

	(void)state;
	util_host_init(&h);
	h.cfg.merge = false;
	util_host_start(&h, weir_policy_at(0), NULL);
	group[0] = weir_root(h.w);
	group[1] = util_group(&h, group[0], 100);
	ctx[1] = weir_ctx_create(h.w, group[1], WEIR_IOPRIO_BE, 4, h.now);
	ctx[2] = weir_ctx_create(h.w, group[0], WEIR_IOPRIO_RT, 0, h.now);
	assert_int_equal(tape_start(&t, h.w, 32 * WEIR_RECORD_RING_MIN, h.now), 0);
	for (d.nr = 0; d.nr < DRAWN; d.nr++) {
		struct weir_rq *rq;

		draw_bio(&seed, &bio);
		d.bio[d.nr] = bio;
		rq = util_bio(&h, (enum weir_op)bio.op, bio.sector, bio.nr_sectors);
		rq->group = group[bio.group];
		rq->ctx = ctx[bio.ctx];
		rq->flags = bio.flags;
		rq->ioprio_class = bio.ioprio_class;
		rq->ioprio_level = bio.ioprio_level;
		weir_insert(h.w, rq, bio.head ? WEIR_HEAD : WEIR_TAIL, h.now);
	}
	tape_stop(&t, h.now);
	util_host_stop(&h);
	f = fmemopen(t.data, t.bytes, "rb");
	assert_int_equal(lab_rerun(f, &options, &r), 0);
	fclose(f);
	assert_int_equal(r.verdict, LAB_RERUN_EQUAL);
	assert_int_equal(d.seen, DRAWN);
	lab_rerun_free(&r);
	tape_free(&t);
}

/* The example of weir-recording(5), to the byte. */
static void as_in_the_manual(void **state)
{
	static const uint8_t example[] = {
		0x84, 0x01, 0x00,	      /* begin */
		0x87, 0x03, 0x80, 0x10, 0x08, /* insert */
		0x88, 0x00,		      /* dispatch */
		0x0a, 0xd0, 0x86, 0x03, 0x00, /* complete */
		0x1f, 0x00, 0x03,	      /* end */
	};
	static struct util_host h;
	struct tape t;
	uint32_t n;

	(void)state;
	util_host_init(&h);
	util_host_start(&h, weir_policy_at(0), NULL);
	assert_int_equal(tape_start(&t, h.w, WEIR_RECORD_RING_MIN, h.now), 0);
	n = util_insert(&h, WEIR_OP_READ, 1024, 8);
	assert_int_equal(util_dispatch(&h), n);
	h.now += 50000;
	util_complete(&h, n);
	tape_stop(&t, h.now);
	util_host_stop(&h);
	tape_expect_equal(&t);
	assert_true(t.bytes > sizeof(example));
	assert_memory_equal(t.data + t.bytes - sizeof(example), example, sizeof(example));
	tape_free(&t);
}

/* ---- a small recording with every kind of answer ---- */

static struct util_host host;

static struct weir_rq *small_bio(struct util_host *h, struct weir_group *g, uint64_t sector)
{
	struct weir_rq *bio = util_bio(h, WEIR_OP_WRITE, sector, 8);

	bio->group = g;
	return bio;
}

/* Two writes with a gap between them, which a bio closes. Returns what the three have become. */
static uint32_t small_merge(struct util_host *h, struct weir_group *g, struct weir_ctx *ctx)
{
	struct weir_rq *into, *then;
	uint32_t second = util_insert_as(h, g, ctx, WEIR_OP_WRITE, 1016, 8);
	uint32_t first = util_insert_as(h, g, ctx, WEIR_OP_WRITE, 1000, 8);

	h->now += 1000;
	assert_int_equal(weir_merge_find(h->w, small_bio(h, g, 5000), &into, h->now),
			 WEIR_MERGE_NONE);
	assert_int_equal(weir_merge_find(h->w, small_bio(h, g, 1008), &into, h->now),
			 WEIR_MERGE_BACK);
	assert_ptr_equal(into, &h->rq[first]);
	then = weir_merge_bio(h->w, into, small_bio(h, g, 1008), WEIR_MERGE_BACK, h->now);
	assert_ptr_equal(then, &h->rq[second]);
	weir_merge_rq(h->w, into, then, h->now);
	return first;
}

/* Under deadline, which offers neighbours, and lets a read overtake the writes. */
static void small_recording(struct tape *t)
{
	struct util_host *h = &host;
	struct weir_group *g;
	struct weir_ctx *ctx;
	uint32_t merged, read;

	util_host_init(h);
	h->cfg.pool = 8;
	util_host_start(h, weir_policy_find("deadline"), NULL);
	g = util_group(h, weir_root(h->w), 200);
	ctx = weir_ctx_create(h->w, g, WEIR_IOPRIO_BE, 4, h->now);
	assert_int_equal(tape_start(t, h->w, WEIR_RECORD_RING_MIN, h->now), 0);
	assert_true(weir_admit(h->w, g, WEIR_WRITE, 4096, h->now));
	merged = small_merge(h, g, ctx);
	read = util_insert(h, WEIR_OP_READ, 64, 8);
	h->now += 100;
	assert_int_equal(util_dispatch(h), read);
	assert_int_equal(weir_remove(h->w, &h->rq[read], h->now), -WEIR_EBUSY);
	weir_requeue(h->w, &h->rq[read], WEIR_REQUEUE_REISSUE, h->now);
	h->now += 50000;
	util_complete(h, read);
	assert_int_equal(util_dispatch(h), merged);
	assert_int_equal(util_dispatch(h), UTIL_NONE);
	util_complete(h, merged);
	weir_release(h->w, g, WEIR_WRITE, h->now);
	assert_int_equal(weir_tunable_set(h->w, 3, 4, h->now), 0);
	weir_ctx_exit(ctx, h->now);
	tape_stop(t, h->now);
	util_host_stop(h);
	tape_expect_equal(t);
}

static int setup(void **state)
{
	static struct tape t;

	small_recording(&t);
	*state = &t;
	return 0;
}

static int teardown(void **state)
{
	tape_free(*state);
	return 0;
}

/* ---- damage ---- */

/* Whatever happens to one byte is found, by the checksum or before, and the place is named. */
static void every_byte_counts(void **state)
{
	struct tape *t = *state;
	static const uint8_t flips[] = {0x01, 0x80, 0xff};
	struct lab_rerun_result r;
	size_t at, i;

	for (at = 0; at < t->bytes; at++) {
		for (i = 0; i < sizeof(flips); i++) {
			t->data[at] ^= flips[i];
			assert_int_equal(tape_rerun(t, &r), LAB_RERUN_BAD);
			assert_non_null(strstr(r.error, "block 0 at offset 0: "));
			lab_rerun_free(&r);
			t->data[at] ^= flips[i];
		}
	}
	tape_expect_equal(t);
}

static void every_length_counts(void **state)
{
	struct tape *t = *state;
	struct lab_rerun_result r;
	size_t whole = t->bytes;

	for (t->bytes = 0; t->bytes < whole; t->bytes++) {
		assert_int_equal(tape_rerun(t, &r), LAB_RERUN_BAD);
		assert_non_null(strstr(r.error, t->bytes ? "cut short" : "ends here"));
		lab_rerun_free(&r);
	}
	tape_expect_equal(t);
	/* Something more is no better. */
	tape_append(t, "x", 1);
	tape_expect(t, LAB_RERUN_BAD, "cut short");
}

/* Several blocks: whole ones that are missing, twice there, or exchanged. */
static void blocks_out_of_order(void **state)
{
	struct util_host *h = &host;
	struct tape t, other = {0};
	size_t first, second, n;

	(void)state;
	util_host_init(h);
	util_host_start(h, weir_policy_at(0), NULL);
	assert_int_equal(tape_start(&t, h->w, WEIR_RECORD_RING_MIN, h->now), 0);
	for (n = 0; n < 1200; n++) {
		h->now += 12345678;
		util_expect(h, util_insert(h, WEIR_OP_READ, 8 * n, 8));
		tape_pull(&t, 4096);
	}
	tape_stop(&t, h->now);
	util_host_stop(h);
	tape_expect_equal(&t);
	first = WEIR_BLOCK_HEADER_BYTES + weir_get_le32(t.data + WEIR_BLOCK_LENGTH_AT);
	second = first + WEIR_BLOCK_HEADER_BYTES +
		 weir_get_le32(t.data + first + WEIR_BLOCK_LENGTH_AT);
	assert_true(second + 100 < t.bytes);

	tape_append(&other, t.data, first);
	tape_expect(&other, LAB_RERUN_BAD, "block 1 at offset 3");
	tape_expect(&other, LAB_RERUN_BAD, "the file ends here");
	tape_append(&other, t.data + second, t.bytes - second);
	tape_expect(&other, LAB_RERUN_BAD, "says that it is block 2");
	other.bytes = first;
	tape_append(&other, t.data, t.bytes);
	tape_expect(&other, LAB_RERUN_BAD, "says that it is block 0");
	other.bytes = 0;
	tape_append(&other, t.data, t.bytes);
	tape_append(&other, t.data, first);
	tape_expect(&other, LAB_RERUN_BAD, "says that it is block 0");
	tape_free(&other);
	tape_free(&t);
}

/* ---- forged: the checksum is right, the contents are not ---- */

static void forge(void **state, size_t at, size_t bytes, const void *with, size_t with_bytes,
		  enum lab_rerun_verdict verdict, const char *what)
{
	struct tape copy = {0};
	const struct tape *t = *state;

	tape_append(&copy, t->data, t->bytes);
	tape_replace(&copy, at, bytes, with, with_bytes);
	tape_expect(&copy, verdict, what);
	tape_free(&copy);
}

#define FORGE(at, bytes, with, verdict, what) \
	forge(state, at, bytes, with, sizeof(with) - 1, verdict, what)

static void other_versions(void **state)
{
	const struct tape *t = *state;
	size_t start = tape_find(t, WEIR_REC_START, 0);
	size_t name = start;

	FORGE(start + 1, 1, "\x02", LAB_RERUN_BAD, "format version 2: this weir reads version 1");
	FORGE(start, 1, "\x7f", LAB_RERUN_BAD, "type 127: expected 1..32");
	FORGE(start, 1, "\x04", LAB_RERUN_BAD, "begin");
	while (memcmp(t->data + name,
		      "\x08"
		      "deadline\x05",
		      10))
		name++;
	FORGE(name + 1, 1, "D", LAB_RERUN_BAD, "policy Deadline: not in this weir");
	FORGE(name + 1, 1, "\n", LAB_RERUN_BAD, "byte 0a");
	FORGE(name + 9, 1, "\x04", LAB_RERUN_BAD, "deadline has 4 tunables in the recording, 5");
	FORGE(name, 9, "\x04noop", LAB_RERUN_BAD,
	      "policy noop has 5 tunables in the recording, 0 in this weir");
	FORGE(name + 10, 2, "\xff\xff\xff\xff\xff\x01", LAB_RERUN_BAD, "out of range (error -34)");
}

static void names_that_are_not(void **state)
{
	const struct tape *t = *state;
	size_t at = tape_find(t, WEIR_REC_ADMIT, 0);

	FORGE(at + 2, 1, "\x07", LAB_RERUN_BAD, "admit: group 7: there is none");
	FORGE(at + 1, 1, "\x04", LAB_RERUN_BAD, "direction and answer 4: expected 0..3");
	at = tape_find(t, WEIR_REC_RELEASE, 0);
	FORGE(at + 1, 1, "\x00", LAB_RERUN_BAD, "the group has no place to give back");
	at = tape_find(t, WEIR_REC_COMPLETE, 0);
	FORGE(at + 4, 1, "\x09", LAB_RERUN_BAD, "9 insertions back, of 3");
	at = tape_find(t, WEIR_REC_COMPLETE, 1);
	FORGE(at + 1, 1, "\x02", LAB_RERUN_BAD, "request 1: it has left already");
	at = tape_find(t, WEIR_REC_CTX_EXIT, 0);
	FORGE(at + 1, 1, "\x05", LAB_RERUN_BAD, "context 5: there is none");
	at = tape_find(t, WEIR_REC_MERGE_RQ, 0);
	FORGE(at + 2, 1, "\x00", LAB_RERUN_BAD, "these two can't be joined");
	at = tape_find(t, WEIR_REC_TUNABLE, 0);
	FORGE(at + 1, 1, "\x40", LAB_RERUN_BAD, "no such tunable");
	at = tape_find(t, WEIR_REC_INSERT, 1);
	FORGE(at, 1, "\x9f", LAB_RERUN_BAD, "calls came before");
	at = tape_find(t, WEIR_REC_GROUP, 1);
	FORGE(at + 1, 1, "\x00", LAB_RERUN_BAD, "group 0: expected a new one, from 1");
	FORGE(at + 2, 1, "\x06", LAB_RERUN_BAD, "group 6: there is none");
}

static void wrong_end(void **state)
{
	struct tape *t = *state;

	t->data[t->bytes - 1] += 1;
	FORGE(t->bytes - 1, 0, "", LAB_RERUN_BAD, "calls came before");
	t->data[t->bytes - 1] -= 1;
	FORGE(t->bytes - 3, 3, "", LAB_RERUN_BAD, "the file ends here, without the last record");
	FORGE(t->bytes, 0, "\x8c", LAB_RERUN_BAD, "goes on after the last record");
	FORGE(t->bytes - 3, 3, "\xff\xff\xff", LAB_RERUN_BAD, "type 127");
}

/* ---- other answers ---- */

static void every_answer_is_compared(void **state)
{
	const struct tape *t = *state;
	size_t at = tape_find(t, WEIR_REC_ADMIT, 0);

	FORGE(at + 1, 1, "\x01", LAB_RERUN_DIFFERS, "yes");
	/* Before it stands the end of the look-up: kind and request. */
	at = tape_find(t, WEIR_REC_MERGE_BIO, 0);
	FORGE(at - 2, 1, "\x02", LAB_RERUN_DIFFERS, "back into request 2");
	FORGE(at - 1, 1, "\x01", LAB_RERUN_DIFFERS, "back into request 2");
	FORGE(at + 4, 1, "\x00", LAB_RERUN_DIFFERS, "neighbour is request 1");
	at = tape_find(t, WEIR_REC_DISPATCH, 0);
	FORGE(at + 2, 1, "\x02", LAB_RERUN_DIFFERS, "request 3");
	FORGE(at, 1, "\x09", LAB_RERUN_DIFFERS, "request 3");
	at = tape_find(t, WEIR_REC_REMOVE, 0);
	FORGE(at + 1, 1, "\x00", LAB_RERUN_DIFFERS, "busy: it is in the device");
	at = tape_find(t, WEIR_REC_NONE, 0);
	FORGE(at + 1, 1, "\x05", LAB_RERUN_DIFFERS, "none until an insert or a completion");
	FORGE(at, 1, "\x88", LAB_RERUN_DIFFERS, "none until");
	FORGE(at, 0, "\x9d\x00\x00\x9e", LAB_RERUN_DIFFERS, "no wake");
}

/* The place of the difference is said. */
static void the_difference_is_named(void **state)
{
	struct tape *t = *state;
	size_t at = tape_find(t, WEIR_REC_DISPATCH, 0);
	struct lab_rerun_result r;

	tape_replace(t, at + 2, 1, "\x02", 1);
	assert_int_equal(tape_rerun(t, &r), LAB_RERUN_DIFFERS);
	assert_string_equal(r.call, "dispatch");
	assert_string_equal(r.expected, "request 1");
	assert_string_equal(r.got, "request 3");
	assert_int_equal(r.number, 9);
	assert_int_equal(r.nr_calls, 9);
	assert_int_equal(r.now_ns - r.start_ns, 1100);
	assert_int_equal(r.offset, at);
	assert_int_equal(r.block, 0);
	lab_rerun_free(&r);
}

/* An assertion of the core does not end the program: it is an answer. */
static void assertions_are_caught(void **state)
{
	const struct tape *t = *state;
	size_t at = tape_find(t, WEIR_REC_DISPATCH, 0);

	/* Completed instead of dispatched. */
	FORGE(at, 3, "\x0a\x64\x00", LAB_RERUN_DIFFERS, "assertion failed at core/request.c:");
	FORGE(at, 3, "\x0a\x64\x00", LAB_RERUN_DIFFERS, "rq->state == WEIR_RQ_DISPATCHED");
}

/* ---- into a file ---- */

static void a_file(void **state)
{
	char path[] = "/tmp/weir-test-XXXXXX", err[256] = "";
	int fd = mkstemp(path);
	struct util_host *h = &host;
	struct lab_recording *rec;
	struct lab_rerun_result r;
	FILE *f;
	uint32_t n;

	(void)state;
	assert_true(fd >= 0);
	util_host_init(h);
	util_host_start(h, weir_policy_at(0), NULL);
	assert_null(lab_record_open(h->w, "/nonexistent/x", h->now, err, sizeof(err)));
	assert_non_null(strstr(err, "/nonexistent/x: cannot be written: "));
	n = util_insert(h, WEIR_OP_READ, 0, 8);
	assert_null(lab_record_open(h->w, path, h->now, err, sizeof(err)));
	assert_non_null(strstr(err, "waiting or in flight"));
	util_expect(h, n);
	rec = lab_record_open(h->w, path, h->now, err, sizeof(err));
	assert_non_null(rec);
	for (n = 0; n < 1000; n++) {
		util_expect(h, util_insert(h, WEIR_OP_READ, 8 * n, 8));
		lab_record_pump(rec);
	}
	assert_int_equal(lab_record_close(rec, h->now, err, sizeof(err)), 0);
	util_host_stop(h);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(lab_rerun(f, NULL, &r), 0);
	fclose(f);
	assert_int_equal(r.verdict, LAB_RERUN_EQUAL);
	assert_int_equal(r.calls[WEIR_REC_INSERT], 1000);
	lab_rerun_free(&r);
	remove(path);
}

int main(void)
{
#define SMALL(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_fields_come_back),
		cmocka_unit_test(as_in_the_manual),
		SMALL(every_byte_counts),
		SMALL(every_length_counts),
		cmocka_unit_test(blocks_out_of_order),
		SMALL(other_versions),
		SMALL(names_that_are_not),
		SMALL(wrong_end),
		SMALL(every_answer_is_compared),
		SMALL(the_difference_is_named),
		SMALL(assertions_are_caught),
		cmocka_unit_test(a_file),
	};

	return cmocka_run_group_tests_name("rerun", tests, NULL, NULL);
}
