#include "core/memcached_server/request_parser.h"

#include "memcached_server/request_transcript.h"

#define BAD_FORMAT "bad CLIENT_ERROR bad command line format"

TEST(mg_is_parsed_with_all_its_flags)
{
    check_requests("mg a\r\n", "mg key(a) flags()\n");
    check_requests("mg a s v t f c h l k q u\r\n", "mg key(a) flags(svtfchlkqu) noreply\n");
    check_requests("mg a N30 R-1 T0 Oabc Phint Lroute\r\n", "mg key(a) flags(NRTOPL) T=0 N=30 R=-1 O(abc)\n");
    check_requests("mg a O\r\n", "mg key(a) flags(O) O()\n");
}

TEST(ms_is_parsed_with_all_its_flags)
{
    check_requests("ms a 5\r\n", "ms length=5 key(a) flags()\n");
    check_requests("ms a 0 T60 F7 C9 E10 I ME c k q b Oxyz\r\n", "bad CLIENT_ERROR error decoding key swallow=2\n");
    check_requests("ms YWI= 0 T60 F7 C9 E10 I ME c k q b Oxyz\r\n",
                   "ms length=0 key(ab) flags(TFCEIMckqbO) M=E T=60 O(xyz) F=7 C=9 E=10 noreply\n");
}

TEST(md_and_ma_are_parsed)
{
    check_requests("md a q I T30 C5 k Oo\r\n", "md key(a) flags(qITCkO) T=30 O(o) C=5 noreply\n");
    check_requests("ma a N0 J13 D7 MD v t c\r\n", "ma key(a) flags(NJDMvtc) M=D N=0 J=13 D=7\n");
    check_requests("ma a M+\r\nma a M-\r\nma a MI\r\n",
                   "ma key(a) flags(M) M=+\nma key(a) flags(M) M=-\nma key(a) flags(M) M=I\n");
}

TEST(me_and_mn_are_parsed)
{
    check_requests("me a\r\n", "me key(a) flags()\n");
    check_requests("me YWI= b\r\n", "me key(ab) flags(b)\n");
    check_requests("me a whatever else\r\n", "me key(a) flags()\n");
    CHECK_REQUESTS(BAD_FORMAT "\n", "me ? b\r\n", "me\r\n");
    check_requests("mn\r\n", "mn\n");
}

TEST(base64_keys_are_decoded)
{
    check_requests("mg Zm9v b\r\n", "mg key(foo) flags(b)\n");
    CHECK_REQUESTS("bad CLIENT_ERROR error decoding key\n", "mg Zm9 b\r\n", "mg Zm-v b\r\n");
    check_requests("md Zm9 b\r\n", "bad CLIENT_ERROR invalid or duplicate flag\n");
    check_requests("mg ==== b\r\n", "bad CLIENT_ERROR error decoding key\n");
}

TEST(missing_and_too_long_parts_are_refused)
{
    char line[400], key[252] = "";

    memset(key, 'k', 251);
    CHECK_REQUESTS("bad ERROR\n", "mg\r\n", "ms\r\n");
    check_requests("ms a\r\n", BAD_FORMAT "\n");
    snprintf(line, sizeof line, "mg %s v\r\n", key);
    check_requests(line, BAD_FORMAT "\n");
    snprintf(line, sizeof line, "ms %s 3\r\n", key);
    check_requests(line, BAD_FORMAT "\n");
    check_requests("mg a 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8\r\n", "bad CLIENT_ERROR options flags are too long\n");
    CHECK_REQUESTS("bad CLIENT_ERROR options flags too long\n", "md a 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8\r\n",
                   "ms a 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8\r\n");
}

TEST(bad_flags_are_refused)
{
    CHECK_REQUESTS("bad CLIENT_ERROR invalid flag\n", "mg a !\r\n", "mg a z\r\n", "mg a _\r\n");
    CHECK_REQUESTS("bad CLIENT_ERROR duplicate flag\n", "mg a \xc3\xa4\r\n", "mg a v v\r\n", "mg a T1 T2\r\n");
    CHECK_REQUESTS("bad CLIENT_ERROR invalid or duplicate flag\n", "md a k k\r\n", "ma a Z\r\n");
}

TEST(bad_tokens_are_refused)
{
    CHECK_REQUESTS("bad CLIENT_ERROR bad token in command line format\n", "mg a Tx\r\n", "mg a T\r\n",
                   "mg a N9999999999\r\n");
    check_requests("mg a Fx\r\n", BAD_FORMAT "\n");
    check_requests("ms a 3 MXX\r\n", "bad CLIENT_ERROR incorrect length for M token swallow=5\n");
    check_requests("ms a 3 MX\r\n", "bad CLIENT_ERROR invalid mode for ms M token swallow=5\n");
    check_requests("ma a MX\r\n", "bad CLIENT_ERROR invalid mode for ma M token\n");
    check_requests("ma a J-1\r\n", "bad CLIENT_ERROR invalid or duplicate flag\n");
}

TEST(an_opaque_has_at_most_31_bytes)
{
    check_requests("mg a O1234567890123456789012345678901\r\n",
                   "mg key(a) flags(O) O(1234567890123456789012345678901)\n");
    CHECK_REQUESTS("bad CLIENT_ERROR opaque token too long\n", "mg a O12345678901234567890123456789012\r\n",
                   "md a O12345678901234567890123456789012\r\n");
    check_requests("ms a 3 O12345678901234567890123456789012\r\n",
                   "bad CLIENT_ERROR opaque token too long swallow=5\n");
}

TEST(the_value_of_a_refused_ms_is_discarded_if_its_length_is_known)
{
    check_requests("ms a 3 q !\r\n", "bad CLIENT_ERROR invalid flag swallow=5\n");
    CHECK_REQUESTS(BAD_FORMAT "\n", "ms a x v\r\n", "ms a -1\r\n", "ms a 4294967295\r\n");
    check_requests("ms a 2147483645\r\n", "ms length=2147483645 key(a) flags()\n");
}

TEST(an_error_is_reported_in_spite_of_q)
{
    check_requests("mg a q !\r\n", "bad CLIENT_ERROR invalid flag\n");
    check_requests("md a q Tx\r\n", "bad CLIENT_ERROR invalid or duplicate flag\n");
}
