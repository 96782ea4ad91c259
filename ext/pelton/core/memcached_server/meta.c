#include "core/base/base64.h"
#include "core/memcached_server/memcached_session.h"
#include "core/memcached_server/text_reply.h"
#include "core/memcached_server/transfer.h"

/* The meta commands. A reply returns flags in the order in which the client sent them. */

static char *put_meta_flag(char *at, char letter)
{
    *at++ = ' ';
    *at++ = letter;
    return at;
}

static char *put_number_flag(char *at, char letter, uint64_t number)
{
    return pel_decimal_put(put_meta_flag(at, letter), number);
}

static char *put_key_flag(char *at, struct pel_slice key, int binary)
{
    at = put_meta_flag(at, 'k');
    return binary ? put_meta_flag(pel_base64_encode(at, key), 'b') : pel__put(at, key.bytes, key.length);
}

static char *put_item_key_flag(char *at, const struct pel_item *item)
{
    return put_key_flag(at, pel_item_key(item), item->state & PEL_ITEM_BINARY_KEY);
}

static char *put_opaque_flag(char *at, struct pel_slice opaque)
{
    return pel__put(put_meta_flag(at, 'O'), opaque.bytes, opaque.length);
}

static char *put_ttl_flag(char *at, const struct pel_store *store, const struct pel_item *item)
{
    int64_t ttl = pel_store_ttl(store, item);

    at = put_meta_flag(at, 't');
    return ttl < 0 ? PEL__PUT_TEXT(at, "-1") : pel_decimal_put(at, (uint64_t)ttl);
}

/* Appends a reply that describes no item: it returns only the opaque and the key. */
static void meta_reply(const struct pel_memcached_request *request, struct pel_buffer *output, const char *status)
{
    char *at = pel__put(pel_buffer_tail(output), status, 2);

    for (int i = 0; i < request->flag_count; i++) {
        if (request->letters[i] == 'O')
            at = put_opaque_flag(at, request->opaque);
        else if (request->letters[i] == 'k')
            at = put_key_flag(at, request->key, pel_request_has(request, 'b'));
    }
    pel__put_end(output, PEL__PUT_TEXT(at, "\r\n"));
}

/* Creates an item with the request's key; the store has the only reference. Returns NULL when out of memory. The flag N
 * sets the expiry later, since flags before it return the expiry from before. */
static struct pel_item *vivify(struct pel_store *store, const struct pel_memcached_request *request,
                               struct pel_slice value)
{
    struct pel_item *item = pel_store_create(store, request->key, value, request->new_cas);

    if (item && pel_request_has(request, 'b'))
        item->state |= PEL_ITEM_BINARY_KEY;
    return item;
}

/* Appends a flag that mg and ma return alike. T and N have no place in the reply: T sets the item's expiry, and so does
 * N if this request has created the item. */
static char *put_common_flag(char *at, const struct pel_store *store, const struct pel_memcached_request *request,
                             char letter, struct pel_item *item, int created)
{
    switch (letter) {
    case 'T':
        item->expires = pel_store_instant(store, request->ttl);
        return at;
    case 'N':
        if (created)
            item->expires = pel_store_instant(store, request->vivify_ttl);
        return at;
    case 'c':
        return put_number_flag(at, 'c', item->cas);
    case 't':
        return put_ttl_flag(at, store, item);
    case 'O':
        return put_opaque_flag(at, request->opaque);
    default:
        return at;
    }
}

/* ---- mg ------------------------------------------------------------------------------------------------------- */

/* Whether the item expires earlier than R allows, and no client was asked to recompute it yet. */
static int must_recache(const struct pel_store *store, const struct pel_memcached_request *request,
                        const struct pel_item *item)
{
    return !(item->state & PEL_ITEM_WON) && item->expires &&
           item->expires < pel_store_instant(store, request->recache_ttl);
}

static char *put_get_flags(char *at, const struct pel_store *store, const struct pel_memcached_request *request,
                           struct pel_item *item, int created)
{
    int won = created;

    for (int i = 0; i < request->flag_count; i++) {
        switch (request->letters[i]) {
        case 'R':
            won |= !created && must_recache(store, request, item);
            break;
        case 's':
            at = put_number_flag(at, 's', item->length);
            break;
        case 'f':
            at = put_number_flag(at, 'f', item->client_flags);
            break;
        case 'l':
            at = put_number_flag(at, 'l', store->now - item->accessed);
            break;
        case 'h':
            at = put_number_flag(at, 'h', (item->state & PEL_ITEM_FETCHED) != 0);
            break;
        case 'k':
            at = put_item_key_flag(at, item);
            break;
        default:
            at = put_common_flag(at, store, request, request->letters[i], item, created);
            break;
        }
    }
    if (item->state & PEL_ITEM_WON)
        at = put_meta_flag(at, 'Z');
    if (item->state & PEL_ITEM_STALE) {
        at = put_meta_flag(at, 'X');
        won |= !(item->state & PEL_ITEM_WON);
    }
    if (won) {
        at = put_meta_flag(at, 'W');
        item->state |= PEL_ITEM_WON;
    }
    return at;
}

static void meta_get(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                     struct pel_buffer *output)
{
    struct pel_memcached_counters *counters = &session->service->counters;
    struct pel_store *store = &session->service->store;
    struct pel_item *item = pel_store_find(store, request->key);
    int created = 0, touches = pel_request_has(request, 'T');
    char *at = pel_buffer_tail(output);

    if (!item && pel_request_has(request, 'N')) {
        item = vivify(store, request, (struct pel_slice){"", 0});
        created = item != NULL;
    }
    *(item && touches ? &counters->cmd_touch : &counters->cmd_get) += 1;
    if (!item) {
        counters->get_misses++;
        if (!request->noreply)
            meta_reply(request, output, "EN");
        return;
    }
    *(touches ? &counters->touch_hits : &counters->get_hits) += 1;
    at = pel_request_has(request, 'v') ? pel_decimal_put(PEL__PUT_TEXT(at, "VA "), item->length)
                                       : PEL__PUT_TEXT(at, "HD");
    at = put_get_flags(at, store, request, item, created);
    pel__put_end(output, PEL__PUT_TEXT(at, "\r\n"));
    if (!pel_request_has(request, 'u'))
        pel_store_fetched(store, item);
    if (pel_request_has(request, 'v'))
        pel__memcached_append_value(session, item, output);
}

/* ---- ms ------------------------------------------------------------------------------------------------------- */

static void meta_set(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                     struct pel_buffer *output)
{
    static const uint8_t modes[] = {['E' - 'A'] = PEL_STORE_ADD,
                                    ['A' - 'A'] = PEL_STORE_APPEND,
                                    ['P' - 'A'] = PEL_STORE_PREPEND,
                                    ['R' - 'A'] = PEL_STORE_REPLACE,
                                    ['S' - 'A'] = PEL_STORE_SET};
    struct pel_store_put *put = &session->put;

    *put = (struct pel_store_put){.mode = PEL_STORE_SET, .compare = request->compare, .new_cas = request->new_cas};
    if (request->mode)
        put->mode = (enum pel_store_mode)modes[request->mode - 'A'];
    if (pel_request_has(request, 'C') && (put->mode == PEL_STORE_SET || put->mode == PEL_STORE_REPLACE)) {
        put->mode = PEL_STORE_CAS;
        put->stale = pel_request_has(request, 'I');
    }
    if (!pel__memcached_upload_begin(session, request, request->ttl, output))
        return;
    if (pel_request_has(request, 'b'))
        session->upload->state |= PEL_ITEM_BINARY_KEY;
    session->meta = 1;
    session->noreply = request->noreply != 0;
    session->letter_count = (uint8_t)request->flag_count;
    memcpy(session->letters, request->letters, (size_t)request->flag_count);
    if (pel_request_has(request, 'O')) {
        session->opaque_length = (uint8_t)request->opaque.length;
        memcpy(session->opaque, request->opaque.bytes, request->opaque.length);
    }
}

void pel__memcached_meta_stored(struct pel_memcached_session *session, enum pel_store_result result, uint64_t cas,
                                struct pel_buffer *output)
{
    static const char words[][3] = {[PEL_STORE_STORED] = "HD",
                                    [PEL_STORE_NOT_STORED] = "NS",
                                    [PEL_STORE_EXISTS] = "EX",
                                    [PEL_STORE_NOT_FOUND] = "NF"};
    char *at = pel__put(pel_buffer_tail(output), words[result], 2);

    if (session->noreply && result == PEL_STORE_STORED)
        return;
    for (int i = 0; i < session->letter_count; i++) {
        if (session->letters[i] == 'O')
            at = put_opaque_flag(at, (struct pel_slice){session->opaque, session->opaque_length});
        else if (session->letters[i] == 'k')
            at = put_item_key_flag(at, session->upload);
        else if (session->letters[i] == 'c')
            at = put_number_flag(at, 'c', cas);
    }
    pel__put_end(output, PEL__PUT_TEXT(at, "\r\n"));
}

/* ---- md ------------------------------------------------------------------------------------------------------- */

static void meta_delete(struct pel_memcached_service *service, const struct pel_memcached_request *request,
                        struct pel_buffer *output)
{
    struct pel_store *store = &service->store;
    struct pel_item *item = pel_store_find(store, request->key);

    if (!item || (pel_request_has(request, 'C') && item->cas != request->compare)) {
        service->counters.delete_misses++;
        meta_reply(request, output, item ? "EX" : "NF");
        return;
    }
    if (pel_request_has(request, 'I')) {
        if (pel_request_has(request, 'T'))
            item->expires = pel_store_instant(store, request->ttl);
        item->state = (uint8_t)((item->state | PEL_ITEM_STALE) & ~PEL_ITEM_WON);
        pel_store_renew(store, item, request->new_cas);
    } else {
        service->counters.delete_hits++;
        pel_store_remove(store, item);
    }
    if (!request->noreply)
        meta_reply(request, output, "HD");
}

/* ---- ma ------------------------------------------------------------------------------------------------------- */

static void meta_reply_number(const struct pel_store *store, const struct pel_memcached_request *request,
                              struct pel_item *item, int created, uint64_t number, struct pel_buffer *output)
{
    char digits[20], *end = pel_decimal_put(digits, number), *at = pel_buffer_tail(output);
    int value = pel_request_has(request, 'v');

    at = value ? pel_decimal_put(PEL__PUT_TEXT(at, "VA "), (uint64_t)(end - digits)) : PEL__PUT_TEXT(at, "HD");
    for (int i = 0; i < request->flag_count; i++) {
        char letter = request->letters[i];
        at = letter == 'k' ? put_key_flag(at, request->key, pel_request_has(request, 'b'))
                           : put_common_flag(at, store, request, letter, item, created);
    }
    if (value)
        at = pel__put(PEL__PUT_TEXT(at, "\r\n"), digits, (size_t)(end - digits));
    pel__put_end(output, PEL__PUT_TEXT(at, "\r\n"));
}

static void meta_create_counter(struct pel_memcached_service *service, const struct pel_memcached_request *request,
                                struct pel_buffer *output)
{
    char digits[20];
    size_t length = (size_t)(pel_decimal_put(digits, request->initial) - digits);
    struct pel_item *item = vivify(&service->store, request, (struct pel_slice){digits, length});

    if (item)
        meta_reply_number(&service->store, request, item, 1, request->initial, output);
    else
        pel__put_line(output, "SERVER_ERROR Out of memory allocating new item");
}

static void meta_arithmetic(struct pel_memcached_service *service, const struct pel_memcached_request *request,
                            struct pel_buffer *output)
{
    int subtract = request->mode == 'D' || request->mode == '-', code;
    struct pel_memcached_counters *counters = &service->counters;
    struct pel_item *item = pel_store_find(&service->store, request->key);
    uint64_t number;

    if (!item && pel_request_has(request, 'N')) {
        meta_create_counter(service, request, output);
        return;
    }
    if (!item) {
        *(subtract ? &counters->decr_misses : &counters->incr_misses) += 1;
        meta_reply(request, output, "NF");
        return;
    }
    if (item->length > 0 && request->compare && item->cas != request->compare) {
        meta_reply(request, output, "EX");
        return;
    }
    code = pel_store_add(&service->store, &item, subtract, request->delta, request->new_cas, &number);
    if (code < 0) {
        pel__put_line(output, code == PEL_EARGUMENT ? "CLIENT_ERROR cannot increment or decrement non-numeric value"
                                                    : "SERVER_ERROR out of memory");
        return;
    }
    *(subtract ? &counters->decr_hits : &counters->incr_hits) += 1;
    if (request->noreply) { /* no reply, but the flags still take effect */
        if (pel_request_has(request, 'T'))
            item->expires = pel_store_instant(&service->store, request->ttl);
        return;
    }
    meta_reply_number(&service->store, request, item, 0, number, output);
}

/* ---- me ------------------------------------------------------------------------------------------------------- */

static void meta_debug(struct pel_memcached_service *service, const struct pel_memcached_request *request,
                       struct pel_buffer *output)
{
    struct pel_store *store = &service->store;
    struct pel_item *item = pel_store_find(store, request->key);
    char *at = PEL__PUT_TEXT(pel_buffer_tail(output), "ME ");
    int64_t ttl;

    service->counters.cmd_meta++;
    if (!item) {
        pel__put_line(output, "EN");
        return;
    }
    ttl = pel_store_ttl(store, item);
    at = item->state & PEL_ITEM_BINARY_KEY ? pel_base64_encode(at, pel_item_key(item))
                                           : pel__put(at, item->bytes, item->key_length);
    at = ttl < 0 ? PEL__PUT_TEXT(at, " exp=-1") : pel_decimal_put(PEL__PUT_TEXT(at, " exp="), (uint64_t)ttl);
    at = pel_decimal_put(PEL__PUT_TEXT(at, " la="), store->now - item->accessed);
    at = pel_decimal_put(PEL__PUT_TEXT(at, " cas="), item->cas);
    at = item->state & PEL_ITEM_FETCHED ? PEL__PUT_TEXT(at, " fetch=yes") : PEL__PUT_TEXT(at, " fetch=no");
    at = pel_decimal_put(PEL__PUT_TEXT(at, " cls=1 size="), pel_store_cost(item->key_length, item->length));
    pel__put_end(output, PEL__PUT_TEXT(at, "\r\n"));
}

void pel__memcached_meta(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                         struct pel_buffer *output)
{
    switch (request->verb) {
    case PEL_REQUEST_META_GET:
        meta_get(session, request, output);
        break;
    case PEL_REQUEST_META_SET:
        meta_set(session, request, output);
        break;
    case PEL_REQUEST_META_DELETE:
        meta_delete(session->service, request, output);
        break;
    case PEL_REQUEST_META_ARITHMETIC:
        meta_arithmetic(session->service, request, output);
        break;
    default:
        meta_debug(session->service, request, output);
        break;
    }
}
