#ifndef PELTON_RUBY_MEMCACHED_MEMCACHED_H
#define PELTON_RUBY_MEMCACHED_MEMCACHED_H

/* Pelton::Memcached, and Pelton::Memcached::Server, the embedded memcached (server_class.c). */
void pel_init_memcached(void);
void pel_init_memcached_server(void);

#endif
