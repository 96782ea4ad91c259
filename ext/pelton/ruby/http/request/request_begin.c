#include "ruby/http/request/http_request.h"

#include "ruby/base/upcall.h"
#include "ruby/http/connection/http_connection.h"
#include "ruby/http/response/http_response.h"

/* How a request begins, in any protocol. */

/* Whether it is to be asked if the connection, on a server with several TLS contexts, may have a request for this host.
 * It need not be for the name that the client gave in TLS, nor for the Host of an earlier request. */
static int host_unchecked_p(struct pel_http_connection *connection, const struct pel_http1_head *head)
{
    if (!connection->choice)
        return 0;
    return !connection->host ||
           !pel_http1_equal(pel_http1_host_name(pel_http1_effective_host(head)), RSTRING_PTR(connection->host));
}

void pel_http_begin_request(struct pel_http_connection *connection, const struct pel_http1_head *head, int no_body)
{
    struct pel_http_server *server = connection->server;

    pel_http_list_remove(connection);
    server->requests++;
    connection->requests++;
    connection->request = (struct pel_http_request){
        .began = connection->reactor->loop.now,
        .body = {.done = no_body != 0},
        .method = pel_http_method(head->method),
        .minor_version = head->minor & 1,
        .expects_continue = head->expects_continue && head->minor == 1,
        .upgrade = head->upgrade,
    };
    connection->request.host_unchecked = host_unchecked_p(connection, head) != 0;
    connection->response = (struct pel_http_response){
        /* The bytes after CONNECT belong to a tunnel and are no request: a proxy between the client and us may take
         * any 2xx for leave to pass them on. */
        .keep_alive = head->keep_alive && head->target_form != PEL_HTTP1_AUTHORITY &&
                      connection->requests < server->requests_limit,
    };
}

/* Whether the client has TLS, with this server or with a proxy that says so. */
static int came_with_tls_p(const struct pel_http_connection *connection, const struct pel_http1_head *head)
{
    if (connection->server->secure || connection->stream->core.layer)
        return 1;
    for (uint32_t i = 0; i < head->header_count; i++)
        if (pel_http1_equal(head->headers[i].name, "x-forwarded-proto"))
            return pel_http1_equal(head->headers[i].value, "https");
    return 0;
}

int pel_http_begin_file(struct pel_http_connection *connection, const struct pel_http1_head *head)
{
    const struct pel_http_server *server = connection->server;

    if (!server->files || (server->tls_only && !came_with_tls_p(connection, head)) ||
        !pel_http_find_file(connection, head))
        return 0;
    connection->request.for_file = 1;
    if (!NIL_P(connection->server->log) || pel_observed[PEL_EVENT_request] || connection->request.host_unchecked)
        pel_http_env(connection, head);
    return 1;
}

int pel_http_urgent_p(struct pel_http_connection *connection)
{
    VALUE paths = connection->server->urgent_paths;

    return paths && (connection->request.method == PEL_HTTP_GET || connection->request.method == PEL_HTTP_HEAD) &&
           RTEST(rb_ary_includes(paths, rb_hash_aref(connection->request.env, rb_str_new_lit("PATH_INFO"))));
}

void pel_http_refuse_overload(struct pel_http_connection *connection)
{
    connection->server->overloads++;
    pel_http_become(connection, PEL_HTTP_BUSY);
    pel_http_respond_error(connection, 503, "too many requests are in progress", 0);
}
