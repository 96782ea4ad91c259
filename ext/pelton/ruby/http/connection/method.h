#pragma once

#include <stdint.h>
#include "core/base/slice.h"

/* The methods of RFC 9110, and PATCH, as numbers. */
enum pel_http_method {
    PEL_HTTP_GET,
    PEL_HTTP_POST,
    PEL_HTTP_HEAD,
    PEL_HTTP_PUT,
    PEL_HTTP_DELETE,
    PEL_HTTP_OPTIONS,
    PEL_HTTP_PATCH,
    PEL_HTTP_TRACE,
    PEL_HTTP_CONNECT,
    PEL_HTTP_OTHER /* any other */
};

/* The names by their numbers, all but the last. */
extern const char *const pel_http_method_names[PEL_HTTP_OTHER];

uint8_t pel_http_method(struct pel_slice name);
