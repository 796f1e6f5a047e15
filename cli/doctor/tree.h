/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading /sys, /proc and /dev, of this host or of a copy below some directory.
 *
 * Paths begin with "/" and are taken below the root of the tree, symbolic links too, so that a copied
 * tree never leads out of itself. Nothing is ever written. What may not be read, and what does not look
 * as the kernel would write it, is kept in two lists and becomes a finding; a file that isn't there is
 * an ordinary answer.
 */
#ifndef CLI_DOCTOR_TREE_H
#define CLI_DOCTOR_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A list of lines; the first TREE_LINES_MAX are kept, nr counts all. */
#define TREE_LINES_MAX 8

struct tree_lines {
	char *line[TREE_LINES_MAX];
	unsigned int nr;
};

struct doctor_tree {
	int root_fd;
	bool live;		  /* the root is "/": device nodes can be believed */
	struct tree_lines denied; /* paths */
	struct tree_lines odd;	  /* "path: what is odd" */
};

/* 0 or a negative errno. */
int tree_open(struct doctor_tree *t, const char *root);
void tree_close(struct doctor_tree *t);

/* These two take any text and end the program if there is no memory. */
__attribute__((format(printf, 1, 2))) char *doctor_text(const char *format, ...);
void *doctor_grow(void *array, size_t members, size_t bytes_each);

/* A descriptor, or a negative errno. flags as of open(2); reading only. */
int tree_fd(struct doctor_tree *t, int flags, const char *path);

/*
 * The whole file, up to max_bytes of it, ended by a NUL. NULL if it isn't there or may not be read. NULs
 * inside, and more bytes than max_bytes, are odd; then what comes before is returned. To be freed.
 */
char *tree_read(struct doctor_tree *t, size_t max_bytes, const char *path);
/* The same of a file in a directory that is open, without following links; path: for messages. */
char *tree_read_at(struct doctor_tree *t, int dir_fd, const char *name, const char *path);

/* The first line, without blanks around it, into out. False if there is none. */
bool tree_line(struct doctor_tree *t, char *out, size_t bytes, const char *dir, const char *name);
/* A decimal number; anything else is odd, and false. */
bool tree_number(struct doctor_tree *t, uint64_t *out, const char *dir, const char *name);
/* It has at least one byte, of whatever kind. */
bool tree_has_bytes(struct doctor_tree *t, const char *dir, const char *name);
bool tree_exists(struct doctor_tree *t, const char *dir, const char *name);

/* Names in a directory, sorted, without those that begin with a dot. Ends with NULL; to be freed. */
char **tree_names(struct doctor_tree *t, const char *path);
void tree_names_free(char **names);

void tree_denied(struct doctor_tree *t, const char *path);
__attribute__((format(printf, 3, 4))) void tree_odd(struct doctor_tree *t, const char *path,
						    const char *format, ...);

#endif
