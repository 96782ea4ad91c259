#include "ruby/base/roots.h"

#define PAGE_SLOTS 250
#define TENURE_AGE 3    /* collections after which Ruby counts an object as old */
#define TENURE_BATCH 64 /* roots that one call moves at most */

struct pel_root_page {
    struct pel_link link; /* first */
    VALUE self;
    unsigned count, free;      /* the number of used slots; the first free slot, PAGE_SLOTS when the page is full */
    VALUE objects[PAGE_SLOTS]; /* a free slot holds the next free slot's index, as a Fixnum */
};

static void root_page_mark(void *data)
{
    struct pel_root_page *page = data;

    for (unsigned i = 0; i < PAGE_SLOTS; i++)
        rb_gc_mark(page->objects[i]);
}

static size_t root_page_size(const void *data)
{
    return sizeof(struct pel_root_page);
}

static const rb_data_type_t root_page_type = {
    .wrap_struct_name = "Pelton page of old roots",
    .function = {.dmark = root_page_mark, .dfree = RUBY_DEFAULT_FREE, .dsize = root_page_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

/* ---- circular lists --------------------------------------------------------------------------------------------- */

static void link_root_last(struct pel_root *head, struct pel_root *root)
{
    root->next = head;
    root->previous = head->previous;
    root->previous->next = head->previous = root;
}

static void unlink_root(struct pel_root *root)
{
    root->previous->next = root->next;
    root->next->previous = root->previous;
    root->next = root->previous = NULL;
}

/* ---- pages ------------------------------------------------------------------------------------------------------ */

static struct pel_root_page *add_page(struct pel_roots *roots)
{
    struct pel_root_page *page;
    VALUE self = TypedData_Make_Struct(0, struct pel_root_page, &root_page_type, page);

    for (unsigned i = 0; i < PAGE_SLOTS; i++)
        page->objects[i] = UINT2NUM(i + 1);
    page->self = self;
    pel_link_insert(&page->link, &roots->partial);
    return page;
}

static void set_page_slot(struct pel_roots *roots, struct pel_root *root)
{
    struct pel_root_page *page = roots->partial ? (struct pel_root_page *)roots->partial : add_page(roots);

    root->page = page;
    root->slot = page->free;
    page->free = FIX2UINT(page->objects[root->slot]);
    RB_OBJ_WRITE(page->self, &page->objects[root->slot], root->object);
    page->count++;
    if (page->free == PAGE_SLOTS) {
        pel_link_remove(&page->link);
        pel_link_insert(&page->link, &roots->full);
    }
}

/* An empty page leaves the registry, and the collector frees it. */
static void clear_page_slot(struct pel_roots *roots, struct pel_root *root)
{
    struct pel_root_page *page = root->page;

    if (page->free == PAGE_SLOTS) {
        pel_link_remove(&page->link);
        pel_link_insert(&page->link, &roots->partial);
    }
    page->objects[root->slot] = UINT2NUM(page->free);
    page->free = root->slot;
    root->page = NULL;
    if (--page->count == 0)
        pel_link_remove(&page->link);
}

/* ---- the registry ----------------------------------------------------------------------------------------------- */

void pel_roots_init(struct pel_roots *roots)
{
    roots->young.next = roots->young.previous = &roots->young;
    roots->old.next = roots->old.previous = &roots->old;
    roots->partial = roots->full = NULL;
}

void pel_roots_add(struct pel_roots *roots, struct pel_root *root, VALUE object)
{
    if (root->next)
        return;
    root->object = object;
    root->since = (unsigned)rb_gc_count();
    link_root_last(&roots->young, root);
}

void pel_roots_remove(struct pel_roots *roots, struct pel_root *root)
{
    if (!root->next)
        return;
    unlink_root(root);
    if (root->page)
        clear_page_slot(roots, root);
}

struct pel_root *pel_roots_first(const struct pel_roots *roots)
{
    const struct pel_root *head = roots->old.next != &roots->old ? &roots->old : &roots->young;

    return head->next != head ? head->next : NULL;
}

void pel_roots_tenure(struct pel_roots *roots)
{
    unsigned now = (unsigned)rb_gc_count();

    for (int i = 0; i < TENURE_BATCH; i++) {
        struct pel_root *root = roots->young.next;
        if (root == &roots->young || now - root->since < TENURE_AGE)
            return;
        root->since = now; /* when there is no memory for a page, another attempt follows some collections later */
        set_page_slot(roots, root);
        unlink_root(root);
        link_root_last(&roots->old, root);
    }
}

void pel_roots_mark(const struct pel_roots *roots)
{
    for (struct pel_root *root = roots->young.next; root != &roots->young; root = root->next)
        rb_gc_mark(root->object);
    for (const struct pel_link *link = roots->partial; link; link = link->next)
        rb_gc_mark(((const struct pel_root_page *)link)->self);
    for (const struct pel_link *link = roots->full; link; link = link->next)
        rb_gc_mark(((const struct pel_root_page *)link)->self);
}
