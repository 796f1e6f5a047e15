/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers as names of things that live now: requests, groups and contexts of a recording. A hash
 * table with open addressing, so that the memory follows what is alive and not what ever was. Its
 * order is never looked at except for freeing everything.
 */
#ifndef LAB_RERUN_NAMES_H
#define LAB_RERUN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab_name {
	uint64_t number;
	void *thing; /* NULL: a free place */
};

struct lab_names {
	struct lab_name *name;
	size_t nr, places; /* places: a power of two, or 0 */
};

/* NULL: nothing has that number. O(1). */
void *lab_names_find(const struct lab_names *n, uint64_t number);
/* The number is not taken. False: no memory. */
bool lab_names_add(struct lab_names *n, uint64_t number, void *thing);
/* The number is taken. */
void lab_names_del(struct lab_names *n, uint64_t number);
/* Frees the table, and each thing with free(). */
void lab_names_free(struct lab_names *n);

#endif
