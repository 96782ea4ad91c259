#include "ruby/http/connection/http_state.h"

/* The steps of docs/internals/architecture.md's table: state => the states that it may follow. */

#define AFTER(state) (1u << PEL_HTTP_##state)

static const unsigned steps[] = {
    [PEL_HTTP_IDLE] = AFTER(BUSY) | AFTER(DRAINING),
    [PEL_HTTP_WAITING] = AFTER(IDLE),
    [PEL_HTTP_BUSY] = AFTER(IDLE) | AFTER(WAITING),
    [PEL_HTTP_DRAINING] = AFTER(BUSY),
    [PEL_HTTP_LINGERING] = AFTER(IDLE) | AFTER(BUSY) | AFTER(DRAINING),
    [PEL_HTTP_GONE] = AFTER(IDLE) | AFTER(WAITING) | AFTER(BUSY) | AFTER(DRAINING) | AFTER(LINGERING),
};

void pel_http_check_step(enum pel_http_state from, enum pel_http_state to)
{
    if (from > PEL_HTTP_GONE)
        rb_bug("Pelton: an HTTP connection was used after it was freed");
    if (!(steps[to] & 1u << from))
        rb_bug("Pelton: an HTTP connection went from state %d to state %d", (int)from, (int)to);
}
