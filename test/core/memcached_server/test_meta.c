#include "memcached_server/script.h"

TEST(mg_returns_the_requested_flags)
{
    check_script("mg a\r\nms a 3 F5 T60\r\none\r\nmg a\r\nmg a v\r\nmg a s v f t c k Oxy\r\n",
                 "EN\r\nHD\r\nHD\r\nVA 3\r\none\r\nVA 3 s3 f5 t60 c1 ka Oxy\r\none\r\n");
    check_script("set a 0 0 1\r\n1\r\nmg a t\r\nmg b k Oq\r\n", "STORED\r\nHD t-1\r\nEN kb Oq\r\n");
}

TEST(mg_returns_earlier_hits)
{
    check_script("ms a 1\r\n1\r\nmg a h l u\r\nmg a h l\r\nmg a h\r\n", "HD\r\nHD h0 l0\r\nHD h0 l0\r\nHD h1\r\n");
}

TEST(mg_touches_in_the_order_of_its_flags)
{
    check_script("ms a 1\r\n1\r\nmg a t T30 \r\nmg a T40 t\r\nmg a T-1 t\r\nmg a\r\n",
                 "HD\r\nHD t-1\r\nHD t40\r\nHD t0\r\nEN\r\n");
}

TEST(quiet_commands_get_no_reply_in_the_expected_case)
{
    check_script("mg a q\r\nms a 1 q\r\n1\r\nms a 1 ME q\r\n2\r\nmg a q v\r\nmd a q C99\r\nmd a q\r\nmd a q\r\nms a 1 "
                 "q C9\r\n3\r\n"
                 "ma a q\r\nma a q N0 J5\r\nma a q\r\nmn\r\n",
                 "NS\r\nVA 1\r\n1\r\nEX\r\nNF\r\nNF\r\nNF\r\nHD\r\nMN\r\n");
}

TEST(binary_keys_are_sent_as_base64)
{
    check_script("ms Zm9v 1 b k\r\n1\r\nmg Zm9v b k\r\nmg foo k\r\nget foo\r\nmd Zm9v b k\r\nmg Zm9v b k\r\n",
                 "HD kZm9v b\r\nHD kZm9v b\r\nHD kZm9v b\r\nVALUE foo 0 1\r\n1\r\nEND\r\nHD kZm9v b\r\nEN kZm9v b\r\n");
    check_script("set foo 0 0 1\r\n1\r\nmg Zm9v b k\r\n", "STORED\r\nHD kfoo\r\n");
    check_script("mg AAEC b N0 k\r\nme AAEC b\r\n",
                 "HD kAAEC b W\r\nME AAEC exp=-1 la=0 cas=1 fetch=yes cls=1 size=80\r\n");
}

TEST(ms_has_modes)
{
    check_script(
        "ms a 1 MR\r\n1\r\nms a 1 MA\r\n1\r\nms a 1 MP\r\n1\r\nms a 1 ME\r\n2\r\nms a 1 ME\r\n3\r\nms a 1 MA\r\n4\r\n"
        "ms a 1 MP\r\n5\r\nmg a v\r\nms a 1 MR\r\n6\r\nms a 1 MS\r\n7\r\nmg a v\r\n",
        "NS\r\nNS\r\nNS\r\nHD\r\nNS\r\nHD\r\nHD\r\nVA 3\r\n524\r\nHD\r\nHD\r\nVA 1\r\n7\r\n");
}

TEST(ms_compares_and_returns_cas)
{
    check_script("ms a 1 C5\r\n1\r\nms a 1 c k Oo\r\n1\r\nms a 1 C9 c\r\n2\r\nms a 1 C0\r\n2\r\nms a 1 C1 c\r\n3\r\n"
                 "ms a 1 MA C1\r\n4\r\nms a 1 MA C2 c\r\n4\r\nms a 1 C3 E100 c\r\n5\r\nmg a c v\r\n",
                 "NF\r\nHD c1 ka Oo\r\nEX c0\r\nEX\r\nHD c2\r\nEX\r\nHD c3\r\nHD c100\r\nVA 1 c100\r\n5\r\n");
}

TEST(one_client_wins_the_right_to_compute_an_absent_item)
{
    check_script("mg a N30 v t\r\nmg a N30 v\r\nms a 1\r\n1\r\nmg a v\r\n",
                 "VA 0 t30 W\r\n\r\nVA 0 Z\r\n\r\nHD\r\nVA 1\r\n1\r\n");
}

TEST(one_client_wins_the_right_to_recompute_an_item_that_expires_soon)
{
    check_script("ms a 1 T30\r\n1\r\nmg a R10\r\nmg a R60 t\r\nmg a R60\r\nms a 1\r\n2\r\nmg a R60\r\n",
                 "HD\r\nHD\r\nHD t30 W\r\nHD Z\r\nHD\r\nHD\r\n");
}

TEST(an_invalidated_item_is_stale_and_one_client_wins)
{
    check_script("ms a 1 T90\r\n1\r\nmd a I T30\r\nmg a t c v\r\nmg a v\r\nms a 1 C1 I\r\n2\r\nmg a v t\r\n"
                 "ms a 1 C3\r\n3\r\nmg a v\r\n",
                 "HD\r\nHD\r\nVA 1 t30 c2 X W\r\n1\r\nVA 1 Z X\r\n1\r\nHD\r\nVA 1 t30 Z X\r\n2\r\nHD\r\nVA 1\r\n3\r\n");
    check_script("ms a 1\r\n1\r\nmd a I C9\r\nmd a I C1\r\nmd a I E50\r\nmg a c\r\n",
                 "HD\r\nEX\r\nHD\r\nHD\r\nHD c50 X W\r\n");
}

TEST(md_deletes_or_invalidates)
{
    check_script("md a\r\nms a 1\r\n1\r\nmd a C9 Oo k\r\nmd a C1 k Oo\r\nmg a\r\n",
                 "NF\r\nHD\r\nEX Oo ka\r\nHD ka Oo\r\nEN\r\n");
}

TEST(ma_changes_a_number)
{
    check_script("ma a\r\nma a N90 J10 D5 v t c\r\nma a v t\r\nma a D5 v\r\nma a MD D100 v\r\nma a T30 t c\r\nma a M+ "
                 "Oo k\r\nma a M- v\r\n",
                 "NF\r\nVA 2 t90 c1\r\n10\r\nVA 2 t90\r\n11\r\nVA 2\r\n16\r\nVA 1\r\n0\r\nHD t30 c5\r\nHD Oo ka\r\nVA "
                 "1\r\n1\r\n");
}

TEST(ma_compares_cas_and_refuses_other_values)
{
    check_script(
        "ms a 1\r\n5\r\nma a C9\r\nma a C1 c v\r\nma a E70 c\r\nms a 1\r\nx\r\nma a\r\nms a 0\r\n\r\nma a C5\r\n",
        "HD\r\nEX\r\nVA 1 c2\r\n6\r\nHD c70\r\nHD\r\nCLIENT_ERROR cannot increment or decrement non-numeric value\r\n"
        "HD\r\nCLIENT_ERROR cannot increment or decrement non-numeric value\r\n");
}

TEST(me_describes_an_item)
{
    check_script("me a\r\nms a 1 T60\r\n1\r\nme a\r\nget a\r\nme a\r\n",
                 "EN\r\nHD\r\nME a exp=60 la=0 cas=1 fetch=no cls=1 size=80\r\nVALUE a 0 1\r\n1\r\nEND\r\n"
                 "ME a exp=60 la=0 cas=1 fetch=yes cls=1 size=80\r\n");
}

TEST(a_refused_ms_swallows_its_value)
{
    check_script("ms a 3 !\r\nget\r\nms a 3 Z\r\nmn\n\r\nmg a\r\n",
                 "CLIENT_ERROR invalid flag\r\nCLIENT_ERROR invalid flag\r\nEN\r\n");
    check_script("ms a 3 q\r\nabcde\r\nmn\r\n", "CLIENT_ERROR bad data chunk\r\nERROR\r\nMN\r\n");
}
