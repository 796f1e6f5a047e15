// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/weir/DISK/
 *
 *	record	   "on" or "on BYTES" begins a flight recording, "off" ends it; reading says how it is
 *	recording  what was recorded, for `weir rerun`: reading takes it out of the ring
 *	state	   what waits where, and since when; it needs nothing to move
 *	stall	   1: the policy is not asked any more, to try the watchdog
 *
 * A recording starts from a drained instance, so the queue is frozen for that moment.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "mq.h"

#define RING_BYTES SZ_16M
#define RING_BYTES_MAX SZ_1G

static struct dentry *top;

/* ---- record ---- */

static int start(struct weir_mq *mq, size_t bytes)
{
	void *ring = vmalloc(bytes), *before = NULL;
	int ret = -EBUSY;

	if (!ring)
		return -ENOMEM;
	blk_mq_freeze_queue(mq->q);
	spin_lock_irq(&mq->lock);
	if (!mq->debug.recording) {
		weir_mq_forget_places(mq);
		ret = weir_record_start(mq->w, ring, bytes, weir_mq_now());
	}
	if (!ret) {
		before = mq->debug.ring;
		mq->debug.ring = ring;
		mq->debug.ring_bytes = bytes;
		mq->debug.recording = true;
	}
	spin_unlock_irq(&mq->lock);
	blk_mq_unfreeze_queue(mq->q);
	vfree(ret ? ring : before);
	return ret;
}

static void stop(struct weir_mq *mq)
{
	spin_lock_irq(&mq->lock);
	if (mq->debug.recording)
		weir_record_stop(mq->w, weir_mq_now());
	mq->debug.recording = false;
	spin_unlock_irq(&mq->lock);
}

static ssize_t record_write(struct file *file, const char __user *user, size_t count, loff_t *pos)
{
	struct weir_mq *mq = ((struct seq_file *)file->private_data)->private;
	unsigned long bytes = RING_BYTES;
	char line[32], *word, *rest = line;
	int ret;

	if (count >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, user, count))
		return -EFAULT;
	line[count] = '\0';
	rest = strim(line);
	word = strsep(&rest, " ");
	if (!strcmp(word, "off") && !rest) {
		stop(mq);
		return count;
	}
	if (strcmp(word, "on") || (rest && kstrtoul(strim(rest), 0, &bytes)))
		return -EINVAL;
	if (bytes < WEIR_RECORD_RING_MIN || bytes > RING_BYTES_MAX)
		return -ERANGE;
	ret = start(mq, bytes);
	return ret ?: count;
}

static int record_show(struct seq_file *sf, void *v)
{
	struct weir_mq *mq = sf->private;

	spin_lock_irq(&mq->lock);
	seq_printf(sf, "%s ring=%zu overflowed=%d\n", mq->debug.recording ? "on" : "off",
		   mq->debug.ring_bytes, mq->debug.ring && weir_record_overflowed(mq->w));
	spin_unlock_irq(&mq->lock);
	return 0;
}

static int record_open(struct inode *inode, struct file *file)
{
	return single_open(file, record_show, inode->i_private);
}

static const struct file_operations record_fops = {
	.owner = THIS_MODULE,
	.open = record_open,
	.read = seq_read,
	.write = record_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* ---- recording ---- */

static ssize_t recording_read(struct file *file, char __user *user, size_t count, loff_t *pos)
{
	struct weir_mq *mq = file->private_data;
	void *page = (void *)__get_free_page(GFP_KERNEL);
	ssize_t n = 0;

	if (!page)
		return -ENOMEM;
	spin_lock_irq(&mq->lock);
	if (mq->debug.ring)
		n = weir_record_read(mq->w, page, min_t(size_t, count, PAGE_SIZE));
	spin_unlock_irq(&mq->lock);
	/* What can't be handed over is lost, as is said of the file. */
	if (n && copy_to_user(user, page, n))
		n = -EFAULT;
	free_page((unsigned long)page);
	return n;
}

static const struct file_operations recording_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = recording_read,
	.llseek = noop_llseek,
};

/* ---- state ---- */

/* Of a group in which something is going on. */
static void show_group(struct seq_file *sf, struct weir_mq_group *mg,
		       struct weir_group_stats *stats, char *path)
{
	struct weir_mq_waiter *wt;
	unsigned int dir;

	weir_group_read_own_stats(mg->g, weir_mq_now(), stats);
	*path = '\0';
	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		const struct weir_dir_stats *d = &stats->dir[dir];
		u32 limit = weir_admit_limit(mg->g, dir);
		u32 nr_waiters = 0;

		list_for_each_entry(wt, &mg->waiters[dir], list)
			nr_waiters++;
		if (!d->waiting && !d->in_flight && !weir_admitted(mg->g, dir) && !nr_waiters)
			continue;
		if (!*path)
			cgroup_path(mg->pd.blkg->blkcg->css.cgroup, path, PATH_MAX);
		seq_printf(sf,
			   "group=%u %s waiting=%u in_flight=%u admitted=%u limit=%u coming=%u "
			   "tasks=%u path=%s\n",
			   weir_group_id(mg->g), dir == WEIR_READ ? "read" : "write", d->waiting,
			   d->in_flight, weir_admitted(mg->g, dir), limit, mg->pending[dir],
			   nr_waiters, path);
	}
}

static void show_disk(struct seq_file *sf, struct weir_mq *mq)
{
	u64 now = weir_mq_now(), oldest_ns = weir_mq_oldest_ns(mq);

	seq_printf(sf, "policy=%s", weir_policy_info(weir_current_policy(mq->w))->name);
	if (mq->watch.passing_ns)
		seq_printf(sf, " passing_through_ms=%llu",
			   div_u64(now - mq->watch.passing_ns, NSEC_PER_MSEC));
	seq_printf(sf, " passed_through=%u\n", mq->watch.nr_passed);
	seq_printf(sf, "waiting=%llu in_flight=%llu dispatched=%llu oldest_ms=%llu\n",
		   weir_nr_waiting(mq->w), weir_nr_in_flight(mq->w), mq->nr_dispatched,
		   oldest_ns ? div_u64(now - oldest_ns, NSEC_PER_MSEC) : 0);
	seq_printf(sf, "pool=%u pool_used=%u starved=%d timer=%d ask=%d", mq->cfg.pool,
		   weir_pool_used(mq->w), mq->starved, hrtimer_active(&mq->timer), mq->ask);
	if (mq->starved && mq->next_ns == WEIR_NEVER)
		seq_puts(sf, " next_us=never\n");
	else
		seq_printf(sf, " next_us=%lld\n",
			   mq->starved ? div_s64((s64)(mq->next_ns - now), NSEC_PER_USEC) : 0);
}

static int state_show(struct seq_file *sf, void *v)
{
	struct weir_group_stats *stats = kzalloc(sizeof(*stats), GFP_KERNEL);
	char *path = kzalloc(PATH_MAX, GFP_KERNEL);
	struct weir_mq *mq = sf->private;
	struct weir_mq_group *mg;

	if (stats && path) {
		spin_lock_irq(&mq->lock);
		show_disk(sf, mq);
		list_for_each_entry(mg, &mq->groups, in_groups)
			show_group(sf, mg, stats, path);
		spin_unlock_irq(&mq->lock);
	}
	kfree(stats);
	kfree(path);
	return stats && path ? 0 : -ENOMEM;
}
DEFINE_SHOW_ATTRIBUTE(state);

/* ---- disks ---- */

void weir_mq_debug_add(struct weir_mq *mq)
{
	struct dentry *dir = debugfs_create_dir(mq->q->disk->disk_name, top);

	mq->debug.dir = dir;
	debugfs_create_file("record", 0600, dir, mq, &record_fops);
	debugfs_create_file("recording", 0400, dir, mq, &recording_fops);
	debugfs_create_file("state", 0400, dir, mq, &state_fops);
	debugfs_create_bool("stall", 0600, dir, &mq->watch.stall);
}

/* Waits for those who are in one of the files. They need no lock of those who change the elevator. */
void weir_mq_debug_remove(struct weir_mq *mq)
{
	debugfs_remove(mq->debug.dir);
	stop(mq);
}

void weir_mq_debugfs_init(void)
{
	top = debugfs_create_dir("weir", NULL);
}

void weir_mq_debugfs_exit(void)
{
	debugfs_remove(top);
}
