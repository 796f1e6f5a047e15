/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between kernels, and nothing else here depends on the version: the other files are
 * written for 6.12, and find below what 6.1 calls otherwise, under the names of 6.12.
 *
 * Two things are different without a call for it. In 6.1 an elevator is not shown requests with a
 * flush or FUA, not even their data: the block layer sends them past it. And there a request that
 * was never prepared has flush state where elv.priv would be, so nobody looks at that without
 * RQF_USE_SCHED.
 */
#ifndef WEIR_KERNEL_COMPAT_H
#define WEIR_KERNEL_COMPAT_H

#include <linux/version.h>

#define WEIR_KERNEL_IS(major, minor) \
	(LINUX_VERSION_MAJOR == (major) && LINUX_VERSION_PATCHLEVEL == (minor))

#if !WEIR_KERNEL_IS(6, 1) && !WEIR_KERNEL_IS(6, 12)
#error "weir builds for Linux 6.1.x and 6.12.x; in other versions elevators are called otherwise"
#endif

#include <linux/blk-mq.h>
#include <linux/ioprio.h>

/* Of block/, which the headers of a kernel leave out. The first two need each other in this order. */
#ifdef __has_include
#if !__has_include("elevator.h")
#error "block/elevator.h of this very kernel is missing: install the package linux-source-X.Y"
#endif
#endif
#include "elevator.h"
#include "blk.h"
#include "blk-mq.h"
#include "blk-mq-sched.h"
#include "blk-cgroup.h"
#include "blk-wbt.h"

/* The elevator's pd_alloc, as 6.12 calls it. */
struct blkg_policy_data *weir_mq_pd_alloc(struct gendisk *disk, struct blkcg *blkcg, gfp_t gfp);

#if WEIR_KERNEL_IS(6, 1)

/* insert_requests() is told whether at the head, and nothing else. */
#define blk_insert_t bool
#define BLK_MQ_INSERT_AT_HEAD true

#define RQF_USE_SCHED RQF_ELVPRIV

/* The first of 6.1 have nothing in a priority but class and level. */
#ifndef IOPRIO_PRIO_LEVEL
#define IOPRIO_PRIO_LEVEL(ioprio) ((ioprio) & (IOPRIO_NR_LEVELS - 1))
#endif

/* By queue what later goes by disk. A macro's own name within it is the function. */
#define blkcg_activate_policy(disk, policy) blkcg_activate_policy((disk)->queue, policy)
#define blkcg_deactivate_policy(disk, policy) blkcg_deactivate_policy((disk)->queue, policy)
#define wbt_disable_default(disk) wbt_disable_default((disk)->queue)
#define wbt_enable_default(disk) wbt_enable_default((disk)->queue)

static inline struct blkg_policy_data *weir_compat_pd_alloc(gfp_t gfp, struct request_queue *q,
							    struct blkcg *blkcg)
{
	return weir_mq_pd_alloc(q->disk, blkcg, gfp);
}

/* A line that begins with a disk: later it is closed again whether or not the disk was found. */
static inline void blkg_conf_init(struct blkg_conf_ctx *ctx, char *line)
{
	ctx->bdev = NULL;
	ctx->body = line;
}

static inline int weir_compat_conf_prep(struct blkcg *blkcg, const struct blkcg_policy *policy,
					struct blkg_conf_ctx *ctx)
{
	return blkg_conf_prep(blkcg, policy, ctx->body, ctx);
}
#define blkg_conf_prep(blkcg, policy, ctx) weir_compat_conf_prep(blkcg, policy, ctx)

static inline void blkg_conf_exit(struct blkg_conf_ctx *ctx)
{
	if (ctx->bdev)
		blkg_conf_finish(ctx);
}

#else /* 6.12 */

#define weir_compat_pd_alloc weir_mq_pd_alloc

#endif

#endif
