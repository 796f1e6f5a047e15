// SPDX-License-Identifier: GPL-2.0-only
/* A host for tests: see util_host.h. */
#include "tests/util_host.h"

void *util_alloc(void *priv, size_t bytes)
{
	struct util_memory *m = priv;
	void *p;

	if (++m->calls == m->fail_at)
		return NULL;
	p = calloc(1, bytes);
	assert_non_null(p);
	m->bytes += bytes;
	return p;
}

void util_free(void *priv, void *p, size_t bytes)
{
	struct util_memory *m = priv;

	assert_true(m->bytes >= bytes);
	m->bytes -= bytes;
	free(p);
}

static void *host_alloc(void *priv, size_t bytes)
{
	struct util_host *h = priv;

	return util_alloc(&h->memory, bytes);
}

static void host_free(void *priv, void *p, size_t bytes)
{
	struct util_host *h = priv;

	util_free(&h->memory, p, bytes);
}

static void host_wake(void *priv, struct weir_group *g, enum weir_dir dir)
{
	struct util_host *h = priv;

	(void)dir;
	h->nr_wakes++;
	h->last_woken = g;
}

static void host_note(void *priv, const char *text)
{
	struct util_host *h = priv;

	h->nr_notes++;
	snprintf(h->last_note, sizeof(h->last_note), "%s", text);
}

void util_config(struct weir_config *cfg)
{
	weir_config_init(cfg);
	cfg->profile = (struct weir_profile){
		.rbps = 1000000000,
		.wbps = 1000000000,
		.rseqiops = 100000,
		.rrandiops = 100000,
		.wseqiops = 100000,
		.wrandiops = 100000,
		.latency_ns = 100000,
		.knee_ns = 1000000,
	};
}

void util_host_init(struct util_host *h)
{
	memset(h, 0, sizeof(*h));
	util_config(&h->cfg);
	h->now = 1000000000;
}

void util_host_start(struct util_host *h, const struct weir_policy *policy, const uint64_t *values)
{
	int err = 0;

	h->host = (struct weir_host){
		.alloc = host_alloc,
		.free = host_free,
		.wake = host_wake,
		.note = host_note,
		.priv = h,
	};
	h->w = weir_create(&h->cfg, &h->host, policy, values, h->now, &err);
	if (!h->w)
		fail_msg("weir_create: error %d", err);
}

void util_host_stop(struct util_host *h)
{
	uint32_t n;

	weir_set_drain(h->w, true, h->now);
	while (weir_dispatch(h->w, h->now, NULL))
		;
	assert_int_equal(weir_nr_waiting(h->w), 0);
	for (n = 0; n < h->nr_rqs; n++)
		if (h->rq[n].state == WEIR_RQ_DISPATCHED)
			weir_complete(h->w, &h->rq[n], h->now);
	assert_int_equal(weir_nr_in_flight(h->w), 0);
	weir_destroy(h->w);
	assert_int_equal(h->memory.bytes, 0);
}

void util_defaults(const struct weir_policy *policy, uint64_t values[WEIR_TUNABLES_MAX])
{
	const struct weir_tunable *t = weir_policy_info(policy)->tunables;
	unsigned int n;

	memset(values, 0, WEIR_TUNABLES_MAX * sizeof(values[0]));
	for (n = 0; t[n].name; n++)
		values[n] = t[n].def;
}

void util_tune(const struct weir_policy *policy, uint64_t values[WEIR_TUNABLES_MAX],
	       const char *name, uint64_t value)
{
	int n = weir_tunable_find(policy, name);

	assert_true(n >= 0);
	values[n] = value;
}

void util_set_tunable(struct util_host *h, const char *name, uint64_t value)
{
	int n = weir_tunable_find(weir_current_policy(h->w), name);

	assert_true(n >= 0);
	assert_int_equal(weir_tunable_set(h->w, (unsigned int)n, value, h->now), 0);
}

struct weir_rq *util_bio(struct util_host *h, enum weir_op op, uint64_t sector, uint32_t nr_sectors)
{
	struct weir_rq *rq = &h->rq[h->nr_rqs];

	assert_true(h->nr_rqs < UTIL_RQS);
	h->nr_rqs++;
	weir_rq_init(rq, op, sector, nr_sectors, weir_root(h->w), NULL);
	return rq;
}

uint32_t util_insert_as(struct util_host *h, struct weir_group *g, struct weir_ctx *ctx,
			enum weir_op op, uint64_t sector, uint32_t nr_sectors)
{
	struct weir_rq *rq = util_bio(h, op, sector, nr_sectors);

	rq->group = g;
	rq->ctx = ctx;
	weir_insert(h->w, rq, WEIR_TAIL, h->now);
	return h->nr_rqs - 1;
}

uint32_t util_insert(struct util_host *h, enum weir_op op, uint64_t sector, uint32_t nr_sectors)
{
	return util_insert_as(h, weir_root(h->w), NULL, op, sector, nr_sectors);
}

uint32_t util_dispatch(struct util_host *h)
{
	struct weir_rq *rq = weir_dispatch(h->w, h->now, NULL);

	return rq ? (uint32_t)(rq - h->rq) : UTIL_NONE;
}

void util_complete(struct util_host *h, uint32_t index)
{
	weir_complete(h->w, &h->rq[index], h->now);
}

void util_expect_at(struct util_host *h, uint32_t index, const char *file, int line)
{
	uint32_t got = util_dispatch(h);

	if (got != index) {
		fprintf(stderr, "%s:%d: request %d was dispatched, expected %d\n", file, line,
			(int)got, (int)index);
		fail();
	}
	if (got != UTIL_NONE)
		util_complete(h, got);
}

uint32_t util_merge(struct util_host *h, enum weir_op op, uint64_t sector, uint32_t nr_sectors,
		    enum weir_merge *kind)
{
	struct weir_rq *bio = util_bio(h, op, sector, nr_sectors), *into, *neighbour;

	*kind = weir_merge_find(h->w, bio, &into, h->now);
	if (*kind == WEIR_MERGE_NONE) {
		assert_null(into);
		return UTIL_NONE;
	}
	neighbour = weir_merge_bio(h->w, into, bio, *kind, h->now);
	if (neighbour && *kind == WEIR_MERGE_BACK)
		weir_merge_rq(h->w, into, neighbour, h->now);
	else if (neighbour)
		weir_merge_rq(h->w, neighbour, into, h->now);
	return (uint32_t)((neighbour && *kind == WEIR_MERGE_FRONT ? neighbour : into) - h->rq);
}

struct weir_group *util_group(struct util_host *h, struct weir_group *parent, uint32_t weight)
{
	struct weir_group_attr attr;
	struct weir_group *g;
	int err = 0;

	weir_group_attr_init(&attr);
	attr.weight = weight;
	g = weir_group_create(h->w, parent, &attr, h->now, &err);
	if (!g)
		fail_msg("weir_group_create: error %d", err);
	return g;
}
