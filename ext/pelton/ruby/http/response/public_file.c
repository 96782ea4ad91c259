#include "ruby/http/response/http_response.h"

#include <errno.h>
#include "core/files/file_request.h"
#include "core/files/open_files.h"
#include "core/files/public_path.h"
#include "core/http1/caching.h"
#include "core/http1/http1_writer.h"
#include "ruby/http/connection/http_connection.h"

/* Which file of the public folder answers a request in the application's place, and what of it. */

static struct pel_open_file *open_file(struct pel_http_connection *connection, const char *name, size_t length)
{
    struct pel_open_files *files = connection->server->files;
    int64_t now = connection->reactor->loop.now;
    struct pel_open_file *file = pel_open_files_find(files, name, length, now);

    if (!file && (errno == EMFILE || errno == ENFILE) && pel_reclaim_descriptors(connection->reactor))
        file = pel_open_files_find(files, name, length, now);
    return file;
}

/* The name with another ending; `name` has the space for it. */
static struct pel_open_file *open_with(struct pel_http_connection *connection, char *name, size_t length,
                                       const char *ending)
{
    size_t added = strlen(ending);

    memcpy(name + length, ending, added + 1);
    return open_file(connection, name, length + added);
}

/* As Rails has it: NAME, NAME.html, and a folder's index.html. */
static struct pel_open_file *find_named(struct pel_http_connection *connection, char *name, size_t length)
{
    struct pel_open_file *file;
    int folder;

    if (!length)
        return open_with(connection, name, length, "index.html");
    if ((file = open_file(connection, name, length)))
        return file;
    folder = errno == EISDIR;
    if ((!folder && errno != ENOENT) || (file = open_with(connection, name, length, ".html")) || !folder)
        return file;
    return open_with(connection, name, length, "/index.html");
}

static const struct {
    const char *ending;
    struct pel_slice name;
    enum pel_file_coding coding;
} forms[] = {{".br", {"br", 2}, PEL_FILE_BROTLI},
             {".zst", {"zstd", 4}, PEL_FILE_ZSTD},
             {".gz", {"gzip", 4}, PEL_FILE_GZIP}}; /* the best first */

/* Takes the compressed form that the client understands, if there is one, in the file's place. */
static void choose_form(struct pel_http_connection *connection, const struct pel_http1_head *head)
{
    struct pel_http_file *file = &connection->request.file;
    unsigned codings = file->open->siblings;
    char name[PEL_PUBLIC_PATH + 32];
    size_t length = file->open->name_length;

    file->varies = codings != 0;
    if (!codings || !(codings &= pel_file_codings(head)))
        return;
    memcpy(name, file->open->name, length);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct pel_open_file *form;
        if (!(codings & forms[i].coding) || !(form = open_with(connection, name, length, forms[i].ending)))
            continue;
        pel_open_file_release(file->open);
        file->open = form;
        file->coding = forms[i].name;
        return;
    }
}

/* 304, 416, 206 or 200. */
static void choose_part(struct pel_http_connection *connection, const struct pel_http1_head *head)
{
    struct pel_http_file *file = &connection->request.file;
    struct pel_slice tag = {file->open->tag, file->open->tag_length}, date = {file->open->date, PEL_HTTP1_DATE};

    file->from = 0;
    file->length = file->open->size;
    file->status = 200;
    if (pel_http1_not_modified(head, tag, date)) {
        file->status = 304;
    } else if (connection->request.method == PEL_HTTP_GET) {
        switch (pel_file_part(head, file->open->size, tag, date, &file->from, &file->length)) {
        case PEL_FILE_WHOLE:
            break;
        case PEL_FILE_RANGE:
            file->status = 206;
            break;
        case PEL_FILE_BEYOND:
            file->status = 416;
            file->length = 0;
            break;
        }
    }
}

int pel_http_find_file(struct pel_http_connection *connection, const struct pel_http1_head *head)
{
    struct pel_open_files *files = connection->server->files;
    struct pel_http_file *file = &connection->request.file;
    char name[PEL_PUBLIC_PATH + 32];
    ssize_t length;

    if ((connection->request.method != PEL_HTTP_GET && connection->request.method != PEL_HTTP_HEAD) ||
        !connection->request.body.done || (length = pel_public_path(head->path, name)) < 0)
        return 0;
    if (length && !pel_listing_may_have(&files->listing, &files->folder, &files->seed, name, (size_t)length,
                                        connection->reactor->loop.now))
        return 0;
    if (!(file->open = find_named(connection, name, (size_t)length)))
        return 0;
    file->type = file->open->type;
    file->immutable = file->open->immutable;
    choose_form(connection, head);
    choose_part(connection, head);
    return 1;
}
