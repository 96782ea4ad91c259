#ifndef PELTON_CORE_MEMCACHED_SERVER_REQUEST_NUMBER_H
#define PELTON_CORE_MEMCACHED_SERVER_REQUEST_NUMBER_H

#include "core/base/error.h"
#include "core/base/slice.h"

#include <stdint.h>

/* Numbers among the words of a request. */

/* Parses a word that is a decimal number up to `limit`. Returns 0 or PEL_EPROTOCOL. */
int pel__memcached_request_number(struct pel_slice word, uint64_t limit, uint64_t *number);

/* Parses a word that is a signed 32-bit number. Returns 0 or PEL_EPROTOCOL. */
int pel__memcached_request_signed(struct pel_slice word, int64_t *number);

#endif
