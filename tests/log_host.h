/* SPDX-License-Identifier: GPL-2.0-only */
/* A block layer over a logging device, and bios that know when they completed. */
#ifndef TESTS_LOG_HOST_H
#define TESTS_LOG_HOST_H

#include "tests/log_device.h"

enum { LATENCY_NS = 1000 };

struct fixture {
	struct lab_engine *engine;
	struct log_device device;
	struct lab_host_config cfg;
	struct lab_host *host;
	struct weir_group *group[2];
	unsigned int nr_done;
};

struct io {
	struct lab_bio bio;
	struct fixture *f;
	uint64_t done_ns; /* 0: not yet; 1: at 0 */
	unsigned int order;
};

/* Between the two calls the test may change f->cfg. */
static inline void open_host(struct fixture *f, uint32_t depth, uint64_t flush_ns)
{
	memset(f, 0, sizeof(*f));
	f->engine = lab_engine_new();
	log_device_init(&f->device, f->engine, depth, LATENCY_NS, flush_ns);
	lab_host_config_init(&f->cfg, &f->device.dev.info);
}

static inline void start_host(struct fixture *f)
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

static inline void close_host(struct fixture *f)
{
	assert_int_equal(lab_host_outstanding(f->host), 0);
	lab_host_free(f->host);
	lab_engine_free(f->engine);
}

static void io_done(struct lab_bio *bio, uint64_t now_ns)
{
	struct io *io = weir_container_of(bio, struct io, bio);

	assert_int_equal(io->done_ns, 0);
	io->done_ns = now_ns ? now_ns : 1;
	io->order = io->f->nr_done++;
}

static inline void submit_as(struct fixture *f, struct weir_group *group, struct io *io,
			     enum weir_op op, uint64_t sector, uint32_t nr_sectors, uint16_t flags)
{
	memset(io, 0, sizeof(*io));
	io->f = f;
	io->bio.op = op;
	io->bio.sector = sector;
	io->bio.nr_sectors = nr_sectors;
	io->bio.flags = flags;
	io->bio.group = group;
	io->bio.done = io_done;
	lab_host_submit(f->host, &io->bio, lab_now(f->engine));
}

static inline void submit(struct fixture *f, struct io *io, enum weir_op op, uint64_t sector,
			  uint32_t nr_sectors, uint16_t flags)
{
	submit_as(f, f->group[0], io, op, sector, nr_sectors, flags);
}

static inline void run(struct fixture *f)
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

#endif
