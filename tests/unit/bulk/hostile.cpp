// SPDX-License-Identifier: BSD-3-Clause
// Members of the job that break the rules of transfers: frames made by hand, sent by the peer's own
// channel. Nobody's memory is touched, nobody waits for ever.
#include "unit/context/contexts.h"

#include "context/core.h"
#include "transport/transport.h"
#include "wire/frame.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace hostile_test {

using namespace plexus;
using namespace plexus::testing;

struct Door {};
constexpr Request<int(Door&, int)> echo{"hostile.echo"};
constexpr Request<void(Door&)> note{"hostile.note"};

struct End {
    explicit End(const std::string& methods, Values more = {})
      : context(by(methods, std::move(more))) {
        context.on(echo, [](Door&, int x) { return x; });
        context.on(note, [this](Door&) { ++notes; });
        bound = context.bind(door);
    }
    /// A pointer to the door at `user`, with an open link. Neither needs a thread of its own for that.
    GlobalPointer<Door> reached_by(End& user) {
        const auto far = handed(user.context, bound.pointer());
        std::atomic<bool> open{false};
        std::thread pump([&] { context.run_until([&] { return open.load(); }); });
        const int answer = within(far.call(echo, 1));
        open = true;
        context.stop(); // wakes it
        pump.join();
        CHECK(answer == 1);
        return far;
    }
    /// Makes progress here until so many notes have come, all in all.
    void take_notes(int count) {
        const auto end = std::chrono::steady_clock::now() + kLimit;
        while (notes < count && std::chrono::steady_clock::now() < end) context.progress();
        CHECK(notes == count);
    }
    std::atomic<int> notes{0};
    Door door;
    Context context;
    Bound<Door> bound;
};

/// What `from` sends to `to` beside what it ought to.
void send_raw(Context& from, const Context& to, wire::View head, wire::View rest = {}) {
    const auto peer = from.core()->endpoint().peer(to.id());
    transport::Channel* way = nullptr;
    for (transport::Channel* each : peer->all_channels())
        if (!each->dead()) way = each;
    REQUIRE(way != nullptr);
    wire::Bytes own(head.begin(), head.end());
    const detail::Piece pieces[2]{{own.data(), own.size()}, {rest.data(), rest.size()}};
    transport::Frame frame;
    frame.pieces = pieces;
    frame.count = rest.empty() ? 1 : 2;
    frame.size = own.size() + rest.size();
    frame.head = own.data();
    std::string why;
    const Status sent = way->send(frame, &why);
    INFO(why);
    REQUIRE(sent == Status::ok);
}

template <class Header>
wire::Bytes head_of(wire::Kind kind, const Header& header) {
    wire::Bytes bytes(Header::kBytes);
    wire::encode(kind, header, bytes.data());
    return bytes;
}

wire::BulkHeader header_for(const detail::Target& target) {
    wire::BulkHeader header;
    header.key = target.key;
    header.handle = target.handle;
    header.generation = target.generation;
    return header;
}

/// The first method of these builds that moves memory by itself; empty: there is none.
std::string method_with_keys(const std::string& named) {
    try {
        Context probe(by(named));
        for (const auto& method : probe.core()->endpoint().interfaces())
            if (method->limits.remote_bytes != 0) return method->name;
    } catch (const Error&) { return {}; } // not built here
    return {};
}

TEST_CASE("a get that is answered with another number of bytes fails") {
    const std::size_t answered = GENERATE(8u, 24u, 200'000u);
    CAPTURE(answered);
    // The owner reads nothing by itself, so that the made-up answer is the only one.
    End owner("tcp", {{"progress.thread", "false"}});
    End user("tcp", {{"progress.close_timeout", "500 ms"}}); // it tells the owner, who does not answer
    std::vector<std::uint64_t> memory(2);
    const BoundSpan<std::uint64_t> bound = owner.context.bind(std::span(memory));
    const auto far = owner.reached_by(user);
    std::vector<std::uint64_t> into(64, 7);
    const GlobalSpan<std::uint64_t> span(bound.span().target(), far.route(), 0, 2);
    Future<void> got = span.get(0, std::span(into).first(2));
    const std::vector<std::byte> bytes(answered, std::byte{9});
    // The user's only place for calls, for the second time.
    const std::uint64_t call = std::uint64_t{1} << 32;
    send_raw(owner.context, user.context, head_of(wire::Kind::data, wire::ReplyHeader{0, call}), bytes);
    const Refusal refusal = refusal_of(std::move(got));
    CHECK(refusal.status == Status::bad_archive);
    CHECK(refusal.says("number of bytes"));
    CHECK(std::all_of(into.begin(), into.end(), [](std::uint64_t each) { return each == 7; }));
}

TEST_CASE("a put that brings more bytes than it says touches nothing") {
    const std::size_t brought = GENERATE(128u, 300'000u); // in one packet, and in place
    CAPTURE(brought);
    End owner("tcp");
    End user("tcp");
    std::vector<std::byte> memory(400'000, std::byte{7});
    const BoundSpan<std::byte> bound = owner.context.bind(std::span(memory).first(64));
    const auto far = handed(user.context, owner.bound.pointer());
    CHECK(within(far.call(echo, 1)) == 1);
    wire::BulkHeader header = header_for(bound.span().target());
    header.length = 64;
    const std::vector<std::byte> bytes(brought, std::byte{9});
    send_raw(user.context, owner.context, head_of(wire::Kind::put, header), bytes);
    CHECK(within(far.call(echo, 2)) == 2); // behind it
    CHECK(std::all_of(memory.begin(), memory.end(), [](std::byte each) { return each == std::byte{7}; }));
}

TEST_CASE("a put past the end of the memory, or of memory that is not bound, touches nothing") {
    End owner("tcp");
    End user("tcp");
    std::vector<std::byte> memory(400'000, std::byte{7});
    const BoundSpan<std::byte> bound = owner.context.bind(std::span(memory).first(64));
    const auto far = handed(user.context, owner.bound.pointer());
    CHECK(within(far.call(echo, 1)) == 1);
    const std::vector<std::byte> bytes(300'000, std::byte{9});
    for (const std::size_t size : {std::size_t{65}, bytes.size()}) {
        wire::BulkHeader header = header_for(bound.span().target());
        header.length = size;
        send_raw(user.context, owner.context, head_of(wire::Kind::put, header), std::span(bytes).first(size));
        header.length = 1;
        header.offset = 128; // the rest of the memory would be less than nothing
        send_raw(user.context, owner.context, head_of(wire::Kind::put, header), std::span(bytes).first(1));
        header.offset = 0;
        header.key ^= 1;
        send_raw(user.context, owner.context, head_of(wire::Kind::put, header), std::span(bytes).first(1));
    }
    CHECK(within(far.call(echo, 2)) == 2);
    CHECK(std::all_of(memory.begin(), memory.end(), [](std::byte each) { return each == std::byte{7}; }));
}

TEST_CASE("a request whose arguments are followed by more bytes is refused") {
    Complaints complaints;
    End owner("tcp");
    End user("tcp");
    complaints.listen_to(user.context);
    const auto logged = expect_warning("the arguments are not what the signature says");
    const auto far = handed(user.context, owner.bound.pointer());
    far.send(note);
    CHECK(within(far.call(echo, 1)) == 1);
    CHECK(owner.notes == 1);
    wire::RequestHeader header;
    header.request = static_cast<std::uint16_t>(note.info().number.load());
    header.key = far.target().key;
    header.handle = far.target().handle;
    header.generation = far.target().generation;
    wire::Bytes head(wire::RequestHeader::kBytes);
    wire::encode(header, head.data());
    send_raw(user.context, owner.context, head, std::vector<std::byte>(1));
    CHECK(within(far.call(echo, 2)) == 2); // behind it
    CHECK(owner.notes == 1);
    const Refusal refusal = complaints.next();
    CHECK(refusal.status == Status::bad_archive);
    CHECK(refusal.says("hostile.note"));
    send_raw(user.context, owner.context, head);
    CHECK(within(far.call(echo, 3)) == 3);
    CHECK(owner.notes == 2);
}

namespace {

/// An owner of memory and a user that has borrowed its key, and does not hear that it was lent:
/// nobody polls there. All but what says otherwise is this thread's.
struct Loan {
    explicit Loan(const std::string& method, const char* patience)
      : owner(method, {{"progress.thread", "false"}, {"progress.close_timeout", patience}})
      , user(method, {{"progress.thread", "false"}, {"progress.close_timeout", "300 ms"}}) {
        bound = owner.context.bind(std::span(memory));
        far = owner.reached_by(user);
        send_raw(user.context, owner.context, head_of(wire::Kind::borrow, header_for(bound.span().target())));
        far.send(note); // behind it
        owner.take_notes(1);
    }
    std::vector<std::uint64_t> memory = std::vector<std::uint64_t>(1 << 16);
    End owner;
    End user;
    BoundSpan<std::uint64_t> bound;
    GlobalPointer<Door> far;
};

} // namespace

TEST_CASE("the loans of a peer that is lost end with it") {
    const std::string method = method_with_keys("ucx");
    if (method.empty()) SKIP_TEST("no method of this build lends keys");
    Loan loan(method, "1 s");
    Context& owner = loan.owner.context;
    const auto peer = owner.core()->endpoint().peer(loan.user.context.id());
    owner.core()->dispatcher().peer_lost(*peer, Status::peer_lost, "as a link's end would say");
    CHECK(loan.bound.reset() == Status::ok);
}

TEST_CASE("a loan is given back by its borrower only") {
    const std::string method = method_with_keys("ucx");
    if (method.empty()) SKIP_TEST("no method of this build lends keys");
    Loan loan(method, "100 ms");
    End other(method, {{"progress.thread", "false"}});
    const auto others = loan.owner.reached_by(other);
    const wire::Bytes back = head_of(wire::Kind::give_back, wire::ReplyHeader{0, 0}); // the first loan
    send_raw(other.context, loan.owner.context, back);
    others.send(note);
    loan.owner.take_notes(2);
    CHECK(loan.bound.reset() == Status::timed_out); // the user may still move bytes there
    send_raw(loan.user.context, loan.owner.context, back);
    loan.far.send(note);
    loan.owner.take_notes(3);
}

} // namespace hostile_test
