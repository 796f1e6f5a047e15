/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Storage that lives and dies together: what a job file or a groups file says. Nothing in it is
 * freed on its own, so that strings may be shared between jobs and an error path has one thing to
 * clean up. Lack of memory ends the program with a message.
 */
#ifndef LAB_FIO_POOL_H
#define LAB_FIO_POOL_H

#include <stddef.h>

struct fio_pool;

struct fio_pool *fio_pool_new(void);
void fio_pool_free(struct fio_pool *pool);

/* Zeroed. */
void *fio_pool_alloc(struct fio_pool *pool, size_t bytes);
/* A copy with a NUL behind it. */
char *fio_pool_copy(struct fio_pool *pool, const char *text, size_t bytes);
char *fio_pool_strdup(struct fio_pool *pool, const char *text);

/*
 * Room for one more in an array of the pool that has nr entries: returns the array, moved or not.
 * The room doubles whenever nr is a power of two, so nobody has to remember it.
 */
void *fio_pool_grow(struct fio_pool *pool, void *array, size_t nr, size_t entry_bytes);

#endif
