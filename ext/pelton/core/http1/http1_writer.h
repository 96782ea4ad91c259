#pragma once

#include <stdint.h>
#include <time.h>
#include "core/base/buffer.h"
#include "core/base/error.h"
#include "core/base/slice.h"

/*
 * Appends HTTP/1 messages to a buffer. Bytes that could inject a header or a message (a line end in a value) are
 * refused. All functions return 0, or PEL_EMEMORY or PEL_EARGUMENT: then the buffer is unchanged.
 */

/* HTTP/1.1 status reason. PEL_EARGUMENT: the status is not within 100 ... 999. */
int pel_http1_write_status_line(struct pel_buffer *buffer, unsigned status);

/* name: value. PEL_EARGUMENT: the name is no token, or the value contains a control character. */
int pel_http1_write_header(struct pel_buffer *buffer, struct pel_slice name, struct pel_slice value);

/* name: value, with a decimal number. PEL_EARGUMENT: the name is no token. */
int pel_http1_write_number(struct pel_buffer *buffer, struct pel_slice name, uint64_t value);

/* The empty line after the last header or trailer, or the line end after a chunk. */
int pel_http1_write_end(struct pel_buffer *buffer);

/* The first line of a chunk of that length; the caller then appends its bytes and calls pel_http1_write_end. 0: the
 * last chunk; then follow trailers, if any, and pel_http1_write_end. */
int pel_http1_write_chunk(struct pel_buffer *buffer, uint64_t length);

/* The reason phrase of a status, a static string; empty for an unknown status. */
const char *pel_http1_reason(unsigned status);

#define PEL_HTTP1_DATE 29 /* the length of a date */

/* Writes the time in the format of headers, Sun, 06 Nov 1994 08:49:37 GMT: PEL_HTTP1_DATE bytes and no NUL. */
void pel_http1_date(char *bytes, time_t time);
