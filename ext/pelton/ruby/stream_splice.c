#include "stream_private.h"

/* What comes in goes out by another stream without passing through Ruby, where the system can and nothing is sealed. */

/* _relays(whether): when much is coming, the object of _deliver_to is asked first to pass it on, by its method _relay,
 * which returns the bytes or nil. Legal when closed. */
static VALUE stream_relays(VALUE self, VALUE whether)
{
    pel_stream_any(self)->relays = RTEST(whether);
    return whether;
}

/* _splice(target, most): passes on what is there, at most so many bytes, or a burst. Their number; nil: none, and what
 * there is must be received and written. */
static VALUE stream_splice(VALUE self, VALUE target, VALUE most)
{
    struct stream *from = pel_stream_get(self), *to = pel_stream_any(target);
    size_t left = NIL_P(most) ? PEL_STREAM_BURST : NUM2SIZET(most), moved;

    if (to->reactor != from->reactor || to->closing || pel_buffer_length(&from->input))
        return Qnil;
    moved = pel_splice_move(&from->reactor->splice, &from->core, &to->core,
                            left < PEL_STREAM_BURST ? left : PEL_STREAM_BURST);
    if (moved < PEL_HOT_BUFFER / 2)
        from->bulk = 0; /* small pieces are cheaper gathered */
    if (!moved)
        return Qnil;
    to->appended += moved;
    if (pel_stream_pending(&to->core))
        pel_stream_hold(to, HELD_BY_OUTPUT);
    from->reactor->budget -= (int32_t)(moved >> 12);
    return SIZET2NUM(moved);
}

void pel_init_stream_splice(VALUE class)
{
    rb_define_method(class, "_relays", stream_relays, 1);
    rb_define_method(class, "_splice", stream_splice, 2);
}
