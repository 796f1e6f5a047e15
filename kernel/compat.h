/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that Debian 12 has, 6.1 and 6.12: the other files are written for
 * 6.12, and find here what 6.1 calls otherwise.
 *
 * In 6.1 an elevator never sees flushes, nor writes with FUA: the block layer sends them past it.
 */
#ifndef WEIR_KERNEL_COMPAT_H
#define WEIR_KERNEL_COMPAT_H

#include <linux/version.h>

#define WEIR_KERNEL_IS(major, minor)                              \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(major, minor, 0) && \
	 LINUX_VERSION_CODE < KERNEL_VERSION(major, (minor) + 1, 0))

#if !WEIR_KERNEL_IS(6, 1) && !WEIR_KERNEL_IS(6, 12)
#error "weir can be built for Linux 6.1 and 6.12: elevators are called otherwise in other versions"
#endif

#include <linux/blk-mq.h>

#include "elevator.h"
#include "blk.h"
#include "blk-mq.h"
#include "blk-mq-sched.h"
#include "blk-cgroup.h"
#include "blk-wbt.h"

/* ---- how requests are inserted: at the head if how isn't 0 ---- */

#if WEIR_KERNEL_IS(6, 1)
#define WEIR_MQ_INSERT_REQUESTS(hctx, list, how) \
	insert_requests(struct blk_mq_hw_ctx *hctx, struct list_head *list, bool how)
#define RQF_USE_SCHED RQF_ELVPRIV
#define WEIR_MQ_AT_HEAD(how) (how)
#else
#define WEIR_MQ_INSERT_REQUESTS(hctx, list, how) \
	insert_requests(struct blk_mq_hw_ctx *hctx, struct list_head *list, blk_insert_t how)
#define WEIR_MQ_AT_HEAD(how) ((how)&BLK_MQ_INSERT_AT_HEAD)
#endif

/* ---- groups: by queue, later by disk ---- */

#if WEIR_KERNEL_IS(6, 1)
#define WEIR_MQ_PD_ALLOC(disk, blkcg, gfp) \
	pd_alloc(gfp_t gfp, struct request_queue *weir_mq_queue, struct blkcg *blkcg)
#define WEIR_MQ_PD_QUEUE(disk) weir_mq_queue
#define weir_mq_blkcg_activate(disk, policy) blkcg_activate_policy((disk)->queue, policy)
#define weir_mq_blkcg_deactivate(disk, policy) blkcg_deactivate_policy((disk)->queue, policy)
#define weir_mq_wbt_off(disk) wbt_disable_default((disk)->queue)
#define weir_mq_wbt_on(disk) wbt_enable_default((disk)->queue)
#else
#define WEIR_MQ_PD_ALLOC(disk, blkcg, gfp) \
	pd_alloc(struct gendisk *disk, struct blkcg *blkcg, gfp_t gfp)
#define WEIR_MQ_PD_QUEUE(disk) ((disk)->queue)
#define weir_mq_blkcg_activate(disk, policy) blkcg_activate_policy(disk, policy)
#define weir_mq_blkcg_deactivate(disk, policy) blkcg_deactivate_policy(disk, policy)
#define weir_mq_wbt_off(disk) wbt_disable_default(disk)
#define weir_mq_wbt_on(disk) wbt_enable_default(disk)
#endif

/* ---- lines in a cgroup's files that begin with a disk: always closed again ---- */

static inline int weir_mq_conf_open(struct blkcg *blkcg, const struct blkcg_policy *policy,
				    char *line, struct blkg_conf_ctx *ctx)
{
#if WEIR_KERNEL_IS(6, 1)
	ctx->bdev = NULL;
	return blkg_conf_prep(blkcg, policy, line, ctx);
#else
	blkg_conf_init(ctx, line);
	return blkg_conf_prep(blkcg, policy, ctx);
#endif
}

static inline void weir_mq_conf_close(struct blkg_conf_ctx *ctx)
{
#if WEIR_KERNEL_IS(6, 1)
	if (ctx->bdev)
		blkg_conf_finish(ctx);
#else
	blkg_conf_exit(ctx);
#endif
}

#endif
