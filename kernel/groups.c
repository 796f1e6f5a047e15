// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups follow cgroups: one for each cgroup that has touched the disk, below the one of its parent.
 * They come with GFP_NOWAIT, on the way of the first bio; where memory is short the parent's is used.
 */
#include <linux/slab.h>

#include "mq.h"

static struct blkcg_policy_data *cpd_alloc(gfp_t gfp)
{
	struct weir_mq_cgroup *mc = kzalloc(sizeof(*mc), gfp);

	if (!mc)
		return NULL;
	mc->weight = WEIR_WEIGHT_DEFAULT;
	return &mc->cpd;
}

static void cpd_free(struct blkcg_policy_data *cpd)
{
	kfree(container_of(cpd, struct weir_mq_cgroup, cpd));
}

struct blkg_policy_data *weir_mq_pd_alloc(struct gendisk *disk, struct blkcg *blkcg, gfp_t gfp)
{
	struct weir_mq_group *mg = kzalloc_node(sizeof(*mg), gfp, disk->queue->node);

	if (!mg)
		return NULL;
	mg->mq = weir_mq_of(disk->queue);
	weir_group_attr_init(&mg->attr);
	INIT_LIST_HEAD(&mg->waiters[WEIR_READ]);
	INIT_LIST_HEAD(&mg->waiters[WEIR_WRITE]);
	return &mg->pd;
}

static void pd_free(struct blkg_policy_data *pd)
{
	kfree(weir_mq_group(pd));
}

static u32 weight_of(const struct weir_mq_group *mg)
{
	struct blkcg_policy_data *cpd = blkcg_to_cpd(mg->pd.blkg->blkcg, &weir_mq_blkcg_policy);

	return mg->own_weight ? mg->attr.weight
			      : container_of(cpd, struct weir_mq_cgroup, cpd)->weight;
}

/* The nearest above blkg that has a group: the root has one. */
static struct weir_mq_group *nearest(struct weir_mq *mq, struct blkcg_gq *blkg)
{
	for (; blkg; blkg = blkg->parent) {
		struct blkg_policy_data *pd = blkg_to_pd(blkg, &weir_mq_blkcg_policy);

		if (pd && weir_mq_group(pd)->g)
			return weir_mq_group(pd);
	}
	return weir_group_host_data(weir_root(mq->w));
}

struct weir_mq_group *weir_mq_bio_group(struct weir_mq *mq, const struct bio *bio)
{
	struct blkcg_gq *blkg = bio ? bio->bi_blkg : NULL;

	return nearest(mq, blkg && blkg->q == mq->q ? blkg : NULL);
}

static void pd_online(struct blkg_policy_data *pd)
{
	struct weir_mq_group *mg = weir_mq_group(pd);
	struct weir_mq *mq = mg->mq;
	struct blkcg_gq *parent = pd->blkg->parent;
	unsigned long flags;

	spin_lock_irqsave(&mq->lock, flags);
	if (parent) {
		struct weir_group_attr attr = mg->attr;

		attr.weight = weight_of(mg);
		mg->g = weir_group_create(mq->w, nearest(mq, parent)->g, &attr, weir_mq_now(),
					  NULL);
	} else {
		mg->g = weir_root(mq->w);
	}
	if (mg->g) {
		weir_group_set_host_data(mg->g, mg);
		list_add_tail(&mg->in_groups, &mq->groups);
	}
	spin_unlock_irqrestore(&mq->lock, flags);
}

static void pd_offline(struct blkg_policy_data *pd)
{
	struct weir_mq_group *mg = weir_mq_group(pd);
	struct weir_mq *mq = mg->mq;
	struct weir_group *g = mg->g;
	unsigned long flags;
	unsigned int dir;

	if (!g)
		return;
	spin_lock_irqsave(&mq->lock, flags);
	list_del(&mg->in_groups);
	if (!pd->blkg->parent) { /* the root goes with the instance */
		spin_unlock_irqrestore(&mq->lock, flags);
		return;
	}
	for (dir = 0; dir < WEIR_NR_DIRS; dir++)
		for (; mg->pending[dir]; mg->pending[dir]--)
			weir_release(mq->w, g, dir, weir_mq_now());
	mg->g = NULL;
	weir_group_set_host_data(g, NULL);
	WARN_ON_ONCE(weir_group_remove(g, weir_mq_now()));
	weir_mq_move_waiters(mq, mg, nearest(mq, pd->blkg->parent));
	spin_unlock_irqrestore(&mq->lock, flags);
}

int weir_mq_apply(struct weir_mq_group *mg)
{
	struct weir_group_attr attr = mg->attr;
	unsigned long flags;
	int ret = 0;

	attr.weight = weight_of(mg);
	spin_lock_irqsave(&mg->mq->lock, flags);
	if (mg->g)
		ret = weir_group_set(mg->g, &attr, weir_mq_now());
	spin_unlock_irqrestore(&mg->mq->lock, flags);
	if (!ret)
		weir_mq_kick_soon(mg->mq);
	return ret;
}

struct blkcg_policy weir_mq_blkcg_policy = {
	.dfl_cftypes = weir_mq_files,
	.cpd_alloc_fn = cpd_alloc,
	.cpd_free_fn = cpd_free,
	.pd_alloc_fn = weir_compat_pd_alloc,
	.pd_online_fn = pd_online,
	.pd_offline_fn = pd_offline,
	.pd_free_fn = pd_free,
};
