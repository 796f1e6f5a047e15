/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks of a flight recording, read from a file or pipe one at a time. Nothing is believed: a
 * block is handed out only after its checksum was found right.
 */
#ifndef LAB_RERUN_BLOCK_H
#define LAB_RERUN_BLOCK_H

#include <stdio.h>

#include "core/record_format.h"

struct lab_blocks {
	FILE *file;
	uint64_t offset;  /* in the file, of the current block */
	uint64_t next;	  /* of the one behind it */
	uint32_t number;  /* of the current block */
	uint32_t nr_read; /* blocks so far */
	uint32_t bytes;	  /* of the current block, header included */
	uint8_t data[WEIR_BLOCK_BYTES_MAX];
};

void lab_blocks_init(struct lab_blocks *b, FILE *file);
/*
 * The next block into b->data: 1; the file is at its end: 0; damaged: -1 with a message that begins
 * with the number and offset of the block.
 */
int lab_blocks_next(struct lab_blocks *b, char *err, size_t err_bytes);

#endif
