#ifndef PEL_HTTP1_WRITER_H
#define PEL_HTTP1_WRITER_H

#include <stdint.h>
#include <time.h>
#include "buffer.h"
#include "error.h"
#include "slice.h"

/*
 * HTTP/1 messages to bytes, at a buffer's end. What could become a second header or a second message (a line end in a
 * value) is refused. All functions return 0, PEL_EMEMORY, or PEL_EARGUMENT; then the buffer is as it was.
 */

/* HTTP/1.1 status reason. PEL_EARGUMENT: the status is not within 100 ... 999. */
int pel_http1_write_status_line(struct pel_buffer *buffer, unsigned status);

/* name: value. PEL_EARGUMENT: the name is no token, or the value holds a control character. */
int pel_http1_write_header(struct pel_buffer *buffer, struct pel_slice name, struct pel_slice value);

/* The same with a number. */
int pel_http1_write_number(struct pel_buffer *buffer, struct pel_slice name, uint64_t value);

/* The empty line behind the last header, or trailer. */
int pel_http1_write_end(struct pel_buffer *buffer);

/* Before a chunk of so many bytes, which is followed by pel_http1_write_end. 0: the last chunk, which trailers and
 * pel_http1_write_end follow. */
int pel_http1_write_chunk(struct pel_buffer *buffer, uint64_t length);

/* The phrase for a status; empty for one that is not known; static. */
const char *pel_http1_reason(unsigned status);

#define PEL_HTTP1_DATE 29 /* bytes of a date */

/* The time as headers have it: Sun, 06 Nov 1994 08:49:37 GMT. Writes PEL_HTTP1_DATE bytes and no NUL. */
void pel_http1_date(char *bytes, time_t time);

/* A literal as a slice. */
#define PEL_SLICE(literal) ((struct pel_slice){literal, sizeof(literal) - 1})

#endif
