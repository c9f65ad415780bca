// SPDX-License-Identifier: BSD-3-Clause
// A member whose process is stopped must not hold up the other groups of a context.
#include "eco/group/party.h"
#include "support/process.h"
#include "unit/context/key_file.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>

namespace stopped_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

namespace {

/// More than links, sockets and the queue of handlers take for a member that does not read.
constexpr std::size_t kBytes = std::size_t{32} << 20;
constexpr std::byte kContent{42};

bool is_stopped(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string all;
    std::getline(file, all);
    const std::size_t name = all.rfind(')');
    return name != all.npos && name + 2 < all.size() && all[name + 2] == 'T';
}

void say(Channel& channel, std::string_view what) { channel.put(std::as_bytes(std::span(what))); }

std::string hear(Channel& channel, std::chrono::milliseconds limit) {
    const auto told = channel.take(limit);
    return told ? std::string(reinterpret_cast<const char*>(told->data()), told->size()) : "";
}

Context joined(Channel& channel, const std::string& methods, const Values& values) {
    Context here = Context::attach(hear(channel, kLimit), by(methods, values));
    here.on_error([](const Error&) {});
    return here;
}

/// Sends all of a broadcast and then does nothing, until it is killed.
int root(Channel& channel, const std::string& methods, const Values& values) {
    Context here = joined(channel, methods, values);
    const Group chain = Group::meet(here, "chain", 0, 3).with(Pattern::chain);
    const Group pair = Group::meet(here, "pair", 1, 2);
    std::vector<std::byte> data(kBytes, kContent);
    if (hear(channel, kLimit) != "go") return 1; // the member in between has begun
    within(chain.async().broadcast(std::span(data), 0));
    say(channel, "sent");
    for (;;) here.run_for(kLimit);
}

/// Is stopped before it reads anything of the broadcast, and reads all of it when it may go on.
int last(Channel& channel, const std::string& methods, const Values& values) {
    Context here = joined(channel, methods, values);
    const Group chain = Group::meet(here, "chain", 2, 3).with(Pattern::chain);
    say(channel, "met");
    std::raise(SIGSTOP);
    std::vector<std::byte> data(kBytes);
    within(chain.async().broadcast(std::span(data), 0), kLimit * 2);
    const bool right = std::all_of(data.begin(), data.end(), [](std::byte each) { return each == kContent; });
    say(channel, right ? "right" : "wrong");
    return 0;
}

} // namespace

TEST_CASE("a member that is stopped holds up no other group: a lost member there is told") {
    const std::string methods = GENERATE(as<std::string>{}, "shm", "tcp");
    CAPTURE(methods);
    const auto lost = expect_warning("");
    const KeyFile key;
    const Values values{{"job.key_file", key.path()}};
    // Forked before this process has threads.
    Process sender([&](Channel& channel) { return root(channel, methods, values); });
    Process receiver([&](Channel& channel) { return last(channel, methods, values); });
    Values serving = values;
    serving["listen"] = "plexus://127.0.0.1:0";
    serving["limits.handler_queue"] = "1 MiB";
    Context here(by(methods, serving));
    here.on_error([](const Error&) {});
    const std::string url = here.url();
    say(sender.channel(), url);
    say(receiver.channel(), url);
    const Group chain = Group::meet(here, "chain", 1, 3).with(Pattern::chain);
    const Group pair = Group::meet(here, "pair", 0, 2);
    REQUIRE(hear(receiver.channel(), kLimit) == "met");
    REQUIRE(eventually(kLimit, [&] { return is_stopped(receiver.pid()); }));

    // This member passes the broadcast on, in handlers, to a member that does not read.
    std::vector<std::byte> data(kBytes);
    Future<void> passed = chain.async().broadcast(std::span(data), 0);
    Future<void> other = pair.async().barrier();
    say(sender.channel(), "go"); // not before: what came early would be passed on by this thread, which waits
    REQUIRE(eventually(kLimit, [&] {
        here.progress();
        return hear(sender.channel(), std::chrono::milliseconds(0)) == "sent";
    }));
    sender.kill(SIGKILL);
    REQUIRE(other.wait_for(kLimit * kPatience));
    std::string why;
    try {
        other.get();
    } catch (const Error& error) {
        CHECK(error.status() == Status::peer_lost);
        why = error.what();
    }
    CHECK(why.find("member 1 ") != std::string::npos);

    receiver.kill(SIGCONT);
    within(std::move(passed), kLimit * 2);
    CHECK(hear(receiver.channel(), kLimit * 2) == "right");
    CHECK(receiver.wait(kLimit) == 0);
}

} // namespace stopped_test
