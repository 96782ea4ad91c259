#include "ruby/http/connection/method.h"

#include <string.h>

const char *const pel_http_method_names[PEL_HTTP_OTHER] = {"GET",     "POST",  "HEAD",  "PUT",    "DELETE",
                                                           "OPTIONS", "PATCH", "TRACE", "CONNECT"};

uint8_t pel_http_method(struct pel_slice name)
{
    uint8_t number = 0;

    while (number < PEL_HTTP_OTHER && (strlen(pel_http_method_names[number]) != name.length ||
                                       memcmp(pel_http_method_names[number], name.bytes, name.length)))
        number++;
    return number;
}
