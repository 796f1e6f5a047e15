/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers as fio writes them: 64k, 0x10, 10%, 500ms, 1.5, (2 * 3m). All are parsed into integers.
 *
 * Blanks have been cut off at both ends. False means: not of that form, or too large for it; the
 * caller knows what the option accepts and says so.
 */
#ifndef LAB_FIO_NUMBER_H
#define LAB_FIO_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Sizes end where off_t does, as in fio. */
#define FIO_SIZE_MAX ((uint64_t)INT64_MAX)

/*
 * A whole number with an optional unit. kb_1000 says what fio's kb_base does: by default k is 1024
 * and ki 1000, and with kb_base=1000 the other way round.
 */
bool fio_number(const char *s, bool kb_1000, uint64_t *out);
bool fio_signed_number(const char *s, bool kb_1000, int64_t *out);

/* A time; unit_ns is what a number without a unit means. */
bool fio_time(const char *s, uint64_t unit_ns, uint64_t *out_ns);

/* A decimal number times 10^6; digits behind the sixth don't count. */
bool fio_micro(const char *s, uint64_t *out_micro);

/*
 * Arithmetic: + - * / % ^ and parentheses over numbers with units. Times are in microseconds, also
 * where the option's own unit is the second. The result is 10^9 times the value.
 */
__extension__ typedef __int128 fio_wide;
#define FIO_WIDE_ONE ((fio_wide)1000000000)
bool fio_expression(const char *s, bool time, bool kb_1000, fio_wide *out);

/* Shared with it: what a unit stands for, false if there is no such unit. "" is 1 and microseconds.
 */
bool fio_size_unit(const char *s, bool kb_1000, uint64_t *factor);
bool fio_time_unit(const char *s, uint64_t *unit_ns);
/* Digits, maybe with a fraction, as 10^9 times the value; *end is behind them. */
bool fio_decimal(const char *s, const char **end, fio_wide *out);

#endif
