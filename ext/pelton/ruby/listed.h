#ifndef PELTON_LISTED_H
#define PELTON_LISTED_H

#include <ruby.h>

/*
 * Objects that C refers to while they are active: an armed timer, an open listener, a stream with a data callback. They
 * are kept alive, and the reactor's stop finds them.
 *
 * There may be very many that do nothing for long, and a minor collection must not visit them one by one. So the list
 * has generations, as the collector has: the young ones are marked each time; those that have become old move to cards,
 * objects of a few hundred places, of which the collector visits those that were written to since.
 */

struct pel_reactor;
struct pel_card;

struct pel_listed {
    struct pel_listed *previous, *next; /* NULL: not listed */
    VALUE object;                       /* marked while listed, pinned */
    void (*stop)(struct pel_reactor *reactor,
                 struct pel_listed *listed); /* when the reactor stops; it is delisted, and may list itself again */
    struct pel_card *card;                   /* NULL: young */
    unsigned place;                          /* on its card */
    unsigned since;                          /* the number of collections then */
};

struct pel_list {
    struct pel_listed young, old;  /* heads of rings, the longest listed first */
    struct pel_card *roomy, *full; /* the cards: those with a free place, and the others */
};

void pel_list_init(struct pel_list *list);

/* Keeps an object alive while it is active, and remembers it for the reactor's stop. Neither of both makes objects. */
void pel_list_add(struct pel_list *list, struct pel_listed *listed, VALUE object);
void pel_list_remove(struct pel_list *list, struct pel_listed *listed);

/* The longest listed one; NULL when there is none. */
struct pel_listed *pel_list_first(const struct pel_list *list);

/* Moves some that have become old to a card: to be called now and then. May raise NoMemoryError. */
void pel_list_tenure(struct pel_list *list);

/* For the mark function of who has the list, which need not be protected by write barriers. */
void pel_list_mark(const struct pel_list *list);

#endif
