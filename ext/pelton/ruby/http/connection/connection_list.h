#ifndef PELTON_RUBY_HTTP_CONNECTION_CONNECTION_LIST_H
#define PELTON_RUBY_HTTP_CONNECTION_CONNECTION_LIST_H

#include <stdint.h>

struct pel_http_connection;

/* A list of connections. Each connection is on one list at most. */
struct pel_http_list {
    struct pel_http_connection *first, *last;
    uint32_t count;
};

/* Puts a connection at the list's end, and takes it off the list that it was on. C only. */
void pel_http_list_add(struct pel_http_list *list, struct pel_http_connection *connection);

/* Takes a connection off its list. No-op when it is on none. C only. */
void pel_http_list_remove(struct pel_http_connection *connection);

#endif
