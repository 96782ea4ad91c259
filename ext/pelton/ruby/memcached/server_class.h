#ifndef PELTON_RUBY_MEMCACHED_SERVER_CLASS_H
#define PELTON_RUBY_MEMCACHED_SERVER_CLASS_H

void pel_init_memcached_server(void);

#endif
