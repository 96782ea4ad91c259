#ifndef PELTON_CORE_MEMCACHED_SERVER_SESSION_STATE_H
#define PELTON_CORE_MEMCACHED_SERVER_SESSION_STATE_H

#include "core/memcached_server/request_parser.h"
#include "core/memcached_server/service.h"

/* The state of a session, shared by session.c, transfer.c and the commands. */

#define PEL_MEMCACHED_COPIED 16384 /* bytes; a longer value is not copied to the output */
#define PEL_MEMCACHED_REPLY_SPACE (PEL_MEMCACHED_COPIED + 1024)

struct pel_memcached_session {
    unsigned closing : 1; /* the caller sends the rest of the output and closes the connection */
    /* private: */
    unsigned end_after_value : 1; /* an END must follow the value that follows the output */
    unsigned meta : 1, noreply : 1;
    uint8_t letter_count, opaque_length; /* of the ms command whose value is being received */
    char letters[PEL_MEMCACHED_REQUEST_FLAGS];
    char opaque[32];
    struct pel_memcached_service *service;
    struct pel_memcached_request_parser parser;
    struct pel_store_put put;
    struct pel_item *upload;   /* the item whose value is being received; the session owns a reference */
    struct pel_item *download; /* the item whose value follows the output; the session owns a reference */
    uint32_t received;         /* bytes of the upload's value and its CRLF */
    uint64_t swallow;          /* bytes of a refused value to discard */
};

#endif
