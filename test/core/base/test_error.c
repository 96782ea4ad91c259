#include "check.h"
#include "core/base/error.h"

TEST(every_code_is_negative_and_has_a_text_of_its_own)
{
    static const int codes[] = {
#define CODE(name, number, ruby_class, retriable, text) PEL_E##name,
        PEL_ERRORS(CODE)
#undef CODE
    };
    size_t count = sizeof codes / sizeof *codes;

    for (size_t i = 0; i < count; i++) {
        CHECK(codes[i] < 0);
        CHECK(strcmp(pel_error_text(codes[i]), "unknown error"));
        for (size_t j = 0; j < i; j++) {
            CHECK(codes[i] != codes[j]);
            CHECK(strcmp(pel_error_text(codes[i]), pel_error_text(codes[j])));
        }
    }
}

TEST(a_number_outside_the_table_is_unknown)
{
    CHECK_STRING("unknown error", pel_error_text(0));
    CHECK_STRING("unknown error", pel_error_text(-9999));
}
