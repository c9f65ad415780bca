// SPDX-License-Identifier: BSD-3-Clause
// Which handler a request finds by its name and signature, and what a peer has declared for a number.
#include "request/handler_table.h"

#include "request/peer_requests.h"
#include "support/catch.h"

namespace handler_table_test {

using namespace plexus;
using request::HandlerTable;

struct Clerk {};
inline constexpr Request<int(Clerk&, int)> count{"clerk.count"};
inline constexpr Request<double(Clerk&, double)> weigh{"clerk.weigh"};
inline constexpr Request<long(Clerk&, double)> other_count{"clerk.count"};

TEST_CASE("a handler is found by its name and its signature, and a refusal of another one says the types") {
    HandlerTable table;
    auto handler = detail::make_handler(count, false, [](Clerk&, int x) { return x; });
    detail::Handler* const counts = handler.get();
    table.install(count.info(), std::move(handler));

    CHECK(table.find(count.name(), count.info().signature).handler == counts);
    const HandlerTable::Found other = table.find(count.name(), other_count.info().signature);
    CHECK(other.handler == nullptr);
    CHECK(other.status == Status::bad_signature);
    CHECK(other.types == count.signature());
    const HandlerTable::Found none = table.find(weigh.name(), weigh.info().signature);
    CHECK(none.handler == nullptr);
    CHECK(none.status == Status::no_handler);

    CHECK(table.name_of(counts) == "clerk.count");
    CHECK(table.name_of(nullptr) == "?");
}

TEST_CASE("a second handler for a name is refused, and the first stays") {
    HandlerTable table;
    auto handler = detail::make_handler(count, false, [](Clerk&, int x) { return x; });
    detail::Handler* const first = handler.get();
    table.install(count.info(), std::move(handler));
    try {
        table.install(other_count.info(),
                      detail::make_handler(other_count, false, [](Clerk&, double) { return 0L; }));
        FAIL("it was taken");
    } catch (const Error& error) { CHECK(error.status() == Status::busy); }
    CHECK(table.find(count.name(), count.info().signature).handler == first);
}

TEST_CASE("a number means what its peer declared last, and nothing before") {
    request::DeclaredRequests declared;
    CHECK(declared.find(0) == nullptr);
    wire::Declare declare;
    declare.request = 7;
    declare.signature = 1;
    declare.name = "clerk.count";
    declared.declare(declare);
    CHECK(declared.find(6) == nullptr);
    CHECK(declared.find(8) == nullptr);
    auto* const entry = declared.find(7);
    REQUIRE(entry != nullptr);
    CHECK(entry->name == "clerk.count");
    CHECK(entry->signature == 1);

    auto handler = detail::make_handler(count, false, [](Clerk&, int x) { return x; });
    entry->handler = handler.get();
    declare.signature = 2;
    declared.declare(declare);
    REQUIRE(declared.find(7) != nullptr);
    CHECK(declared.find(7)->signature == 2);
    CHECK(declared.find(7)->handler == nullptr); // that of another signature does not stay
}

} // namespace handler_table_test
