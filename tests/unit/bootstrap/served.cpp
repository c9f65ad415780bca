// SPDX-License-Identifier: BSD-3-Clause
// Served directories: fences among several clients, clients and servers that disappear,
// ports that are taken.
#include "support/catch.h"
#include "unit/bootstrap/waiting.h"

#include <asio/ip/tcp.hpp>

namespace served_test {

using namespace plexus;
using namespace plexus::bootstrap;
using namespace plexus::bootstrap::testing;

namespace {

struct Meeting {
    Key key = random_key();
    std::unique_ptr<DirectoryServer> server;
    std::vector<std::shared_ptr<Directory>> members;

    explicit Meeting(std::uint32_t size)
      : server(DirectoryServer::listen("plexus://127.0.0.1:0", key, size).value()) {
        for (std::uint32_t i = 0; i < size; ++i)
            members.push_back(join(server->url(), key, some_context(), in(5s)).value());
    }
};

} // namespace

TEST_CASE("a fence opens when the last member arrives, again and again") {
    Meeting job(3);
    for (int round = 0; round < 20; ++round) {
        auto first = meet(*job.members[0], 10s);
        auto second = meet(*job.members[2], 10s);
        // A round trip later the first two have surely arrived, and still wait.
        CHECK_FALSE(ask(*job.members[0], "nothing", 0s).get());
        CHECK_FALSE(first.is_there());
        auto last = meet(*job.members[1], 10s);
        CHECK(first.get());
        CHECK(second.get());
        CHECK(last.get());
    }
}

TEST_CASE("a fence that not all reach ends at its deadline and can be tried again") {
    Meeting job(2);
    const auto alone = meet(*job.members[0], 50ms).get();
    REQUIRE(alone.status() == Status::timed_out);
    CHECK(mentions(alone.failure(), "only 1 of 2"));
    auto again = meet(*job.members[0], 10s);
    auto other = meet(*job.members[1], 10s);
    CHECK(again.get());
    CHECK(other.get());
}

TEST_CASE("a context that is in a fence cannot enter it twice") {
    Meeting job(2);
    auto first = meet(*job.members[0], 10s);
    CHECK(meet(*job.members[0], 10s).get().status() == Status::busy);
    auto other = meet(*job.members[1], 10s);
    CHECK(first.get());
    CHECK(other.get());
}

TEST_CASE("whoever waits in a fence with a member that leaves is told at once") {
    Meeting job(4);
    auto leaver = meet(*job.members[0], 60s);
    auto stayer = meet(*job.members[1], 60s);
    auto third = meet(*job.members[2], 60s);
    CHECK_FALSE(ask(*job.members[0], "nothing", 0s).get());
    CHECK_FALSE(ask(*job.members[1], "nothing", 0s).get());
    CHECK_FALSE(ask(*job.members[2], "nothing", 0s).get());
    job.members[0].reset();
    CHECK(leaver.get().status() == Status::closed);
    CHECK(stayer.get().status() == Status::peer_lost);
    CHECK(third.get().status() == Status::peer_lost);
    // The one that comes late to the same fence need not wait for its deadline.
    CHECK(meet(*job.members[3], 60s).get().status() == Status::peer_lost);
}

TEST_CASE("a member that had met the others before is missed in the next fence") {
    Meeting job(2);
    auto first = meet(*job.members[0], 10s);
    auto second = meet(*job.members[1], 10s);
    REQUIRE(first.get());
    REQUIRE(second.get());
    auto waits = meet(*job.members[0], 60s);
    CHECK_FALSE(ask(*job.members[0], "nothing", 0s).get());
    job.members[1].reset();
    CHECK(waits.get().status() == Status::peer_lost);
}

TEST_CASE("a client that only looks does not end a fence by leaving") {
    Meeting job(2);
    auto looker = join(job.server->url(), job.key, some_context(), in(5s)).value();
    auto waits = meet(*job.members[0], 10s);
    CHECK_FALSE(ask(*looker, "nothing", 0s).get());
    looker.reset();
    auto other = meet(*job.members[1], 10s);
    CHECK(waits.get());
    CHECK(other.get());
}

TEST_CASE("clients of a server that ends are told that it is gone") {
    Meeting job(2);
    auto waits = ask(*job.members[0], "never", 60s);
    auto fence = meet(*job.members[1], 60s);
    const auto local = job.server->local();
    REQUIRE(local->publish("x", {}));
    const std::string url = job.server->url();
    job.server.reset();
    // Either the server's last word arrives, or the end of the connection.
    const auto lost = waits.get();
    CHECK((lost.status() == Status::peer_lost || lost.status() == Status::closed));
    CHECK_FALSE(fence.get());
    const auto later = job.members[0]->publish("y", {});
    REQUIRE(later.status() == Status::peer_lost);
    CHECK(mentions(later.failure(), url));
    CHECK(ask(*job.members[1], "x", 60s).get().status() == Status::peer_lost);
    CHECK(local->publish("z", {}).status() == Status::closed);
    CHECK(ask(*local, "x", 60s).get().status() == Status::closed);
}

TEST_CASE("whoever waits for a name in a directory that closes is told so") {
    auto server = DirectoryServer::listen("plexus://127.0.0.1:0", random_key(), 1).value();
    const auto local = server->local();
    auto answer = ask(*local, "late", 60s);
    CHECK_FALSE(answer.is_there());
    server.reset();
    CHECK(answer.get().status() == Status::closed);
    CHECK(ask(*local, "later", 60s).get().status() == Status::closed);
}

TEST_CASE("a lookup without a deadline waits for as long as it takes") {
    const Meeting job(2);
    Answer<Bytes> answer;
    job.members[0]->lookup("late", Clock::time_point::max(), answer.callback());
    CHECK_FALSE(ask(*job.members[0], "nothing", 0s).get()); // the directory has both
    CHECK_FALSE(answer.is_there());
    REQUIRE(job.members[1]->publish("late", bytes_of("1")));
    const auto found = answer.get();
    REQUIRE(found);
    CHECK(text_of(*found) == "1");
}

TEST_CASE("publishing from a callback is refused, not stuck") {
    Meeting job(1);
    Answer<void> answer;
    auto& view = *job.members[0];
    view.lookup("nothing", in(0s),
                [&view, said = answer.callback()](const Result<Bytes>&) { said(view.publish("x", {})); });
    CHECK(answer.get().status() == Status::would_deadlock);
}

TEST_CASE("a port that is taken is busy and named") {
    const Key key = random_key();
    const auto first = DirectoryServer::listen("plexus://127.0.0.1:0", key, 1).value();
    const auto second = DirectoryServer::listen(first->url(), key, 1);
    REQUIRE(second.status() == Status::busy);
    const std::string port = first->url().substr(first->url().rfind(':') + 1);
    CHECK(mentions(second.failure(), "port " + port));
    CHECK(mentions(second.failure(), "choose another"));
}

TEST_CASE("a port can be served again as soon as its server has ended") {
    const Key key = random_key();
    auto first = DirectoryServer::listen("plexus://127.0.0.1:0", key, 1).value();
    const std::string url = first->url();
    auto client = join(url, key, some_context(), in(5s)).value();
    first.reset();
    CHECK(DirectoryServer::listen(url, key, 1));
}

TEST_CASE("addresses that cannot be served are refused") {
    const Key key = random_key();
    CHECK(DirectoryServer::listen("plexus://192.0.2.1:0", key, 1).status() == Status::not_found);
    CHECK(DirectoryServer::listen("plexus://no-such-host.invalid:0", key, 1).status() == Status::not_found);
    CHECK(DirectoryServer::listen("127.0.0.1:0", key, 1).status() == Status::bad_argument);
    CHECK(DirectoryServer::listen("plexus://127.0.0.1:0", key, 0).status() == Status::bad_argument);
}

TEST_CASE("a directory is served over IPv6 and by name") {
    const Key key = random_key();
    const auto server = DirectoryServer::listen("plexus://[::1]:0", key, 1);
    if (server.status() == Status::not_found) SKIP_TEST("this host has no IPv6 loopback");
    REQUIRE(server);
    CHECK((*server)->url().starts_with("plexus://[::1]:"));
    CHECK(join((*server)->url(), key, some_context(), in(5s)));
    const auto named = DirectoryServer::listen("plexus://localhost:0", key, 1).value();
    CHECK(named->url().starts_with("plexus://localhost:"));
    CHECK(join(named->url(), key, some_context(), in(5s)));
}

TEST_CASE("a directory on every interface tells the host's name") {
    const Key key = random_key();
    const auto server = DirectoryServer::listen("plexus://0.0.0.0:0", key, 1).value();
    CHECK_FALSE(server->url().starts_with("plexus://0.0.0.0"));
    const std::string port = server->url().substr(server->url().rfind(':'));
    CHECK(join("plexus://127.0.0.1" + port, key, some_context(), in(5s)));
}

} // namespace served_test
