// SPDX-License-Identifier: BSD-3-Clause
// The parts under a worker, each alone: what is taken for a message, memory of operations, the socket by
// which the end of a context is seen, and what UCX says.
#include "support/catch.h"
#include "ucx.h"

#include "ucx/inbox.h"
#include "ucx/liveness_socket.h"
#include "ucx/op_pool.h"
#include "ucx/trace.h"

#include <cerrno>
#include <set>

namespace parts_test {

using namespace plexus::testing;
using namespace plexus::ucx;
using plexus::message_link::Header;
using plexus::message_link::kHeaderBytes;
using plexus::message_link::Kind;

namespace {

/// A header and so many bytes behind it, which begin `skip` bytes into a place that is 8-byte aligned.
struct Sent {
    alignas(8) std::array<std::byte, 8192> room{};
    std::byte* start;

    explicit Sent(Kind kind, std::size_t skip = 0)
      : start(room.data() + skip) {
        Header header;
        header.kind = kind;
        header.write(start);
        for (std::size_t at = kHeaderBytes; at + skip < room.size(); ++at)
            start[at] = static_cast<std::byte>(at % 251);
    }
    bool is_body(const std::byte* body, std::size_t size) const {
        return std::equal(body, body + size, start + kHeaderBytes);
    }
};

ucs_status_t take(Inbox& inbox, Sent& sent, std::size_t size, std::uint64_t attributes = 0) {
    ucp_am_recv_param_t about{};
    about.recv_attr = attributes;
    return Inbox::take(&inbox, nullptr, 0, sent.start, size, &about);
}

/// With the header and `head` bytes of its own, and a rest.
ucs_status_t take_carried(Inbox& inbox, Sent& head, std::size_t head_size, Sent& rest, std::size_t size) {
    ucp_am_recv_param_t about{};
    return Inbox::take(&inbox, head.start, head_size, rest.start, size, &about);
}

} // namespace

TEST_CASE("what is no message of the method is not kept") {
    Inbox inbox(4096);
    Sent message(Kind::message);
    Sent carried(Kind::carried);
    Sent hello(Kind::hello);
    CHECK(take(inbox, message, kHeaderBytes - 1) == UCS_OK);
    CHECK(take(inbox, message, 0) == UCS_OK);
    CHECK(take(inbox, message, 4096, UCP_AM_RECV_ATTR_FLAG_RNDV) == UCS_OK);
    CHECK(take(inbox, carried, 100) == UCS_OK);
    CHECK(take(inbox, hello, 2049) == UCS_OK);
    CHECK(take_carried(inbox, carried, kHeaderBytes - 1, message, 100) == UCS_OK);
    CHECK(take_carried(inbox, carried, kHeaderBytes + PLEXUS_HEAD_MAX + 1, message, 100) == UCS_OK);
    CHECK(take_carried(inbox, carried, kHeaderBytes + 8, message, 0) == UCS_OK);
    CHECK(take_carried(inbox, message, kHeaderBytes + 8, message, 100) == UCS_OK);
    CHECK(inbox.is_empty());
    CHECK(inbox.next() == nullptr);
}

TEST_CASE("messages are kept whole and in order, wherever they are put") {
    Inbox inbox(1024);
    Sent sent(Kind::message);
    for (int round = 0; round < 3; ++round) {
        for (const std::size_t size :
             {0U, 1U, 64U, 65U, 1024U, 1025U, 4000U}) { // in place, a block, the heap
            CAPTURE(round, size);
            CHECK(take(inbox, sent, kHeaderBytes + size) == UCS_OK);
            CHECK(take(inbox, sent, kHeaderBytes) == UCS_OK);
            Arrival* const first = inbox.next();
            Arrival* const second = inbox.next();
            REQUIRE(first != nullptr);
            REQUIRE(second != nullptr);
            CHECK(inbox.is_empty());
            CHECK(first->header.kind == Kind::message);
            REQUIRE(first->size == size);
            CHECK(sent.is_body(first->body, size));
            CHECK(second->size == 0);
            inbox.release(*first);
            inbox.release(*second);
            inbox.flush(nullptr);
        }
    }
}

TEST_CASE("memory of UCX is kept where it is aligned, and copied elsewhere") {
    Inbox inbox(4096);
    for (const std::size_t skip : {0U, 4U}) {
        CAPTURE(skip);
        Sent sent(Kind::message, skip);
        const ucs_status_t status = take(inbox, sent, kHeaderBytes + 2000, UCP_AM_RECV_ATTR_FLAG_DATA);
        CHECK(status == (skip == 0 ? UCS_INPROGRESS : UCS_OK));
        Arrival* const arrival = inbox.next();
        REQUIRE(arrival != nullptr);
        CHECK(reinterpret_cast<std::uintptr_t>(arrival->body) % 8 == 0);
        REQUIRE(arrival->size == 2000);
        CHECK(sent.is_body(arrival->body, 2000));
        inbox.release(*arrival);
        inbox.flush(nullptr);
    }
}

TEST_CASE("a carried message has its head as body, and its rest beside it") {
    Inbox inbox(4096);
    Sent head(Kind::carried);
    Sent rest(Kind::message);
    CHECK(take_carried(inbox, head, kHeaderBytes + PLEXUS_HEAD_MAX, rest, 300) == UCS_OK);
    Arrival* const arrival = inbox.next();
    REQUIRE(arrival != nullptr);
    CHECK(arrival->size == PLEXUS_HEAD_MAX);
    CHECK(head.is_body(arrival->body, PLEXUS_HEAD_MAX));
    CHECK(arrival->rest == 300);
    REQUIRE(arrival->data != nullptr);
    CHECK(std::equal(arrival->data, arrival->data + 300, rest.start));
    inbox.release(*arrival);
    inbox.flush(nullptr);
}

TEST_CASE("an operation has room for what it was taken for, and nothing of the one before it") {
    OpPool ops(4096);
    std::set<Op*> taken;
    for (const std::size_t bytes : {0U, 256U, 257U, 4096U, 4097U, 10'000U, 300U, 4096U, 1U}) {
        CAPTURE(bytes);
        Op& op = ops.take(Op::What::move, bytes);
        CHECK(op.room >= bytes);
        CHECK(op.size == bytes);
        CHECK_FALSE(op.failed);
        CHECK(op.awaited == 0);
        CHECK(op.token == nullptr);
        CHECK(ops.taken() == 1);
        op.failed = true;
        op.awaited = 2;
        op.token = &op;
        ops.give_back(op);
        CHECK(ops.taken() == 0);
    }
}

TEST_CASE("the end of a context is seen by who is connected, and by who comes later") {
    BareHost host(ucx(), with({{"tls", "tcp"}}));
    LivenessSocket socket;
    LivenessSocket other;
    REQUIRE(socket.open(host.table()) == 0);
    REQUIRE(other.open(host.table()) == 0);
    CHECK(socket.name() != LivenessName{});
    CHECK(socket.name() != other.name());
    const auto early = connect_liveness(socket.name());
    REQUIRE(early);
    CHECK_FALSE(has_hung_up(early.get()));
    socket.close();
    CHECK(has_hung_up(early.get()));
    errno = 0;
    CHECK_FALSE(connect_liveness(socket.name()));
    CHECK(errno == ECONNREFUSED);
    CHECK(connect_liveness(other.name()));
}

TEST_CASE("of what UCX says the first sixteen lines are kept") {
    Trace trace;
    CHECK(trace.empty());
    trace.add("a");
    trace.add("b");
    CHECK(trace.text() == "a; b");
    for (int more = 0; more < 20; ++more) trace.add("c");
    CHECK(trace.lines().size() == 16);
}

TEST_CASE("what UCX says goes to the innermost that listens, then to the one around it") {
    const TraceUse use;
    { const TraceUse another; } // while one is in use the handler stays
    const auto complain = [] {
        ucp_config_t* config = nullptr;
        REQUIRE(::ucp_config_read(nullptr, nullptr, &config) == UCS_OK);
        CHECK(::ucp_config_modify(config, "RNDV_THRESH", "much") != UCS_OK);
        ::ucp_config_release(config);
    };
    Trace outer;
    {
        Trace inner;
        complain();
        CHECK_FALSE(inner.empty());
        CHECK(outer.empty());
    }
    complain();
    CHECK_FALSE(outer.empty());
}

} // namespace parts_test
