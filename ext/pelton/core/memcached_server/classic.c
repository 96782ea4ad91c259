#include "core/memcached_server/memcached_session.h"
#include "core/memcached_server/service.h"
#include "core/memcached_server/text_reply.h"
#include "core/memcached_server/transfer.h"

/* The classic text commands. */

#define SMALLEST_MEMORY 8 /* megabytes */

static void classic_reply(const struct pel_memcached_request *request, struct pel_buffer *output, const char *text)
{
    if (!request->noreply)
        pel__put_line(output, text);
}

static struct pel_item *classic_look_up(struct pel_memcached_service *service,
                                        const struct pel_memcached_request *request)
{
    struct pel_memcached_counters *counters = &service->counters;
    struct pel_item *item = pel_store_find(&service->store, request->key);

    if (request->verb == PEL_REQUEST_GAT || request->verb == PEL_REQUEST_GATS) {
        counters->cmd_touch++;
        *(item ? &counters->touch_hits : &counters->touch_misses) += 1;
        if (item)
            item->expires = pel_store_instant(&service->store, request->expiry);
    } else {
        counters->cmd_get++;
        *(item ? &counters->get_hits : &counters->get_misses) += 1;
    }
    if (item)
        pel_store_fetched(&service->store, item);
    return item;
}

static void classic_get(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                        struct pel_buffer *output)
{
    struct pel_item *item = request->key.length ? classic_look_up(session->service, request) : NULL;

    if (item) {
        char *at = PEL__PUT_TEXT(pel_buffer_tail(output), "VALUE ");
        at = pel__put(at, item->bytes, item->key_length);
        *at++ = ' ';
        at = pel_decimal_put(at, item->client_flags);
        *at++ = ' ';
        at = pel_decimal_put(at, item->length);
        if (request->verb == PEL_REQUEST_GETS || request->verb == PEL_REQUEST_GATS) {
            *at++ = ' ';
            at = pel_decimal_put(at, item->cas);
        }
        pel__put_end(output, PEL__PUT_TEXT(at, "\r\n"));
        pel__memcached_append_value(session, item, output);
    }
    if (request->last && session->download)
        session->end_after_value = 1;
    else if (request->last)
        pel__put_line(output, "END");
}

static void classic_store(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                          struct pel_buffer *output)
{
    static const uint8_t modes[] = {[PEL_REQUEST_SET] = PEL_STORE_SET,         [PEL_REQUEST_ADD] = PEL_STORE_ADD,
                                    [PEL_REQUEST_REPLACE] = PEL_STORE_REPLACE, [PEL_REQUEST_APPEND] = PEL_STORE_APPEND,
                                    [PEL_REQUEST_PREPEND] = PEL_STORE_PREPEND, [PEL_REQUEST_CAS] = PEL_STORE_CAS};

    session->meta = 0;
    session->noreply = request->noreply != 0;
    session->put = (struct pel_store_put){.mode = (enum pel_store_mode)modes[request->verb],
                                          .compare = request->verb == PEL_REQUEST_CAS ? request->cas : 0};
    pel__memcached_upload_begin(session, request, request->expiry, output);
}

static void classic_delete(struct pel_memcached_service *service, const struct pel_memcached_request *request,
                           struct pel_buffer *output)
{
    struct pel_item *item = pel_store_find(&service->store, request->key);

    *(item ? &service->counters.delete_hits : &service->counters.delete_misses) += 1;
    if (item)
        pel_store_remove(&service->store, item);
    classic_reply(request, output, item ? "DELETED" : "NOT_FOUND");
}

static void classic_touch(struct pel_memcached_service *service, const struct pel_memcached_request *request,
                          struct pel_buffer *output)
{
    struct pel_item *item = pel_store_find(&service->store, request->key);

    service->counters.cmd_touch++;
    *(item ? &service->counters.touch_hits : &service->counters.touch_misses) += 1;
    if (item) {
        item->expires = pel_store_instant(&service->store, request->expiry);
        pel_store_fetched(&service->store, item);
    }
    classic_reply(request, output, item ? "TOUCHED" : "NOT_FOUND");
}

static void classic_arithmetic(struct pel_memcached_service *service, const struct pel_memcached_request *request,
                               struct pel_buffer *output)
{
    int subtract = request->verb == PEL_REQUEST_DECR;
    struct pel_memcached_counters *counters = &service->counters;
    struct pel_item *item = pel_store_find(&service->store, request->key);
    uint64_t number;
    int code;

    if (!item) {
        *(subtract ? &counters->decr_misses : &counters->incr_misses) += 1;
        classic_reply(request, output, "NOT_FOUND");
        return;
    }
    code = pel_store_add(&service->store, &item, subtract, request->delta, 0, &number);
    if (code < 0) {
        classic_reply(request, output,
                      code == PEL_EARGUMENT ? "CLIENT_ERROR cannot increment or decrement non-numeric value"
                                            : "SERVER_ERROR out of memory");
        return;
    }
    *(subtract ? &counters->decr_hits : &counters->incr_hits) += 1;
    if (!request->noreply)
        pel__put_end(output, PEL__PUT_TEXT(pel_decimal_put(pel_buffer_tail(output), number), "\r\n"));
}

static void classic_flush_all(struct pel_memcached_service *service, const struct pel_memcached_request *request,
                              struct pel_buffer *output)
{
    struct pel_store *store = &service->store;

    service->counters.cmd_flush++;
    pel_store_flush(store, request->expiry > 0 ? pel_store_instant(store, request->expiry) : 0);
    classic_reply(request, output, "OK");
}

/* Sets the memory limit, up to the configured limit. */
static void classic_limit_memory(struct pel_memcached_service *service, const struct pel_memcached_request *request,
                                 struct pel_buffer *output)
{
    const char *reply = "OK";

    if (request->delta < SMALLEST_MEMORY)
        reply = "MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m";
    else if (request->delta > 1000000000)
        reply = "MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes";
    else if (request->delta << 20 > service->configured_memory)
        reply = "MEMLIMIT_ADJUST_FAILED out of bounds or unable to adjust";
    else
        service->store.memory_limit = request->delta << 20;
    classic_reply(request, output, reply);
}

void pel__memcached_classic(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                            struct pel_buffer *output)
{
    struct pel_memcached_service *service = session->service;

    switch (request->verb) {
    case PEL_REQUEST_GET:
    case PEL_REQUEST_GETS:
    case PEL_REQUEST_GAT:
    case PEL_REQUEST_GATS:
        classic_get(session, request, output);
        break;
    case PEL_REQUEST_SET:
    case PEL_REQUEST_ADD:
    case PEL_REQUEST_REPLACE:
    case PEL_REQUEST_APPEND:
    case PEL_REQUEST_PREPEND:
    case PEL_REQUEST_CAS:
        classic_store(session, request, output);
        break;
    case PEL_REQUEST_DELETE:
        classic_delete(service, request, output);
        break;
    case PEL_REQUEST_TOUCH:
        classic_touch(service, request, output);
        break;
    case PEL_REQUEST_INCR:
    case PEL_REQUEST_DECR:
        classic_arithmetic(service, request, output);
        break;
    case PEL_REQUEST_FLUSH_ALL:
        classic_flush_all(service, request, output);
        break;
    case PEL_REQUEST_CACHE_MEMLIMIT:
        classic_limit_memory(service, request, output);
        break;
    case PEL_REQUEST_VERBOSITY:
        service->verbosity = request->delta < (uint64_t)service->configured_verbosity ? (int)request->delta
                                                                                      : service->configured_verbosity;
        classic_reply(request, output, "OK");
        break;
    case PEL_REQUEST_VERSION:
        classic_reply(request, output, "VERSION " PEL_MEMCACHED_COMPATIBLE);
        break;
    case PEL_REQUEST_META_NOOP:
        classic_reply(request, output, "MN");
        break;
    case PEL_REQUEST_STATS:
        if (pel_memcached_stats(service, request->words, request->word_count, output) < 0)
            session->closing = 1;
        break;
    case PEL_REQUEST_SHUTDOWN:
        classic_reply(request, output, "ERROR: shutdown not enabled");
        break;
    case PEL_REQUEST_QUIT:
        session->closing = 1;
        break;
    default:
        classic_reply(request, output, "ERROR");
        break;
    }
}
