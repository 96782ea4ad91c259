#include "ruby/http/request/http_request.h"

#include <string.h>
#include "core/http1/caching.h"
#include "core/http1/http1_writer.h"
#include "ruby/base/convert.h"

#define OUR_AGENT "Pelton" /* the User-Agent of a request that does not say who asks */
#define LONGEST_HIDDEN 64  /* bytes */

/*
 * A request's headers in Rack's env, under keys that are interned once.
 *
 * A header whose name holds an underscore is dropped: its key would be that of the header with a hyphen instead. Proxy
 * is dropped as well: programs take its key, HTTP_PROXY, for a setting of their own (httpoxy).
 */

/* The names that browsers, proxies and tools send: their keys are found without making a string. */
static const char known_names[] =
    "accept accept-charset accept-encoding accept-language access-control-request-headers "
    "access-control-request-method authorization cache-control cdn-loop connection content-disposition "
    "content-encoding content-language content-length content-type cookie date dnt early-data expect forwarded "
    "from host if-match if-modified-since if-none-match if-range if-unmodified-since keep-alive last-event-id "
    "max-forwards origin pragma priority proxy-authorization proxy-connection range referer sec-ch-ua "
    "sec-ch-ua-mobile sec-ch-ua-platform sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user sec-gpc "
    "sec-websocket-extensions sec-websocket-key sec-websocket-protocol sec-websocket-version te traceparent "
    "tracestate trailer transfer-encoding upgrade upgrade-insecure-requests user-agent via x-correlation-id "
    "x-csrf-token x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-proto x-http-method-override "
    "x-real-ip x-request-id x-requested-with";

#define KEY_SLOTS 256 /* of an open hash table */
static struct {
    const char *name;
    size_t length;
    VALUE key;
} key_slots[KEY_SLOTS];

static unsigned char lower_byte(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte | 32) : (unsigned char)byte;
}

static unsigned header_slot(const char *name, size_t length)
{
    unsigned hash = (unsigned)length * 31 + lower_byte(name[0]);

    hash = hash * 31 + lower_byte(name[length - 1]);
    hash = hash * 31 + lower_byte(name[length / 2]);
    return (hash * 31 + lower_byte(name[length / 3])) % KEY_SLOTS;
}

/* "accept" to HTTP_ACCEPT. */
static VALUE make_header_key(const char *name, size_t length)
{
    int bare = (length == 12 && pel__http1_same(name, "content-type", 12)) ||
               (length == 14 && pel__http1_same(name, "content-length", 14));
    VALUE key = bare ? rb_str_buf_new((long)length) : rb_str_new_lit("HTTP_");
    long start = RSTRING_LEN(key);

    rb_str_cat(key, name, (long)length);
    for (char *byte = RSTRING_PTR(key) + start, *end = RSTRING_END(key); byte < end; byte++)
        *byte = *byte == '-' ? '_' : *byte >= 'a' && *byte <= 'z' ? (char)(*byte - 32) : *byte;
    return rb_str_to_interned_str(key);
}

static void add_known_key(const char *name, size_t length)
{
    unsigned slot = header_slot(name, length);
    VALUE key = make_header_key(name, length);

    while (key_slots[slot].name)
        slot = (slot + 1) % KEY_SLOTS;
    rb_gc_register_mark_object(key);
    key_slots[slot].name = name;
    key_slots[slot].length = length;
    key_slots[slot].key = key;
}

/* The key of a header, and in *known its slot in the table; -1 when it is in none. */
static VALUE header_key(struct pel_slice name, int *known)
{
    unsigned slot = header_slot(name.bytes, name.length);

    for (; key_slots[slot].name; slot = (slot + 1) % KEY_SLOTS) {
        if (key_slots[slot].length == name.length && pel__http1_same(name.bytes, key_slots[slot].name, name.length)) {
            *known = (int)slot;
            return key_slots[slot].key;
        }
    }
    *known = -1;
    return make_header_key(name.bytes, name.length);
}

static int dropped_header_p(struct pel_slice name)
{
    return memchr(name.bytes, '_', name.length) || pel_http1_equal(name, "proxy");
}

/* Joins the values of a header that was sent again. */
static VALUE join_values(VALUE before, VALUE key, struct pel_slice value)
{
    int cookie = RSTRING_LEN(key) == 11 && !memcmp(RSTRING_PTR(key), "HTTP_COOKIE", 11);
    VALUE joined = rb_str_dup(before);

    rb_str_cat(joined, cookie ? "; " : ", ", 2);
    return rb_str_cat(joined, value.bytes, (long)value.length);
}

void pel_http_env_headers(VALUE env, const struct pel_http1_head *head, int impersonal)
{
    uint64_t seen[KEY_SLOTS / 64] = {0}; /* a bit for each slot whose header was there */

    for (unsigned i = 0; i < head->header_count; i++) {
        const struct pel_http1_header *header = &head->headers[i];
        VALUE key, before = Qnil;
        struct pel_slice value = header->value;
        int known;
        if (dropped_header_p(header->name))
            continue;
        if (impersonal && pel_http1_equal(header->name, "user-agent"))
            value = PEL_SLICE(OUR_AGENT); /* applications refuse clients that have none */
        else if (impersonal && pel_http1_cache_hides(header->name))
            continue;
        key = header_key(header->name, &known);
        if (known < 0 || seen[known / 64] & (uint64_t)1 << known % 64)
            before = rb_hash_lookup(env, key);
        if (known >= 0)
            seen[known / 64] |= (uint64_t)1 << known % 64;
        rb_hash_aset(env, key, NIL_P(before) ? pel_slice_string(value) : join_values(before, key, value));
    }
}

static int hide(VALUE key, VALUE value, VALUE env)
{
    char name[LONGEST_HIDDEN];
    long length = RB_TYPE_P(key, T_STRING) ? RSTRING_LEN(key) - 5 : 0;

    (void)value, (void)env;
    if (length <= 0 || length > LONGEST_HIDDEN || memcmp(RSTRING_PTR(key), "HTTP_", 5))
        return ST_CONTINUE;
    for (long i = 0; i < length; i++)
        name[i] = RSTRING_PTR(key)[i + 5] == '_' ? '-' : RSTRING_PTR(key)[i + 5];
    return pel_http1_cache_hides((struct pel_slice){name, (size_t)length}) ? ST_DELETE : ST_CONTINUE;
}

void pel_http_env_hide(VALUE env)
{
    VALUE key = rb_interned_str_cstr("HTTP_USER_AGENT");
    int agent = !NIL_P(rb_hash_lookup(env, key));

    rb_hash_foreach(env, hide, env);
    if (agent)
        rb_hash_aset(env, key, rb_str_new_cstr(OUR_AGENT));
}

void pel_init_http_env_headers(void)
{
    for (const char *name = known_names; *name; name += *name == ' ') {
        size_t length = strcspn(name, " ");
        add_known_key(name, length);
        name += length;
    }
}
