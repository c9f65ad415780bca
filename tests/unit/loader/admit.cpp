// SPDX-License-Identifier: BSD-3-Clause
// Passports in memory, each with one thing wrong.
#include "loader/modules.h"
#include "sample.h"
#include "support/catch.h"

namespace admit_test {

using namespace plexus;
using namespace plexus::loader;
using plexus::testing::Sample;

namespace {

template <class Spoil>
std::string refusal(Spoil&& spoil) {
    Sample sample;
    spoil(sample);
    const auto module = admit(&sample.passport, "the sample");
    if (module) return "accepted";
    CHECK(module.status() == Status::bad_module);
    CHECK(module.failure().why.starts_with("the sample is refused: "));
    return module.failure().why;
}

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("a sound passport becomes a module with its parameters") {
    Sample sample;
    const Module module = admit(&sample.passport, "here").value();
    CHECK(module.name == "sample");
    CHECK(module.origin == "here");
    CHECK(module.help == "a sample");
    REQUIRE(module.parameters.size() == 2);
    CHECK(std::string_view(module.parameters[0].key) == "ring");
    CHECK(std::string_view(module.parameters[1].help) == "how");
}

TEST_CASE("no passport, or something else in its place") {
    CHECK(mentions(admit(nullptr, "x").failure().why, "no passport"));
    CHECK(mentions(refusal([](Sample& s) { s.passport.magic ^= 1; }), "no Plexus module"));
    alignas(8) char room[sizeof(plexus_passport) + 8] = {};
    CHECK(mentions(admit(reinterpret_cast<const plexus_passport*>(room + 1), "x").failure().why,
                   "no Plexus module"));
}

TEST_CASE("the version decides before anything else is read") {
    CHECK(mentions(refusal([](Sample& s) {
                       s.passport.abi_major = 1;
                       s.passport.abi_minor = 1;
                       s.passport.ops = reinterpret_cast<const plexus_ops*>(std::uintptr_t{8});
                       s.passport.name = reinterpret_cast<const char*>(std::uintptr_t{8});
                   }),
                   "built for ABI 1.1, this library has 2.1: rebuild the module"));
    CHECK(mentions(refusal([](Sample& s) { s.passport.abi_minor = PLEXUS_ABI_MINOR + 1; }), "newer ABI"));
}

TEST_CASE("a table that is missing or spoilt is refused") {
    CHECK(mentions(refusal([](Sample& s) { s.passport.ops = nullptr; }), "no function table"));
    CHECK(mentions(refusal([](Sample& s) { s.ops.poll = nullptr; }), "lacks poll"));
}

TEST_CASE("a name is lower case, and of bounded length") {
    for (const char* bad : {"", "Tcp", "9p", "_x", "a-b", "a b", "a.b", "0123456789012345678901234567890a"})
        CHECK(mentions(refusal([&](Sample& s) { s.passport.name = bad; }), "no proper name"));
    CHECK(mentions(refusal([&](Sample& s) { s.passport.name = nullptr; }), "no proper name"));
    const std::string longest(31, 'a');
    const std::string too_long(32, 'a');
    CHECK(refusal([&](Sample& s) { s.passport.name = longest.c_str(); }) == "accepted");
    CHECK(mentions(refusal([&](Sample& s) { s.passport.name = too_long.c_str(); }), "no proper name"));
    CHECK(refusal([&](Sample& s) { s.passport.help = nullptr; }) == "accepted");
}

TEST_CASE("parameters are read by their own size, and each must be whole") {
    CHECK(mentions(refusal([](Sample& s) { s.passport.parameter_size = 24; }), "parameters of 24 bytes"));
    CHECK(mentions(refusal([](Sample& s) { s.passport.parameter_size = 33; }), "parameters of 33 bytes"));
    CHECK(mentions(refusal([](Sample& s) { s.passport.parameter_size = UINT32_MAX; }), "bytes each"));
    CHECK(mentions(refusal([](Sample& s) { s.passport.parameter_count = UINT32_MAX; }), "256 are the most"));
    CHECK(mentions(refusal([](Sample& s) { s.passport.parameters = nullptr; }), "shows none"));
    CHECK(mentions(refusal([](Sample& s) { s.parameters[1].key = nullptr; }),
                   "parameter 1 has no proper name"));
    CHECK(mentions(refusal([](Sample& s) { s.parameters[1].key = "ring"; }), "ring twice"));
    CHECK(mentions(refusal([](Sample& s) { s.parameters[0].type = "float"; }), "of the type \"float\""));
    CHECK(mentions(refusal([](Sample& s) { s.parameters[0].type = nullptr; }), "of the type \"\""));
    CHECK(mentions(refusal([](Sample& s) { s.parameters[0].preset = nullptr; }), "lacks a default"));
    CHECK(mentions(refusal([](Sample& s) { s.parameters[0].help = nullptr; }), "help line"));
    CHECK(refusal([](Sample& s) {
              s.passport.parameter_count = 0;
              s.passport.parameters = nullptr;
              s.passport.parameter_size = 0;
          }) == "accepted");
}

TEST_CASE("a later build's longer parameters are stepped over at their own size") {
    struct Longer {
        plexus_parameter known;
        const char* later;
    };
    const Longer parameters[] = {{{"one", "count", "1", ""}, "x"}, {{"two", "count", "2", ""}, "y"}};
    Sample sample;
    sample.passport.parameters = &parameters[0].known;
    sample.passport.parameter_size = sizeof(Longer);
    const Module module = admit(&sample.passport, "here").value();
    CHECK(std::string_view(module.parameters[1].key) == "two");
}

} // namespace admit_test
