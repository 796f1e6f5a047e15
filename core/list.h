/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Circular doubly linked lists. struct weir_list is both head and member.
 */
#ifndef WEIR_CORE_LIST_H
#define WEIR_CORE_LIST_H

#include <weir/request.h>

#define weir_container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

static inline void list_init(struct weir_list *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_is_empty(const struct weir_list *head)
{
	return head->next == head;
}

static inline void list_insert_between(struct weir_list *item, struct weir_list *prev,
				       struct weir_list *next)
{
	item->prev = prev;
	item->next = next;
	prev->next = item;
	next->prev = item;
}

static inline void list_push_back(struct weir_list *head, struct weir_list *item)
{
	list_insert_between(item, head->prev, head);
}

static inline void list_push_front(struct weir_list *head, struct weir_list *item)
{
	list_insert_between(item, head, head->next);
}

static inline void list_unlink(struct weir_list *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
}

/* item is linked; *with takes its place. */
static inline void list_replace(struct weir_list *item, struct weir_list *with)
{
	list_insert_between(with, item->prev, item->next);
}

#define list_first(head, type, member) weir_container_of((head)->next, type, member)
#define list_last(head, type, member) weir_container_of((head)->prev, type, member)
#define list_next(item, type, member) weir_container_of((item)->member.next, type, member)
#define list_prev(item, type, member) weir_container_of((item)->member.prev, type, member)

#define list_for_each(pos, head, type, member)                             \
	for (pos = list_first(head, type, member); &pos->member != (head); \
	     pos = list_next(pos, type, member))

/* The body may unlink or free pos. */
#define list_for_each_safe(pos, tmp, head, type, member)                               \
	for (pos = list_first(head, type, member), tmp = list_next(pos, type, member); \
	     &pos->member != (head); pos = tmp, tmp = list_next(pos, type, member))

#endif
