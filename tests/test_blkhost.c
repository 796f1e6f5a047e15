// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lab's block layer over a device that writes down what it is given: splits, merges, plugs,
 * admission, flush sequences, the queue lock. Times are exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/list.h"
#include "lab/host.h"

enum {
	LATENCY_NS = 1000,
	LOG_MAX = 256,
};

struct logged {
	enum weir_op op;
	uint16_t flags;
	uint64_t sector;
	uint32_t nr_sectors;
	uint64_t at_ns;
};

struct log_device {
	struct lab_device dev;
	struct logged log[LOG_MAX];
	unsigned int nr;
};

struct fixture {
	struct lab_engine *engine;
	struct log_device device;
	struct lab_host_config cfg;
	struct lab_host *host;
	struct weir_group *group[2];
};

/* ---- the device ---- */

static void log_done(struct lab_event *ev, uint64_t now_ns)
{
	struct lab_cmd *cmd = weir_container_of(ev, struct lab_cmd, ev);

	((struct lab_device *)(uintptr_t)cmd->priv[0])->in_flight--;
	cmd->done(cmd, now_ns);
}

static void log_submit(struct lab_device *d, struct lab_cmd *cmd, uint64_t now_ns)
{
	struct log_device *l = weir_container_of(d, struct log_device, dev);

	assert_true(l->nr < LOG_MAX && d->in_flight <= d->info.queue_depth);
	l->log[l->nr++] = (struct logged){cmd->op, cmd->flags, cmd->sector, cmd->nr_sectors,
					  now_ns};
	cmd->priv[0] = (uintptr_t)d;
	lab_event_init(&cmd->ev, log_done);
	lab_event_at(d->engine, &cmd->ev, now_ns + LATENCY_NS);
}

/* ---- fixture ---- */

static void open_host(struct fixture *f, uint32_t depth, uint64_t flush_ns)
{
	memset(f, 0, sizeof(*f));
	f->engine = lab_engine_new();
	f->device.dev = (struct lab_device){
		.info = {.sectors = 1 << 20,
			 .queue_depth = depth,
			 .max_sectors = 256,
			 .max_segments = 128,
			 .profile = {.rbps = 1000000000,
				     .rseqiops = 100000,
				     .rrandiops = 100000,
				     .wbps = 1000000000,
				     .wseqiops = 100000,
				     .wrandiops = 100000,
				     .flush_ns = flush_ns}},
		.engine = f->engine,
		.submit = log_submit,
	};
	lab_host_config_init(&f->cfg, &f->device.dev.info);
}

static void start_host(struct fixture *f)
{
	struct weir_group_attr attr;
	char err[256];
	int code, i;

	f->host = lab_host_new(f->engine, &f->device.dev, &f->cfg, weir_policy_find("noop"), NULL,
			       err, sizeof(err));
	assert_non_null(f->host);
	weir_group_attr_init(&attr);
	for (i = 0; i < 2; i++) {
		f->group[i] = weir_group_create(lab_host_weir(f->host),
						weir_root(lab_host_weir(f->host)), &attr, 0, &code);
		assert_non_null(f->group[i]);
	}
}

static void close_host(struct fixture *f)
{
	assert_int_equal(lab_host_outstanding(f->host), 0);
	lab_host_free(f->host);
	lab_engine_free(f->engine);
}

struct io {
	struct lab_bio bio;
	uint64_t done_ns; /* 0: not yet */
	unsigned int order;
};

static unsigned int done_count;

static void io_done(struct lab_bio *bio, uint64_t now_ns)
{
	struct io *io = weir_container_of(bio, struct io, bio);

	assert_int_equal(io->done_ns, 0);
	io->done_ns = now_ns ? now_ns : 1;
	io->order = done_count++;
}

static void submit(struct fixture *f, struct io *io, enum weir_op op, uint64_t sector,
		   uint32_t nr_sectors, uint16_t flags)
{
	memset(io, 0, sizeof(*io));
	io->bio.op = op;
	io->bio.sector = sector;
	io->bio.nr_sectors = nr_sectors;
	io->bio.flags = flags;
	io->bio.group = f->group[0];
	io->bio.done = io_done;
	lab_host_submit(f->host, &io->bio, lab_now(f->engine));
}

static void run(struct fixture *f)
{
	lab_engine_run(f->engine, LAB_NEVER);
}

#define check_log(f, i, o, s, n)                                    \
	do {                                                        \
		assert_true((i) < (f)->device.nr);                  \
		assert_int_equal((f)->device.log[i].op, o);         \
		assert_int_equal((f)->device.log[i].sector, s);     \
		assert_int_equal((f)->device.log[i].nr_sectors, n); \
	} while (0)

/* ---- way through ---- */

static void one_request(void **state)
{
	struct fixture f;
	struct io io;

	(void)state;
	open_host(&f, 4, 0);
	start_host(&f);
	submit(&f, &io, WEIR_OP_READ, 800, 8, 0);
	assert_int_equal(io.done_ns, 0);
	assert_int_equal(lab_host_outstanding(f.host), 1);
	run(&f);
	assert_int_equal(io.done_ns, LATENCY_NS);
	assert_int_equal(f.device.nr, 1);
	check_log(&f, 0, WEIR_OP_READ, 800, 8);
	close_host(&f);
}

static void depth_is_kept_and_filled_at_once(void **state)
{
	struct fixture f;
	struct io io[10];
	unsigned int i;

	(void)state;
	open_host(&f, 3, 0);
	start_host(&f);
	for (i = 0; i < 10; i++)
		submit(&f, &io[i], WEIR_OP_READ, i * 1000, 8, 0);
	assert_int_equal(f.device.nr, 3);
	run(&f);
	assert_int_equal(f.device.nr, 10);
	for (i = 0; i < 10; i++)
		assert_int_equal(io[i].done_ns, (i / 3 + 1) * LATENCY_NS);
	close_host(&f);
}

static void large_bios_are_split(void **state)
{
	struct fixture f;
	struct lab_host_stats stats;
	struct io io;

	(void)state;
	open_host(&f, 8, 0);
	f.cfg.core.merge = false;
	start_host(&f);
	submit(&f, &io, WEIR_OP_WRITE, 100, 256 * 2 + 10, 0);
	run(&f);
	assert_int_equal(f.device.nr, 3);
	check_log(&f, 0, WEIR_OP_WRITE, 100, 256);
	check_log(&f, 1, WEIR_OP_WRITE, 356, 256);
	check_log(&f, 2, WEIR_OP_WRITE, 612, 10);
	assert_int_equal(io.done_ns, LATENCY_NS);
	lab_host_read_stats(f.host, &stats);
	assert_int_equal(stats.splits, 2);
	assert_int_equal(stats.commands, 3);
	close_host(&f);
}

/* 16 segments of 4 KiB are less than the 256 sectors that a command may have. */
static void segments_bound_a_command(void **state)
{
	struct fixture f;
	struct io io;

	(void)state;
	open_host(&f, 8, 0);
	f.device.dev.info.max_segments = 16;
	lab_host_config_init(&f.cfg, &f.device.dev.info);
	assert_int_equal(f.cfg.core.max_sectors, 128);
	start_host(&f);
	submit(&f, &io, WEIR_OP_READ, 0, 256, 0);
	run(&f);
	assert_int_equal(f.device.nr, 2);
	check_log(&f, 1, WEIR_OP_READ, 128, 128);
	close_host(&f);
}

/* ---- merging ---- */

static void waiting_requests_grow(void **state)
{
	struct fixture f;
	struct lab_host_stats stats;
	struct weir_group_stats group;
	struct io busy, io[4];
	unsigned int i;

	(void)state;
	open_host(&f, 1, 0);
	start_host(&f);
	submit(&f, &busy, WEIR_OP_READ, 500000, 8, 0);
	submit(&f, &io[0], WEIR_OP_READ, 1000, 8, 0);
	submit(&f, &io[1], WEIR_OP_READ, 1008, 8, 0); /* back */
	submit(&f, &io[2], WEIR_OP_READ, 1024, 8, 0); /* a gap */
	submit(&f, &io[3], WEIR_OP_READ, 1016, 8, 0); /* fills it: back of the first */
	run(&f);
	lab_host_read_stats(f.host, &stats);
	assert_int_equal(stats.bio_merges, 2);
	weir_group_read_stats(f.group[0], lab_now(f.engine), &group);
	assert_int_equal(group.dir[WEIR_READ].inserted, 5);
	assert_int_equal(group.dir[WEIR_READ].completed + group.dir[WEIR_READ].merged, 5);
	assert_int_equal(group.dir[WEIR_READ].bytes, 5 * 4096);
	assert_int_equal(stats.commands, group.dir[WEIR_READ].completed);
	check_log(&f, 1, WEIR_OP_READ, 1000, stats.rq_merges ? 32 : 24);
	for (i = 0; i < 4; i++)
		assert_true(io[i].done_ns >= 2 * LATENCY_NS);
	close_host(&f);
}

static void merging_has_limits(void **state)
{
	struct fixture f;
	struct io busy, io[3];

	(void)state;
	open_host(&f, 1, 0);
	start_host(&f);
	submit(&f, &busy, WEIR_OP_READ, 500000, 8, 0);
	submit(&f, &io[0], WEIR_OP_READ, 0, 250, 0);
	submit(&f, &io[1], WEIR_OP_READ, 250, 8, 0); /* larger than a command */
	memset(&io[2], 0, sizeof(io[2]));
	io[2].bio = io[0].bio;
	io[2].bio.sector = 258;
	io[2].bio.nr_sectors = 8;
	io[2].bio.group = f.group[1]; /* of another group */
	lab_host_submit(f.host, &io[2].bio, 0);
	run(&f);
	assert_int_equal(f.device.nr, 4);
	close_host(&f);
}

static void merging_can_be_switched_off(void **state)
{
	struct fixture f;
	struct io busy, io[2];

	(void)state;
	open_host(&f, 1, 0);
	f.cfg.core.merge = false;
	start_host(&f);
	submit(&f, &busy, WEIR_OP_READ, 500000, 8, 0);
	submit(&f, &io[0], WEIR_OP_READ, 0, 8, 0);
	submit(&f, &io[1], WEIR_OP_READ, 8, 8, 0);
	lab_host_plug(f.host);
	lab_host_unplug(f.host, 0);
	run(&f);
	assert_int_equal(f.device.nr, 3);
	close_host(&f);
}

static void a_plug_gathers_and_merges(void **state)
{
	struct fixture f;
	struct lab_host_stats stats;
	struct weir_group_stats group;
	struct io io[5];
	unsigned int i;

	(void)state;
	open_host(&f, 8, 0);
	start_host(&f);
	lab_host_plug(f.host);
	lab_host_plug(f.host);
	submit(&f, &io[0], WEIR_OP_WRITE, 16, 8, 0);
	submit(&f, &io[1], WEIR_OP_WRITE, 24, 8, 0);  /* behind it */
	submit(&f, &io[2], WEIR_OP_WRITE, 8, 8, 0);   /* before it */
	submit(&f, &io[3], WEIR_OP_WRITE, 400, 8, 0); /* elsewhere */
	submit(&f, &io[4], WEIR_OP_READ, 32, 8, 0);   /* another direction */
	lab_host_unplug(f.host, 0);
	assert_int_equal(f.device.nr, 0); /* the outer one still holds */
	lab_host_unplug(f.host, 0);
	assert_int_equal(f.device.nr, 3);
	check_log(&f, 0, WEIR_OP_WRITE, 8, 24);
	check_log(&f, 1, WEIR_OP_WRITE, 400, 8);
	check_log(&f, 2, WEIR_OP_READ, 32, 8);
	run(&f);
	lab_host_read_stats(f.host, &stats);
	assert_int_equal(stats.plug_merges, 2);
	weir_group_read_stats(f.group[0], lab_now(f.engine), &group);
	assert_int_equal(group.dir[WEIR_WRITE].inserted, 2);
	for (i = 0; i < 5; i++)
		assert_int_equal(io[i].done_ns, LATENCY_NS);
	close_host(&f);
}

static void a_full_plug_flushes_itself(void **state)
{
	struct fixture f;
	struct io io[5];
	unsigned int i;

	(void)state;
	open_host(&f, 8, 0);
	f.cfg.plug = 4;
	start_host(&f);
	lab_host_plug(f.host);
	for (i = 0; i < 5; i++)
		submit(&f, &io[i], WEIR_OP_READ, i * 1000, 8, 0);
	assert_int_equal(f.device.nr, 4);
	lab_host_unplug(f.host, 0);
	assert_int_equal(f.device.nr, 5);
	run(&f);
	close_host(&f);
}

/* ---- admission ---- */

static void who_has_no_place_waits_in_order(void **state)
{
	struct fixture f;
	struct lab_host_stats stats;
	struct io io[12];
	unsigned int i;

	(void)state;
	open_host(&f, 8, 0);
	f.cfg.core.pool = 4;
	start_host(&f);
	done_count = 0;
	for (i = 0; i < 12; i++)
		submit(&f, &io[i], WEIR_OP_READ, i * 1000, 8, 0);
	assert_int_equal(f.device.nr, 4);
	run(&f);
	assert_int_equal(f.device.nr, 12);
	for (i = 0; i < 12; i++) {
		assert_int_equal(io[i].order, i);
		assert_int_equal(f.device.log[i].sector, i * 1000);
	}
	lab_host_read_stats(f.host, &stats);
	assert_int_equal(stats.admit_waits, 8);
	close_host(&f);
}

static struct lab_event uncongested;
static uint64_t uncongested_ns;

static void on_uncongested(struct lab_event *ev, uint64_t now_ns)
{
	(void)ev;
	uncongested_ns = now_ns;
}

static void the_end_of_congestion_is_told(void **state)
{
	struct fixture f;
	struct io io[64];
	unsigned int i;

	(void)state;
	open_host(&f, 1, 0);
	f.cfg.core.pool = 64;
	start_host(&f);
	lab_event_init(&uncongested, on_uncongested);
	uncongested_ns = UINT64_MAX;
	/* Not congested: at once, but from an event. */
	lab_host_wait_uncongested(f.host, f.group[0], WEIR_WRITE, &uncongested);
	assert_int_equal(uncongested_ns, UINT64_MAX);
	run(&f);
	assert_int_equal(uncongested_ns, 0);
	for (i = 0; i < 64; i++)
		submit(&f, &io[i], WEIR_OP_WRITE, i * 1000, 8, 0);
	assert_true(lab_host_congested(f.host, f.group[0], WEIR_WRITE));
	uncongested_ns = UINT64_MAX;
	lab_host_wait_uncongested(f.host, f.group[0], WEIR_WRITE, &uncongested);
	run(&f);
	/* Writes may have 48 of the pool; hysteresis ends below 48 - 6 - 3 - 1 = 38: after some. */
	assert_false(lab_host_congested(f.host, f.group[0], WEIR_WRITE));
	assert_true(uncongested_ns > 10 * LATENCY_NS && uncongested_ns < 40 * LATENCY_NS);
	close_host(&f);
}

/* ---- flushes ---- */

static void a_preflush_goes_before_the_data(void **state)
{
	struct fixture f;
	struct io io;

	(void)state;
	open_host(&f, 8, 1000);
	start_host(&f);
	submit(&f, &io, WEIR_OP_WRITE, 0, 8, WEIR_RQ_PREFLUSH | WEIR_RQ_FUA | WEIR_RQ_SYNC);
	assert_int_equal(f.device.nr, 1);
	run(&f);
	assert_int_equal(f.device.nr, 2);
	check_log(&f, 0, WEIR_OP_FLUSH, 0, 0);
	check_log(&f, 1, WEIR_OP_WRITE, 0, 8);
	assert_int_equal(f.device.log[1].at_ns, LATENCY_NS);
	assert_true(f.device.log[1].flags & WEIR_RQ_FUA);
	assert_false(f.device.log[1].flags & WEIR_RQ_PREFLUSH);
	assert_int_equal(io.done_ns, 2 * LATENCY_NS);
	close_host(&f);
}

static void without_a_write_cache_there_is_nothing_to_flush(void **state)
{
	struct fixture f;
	struct io flush, data;

	(void)state;
	open_host(&f, 8, 0);
	start_host(&f);
	submit(&f, &flush, WEIR_OP_FLUSH, 0, 0, 0);
	assert_int_equal(flush.done_ns, 0); /* not from within */
	submit(&f, &data, WEIR_OP_WRITE, 0, 8, WEIR_RQ_PREFLUSH | WEIR_RQ_FUA);
	run(&f);
	assert_int_equal(flush.done_ns, 1); /* at time 0 */
	assert_int_equal(f.device.nr, 1);
	assert_int_equal(f.device.log[0].flags & (WEIR_RQ_FUA | WEIR_RQ_PREFLUSH), 0);
	close_host(&f);
}

static void flushes_share_what_has_not_begun(void **state)
{
	struct fixture f;
	struct lab_host_stats stats;
	struct weir_group_stats group;
	struct io io[4];

	(void)state;
	open_host(&f, 8, 1000);
	start_host(&f);
	submit(&f, &io[0], WEIR_OP_FLUSH, 0, 0, 0);
	/* The device has begun: these two need, and share, the next one. */
	submit(&f, &io[1], WEIR_OP_FLUSH, 0, 0, 0);
	submit(&f, &io[2], WEIR_OP_FLUSH, 0, 0, 0);
	/* Another group has its own. */
	memset(&io[3], 0, sizeof(io[3]));
	io[3].bio = io[0].bio;
	io[3].bio.group = f.group[1];
	lab_host_submit(f.host, &io[3].bio, 0);
	run(&f);
	assert_int_equal(io[0].done_ns, LATENCY_NS);
	assert_int_equal(io[1].done_ns, 2 * LATENCY_NS);
	assert_int_equal(io[2].done_ns, 2 * LATENCY_NS);
	assert_int_equal(io[3].done_ns, LATENCY_NS);
	assert_int_equal(f.device.nr, 3);
	lab_host_read_stats(f.host, &stats);
	assert_int_equal(stats.flushes, 3);
	assert_int_equal(stats.flush_joins, 2);
	weir_group_read_stats(f.group[0], lab_now(f.engine), &group);
	assert_int_equal(group.flushes, 2);
	close_host(&f);
}

static void a_flush_past_a_full_pool(void **state)
{
	struct fixture f;
	struct io io[8], flush;
	unsigned int i;

	(void)state;
	open_host(&f, 16, 1000);
	f.cfg.core.pool = 2;
	start_host(&f);
	for (i = 0; i < 8; i++)
		submit(&f, &io[i], WEIR_OP_WRITE, i * 1000, 8, 0);
	submit(&f, &flush, WEIR_OP_FLUSH, 0, 0, 0);
	run(&f);
	assert_int_equal(flush.done_ns, LATENCY_NS);
	close_host(&f);
}

/* ---- the queue lock ---- */

static void calls_take_turns_at_the_lock(void **state)
{
	struct fixture f;
	struct io io[2];

	(void)state;
	open_host(&f, 8, 0);
	f.cfg.host_ns = 10;
	f.cfg.core.merge = false;
	start_host(&f);
	submit(&f, &io[0], WEIR_OP_READ, 0, 8, 0);
	submit(&f, &io[1], WEIR_OP_READ, 1000, 8, 0);
	assert_int_equal(f.device.nr, 0);
	run(&f);
	/*
	 * insert 0 until 10, insert 1 until 20, dispatch of 0 until 30 and, queued behind it, of 1
	 * until 40. A completion holds the lock for 10 more.
	 */
	assert_int_equal(f.device.log[0].at_ns, 30);
	assert_int_equal(f.device.log[1].at_ns, 40);
	assert_int_equal(io[0].done_ns, 30 + LATENCY_NS + 10);
	assert_int_equal(io[1].done_ns, 40 + LATENCY_NS + 10);
	close_host(&f);
}

/* 100 commands of a saturated lock: three calls of 500 ns each bound the rate, not the device. */
static void the_lock_bounds_the_rate(void **state)
{
	struct fixture f;
	struct io io[100];
	uint64_t last_ns = 0;
	unsigned int i;

	(void)state;
	open_host(&f, 64, 0);
	f.cfg.host_ns = 500;
	f.cfg.core.merge = false;
	start_host(&f);
	for (i = 0; i < 100; i++)
		submit(&f, &io[i], WEIR_OP_READ, i * 1000, 8, 0);
	run(&f);
	for (i = 0; i < 100; i++)
		last_ns = io[i].done_ns > last_ns ? io[i].done_ns : last_ns;
	assert_in_range(last_ns, 100 * 3 * 500, 100 * 3 * 500 + 2 * LATENCY_NS);
	close_host(&f);
}

static void configuration_is_checked(void **state)
{
	struct fixture f;
	char err[256];

	(void)state;
	open_host(&f, 8, 0);
	f.cfg.plug = 0;
	assert_null(lab_host_new(f.engine, &f.device.dev, &f.cfg, weir_policy_find("noop"), NULL,
				 err, sizeof(err)));
	assert_string_equal(err, "a plug holds 1 to 128 requests");
	f.cfg.plug = 16;
	f.cfg.core.nr_requests = 0;
	assert_null(lab_host_new(f.engine, &f.device.dev, &f.cfg, weir_policy_find("noop"), NULL,
				 err, sizeof(err)));
	assert_string_equal(err, "settings of the block layer are out of range");
	lab_engine_free(f.engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_request),
		cmocka_unit_test(depth_is_kept_and_filled_at_once),
		cmocka_unit_test(large_bios_are_split),
		cmocka_unit_test(segments_bound_a_command),
		cmocka_unit_test(waiting_requests_grow),
		cmocka_unit_test(merging_has_limits),
		cmocka_unit_test(merging_can_be_switched_off),
		cmocka_unit_test(a_plug_gathers_and_merges),
		cmocka_unit_test(a_full_plug_flushes_itself),
		cmocka_unit_test(who_has_no_place_waits_in_order),
		cmocka_unit_test(the_end_of_congestion_is_told),
		cmocka_unit_test(a_preflush_goes_before_the_data),
		cmocka_unit_test(without_a_write_cache_there_is_nothing_to_flush),
		cmocka_unit_test(flushes_share_what_has_not_begun),
		cmocka_unit_test(a_flush_past_a_full_pool),
		cmocka_unit_test(calls_take_turns_at_the_lock),
		cmocka_unit_test(the_lock_bounds_the_rate),
		cmocka_unit_test(configuration_is_checked),
	};

	return cmocka_run_group_tests_name("blkhost", tests, NULL, NULL);
}
