// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.h"

#include "support/catch.h"

#include <string>

namespace utf8_test {

using plexus::utf8_character;
using namespace std::string_view_literals;

TEST_CASE("characters of one to four bytes are found, at both ends of each size") {
    for (const std::string_view one : {"\0"sv, "a"sv, "\x7f"sv}) CHECK(utf8_character(one) == 1);
    for (const std::string_view two : {"\xc2\x80"sv, "\xdf\xbf"sv}) CHECK(utf8_character(two) == 2);
    for (const std::string_view three :
         {"\xe0\xa0\x80"sv, "\xe2\x82\xac"sv, "\xed\x9f\xbf"sv, "\xee\x80\x80"sv, "\xef\xbf\xbf"sv})
        CHECK(utf8_character(three) == 3);
    for (const std::string_view four : {"\xf0\x90\x80\x80"sv, "\xf4\x8f\xbf\xbf"sv})
        CHECK(utf8_character(four) == 4);
    CHECK(utf8_character("\xe2\x82\xac uro"sv) == 3);
}

TEST_CASE("what is cut, too long for its character, a surrogate or outside Unicode is none") {
    for (const std::string_view cut : {"\xc2"sv, "\xe2\x82"sv, "\xf0\x90\x80"sv, "\x80"sv, "\xbf"sv})
        CHECK(utf8_character(cut) == 0);
    for (const std::string_view no_tail : {"\xc2 "sv, "\xe2\x82 "sv, "\xf0\x90\x80 "sv, "\xe2 \x82"sv})
        CHECK(utf8_character(no_tail) == 0);
    for (const std::string_view overlong :
         {"\xc0\x80"sv, "\xc1\xbf"sv, "\xe0\x9f\xbf"sv, "\xf0\x8f\xbf\xbf"sv})
        CHECK(utf8_character(overlong) == 0);
    for (const std::string_view surrogate : {"\xed\xa0\x80"sv, "\xed\xbf\xbf"sv})
        CHECK(utf8_character(surrogate) == 0);
    for (const std::string_view outside : {"\xf4\x90\x80\x80"sv, "\xf5\x80\x80\x80"sv, "\xff"sv})
        CHECK(utf8_character(outside) == 0);
}

} // namespace utf8_test
