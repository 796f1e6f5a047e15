// SPDX-License-Identifier: GPL-2.0-only
/*
 * The benchmark's opponent must do what dmClock promises, or beating it means nothing: reservations
 * first, the rest by weight, limits kept, no credit for an idle client.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/dmclock_ref.h"

#define NR_RQS 16

/* A server of 1000 requests a second and clients that always have something queued. */
struct rig {
	struct dmc_queue *q;
	struct dmc_rq rq[3][NR_RQS];
	uint32_t served[3];
	double now_s;
};

static void rig_init(struct rig *rig, uint32_t nr, const struct dmc_client_info *info)
{
	rig->now_s = 1;
	rig->q = dmc_new(nr, info);
	assert_non_null(rig->q);
	for (uint32_t c = 0; c < 3; c++) {
		rig->served[c] = 0;
		for (uint32_t i = 0; i < NR_RQS; i++)
			rig->rq[c][i] = (struct dmc_rq){.client = c, .cost = 1};
	}
}

static void fill(struct rig *rig, uint32_t client)
{
	for (uint32_t i = 0; i < NR_RQS; i++)
		dmc_add(rig->q, &rig->rq[client][i], rig->now_s);
}

static void serve(struct rig *rig, uint32_t slots)
{
	while (slots--) {
		enum dmc_phase phase;
		double when_s = 0;
		struct dmc_rq *rq = dmc_pull(rig->q, rig->now_s, &phase, &when_s);

		if (rq) {
			rig->served[rq->client]++;
			dmc_add(rig->q, rq, rig->now_s);
		} else {
			assert_int_equal(phase, DMC_FUTURE);
			assert_true(when_s > rig->now_s);
		}
		rig->now_s += 0.001;
	}
}

static void assert_near(uint32_t value, uint32_t want, uint32_t slack)
{
	assert_in_range(value, want - slack, want + slack);
}

static void weights_share(void **state)
{
	const struct dmc_client_info info[] = {{0, 200, 0}, {0, 300, 0}};
	struct rig rig;

	(void)state;
	rig_init(&rig, 2, info);
	fill(&rig, 0);
	fill(&rig, 1);
	serve(&rig, 10000);
	assert_near(rig.served[0], 4000, 5);
	assert_near(rig.served[1], 6000, 5);
	dmc_free(rig.q);
}

/* A reservation is a floor under the weight's share, not on top of it. */
static void reservation_is_a_floor(void **state)
{
	const struct {
		double reservation;
		uint32_t served;
	} cases[] = {{200, 2500}, {400, 4000}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct dmc_client_info info[] = {{cases[i].reservation, 1, 0}, {0, 3, 0}};
		struct rig rig;

		rig_init(&rig, 2, info);
		fill(&rig, 0);
		fill(&rig, 1);
		serve(&rig, 10000);
		assert_near(rig.served[0], cases[i].served, 10);
		assert_near(rig.served[1], 10000 - cases[i].served, 10);
		dmc_free(rig.q);
	}
}

static void limit_holds_and_rest_is_used(void **state)
{
	const struct dmc_client_info info[] = {{0, 9, 300}, {0, 1, 0}};
	struct rig rig;

	(void)state;
	rig_init(&rig, 2, info);
	fill(&rig, 0);
	fill(&rig, 1);
	serve(&rig, 10000);
	assert_near(rig.served[0], 3000, 5);
	assert_near(rig.served[1], 7000, 5);
	dmc_free(rig.q);
}

static void all_limited_waits(void **state)
{
	const struct dmc_client_info info[] = {{0, 1, 100}};
	struct rig rig;

	(void)state;
	rig_init(&rig, 1, info);
	fill(&rig, 0);
	serve(&rig, 10000);
	assert_near(rig.served[0], 1000, 3);
	dmc_free(rig.q);
}

static void late_comer_gets_its_share_only(void **state)
{
	const struct dmc_client_info info[] = {{0, 1, 0}, {0, 1, 0}, {0, 1, 0}};
	struct rig rig;

	(void)state;
	rig_init(&rig, 3, info);
	fill(&rig, 0);
	fill(&rig, 1);
	serve(&rig, 5000);
	fill(&rig, 2);
	serve(&rig, 3000);
	assert_near(rig.served[2], 1000, 5);
	assert_near(rig.served[0], 3500, 5);
	dmc_free(rig.q);
}

static void empty_queue_says_so(void **state)
{
	const struct dmc_client_info info[] = {{0, 1, 0}};
	enum dmc_phase phase;
	double when_s;
	struct rig rig;

	(void)state;
	rig_init(&rig, 1, info);
	assert_null(dmc_pull(rig.q, 1, &phase, &when_s));
	assert_int_equal(phase, DMC_NONE);
	dmc_free(rig.q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_share),
		cmocka_unit_test(reservation_is_a_floor),
		cmocka_unit_test(limit_holds_and_rest_is_used),
		cmocka_unit_test(all_limited_waits),
		cmocka_unit_test(late_comer_gets_its_share_only),
		cmocka_unit_test(empty_queue_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
