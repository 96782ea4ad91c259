#include "ruby/http/response/http_response.h"

#include <string.h>
#include "ruby/http/connection/http_connection.h"

/* Responses of text/event-stream go on as long as the client likes, so a server that stops has to end them. */

static int find_event_stream_type(VALUE name, VALUE value, VALUE found)
{
    static const char type[] = "text/event-stream";
    size_t length = sizeof type - 1;

    if (RB_TYPE_P(name, T_STRING) && RB_TYPE_P(value, T_STRING) && (size_t)RSTRING_LEN(value) >= length &&
        pel_http1_equal(pel_string_slice(name), "content-type"))
        *(int *)found = !memcmp(RSTRING_PTR(value), type, length);
    return ST_CONTINUE;
}

/* Only a GET without content-length, as an EventSource sends it, since an EventSource connects again by itself. Other
 * requests may not be repeatable. */
void pel_http_track_event_stream(struct pel_http_connection *connection, VALUE headers)
{
    int found = 0;

    if (connection->request.method != PEL_HTTP_GET || connection->response.body.has_length)
        return;
    rb_hash_foreach(headers, find_event_stream_type, (VALUE)&found);
    if (!found)
        return;
    pel_http_list_add(&connection->server->event_streams, connection);
    pel_http_server_changed(connection->server, connection->reactor);
}

/* _end_events: ends them in good order, as though their clients had left. */
static VALUE server_end_event_streams(VALUE self)
{
    struct pel_http_server *server = pel_http_server_get(self);
    struct pel_http_connection *connection;

    while ((connection = server->event_streams.first)) {
        VALUE object = connection->self;
        struct pel_http_response *response = &connection->response;
        pel_http_list_remove(connection);
        response->keep_alive = 0;
        response->ended_by_server = 1;
        if (response->body.chunked)
            pel_http_finish_body(connection, Qnil);
        pel_http_end_exchange(connection);
        RB_GC_GUARD(object);
    }
    return Qnil;
}

void pel_init_http_event_streams(VALUE server)
{
    rb_define_private_method(server, "_end_events", server_end_event_streams, 0);
}
