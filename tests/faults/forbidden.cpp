// SPDX-License-Identifier: BSD-3-Clause
// A peer that is reached by two methods, of which one fails for good where falling back is forbidden.
#include "plexus/plexus.h"
#include "support/arguments.h"
#include "support/catch.h"
#include "support/eventually.h"

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

namespace forbidden_test {

using namespace plexus::testing;
using plexus::Context;
using plexus::Future;
using plexus::GlobalPointer;
using plexus::Status;

struct Desk {};
constexpr plexus::Request<int(Desk&, int)> echo{"forbidden.echo"};
constexpr plexus::Request<int(Desk&)> hold_on{"forbidden.hold_on"};
constexpr plexus::Request<void(Desk&)> note{"forbidden.note"};

plexus::Options options(const std::string& methods) {
    plexus::Options made;
    made.set["module_path"] = std::filesystem::path(arguments().objects.at("faults")).parent_path().string();
    made.set["methods"] = methods;
    made.set["fallback"] = "forbid";
    return made;
}

TEST_CASE("where falling back is forbidden a method that fails takes its own calls with it, and no others") {
    // Only the first connection by faults is made; it is cut after twenty messages of either end.
    Context owner(options("tcp, faults?refuse_connect=1"));
    std::mutex mutex;
    std::optional<plexus::Reply<int>> kept; // under the mutex
    owner.on(echo, [](Desk&, int x) { return x; });
    owner.on(note, [](Desk&) {});
    owner.on(hold_on, [&](Desk&, plexus::Reply<int> reply) {
        const std::lock_guard hold(mutex);
        kept.emplace(std::move(reply));
    });
    Desk desk;
    const auto bound = owner.bind(desk);
    Context user(options("tcp, faults?refuse_connect=2&drop_link_every=20&seed=3"));
    std::atomic<int> lost{0}; // peers
    user.on_peer([&](const plexus::PeerEvent& event) { lost += event.status == Status::peer_lost ? 1 : 0; });
    user.on_error([](const plexus::Error&) {}); // of notes that may be lost
    auto by_tcp = GlobalPointer<Desk>::load(user, bound.pointer().save());
    auto by_faults = by_tcp;
    by_tcp.use("tcp");
    by_faults.use("faults");
    Future<int> long_call = by_tcp.call(hold_on);
    REQUIRE(eventually(20s, [&] {
        const std::lock_guard hold(mutex);
        return kept.has_value();
    }));
    CHECK(by_faults.call(echo, 1).get() == 1);
    CHECK(by_faults.method() == "faults");

    Status end = Status::ok;
    REQUIRE(eventually(20s, [&] {
        end = by_faults.try_send(note);
        return end != Status::ok;
    }));
    CHECK((end == Status::no_method || end == Status::link_lost));
    CHECK(lost == 0);
    CHECK_FALSE(long_call.ready());
    CHECK(by_tcp.call(echo, 2).get() == 2);
    {
        const std::lock_guard hold(mutex);
        kept->send(7);
    }
    REQUIRE(long_call.wait_for(20s * kPatience));
    CHECK(long_call.get() == 7);
    CHECK(lost == 0);
}

} // namespace forbidden_test
