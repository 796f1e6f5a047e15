// SPDX-License-Identifier: GPL-2.0-only
/*
 * libweir in a program of your own: two groups of weights 200 and 300 share a toy queue that serves
 * one request each 20 us and takes four at once. Prints what each got.
 *
 *	cc embed.c $(pkg-config --cflags --libs weir) -o embed
 */
#include <stdio.h>
#include <stdlib.h>

#include <weir/weir.h>

#define DEPTH 4
#define QUEUED 32
#define SERVICE_NS 20000
#define TOTAL 50000

static void *host_alloc(void *priv, size_t bytes)
{
	(void)priv;
	return calloc(1, bytes);
}

static void host_free(void *priv, void *p, size_t bytes)
{
	(void)priv;
	(void)bytes;
	free(p);
}

static struct weir_group *add_group(struct weir *w, uint32_t weight)
{
	struct weir_group_attr attr;
	struct weir_group *g;

	weir_group_attr_init(&attr);
	attr.weight = weight;
	g = weir_group_create(w, weir_root(w), &attr, 0, NULL);
	if (!g)
		exit(1);
	return g;
}

int main(void)
{
	static struct weir_rq rq[2][QUEUED];
	struct weir_host host = {.alloc = host_alloc, .free = host_free};
	struct weir_rq *flying[DEPTH], *r;
	unsigned int served[2] = {0, 0}, in_flight = 0, oldest = 0, i;
	struct weir_group *group[2];
	struct weir_config cfg;
	uint64_t now = 0;
	struct weir *w;

	/* What this device can do; the policy prices requests in device time by it. */
	weir_config_init(&cfg);
	cfg.profile.rrandiops = cfg.profile.rseqiops = 1000000000 / SERVICE_NS;
	w = weir_create(&cfg, &host, weir_policy_find("weir"), NULL, now, NULL);
	if (!w)
		return 1;
	group[0] = add_group(w, 200);
	group[1] = add_group(w, 300);
	for (i = 0; i < 2 * QUEUED; i++) {
		r = &rq[i % 2][i / 2];
		weir_rq_init(r, WEIR_OP_READ, i * 999983ULL * 8, 8, group[i % 2], NULL);
		weir_insert(w, r, WEIR_TAIL, now);
	}

	while (served[0] + served[1] < TOTAL) {
		while (in_flight < DEPTH && (r = weir_dispatch(w, now, NULL)))
			flying[(oldest + in_flight++) % DEPTH] = r;
		now += SERVICE_NS;
		if (!in_flight)
			continue; /* the policy waits for a later time */
		r = flying[oldest++ % DEPTH];
		in_flight--;
		weir_complete(w, r, now);
		served[r->group == group[1]]++;
		/* The same client asks again, somewhere else. */
		weir_rq_init(r, WEIR_OP_READ, now % 99991 * 4096, 8, r->group, NULL);
		weir_insert(w, r, WEIR_TAIL, now);
	}
	printf("weight 200: %u\nweight 300: %u\n", served[0], served[1]);
	return 0;
}
