#include "ruby/http/connection/http_server.h"

#include "core/files/open_files.h"
#include "ruby/base/gvl.h"
#include "ruby/base/upcall.h"

static void run_peaked(struct pel_reactor *reactor, void *data)
{
    pel_upcall(many_busy, ((struct pel_http_server *)data)->self);
}

void pel_http_peak_reached(struct pel_http_server *server)
{
    if (server->peaked)
        return;
    server->peaked = 1;
    pel_enqueue(server->reactor, (struct pel_job){.run = run_peaked, .data = server, .object = server->self});
}

/* _peak_over: the next peak is reported again. */
static VALUE server_peak_over(VALUE self)
{
    pel_http_server_get(self)->peaked = 0;
    return Qnil;
}

/* _trim: closes the public files that nobody is being sent, and gives free memory back to the system. */
static VALUE server_trim(VALUE self)
{
    struct pel_open_files *files = pel_http_server_get(self)->files;

    if (files)
        pel_open_files_drop(files);
    pel_gvl_trim();
    return Qnil;
}

void pel_init_http_peak(VALUE server)
{
    rb_define_private_method(server, "_peak_over", server_peak_over, 0);
    rb_define_private_method(server, "_trim", server_trim, 0);
}
