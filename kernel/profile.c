// SPDX-License-Identifier: GPL-2.0-only
/*
 * queue/iosched/profile: what requests cost on the disk, as in weir-profile(5). A file of the lab, a
 * line of io.cost.model and what `weir devices --profile` prints can be written here as they are;
 * `default` takes it back. In force at the next insertion, and what the policy learned about the
 * device begins afresh.
 *
 * It stands with the disk and not, as io.cost.model, in the root cgroup: it says nothing about
 * groups, and ends when the disk gets another elevator.
 *
 * An errno can't say what is wrong: the kernel's log does.
 */
#include <linux/ctype.h>
#include <linux/slab.h>

#include <weir/profile_keys.h>

#include "profile.h"
#include "sysfs.h"

/* clang-format off */
enum profile_key {
#define KEY(id, name, min, max) KEY_##id,
	WEIR_PROFILE_KEYS(KEY)
#undef KEY
	NR_KEYS,
};

static const struct {
	const char *name;
	u64 min, max;
} keys[NR_KEYS] = {
#define KEY(id, name, min, max) [KEY_##id] = {name, min, max},
	WEIR_PROFILE_KEYS(KEY)
#undef KEY
};
/* clang-format on */

struct given {
	const char *disk;
	u64 value[NR_KEYS];
	bool seen[NR_KEYS];
	bool number_seen;
};

#define refuse(g, ret, fmt, ...)                                                   \
	({                                                                         \
		pr_warn("weir: %s: profile: " fmt "\n", (g)->disk, ##__VA_ARGS__); \
		(ret);                                                             \
	})

/* ---- reading ---- */

/* From each # to the end of its line. */
static void blank_comments(char *text)
{
	char *at;

	for (at = strchr(text, '#'); at; at = strchr(at, '#'))
		memset(at, ' ', strcspn(at, "\n"));
}

/* MAJ:MIN, which a line of io.cost.model begins with: of any disk, since all that may move. */
static bool is_device_number(const char *word)
{
	unsigned int major, minor;
	char rest;

	return sscanf(word, "%u:%u%c", &major, &minor, &rest) == 2;
}

static int set(struct given *g, const char *name, const char *value)
{
	unsigned int k;
	u64 n;

	/* Of io.cost.model: who sets it, and the only model that there is. */
	if (!strcmp(name, "ctrl") && (!strcmp(value, "user") || !strcmp(value, "auto")))
		return 0;
	if (!strcmp(name, "model") && !strcmp(value, "linear"))
		return 0;
	for (k = 0; k < NR_KEYS; k++)
		if (!strcmp(name, keys[k].name))
			break;
	if (k == NR_KEYS)
		return refuse(g, -EINVAL, "%s=%s: no such key, or not that value", name, value);
	if (g->seen[k])
		return refuse(g, -EINVAL, "%s: %s is given twice; once is accepted", value, name);
	if (!isdigit(*value) || kstrtou64(value, 10, &n))
		return refuse(g, -EINVAL, "%s: %s must be a whole number", value, name);
	if (n < keys[k].min || n > keys[k].max)
		return refuse(g, -ERANGE, "%s: %s must be from %llu to %llu", value, name,
			      keys[k].min, keys[k].max);
	g->seen[k] = true;
	g->value[k] = n;
	return 0;
}

static int read_word(struct given *g, char *word)
{
	char *value = word;

	if (is_device_number(word)) {
		if (g->number_seen)
			return refuse(g, -EINVAL, "%s: one device is accepted", word);
		g->number_seen = true;
		return 0;
	}
	strsep(&value, "=");
	if (!value)
		return refuse(g, -EINVAL, "%s: key=value is accepted, or default alone", word);
	return set(g, word, value);
}

/* The rest is of a modelled device: a real one has its own, and shows no flush. */
static bool is_used(enum profile_key k)
{
	return k <= KEY_WRANDIOPS || k == KEY_LATENCY || k == KEY_ROTATIONAL;
}

static int read_all(struct given *g, char *text)
{
	unsigned int k;
	char *word;
	int ret;

	blank_comments(text);
	while ((word = strsep(&text, " \t\r\n\v\f"))) {
		ret = *word ? read_word(g, word) : 0;
		if (ret)
			return ret;
	}
	for (k = 0; k <= KEY_WRANDIOPS; k++)
		if (!g->seen[k])
			return refuse(g, -EINVAL,
				      "%s is missing; rbps rseqiops rrandiops wbps wseqiops "
				      "wrandiops are needed",
				      keys[k].name);
	for (k = 0; k < NR_KEYS; k++)
		if (g->seen[k] && !is_used(k))
			pr_info("weir: %s: profile: %s is of modelled devices, and not used here\n",
				g->disk, keys[k].name);
	return 0;
}

/* ---- a profile ---- */

static bool turns(const struct weir_mq *mq)
{
	return !blk_queue_nonrot(mq->q);
}

/*
 * Where nobody said otherwise. Of a disk with an arm: 160 MB/s in mid-platter, any number of small
 * commands one behind the other, and 5 ms for one elsewhere, the drive's own ordering included.
 * What matters is the proportion.
 */
static void set_default(struct weir_profile *p, bool rotational)
{
	struct weir_config cfg;

	weir_config_init(&cfg);
	*p = cfg.profile;
	if (rotational)
		*p = (struct weir_profile){
			.rbps = 160000000,
			.rseqiops = 39000,
			.rrandiops = 200,
			.wbps = 160000000,
			.wseqiops = 39000,
			.wrandiops = 250,
		};
	p->rotational = rotational;
}

void weir_mq_profile_follow(struct weir_mq *mq, struct weir_config *cfg)
{
	if (!mq->own_profile)
		set_default(&cfg->profile, turns(mq));
	else if (!mq->own_rotational)
		cfg->profile.rotational = turns(mq);
}

/*
 * As the lab has it for the same profile: 99 % of the peak takes about as much as fits the idle
 * latency, in whole requests.
 */
static u64 knee_ns(const struct weir_profile *p)
{
	u64 cost = weir_profile_cost_ns(p, WEIR_OP_READ, 8, true);
	u64 whole = div_u64(max(p->latency_ns, cost) * 99, 100);

	return DIV64_U64_ROUND_UP(whole, cost) * cost;
}

static void build(const struct given *g, struct weir_profile *p)
{
	const u64 *v = g->value;

	*p = (struct weir_profile){
		.rbps = v[KEY_RBPS],
		.rseqiops = v[KEY_RSEQIOPS],
		.rrandiops = v[KEY_RRANDIOPS],
		.wbps = v[KEY_WBPS],
		.wseqiops = v[KEY_WSEQIOPS],
		.wrandiops = v[KEY_WRANDIOPS],
		.latency_ns = v[KEY_LATENCY] * NSEC_PER_USEC,
		.rotational = v[KEY_ROTATIONAL],
	};
	/* Not known, they are learned. */
	if (p->latency_ns)
		p->knee_ns = knee_ns(p);
}

/* g NULL: the default. */
static int apply(struct weir_mq *mq, const struct given *g)
{
	struct weir_config before;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&mq->lock, flags);
	before = mq->cfg;
	if (g)
		build(g, &mq->cfg.profile);
	mq->own_profile = g;
	mq->own_rotational = g && g->seen[KEY_ROTATIONAL];
	weir_mq_profile_follow(mq, &mq->cfg);
	ret = weir_reconfigure(mq->w, &mq->cfg, weir_mq_now());
	if (WARN_ON_ONCE(ret))
		mq->cfg = before;
	spin_unlock_irqrestore(&mq->lock, flags);
	return ret;
}

/* ---- the file ---- */

ssize_t weir_mq_profile_store(struct weir_mq *mq, const struct weir_mq_attr *a, const char *page,
			      size_t count)
{
	struct given g = {.disk = mq->q->disk->disk_name};
	char *text;
	int ret;

	if (sysfs_streq(page, "default")) {
		ret = apply(mq, NULL);
	} else {
		text = kstrdup(page, GFP_NOIO);
		if (!text)
			return -ENOMEM;
		ret = read_all(&g, text);
		if (!ret)
			ret = apply(mq, &g);
		kfree(text);
	}
	if (ret)
		return ret;
	weir_mq_kick(mq);
	return count;
}

ssize_t weir_mq_profile_show(struct weir_mq *mq, const struct weir_mq_attr *a, char *page)
{
	struct weir_profile p;
	unsigned long flags;
	bool own;
	int at;

	spin_lock_irqsave(&mq->lock, flags);
	p = mq->cfg.profile;
	own = mq->own_profile;
	spin_unlock_irqrestore(&mq->lock, flags);
	at = sysfs_emit(page,
			"ctrl=%s model=linear rbps=%llu rseqiops=%llu rrandiops=%llu wbps=%llu "
			"wseqiops=%llu wrandiops=%llu",
			own ? "user" : "auto", p.rbps, p.rseqiops, p.rrandiops, p.wbps, p.wseqiops,
			p.wrandiops);
	if (p.latency_ns)
		at += sysfs_emit_at(page, at, " latency_us=%llu",
				    div_u64(p.latency_ns, NSEC_PER_USEC));
	return at + sysfs_emit_at(page, at, " rotational=%u\n", p.rotational);
}
