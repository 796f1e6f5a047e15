// SPDX-License-Identifier: GPL-2.0-only
/*
 * From what the user typed to a device: NAME[:key=value...], profile:NAME[..], profile:FILE[..].
 *
 * The presets carry their profile as constants. When an option makes the model another device than
 * the one that was measured, its profile is measured anew, in some milliseconds of real time, so
 * that prices stay right whatever was typed.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lab/dev_models.h"
#include "lab/dev_profile.h"
#include "lab/measure.h"

static const struct lab_device_model *const models[] = {
	&dev_hdd, &dev_ssd, &dev_pcie_flash, &dev_nvme, &dev_profile, &dev_null,
};

#define NR_MODELS (sizeof(models) / sizeof(models[0]))

const struct lab_device_model *lab_device_model_at(unsigned int n)
{
	return n < NR_MODELS ? models[n] : NULL;
}

struct text {
	const char *at;
	size_t bytes;
};

__attribute__((format(printf, 3, 4))) static void say(char *err, size_t err_bytes, const char *fmt,
						      ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, err_bytes, fmt, ap);
	va_end(ap);
}

/* Appends; what does not fit is cut. */
__attribute__((format(printf, 3, 4))) static void say_more(char *err, size_t err_bytes,
							   const char *fmt, ...)
{
	size_t used = strnlen(err, err_bytes);
	va_list ap;

	if (used + 1 >= err_bytes)
		return;
	va_start(ap, fmt);
	vsnprintf(err + used, err_bytes - used, fmt, ap);
	va_end(ap);
}

/* The piece up to the next colon; *rest moves behind it, or becomes NULL at the end. */
static struct text next_piece(const char **rest)
{
	const char *colon = strchr(*rest, ':');
	struct text t = {*rest, colon ? (size_t)(colon - *rest) : strlen(*rest)};

	*rest = colon ? colon + 1 : NULL;
	return t;
}

static bool is(struct text t, const char *name)
{
	return t.bytes == strlen(name) && !memcmp(t.at, name, t.bytes);
}

/* For messages: long values are cut. */
static int shown(struct text t)
{
	return t.bytes > 60 ? 60 : (int)t.bytes;
}

static const struct lab_device_model *find_model(struct text name, char *err, size_t err_bytes)
{
	size_t i;

	for (i = 0; i < NR_MODELS; i++)
		if (is(name, models[i]->name))
			return models[i];
	say(err, err_bytes, "device %.*s: no such model; there are", shown(name), name.at);
	for (i = 0; i < NR_MODELS; i++)
		say_more(err, err_bytes, "%s %s%s", i ? "," : "", models[i]->name,
			 models[i] == &dev_profile ? ":NAME or profile:FILE" : "");
	return NULL;
}

static bool parse_number(struct text t, uint64_t *out)
{
	uint64_t value = 0;
	size_t i;

	if (!t.bytes || t.bytes > 18)
		return false;
	for (i = 0; i < t.bytes; i++) {
		if (!isdigit((unsigned char)t.at[i]))
			return false;
		value = value * 10 + (uint64_t)(t.at[i] - '0');
	}
	*out = value;
	return true;
}

static bool parse_option(const struct lab_device_model *m, struct text piece, uint64_t *values,
			 bool *given, char *err, size_t err_bytes)
{
	const char *equals = memchr(piece.at, '=', piece.bytes);
	const struct lab_device_option *o;
	struct text key = piece, value = {0};
	unsigned int i;

	if (equals) {
		key.bytes = (size_t)(equals - piece.at);
		value = (struct text){equals + 1, piece.bytes - key.bytes - 1};
	}
	for (i = 0; m->options[i].name && !is(key, m->options[i].name); i++)
		;
	o = &m->options[i];
	if (!o->name) {
		say(err, err_bytes, "device %s: %.*s: no such option; there are", m->name,
		    shown(key), key.at);
		for (i = 0; m->options[i].name; i++)
			say_more(err, err_bytes, "%s %s", i ? "," : "", m->options[i].name);
		return false;
	}
	if (given[i]) {
		say(err, err_bytes, "device %s: %.*s: %s is given twice", m->name, shown(piece),
		    piece.at, o->name);
		return false;
	}
	given[i] = true;
	if (!equals || !parse_number(value, &values[i]) || values[i] < o->min ||
	    values[i] > o->max) {
		say(err, err_bytes,
		    "device %s: %.*s: %s must be a whole number from %llu to %llu (%s)", m->name,
		    shown(piece), piece.at, o->name, (unsigned long long)o->min,
		    (unsigned long long)o->max, o->unit);
		return false;
	}
	return true;
}

/* Options that leave the profile as it is. */
static bool changes_profile(const struct lab_device_option *o)
{
	return strncmp(o->name, "stall", 5) != 0;
}

static bool is_another_device(const struct lab_device_model *m, const uint64_t *values)
{
	unsigned int i;

	for (i = 0; m->options[i].name; i++)
		if (values[i] != m->options[i].def && changes_profile(&m->options[i]))
			return true;
	return false;
}

/* Measured, or remembered: a run opens the same device again and again. */
static void profile_of(const struct lab_device_model *m, const uint64_t *values,
		       struct weir_profile *out)
{
	static struct {
		const struct lab_device_model *model;
		uint64_t values[LAB_DEVICE_OPTIONS_MAX];
		struct weir_profile profile;
	} last;
	unsigned int i;
	bool same = last.model == m;

	for (i = 0; m->options[i].name && same; i++)
		same = last.values[i] == values[i] || !changes_profile(&m->options[i]);
	if (!same) {
		last.model = m;
		memcpy(last.values, values, sizeof(last.values));
		lab_measure_profile(m, values, NULL, &last.profile);
	}
	*out = last.profile;
}

static bool parse_options(const struct lab_device_model *m, const char *rest, uint64_t *values,
			  char *err, size_t err_bytes)
{
	bool given[LAB_DEVICE_OPTIONS_MAX] = {0};
	unsigned int i;

	for (i = 0; m->options[i].name; i++)
		values[i] = m->options[i].def;
	while (rest)
		if (!parse_option(m, next_piece(&rest), values, given, err, err_bytes))
			return false;
	return true;
}

static struct lab_device *open_profile(const char *rest, struct lab_engine *e, uint64_t seed,
				       char *err, size_t err_bytes)
{
	uint64_t values[LAB_DEVICE_OPTIONS_MAX];
	struct dev_profile_data data;
	struct text name = {0};
	char *path;
	bool ok;

	if (rest)
		name = next_piece(&rest);
	path = strndup(name.bytes ? name.at : "", name.bytes);
	ok = path && dev_profile_load(path, &data, err, err_bytes) &&
	     parse_options(&dev_profile, rest, values, err, err_bytes);
	free(path);
	return ok ? dev_profile_create(&data, e, values, seed) : NULL;
}

struct lab_device *lab_device_open(const char *spec, struct lab_engine *e, uint64_t seed, char *err,
				   size_t err_bytes)
{
	uint64_t values[LAB_DEVICE_OPTIONS_MAX] = {0};
	const struct lab_device_model *m;
	const char *rest = spec;
	struct lab_device *d;

	m = find_model(next_piece(&rest), err, err_bytes);
	if (!m)
		return NULL;
	if (m == &dev_profile)
		return open_profile(rest, e, seed, err, err_bytes);
	if (!parse_options(m, rest, values, err, err_bytes))
		return NULL;
	d = m->create(m, e, values, NULL, seed);
	if (m->preset && is_another_device(m, values))
		profile_of(m, values, &d->info.profile);
	return d;
}
