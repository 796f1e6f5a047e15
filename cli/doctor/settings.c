// SPDX-License-Identifier: GPL-2.0-only
/* The lines in a cgroup's files that are not what every cgroup begins with. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/facts.h"

enum grammar { WEIGHT, KEYS, WORD, V1_NUMBER };

static const struct {
	const char *name;
	enum grammar grammar;
} files[NR_SETTING_FILES] = {
	[SET_IO_WEIGHT] = {"io.weight", WEIGHT},
	[SET_BFQ_WEIGHT] = {"io.bfq.weight", WEIGHT},
	[SET_WEIR_WEIGHT] = {"io.weir.weight", WEIGHT},
	[SET_MAX] = {"io.max", KEYS},
	[SET_LATENCY] = {"io.latency", KEYS},
	[SET_LOW] = {"io.low", KEYS},
	[SET_PRIO] = {"io.prio.class", WORD},
	[SET_WEIR_MAX] = {"io.weir.max", KEYS},
	[SET_WEIR_LOW] = {"io.weir.low", KEYS},
	[SET_WEIR_LATENCY] = {"io.weir.latency", KEYS},
	[SET_V1_WEIGHT] = {"blkio.bfq.weight", WEIGHT},
	[SET_V1_DEVICE_WEIGHT] = {"blkio.bfq.weight_device", WEIGHT},
	[SET_V1_READ_BPS] = {"blkio.throttle.read_bps_device", V1_NUMBER},
	[SET_V1_WRITE_BPS] = {"blkio.throttle.write_bps_device", V1_NUMBER},
	[SET_V1_READ_IOPS] = {"blkio.throttle.read_iops_device", V1_NUMBER},
	[SET_V1_WRITE_IOPS] = {"blkio.throttle.write_iops_device", V1_NUMBER},
};

const char *doctor_file_name(enum setting_file file)
{
	return files[file].name;
}

bool doctor_file_is_v1(enum setting_file file)
{
	return file >= SET_V1_WEIGHT;
}

const char *doctor_line_dev(const char *line, char *dev, size_t dev_bytes)
{
	const size_t major = strspn(line, "0123456789");
	size_t minor, bytes;

	if (!major || line[major] != ':')
		return NULL;
	minor = strspn(line + major + 1, "0123456789");
	bytes = major + 1 + minor;
	if (!minor || bytes >= dev_bytes || (line[bytes] && !isspace((unsigned char)line[bytes])))
		return NULL;
	memcpy(dev, line, bytes);
	dev[bytes] = 0;
	return line + bytes + strspn(line + bytes, " \t");
}

/* What follows "key=" at the beginning of a word, or NULL. */
static const char *value_of(const char *text, const char *key)
{
	const size_t bytes = strlen(key);
	const char *at = text;

	while (*at) {
		at += strspn(at, " \t");
		if (!strncmp(at, key, bytes) && at[bytes] == '=')
			return at + bytes + 1;
		at += strcspn(at, " \t");
	}
	return NULL;
}

bool doctor_key_number(const char *text, const char *key, uint64_t *out)
{
	const char *value = value_of(text, key);

	if (!value || !isdigit((unsigned char)*value))
		return false;
	*out = strtoull(value, NULL, 10);
	return true;
}

bool doctor_key_percent100(const char *text, const char *key, uint64_t *out)
{
	const char *value = value_of(text, key);
	char *end;
	uint64_t whole;

	if (!value || !isdigit((unsigned char)*value))
		return false;
	whole = strtoull(value, &end, 10);
	if (whole > UINT64_MAX / 100 - 1)
		return false;
	*out = whole * 100;
	if (end[0] == '.' && isdigit((unsigned char)end[1])) {
		*out += (uint64_t)(end[1] - '0') * 10;
		if (isdigit((unsigned char)end[2]))
			*out += (uint64_t)(end[2] - '0');
	}
	return true;
}

static struct doctor_setting *add(struct doctor_groups *g, unsigned int group,
				  enum setting_file file, const char *dev, const char *text)
{
	struct doctor_setting *s;

	/* Doubles, so that many thousand cost no more than a few copies. */
	if (!(g->settings & (g->settings - 1)))
		g->setting = doctor_grow(g->setting, g->settings ? 2 * (size_t)g->settings : 1,
					 sizeof(*g->setting));
	s = &g->setting[g->settings++];
	memset(s, 0, sizeof(*s));
	s->group = group;
	s->file = file;
	snprintf(s->dev, sizeof(s->dev), "%s", dev);
	snprintf(s->text, sizeof(s->text), "%s", text);
	g->set[file]++;
	return s;
}

/* "default 250", "250", "8:0 250" */
static bool take_weight(struct doctor_groups *g, unsigned int group, enum setting_file file,
			const char *dev, const char *text)
{
	uint64_t weight;
	char *end;

	/* That of all devices is in the file beside it. */
	if (!*dev && file == SET_V1_DEVICE_WEIGHT)
		return true;
	if (!*dev && !strncmp(text, "default ", 8))
		text += 8;
	if (*dev && !strcmp(text, "default"))
		return true;
	if (!isdigit((unsigned char)*text))
		return false;
	weight = strtoull(text, &end, 10);
	if (*end || !weight || weight > 10000)
		return false;
	/* 100 is what every cgroup has; for one device it was set on purpose. */
	if (*dev || weight != 100)
		add(g, group, file, dev, text)->weight = weight;
	return true;
}

/* Keys with numbers or "max"; set if at least one is a number above 0. */
static bool take_keys(struct doctor_groups *g, unsigned int group, enum setting_file file,
		      const char *dev, const char *text)
{
	const char *at = text;
	bool set = false;

	if (!*dev || !strchr(text, '='))
		return false;
	while ((at = strchr(at, '='))) {
		at++;
		if (isdigit((unsigned char)*at))
			set |= strtoull(at, NULL, 10) != 0;
		else if (strncmp(at, "max", 3) != 0)
			return false;
	}
	if (set)
		add(g, group, file, dev, text);
	return true;
}

static bool take_line(struct doctor_groups *g, unsigned int group, enum setting_file file,
		      const char *line)
{
	char dev[24] = "";
	const char *rest = doctor_line_dev(line, dev, sizeof(dev));

	if (!rest)
		rest = line;
	switch (files[file].grammar) {
	case WEIGHT:
		return take_weight(g, group, file, dev, rest);
	case KEYS:
		return take_keys(g, group, file, dev, rest);
	case WORD:
		if (strcmp(rest, "no-change") != 0)
			add(g, group, file, "", rest);
		return !*dev;
	case V1_NUMBER:
		if (!*dev || !isdigit((unsigned char)*rest))
			return false;
		if (strtoull(rest, NULL, 10))
			add(g, group, file, dev, rest);
		return true;
	}
	return false;
}

void doctor_settings_add(struct doctor_tree *t, struct doctor_groups *g, unsigned int group,
			 enum setting_file file, const char *text, const char *path)
{
	char *copy, *line, *save, *where;
	size_t bytes;

	if (!text)
		return;
	copy = doctor_text("%s", text);
	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		bytes = strlen(line);
		while (bytes && isspace((unsigned char)line[bytes - 1]))
			line[--bytes] = 0;
		if (!bytes || take_line(g, group, file, line))
			continue;
		where = doctor_text("%s/%s", path, files[file].name);
		tree_odd(t, where, "\"%.60s\" is no line of this file", line);
		free(where);
	}
	free(copy);
}
