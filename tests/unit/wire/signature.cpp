// SPDX-License-Identifier: BSD-3-Clause
// What is said of two declarations that differ: both, and where.
#include "wire/signature.h"
#include "support/catch.h"

namespace signature_test {

using namespace plexus::wire;

namespace {

/// The last part of the refusal that the sender of `here` sees.
std::string said(const std::string& there, const std::string& here) {
    const std::string refusal = declared_as("ocean.probe", there, "1234abcd");
    const std::string text = with_own_types(refusal, here);
    REQUIRE(text.starts_with(refusal + "; here it is " + here));
    return text.substr((refusal + "; here it is " + here).size());
}

} // namespace

TEST_CASE("a refusal names both declarations and the first difference") {
    CHECK(declared_as("ocean.probe", "f64(i32)", "1234abcd") ==
          "\"ocean.probe\" is declared as f64(i32) in context 1234abcd: both programs need the same "
          "declaration");
    CHECK(said("f64(i32)", "f64(i64)") == ": argument 1 is i32 there and i64 here");
    CHECK(said("f64(i32,u8)", "f64(i32,i8)") == ": argument 2 is u8 there and i8 here");
    CHECK(said("f64(i32)", "f32(i32)") == ": the result is f64 there and f32 here");
    CHECK(said("void()", "void(i32)") == ": it has 0 arguments there and 1 here");
    CHECK(said("void(i32,i32)", "void(i32)") == ": it has 2 arguments there and 1 here");
    CHECK(said("void(map<i32,i8>,u8)", "void(map<i32,u8>,u8)") ==
          ": argument 1 is map<i32,i8> there and map<i32,u8> here");
    CHECK(said("struct(8,4){x:i32,y:i32}(struct(4,4){i32},tuple<i32,struct(2,1){u8*2}>)",
               "struct(8,4){x:i32,y:i32}(struct(4,4){i32},tuple<i32,struct(3,1){u8*3}>)") ==
          ": argument 2 is tuple<i32,struct(2,1){u8*2}> there and tuple<i32,struct(3,1){u8*3}> here");
    CHECK(said("struct(8,4){y:i32,x:i32}()", "struct(8,4){x:i32,y:i32}()") ==
          ": the result is struct(8,4){y:i32,x:i32} there and struct(8,4){x:i32,y:i32} here");
}

TEST_CASE("whatever another program calls a signature is no more than text") {
    for (const char* there :
         {"", "f64", "()", ")(", "f64(", "f64(i32", "void(,)", "void(<)", "))((", "void(i32))"})
        CHECK_NOTHROW(said(there, "f64(i32)"));
    CHECK(with_own_types("the pointer names an object of another type", "f64(i32)") ==
          "the pointer names an object of another type");
    CHECK(with_own_types("\"x\" is declared as f64(i32)", "f64()") ==
          "\"x\" is declared as f64(i32); here it is f64()");
}

} // namespace signature_test
