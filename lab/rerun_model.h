/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The instance of a rerun with its groups, contexts and requests, by their numbers in the
 * recording.
 *
 * The core frees a removed group with the last thing that names it, and tells nobody. So this keeps
 * the same books: a name disappears here no later than what it stands for, and a recording that
 * names something that is gone is an error, never a stray pointer.
 *
 * All memory of the core comes from a list of blocks, so that it can be freed without the core
 * after an assertion has failed.
 */
#ifndef LAB_RERUN_MODEL_H
#define LAB_RERUN_MODEL_H

#include <weir/weir.h>

#include "core/list.h"
#include "lab/rerun_call.h"
#include "lab/rerun_names.h"

struct lab_model_group {
	struct weir_group *group;
	struct lab_model_group *parent; /* NULL: the root */
	uint32_t id;
	uint32_t nr_rqs, nr_ctxs, nr_children;
	uint32_t admitted[WEIR_NR_DIRS];
	bool dying;
	struct lab_model_group *next_dying; /* those to remove at the start, the latest first */
};

struct lab_model_ctx {
	struct weir_ctx *ctx;
	struct lab_model_group *group;
	uint32_t id;
	uint32_t nr_rqs;
	bool exited;
};

struct lab_model_rq {
	struct weir_rq rq;
	uint64_t number;
	struct lab_model_group *group;
	struct lab_model_ctx *ctx; /* or NULL */
};

struct lab_model {
	struct weir *w;
	struct weir_list memory;
	struct lab_names groups, ctxs, rqs;
	uint32_t next_group, next_ctx; /* no smaller id was not given yet */
	struct lab_model_group *dying;
	void (*wake)(void *priv, uint32_t group, enum weir_dir dir);
	void *priv;
	/* Where the functions below say what is wrong. */
	char *err;
	size_t err_bytes;
};

void lab_model_init(struct lab_model *m, char *err, size_t err_bytes);
/* Frees everything, in whatever state the instance is. */
void lab_model_free(struct lab_model *m);

/*
 * The state at the start: one call each of create, add_group (the root first), add_ctx, and begin,
 * which brings the instance to where weir_record_start() brought the recorded one. All return false
 * with a message on what a recording can't have.
 */
bool lab_model_create(struct lab_model *m, const struct lab_call *start,
		      const struct weir_policy *policy);
bool lab_model_add_group(struct lab_model *m, const struct lab_call *call);
bool lab_model_add_ctx(struct lab_model *m, const struct lab_call *call);
bool lab_model_begin(struct lab_model *m, const struct lab_call *start,
		     const struct lab_call *begin);

/* The policy, if this program has it with as many tunables. */
const struct weir_policy *lab_model_policy(struct lab_model *m, const struct lab_call *call);

/* By number; NULL with a message: there is none, any more or yet. */
struct lab_model_group *lab_model_group(struct lab_model *m, uint32_t id);
struct lab_model_ctx *lab_model_ctx(struct lab_model *m, uint32_t id);
struct lab_model_rq *lab_model_rq(struct lab_model *m, uint64_t number);
static inline struct lab_model_rq *lab_model_rq_of(struct weir_rq *rq)
{
	return weir_container_of(rq, struct lab_model_rq, rq);
}

/* A request, not inserted; its group and context count it. NULL with a message. */
struct lab_model_rq *lab_model_new_rq(struct lab_model *m, const struct lab_call *call);
/* Fills in a bio as weir_merge_find() wants it. */
bool lab_model_bio(struct lab_model *m, const struct lab_call_bio *from, struct weir_rq *bio);
/* It has left the core: completed, removed, or absorbed. */
void lab_model_rq_left(struct lab_model *m, struct lab_model_rq *rq);
/* The context has exited. */
void lab_model_ctx_exited(struct lab_model *m, struct lab_model_ctx *ctx);
/* The context has moved. */
void lab_model_ctx_moved(struct lab_model *m, struct lab_model_ctx *ctx,
			 struct lab_model_group *to);
/* Forgets the group, and then its ancestors, as far as they are removed and nothing names them. */
void lab_model_reap(struct lab_model *m, struct lab_model_group *g);

#endif
