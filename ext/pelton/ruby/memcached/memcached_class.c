#include "ruby/memcached/commands.h"

/* Pelton::Memcached::Client and its commands: the table of contents. */

static void define_commands(VALUE class)
{
    pel_init_memcached_read(class);
    pel_init_memcached_store(class);
    pel_init_memcached_change(class);
    pel_init_memcached_multi(class);
    pel_init_memcached_all_servers(class);
}

void pel_init_memcached(void)
{
    VALUE module = rb_define_module_under(pel_mPelton, "Memcached");
    VALUE client = rb_define_class_under(module, "Client", rb_cObject);
    VALUE later = rb_define_class_under(module, "Later", rb_cObject);

    pel_init_memcached_error(module);
    pel_init_memcached_connection(module);
    pel_init_memcached_value_stream(module);
    pel_init_memcached_client(client);
    pel_init_memcached_call(client, later);
    pel_init_memcached_arguments();
    define_commands(client);
    define_commands(later);
}
