// SPDX-License-Identifier: GPL-2.0-only
/*
 * --host key=value[,key=value]: the block layer and the page cache of the modelled host. The table
 * below is all there is to know about a setting; parsing, messages, help and the manual use it.
 */
#include <string.h>

#include "core/fixed.h"
#include "lab/sim.h"
#include "lab/sim_units.h"

typedef struct lab_host_config host_config;
typedef struct lab_cache_config cache_config;

#define SETTER(name, field)                                                            \
	static void set_##name(uint64_t value, host_config *host, cache_config *cache) \
	{                                                                              \
		(void)host;                                                            \
		(void)cache;                                                           \
		field = (__typeof__(field))value;                                      \
	}

SETTER(host_ns, host->host_ns)
SETTER(nr_requests, host->core.nr_requests)
SETTER(pool, host->core.pool)
SETTER(max_sectors, host->core.max_sectors)
SETTER(merge, host->core.merge)
SETTER(plug, host->plug)
SETTER(cache, cache->cache_bytes)
SETTER(read_ahead, cache->read_ahead_bytes)
SETTER(windows, cache->read_ahead_windows)
SETTER(dirty, cache->dirty_bytes)
SETTER(dirty_background, cache->dirty_background_bytes)
SETTER(charge, cache->charge)
SETTER(barriers, cache->barriers)
SETTER(copy, cache->copy_ns)

static void set_claim(uint64_t value, host_config *host, cache_config *cache)
{
	(void)cache;
	host->core.claim_ns = (uint32_t)(value * WEIR_NS_PER_US);
}

static void set_dirty_expire(uint64_t value, host_config *host, cache_config *cache)
{
	(void)host;
	cache->dirty_expire_ns = value * WEIR_NS_PER_MS;
}

static void set_flush_interval(uint64_t value, host_config *host, cache_config *cache)
{
	(void)host;
	cache->flush_interval_ns = value * WEIR_NS_PER_MS;
}

#define NUMBER(u) .kind = LAB_SETTING_NUMBER, .unit = WEIR_UNIT_##u
#define KIB(n) (UINT64_C(n) << 10)
#define MIB(n) (UINT64_C(n) << 20)
#define GIB(n) (UINT64_C(n) << 30)

static const struct lab_setting settings[] = {
	{"host_ns", NUMBER(NS), .min = 0, .max = 1000000, .def = "0", .apply = set_host_ns,
	 .help = "CPU time under the queue lock per scheduler call"},
	{"nr_requests", NUMBER(COUNT), .min = 4, .max = 65536, .def = "128",
	 .apply = set_nr_requests, .help = "queue size that policies reckon with"},
	{"pool", NUMBER(COUNT), .min = 2, .max = 1000000, .or_zero = true, .def = "0",
	 .apply = set_pool, .help = "requests that may be admitted at once; 0: no limit"},
	{"max_sectors", NUMBER(COUNT), .min = 8, .max = 65536, .def = "1024 or the device's",
	 .apply = set_max_sectors, .help = "largest request, in sectors of 512 bytes"},
	{"merge", NUMBER(BOOL), .min = 0, .max = 1, .def = "1", .apply = set_merge,
	 .help = "neighbouring requests become one"},
	{"plug", NUMBER(COUNT), .min = 1, .max = LAB_PLUG_MAX, .def = "16", .apply = set_plug,
	 .help = "requests that a task gathers before the policy sees them"},
	{"claim", NUMBER(US), .min = 0, .max = 1000000, .def = "2ms", .apply = set_claim,
	 .help = "a group that empties keeps its claim on its share for that long"},
	{"cache", NUMBER(BYTES), .min = MIB(1), .max = GIB(4096), .def = "1g", .apply = set_cache,
	 .help = "page cache"},
	{"read_ahead", NUMBER(BYTES), .min = KIB(4), .max = MIB(64), .or_zero = true, .def = "128k",
	 .apply = set_read_ahead, .help = "window of read-ahead, a multiple of 4k; 0: none"},
	{"windows", NUMBER(COUNT), .min = 1, .max = LAB_READ_AHEAD_WINDOWS_MAX,
	 .def = "the device's", .apply = set_windows,
	 .help = "windows of read-ahead in flight per stream"},
	{"dirty", NUMBER(BYTES), .min = KIB(128), .max = GIB(4096), .def = "20 % of cache",
	 .apply = set_dirty, .help = "dirty bytes above which writers are held back"},
	{"dirty_background", NUMBER(BYTES), .min = 0, .max = GIB(4096), .def = "half of dirty",
	 .apply = set_dirty_background, .help = "dirty bytes above which write-back begins"},
	{"dirty_expire", NUMBER(MS), .min = 1, .max = 3600000, .def = "30s",
	 .apply = set_dirty_expire, .help = "age at which dirty pages are written anyway"},
	{"flush_interval", NUMBER(MS), .min = 1, .max = 3600000, .def = "5s",
	 .apply = set_flush_interval, .help = "how often the flusher looks for old pages"},
	{"charge", .kind = LAB_SETTING_WORD, .words = "root|dirtier", .max = 1, .def = "root",
	 .apply = set_charge, .help = "whose I/O write-back is"},
	{"barriers", NUMBER(BOOL), .min = 0, .max = 1, .def = "1", .apply = set_barriers,
	 .help = "journal commits flush the device's write cache"},
	/* At 0 a job that hits the cache would go on for ever at one instant. */
	{"copy", NUMBER(NS), .min = 1, .max = 1000000, .def = "500ns", .apply = set_copy,
	 .help = "CPU time per page copied from or to the page cache"},
};

#define NR_SETTINGS (sizeof(settings) / sizeof(settings[0]))
_Static_assert(NR_SETTINGS <= LAB_SETTINGS_MAX, "struct lab_settings has room for the table");

const struct lab_setting *lab_setting_at(unsigned int n)
{
	return n < NR_SETTINGS ? &settings[n] : NULL;
}

/* Index of text in "a|b|c". */
static bool parse_word(const char *words, const char *text, uint64_t *out)
{
	size_t bytes = strlen(text), word;

	for (*out = 0;; ++*out) {
		word = strcspn(words, "|");
		if (word == bytes && !memcmp(words, text, bytes))
			return true;
		if (!words[word])
			return false;
		words += word + 1;
	}
}

static bool unknown(const char *key, char *err, size_t err_bytes)
{
	size_t used, i;

	used = (size_t)snprintf(err, err_bytes, "--host: %s: accepted are", *key ? key : "(empty)");
	for (i = 0; i < NR_SETTINGS && used < err_bytes; i++)
		used += (size_t)snprintf(err + used, err_bytes - used, "%s %s", i ? "," : "",
					 settings[i].name);
	return false;
}

static bool refused(const struct lab_setting *s, const char *text, char *err, size_t err_bytes)
{
	char low[LAB_TEXT_BYTES], high[LAB_TEXT_BYTES];

	if (s->kind == LAB_SETTING_WORD)
		snprintf(err, err_bytes, "--host: %s=%s: accepted is %s", s->name, text, s->words);
	else if (s->unit == WEIR_UNIT_BOOL)
		snprintf(err, err_bytes, "--host: %s=%s: accepted is 0 or 1", s->name, text);
	else
		snprintf(err, err_bytes, "--host: %s=%s: accepted is %s, from %s to %s%s", s->name,
			 text, lab_unit_accepts(s->unit), lab_format_value(low, s->min, s->unit),
			 lab_format_value(high, s->max, s->unit), s->or_zero ? ", or 0" : "");
	return false;
}

static bool parse_one(char *text, struct lab_settings *out, char *err, size_t err_bytes)
{
	char *equals = strchr(text, '=');
	const struct lab_setting *s;
	uint64_t value;
	unsigned int i;
	bool fine;

	if (equals)
		*equals = '\0';
	for (i = 0; i < NR_SETTINGS && strcmp(settings[i].name, text) != 0; i++)
		;
	if (i == NR_SETTINGS)
		return unknown(text, err, err_bytes);
	s = &settings[i];
	if (!equals)
		return refused(s, "", err, err_bytes);
	fine = s->kind == LAB_SETTING_WORD ? parse_word(s->words, equals + 1, &value)
					   : lab_parse_value(equals + 1, s->unit, &value);
	if (!fine || value > s->max || (value < s->min && !(s->or_zero && !value)))
		return refused(s, equals + 1, err, err_bytes);
	out->given[i] = true;
	out->value[i] = value;
	return true;
}

bool lab_settings_parse(const char *spec, struct lab_settings *out, char *err, size_t err_bytes)
{
	char one[128];
	size_t bytes;

	for (;;) {
		bytes = strcspn(spec, ",");
		if (bytes >= sizeof(one)) {
			snprintf(err, err_bytes, "--host: %.40s...: accepted is key=value", spec);
			return false;
		}
		memcpy(one, spec, bytes);
		one[bytes] = '\0';
		if (!parse_one(one, out, err, err_bytes))
			return false;
		if (!spec[bytes])
			return true;
		spec += bytes + 1;
	}
}

/* The value that was given, or NULL. */
static const uint64_t *given(const struct lab_settings *s, const char *name)
{
	unsigned int i;

	for (i = 0; i < NR_SETTINGS; i++)
		if (!strcmp(settings[i].name, name))
			return s->given[i] ? &s->value[i] : NULL;
	return NULL;
}

/* "--host: NAME=value: accepted is ..." with a size at the end. */
static bool contradicts(const char *name, uint64_t value, const char *accepted, uint64_t bound,
			char *err, size_t err_bytes)
{
	char shown[LAB_TEXT_BYTES], limit[LAB_TEXT_BYTES];

	snprintf(err, err_bytes, "--host: %s=%s: accepted is %s %s", name,
		 lab_format_value(shown, value, WEIR_UNIT_BYTES), accepted,
		 lab_format_value(limit, bound, WEIR_UNIT_BYTES));
	return false;
}

bool lab_settings_check(const struct lab_settings *s, const struct lab_cache_config *cache,
			char *err, size_t err_bytes)
{
	const uint64_t *ahead = given(s, "read_ahead"), *dirty = given(s, "dirty");
	const uint64_t *background = given(s, "dirty_background");

	if (ahead && *ahead % KIB(4))
		return contradicts("read_ahead", *ahead, "a multiple of", KIB(4), err, err_bytes);
	if (dirty && *dirty > cache->cache_bytes)
		return contradicts("dirty", *dirty, "what the cache holds, up to",
				   cache->cache_bytes, err, err_bytes);
	if (background && *background >= cache->dirty_bytes)
		return contradicts("dirty_background", *background, "less than dirty, which is",
				   cache->dirty_bytes, err, err_bytes);
	return true;
}

void lab_settings_apply(const struct lab_settings *s, struct lab_host_config *host,
			struct lab_cache_config *cache)
{
	unsigned int i;

	for (i = 0; i < NR_SETTINGS; i++)
		if (s->given[i])
			settings[i].apply(s->value[i], host, cache);
	/* The dirty limits follow what they are a part of. */
	if (given(s, "cache") && !given(s, "dirty"))
		cache->dirty_bytes = cache->cache_bytes / 5;
	if ((given(s, "cache") || given(s, "dirty")) && !given(s, "dirty_background"))
		cache->dirty_background_bytes = cache->dirty_bytes / 2;
}
