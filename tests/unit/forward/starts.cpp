// SPDX-License-Identifier: BSD-3-Clause
// Contexts with the method that start: those that cannot leave nothing behind.
#include "sites.h"

#include "base/unique_fd.h"
#include "support/footprint.h"

#include <atomic>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

namespace forward_starts_test {

using namespace plexus;
using namespace plexus::testing;

TEST_CASE("a context whose start fails behind its methods leaves no descriptor and no thread") {
    const Context keeps_once(by("tcp, forward")); // what is made once for a process stays
    const auto meets_nobody = [] {                // nothing listens at port 1
        const Context context = Context::attach("plexus://127.0.0.1:1",
                                                by("tcp, forward", {{"progress.lookup_timeout", "10 s"}}));
    };
    const auto is_not_found = [] { // it would relay, and does not listen
        const Context context(by("tcp, forward", {{"forward.allow", "all"}}));
    };
    REQUIRE(refusal_of([&] { return meets_nobody(), 0; }).status == Status::not_found);
    REQUIRE(refusal_of([&] { return is_not_found(), 0; }).status == Status::bad_config);
    const Footprint before = Footprint::now();
    for (int i = 0; i < 100; ++i) {
        CHECK(refusal_of([&] { return meets_nobody(), 0; }).status == Status::not_found);
        CHECK(refusal_of([&] { return is_not_found(), 0; }).status == Status::bad_config);
    }
    const Footprint after = Footprint::settled(before.threads);
    CHECK(after.descriptors <= before.descriptors);
    CHECK(after.threads <= before.threads);
}

/// A socket that connections are made to, and that nobody accepts them from.
class SilentDoor {
  public:
    SilentDoor()
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in here{};
        here.sin_family = AF_INET;
        here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof here;
        auto* const address = reinterpret_cast<sockaddr*>(&here);
        REQUIRE(::bind(socket_.get(), address, size) == 0);
        REQUIRE(::listen(socket_.get(), 16) == 0);
        REQUIRE(::getsockname(socket_.get(), address, &size) == 0);
        port_ = ntohs(here.sin_port);
    }
    std::string url() const { return "plexus://127.0.0.1:" + std::to_string(port_); }

  private:
    UniqueFd socket_;
    int port_ = 0;
};

TEST_CASE("a forwarder that says nothing does not use up the time of the next one") {
    const SilentDoor silent;
    Context gate(gate_options("gate"));
    const auto warned = expect_warning("no forwarder was found at " + silent.url());
    Target target(behind(silent.url() + ", " + gate.url(), {{"progress.lookup_timeout", "1 s"}}));
    CHECK(warned.count() == 1);
    CHECK(warned.lines().at(0).find("no row by way of it") != std::string::npos);
    Context source(by("tcp, forward"));
    const auto far = handed(source, target.pointer());
    CHECK(within(far.call(twice, 4)) == 8);
    CHECK(far.method() == "forward:gate");
}

TEST_CASE("forwarders of one name have labels of their own") {
    Context first(gate_options("gate"));
    Context second(gate_options("gate"));
    Target target(behind(first.url() + ", " + second.url()));
    Context source(by("tcp, forward"));
    const auto far = handed(source, target.pointer());
    CHECK(within(far.call(twice, 4)) == 8);
    CHECK(far.method() == "forward:1");
    INFO(far.explain());
    CHECK(far.explain().find("forward:2: applies") != std::string::npos);
}

TEST_CASE("a forwarder that does not answer in time is attached to when it does, with or without a thread") {
    const std::string thread = GENERATE(as<std::string>{}, "true", "false");
    CAPTURE(thread);
    Context gate(gate_options("gate", {{"progress.thread", "false"}}));
    const auto warned = expect_warning("does not know how this context is reached");
    Target target(behind(gate.url(), {{"progress.lookup_timeout", "300 ms"}, {"progress.thread", thread}}));
    CHECK(warned.count() == 1);
    std::atomic<bool> over{false};
    std::thread relay([&] {
        while (!over) gate.progress();
    });
    std::thread answer([&] {
        while (!over) target.context().progress();
    });
    CHECK(eventually(kLimit, [&] { // a context that was refused does not ask for the same row again
        Context source(by("tcp, forward"));
        auto far = handed(source, target.pointer());
        far.use("forward");
        return refusal_of(far.call(twice, 4)).status == Status::ok;
    }));
    over = true;
    relay.join();
    answer.join();
}

} // namespace forward_starts_test
