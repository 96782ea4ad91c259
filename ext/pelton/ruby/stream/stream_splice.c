#include "ruby/stream/stream_private.h"

/* Relays: input goes out by another stream, by splice(2), without passing through Ruby, where the system can and
 * neither stream has a layer. */

/* relays(whether): when input comes in bulk, calls the method _relay of deliver_to's object before receiving it.
 * _relay returns the number of bytes that it passed on, or nil. Legal when closed. */
static VALUE stream_relays(VALUE self, VALUE whether)
{
    pel_stream_any(self)->delivery.offers_relay = RTEST(whether);
    return whether;
}

/* splice(target, most): passes the bytes that have come to another stream, at most `most`, and never more than a
 * burst. Returns their number; nil: none could be passed, and the caller must receive and write them. */
static VALUE stream_splice(VALUE self, VALUE target, VALUE most)
{
    struct stream *from = pel_stream_get(self), *to = pel_stream_any(target);
    size_t left = NIL_P(most) ? PEL_STREAM_BURST : NUM2SIZET(most), moved;

    if (to->reactor != from->reactor || to->close.begun || pel_buffer_length(&from->input))
        return Qnil;
    moved = pel_splice_move(&from->reactor->splice, &from->core, &to->core,
                            left < PEL_STREAM_BURST ? left : PEL_STREAM_BURST);
    if (moved < PEL_HOT_BUFFER / 2)
        from->reads.bulk = 0; /* small pieces are cheaper to receive, and to send together */
    if (!moved)
        return Qnil;
    to->writes.appended += moved;
    if (pel_stream_pending(&to->core))
        pel_stream_retain(to, RETAINED_BY_OUTPUT);
    from->reactor->budget -= (int32_t)(moved >> 12);
    return SIZET2NUM(moved);
}

void pel_init_stream_splice(VALUE class)
{
    rb_define_method(class, "relays", stream_relays, 1);
    rb_define_method(class, "splice", stream_splice, 2);
}
