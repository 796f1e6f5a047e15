/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The books of an instance, kept from outside: which request is where, what each group has seen,
 * how long it was backlogged, and what its ceilings have let through. Plain arrays and full scans:
 * slow, and easy to believe.
 *
 * The driver of a test tells the books of each call, after it: books_tick() with the time that it
 * passed, then the function for what happened. books_check() compares all groups with what the
 * instance says of them.
 */
#ifndef TESTS_MODEL_BOOKS_H
#define TESTS_MODEL_BOOKS_H

#include <weir/weir.h>

#include "tests/model_tokens.h"

#define BOOKS_RQS 48
#define BOOKS_GROUPS 24
#define BOOKS_CTXS 8
#define BOOKS_NONE (-1)

enum book_state {
	BOOK_FREE, /* the host's; also after it was merged or removed */
	BOOK_WAITING,
	BOOK_IN_FLIGHT,
};

struct book_rq {
	struct weir_rq rq;
	enum book_state state;
	int group, ctx;
	uint64_t since_ns; /* of the last time that it began to wait */
	uint64_t start_ns;
	uint64_t first_ns;
	uint64_t sectors; /* with all that it absorbed */
	uint32_t merged;  /* how many that is */
	bool at_head;	  /* put there, or requeued */
	bool passed;	  /* known to be through the limits stage */
	bool admitted;	  /* has a place in the pool */
};

struct book_group {
	bool used;
	bool removed; /* by the host; still there for what is left of it */
	struct weir_group *g;
	int parent;
	struct weir_group_attr attr;
	uint32_t nr_children, nr_rqs, nr_ctx;
	uint32_t admitted[WEIR_NR_DIRS];
	bool refused[WEIR_NR_DIRS]; /* admission said no, and nobody has woken it */

	struct weir_dir_stats dir[WEIR_NR_DIRS]; /* own requests */
	uint64_t nr_waits[WEIR_NR_DIRS];	 /* entries of the queue-wait histogram */
	uint64_t flushes;
	uint64_t backlogged_ns;
	uint64_t held_ns; /* of that, with everything held by a ceiling */
	struct model_bucket bytes[WEIR_NR_DIRS], ios[WEIR_NR_DIRS];
};

struct book_ctx {
	bool used;
	bool exited;
	struct weir_ctx *ctx;
	int group;
	uint32_t nr_rqs;
};

struct books {
	struct weir *w;
	uint64_t now;	    /* never runs back */
	uint64_t in_use_ns; /* something was in the policy or in flight */
	bool drain;
	struct book_rq rq[BOOKS_RQS];
	struct book_group group[BOOKS_GROUPS]; /* 0 is the root; parents may have higher numbers */
	struct book_ctx ctx[BOOKS_CTXS];
	/* Reports what does not hold; does not return. */
	void (*failed)(void *priv, const char *what, const char *file, int line);
	void *priv;
};

#define BOOKS_CHECK(b, expr)                                               \
	do {                                                               \
		if (!(expr))                                               \
			(b)->failed((b)->priv, #expr, __FILE__, __LINE__); \
	} while (0)

void books_init(struct books *b, struct weir *w, uint64_t now);
/* Time passes with everything as it stands. Returns the time in force: never before the last. */
uint64_t books_tick(struct books *b, uint64_t now);

void books_group_created(struct books *b, int n, int parent, struct weir_group *g);
void books_group_set(struct books *b, int n, const struct weir_group_attr *attr);
void books_group_removed(struct books *b, int n);
/* After anything that may have been the last that a removed group waited for. */
void books_reap(struct books *b, int n);

void books_ctx_created(struct books *b, int n, int group, struct weir_ctx *ctx);
void books_ctx_moved(struct books *b, int n, int group);
void books_ctx_exited(struct books *b, int n);

/* rq[n] was inserted for group and ctx (or BOOKS_NONE). */
void books_inserted(struct books *b, int n, enum weir_where where);
/* Index of a request that the instance named; checks that it is one of ours and waits. */
int books_waiting(struct books *b, const struct weir_rq *rq);
void books_dispatched(struct books *b, int n);
void books_completed(struct books *b, int n);
void books_requeued(struct books *b, int n, enum weir_requeue how);
void books_removed(struct books *b, int n);
/* bio (not inserted) became part of rq[into]; rq[second] became part of rq[first]. */
void books_merged_bio(struct books *b, int into, const struct weir_rq *bio);
void books_merged_rq(struct books *b, int first, int second);
/* After a change of policy or the end of everything: no order is promised any more. */
void books_forget_heads(struct books *b);
/* After each call: what has passed the limits stage was allowed to. */
void books_check_limits(struct books *b);

/* For the two halves of the model. */
bool books_is_below(const struct books *b, int n, int top);
void books_fold(struct book_group *into, const struct book_group *from);
void books_charge(struct books *b, int group, enum weir_dir dir, uint64_t bytes, uint64_t ios);

uint32_t books_count(const struct books *b, enum book_state state);
void books_reset_stats(struct books *b);
void books_check(struct books *b);

#endif
