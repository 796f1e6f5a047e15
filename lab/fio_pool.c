// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each piece is an allocation of its own, chained: a sanitizer then sees every step beyond the end
 * of one, which a bump allocator would hide.
 */
#include "lab/fio_pool.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct piece {
	struct piece *next;
	alignas(max_align_t) char data[];
};

struct fio_pool {
	struct piece *first;
};

static void *must(void *p)
{
	if (!p) {
		fprintf(stderr, "weir: out of memory\n");
		abort();
	}
	return p;
}

struct fio_pool *fio_pool_new(void)
{
	return must(calloc(1, sizeof(struct fio_pool)));
}

void fio_pool_free(struct fio_pool *pool)
{
	struct piece *p, *next;

	if (!pool)
		return;
	for (p = pool->first; p; p = next) {
		next = p->next;
		free(p);
	}
	free(pool);
}

void *fio_pool_alloc(struct fio_pool *pool, size_t bytes)
{
	struct piece *p = must(calloc(1, sizeof(*p) + bytes));

	p->next = pool->first;
	pool->first = p;
	return p->data;
}

char *fio_pool_copy(struct fio_pool *pool, const char *text, size_t bytes)
{
	char *copy = fio_pool_alloc(pool, bytes + 1);

	memcpy(copy, text, bytes);
	return copy;
}

char *fio_pool_strdup(struct fio_pool *pool, const char *text)
{
	return fio_pool_copy(pool, text, strlen(text));
}

void *fio_pool_grow(struct fio_pool *pool, void *array, size_t nr, size_t entry_bytes)
{
	void *bigger;

	if (nr & (nr - 1) || (nr == 0 && array))
		return array;
	bigger = fio_pool_alloc(pool, (nr ? 2 * nr : 1) * entry_bytes);
	if (nr)
		memcpy(bigger, array, nr * entry_bytes);
	return bigger;
}
