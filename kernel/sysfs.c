// SPDX-License-Identifier: GPL-2.0-only
/*
 * queue/iosched/: the policy, its tunables as a file each, the profile.
 *
 * The block layer's own handlers are not told which attribute they are about, come under a mutex of
 * the elevator's, and know one fixed table of files. None of that suits files that come and go with
 * the policy: whoever removes one waits for its readers, and those would wait for that mutex, which
 * the writer of `policy` holds. So the elevator's kobject gets a type of ours. It differs from the
 * block layer's by its files and their handlers only; the release, which frees the kobject and
 * drops the module, stays the block layer's. Two more things follow from it. The files are there
 * from the moment that the directory is. And the driver core takes them away, and waits for those
 * who are inside, before the directory is marked as gone: so nobody adds a file to a directory that
 * is no more.
 *
 * The elevator is in place as long as a file can be read, since it is taken down after its
 * directory.
 */
#include <linux/sched/mm.h>

#include "contexts.h"
#include "profile.h"
#include "sysfs.h"

static ssize_t show(struct kobject *kobj, struct attribute *attr, char *page)
{
	const struct weir_mq_attr *a = container_of(attr, struct weir_mq_attr, attr);

	return a->show ? a->show(weir_mq_of_kobj(kobj), a, page) : -EIO;
}

static ssize_t store(struct kobject *kobj, struct attribute *attr, const char *page, size_t count)
{
	const struct weir_mq_attr *a = container_of(attr, struct weir_mq_attr, attr);

	return a->store ? a->store(weir_mq_of_kobj(kobj), a, page, count) : -EIO;
}

static const struct sysfs_ops ops = {
	.show = show,
	.store = store,
};

/* ---- policy ---- */

static ssize_t policy_show(struct weir_mq *mq, const struct weir_mq_attr *a, char *page)
{
	const struct weir_policy *p, *now = weir_current_policy(mq->w);
	unsigned int n;
	int at = 0;

	for (n = 0; (p = weir_policy_at(n)); n++)
		at += sysfs_emit_at(page, at, p == now ? "%s[%s]" : "%s%s", n ? " " : "",
				    weir_policy_info(p)->name);
	return at + sysfs_emit_at(page, at, "\n");
}

static int change_policy(struct weir_mq *mq, const struct weir_policy *p)
{
	struct weir_switch *sw;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&mq->lock, flags);
	sw = weir_switch_prepare(mq->w, p, NULL, &ret);
	if (sw) {
		weir_switch_commit(mq->w, sw, weir_mq_now());
		weir_mq_watch_reset(mq);
	}
	spin_unlock_irqrestore(&mq->lock, flags);
	return ret;
}

/*
 * What could fail comes first, so there is always the full set of one policy; names that both have
 * stay there throughout.
 */
static int switch_to(struct weir_mq *mq, const struct weir_policy *p)
{
	const struct weir_policy *before = weir_current_policy(mq->w);
	unsigned int noio;
	int ret;

	/* A change of the elevator may wait for us with the queue frozen: no memory by way of it. */
	noio = memalloc_noio_save();
	ret = weir_mq_tunables_add(mq, p);
	if (!ret) {
		ret = change_policy(mq, p);
		weir_mq_tunables_remove(mq, ret ? p : before);
	}
	memalloc_noio_restore(noio);
	return ret;
}

static ssize_t policy_store(struct weir_mq *mq, const struct weir_mq_attr *a, const char *page,
			    size_t count)
{
	const struct weir_policy *p;
	char name[32];
	int ret;

	if (sscanf(page, "%31s", name) != 1)
		return -EINVAL;
	p = weir_policy_find(name);
	if (!p)
		return -EINVAL;
	mutex_lock(&mq->policy_lock);
	ret = switch_to(mq, p);
	mutex_unlock(&mq->policy_lock);
	if (ret)
		return ret;
	weir_mq_kick(mq);
	return count;
}

static ssize_t contexts_show(struct weir_mq *mq, const struct weir_mq_attr *a, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(mq->nr_contexts));
}

/* All at the same moment, or what groups had and were entitled to could not be compared. */
static ssize_t stats_reset_store(struct weir_mq *mq, const struct weir_mq_attr *a, const char *page,
				 size_t count)
{
	unsigned long flags;
	bool yes;

	if (kstrtobool(page, &yes) || !yes)
		return -EINVAL;
	spin_lock_irqsave(&mq->lock, flags);
	weir_stats_reset(mq->w, weir_mq_now());
	spin_unlock_irqrestore(&mq->lock, flags);
	return count;
}

/* ---- the directory ---- */

static struct weir_mq_attr policy = __ATTR(policy, 0644, policy_show, policy_store);
static struct weir_mq_attr tunables = __ATTR(tunables, 0444, weir_mq_tunables_show, NULL);
static struct weir_mq_attr profile = __ATTR(profile, 0644, weir_mq_profile_show,
					    weir_mq_profile_store);
static struct weir_mq_attr contexts = __ATTR(contexts, 0444, contexts_show, NULL);
static struct weir_mq_attr stats_reset = __ATTR(stats_reset, 0200, NULL, stats_reset_store);

static struct attribute *attrs[] = {
	&policy.attr, &tunables.attr, &profile.attr, &contexts.attr, &stats_reset.attr, NULL,
};

static const struct attribute_group group = {
	.attrs = attrs,
};

/* In this order: once `policy` is there it may be written, and the tunables be others. */
static const struct attribute_group *groups[] = {
	&weir_mq_tunables_group,
	&group,
	NULL,
};

static struct kobj_type type = {
	.sysfs_ops = &ops,
	.default_groups = groups,
};

void weir_mq_sysfs_adopt(struct elevator_queue *eq)
{
	/* All elevators have the same one. */
	WRITE_ONCE(type.release, eq->kobj.ktype->release);
	eq->kobj.ktype = &type;
}
