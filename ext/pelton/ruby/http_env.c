#include "http.h"

#include <string.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include "slice_string.h"

/*
 * A request's head as Rack's env. The keys are interned once; the values are fresh strings, but for those which are
 * nearly always the same.
 */

static VALUE key_method, key_path, key_query, key_name, key_port, key_protocol, key_uri, key_address, key_input;
static VALUE key_hijack, key_async, key_close, key_finished, key_hints, key_upgrade;
static VALUE protocol_1_0, empty, key_scheme, scheme_https, port_http, port_https, slash;

/* ---- interned strings ------------------------------------------------------------------------------------------ */

static VALUE intern(const char *text)
{
    VALUE string = rb_interned_str_cstr(text);

    rb_gc_register_mark_object(string);
    return string;
}

#define METHODS 9
static const char *const method_names[METHODS] = {"GET",     "POST",  "HEAD",  "PUT",    "DELETE",
                                                  "OPTIONS", "PATCH", "TRACE", "CONNECT"};
static VALUE methods[METHODS];

static VALUE method_string(struct pel_slice method)
{
    for (int i = 0; i < METHODS; i++)
        if (strlen(method_names[i]) == method.length && !memcmp(method_names[i], method.bytes, method.length))
            return methods[i];
    return pel_slice_string(method);
}

/* ---- the server's name ------------------------------------------------------------------------------------------ */

/* A Host header's name and port. */
static void split_host(struct pel_http_server *server, struct pel_slice host)
{
    const char *end = host.bytes + host.length, *colon = end;

    while (colon > host.bytes && colon[-1] >= '0' && colon[-1] <= '9')
        colon--;
    if (colon == host.bytes || colon[-1] != ':')
        colon = end + 1;
    server->host = rb_obj_freeze(pel_slice_string(host));
    server->host_name = rb_obj_freeze(rb_str_new(host.bytes, colon - host.bytes - 1));
    server->host_port = colon >= end ? Qfalse : rb_obj_freeze(rb_str_new(colon, end - colon));
}

static void put_server_name(struct pel_http_connection *connection, VALUE env, struct pel_slice host)
{
    struct pel_http_server *server = connection->server;
    int layered = connection->stream->core.layer != NULL;
    VALUE usual = layered || server->secure ? port_https : port_http;

    if (layered)
        rb_hash_aset(env, key_scheme, scheme_https);
    if (!host.length) { /* the template's own */
        rb_hash_aset(env, key_port, usual);
        return;
    }
    if (!server->host || (size_t)RSTRING_LEN(server->host) != host.length ||
        memcmp(RSTRING_PTR(server->host), host.bytes, host.length))
        split_host(server, host);
    rb_hash_aset(env, key_name, server->host_name);
    rb_hash_aset(env, key_port, server->host_port ? server->host_port : usual);
}

static VALUE remote_address(struct pel_http_connection *connection)
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
            strcpy(text, "127.0.0.1"); /* a UNIX socket's peer is here */
    }
    PEL_HTTP_KEEP(connection, address, rb_obj_freeze(rb_str_new_cstr(text)));
    return connection->address;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static void put_target(VALUE env, const struct pel_http1_head *head)
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

VALUE pel_http_env(struct pel_http_connection *connection, const struct pel_http1_head *head)
{
    struct pel_http_server *server = connection->server;
    VALUE env = rb_hash_dup(server->template);

    PEL_HTTP_KEEP(connection, env, env);
    PEL_HTTP_KEEP(connection, exchange, pel_http_exchange_new(connection));
    if (head->method.length != 3 || memcmp(head->method.bytes, "GET", 3)) /* else as the template has it */
        rb_hash_aset(env, key_method, method_string(head->method));
    put_target(env, head);
    if (!head->minor)
        rb_hash_aset(env, key_protocol, protocol_1_0);
    put_server_name(connection, env, head->target_form == PEL_HTTP1_ABSOLUTE ? head->authority : head->host);
    rb_hash_aset(env, key_address, remote_address(connection));
    rb_hash_aset(env, key_hijack, connection->exchange);
    rb_hash_aset(env, key_async, connection->exchange);
    rb_hash_aset(env, key_close, connection->exchange);
    PEL_HTTP_KEEP(connection, finished, rb_ary_new());
    rb_hash_aset(env, key_finished, connection->finished);
    rb_hash_aset(env, key_hints, connection->exchange);
    pel_http_env_headers(env, head);
    if (head->target_form == PEL_HTTP1_ABSOLUTE) /* RFC 9112, 3.2.2: Host is ignored then */
        rb_hash_aset(env, rb_str_new_lit("HTTP_HOST"), pel_slice_string(head->authority));
    if (head->upgrade)
        rb_hash_aset(env, key_upgrade, upgrade_protocols(head));
    return env;
}

void pel_http_env_input(struct pel_http_connection *connection)
{
    if (!connection->body_done)
        rb_hash_aset(connection->env, key_input, rb_funcall(pel_mHTTP, rb_intern("_input"), 1, connection->exchange));
}

/* _template(env): adds what every request replaces, so that a copy has room for it. */
static VALUE http_s_template(VALUE self, VALUE env)
{
    VALUE keys[] = {key_path,   key_query, key_uri,   key_address,  key_name, key_port,
                    key_hijack, key_async, key_close, key_finished, key_hints};

    rb_hash_aset(env, key_method, methods[0]);
    rb_hash_aset(env, key_protocol, intern("HTTP/1.1"));
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (NIL_P(rb_hash_lookup(env, keys[i])))
            rb_hash_aset(env, keys[i], empty);
    rb_hash_aset(env, key_input, rb_const_get(pel_mHTTP, rb_intern("EMPTY_INPUT")));
    return env;
}

void pel_init_http_env(void)
{
    key_method = intern("REQUEST_METHOD");
    key_path = intern("PATH_INFO");
    key_query = intern("QUERY_STRING");
    key_name = intern("SERVER_NAME");
    key_port = intern("SERVER_PORT");
    key_protocol = intern("SERVER_PROTOCOL");
    key_uri = intern("REQUEST_URI");
    key_address = intern("REMOTE_ADDR");
    key_input = intern("rack.input");
    key_hijack = intern("rack.hijack");
    key_async = intern("async.callback");
    key_close = intern("async.close");
    key_finished = intern("rack.response_finished");
    key_hints = intern("rack.early_hints");
    key_upgrade = intern("rack.protocol");
    protocol_1_0 = intern("HTTP/1.0");
    port_http = intern("80");
    port_https = intern("443");
    key_scheme = intern("rack.url_scheme");
    scheme_https = intern("https");
    slash = intern("/");
    empty = intern("");
    for (int i = 0; i < METHODS; i++)
        methods[i] = intern(method_names[i]);
    pel_init_http_env_headers();
    rb_define_singleton_method(pel_mHTTP, "_template", http_s_template, 1);
}
