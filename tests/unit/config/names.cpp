// SPDX-License-Identifier: BSD-3-Clause
// Slips of the pen, and method names.
#include "config/names.h"
#include "config/settings.h"
#include "support/catch.h"

namespace names_test {

using namespace plexus;
using namespace plexus::config;

TEST_CASE("the nearest word is found for one slip, and none for another word") {
    const std::vector<std::string> known{"methods", "module_path", "fallback", "log"};
    CHECK(nearest("metods", known) == "methods");
    CHECK(nearest("methdos", known) == "methods");
    CHECK(nearest("METHODS", known) == "methods");
    CHECK(nearest("modul_path", known) == "module_path");
    CHECK(nearest("lgo", known) == "log");
    CHECK_FALSE(nearest("temperature", known));
    CHECK_FALSE(nearest("", known));
    CHECK_FALSE(nearest("log", {}));
}

TEST_CASE("two words that are equally near: the first is taken, always") {
    CHECK(nearest("ab", {"ax", "ay"}) == "ax");
    CHECK(nearest("ab", {"ay", "ax"}) == "ay");
}

TEST_CASE("a key without its section is guessed where only one section has such a key") {
    const Schema schema{{"method.shm.ring", Type::size, "64 KiB", "its ring"},
                        {"method.tcp.ring", Type::size, "64 KiB", "another"},
                        {"method.tcp.queue", Type::size, "1 MiB", "its queue"}};
    CHECK(unknown_key(schema, "queue", "program").why.find("did you mean \"method.tcp.queue\"?") !=
          std::string::npos);
    CHECK(unknown_key(schema, "ring", "program").why.find("did you mean") == std::string::npos);
}

TEST_CASE("a method that no module provides is an error that says what there is and where was searched") {
    const auto checked =
        check_methods({"shm", "tpc"}, {"local", "shm", "tcp"}, {"/a/modules", "/b"}, "plexus.toml:3");
    REQUIRE(checked.status() == Status::bad_config);
    const std::string& why = checked.failure().why;
    CHECK(why == "plexus.toml:3: no module provides the method \"tpc\"; did you mean \"tcp\"? Methods here: "
                 "local, shm, "
                 "tcp. Searched for more: /a/modules, /b");
    CHECK(check_methods({"pigeon"}, {"tcp"}, {}, "program").failure().why.find("did you mean") ==
          std::string::npos);
}

TEST_CASE("methods that are there pass, and so does leaving out one of the default order that is not") {
    CHECK(check_methods({"shm", "^tcp"}, {"shm", "tcp"}, {}, "program"));
    CHECK(check_methods({"^ucx"}, {"shm"}, {}, "program"));
    CHECK_FALSE(check_methods({"^ucxx"}, {"shm"}, {}, "program"));
    CHECK_FALSE(check_methods({"ucx"}, {"shm"}, {}, "program"));
}

TEST_CASE("the default order may name what is not there") {
    CHECK(check_methods(split_list(default_methods()), {"local"}, {}, kDefaultOrigin));
}

TEST_CASE("an order that a program suggests may name a method of the default order that is not here") {
    CHECK(check_methods({"ucx", "shm"}, {"shm"}, {}, kSuggestedOrigin));
    CHECK_FALSE(check_methods({"ucxx", "shm"}, {"shm"}, {}, kSuggestedOrigin));
    CHECK_FALSE(check_methods({"ucx", "shm"}, {"shm"}, {}, "plexus.toml:1"));
}

} // namespace names_test
