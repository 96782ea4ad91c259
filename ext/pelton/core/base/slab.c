#include "core/base/slab.h"

#include <string.h>
#include "core/base/alloc.h"

#ifdef PEL_SLAB_IS_MALLOC

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

#define RECORDS_PER_SLAB 512
#define SLAB_HEADER 16 /* bytes: keeps the records aligned as malloc aligns */

static int add_slab(struct pel_slab *slab)
{
    char *memory = pel_malloc(SLAB_HEADER + RECORDS_PER_SLAB * slab->size);

    if (!memory)
        return 0;
    *(void **)memory = slab->slabs;
    slab->slabs = memory;
    for (size_t i = RECORDS_PER_SLAB; i-- > 0;)
        pel_slab_give(slab, memory + SLAB_HEADER + i * slab->size);
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
#ifdef PELTON_CHECKED
    memset(record, 0xdb, slab->size); /* a later use meets no value that could pass for a good one */
#endif
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
