#pragma once

#include <ruby.h>
#include "core/http1/http1_head.h"

/* What Ruby gets of a response, by either protocol. Both functions raise NoMemoryError. */

/* Name => value, names in lower case; for a header that was sent several times, an Array of its values. */
VALUE pel_http_headers_hash(const struct pel_http1_head *head);

/* [status, reason, minor version, headers, keep alive?, length or nil, body?] */
VALUE pel_http_response_values(const struct pel_http1_head *head);
