/* SPDX-License-Identifier: GPL-2.0-only */
/* efq: what can be set, its own and that of the leaf orders, and the places that come of it. */
#include "policy/efq/internal.h"

/* The kernel keeps these in an int. */
#define TUNABLE_MAX INT32_MAX
/* The block layer's least, and more than any queue has. */
#define LEAST_REQUESTS 4
#define MOST_REQUESTS 65536

static const char *const leaf_names[] = {"noop", "deadline", "anticipatory", NULL};
static const char *const charge_names[] = {"time", "sectors", "requests", NULL};
static const char *const congestion_names[] = {"v8", "v9", NULL};

const struct weir_tunable efq_tunables[] = {
	[EFQ_LEAF] = {"leaf", WEIR_UNIT_CHOICE, 0, 2, 0, "order of requests within a group",
		      leaf_names},
	[EFQ_FAIRNESS] = {"fairness", WEIR_UNIT_BOOL, 0, 1, 0,
			  "a turn begins when the one before has left the device"},
	[EFQ_SLICE_SYNC] = {"slice_sync", WEIR_UNIT_MS, 1, TUNABLE_MAX, 100,
			    "length of a turn that begins with sync requests"},
	[EFQ_SLICE_ASYNC] = {"slice_async", WEIR_UNIT_MS, 1, TUNABLE_MAX, 40,
			     "length of a turn that begins with async requests"},
	[EFQ_SLICE_IDLE] = {"slice_idle", WEIR_UNIT_MS, 0, TUNABLE_MAX, 8,
			    "wait within a turn for a queue that comes back soon; 0: none"},
	[EFQ_GROUP_IDLE] = {"group_idle", WEIR_UNIT_MS, 0, TUNABLE_MAX, 8,
			    "wait for a group that has nothing left; 0: none"},
	[EFQ_CHARGE] = {"charge", WEIR_UNIT_CHOICE, 0, 2, EFQ_CHARGE_TIME,
			"what shares are counted in", charge_names},
	[EFQ_NR_GROUP_REQUESTS] = {"nr_group_requests", WEIR_UNIT_COUNT, LEAST_REQUESTS,
				   MOST_REQUESTS, 128,
				   "requests that a group may have, in each direction"},
	[EFQ_CONGESTION] = {"congestion", WEIR_UNIT_CHOICE, 0, 1, EFQ_CONGESTION_V9,
			    "v9: a group's ends at a lower mark than it begins; v8: at the same",
			    congestion_names},
	[EFQ_DEADLINE_READ_EXPIRE] = {"deadline_read_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 500,
				      "deadline's read_expire"},
	[EFQ_DEADLINE_WRITE_EXPIRE] = {"deadline_write_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 5000,
				       "deadline's write_expire"},
	[EFQ_WRITES_STARVED] = {"writes_starved", WEIR_UNIT_COUNT, 0, TUNABLE_MAX, 2,
				"deadline's: batches of reads before waiting writes"},
	[EFQ_FIFO_BATCH] = {"fifo_batch", WEIR_UNIT_COUNT, 0, TUNABLE_MAX, 16,
			    "deadline's: requests in a batch"},
	[EFQ_FRONT_MERGES] = {"front_merges", WEIR_UNIT_BOOL, 0, 1, 1,
			      "deadline's: search for requests that a bio can be put before"},
	[EFQ_ANTIC_READ_EXPIRE] = {"antic_read_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 125,
				   "anticipatory's read_expire"},
	[EFQ_ANTIC_WRITE_EXPIRE] = {"antic_write_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 250,
				    "anticipatory's write_expire"},
	[EFQ_READ_BATCH_EXPIRE] = {"read_batch_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 500,
				   "anticipatory's: length of a batch of reads"},
	[EFQ_WRITE_BATCH_EXPIRE] = {"write_batch_expire", WEIR_UNIT_MS, 0, TUNABLE_MAX, 125,
				    "anticipatory's: length of a batch of writes"},
	[EFQ_ANTIC_EXPIRE] = {"antic_expire", WEIR_UNIT_US, 0, TUNABLE_MAX, 6667,
			      "anticipatory's: longest wait for a next read; 0: none"},
	{.name = NULL},
};

void efq_load_settings(struct weir *w, struct efq *e)
{
	struct deadline_device *d = &e->deadline;
	struct antic_device *a = &e->antic;

	d->expire_ns[WEIR_READ] = efq_ms(w, EFQ_DEADLINE_READ_EXPIRE);
	d->expire_ns[WEIR_WRITE] = efq_ms(w, EFQ_DEADLINE_WRITE_EXPIRE);
	d->writes_starved = weir_policy_tunable(w, EFQ_WRITES_STARVED);
	d->fifo_batch = weir_policy_tunable(w, EFQ_FIFO_BATCH);
	d->front_merges = weir_policy_tunable(w, EFQ_FRONT_MERGES);
	a->expire_ns[ANTIC_SYNC] = efq_ms(w, EFQ_ANTIC_READ_EXPIRE);
	a->expire_ns[ANTIC_ASYNC] = efq_ms(w, EFQ_ANTIC_WRITE_EXPIRE);
	a->batch_ns[ANTIC_SYNC] = efq_ms(w, EFQ_READ_BATCH_EXPIRE);
	a->batch_ns[ANTIC_ASYNC] = efq_ms(w, EFQ_WRITE_BATCH_EXPIRE);
	a->wait_ns = weir_policy_tunable(w, EFQ_ANTIC_EXPIRE) * WEIR_NS_PER_US;
}

/*
 * A freed place wakes who waits for it, as in the block layer of that time. Congestion is another
 * matter: with V8 it is whether the number is above the mark just now, and so the flusher is woken
 * with each completion, for one request; V9 has the block layer's hysteresis.
 */
void efq_places(struct weir *w, const struct weir_group *g, enum weir_dir dir,
		struct weir_places *out)
{
	uint32_t n = (uint32_t)weir_policy_tunable(w, EFQ_NR_GROUP_REQUESTS);

	(void)g;
	(void)dir;
	out->most = n;
	out->wake = n;
	out->on = weir_on_mark(n);
	out->off = weir_policy_tunable(w, EFQ_CONGESTION) == EFQ_CONGESTION_V9 ? weir_off_mark(n)
									       : out->on;
}
