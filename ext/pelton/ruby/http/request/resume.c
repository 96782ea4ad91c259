#include "ruby/http/connection/http_connection.h"
#include "ruby/http/request/http_request.h"
#include "ruby/http/response/http_response.h"

/* How a request goes on that has waited for another's response. */

void pel_http_resume(struct pel_http_connection *connection)
{
    struct pel_http_server *server = connection->server;
    struct pel_http_cached cached = pel_http_cache_find_again(connection);

    if (connection->request.hides)
        pel_http_env_hide(connection->request.env);
    if (cached.item)
        pel_http_cache_answer(connection, cached);
    else if (connection->list) /* of the next flight */
        return;
    else if (pel_http_take_slot(connection))
        pel_http_queue_answer(connection);
    else if (server->waiting.count < server->queue_limit)
        pel_http_list_add(&server->waiting, connection);
    else
        pel_http_refuse_overload(connection);
}
