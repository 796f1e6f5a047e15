// SPDX-License-Identifier: GPL-2.0-only
/* Numbers as names: see rerun_names.h. Linear probing; deleting moves later entries back. */
#include "lab/rerun_names.h"

#include <stdlib.h>

#include "core/assert.h"

static size_t home(const struct lab_names *n, uint64_t number)
{
	uint64_t hash = number * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(hash >> 32) & (n->places - 1);
}

/* The place of the number, or the free one where it would go. There is a free one. */
static size_t place_of(const struct lab_names *n, uint64_t number)
{
	size_t at = home(n, number);

	while (n->name[at].thing && n->name[at].number != number)
		at = (at + 1) & (n->places - 1);
	return at;
}

void *lab_names_find(const struct lab_names *n, uint64_t number)
{
	return n->places ? n->name[place_of(n, number)].thing : NULL;
}

static bool grow(struct lab_names *n)
{
	struct lab_names more = {.nr = n->nr, .places = n->places ? 2 * n->places : 64};
	size_t i;

	more.name = calloc(more.places, sizeof(*more.name));
	if (!more.name)
		return false;
	for (i = 0; i < n->places; i++)
		if (n->name[i].thing)
			more.name[place_of(&more, n->name[i].number)] = n->name[i];
	free(n->name);
	*n = more;
	return true;
}

bool lab_names_add(struct lab_names *n, uint64_t number, void *thing)
{
	/* At most two thirds full, so that searches end soon. */
	if (3 * (n->nr + 1) > 2 * n->places && !grow(n))
		return false;
	n->name[place_of(n, number)] = (struct lab_name){.number = number, .thing = thing};
	n->nr++;
	return true;
}

void lab_names_del(struct lab_names *n, uint64_t number)
{
	size_t hole = place_of(n, number), at = hole, mask = n->places - 1;

	weir_assert(n->name[hole].thing);
	n->nr--;
	/* An entry may fill the hole unless its home lies behind the hole, on the way to it. */
	for (;;) {
		at = (at + 1) & mask;
		if (!n->name[at].thing)
			break;
		if (((at - home(n, n->name[at].number)) & mask) >= ((at - hole) & mask)) {
			n->name[hole] = n->name[at];
			hole = at;
		}
	}
	n->name[hole].thing = NULL;
}

void lab_names_free(struct lab_names *n)
{
	size_t i;

	for (i = 0; i < n->places; i++)
		free(n->name[i].thing);
	free(n->name);
	*n = (struct lab_names){0};
}
