#ifndef PEL_MEMCACHED_LINE_H
#define PEL_MEMCACHED_LINE_H

#include "memcached_parser.h"

/*
 * One complete line of a reply, without its CRLF. Sets what the line tells: all of the reply but `value`, `value_whole`
 * and `value_pending`. The slices point into the line. Returns 0, or PEL_EPROTOCOL: the reply then holds anything.
 */
int pel__memcached_parse_line(struct pel_slice line, struct pel_memcached_reply *reply);

#endif
