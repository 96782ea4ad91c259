#pragma once

#include <ruby.h>
#include "core/base/link.h"

/*
 * GC roots: Ruby objects that C refers to while they are active, such as an armed timer, an open listener or a stream
 * with a data callback. The registry keeps these objects alive, and the reactor's stop finds them in it.
 *
 * A reactor may have very many roots that are idle for a long time, and a minor collection must not visit them one by
 * one. So the registry has generations, as the collector has. Young roots are marked at each collection. Roots that
 * have become old move to pages: objects with a few hundred slots each, of which a minor collection visits only those
 * that were written to since the last one (ADR 016).
 */

struct pel_reactor;
struct pel_root_page;

struct pel_root {
    struct pel_root *previous, *next; /* NULL: not in the registry */
    VALUE object;                     /* marked while the root is in the registry, pinned */
    /* Called when the reactor stops. The root was removed before, and the function may add it again. */
    void (*stop)(struct pel_reactor *reactor, struct pel_root *root);
    struct pel_root_page *page; /* of an old root; NULL: the root is young */
    unsigned slot;              /* on the page */
    unsigned since;             /* the number of collections when the root was added, or an attempt to move it failed */
};

struct pel_roots {
    struct pel_root young, old;      /* heads of circular lists, the oldest root first */
    struct pel_link *partial, *full; /* pages with a free slot, and pages without */
};

void pel_roots_init(struct pel_roots *roots);

/* Adds a root for an object, or removes it; no-op when that is done already. Neither function allocates objects. */
void pel_roots_add(struct pel_roots *roots, struct pel_root *root, VALUE object);
void pel_roots_remove(struct pel_roots *roots, struct pel_root *root);

/* The root that was added first; NULL when the registry is empty. */
struct pel_root *pel_roots_first(const struct pel_roots *roots);

/* Moves some of the roots that have become old to pages. Call it regularly. May raise NoMemoryError. */
void pel_roots_tenure(struct pel_roots *roots);

/* For the mark function of the registry's owner, which needs no write barriers. */
void pel_roots_mark(const struct pel_roots *roots);
