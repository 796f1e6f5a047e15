// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads profiles: key=value text over any number of lines, one line of io.cost.model, or one flat
 * JSON object. The three differ in punctuation only, so one scanner cuts all of them into keys and
 * values, and one table says what a key may hold.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <weir/profile_keys.h>

#include "core/fixed.h"
#include "lab/dev_profile.h"

/* clang-format off */
enum key {
#define KEY(id, name, min, max) KEY_##id,
	WEIR_PROFILE_KEYS(KEY)
#undef KEY
	KEY_CTRL,
	KEY_MODEL,
	NR_KEYS,
};

static const struct {
	const char *name;
	uint64_t min, max;
	const char *words[2]; /* instead of a number */
} keys[NR_KEYS] = {
#define KEY(id, name, min, max) [KEY_##id] = {name, min, max, {NULL, NULL}},
	WEIR_PROFILE_KEYS(KEY)
#undef KEY
	[KEY_CTRL] = {"ctrl", 0, 0, {"user", "auto"}},
	[KEY_MODEL] = {"model", 0, 0, {"linear", "linear"}},
};
/* clang-format on */

struct scan {
	const char *at, *end, *name;
	int line;
	bool json, device_seen;
	bool seen[NR_KEYS];
	uint64_t value[NR_KEYS];
	char *err;
	size_t err_bytes;
};

struct piece {
	const char *at;
	size_t bytes;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct scan *s, const char *fmt, ...)
{
	int used = snprintf(s->err, s->err_bytes, "%s:%d: ", s->name, s->line);
	va_list ap;

	if (used > 0 && (size_t)used < s->err_bytes) {
		va_start(ap, fmt);
		vsnprintf(s->err + used, s->err_bytes - (size_t)used, fmt, ap);
		va_end(ap);
	}
	return false;
}

/* Printable, and short enough for a message. */
static const char *show(struct piece p, char buf[44])
{
	size_t n = p.bytes < 40 ? p.bytes : 40, i;

	for (i = 0; i < n; i++)
		buf[i] = isprint((unsigned char)p.at[i]) ? p.at[i] : '?';
	strcpy(buf + n, p.bytes > n ? "..." : "");
	return buf;
}

static bool is(struct piece p, const char *word)
{
	return p.bytes == strlen(word) && !memcmp(p.at, word, p.bytes);
}

static void skip_space(struct scan *s)
{
	for (; s->at < s->end; s->at++) {
		if (*s->at == '\n')
			s->line++;
		else if (*s->at == '#' && !s->json)
			while (s->at + 1 < s->end && s->at[1] != '\n')
				s->at++;
		else if (!isspace((unsigned char)*s->at))
			return;
	}
}

static int find_key(struct piece p)
{
	int i;

	for (i = 0; i < NR_KEYS; i++)
		if (is(p, keys[i].name))
			return i;
	return -1;
}

static bool number(struct piece p, uint64_t *out)
{
	uint64_t value = 0;
	size_t i;

	if (!p.bytes || p.bytes > 16)
		return false;
	for (i = 0; i < p.bytes; i++) {
		if (!isdigit((unsigned char)p.at[i]))
			return false;
		value = value * 10 + (uint64_t)(p.at[i] - '0');
	}
	*out = value;
	return true;
}

static bool unknown_key(struct scan *s, struct piece key)
{
	char all[200] = "", shown[44];
	int i;

	for (i = 0; i < NR_KEYS; i++) {
		strcat(all, i ? " " : "");
		strcat(all, keys[i].name);
	}
	return refuse(s, "%s: no such key; there are %s", show(key, shown), all);
}

static bool set(struct scan *s, struct piece key, struct piece value)
{
	int k = find_key(key);
	char shown[44];

	if (k < 0)
		return unknown_key(s, key);
	if (s->seen[k])
		return refuse(s, "%s: %s is given twice; once is accepted", show(value, shown),
			      keys[k].name);
	s->seen[k] = true;
	if (keys[k].words[0]) {
		if (is(value, keys[k].words[0]) || is(value, keys[k].words[1]))
			return true;
		return refuse(s, "%s: %s must be %s%s%s", show(value, shown), keys[k].name,
			      keys[k].words[0], k == KEY_CTRL ? " or " : "",
			      k == KEY_CTRL ? keys[k].words[1] : "");
	}
	if (s->json && k == KEY_ROTATIONAL && (is(value, "true") || is(value, "false"))) {
		s->value[k] = is(value, "true");
		return true;
	}
	if (!number(value, &s->value[k]) || s->value[k] < keys[k].min || s->value[k] > keys[k].max)
		return refuse(s, "%s: %s must be a whole number from %llu to %llu",
			      show(value, shown), keys[k].name, (unsigned long long)keys[k].min,
			      (unsigned long long)keys[k].max);
	return true;
}

/* MAJ:MIN at the start of a line of io.cost.model. */
static bool is_device_number(struct piece p)
{
	size_t i, colons = 0;

	for (i = 0; i < p.bytes; i++) {
		if (p.at[i] == ':')
			colons++;
		else if (!isdigit((unsigned char)p.at[i]))
			return false;
	}
	return colons == 1 && p.bytes > 2 && p.at[0] != ':' && p.at[p.bytes - 1] != ':';
}

static bool read_text(struct scan *s)
{
	for (skip_space(s); s->at < s->end; skip_space(s)) {
		struct piece word = {s->at, 0}, value;
		const char *equals;
		char shown[44];

		while (s->at < s->end && !isspace((unsigned char)*s->at) && *s->at != '#')
			s->at++;
		word.bytes = (size_t)(s->at - word.at);
		if (is_device_number(word)) {
			if (s->device_seen)
				return refuse(s, "%s: one device per file is accepted",
					      show(word, shown));
			s->device_seen = true;
			continue;
		}
		equals = memchr(word.at, '=', word.bytes);
		if (!equals)
			return refuse(s, "%s: key=value is accepted", show(word, shown));
		value = (struct piece){equals + 1, word.bytes - (size_t)(equals - word.at) - 1};
		word.bytes = (size_t)(equals - word.at);
		if (!set(s, word, value))
			return false;
	}
	return true;
}

/* One character of JSON's punctuation, after space. */
static bool take(struct scan *s, char c)
{
	skip_space(s);
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

/* A string without escapes, or a bare word: a number, true, false. */
static bool read_value(struct scan *s, struct piece *out)
{
	if (take(s, '"')) {
		const char *quote = memchr(s->at, '"', (size_t)(s->end - s->at));

		if (!quote)
			return false;
		*out = (struct piece){s->at, (size_t)(quote - s->at)};
		s->at = quote + 1;
		return !memchr(out->at, '\n', out->bytes);
	}
	out->at = s->at;
	while (s->at < s->end &&
	       (isalnum((unsigned char)*s->at) || *s->at == '+' || *s->at == '-' || *s->at == '.'))
		s->at++;
	out->bytes = (size_t)(s->at - out->at);
	return out->bytes > 0;
}

static bool read_json(struct scan *s)
{
	struct piece key, value, rest;
	char shown[44];

	take(s, '{');
	do {
		if (!take(s, '"'))
			break;
		s->at--;
		if (!read_value(s, &key) || !take(s, ':') || !read_value(s, &value))
			break;
		if (!set(s, key, value))
			return false;
	} while (take(s, ','));
	if (take(s, '}')) {
		skip_space(s);
		if (s->at == s->end)
			return true;
	}
	rest = (struct piece){s->at, (size_t)(s->end - s->at)};
	if (memchr(rest.at, '\n', rest.bytes))
		rest.bytes = (size_t)((const char *)memchr(rest.at, '\n', rest.bytes) - rest.at);
	return refuse(s, "%s: one flat JSON object of \"key\": number is accepted",
		      rest.bytes ? show(rest, shown) : "end");
}

static uint64_t at_least(uint64_t ns, uint64_t iops)
{
	return weir_max64(ns, WEIR_NS_PER_S / iops);
}

static bool finish(struct scan *s, struct dev_profile_data *out)
{
	const uint64_t *v = s->value;
	bool rotational = v[KEY_ROTATIONAL];
	struct weir_profile *p = &out->profile;
	const char *wrong;
	int k;

	for (k = 0; k <= KEY_WRANDIOPS; k++)
		if (!s->seen[k])
			return refuse(s,
				      "end: %s is missing; rbps rseqiops rrandiops wbps wseqiops "
				      "wrandiops are needed",
				      keys[k].name);
	*p = (struct weir_profile){
		.rbps = v[KEY_RBPS],
		.rseqiops = v[KEY_RSEQIOPS],
		.rrandiops = v[KEY_RRANDIOPS],
		.wbps = v[KEY_WBPS],
		.wseqiops = v[KEY_WSEQIOPS],
		.wrandiops = v[KEY_WRANDIOPS],
		.flush_ns = v[KEY_FLUSH] * WEIR_NS_PER_US,
		.rotational = rotational,
	};
	/* A disk with one arm is as slow alone as in company; flash is faster in company. */
	p->latency_ns = s->seen[KEY_LATENCY] ? v[KEY_LATENCY] * WEIR_NS_PER_US
					     : at_least(rotational ? 0 : 100000, p->rrandiops);
	out->write_latency_ns = s->seen[KEY_WLATENCY]
					? v[KEY_WLATENCY] * WEIR_NS_PER_US
					: at_least(rotational ? 0 : 30000, p->wrandiops);
	out->p99_ns[WEIR_READ] = v[KEY_RLAT] * WEIR_NS_PER_US;
	out->p99_ns[WEIR_WRITE] = v[KEY_WLAT] * WEIR_NS_PER_US;
	out->depth = s->seen[KEY_DEPTH] ? v[KEY_DEPTH] : rotational ? 31 : 1023;
	out->capacity_gb = s->seen[KEY_CAPACITY] ? v[KEY_CAPACITY] : 512;
	wrong = weir_profile_check(p);
	return wrong ? refuse(s, "end: %s", wrong) : true;
}

bool dev_profile_parse(const char *text, size_t bytes, const char *name,
		       struct dev_profile_data *out, char *err, size_t err_bytes)
{
	struct scan s = {
		.at = text,
		.end = text + bytes,
		.name = name,
		.line = 1,
		.err = err,
		.err_bytes = err_bytes,
	};

	if (bytes > DEV_PROFILE_FILE_MAX)
		return refuse(&s, "%zu bytes: at most %u are accepted", bytes,
			      DEV_PROFILE_FILE_MAX);
	skip_space(&s);
	s.json = s.at < s.end && *s.at == '{';
	return (s.json ? read_json(&s) : read_text(&s)) && finish(&s, out);
}

static bool load_file(const char *path, struct dev_profile_data *out, char *err, size_t err_bytes)
{
	char *text = malloc(DEV_PROFILE_FILE_MAX + 1);
	FILE *f = fopen(path, "rb");
	bool ok = false;
	size_t bytes;

	if (!f || !text) {
		snprintf(err, err_bytes,
			 "%s: %s; a readable profile is accepted, see "
			 "weir-profile(5)",
			 path, strerror(errno));
	} else {
		bytes = fread(text, 1, DEV_PROFILE_FILE_MAX + 1, f);
		if (ferror(f))
			snprintf(err, err_bytes, "%s: %s; a file is accepted", path,
				 strerror(errno));
		else
			ok = dev_profile_parse(text, bytes, path, out, err, err_bytes);
	}
	if (f)
		fclose(f);
	free(text);
	return ok;
}

static void say_builtins(const char *what, char *err, size_t err_bytes)
{
	const struct dev_profile_builtin *b;
	size_t used;
	unsigned int n;

	snprintf(err, err_bytes, "profile:%.40s: neither a file nor built in; built in are", what);
	for (n = 0; (b = dev_profile_builtin_at(n)); n++) {
		used = strlen(err);
		snprintf(err + used, err_bytes - used, "%s %s", n ? "," : "", b->name);
	}
}

bool dev_profile_load(const char *what, struct dev_profile_data *out, char *err, size_t err_bytes)
{
	const struct dev_profile_builtin *b;
	unsigned int n;
	FILE *f;

	for (n = 0; (b = dev_profile_builtin_at(n)); n++) {
		if (!strcmp(what, b->name)) {
			*out = b->data;
			return true;
		}
	}
	f = fopen(what, "rb");
	if (!f && errno == ENOENT && !strchr(what, '/')) {
		say_builtins(what, err, err_bytes);
		return false;
	}
	if (f)
		fclose(f);
	return load_file(what, out, err, err_bytes);
}
