#include <stdlib.h>
#include <string.h>
#include "core/http1/caching.h"

#define CHECK(condition) ((condition) ? (void)0 : abort())

/*
 * For any head: no crash; a key is within its limit and holds the target and the host; whatever else a request says,
 * one with Cookie has no key; a response without the word "public" has no lifetime.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int contains(const char *bytes, size_t length, const char *word)
{
    size_t wanted = strlen(word);

    for (size_t i = 0; i + wanted <= length; i++)
        if (pel_http1_equal((struct pel_slice){bytes + i, wanted}, word))
            return 1;
    return 0;
}

static void check_request(const struct pel_http1_head *head)
{
    char key[PEL_HTTP1_CACHE_KEY];
    int hides;
    size_t length = pel_http1_cache_key(head, 0, key, &hides);

    CHECK(length <= PEL_HTTP1_CACHE_KEY);
    pel_http1_not_modified(head, (struct pel_slice){"\"a\"", 3}, (struct pel_slice){NULL, 0});
    if (!length)
        return;
    CHECK(length >= head->host.length + head->target.length + 5);
    CHECK(!memcmp(key + 2, head->host.bytes, head->host.length));
    CHECK(!memcmp(key + 4 + head->host.length, head->target.bytes, head->target.length));
    for (unsigned i = 0; i < head->header_count; i++)
        CHECK(!pel_http1_equal(head->headers[i].name, "cookie") && !pel_http1_equal(head->headers[i].name, "range"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pel_http1_head head;
    struct pel_http1_stale stale;
    enum pel_http1_fault fault;
    size_t line;
    char *bytes;

    if (size == 0)
        return 0;
    bytes = malloc(size);
    CHECK(bytes);
    memcpy(bytes, data, size);
    if (bytes[0] == 'H') {
        if (pel_http1_parse_head(PEL_HTTP1_RESPONSE, &pel_http1_default_limits, bytes, size, &head, &line, &fault) >
                0 &&
            pel_http1_cache_lifetime(&head, &stale)) {
            CHECK(contains(bytes, size, "public"));
            CHECK(!stale.while_revalidate || contains(bytes, size, "stale-while-revalidate"));
            CHECK(!stale.if_error || contains(bytes, size, "stale-if-error"));
        }
    } else if (pel_http1_parse_head(PEL_HTTP1_REQUEST, &pel_http1_default_limits, bytes, size, &head, &line, &fault) >
               0) {
        check_request(&head);
    }
    free(bytes);
    return 0;
}
