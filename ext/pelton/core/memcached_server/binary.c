#include "core/memcached_server/binary_reply.h"
#include "core/memcached_server/commands.h"
#include "core/memcached_server/stats.h"
#include "core/memcached_server/text_reply.h"
#include "core/memcached_server/transfer.h"

/* The binary protocol's commands. */

#define MAX_STAT_WORDS 4

/* Marks a key that the text protocol cannot represent, so that text clients see it as base64. */
static uint8_t binary_key_state(struct pel_slice key)
{
    for (size_t i = 0; i < key.length; i++)
        if ((unsigned char)key.bytes[i] <= ' ' || key.bytes[i] == 0x7f)
            return PEL_ITEM_BINARY_KEY;
    return 0;
}

/* ---- retrieval ------------------------------------------------------------------------------------------------ */

static void binary_miss(struct pel_buffer *output, const struct pel_binary_request *request, int with_key)
{
    struct pel_binary_reply reply = {.request = request, .status = PEL_BINARY_NOT_FOUND, .key = request->key};

    if (request->quiet)
        return;
    if (with_key)
        pel__binary_put_reply(output, &reply);
    else
        pel__binary_refuse(output, request, PEL_BINARY_NOT_FOUND);
}

static void binary_get(struct pel_memcached_session *session, const struct pel_binary_request *request,
                       struct pel_buffer *output)
{
    struct pel_memcached_counters *counters = &session->service->counters;
    struct pel_store *store = &session->service->store;
    struct pel_item *item = pel_store_find(store, request->key);
    enum pel_binary_command command = request->command;
    int with_key = command == PEL_BINARY_GETK || command == PEL_BINARY_GATK;
    int with_value = command != PEL_BINARY_TOUCH;
    int touches = command != PEL_BINARY_GET && command != PEL_BINARY_GETK;
    struct pel_binary_reply reply = {.request = request};
    char flags[4];

    *(touches ? &counters->cmd_touch : &counters->cmd_get) += 1;
    if (touches)
        *(item ? &counters->touch_hits : &counters->touch_misses) += 1;
    else
        *(item ? &counters->get_hits : &counters->get_misses) += 1;
    if (!item) {
        binary_miss(output, request, with_key);
        return;
    }
    if (touches)
        item->expires = pel_store_instant(store, request->expiry);
    pel_store_fetched(store, item);
    pel__binary_put_number(flags, item->client_flags, sizeof flags);
    reply.extras = (struct pel_slice){flags, sizeof flags};
    reply.cas = item->cas;
    if (with_key)
        reply.key = request->key;
    if (with_value)
        reply.value = item->length;
    pel__binary_put_reply(output, &reply);
    if (with_value)
        pel__memcached_append_value(session, item, output);
}

/* ---- storage -------------------------------------------------------------------------------------------------- */

static void binary_store(struct pel_memcached_session *session, const struct pel_binary_request *request,
                         struct pel_buffer *output)
{
    static const uint8_t modes[] = {[PEL_BINARY_SET] = PEL_STORE_SET,
                                    [PEL_BINARY_ADD] = PEL_STORE_ADD,
                                    [PEL_BINARY_REPLACE] = PEL_STORE_REPLACE,
                                    [PEL_BINARY_APPEND] = PEL_STORE_APPEND,
                                    [PEL_BINARY_PREPEND] = PEL_STORE_PREPEND};
    struct pel_store_put *put = &session->put;
    int joins = request->command == PEL_BINARY_APPEND || request->command == PEL_BINARY_PREPEND;
    struct pel_memcached_upload upload = {.key = request->key,
                                          .length = request->length,
                                          .client_flags = request->client_flags,
                                          .expiry = request->expiry,
                                          .replaces = request->command == PEL_BINARY_SET};
    int code = pel__memcached_upload_begin(session, &upload);

    if (code < 0) {
        pel__binary_refuse(output, request, code == PEL_ELIMIT ? PEL_BINARY_TOO_LARGE : PEL_BINARY_NO_MEMORY);
        return;
    }
    *put = (struct pel_store_put){.mode = (enum pel_store_mode)modes[request->command], .compare = request->cas};
    if (request->cas && !joins)
        put->mode = PEL_STORE_CAS;
    session->upload->state |= binary_key_state(request->key);
    session->noreply = request->quiet != 0;
    session->opcode = request->opcode;
    memcpy(session->opaque, request->opaque, sizeof request->opaque);
}

void pel__memcached_binary_stored(struct pel_memcached_session *session, enum pel_store_result result, uint64_t cas,
                                  struct pel_buffer *output)
{
    struct pel_binary_request request = {.opcode = session->opcode, .quiet = session->noreply};
    enum pel_binary_status status = PEL_BINARY_NOT_STORED;

    memcpy(request.opaque, session->opaque, sizeof request.opaque);
    if (result == PEL_STORE_STORED) {
        pel__binary_confirm(output, &request, cas);
        return;
    }
    if (result == PEL_STORE_EXISTS || session->put.mode == PEL_STORE_ADD)
        status = PEL_BINARY_EXISTS;
    else if (result == PEL_STORE_NOT_FOUND || session->put.mode == PEL_STORE_REPLACE)
        status = PEL_BINARY_NOT_FOUND;
    pel__binary_refuse(output, &request, status);
}

static void binary_delete(struct pel_memcached_service *service, const struct pel_binary_request *request,
                          struct pel_buffer *output)
{
    struct pel_item *item = pel_store_find(&service->store, request->key);

    if (item && request->cas && request->cas != item->cas) {
        pel__binary_refuse(output, request, PEL_BINARY_EXISTS);
        return;
    }
    *(item ? &service->counters.delete_hits : &service->counters.delete_misses) += 1;
    if (!item) {
        pel__binary_refuse(output, request, PEL_BINARY_NOT_FOUND);
        return;
    }
    pel_store_remove(&service->store, item);
    pel__binary_confirm(output, request, 0);
}

static void binary_reply_number(struct pel_buffer *output, const struct pel_binary_request *request, uint64_t number,
                                uint64_t cas)
{
    struct pel_binary_reply reply = {.request = request, .cas = cas, .value = 8};
    char bytes[8];

    if (request->quiet)
        return;
    pel__binary_put_reply(output, &reply);
    pel__binary_put_number(bytes, number, sizeof bytes);
    pel__binary_put_text(output, bytes, sizeof bytes);
}

static void binary_create_counter(struct pel_store *store, const struct pel_binary_request *request,
                                  struct pel_buffer *output)
{
    char digits[20];
    size_t length = (size_t)(pel__put_number(digits, request->initial) - digits);
    struct pel_item *item = pel_store_create(store, request->key, (struct pel_slice){digits, length}, 0);

    if (!item) {
        pel__binary_refuse(output, request, PEL_BINARY_NO_MEMORY);
        return;
    }
    item->expires = pel_store_instant(store, request->expiry);
    item->state |= binary_key_state(request->key);
    binary_reply_number(output, request, request->initial, item->cas);
}

static void binary_arithmetic(struct pel_memcached_service *service, const struct pel_binary_request *request,
                              struct pel_buffer *output)
{
    int subtract = request->command == PEL_BINARY_DECREMENT, code;
    struct pel_memcached_counters *counters = &service->counters;
    struct pel_item *item = pel_store_find(&service->store, request->key);
    uint64_t number;

    if (!item && request->expiry != PEL_BINARY_NO_CREATION) {
        binary_create_counter(&service->store, request, output);
        return;
    }
    if (!item) {
        *(subtract ? &counters->decr_misses : &counters->incr_misses) += 1;
        pel__binary_refuse(output, request, PEL_BINARY_NOT_FOUND);
        return;
    }
    if (item->length > 0 && request->cas && request->cas != item->cas) {
        pel__binary_refuse(output, request, PEL_BINARY_EXISTS);
        return;
    }
    code = pel_store_add(&service->store, &item, subtract, request->delta, 0, &number);
    if (code < 0) {
        pel__binary_refuse(output, request, code == PEL_EARGUMENT ? PEL_BINARY_NOT_A_NUMBER : PEL_BINARY_NO_MEMORY);
        return;
    }
    *(subtract ? &counters->decr_hits : &counters->incr_hits) += 1;
    binary_reply_number(output, request, number, item->cas);
}

/* ---- other commands ------------------------------------------------------------------------------------------- */

static int binary_put_stat(struct pel_buffer *output, const struct pel_binary_request *request, struct pel_slice name,
                           struct pel_slice value)
{
    struct pel_binary_reply reply = {.request = request, .key = name, .value = value.length};

    if (pel_buffer_reserve(output, PEL_BINARY_HEADER + name.length + value.length) < 0)
        return PEL_EMEMORY;
    pel__binary_put_reply(output, &reply);
    if (value.length)
        pel__binary_put_text(output, value.bytes, value.length);
    return 0;
}

static int binary_put_stats(struct pel_buffer *output, const struct pel_binary_request *request, const char *at,
                            const char *end)
{
    int code = 0;

    while (code == 0 && end - at > 5 && !memcmp(at, "STAT ", 5)) {
        const char *name = at + 5, *line = memchr(name, '\r', (size_t)(end - name));
        const char *space = memchr(name, ' ', (size_t)(line - name));
        code = binary_put_stat(output, request, (struct pel_slice){name, (size_t)(space - name)},
                               (struct pel_slice){space + 1, (size_t)(line - space - 1)});
        at = line + 2;
    }
    if (code < 0)
        return code;
    if (!memcmp(at, "END", 3) || !memcmp(at, "OK", 2) || !memcmp(at, "RESET", 5))
        return binary_put_stat(output, request, (struct pel_slice){NULL, 0}, (struct pel_slice){NULL, 0});
    pel__binary_refuse(output, request, PEL_BINARY_NOT_FOUND);
    return 0;
}

/* Sends the statistics of the text protocol, each line as a reply of its own. */
static void binary_stats(struct pel_memcached_session *session, const struct pel_binary_request *request,
                         struct pel_buffer *output)
{
    struct pel_slice words[MAX_STAT_WORDS];
    struct pel_buffer text = {0};
    int count = 0;

    for (size_t at = 0; at < request->key.length && count < MAX_STAT_WORDS; at++) {
        size_t start = at;
        while (at < request->key.length && request->key.bytes[at] != ' ')
            at++;
        if (at > start)
            words[count++] = (struct pel_slice){request->key.bytes + start, at - start};
    }
    if (pel_memcached_stats(session->service, words, count, &text) < 0 ||
        binary_put_stats(output, request, pel_buffer_head(&text), pel_buffer_tail(&text)) < 0)
        session->closing = 1;
    pel_buffer_free(&text);
}

static void binary_version(struct pel_buffer *output, const struct pel_binary_request *request)
{
    struct pel_binary_reply reply = {.request = request, .value = sizeof PEL_MEMCACHED_COMPATIBLE - 1};

    pel__binary_put_reply(output, &reply);
    pel__binary_put_text(output, PEL_MEMCACHED_COMPATIBLE, reply.value);
}

static void binary_refuse_request(struct pel_memcached_session *session, const struct pel_binary_request *request,
                                  struct pel_buffer *output)
{
    pel__binary_refuse(output, request, request->status);
    session->swallow = request->length;
    session->closing = request->closing != 0;
}

void pel__memcached_binary(struct pel_memcached_session *session, const struct pel_binary_request *request,
                           struct pel_buffer *output)
{
    switch (request->command) {
    case PEL_BINARY_GET:
    case PEL_BINARY_GETK:
    case PEL_BINARY_TOUCH:
    case PEL_BINARY_GAT:
    case PEL_BINARY_GATK:
        binary_get(session, request, output);
        break;
    case PEL_BINARY_SET:
    case PEL_BINARY_ADD:
    case PEL_BINARY_REPLACE:
    case PEL_BINARY_APPEND:
    case PEL_BINARY_PREPEND:
        binary_store(session, request, output);
        break;
    case PEL_BINARY_DELETE:
        binary_delete(session->service, request, output);
        break;
    case PEL_BINARY_INCREMENT:
    case PEL_BINARY_DECREMENT:
        binary_arithmetic(session->service, request, output);
        break;
    case PEL_BINARY_FLUSH:
        session->service->counters.cmd_flush++;
        pel_store_flush(&session->service->store, pel_store_instant(&session->service->store, request->expiry));
        pel__binary_confirm(output, request, 0);
        break;
    case PEL_BINARY_NOOP:
        pel__binary_confirm(output, request, 0);
        break;
    case PEL_BINARY_VERSION:
        binary_version(output, request);
        break;
    case PEL_BINARY_STAT:
        binary_stats(session, request, output);
        break;
    case PEL_BINARY_QUIT:
        pel__binary_confirm(output, request, 0);
        session->closing = 1;
        break;
    case PEL_BINARY_BAD:
        binary_refuse_request(session, request, output);
        break;
    }
}
