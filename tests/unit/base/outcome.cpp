// SPDX-License-Identifier: BSD-3-Clause
// Status, Result, Error and ContextId.
#include "base/log.h"
#include "base/result.h"
#include "plexus/id.h"
#include "support/catch.h"

#include <memory>
#include <set>
#include <unordered_set>

namespace outcome_test {

using namespace plexus;

namespace {

constexpr Status kAll[] = {Status::ok,           Status::again,         Status::posted,
                           Status::bad_argument, Status::too_large,     Status::unsupported,
                           Status::no_handler,   Status::bad_signature, Status::dead_pointer,
                           Status::bad_archive,  Status::handler_threw, Status::would_deadlock,
                           Status::timed_out,    Status::bad_config,    Status::bad_module,
                           Status::no_method,    Status::denied,        Status::not_found,
                           Status::busy,         Status::message_lost,  Status::link_lost,
                           Status::wrong_peer,   Status::peer_lost,     Status::runtime_lost,
                           Status::closed,       Status::peer_back,     Status::deadline_exceeded,
                           Status::cancelled};

} // namespace

TEST_CASE("every status has words of its own") {
    std::set<std::string_view> words;
    for (const Status status : kAll) {
        CHECK(to_string(status) != "unknown status");
        words.insert(to_string(status));
    }
    CHECK(words.size() == std::size(kAll));
    CHECK(to_string(static_cast<Status>(999)) == "unknown status");
}

TEST_CASE("only what breaks a link lets another method take over") {
    for (const Status status : kAll)
        CHECK(may_reselect(status) ==
              (status == Status::link_lost || status == Status::wrong_peer || status == Status::denied));
}

TEST_CASE("an error is a system_error of our category, with our sentence alone as its text") {
    try {
        Result<int> result = fail(Status::busy, "port {} is taken", 7000);
        std::move(result).value();
        FAIL("nothing was thrown");
    } catch (const std::system_error& error) {
        CHECK(error.code() == Status::busy);
        CHECK(std::string_view(error.code().category().name()) == "plexus");
        CHECK(error.code().message() == "busy");
        CHECK(std::string_view(error.what()) == "port 7000 is taken");
    }
}

TEST_CASE("a result holds a value or why there is none") {
    Result<std::unique_ptr<int>> good = std::make_unique<int>(3);
    REQUIRE(good);
    CHECK(good.status() == Status::ok);
    CHECK(*std::move(good).value() == 3);

    const Result<int> bad = Failure{Status::denied, "no"};
    CHECK_FALSE(bad);
    CHECK(bad.status() == Status::denied);
    CHECK(bad.failure().why == "no");

    CHECK(Result<void>{});
    CHECK_NOTHROW(Result<void>{}.value());
    CHECK_THROWS_AS(Result<void>(Failure{Status::closed, "closed"}).value(), Error);
}

TEST_CASE("a context id is printed as 32 digits, compares by its bytes, and hashes") {
    ContextId id;
    CHECK_FALSE(id);
    for (std::size_t i = 0; i < id.bytes.size(); ++i) id.bytes[i] = static_cast<std::uint8_t>(i * 17);
    CHECK(id);
    CHECK(to_string(id) == "00112233445566778899aabbccddeeff");
    ContextId other = id;
    CHECK(other == id);
    other.bytes[15] ^= 1;
    CHECK(other != id);
    CHECK(other < id);
    std::unordered_set<ContextId> ids{id, other, id};
    CHECK(ids.size() == 2);
}

} // namespace outcome_test
