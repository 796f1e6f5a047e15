/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One worker over a device that takes 100 us for everything and writes down what comes. The job is
 * given as fio text behind "[job] filename=/dev/x direct=1 size=16m".
 */
#ifndef TESTS_ONE_WORKER_H
#define TESTS_ONE_WORKER_H

#include <stdio.h>

#include "lab/worker.h"
#include "tests/log_device.h"

#define US UINT64_C(1000)
#define MS (1000 * US)

struct one_worker {
	struct lab_engine *engine;
	struct log_device device;
	struct lab_host *host;
	struct lab_jobs *jobs;
	struct lab_worker_env env;
	struct lab_worker *worker;
	bool ended, idle;
	uint64_t ended_ns, idle_ns;
};

static struct one_worker f;

static inline void on_ended(void *priv, uint64_t now_ns)
{
	(void)priv;
	assert_false(f.ended);
	f.ended = true;
	f.ended_ns = now_ns;
}

static inline void on_idle(void *priv, uint64_t now_ns)
{
	(void)priv;
	assert_true(f.ended && !f.idle);
	f.idle = true;
	f.idle_ns = now_ns;
}

static inline void open_job(const char *options)
{
	struct lab_host_config cfg;
	struct lab_worker_place place = {.nr_files = 1};
	char text[1024], err[256] = "";
	const char *wrong;
	int bytes;

	memset(&f, 0, sizeof(f));
	f.engine = lab_engine_new();
	log_device_init(&f.device, f.engine, 256, 100 * US, 1000);
	lab_host_config_init(&cfg, &f.device.dev.info);
	cfg.core.merge = false;
	f.host = lab_host_new(f.engine, &f.device.dev, &cfg, weir_policy_find("noop"), NULL, err,
			      sizeof(err));
	assert_non_null(f.host);
	bytes = snprintf(text, sizeof(text), "[job]\nfilename=/dev/x\ndirect=1\nsize=16m\n%s",
			 options);
	f.jobs = lab_jobs_parse(text, (size_t)bytes, "job", NULL, err, sizeof(err));
	if (!f.jobs)
		fail_msg("%s", err);
	place.bytes = f.jobs->job[0]->size;
	place.start = f.jobs->job[0]->offset;
	f.env = (struct lab_worker_env){
		.engine = f.engine, .host = f.host, .seed = 1, .ended = on_ended, .idle = on_idle};
	f.worker = lab_worker_new(&f.env, f.jobs->job[0], &place, weir_root(lab_host_weir(f.host)),
				  0, &wrong);
	if (!f.worker)
		fail_msg("%s", wrong);
}

static inline void run_job(void)
{
	lab_worker_start(f.worker, 0);
	lab_engine_run(f.engine, LAB_NEVER);
	assert_true(f.ended && f.idle);
}

static inline void close_job(void)
{
	lab_worker_free(f.worker);
	lab_jobs_free(f.jobs);
	lab_host_free(f.host);
	lab_engine_free(f.engine);
}

static inline const struct lab_meter *reads(void)
{
	return f.worker->meter[LAB_DIR_READ];
}

static inline const struct lab_meter *writes(void)
{
	return f.worker->meter[LAB_DIR_WRITE];
}

#endif
