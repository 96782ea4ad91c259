#pragma once

#include "core/http1/http1_head.h"

/* What a request asks of a file (RFC 9110, 12.5.3 and 14). */

enum pel_file_coding { PEL_FILE_BROTLI = 1, PEL_FILE_ZSTD = 2, PEL_FILE_GZIP = 4 };

/* The content codings that the client takes, a sum of enum pel_file_coding. `*` and "x-gzip" stand for none. */
unsigned pel_file_codings(const struct pel_http1_head *request);

enum pel_file_part { PEL_FILE_WHOLE, PEL_FILE_RANGE, PEL_FILE_BEYOND };

/*
 * Which part of a file of `size` bytes a GET asks for, by Range and If-Range. `tag`: its ETag, `date`: its
 * Last-Modified.
 *
 *   PEL_FILE_WHOLE   all: without a Range, with one that is malformed, or has several ranges, or is for another version
 *   PEL_FILE_RANGE   `*length` bytes, at least 1, from `*from` on
 *   PEL_FILE_BEYOND  none: the range lies beyond the end
 */
enum pel_file_part pel_file_part(const struct pel_http1_head *request, uint64_t size, struct pel_slice tag,
                                 struct pel_slice date, uint64_t *from, uint64_t *length);
