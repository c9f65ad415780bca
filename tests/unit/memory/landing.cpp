// SPDX-License-Identifier: BSD-3-Clause
// Memory of a transfer's caller while bytes move there: nothing gives it back before that is over, and
// nothing else writes there. Neither context has a thread of its own: the test makes each step.
#include "unit/context/contexts.h"

#include "context/core.h"
#include "transport/peer.h"
#include "wire/frame.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

namespace landing_test {

using namespace plexus;
using namespace plexus::testing;

struct Door {};
constexpr Request<int(Door&, int)> echo{"landing.echo"};

constexpr std::size_t kSize = std::size_t{48} << 20; // more than the kernel holds of a connection

struct Two {
    explicit Two(const std::string& methods)
      : owner(by(methods, {{"progress.thread", "false"}, {"progress.close_timeout", "60 s"}}))
      , user(by(methods, {{"progress.thread", "false"}, {"progress.close_timeout", "500 ms"}})) {
        owner.on(echo, [](Door&, int x) { return x; });
        bound = owner.bind(door);
        bound_memory = owner.bind(std::span(memory));
        far = handed(user, bound.pointer());
    }
    // The owner's memory is free when the user has acknowledged what it got.
    ~Two() {
        std::atomic<bool> over{false};
        std::thread pump([&] { user.run_until([&] { return over.load(); }); });
        CHECK(bound_memory.reset() == Status::ok);
        over = true;
        user.stop(); // wakes it
        pump.join();
    }
    /// Opens a link by that method. Neither end needs a thread of its own for that.
    void open(const char* method) {
        auto pointer = far;
        pointer.use(method);
        CHECK(answer_of(pointer) == Status::ok);
        if (methods_opened++ == 0) far = pointer;
    }
    GlobalSpan<std::byte> span() const {
        return {bound_memory.span().target(), far.route(), 0, memory.size()};
    }
    bool user_until(const std::function<bool()>& done) { return until(false, done); }
    bool both_until(const std::function<bool()>& done) { return until(true, done); }
    /// Until the first bytes of the answer are there.
    bool begin_to_arrive(const std::vector<std::byte>& into) {
        return both_until([&] { return into.front() == std::byte{5}; }) && into.back() == std::byte{0};
    }
    /// All that was sent so far has come, and been read.
    void come_to_rest() { CHECK(answer_of(far) == Status::ok); }

    std::vector<std::byte> memory = std::vector<std::byte>(kSize, std::byte{5});
    Door door;
    Context owner;
    Context user;
    Bound<Door> bound;
    BoundSpan<std::byte> bound_memory;
    GlobalPointer<Door> far;
    int methods_opened = 0;

  private:
    // A call may wait for its link: the owner answers meanwhile.
    Status answer_of(const GlobalPointer<Door>& pointer) {
        std::atomic<bool> over{false};
        std::thread pump([&] { owner.run_until([&] { return over.load(); }); });
        const Refusal refusal = refusal_of([&] { return within(pointer.call(echo, 1)); });
        over = true;
        owner.stop(); // wakes it
        pump.join();
        INFO(refusal.why);
        return refusal.status;
    }
    bool until(bool both, const std::function<bool()>& done) {
        const auto end = std::chrono::steady_clock::now() + kLimit * kPatience;
        while (!done()) {
            if (std::chrono::steady_clock::now() > end) return false;
            if (both) owner.progress();
            user.progress();
        }
        return true;
    }
};

/// A frame that `from` sends to `to` by that method beside what it ought to. Why it could not be sent.
/// @thread any
std::string send_raw(Context& from, const Context& to, std::string_view method, wire::View head,
                     wire::View rest) {
    const auto peer = from.core()->endpoint().peer(to.id());
    transport::Channel* way = nullptr;
    for (transport::Channel* each : peer->all_channels())
        if (!each->dead() && each->row_name() == method) way = each;
    if (way == nullptr) return "there is no way";
    wire::Bytes own(head.begin(), head.end());
    const detail::Piece pieces[2]{{own.data(), own.size()}, {rest.data(), rest.size()}};
    transport::Frame frame;
    frame.pieces = pieces;
    frame.count = 2;
    frame.size = own.size() + rest.size();
    frame.head = own.data();
    std::string why;
    const Status sent = way->send(frame, &why);
    return sent == Status::ok ? std::string() : "it was not sent: " + why;
}

bool all(const std::vector<std::byte>& bytes, int value) {
    return std::all_of(bytes.begin(), bytes.end(),
                       [&](std::byte each) { return each == static_cast<std::byte>(value); });
}

TEST_CASE("a get that fails, expires or is cancelled in the middle of its answer waits for the last byte") {
    const std::string how = GENERATE(as<std::string>{}, "cancelled", "late", "failed");
    CAPTURE(how);
    Two two("tcp");
    two.open("tcp");
    std::vector<std::byte> into(kSize);
    const bool late = how == "late";
    Future<void> got =
        (late ? two.span().with(deadline(kLimit)) : two.span()).get(0, std::span(into)); // time to begin
    REQUIRE(two.begin_to_arrive(into));
    request::Dispatcher& dispatcher = two.user.core()->dispatcher();
    const auto peer = two.user.core()->endpoint().peer(two.owner.id());
    if (how == "cancelled") {
        CHECK(got.cancel());
        CHECK_FALSE(got.cancel()); // it ends so already
    } else if (late) {
        dispatcher.client().endings().limit(0x1'0000'0000,
                                            1); // the user's only place for calls, for the second time
        const auto passed = std::chrono::steady_clock::now() + 5ms;
        CHECK(two.user_until([&] { return std::chrono::steady_clock::now() > passed; }));
    } else {
        for (transport::Channel* each : peer->all_channels())
            dispatcher.calls_lost(*each, transport::WhichCalls::all, Status::message_lost, "as a peer says");
    }
    CHECK_FALSE(got.ready());
    CHECK(two.both_until([&] { return got.ready(); }));
    const Refusal refusal = refusal_of([&] { got.get(); });
    CHECK(refusal.status == (late                 ? Status::deadline_exceeded
                             : how == "cancelled" ? Status::cancelled
                                                  : Status::message_lost));
    std::fill(into.begin(), into.end(), std::byte{7}); // it is the caller's again
    two.come_to_rest();
    CHECK(all(into, 7));
}

TEST_CASE("a peer that stops in the middle of an answer that nobody waits for keeps no memory") {
    Two two("tcp");
    two.open("tcp");
    std::vector<std::byte> into(kSize);
    Future<void> got = two.span().get(0, std::span(into));
    REQUIRE(two.begin_to_arrive(into));
    CHECK(got.cancel());
    CHECK(two.user_until([&] { return got.ready(); })); // the owner does nothing
    CHECK(refusal_of([&] { got.get(); }).status == Status::cancelled);
    std::fill(into.begin(), into.end(), std::byte{7});
    two.come_to_rest(); // the link was ended: the rest comes by another, and is dropped
    CHECK(all(into, 7));
}

/// Cuts every connection of this process, as somebody between both ends would.
void cut_all() {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int fd = std::atoi(entry.path().filename().c_str());
        sockaddr_storage address{};
        socklen_t size = sizeof address;
        if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
        if (address.ss_family == AF_INET || address.ss_family == AF_INET6) ::shutdown(fd, SHUT_RDWR);
    }
}

TEST_CASE("a transfer whose link breaks in its middle is over when its last byte has come by another") {
    const bool puts = GENERATE(false, true);
    CAPTURE(puts);
    Two two("tcp");
    two.open("tcp");
    std::vector<std::byte> own(kSize, puts ? std::byte{9} : std::byte{0});
    if (!puts) {
        Future<void> got = two.span().get(0, std::span(own));
        REQUIRE(two.begin_to_arrive(own));
        cut_all();
        REQUIRE(two.both_until([&] { return got.ready(); }));
        got.get();
        CHECK(all(own, 5));
        return;
    }
    Future<void> put;
    two.far.call(echo, 1).then([&](Future<int>) { // inside a turn nobody waits: a copy is sent
        put = two.span().put(0, std::span<const std::byte>(own));
    });
    REQUIRE(two.both_until([&] { return two.memory.front() == std::byte{9}; }));
    CHECK(two.memory.back() == std::byte{5});
    cut_all();
    CHECK(two.both_until([&] { return put.ready(); }));
    CHECK(all(two.memory, 9));
    put.get();
}

TEST_CASE("a second answer to a get is refused while the first is on its way") {
    const auto logged = expect_warning("answered a transfer whose bytes are just being moved");
    const std::size_t size = GENERATE(as<std::size_t>{}, 64, kSize);
    CAPTURE(size);
    Two two("tcp, shm");
    two.open("tcp");
    two.open("shm");
    std::vector<std::byte> into(kSize);
    Future<void> got = two.span().get(0, std::span(into));
    REQUIRE(two.begin_to_arrive(into));
    const std::vector<std::byte> wrong(size, std::byte{9});
    wire::Bytes head(wire::ReplyHeader::kBytes);
    // The user's only place for calls, for the third time.
    wire::encode(wire::Kind::data, wire::ReplyHeader{0, std::uint64_t{2} << 32}, head.data());
    two.owner.confine("tcp"); // the first answer stays where it is
    std::string said;
    std::thread sender([&] { said = send_raw(two.owner, two.user, "shm", head, wrong); });
    CHECK(two.user_until([&] { return logged.count() > 0; }));
    sender.join();
    CHECK(said == "");
    two.owner.confine("tcp", false);
    CHECK_FALSE(got.ready());
    CHECK(two.both_until([&] { return got.ready(); }));
    got.get();
    CHECK(all(into, 5));
}

TEST_CASE("a transfer that is cancelled or late before its answer begins ends at once") {
    const bool cancels = GENERATE(true, false);
    const bool puts = GENERATE(true, false);
    CAPTURE(cancels, puts);
    Two two("tcp");
    two.open("tcp");
    std::vector<std::byte> own(1 << 20, std::byte{7});
    const auto span = cancels ? two.span() : two.span().with(deadline(10ms));
    Future<void> moved = puts && cancels ? span.put(0, std::span<const std::byte>(own).first(1000))
                         : puts          ? span.put(0, std::span<const std::byte>(own))
                                         : span.get(0, std::span(own));
    if (cancels) CHECK(moved.cancel());
    CHECK(two.user_until([&] { return moved.ready(); })); // the owner does nothing
    CHECK(refusal_of([&] { moved.get(); }).status ==
          (cancels ? Status::cancelled : Status::deadline_exceeded));
    std::fill(own.begin(), own.end(), std::byte{8});
    two.come_to_rest();
    CHECK(all(own, 8));
}

} // namespace landing_test
