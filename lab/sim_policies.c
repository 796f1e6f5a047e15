// SPDX-License-Identifier: GPL-2.0-only
/* --policy NAME[:tunable=value]..[,NAME..]: see sim.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sim.h"
#include "lab/sim_units.h"

static void *need(void *p)
{
	if (!p) {
		fputs("weir: out of memory for a list of policies\n", stderr);
		abort();
	}
	return p;
}

static void list_policies(char *out, size_t bytes)
{
	size_t used = 0;
	unsigned int n;

	for (n = 0; weir_policy_at(n) && used < bytes; n++)
		used += (size_t)snprintf(out + used, bytes - used, "%s%s", n ? ", " : "",
					 weir_policy_info(weir_policy_at(n))->name);
}

static void list_tunables(const struct weir_policy_info *info, char *out, size_t bytes)
{
	const struct weir_tunable *t = info->tunables;
	size_t used = 0;

	snprintf(out, bytes, "none: it has no tunables");
	for (; t && t->name && used < bytes; t++)
		used += (size_t)snprintf(out + used, bytes - used, "%s%s", used ? ", " : "",
					 t->name);
}

/* key=value; text is cut at the equals sign. */
static bool set_tunable(struct lab_policy_choice *c, char *text, char *err, size_t err_bytes)
{
	const struct weir_policy_info *info = weir_policy_info(c->policy);
	char *equals = strchr(text, '='), names[512];
	const struct weir_tunable *t;
	int index;

	if (equals)
		*equals = '\0';
	index = weir_tunable_find(c->policy, text);
	if (!equals || index < 0) {
		list_tunables(info, names, sizeof(names));
		snprintf(err, err_bytes, "--policy: %s: %.80s%s: accepted is tunable=value with %s",
			 info->name, text, equals ? "" : " (no value)", names);
		return false;
	}
	t = &info->tunables[index];
	if (lab_parse_tunable(equals + 1, t, &c->tunable[index]))
		return true;
	snprintf(err, err_bytes, "--policy: %s: %s=%.80s: accepted is %s", info->name, text,
		 equals + 1, lab_tunable_accepts(names, sizeof(names), t));
	return false;
}

static void add(struct lab_policies *out, const struct weir_policy *policy, const char *label)
{
	const struct weir_tunable *t = weir_policy_info(policy)->tunables;
	struct lab_policy_choice *c;
	unsigned int i;

	out->choice = need(realloc(out->choice, (out->nr + 1) * sizeof(*out->choice)));
	c = &out->choice[out->nr++];
	memset(c, 0, sizeof(*c));
	c->policy = policy;
	c->label = need(strdup(label));
	for (i = 0; t && t[i].name; i++)
		c->tunable[i] = t[i].def;
}

/* One policy with its tunables; the text is cut up. */
static bool parse_one(char *text, struct lab_policies *out, char *err, size_t err_bytes)
{
	char *label = need(strdup(text)), *rest = strchr(text, ':'), *next, names[512];
	const struct weir_policy *policy;
	bool fine = true;

	if (rest)
		*rest++ = '\0';
	policy = weir_policy_find(text);
	if (!policy) {
		list_policies(names, sizeof(names));
		snprintf(err, err_bytes, "--policy: %.80s: accepted are %s, or all",
			 *text ? text : "(empty)", names);
		free(label);
		return false;
	}
	add(out, policy, label);
	free(label);
	for (; rest && fine; rest = next) {
		next = strchr(rest, ':');
		if (next)
			*next++ = '\0';
		fine = set_tunable(&out->choice[out->nr - 1], rest, err, err_bytes);
	}
	return fine;
}

bool lab_policies_parse(const char *spec, struct lab_policies *out, char *err, size_t err_bytes)
{
	char *copy, *at, *next;
	unsigned int n;
	bool fine = true;

	if (!strcmp(spec, "all")) {
		for (n = 0; weir_policy_at(n); n++)
			add(out, weir_policy_at(n), weir_policy_info(weir_policy_at(n))->name);
		return true;
	}
	copy = need(strdup(spec));
	for (at = copy; at && fine; at = next) {
		next = strchr(at, ',');
		if (next)
			*next++ = '\0';
		fine = parse_one(at, out, err, err_bytes);
	}
	free(copy);
	return fine;
}

void lab_policies_free(struct lab_policies *p)
{
	unsigned int i;

	for (i = 0; i < p->nr; i++)
		free(p->choice[i].label);
	free(p->choice);
	memset(p, 0, sizeof(*p));
}
