#include "ruby/http/connection/http_server.h"

#include "ruby/http/connection/http_connection.h"

void pel_http_list_add(struct pel_http_list *list, struct pel_http_connection *connection)
{
    PEL_CHECK_NOT(connection->state >= PEL_HTTP_GONE,
                  "an HTTP connection that is gone was put on a list, and nothing would take it off again: "
                  "the caller has to ask for the connection's state after whatever may park");
    pel_http_list_remove(connection);
    connection->list = list;
    connection->previous = list->last;
    connection->next = NULL;
    *(list->last ? &list->last->next : &list->first) = connection;
    list->last = connection;
    list->count++;
}

void pel_http_list_remove(struct pel_http_connection *connection)
{
    struct pel_http_list *list = connection->list;

    PEL_CHECK_NOT(connection->state > PEL_HTTP_GONE, "an HTTP connection was used after it was freed");
    if (!list)
        return;
    *(connection->previous ? &connection->previous->next : &list->first) = connection->next;
    *(connection->next ? &connection->next->previous : &list->last) = connection->previous;
    connection->list = NULL;
    list->count--;
}
