#include "ruby/http/cached_response.h"

#include "core/http1/caching.h"
#include "core/http1/writer.h"
#include "ruby/http/cache.h"
#include "ruby/http/exchange_end.h"
#include "ruby/http/output.h"
#include "ruby/http/stop.h"

#define NANOSECONDS 1000000000

/* What an item's value begins with; the head, without its empty line, and the body follow. */
struct entry {
    int64_t stored;    /* on the loop's clock */
    uint32_t lifetime; /* seconds */
    uint32_t head, body;
    uint32_t tag, tag_length;   /* the place of the ETag's value in the head */
    uint32_t date, date_length; /* and of Last-Modified's */
};

/* ---- answering --------------------------------------------------------------------------------------------------- */

static struct entry read_entry(struct pel_item *item)
{
    struct entry entry;

    memcpy(&entry, pel_item_value(item), sizeof entry);
    return entry;
}

static const char *head_of(struct pel_item *item)
{
    return pel_item_value(item) + sizeof(struct entry);
}

static int64_t age_of(const struct pel_http_connection *connection, const struct entry *entry)
{
    return (connection->reactor->loop.now - entry->stored) / NANOSECONDS;
}

struct pel_http_cached pel_http_cache_find(struct pel_http_connection *connection, const struct pel_http1_head *head)
{
    struct pel_http_cache *cache = connection->server->cache;
    char key[PEL_HTTP1_CACHE_KEY];
    size_t length = pel_http1_cache_key(head, connection->server->secure || connection->stream->core.layer, key);
    struct pel_http_cached cached = {.item = NULL};
    struct pel_item *item;
    struct entry entry;

    if (!length)
        return cached;
    item = pel_store_find(&cache->store, (struct pel_slice){key, length});
    if (item) {
        entry = read_entry(item);
        if (age_of(connection, &entry) >= entry.lifetime) {
            pel_store_remove(&cache->store, item);
        } else if (pel_store_retain(item)) {
            pel_store_fetched(&cache->store, item);
            cache->hits++;
            cached.item = item;
            cached.not_modified =
                pel_http1_not_modified(head, (struct pel_slice){head_of(item) + entry.tag, entry.tag_length},
                                       (struct pel_slice){head_of(item) + entry.date, entry.date_length}) != 0;
            return cached;
        }
    }
    cache->misses++;
    if (connection->request.method == PEL_HTTP_GET)
        PEL_HTTP_KEEP(connection, request.cache_key, rb_str_new(key, (long)length));
    return cached;
}

/* The header lines that a 304 has, too: all but those that describe the content that is not there. */
static void append_lines(struct pel_buffer *output, const char *at, const char *end)
{
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at)), *colon;
        line_end = line_end ? line_end + 1 : end;
        colon = memchr(at, ':', (size_t)(line_end - at));
        if (colon) {
            struct pel_slice name = {at, (size_t)(colon - at)};
            if (!pel_http1_equal(name, "content-length") && !pel_http1_equal(name, "content-type") &&
                !pel_http1_equal(name, "content-encoding") && !pel_http1_equal(name, "content-language"))
                pel_http_check_written(pel_buffer_append(output, at, (size_t)(line_end - at)));
        }
        at = line_end;
    }
}

static void append_head(struct pel_http_connection *connection, struct pel_item *item, const struct entry *entry)
{
    struct pel_buffer *output = &connection->stream->core.output;
    const char *head = head_of(item), *lines = (const char *)memchr(head, '\n', entry->head) + 1;

    if (connection->response.status == 304) {
        pel_http_check_written(pel_http1_write_status_line(output, 304));
        append_lines(output, lines, head + entry->head);
    } else {
        pel_http_check_written(pel_buffer_append(output, head, entry->head));
    }
    pel_http_check_written(pel_http1_write_number(output, PEL_SLICE("age"), (uint64_t)age_of(connection, entry)));
    if (!connection->response.keep_alive)
        pel_http_check_written(pel_http1_write_header(output, PEL_SLICE("connection"), PEL_SLICE("close")));
    pel_http_check_written(pel_http1_write_end(output));
}

void pel_http_cache_answer(struct pel_http_connection *connection, struct pel_http_cached cached)
{
    struct pel_http_cache *cache = connection->server->cache;
    struct pel_http_response *response = &connection->response;
    struct entry entry = read_entry(cached.item);

    pel_http_list_remove(connection);
    connection->state = PEL_HTTP_BUSY;
    response->status = cached.not_modified ? 304 : 200;
    response->body =
        (struct pel_http_response_body){.none = connection->request.method == PEL_HTTP_HEAD || cached.not_modified};
    pel_http_decide_keep_alive(connection);
    append_head(connection, cached.item, &entry);
    response->head_sent = 1;
    if (!response->body.none) {
        pel_http_check_written(pel_http_cache_send(cache, cached.item, &connection->stream->core,
                                                   (struct pel_slice){head_of(cached.item) + entry.head, entry.body}));
        response->body.sent = entry.body;
    }
    pel_store_release(&cache->store, cached.item);
    pel_http_send_soon(connection);
    pel_http_end_exchange(connection);
}

/* ---- keeping ----------------------------------------------------------------------------------------------------- */

static void note_place(const struct pel_http1_head *head, const char *bytes, const char *name, uint32_t *place,
                       uint32_t *length)
{
    const struct pel_http1_header *header = pel_http1_find(head, name);

    if (!header)
        return;
    *place = (uint32_t)(header->value.bytes - bytes);
    *length = (uint32_t)header->value.length;
}

static void copy_parts(char *at, VALUE parts)
{
    for (long i = 0; i < RARRAY_LEN(parts); i++) {
        VALUE part = RARRAY_AREF(parts, i);
        memcpy(at, RSTRING_PTR(part), (size_t)RSTRING_LEN(part));
        at += RSTRING_LEN(part);
    }
}

void pel_http_cache_keep(struct pel_http_connection *connection, size_t mark, VALUE parts, size_t length)
{
    static struct pel_http1_head head; /* large, and done with before anything can switch threads */
    struct pel_store *store = &connection->server->cache->store;
    struct pel_buffer *output = &connection->stream->core.output;
    VALUE key = connection->request.cache_key;
    const char *bytes = pel_buffer_head(output) + mark;
    size_t head_length = pel_buffer_length(output) - mark, line;
    struct entry entry = {
        .stored = connection->reactor->loop.now, .head = (uint32_t)(head_length - 2), .body = (uint32_t)length};
    enum pel_http1_fault fault;
    struct pel_item *item;
    uint64_t cas;
    char *at;

    connection->request.cache_key = Qfalse;
    if (head_length + length > store->item_limit)
        return;
    /* The bytes themselves are read again, so nothing that the application's objects hide is kept. A last byte is
     * wanted behind the head; the buffer's next one is any. */
    if (pel_http1_parse_head(PEL_HTTP1_RESPONSE, &pel_http1_default_limits, bytes, head_length, &head, &line, &fault) !=
        (ssize_t)head_length)
        return;
    entry.lifetime = pel_http1_cache_lifetime(&head);
    if (!entry.lifetime || head.length != length)
        return;
    note_place(&head, bytes, "etag", &entry.tag, &entry.tag_length);
    note_place(&head, bytes, "last-modified", &entry.date, &entry.date_length);
    if (pel_store_allocate(store, (struct pel_slice){RSTRING_PTR(key), (size_t)RSTRING_LEN(key)},
                           sizeof entry + entry.head + length, 0, 0, &item) < 0)
        return;
    at = pel_item_value(item);
    memcpy(at, &entry, sizeof entry);
    memcpy(at + sizeof entry, bytes, entry.head);
    copy_parts(at + sizeof entry + entry.head, parts);
    pel_store_put(store, item, &(struct pel_store_put){.mode = PEL_STORE_SET}, &cas);
    pel_store_release(store, item);
    RB_GC_GUARD(key);
    RB_GC_GUARD(parts);
}
