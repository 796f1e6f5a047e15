// SPDX-License-Identifier: GPL-2.0-only
/*
 * io.max and io.low as cgroup v2 writes them: keys with numbers behind an optional device. Numbers
 * are plain there, without units, and so they are here: k would be 1000 to one reader and 1024 to
 * the next.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/groups_build.h"

static const char blanks[] = " \t\r\n\f\v";

const char *group_skip_device(const char *text)
{
	const char *s = text + strspn(text, blanks), *minor;
	size_t digits = strspn(s, "0123456789");

	if (!digits || s[digits] != ':')
		return s;
	minor = s + digits + 1;
	digits = strspn(minor, "0123456789");
	if (!digits || (minor[digits] && !strchr(blanks, minor[digits])))
		return s;
	return minor + digits + strspn(minor + digits, blanks);
}

bool group_number(const char *text, size_t bytes, uint64_t *out)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < bytes; i++) {
		if (!isdigit((unsigned char)text[i]) || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
			return false;
	}
	*out = value;
	return bytes > 0;
}

/* The rate that a key of so many letters names, or NULL. */
static uint64_t *rate_of(struct weir_rates *r, const char *key, size_t bytes)
{
	if (bytes == 4 && !strncmp(key, "rbps", 4))
		return &r->bps[WEIR_READ];
	if (bytes == 4 && !strncmp(key, "wbps", 4))
		return &r->bps[WEIR_WRITE];
	if (bytes == 5 && !strncmp(key, "riops", 5))
		return &r->iops[WEIR_READ];
	if (bytes == 5 && !strncmp(key, "wiops", 5))
		return &r->iops[WEIR_WRITE];
	return NULL;
}

static int refuse(char *err, size_t err_bytes, const char *accept)
{
	if (err_bytes)
		snprintf(err, err_bytes, "%s", accept);
	return -1;
}

/* One KEY=NUMBER of text; given collects which rates were set. */
static int take_rate(const char *word, size_t bytes, bool floor, struct weir_rates *out,
		     struct weir_rates *given, char *err, size_t err_bytes)
{
	const char *equals = memchr(word, '=', bytes);
	size_t key_bytes = equals ? (size_t)(equals - word) : bytes;
	uint64_t *rate = rate_of(out, word, key_bytes), *seen = rate_of(given, word, key_bytes);
	size_t nr;

	if (!rate || !equals)
		return refuse(err, err_bytes,
			      "rbps=, wbps=, riops= and wiops= are accepted, with blanks between "
			      "them and MAJ:MIN before them or not");
	if (*seen)
		return refuse(err, err_bytes,
			      "each of rbps, wbps, riops and wiops is accepted once");
	*seen = 1;
	nr = bytes - key_bytes - 1;
	if (nr == 3 && !strncmp(equals + 1, "max", 3)) {
		if (floor)
			return refuse(err, err_bytes,
				      "a floor is a number; max is accepted in io.max");
		*rate = WEIR_UNLIMITED;
		return 0;
	}
	if (!group_number(equals + 1, nr, rate) || *rate == WEIR_UNLIMITED)
		return refuse(err, err_bytes,
			      floor ? "a whole number per second is accepted; 0 is no floor"
				    : "a whole number per second is accepted, or max");
	if (!*rate && !floor)
		return refuse(err, err_bytes,
			      "a ceiling of 0 would stop all I/O: 1 and more is accepted, or max");
	return 0;
}

int lab_parse_rates(const char *text, bool floor, struct weir_rates *out, char *err,
		    size_t err_bytes)
{
	struct weir_rates given = {{0}, {0}};
	const char *s = group_skip_device(text);
	unsigned int dir;
	size_t bytes;

	for (dir = 0; dir < WEIR_NR_DIRS; dir++) {
		out->bps[dir] = floor ? 0 : WEIR_UNLIMITED;
		out->iops[dir] = floor ? 0 : WEIR_UNLIMITED;
	}
	do {
		bytes = strcspn(s, blanks);
		if (take_rate(s, bytes, floor, out, &given, err, err_bytes) < 0)
			return -1;
		s += bytes + strspn(s + bytes, blanks);
	} while (*s);
	return 0;
}
