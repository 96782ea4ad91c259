#include "ruby/http/connection/http_connection.h"

static void drop_proceed(void *data)
{
    ((struct pel_http_connection *)data)->queued = 0;
}

void pel_http_queue_proceed(struct pel_http_connection *connection)
{
    if (connection->queued || pel_http_answering_p(connection) || connection->state == PEL_HTTP_GONE)
        return;
    connection->queued = 1;
    pel_enqueue(connection->reactor, (struct pel_job){.run = connection->jobs->proceed,
                                                      .drop = drop_proceed,
                                                      .data = connection,
                                                      .object = connection->self});
}

static void drop_answer(void *data)
{
    ((struct pel_http_connection *)data)->server->held--;
}

void pel_http_queue_answer(struct pel_http_connection *connection)
{
    connection->server->held++;
    pel_enqueue(connection->reactor, (struct pel_job){.run = connection->jobs->answer,
                                                      .drop = drop_answer,
                                                      .data = connection,
                                                      .object = connection->self,
                                                      .rank = {.arrived = connection->request.began}});
}
