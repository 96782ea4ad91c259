#include "core/http1/caching.h"
#include "core/http1/http1_writer.h"
#include "core/http1/text.h"
#include "ruby/http/connection/cache.h"
#include "ruby/http/connection/flight.h"
#include "ruby/http/connection/http_connection.h"
#include "ruby/http/response/cache_entry.h"
#include "ruby/http/response/http_response.h"

#define TRY_AGAIN 60 /* seconds */

/* ---- answering --------------------------------------------------------------------------------------------------- */

/* Cache only what was made without seeing the client. Until the URL is known to be public, the application must see it:
 * rate limits and pages for visitors depend on the client. */
static void prepare_keeping(struct pel_http_connection *connection, struct pel_slice key, int hides,
                            const struct pel_http_entry *known)
{
    PEL_HTTP_KEEP(connection, request.cache_key, rb_str_new(key.bytes, (long)key.length));
    if (!hides) {
        connection->request.impersonal = 1;
    } else if (known && known->knowledge == PEL_HTTP_KEPT &&
               connection->request.flight) { /* the old one may be needed yet */
        connection->request.impersonal = connection->request.hides = 1;
    } else if (known && known->knowledge == PEL_HTTP_PUBLIC) {
        connection->request.impersonal = connection->request.hides = 1;
        pel_http_entry_note(connection, key, PEL_HTTP_IN_VAIN);
    }
}

/* A response that may be given out at present. */
static int fresh_p(const struct pel_http_connection *connection, struct pel_item *item,
                   const struct pel_http_entry *entry)
{
    return item && entry->knowledge == PEL_HTTP_KEPT && pel_http_entry_age(connection, entry) < entry->lifetime;
}

/* Whether a response whose lifetime is over may be given out for so many seconds more. */
static int stale_p(const struct pel_http_connection *connection, struct pel_item *item,
                   const struct pel_http_entry *entry, const uint32_t *seconds)
{
    return item && entry->knowledge == PEL_HTTP_KEPT &&
           pel_http_entry_age(connection, entry) < (int64_t)entry->lifetime + *seconds;
}

/* Whether a request may wait for what the flight brings. Who has waited for a response that was not kept waits once
 * more, for the anonymous attempt; then it runs the application. */
static int may_join_p(const struct pel_http_connection *connection, const struct pel_http_flight *flight)
{
    return !connection->request.waits || (connection->request.waits == 1 && flight->leader->request.impersonal);
}

/* Nobody waits for a response that was not public a moment ago. */
static int may_lead_p(const struct pel_http_connection *connection, const struct pel_http_entry *known)
{
    return connection->request.waits ? known && known->knowledge == PEL_HTTP_PUBLIC
                                     : !known || known->knowledge != PEL_HTTP_IN_VAIN;
}

/* Nothing fresh is known by the key of this GET: it waits for another's response, or prepares to keep its own. */
static void miss(struct pel_http_connection *connection, struct pel_slice key, struct pel_item *item,
                 struct pel_http_entry *entry)
{
    struct pel_http_cache *cache = connection->server->cache;
    uint64_t hash = pel_http_entry_hash(&cache->store, key);
    struct pel_http_flight *flight = pel_http_flight_find(cache, hash, key);
    const struct pel_http_entry *known = item ? entry : NULL;

    if (flight && may_join_p(connection, flight)) {
        PEL_HTTP_KEEP(connection, request.cache_key, rb_str_new(key.bytes, (long)key.length));
        pel_http_flight_join(flight, connection);
        return;
    }
    if (known && known->knowledge == PEL_HTTP_IN_VAIN && pel_http_entry_age(connection, known) >= TRY_AGAIN) {
        pel_store_remove(&cache->store, item);
        known = NULL;
    }
    if (!flight && may_lead_p(connection, known))
        pel_http_flight_begin(connection, hash, key);
    prepare_keeping(connection, key, connection->request.has_hidden, known);
}

/* The request is answered by an item, which was retained. */
static struct pel_http_cached use(struct pel_http_connection *connection, const struct pel_http1_head *head,
                                  struct pel_item *item, const struct pel_http_entry *entry)
{
    struct pel_http_cache *cache = connection->server->cache;

    pel_store_fetched(&cache->store, item);
    cache->hits++;
    return (struct pel_http_cached){
        .item = item,
        .not_modified =
            pel_http1_not_modified(
                head, (struct pel_slice){pel_http_entry_head(item, entry) + entry->tag, entry->tag_length},
                (struct pel_slice){pel_http_entry_head(item, entry) + entry->date, entry->date_length}) != 0};
}

static struct pel_slice key_of(const struct pel_http_connection *connection, const struct pel_http1_head *head,
                               char *bytes, int *hides)
{
    int secure = connection->server->secure || connection->stream->core.layer;

    return (struct pel_slice){bytes, pel_http1_cache_key(head, secure, bytes, hides)};
}

struct pel_http_cached pel_http_cache_find(struct pel_http_connection *connection, const struct pel_http1_head *head)
{
    struct pel_http_cache *cache = connection->server->cache;
    char bytes[PEL_HTTP1_CACHE_KEY];
    int hides;
    struct pel_slice key = key_of(connection, head, bytes, &hides);
    struct pel_http_cached cached = {.item = NULL};
    struct pel_item *item;
    struct pel_http_entry entry;

    if (!key.length)
        return cached;
    item = pel_http_entry_find(&cache->store, key, &entry);
    if (fresh_p(connection, item, &entry) && pel_store_retain(item))
        return use(connection, head, item, &entry);
    if (stale_p(connection, item, &entry, &entry.stale.while_revalidate) && pel_store_retain(item)) {
        cached = use(connection, head, item, &entry);
        cached.revalidate = !pel_http_flight_find(cache, pel_http_entry_hash(&cache->store, key), key);
        cache->stale++;
        return cached;
    }
    cache->misses++;
    connection->request.has_hidden = hides != 0;
    if (connection->request.method == PEL_HTTP_GET)
        miss(connection, key, item, &entry);
    return cached;
}

void pel_http_cache_begin_revalidation(struct pel_http_connection *connection, const struct pel_http1_head *head)
{
    char bytes[PEL_HTTP1_CACHE_KEY];
    int hides;
    struct pel_slice key = key_of(connection, head, bytes, &hides);

    PEL_HTTP_KEEP(connection, request.cache_key, rb_str_new(key.bytes, (long)key.length));
    connection->request.impersonal = connection->request.hides = 1;
    pel_http_flight_begin(connection, pel_http_entry_hash(&connection->server->cache->store, key), key);
}

int pel_http_cache_rescue(struct pel_http_connection *connection)
{
    VALUE string = connection->request.cache_key;
    struct pel_http_cached cached = {.item = NULL};
    struct pel_http_entry entry;

    if (!string || connection->protocol->discards)
        return 0;
    cached.item = pel_http_entry_find(&connection->server->cache->store, pel_string_slice(string), &entry);
    if (!stale_p(connection, cached.item, &entry, &entry.stale.if_error) || !pel_store_retain(cached.item))
        return 0;
    connection->server->cache->stale++;
    pel_http_cache_answer(connection, cached);
    RB_GC_GUARD(string);
    return 1;
}

/* Its conditions are not looked at: it gets the whole response. */
struct pel_http_cached pel_http_cache_find_again(struct pel_http_connection *connection)
{
    struct pel_http_cached cached = {.item = NULL};
    VALUE string = connection->request.cache_key;
    struct pel_slice key = pel_string_slice(string);
    struct pel_http_entry entry;
    struct pel_item *item = pel_http_entry_find(&connection->server->cache->store, key, &entry);

    /* Its lifetime may be over where the first has failed. */
    if (stale_p(connection, item, &entry, &entry.stale.if_error) && pel_store_retain(item)) {
        cached.item = item;
        connection->server->cache->stale += !fresh_p(connection, item, &entry);
    } else {
        miss(connection, key, item, &entry);
    }
    RB_GC_GUARD(string);
    return cached;
}

/* Appends the lines of a head but those of the headers that are left out. Returns 0 or PEL_EMEMORY. */
static int append_lines(struct pel_buffer *output, struct pel_slice lines,
                        int (*left_out)(struct pel_slice name, struct pel_slice value))
{
    int code = 0;

    for (const char *at = lines.bytes, *end = at + lines.length, *next; at < end && code == 0; at = next) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at)), *colon;
        next = line_end ? line_end + 1 : end;
        colon = memchr(at, ':', (size_t)(next - at));
        if (!colon || !left_out((struct pel_slice){at, (size_t)(colon - at)}, pel_http1_trim(colon + 1, next - 2)))
            code = pel_buffer_append(output, at, (size_t)(next - at));
    }
    return code;
}

/* A 304 has no headers that describe the content, which is not there. */
static int describes_content(struct pel_slice name, struct pel_slice value)
{
    (void)value;
    return pel_http1_equal(name, "content-length") || pel_http1_equal(name, "content-type") ||
           pel_http1_equal(name, "content-encoding") || pel_http1_equal(name, "content-language");
}

static void append_head(struct pel_http_connection *connection, struct pel_item *item,
                        const struct pel_http_entry *entry)
{
    struct pel_buffer *output = connection->protocol->lines(connection);
    const char *head = pel_http_entry_head(item, entry);

    if (connection->response.status == 304) {
        const char *lines = (const char *)memchr(head, '\n', entry->head) + 1;
        struct pel_slice rest = {lines, entry->head - (size_t)(lines - head)};
        pel_http_check_written(pel_http1_write_status_line(output, 304));
        pel_http_check_written(append_lines(output, rest, describes_content));
    } else {
        pel_http_check_written(pel_buffer_append(output, head, entry->head));
    }
    pel_http_check_written(
        pel_http1_write_number(output, PEL_SLICE("age"), (uint64_t)pel_http_entry_age(connection, entry)));
    if (!connection->response.keep_alive)
        pel_http_check_written(pel_http1_write_header(output, PEL_SLICE("connection"), PEL_SLICE("close")));
    pel_http_check_written(pel_http1_write_end(output));
}

void pel_http_cache_answer(struct pel_http_connection *connection, struct pel_http_cached cached)
{
    struct pel_http_cache *cache = connection->server->cache;
    struct pel_http_response *response = &connection->response;
    struct pel_http_entry entry = pel_http_entry_read(cached.item);

    pel_http_list_remove(connection);
    if (connection->state != PEL_HTTP_BUSY) /* the application has failed */
        pel_http_become(connection, PEL_HTTP_BUSY);
    response->status = cached.not_modified ? 304 : 200;
    response->body =
        (struct pel_http_response_body){.none = connection->request.method == PEL_HTTP_HEAD || cached.not_modified};
    pel_http_decide_keep_alive(connection);
    append_head(connection, cached.item, &entry);
    response->head_sent = 1;
    if (!response->body.none) {
        pel_http_check_written(
            pel_http_cache_send(cache, cached.item, connection,
                                (struct pel_slice){pel_http_entry_head(cached.item, &entry) + entry.head, entry.body}));
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

/* Keeps the response with this head, or notes that it is public. 0: it is not. */
static int keep(struct pel_http_connection *connection, struct pel_slice key, struct pel_buffer *kept, VALUE parts,
                size_t length)
{
    static struct pel_http1_head head; /* large, and done with before anything can switch threads */
    struct pel_store *store = &connection->server->cache->store;
    const char *bytes = pel_buffer_head(kept);
    size_t head_length = pel_buffer_length(kept), line;
    struct pel_http_entry entry = {.stored = connection->reactor->loop.now,
                                   .key = (uint32_t)key.length,
                                   .head = (uint32_t)(head_length - 2),
                                   .body = (uint32_t)length},
                          known;
    enum pel_http1_fault fault;

    /* The bytes themselves are read again, so nothing that the application's objects hide is kept. */
    if (pel_http1_parse_head(PEL_HTTP1_RESPONSE, &pel_http1_default_limits, bytes, head_length, &head, &line, &fault) !=
        (ssize_t)head_length)
        return 0;
    entry.lifetime = pel_http1_cache_lifetime(&head, &entry.stale);
    if (!entry.lifetime || head.length != length)
        return 0;
    if (!connection->request.impersonal) {
        if (!pel_http_entry_find(store, key, &known))
            pel_http_entry_note(connection, key, PEL_HTTP_PUBLIC);
        return 1;
    }
    note_place(&head, bytes, "etag", &entry.tag, &entry.tag_length);
    note_place(&head, bytes, "last-modified", &entry.date, &entry.date_length);
    pel_http_entry_store(store, key, &entry, bytes, parts);
    return 1;
}

/* A purge has come after the request: its response may show what was true before. */
static int outdated_p(const struct pel_http_connection *connection)
{
    return connection->request.began <= connection->server->cache->purged_at;
}

void pel_http_cache_keep(struct pel_http_connection *connection, size_t mark, VALUE parts, size_t length)
{
    struct pel_buffer *output = connection->protocol->lines(connection), kept = {0};
    VALUE key = connection->request.cache_key;
    struct pel_slice head = {pel_buffer_head(output) + mark, pel_buffer_length(output) - mark};
    int kept_or_noted = 0;

    if (!outdated_p(connection) &&
        sizeof(struct pel_http_entry) + (size_t)RSTRING_LEN(key) + head.length + length <=
            connection->server->cache->store.item_limit &&
        append_lines(&kept, head, pel_http1_cache_drops) == 0) /* without what says something of its own request */
        kept_or_noted = keep(connection, pel_string_slice(key), &kept, parts, length);
    pel_buffer_free(&kept);
    if (kept_or_noted) {
        connection->request.cache_key = Qfalse;
        pel_http_flight_leave(connection);
    }
    RB_GC_GUARD(key);
    RB_GC_GUARD(parts);
}

void pel_http_cache_pass(struct pel_http_connection *connection)
{
    VALUE key = connection->request.cache_key;
    struct pel_http_flight *flight = connection->request.flight;

    connection->request.cache_key = Qfalse;
    if (!flight)
        return;
    /* A failure says nothing of the next response, nor does what a purge has kept out. */
    if ((flight->waiting.count || connection->request.hides) && connection->response.status < 500 &&
        !outdated_p(connection))
        pel_http_entry_note(connection, pel_string_slice(key), PEL_HTTP_IN_VAIN);
    pel_http_flight_end(flight);
    RB_GC_GUARD(key);
}
