// SPDX-License-Identifier: GPL-2.0-only
/* Blocks of a flight recording: see rerun_block.h. */
#include "lab/rerun_block.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "core/crc32c.h"

void lab_blocks_init(struct lab_blocks *b, FILE *file)
{
	b->file = file;
	b->offset = 0;
	b->next = 0;
	b->number = 0;
	b->nr_read = 0;
	b->bytes = 0;
}

__attribute__((format(printf, 4, 5))) static int damaged(const struct lab_blocks *b, char *err,
							 size_t err_bytes, const char *format, ...)
{
	int n = snprintf(err, err_bytes, "block %" PRIu32 " at offset %" PRIu64 ": ", b->number,
			 b->offset);
	va_list args;

	va_start(args, format);
	if (n >= 0 && (size_t)n < err_bytes)
		vsnprintf(err + n, err_bytes - (size_t)n, format, args);
	va_end(args);
	return -1;
}

/* Whole, or an error that says how much there is. */
static int get(struct lab_blocks *b, uint8_t *to, size_t bytes, const char *what, char *err,
	       size_t err_bytes)
{
	size_t n = fread(to, 1, bytes, b->file);

	if (n == bytes)
		return 0;
	if (ferror(b->file))
		return damaged(b, err, err_bytes, "cannot be read: %s", strerror(errno));
	return damaged(b, err, err_bytes, "the file is cut short: %zu of %zu bytes of its %s", n,
		       bytes, what);
}

static bool at_end(struct lab_blocks *b)
{
	int c = getc(b->file);

	if (c == EOF)
		return !ferror(b->file);
	ungetc(c, b->file);
	return false;
}

static int check_header(const struct lab_blocks *b, char *err, size_t err_bytes)
{
	const uint8_t *h = b->data;
	uint32_t length = weir_get_le32(h + WEIR_BLOCK_LENGTH_AT);

	if (weir_get_le32(h + WEIR_BLOCK_MAGIC_AT) != WEIR_BLOCK_MAGIC)
		return damaged(b, err, err_bytes,
			       "begins with %02x %02x %02x %02x: expected 77 72 65 63 (\"wrec\")%s",
			       h[0], h[1], h[2], h[3],
			       b->number ? "" : "; not a recording of weir");
	if (!length || length > WEIR_BLOCK_BYTES_MAX - WEIR_BLOCK_HEADER_BYTES)
		return damaged(b, err, err_bytes, "length %" PRIu32 ": expected 1..%d", length,
			       WEIR_BLOCK_BYTES_MAX - WEIR_BLOCK_HEADER_BYTES);
	return 0;
}

static int check_sum(const struct lab_blocks *b, char *err, size_t err_bytes)
{
	uint32_t said = weir_get_le32(b->data + WEIR_BLOCK_CRC_AT);
	uint32_t number = weir_get_le32(b->data + WEIR_BLOCK_NUMBER_AT);
	uint32_t sum = weir_crc32c(0, b->data, WEIR_BLOCK_CRC_AT);

	sum = weir_crc32c(sum, b->data + WEIR_BLOCK_HEADER_BYTES,
			  b->bytes - WEIR_BLOCK_HEADER_BYTES);
	if (sum != said)
		return damaged(b, err, err_bytes,
			       "checksum %08" PRIx32 ", but its bytes give %08" PRIx32
			       ": they were changed",
			       said, sum);
	if (number != b->number)
		return damaged(b, err, err_bytes,
			       "says that it is block %" PRIu32 ": others are missing or moved",
			       number);
	return 0;
}

int lab_blocks_next(struct lab_blocks *b, char *err, size_t err_bytes)
{
	uint32_t length;

	b->offset = b->next;
	b->number = b->nr_read;
	b->bytes = 0;
	if (at_end(b))
		return 0;
	if (get(b, b->data, WEIR_BLOCK_HEADER_BYTES, "header", err, err_bytes) ||
	    check_header(b, err, err_bytes))
		return -1;
	length = weir_get_le32(b->data + WEIR_BLOCK_LENGTH_AT);
	if (get(b, b->data + WEIR_BLOCK_HEADER_BYTES, length, "payload", err, err_bytes))
		return -1;
	b->bytes = WEIR_BLOCK_HEADER_BYTES + length;
	if (check_sum(b, err, err_bytes))
		return -1;
	b->next = b->offset + b->bytes;
	b->nr_read++;
	return 1;
}
