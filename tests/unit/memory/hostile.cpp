// SPDX-License-Identifier: BSD-3-Clause
// Members of the job that break the rules of transfers: frames made by hand, sent by the peer's own
// channel. Nobody's memory is touched, nobody waits for ever.
#include "ends.h"

#include <algorithm>

namespace hostile_test {

using namespace plexus;
using namespace plexus::testing;
using namespace memory_ends;

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

TEST_CASE(
    "frames of transfers and leases that are shorter than their headers are told of, and touch nothing") {
    using wire::Kind;
    const auto kind = GENERATE(Kind::put, Kind::get, Kind::data, Kind::lease_request, Kind::lease,
                               Kind::lease_return, Kind::lease_recall);
    CAPTURE(static_cast<int>(kind));
    Complaints complaints;
    End owner("tcp");
    End user("tcp");
    complaints.listen_to(owner.context);
    const auto far = handed(user.context, owner.bound.pointer());
    CHECK(within(far.call(echo, 1)) == 1);
    wire::Bytes part(8);
    part[0] = static_cast<std::byte>(kind);
    send_raw(user.context, owner.context, part);
    CHECK(within(far.call(echo, 2)) == 2); // behind it
    const Refusal told = complaints.next();
    CHECK(told.status == Status::bad_archive);
    CHECK(told.says("too short"));
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

TEST_CASE("an answer that is larger than its caller takes ends the call, and says so") {
    End owner("tcp", {{"progress.thread", "false"}}); // the made-up answer is the only one
    End user("tcp", {{"limits.max_message", "64 KiB"}, {"progress.close_timeout", "500 ms"}});
    const auto far = owner.reached_by(user);
    Future<int> answer = far.call(echo, 2);
    const std::uint64_t call = std::uint64_t{1} << 32; // the user's only place for calls, for the second time
    owner.context.core()->endpoint().peer(user.context.id())->max_message = 1 << 20; // it takes no notice
    send_raw(owner.context, user.context, head_of(wire::Kind::reply, wire::ReplyHeader{0, call}),
             std::vector<std::byte>(100'000));
    const Refusal refusal = refusal_of(std::move(answer));
    CHECK(refusal.status == Status::too_large);
    CHECK(refusal.says("limits.max_message"));
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
    CHECK(refusal.says("memory.note"));
    send_raw(user.context, owner.context, head);
    CHECK(within(far.call(echo, 3)) == 3);
    CHECK(owner.notes == 2);
}

namespace {

/// An owner of memory and a user that holds a lease of it without knowing: the user's context is not polled.
/// Neither context has a thread of its own.
struct Leased {
    explicit Leased(const std::string& method, const char* patience)
      : owner(method, {{"progress.thread", "false"}, {"progress.close_timeout", patience}})
      , user(method, {{"progress.thread", "false"}, {"progress.close_timeout", "300 ms"}}) {
        bound = owner.context.bind(std::span(memory));
        far = owner.reached_by(user);
        send_raw(user.context, owner.context,
                 head_of(wire::Kind::lease_request, header_for(bound.span().target())));
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

TEST_CASE("the leases of a peer that is lost end with it") {
    const std::string method = method_with_keys("ucx");
    if (method.empty()) SKIP_TEST("no method of this build moves memory by itself");
    Leased leased(method, "1 s");
    Context& owner = leased.owner.context;
    const auto peer = owner.core()->endpoint().peer(leased.user.context.id());
    owner.core()->dispatcher().peer_lost(*peer, Status::peer_lost, "as a link's end would say");
    CHECK(leased.bound.reset() == Status::ok);
}

TEST_CASE("a lease is returned by its holder only") {
    const std::string method = method_with_keys("ucx");
    if (method.empty()) SKIP_TEST("no method of this build moves memory by itself");
    Leased leased(method, "100 ms");
    End other(method, {{"progress.thread", "false"}});
    const auto others = leased.owner.reached_by(other);
    const wire::Bytes back = head_of(wire::Kind::lease_return, wire::ReplyHeader{0, 0}); // the first lease
    send_raw(other.context, leased.owner.context, back);
    others.send(note);
    leased.owner.take_notes(2);
    CHECK(leased.bound.reset() == Status::timed_out); // the user may still move bytes there
    send_raw(leased.user.context, leased.owner.context, back);
    leased.far.send(note);
    leased.owner.take_notes(3);
}

} // namespace hostile_test
