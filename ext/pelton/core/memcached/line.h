#ifndef PELTON_CORE_MEMCACHED_LINE_H
#define PELTON_CORE_MEMCACHED_LINE_H

#include "core/memcached/reply.h"

/*
 * Parses one complete line of a reply, without its CRLF. Sets all fields of the reply except `value`, `value_whole` and
 * `value_pending`. The slices point into the line. Returns 0, or PEL_EPROTOCOL: then the reply is undefined.
 */
int pel__memcached_parse_line(struct pel_slice line, struct pel_memcached_reply *reply);

#endif
