/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values as people type and read them: "8ms" for a tunable in microseconds, "128k" for bytes, and
 * three digits with a unit in tables.
 */
#ifndef LAB_SIM_UNITS_H
#define LAB_SIM_UNITS_H

#include <weir/policy.h>

/*
 * Whole numbers, in `unit` without a suffix. Suffixes: bytes k m g t (times 1024); times ns us ms
 * s, as long as the result is a whole number of the unit; percent %; bool also yes/no, on/off,
 * true/false. False: not a value of that kind, or too large.
 */
bool lab_parse_value(const char *text, enum weir_unit unit, uint64_t *out);
/* What lab_parse_value() takes in this unit, for messages: "bytes, with k, m, g or t". */
const char *lab_unit_accepts(enum weir_unit unit);

#define LAB_TEXT_BYTES 24

/* The same for a policy's tunable, with its range; a choice goes by its names. */
bool lab_parse_tunable(const char *text, const struct weir_tunable *t, uint64_t *out);
/* buf has LAB_TEXT_BYTES; the answer may be a name of the table instead. */
const char *lab_format_tunable(char *buf, uint64_t value, const struct weir_tunable *t);
/* What it takes, with its range, for messages; into buf, which is returned. */
char *lab_tunable_accepts(char *buf, size_t bytes, const struct weir_tunable *t);

/* Each writes into buf, which has LAB_TEXT_BYTES, and returns it. */
char *lab_format_ns(char *buf, uint64_t ns);		/* 831ns 12.3us 1.25ms 17.0s */
char *lab_format_count(char *buf, uint64_t n);		/* 831 12345 1.23M */
char *lab_format_short(char *buf, uint64_t n);		/* 831 12.3k 1.23M: five columns */
char *lab_format_rate(char *buf, uint64_t bytes_per_s); /* MB/s of 10^6 bytes: 0.51 97.3 1204 */
/* part of whole, 0..1000, as 0.0% .. 100.0%; "-" if whole is 0. */
char *lab_format_share(char *buf, uint64_t part, uint64_t whole);
/* A value in its unit, as lab_parse_value() would take it: 128k 8ms 1. */
char *lab_format_value(char *buf, uint64_t value, enum weir_unit unit);

#endif
