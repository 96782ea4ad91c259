#include "slab.h"

#include <string.h>
#include "alloc.h"

#ifdef __SANITIZE_ADDRESS__ /* which finds out who uses a record that was given back */

void *pel_slab_take(struct pel_slab *slab)
{
    return pel_calloc(1, slab->size);
}

void pel_slab_give(struct pel_slab *slab, void *record)
{
    (void)slab;
    pel_free(record);
}

void pel_slab_free(struct pel_slab *slab)
{
    (void)slab;
}

#else

#define RECORDS 512
#define HEAD 16 /* keeps the records aligned as malloc's are */

static int add_slab(struct pel_slab *slab)
{
    char *memory = pel_malloc(HEAD + RECORDS * slab->size);

    if (!memory)
        return 0;
    *(void **)memory = slab->slabs;
    slab->slabs = memory;
    for (size_t i = RECORDS; i-- > 0;)
        pel_slab_give(slab, memory + HEAD + i * slab->size);
    return 1;
}

void *pel_slab_take(struct pel_slab *slab)
{
    void *record;

    if (!slab->free_first && !add_slab(slab))
        return NULL;
    record = slab->free_first;
    slab->free_first = *(void **)record;
    return memset(record, 0, slab->size);
}

void pel_slab_give(struct pel_slab *slab, void *record)
{
    *(void **)record = slab->free_first;
    slab->free_first = record;
}

void pel_slab_free(struct pel_slab *slab)
{
    while (slab->slabs) {
        void *memory = slab->slabs;
        slab->slabs = *(void **)memory;
        pel_free(memory);
    }
    slab->free_first = NULL;
}

#endif
