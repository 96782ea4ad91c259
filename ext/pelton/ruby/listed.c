#include "listed.h"

#define PLACES 250
#define AGE 3 /* collections that an object survives before Ruby takes it for old */
#define SOME 64

struct pel_card {
    struct pel_card *previous, *next;
    VALUE self;
    unsigned count, free;  /* places that are taken; the first that is not, PLACES when all are */
    VALUE objects[PLACES]; /* in a free place the next free one, as a Fixnum */
};

static void card_mark(void *data)
{
    struct pel_card *card = data;

    for (unsigned i = 0; i < PLACES; i++)
        rb_gc_mark(card->objects[i]);
}

static size_t card_size(const void *data)
{
    return sizeof(struct pel_card);
}

static const rb_data_type_t card_type = {
    .wrap_struct_name = "Pelton card",
    .function = {.dmark = card_mark, .dfree = RUBY_DEFAULT_FREE, .dsize = card_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

/* ---- rings ------------------------------------------------------------------------------------------------------ */

static void link_last(struct pel_listed *head, struct pel_listed *listed)
{
    listed->next = head;
    listed->previous = head->previous;
    listed->previous->next = head->previous = listed;
}

static void take_out(struct pel_listed *listed)
{
    listed->previous->next = listed->next;
    listed->next->previous = listed->previous;
    listed->next = listed->previous = NULL;
}

/* ---- cards ------------------------------------------------------------------------------------------------------ */

static void put_card(struct pel_card **head, struct pel_card *card)
{
    card->previous = NULL;
    card->next = *head;
    if (card->next)
        card->next->previous = card;
    *head = card;
}

static void take_card(struct pel_card **head, struct pel_card *card)
{
    if (card->next)
        card->next->previous = card->previous;
    *(card->previous ? &card->previous->next : head) = card->next;
}

static struct pel_card *new_card(struct pel_list *list)
{
    struct pel_card *card;
    VALUE self = TypedData_Make_Struct(0, struct pel_card, &card_type, card);

    for (unsigned i = 0; i < PLACES; i++)
        card->objects[i] = UINT2NUM(i + 1);
    card->self = self;
    put_card(&list->roomy, card);
    return card;
}

static void write_on_card(struct pel_list *list, struct pel_listed *listed)
{
    struct pel_card *card = list->roomy ? list->roomy : new_card(list);

    listed->card = card;
    listed->place = card->free;
    card->free = FIX2UINT(card->objects[listed->place]);
    RB_OBJ_WRITE(card->self, &card->objects[listed->place], listed->object);
    card->count++;
    if (card->free == PLACES) {
        take_card(&list->roomy, card);
        put_card(&list->full, card);
    }
}

/* A card on which nothing is left is the collector's. */
static void wipe_off_card(struct pel_list *list, struct pel_listed *listed)
{
    struct pel_card *card = listed->card;

    if (card->free == PLACES) {
        take_card(&list->full, card);
        put_card(&list->roomy, card);
    }
    card->objects[listed->place] = UINT2NUM(card->free);
    card->free = listed->place;
    listed->card = NULL;
    if (--card->count == 0)
        take_card(&list->roomy, card);
}

/* ---- the list --------------------------------------------------------------------------------------------------- */

void pel_list_init(struct pel_list *list)
{
    list->young.next = list->young.previous = &list->young;
    list->old.next = list->old.previous = &list->old;
    list->roomy = list->full = NULL;
}

void pel_list_add(struct pel_list *list, struct pel_listed *listed, VALUE object)
{
    if (listed->next)
        return;
    listed->object = object;
    listed->since = (unsigned)rb_gc_count();
    link_last(&list->young, listed);
}

void pel_list_remove(struct pel_list *list, struct pel_listed *listed)
{
    if (!listed->next)
        return;
    take_out(listed);
    if (listed->card)
        wipe_off_card(list, listed);
}

struct pel_listed *pel_list_first(const struct pel_list *list)
{
    const struct pel_listed *ring = list->old.next != &list->old ? &list->old : &list->young;

    return ring->next != ring ? ring->next : NULL;
}

void pel_list_tenure(struct pel_list *list)
{
    unsigned now = (unsigned)rb_gc_count();

    for (int i = 0; i < SOME; i++) {
        struct pel_listed *listed = list->young.next;
        if (listed == &list->young || now - listed->since < AGE)
            return;
        listed->since = now; /* when there is no memory for a card, it is tried again some collections later */
        write_on_card(list, listed);
        take_out(listed);
        link_last(&list->old, listed);
    }
}

void pel_list_mark(const struct pel_list *list)
{
    for (struct pel_listed *listed = list->young.next; listed != &list->young; listed = listed->next)
        rb_gc_mark(listed->object);
    for (struct pel_card *card = list->roomy; card; card = card->next)
        rb_gc_mark(card->self);
    for (struct pel_card *card = list->full; card; card = card->next)
        rb_gc_mark(card->self);
}
