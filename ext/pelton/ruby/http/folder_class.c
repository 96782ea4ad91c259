#include "ruby/http/http.h"

#include <errno.h>
#include "core/files/folder.h"
#include "ruby/http/connection/http_server.h"

/* Pelton::HTTP::Folder: opens files of a folder, and none outside of it. */

static void folder_free(void *data)
{
    pel_folder_close(data);
    xfree(data);
}

static const rb_data_type_t folder_type = {.wrap_struct_name = "Pelton::HTTP::Folder",
                                           .function = {.dfree = folder_free},
                                           .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static VALUE folder_allocate(VALUE class)
{
    struct pel_folder *folder;
    VALUE self = TypedData_Make_Struct(class, struct pel_folder, &folder_type, folder);

    folder->fd = -1;
    return self;
}

/* _open(path): raises SystemCallError */
static VALUE folder_open(VALUE self, VALUE path)
{
    struct pel_folder *folder = rb_check_typeddata(self, &folder_type);
    int code;

    Check_Type(path, T_STRING);
    pel_folder_close(folder);
    code = pel_folder_open(folder, StringValueCStr(path));
    if (code == PEL_EMEMORY)
        rb_memerror();
    if (code < 0)
        rb_syserr_fail(errno, RSTRING_PTR(path));
    RB_GC_GUARD(path);
    return rb_str_new_cstr(folder->path);
}

/* _open_file(name): the descriptor of a regular file; raises SystemCallError */
static VALUE folder_open_file(VALUE self, VALUE name)
{
    struct pel_folder *folder = rb_check_typeddata(self, &folder_type);
    struct stat facts;
    int fd;

    Check_Type(name, T_STRING);
    fd = pel_folder_open_file(folder, StringValueCStr(name), &facts);
    if (fd < 0)
        rb_syserr_fail(errno, RSTRING_PTR(name));
    RB_GC_GUARD(name);
    return INT2FIX(fd);
}

void pel_init_http_folder(void)
{
    VALUE class = rb_define_class_under(pel_mHTTP, "Folder", rb_cObject);

    rb_define_alloc_func(class, folder_allocate);
    rb_define_private_method(class, "_open", folder_open, 1);
    rb_define_private_method(class, "_open_file", folder_open_file, 1);
}
