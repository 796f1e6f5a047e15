// SPDX-License-Identifier: GPL-2.0-only
/*
 * queue/iosched/: the policy, and what can be tuned of it. The handlers of an elevator are not told
 * which attribute they are about, so one file has all tunables, a line each: name and value, unit,
 * range. `name=value` sets one.
 */
#include <linux/sysfs.h>

#include "mq.h"

static ssize_t policy_show(struct elevator_queue *eq, char *page)
{
	struct weir_mq *mq = eq->elevator_data;
	const struct weir_policy *p, *now = weir_current_policy(mq->w);
	unsigned int n;
	int at = 0;

	for (n = 0; (p = weir_policy_at(n)); n++)
		at += sysfs_emit_at(page, at, p == now ? "%s[%s]" : "%s%s", n ? " " : "",
				    weir_policy_info(p)->name);
	return at + sysfs_emit_at(page, at, "\n");
}

static ssize_t policy_store(struct elevator_queue *eq, const char *page, size_t count)
{
	struct weir_mq *mq = eq->elevator_data;
	const struct weir_policy *p;
	struct weir_switch *sw;
	unsigned long flags;
	char name[32];
	int ret = 0;

	if (sscanf(page, "%31s", name) != 1)
		return -EINVAL;
	p = weir_policy_find(name);
	if (!p)
		return -EINVAL;
	spin_lock_irqsave(&mq->lock, flags);
	sw = weir_switch_prepare(mq->w, p, NULL, &ret);
	if (sw) {
		weir_switch_commit(mq->w, sw, weir_mq_now());
		weir_mq_watch_reset(mq);
	}
	spin_unlock_irqrestore(&mq->lock, flags);
	if (!sw)
		return ret;
	weir_mq_kick(mq);
	return count;
}

static ssize_t tunables_show(struct elevator_queue *eq, char *page)
{
	struct weir_mq *mq = eq->elevator_data;
	const struct weir_tunable *t = weir_policy_info(weir_current_policy(mq->w))->tunables;
	unsigned int n;
	int at = 0;

	for (n = 0; t[n].name; n++)
		at += sysfs_emit_at(page, at, "%s=%llu %s %llu-%llu\n", t[n].name,
				    weir_tunable_get(mq->w, n), weir_unit_name(t[n].unit), t[n].min,
				    t[n].max);
	return at;
}

static ssize_t tunables_store(struct elevator_queue *eq, const char *page, size_t count)
{
	struct weir_mq *mq = eq->elevator_data;
	unsigned long flags;
	char line[64], *value = line;
	u64 number;
	int n, ret;

	if (strscpy(line, page, sizeof(line)) < 0)
		return -EINVAL;
	strsep(&value, "=");
	if (!value || kstrtou64(strim(value), 10, &number))
		return -EINVAL;
	spin_lock_irqsave(&mq->lock, flags);
	n = weir_tunable_find(weir_current_policy(mq->w), strim(line));
	ret = n < 0 ? n : weir_tunable_set(mq->w, n, number, weir_mq_now());
	spin_unlock_irqrestore(&mq->lock, flags);
	if (ret)
		return ret;
	weir_mq_kick(mq);
	return count;
}

struct elv_fs_entry weir_mq_attrs[] = {
	__ATTR(policy, 0644, policy_show, policy_store),
	__ATTR(tunables, 0644, tunables_show, tunables_store),
	__ATTR_NULL,
};
