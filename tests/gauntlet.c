// SPDX-License-Identifier: GPL-2.0-only
/*
 * Running the program and judging what it says: see gauntlet.h.
 */
#include "tests/gauntlet.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/policy.h>

#define COMMAND_BYTES 2048
#define NAME_BYTES 200

static char command[COMMAND_BYTES]; /* the last one, for complaints */
static char directory[64];	    /* of temporary files; empty: none yet */
static unsigned int nr_judged, nr_missed;

/* ---- files ---- */

void gauntlet_add(struct gauntlet_text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->text + t->bytes, sizeof(t->text) - t->bytes, format, args);
	va_end(args);
	assert_true(n >= 0 && (size_t)n < sizeof(t->text) - t->bytes);
	t->bytes += (size_t)n;
}

static void remove_directory(void)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(directory);
}

const char *gauntlet_file(const char *name, const struct gauntlet_text *t)
{
	static char path[4][NAME_BYTES];
	static unsigned int turn;
	char *p = path[turn++ % 4];
	FILE *f;

	if (!directory[0]) {
		strcpy(directory, "/tmp/weir-gauntlet-XXXXXX");
		assert_non_null(mkdtemp(directory));
		atexit(remove_directory);
	}
	snprintf(p, NAME_BYTES, "%s/%s", directory, name);
	f = fopen(p, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(t->text, 1, t->bytes, f), t->bytes);
	assert_int_equal(fclose(f), 0);
	return p;
}

/* ---- policies ---- */

/* How long the device is kept idle on purpose for a process; 0 is never. */
static const char *const idle_tunables[] = {"slice_idle", "antic_expire"};

#define NR_IDLE_TUNABLES (sizeof(idle_tunables) / sizeof(idle_tunables[0]))

const char *gauntlet_busy_policy(unsigned int n)
{
	static char label[NAME_BYTES];
	const struct weir_policy *p = weir_policy_at(n);
	size_t i, bytes;

	if (!p)
		return NULL;
	bytes = (size_t)snprintf(label, sizeof(label), "%s", weir_policy_info(p)->name);
	for (i = 0; i < NR_IDLE_TUNABLES && bytes < sizeof(label); i++)
		if (weir_tunable_find(p, idle_tunables[i]) >= 0)
			bytes += (size_t)snprintf(label + bytes, sizeof(label) - bytes, ":%s=0",
						  idle_tunables[i]);
	assert_true(bytes < sizeof(label));
	return label;
}

const char *gauntlet_busy_policies(void)
{
	static struct gauntlet_text all;
	unsigned int n;

	all.bytes = 0;
	for (n = 0; weir_policy_at(n); n++)
		gauntlet_add(&all, "%s%s", n ? "," : "", gauntlet_busy_policy(n));
	return all.text;
}

/* ---- the program ---- */

/* The job files of the command: they are gone when somebody reads this. */
static void say_files(void)
{
	char line[COMMAND_BYTES];
	struct dirent *entry;
	DIR *dir = directory[0] ? opendir(directory) : NULL;

	while (dir && (entry = readdir(dir))) {
		FILE *f;

		if (entry->d_name[0] == '.' || !strstr(command, entry->d_name))
			continue;
		snprintf(line, sizeof(line), "%s/%s", directory, entry->d_name);
		f = fopen(line, "r");
		print_error("# %s:\n", line);
		while (f && fgets(line, sizeof(line), f))
			print_error("#   %s", line);
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
}

json_t *gauntlet_sim(const char *variables, const char *format, ...)
{
	const char *weir = getenv("WEIR");
	json_error_t error;
	json_t *result;
	va_list args;
	int n, status;
	FILE *out;

	n = snprintf(command, sizeof(command), "%s '%s' sim ", variables,
		     weir ? weir : "build/weir");
	va_start(args, format);
	n += vsnprintf(command + n, sizeof(command) - (size_t)n, format, args);
	va_end(args);
	n += snprintf(command + n, sizeof(command) - (size_t)n, " --json");
	assert_true((size_t)n < sizeof(command));

	out = popen(command, "r");
	assert_non_null(out);
	result = json_loadf(out, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &error);
	/* Nothing but white space may follow the object. */
	while (result && (n = fgetc(out)) != EOF)
		assert_true(n == '\n' || n == ' ');
	status = pclose(out);
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		say_files();
		fail_msg("status %d of: %s", WIFEXITED(status) ? WEXITSTATUS(status) : status,
			 command);
	}
	if (!result)
		fail_msg("line %d: %s, from: %s", error.line, error.text, command);
	return result;
}

/* ---- parts of a result ---- */

json_t *gauntlet_part(const json_t *object, const char *path)
{
	char key[NAME_BYTES];
	const json_t *at = object;
	const char *p = path;

	while (at && *p) {
		size_t length = strcspn(p, "/");

		assert_true(length < sizeof(key));
		memcpy(key, p, length);
		key[length] = 0;
		at = json_object_get(at, key);
		p += length + (p[length] == '/');
	}
	if (!at)
		fail_msg("no %s in the output of: %s", path, command);
	return (json_t *)at;
}

double gauntlet_number(const json_t *object, const char *path)
{
	const json_t *number = gauntlet_part(object, path);

	if (!json_is_number(number))
		fail_msg("%s is no number in the output of: %s", path, command);
	return json_number_value(number);
}

bool gauntlet_true(const json_t *object, const char *path)
{
	const json_t *value = gauntlet_part(object, path);

	if (!json_is_boolean(value))
		fail_msg("%s is no boolean in the output of: %s", path, command);
	return json_is_true(value);
}

/* The entry of an array in which key has this value. */
static json_t *entry_of(const json_t *object, const char *array, const char *key, const char *value)
{
	const json_t *entries = gauntlet_part(object, array);
	json_t *entry;
	size_t i;

	json_array_foreach(entries, i,
			   entry) if (!strcmp(json_string_value(gauntlet_part(entry, key)),
					      value)) return entry;
	fail_msg("no %s=%s in %s in the output of: %s", key, value, array, command);
	return NULL;
}

json_t *gauntlet_run(const json_t *result, const char *label)
{
	return entry_of(result, "runs", "label", label);
}

json_t *gauntlet_group(const json_t *run, const char *path)
{
	return entry_of(run, "groups", "path", path);
}

json_t *gauntlet_job(const json_t *run, const char *name)
{
	return entry_of(run, "jobs", "jobname", name);
}

bool gauntlet_keeps_idle(const char *policy)
{
	const struct weir_policy *p = weir_policy_find(policy);
	size_t n;

	for (n = 0; p && n < NR_IDLE_TUNABLES; n++)
		if (weir_tunable_find(p, idle_tunables[n]) >= 0)
			return true;
	return false;
}

double gauntlet_iops(const json_t *entry)
{
	return gauntlet_number(entry, "read/iops") + gauntlet_number(entry, "write/iops");
}

double gauntlet_ios(const json_t *entry)
{
	return gauntlet_number(entry, "read/total_ios") + gauntlet_number(entry, "write/total_ios");
}

double gauntlet_bytes_per_s(const json_t *entry)
{
	return gauntlet_number(entry, "read/bw_bytes") + gauntlet_number(entry, "write/bw_bytes");
}

double gauntlet_latency_ns(const json_t *entry, const char *percentile)
{
	static const char *const dirs[] = {"read", "write"};
	double worst_ns = 0;
	unsigned int i;

	assert_true(gauntlet_ios(entry) > 0);
	for (i = 0; i < 2; i++) {
		const json_t *dir = gauntlet_part(entry, dirs[i]);
		char path[64];

		if (gauntlet_number(dir, "total_ios") == 0)
			continue;
		snprintf(path, sizeof(path), "clat_ns/percentile/%s", percentile);
		if (gauntlet_number(dir, path) > worst_ns)
			worst_ns = gauntlet_number(dir, path);
	}
	return worst_ns;
}

/* ---- judging ---- */

/* Says what was wanted, and goes on. */
static void missed(const char *what, double value, const char *than, double bound)
{
	static char said[COMMAND_BYTES];

	print_error("# %s: %.6g is %s %.6g: %s\n", what, value, than, bound, command);
	nr_missed++;
	if (!strcmp(said, command))
		return;
	strcpy(said, command);
	say_files();
}

void gauntlet_at_least(const char *what, double value, double bound)
{
	nr_judged++;
	if (!(value >= bound))
		missed(what, value, "below", bound);
}

void gauntlet_at_most(const char *what, double value, double bound)
{
	nr_judged++;
	if (!(value <= bound))
		missed(what, value, "above", bound);
}

void gauntlet_within(const char *what, double value, double wanted, double part)
{
	gauntlet_at_least(what, value, wanted * (1 - part));
	gauntlet_at_most(what, value, wanted * (1 + part));
}

void gauntlet_check(const char *what, bool holds)
{
	gauntlet_at_least(what, holds, 1);
}

void gauntlet_report(const char *format, ...)
{
	va_list args;

	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

void gauntlet_verdict(void)
{
	unsigned int judged = nr_judged, bad = nr_missed;

	nr_judged = 0;
	nr_missed = 0;
	assert_true(judged > 0);
	if (bad)
		fail_msg("%u of %u figures out of bounds", bad, judged);
}
