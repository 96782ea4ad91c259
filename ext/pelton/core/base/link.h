#pragma once

#include <stddef.h>

/*
 * A link of an intrusive doubly linked list: each element embeds one. A link can be removed without its list, from any
 * position. A list is a pointer to its first link. A zeroed link is on no list.
 */

struct pel_link {
    struct pel_link *next, **at; /* the next link; the pointer to this link, NULL while the link is on no list */
};

/* The struct of type `type` whose member `member` is `link`. */
#define PEL_LINKED(type, member, link) ((type *)((char *)(link)-offsetof(type, member)))

/* Inserts a link, which must be on no list, at the front. */
static inline void pel_link_insert(struct pel_link *link, struct pel_link **list)
{
    if ((link->next = *list))
        link->next->at = &link->next;
    link->at = list;
    *list = link;
}

/* Removes a link from its list. Does nothing for a link that is on no list. */
static inline void pel_link_remove(struct pel_link *link)
{
    if (!link->at)
        return;
    if ((*link->at = link->next))
        link->next->at = link->at;
    link->at = NULL;
}

/* Moves all links to an empty list and preserves their order. */
static inline void pel_link_move(struct pel_link **from, struct pel_link **to)
{
    if ((*to = *from))
        (*to)->at = to;
    *from = NULL;
}

/* Takes an element off a list that is linked by its member `next` alone, if it is there. */
#define PEL_CHAIN_REMOVE(list, element, next)                                                                          \
    do {                                                                                                               \
        __typeof__(list) *pel__at = &(list);                                                                           \
        while (*pel__at && *pel__at != (element))                                                                      \
            pel__at = &(*pel__at)->next;                                                                               \
        if (*pel__at)                                                                                                  \
            *pel__at = (element)->next;                                                                                \
    } while (0)
