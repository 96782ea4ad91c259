#ifndef PELTON_CORE_MEMCACHED_SERVER_REQUEST_META_H
#define PELTON_CORE_MEMCACHED_SERVER_REQUEST_META_H

#include "core/memcached_server/request.h"

/* Parses the words of a meta command, including its verb. */
void pel__memcached_request_meta(struct pel_slice *words, int count, struct pel_memcached_request *request);

#endif
