#include "ruby/http/request/http_request.h"

#include <string.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include "ruby/base/convert.h"
#include "ruby/base/upcall.h"
#include "ruby/http/connection/http_connection.h"

/*
 * A request's head as Rack's env. The keys are interned once; the values are new strings, except for values that are
 * nearly always the same.
 */

static VALUE key_method, key_path, key_query, key_name, key_port, key_protocol, key_uri, key_address, key_input;
static VALUE key_hijack, key_async, key_close, key_finished, key_hints, key_upgrade;
static VALUE protocol_1_0, protocol_2, key_hijack_offered, empty, key_scheme, scheme_https, port_http, port_https,
    slash, localhost;

/* ---- interned strings -------------------------------------------------------------------------------------------- */

static VALUE interned_string(const char *text)
{
    VALUE string = rb_interned_str_cstr(text);

    rb_gc_register_mark_object(string);
    return string;
}

static VALUE methods[PEL_HTTP_OTHER];

/* ---- the server's name ------------------------------------------------------------------------------------------- */

/* Splits a Host header into name and port, and puts both into the template: the next request usually repeats them. */
static void split_host(struct pel_http_server *server, struct pel_slice host)
{
    const char *end = host.bytes + host.length, *colon = end;
    VALUE port = server->secure ? port_https : port_http, whole = rb_obj_freeze(pel_slice_string(host));

    while (colon > host.bytes && colon[-1] >= '0' && colon[-1] <= '9')
        colon--;
    if (colon == host.bytes || colon[-1] != ':')
        colon = end + 1;
    server->host_has_port = colon < end;
    if (server->host_has_port)
        port = rb_obj_freeze(rb_str_new(colon, end - colon));
    rb_hash_aset(server->env_template, key_name, rb_obj_freeze(rb_str_new(host.bytes, colon - host.bytes - 1)));
    rb_hash_aset(server->env_template, key_port, port);
    server->host = whole;
}

static void remember_host(struct pel_http_server *server, struct pel_slice host)
{
    if (host.length && (!server->host || (size_t)RSTRING_LEN(server->host) != host.length ||
                        memcmp(RSTRING_PTR(server->host), host.bytes, host.length)))
        split_host(server, host);
}

/* The template has the name and the port of this Host. */
static void set_server_name(struct pel_http_connection *connection, VALUE env, struct pel_slice host)
{
    struct pel_http_server *server = connection->server;
    int layered = connection->stream->core.layer != NULL;

    if (layered)
        rb_hash_aset(env, key_scheme, scheme_https);
    if (!host.length)
        rb_hash_aset(env, key_name, localhost);
    if (!host.length || (layered && !server->secure && !server->host_has_port))
        rb_hash_aset(env, key_port, layered || server->secure ? port_https : port_http);
}

VALUE pel_http_remote_address(struct pel_http_connection *connection)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char text[INET6_ADDRSTRLEN] = "";

    if (connection->address)
        return connection->address;
    if (getpeername(connection->stream->core.handle.fd, (struct sockaddr *)&address, &length) == 0) {
        if (address.ss_family == AF_INET)
            inet_ntop(AF_INET, &((struct sockaddr_in *)&address)->sin_addr, text, sizeof text);
        else if (address.ss_family == AF_INET6)
            inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&address)->sin6_addr, text, sizeof text);
        else
            strcpy(text, "127.0.0.1"); /* the peer of a UNIX socket is on this machine */
    }
    PEL_HTTP_KEEP(connection, address, rb_obj_freeze(rb_str_new_cstr(text)));
    return connection->address;
}

/* ---- the env ----------------------------------------------------------------------------------------------------- */

static void set_target(VALUE env, const struct pel_http1_head *head)
{
    VALUE path =
        head->path.length == 1 && head->path.bytes[0] == '/' ? rb_str_dup(slash) : pel_slice_string(head->path);

    if (head->target_form == PEL_HTTP1_ABSOLUTE && !head->path.length)
        path = rb_str_dup(slash);
    if (head->target_form == PEL_HTTP1_AUTHORITY)
        path = pel_slice_string(head->target);
    rb_hash_aset(env, key_path, path);
    if (head->query.length)
        rb_hash_aset(env, key_query, pel_slice_string(head->query));
    rb_hash_aset(env, key_uri, pel_slice_string(head->target));
}

static VALUE upgrade_protocols(const struct pel_http1_head *head)
{
    const struct pel_http1_header *header = pel_http1_find(head, "upgrade");
    const char *from = header->value.bytes, *end = from + header->value.length;
    VALUE list = rb_ary_new();

    while (from < end) {
        const char *comma = memchr(from, ',', (size_t)(end - from)), *to = comma ? comma : end;
        rb_ary_push(list, pel_slice_string(pel_http1_trim(from, to)));
        from = to + 1;
    }
    return list;
}

/* The connection belongs to other requests, too, or there is none. */
static void forbid_hijacking(VALUE env)
{
    rb_hash_delete(env, key_hijack);
    rb_hash_aset(env, key_hijack_offered, Qfalse);
}

void pel_http_env(struct pel_http_connection *connection, const struct pel_http1_head *head)
{
    struct pel_http_server *server = connection->server;
    struct pel_slice host = pel_http1_effective_host(head);
    VALUE env, exchange = pel_http_exchange_new(connection), callbacks = rb_ary_new();
    uint8_t method = connection->request.method;

    remember_host(server, host);
    env = rb_hash_dup(server->env_template);
    PEL_HTTP_KEEP(connection, request.env, env);
    PEL_HTTP_KEEP(connection, request.exchange, exchange);
    PEL_HTTP_KEEP(connection, request.finish_callbacks, callbacks);
    if (method == PEL_HTTP_OTHER)
        rb_hash_aset(env, key_method, pel_slice_string(head->method));
    else if (method != PEL_HTTP_GET) /* the template has GET */
        rb_hash_aset(env, key_method, methods[method]);
    set_target(env, head);
    if (!head->minor)
        rb_hash_aset(env, key_protocol, protocol_1_0);
    if (connection->protocol->major > 1)
        rb_hash_aset(env, key_protocol, protocol_2);
    set_server_name(connection, env, host);
    rb_hash_aset(env, key_address, pel_http_remote_address(connection));
    if (connection->protocol->frames_bodies && !connection->request.websocket)
        forbid_hijacking(env);
    else
        rb_hash_aset(env, key_hijack, exchange);
    rb_hash_aset(env, key_async, exchange);
    rb_hash_aset(env, key_close, exchange);
    rb_hash_aset(env, key_finished, callbacks);
    if (server->early_hints)
        rb_hash_aset(env, key_hints, exchange);
    pel_http_env_headers(env, head, connection->request.hides);
    if (head->target_form == PEL_HTTP1_ABSOLUTE) /* RFC 9112, 3.2.2: Host is ignored then */
        rb_hash_aset(env, rb_str_new_lit("HTTP_HOST"), pel_slice_string(head->authority));
    if (head->upgrade)
        rb_hash_aset(env, key_upgrade, upgrade_protocols(head));
}

void pel_http_env_input(struct pel_http_connection *connection)
{
    struct pel_http_request *request = &connection->request;

    if (!request->body.done)
        rb_hash_aset(request->env, key_input, pel_upcall(request_input, request->exchange));
}

/* _template(env): adds the keys that every request sets, so that a copy of the template has the capacity for them. */
static VALUE http_s_template(VALUE self, VALUE env)
{
    VALUE keys[] = {key_path, key_query,  key_uri,   key_address, key_name,
                    key_port, key_hijack, key_async, key_close,   key_finished};

    rb_hash_aset(env, key_method, methods[PEL_HTTP_GET]);
    rb_hash_aset(env, key_protocol, interned_string("HTTP/1.1"));
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (NIL_P(rb_hash_lookup(env, keys[i])))
            rb_hash_aset(env, keys[i], empty);
    return env;
}

void pel_init_http_env(void)
{
    key_method = interned_string("REQUEST_METHOD");
    key_path = interned_string("PATH_INFO");
    key_query = interned_string("QUERY_STRING");
    key_name = interned_string("SERVER_NAME");
    key_port = interned_string("SERVER_PORT");
    key_protocol = interned_string("SERVER_PROTOCOL");
    key_uri = interned_string("REQUEST_URI");
    key_address = interned_string("REMOTE_ADDR");
    key_input = interned_string("rack.input");
    key_hijack = interned_string("rack.hijack");
    key_async = interned_string("async.callback");
    key_close = interned_string("async.close");
    key_finished = interned_string("rack.response_finished");
    key_hints = interned_string("rack.early_hints");
    key_upgrade = interned_string("rack.protocol");
    protocol_1_0 = interned_string("HTTP/1.0");
    protocol_2 = interned_string("HTTP/2");
    key_hijack_offered = interned_string("rack.hijack?");
    port_http = interned_string("80");
    port_https = interned_string("443");
    key_scheme = interned_string("rack.url_scheme");
    scheme_https = interned_string("https");
    slash = interned_string("/");
    localhost = interned_string("localhost");
    empty = interned_string("");
    for (int i = 0; i < PEL_HTTP_OTHER; i++)
        methods[i] = interned_string(pel_http_method_names[i]);
    rb_define_singleton_method(pel_mHTTP, "_template", http_s_template, 1);
}
