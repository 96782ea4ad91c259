#include "ruby/http/connection/http_connection.h"

#include "ruby/http/connection/http_server.h"

int pel_http_take_slot(struct pel_http_connection *connection)
{
    struct pel_http_server *server = connection->server;

    if (server->running >= server->limit)
        return 0;
    server->running++;
    if (server->connections - server->idle.count >= PEL_HTTP_PEAK)
        pel_http_peak_reached(server);
    connection->request.holds_slot = 1;
    return 1;
}

static void admit_waiting(struct pel_http_server *server)
{
    struct pel_http_connection *connection;

    while ((connection = server->waiting.first) && pel_http_take_slot(connection)) {
        pel_http_list_remove(connection);
        pel_http_queue_answer(connection);
    }
}

void pel_http_release_slot(struct pel_http_connection *connection)
{
    if (!connection->request.holds_slot)
        return;
    connection->request.holds_slot = 0;
    connection->server->running--;
    admit_waiting(connection->server);
}
