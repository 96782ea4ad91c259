#include "core/files/media_type.h"

#include <stdlib.h>

#define LONGEST 11 /* bytes of an ending in the table */
#define DIGEST 8   /* digits of a digest, at least */

struct known_type {
    const char *ending;
    struct pel_slice type;
};

#define TYPE(ending, type)                                                                                             \
    {                                                                                                                  \
        ending,                                                                                                        \
        {                                                                                                              \
            type, sizeof(type) - 1                                                                                     \
        }                                                                                                              \
    }
#define TEXT(ending, type) TYPE(ending, type "; charset=utf-8")

/* In the order of strcmp. */
static const struct known_type types[] = {
    TYPE("7z", "application/x-7z-compressed"),
    TYPE("aac", "audio/aac"),
    TYPE("apng", "image/apng"),
    TEXT("atom", "application/atom+xml"),
    TYPE("avi", "video/x-msvideo"),
    TYPE("avif", "image/avif"),
    TYPE("bin", "application/octet-stream"),
    TYPE("bmp", "image/bmp"),
    TYPE("br", "application/x-brotli"),
    TYPE("bz2", "application/x-bzip2"),
    TEXT("css", "text/css"),
    TEXT("csv", "text/csv"),
    TYPE("doc", "application/msword"),
    TYPE("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    TYPE("eot", "application/vnd.ms-fontobject"),
    TYPE("epub", "application/epub+zip"),
    TYPE("flac", "audio/flac"),
    TYPE("gif", "image/gif"),
    TYPE("gz", "application/gzip"),
    TEXT("htm", "text/html"),
    TEXT("html", "text/html"),
    TYPE("ico", "image/x-icon"),
    TEXT("ics", "text/calendar"),
    TYPE("jpeg", "image/jpeg"),
    TYPE("jpg", "image/jpeg"),
    TEXT("js", "text/javascript"),
    TYPE("json", "application/json"),
    TYPE("jsonld", "application/ld+json"),
    TYPE("jxl", "image/jxl"),
    TYPE("m4a", "audio/mp4"),
    TYPE("m4v", "video/mp4"),
    TYPE("map", "application/json"),
    TEXT("md", "text/markdown"),
    TEXT("mjs", "text/javascript"),
    TYPE("mov", "video/quicktime"),
    TYPE("mp3", "audio/mpeg"),
    TYPE("mp4", "video/mp4"),
    TYPE("mpeg", "video/mpeg"),
    TYPE("oga", "audio/ogg"),
    TYPE("ogg", "audio/ogg"),
    TYPE("ogv", "video/ogg"),
    TYPE("opus", "audio/ogg"),
    TYPE("otf", "font/otf"),
    TYPE("pdf", "application/pdf"),
    TYPE("png", "image/png"),
    TYPE("ppt", "application/vnd.ms-powerpoint"),
    TYPE("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    TEXT("rss", "application/rss+xml"),
    TYPE("rtf", "application/rtf"),
    TEXT("svg", "image/svg+xml"),
    TYPE("tar", "application/x-tar"),
    TYPE("tif", "image/tiff"),
    TYPE("tiff", "image/tiff"),
    TYPE("ttf", "font/ttf"),
    TEXT("txt", "text/plain"),
    TEXT("vcf", "text/vcard"),
    TEXT("vtt", "text/vtt"),
    TYPE("wasm", "application/wasm"),
    TYPE("wav", "audio/wav"),
    TYPE("webm", "video/webm"),
    TYPE("webmanifest", "application/manifest+json"),
    TYPE("webp", "image/webp"),
    TYPE("woff", "font/woff"),
    TYPE("woff2", "font/woff2"),
    TEXT("xhtml", "application/xhtml+xml"),
    TYPE("xls", "application/vnd.ms-excel"),
    TYPE("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    TEXT("xml", "application/xml"),
    TYPE("zip", "application/zip"),
    TYPE("zst", "application/zstd"),
};

static int compare(const void *ending, const void *type)
{
    return strcmp(ending, ((const struct known_type *)type)->ending);
}

/* The name without its folders. */
static struct pel_slice base_of(struct pel_slice name)
{
    size_t at = name.length;

    while (at && name.bytes[at - 1] != '/')
        at--;
    return (struct pel_slice){name.bytes + at, name.length - at};
}

struct pel_slice pel_media_type(struct pel_slice name)
{
    struct pel_slice base = base_of(name);
    const struct known_type *known = NULL;
    char ending[LONGEST + 1];
    size_t dot = base.length, length;

    while (dot && base.bytes[dot - 1] != '.')
        dot--;
    length = base.length - dot;
    if (dot > 1 && length <= LONGEST) {
        for (size_t i = 0; i < length; i++) {
            char c = base.bytes[dot + i];
            ending[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
        }
        ending[length] = '\0';
        known = bsearch(ending, types, sizeof types / sizeof *types, sizeof *types, compare);
    }
    return known ? known->type : PEL_SLICE("application/octet-stream");
}

int pel_fingerprinted_p(struct pel_slice name)
{
    struct pel_slice base = base_of(name);
    size_t run = 0;
    int digit = 0, letter = 0, begun = 0; /* begun: the run stands after a dash or a dot */

    for (size_t i = 0; i < base.length; i++) {
        char c = base.bytes[i];
        if (c >= '0' && c <= '9') {
            digit = 1;
            run++;
        } else if (c >= 'a' && c <= 'f') {
            letter = 1;
            run++;
        } else {
            if (c == '.' && begun && run >= DIGEST && digit && letter && i + 1 < base.length)
                return 1;
            begun = (c == '-' || c == '.') && i > 0;
            run = 0;
            digit = letter = 0;
        }
    }
    return 0;
}
