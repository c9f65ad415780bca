// SPDX-License-Identifier: BSD-3-Clause
// Sessions of contexts over real sockets, without the module around them: who answers a dial, what is sent
// again, what keeps a session and what ends it, how long keys last, how many hellos wait, and how much one
// turn looks at.
#include "udp/sessions.h"

#include "support/bare_host.h"
#include "support/catch.h"

#include <algorithm>
#include <asio/ip/address_v4.hpp>
#include <set>
#include <span>
#include <string>

extern "C" const plexus_passport plexus_passport;

namespace sessions_test {

using namespace plexus::testing;
using namespace plexus::udp;
using plexus::module::Handshake;
using What = Event::What;

namespace {

Options options() {
    Options made;
    made.where.connect_timeout = 5s;
    made.keep_alive = 1s;
    made.silence = 5s;
    return made;
}

Options options_with_idle(std::chrono::nanoseconds idle) {
    Options made = options();
    made.idle = idle;
    return made;
}

void bind_to_loopback(Sockets& sockets) {
    std::string why;
    plexus::stream_link::Interface loopback;
    loopback.address = asio::ip::address_v4::loopback();
    loopback.prefix = 8;
    REQUIRE(sockets.bind({loopback}, {}, why) == 0);
}

Path path_of(const Sockets& sockets) { return {0, {asio::ip::address_v4::loopback(), sockets.port()}}; }

std::vector<std::uint8_t> datagram_of(const Header& header, std::span<const std::uint8_t> record) {
    std::vector<std::uint8_t> bytes(Header::kBytes);
    encode(header, bytes.data());
    bytes.insert(bytes.end(), record.begin(), record.end());
    return bytes;
}

/// Somebody with the job's key and a socket, who writes hellos by hand.
class Caller {
  public:
    Caller()
      : host_(method_of(plexus_passport)) {
        bind_to_loopback(socket_);
    }
    const plexus_host& table() const { return host_.table(); }
    Path path() const { return path_of(socket_); }
    std::vector<std::uint8_t> receive() const {
        std::vector<std::uint8_t> room(kMostPayload);
        asio::ip::udp::endpoint peer;
        std::ptrdiff_t got = -1;
        REQUIRE(eventually(10s, [&] { return (got = socket_.receive(0, room, peer)) >= 0; }));
        room.resize(static_cast<std::size_t>(got));
        return room;
    }

  private:
    BareHost host_;
    Sockets socket_;
};

/// One context: a host with the job's key, a socket, and the sessions.
class Party {
  public:
    explicit Party(const Options& options = sessions_test::options())
      : host_(method_of(plexus_passport))
      , options_(options)
      , sessions(nullptr, host_.table(), options_, sockets_)
      , room_(kMostPayload) {
        bind_to_loopback(sockets_);
    }
    const plexus_id& id() const { return host_.id(); }
    Path path() const { return path_of(sockets_); }

    /// Takes what has come, up to the first thing that the host would hear.
    Event take() {
        for (;;) {
            Path from{0, {}};
            const auto got = sockets_.receive(0, room_, from.peer);
            if (got < 0) return {};
            last.assign(room_.begin(), room_.begin() + got);
            Event event = sessions.take(from, last);
            if (event.what == What::accepted) {
                event.session->cookie = this;
                sessions.greet(*event.session);
            }
            if (event.what != What::nothing) return event;
        }
    }
    bool hears(What what) {
        return eventually(10s, [&] { return take().what == what; });
    }

  private:
    BareHost host_;
    const Options options_;
    Sockets sockets_;

  public:
    Sessions sessions;
    std::vector<std::uint8_t> last; ///< the datagram that came last

  private:
    std::vector<std::uint8_t> room_;
};

/// The ends of a session that `a` has dialled: at a, and at b.
std::pair<Session*, Session*> opened(Party& a, Party& b) {
    Session& dialed = a.sessions.dial(b.id(), {b.path()}, &a);
    Session* accepted = nullptr;
    REQUIRE(eventually(10s, [&] {
        if (const Event event = b.take(); event.what == What::accepted) accepted = event.session;
        return a.take().what == What::opened;
    }));
    REQUIRE(accepted != nullptr);
    return {&dialed, accepted};
}

/// The end at b of a session that `a` has dialled and confirmed, and does not know to be open yet.
Session& half_open(Party& a, Party& b) {
    const Session& dialed = a.sessions.dial(b.id(), {b.path()}, &a);
    Session* accepted = nullptr;
    REQUIRE(eventually(10s, [&] {
        if (const Event event = b.take(); event.what == What::accepted) accepted = event.session;
        if (accepted == nullptr) (void)a.take();
        return accepted != nullptr;
    }));
    REQUIRE(dialed.state == Session::State::confirming);
    return *accepted;
}

/// What b would send to the dialling side, by a number that it has not used yet.
std::vector<std::uint8_t> sealed_by(Session& accepted, Content what, std::string_view text) {
    constexpr std::uint64_t kNumber = 100;
    std::vector<std::uint8_t> bytes(text.size() + kOverhead);
    const plexus_view pieces[] = {{text.data(), text.size()}};
    REQUIRE(accepted.keys->seal.seal({Kind::sealed, accepted.theirs, kNumber}, what, pieces, bytes.data()));
    return bytes;
}

std::int32_t send(Party& from, Session& session, std::string_view text) {
    const plexus_view pieces[] = {{text.data(), text.size()}};
    return from.sessions.send(session, pieces);
}

/// Without header and tag.
std::vector<std::uint8_t> sealed_in(const std::vector<std::uint8_t>& datagram) {
    return {datagram.begin() + Header::kBytes, datagram.end() - kTagBytes};
}

} // namespace

TEST_CASE("where another context answers at one of several addresses, the others are tried on") {
    Party a;
    Party b;
    Party other;
    const Session& dialed = a.sessions.dial(b.id(), {other.path(), b.path()}, &a);
    REQUIRE(eventually(10s, [&] {
        (void)other.take();
        CHECK(a.take().what == What::nothing);
        return dialed.paths.size() == 1;
    }));
    const std::vector<std::uint8_t> answer = a.last;
    CHECK(a.sessions.take(other.path(), answer).what == What::nothing); // again
    CHECK(dialed.paths == std::vector<Path>{b.path()});
    CHECK(eventually(10s, [&] {
        (void)b.take();
        return a.take().what == What::opened;
    }));
}

TEST_CASE("a dial ends when other contexts have answered at all addresses, and names them") {
    Party a;
    Party one;
    Party two;
    (void)a.sessions.dial(random_id(), {one.path(), two.path()}, &a);
    Event event;
    REQUIRE(eventually(10s, [&] {
        (void)one.take();
        (void)two.take();
        event = a.take();
        return event.what == What::lost;
    }));
    CHECK(event.status == PLEXUS_WRONG_PEER);
    for (const Party* party : {&one, &two}) {
        const std::string address = "127.0.0.1:" + std::to_string(party->path().peer.port());
        CHECK(event.why.find(address + " belongs to another context") != std::string::npos);
    }
}

TEST_CASE("content of an unknown kind is refused, and opens no session") {
    Party a;
    Party b;
    const auto unknown = sealed_by(half_open(a, b), static_cast<Content>(9), {});
    const std::uint64_t before = a.sessions.refused();
    CHECK(a.sessions.take(b.path(), unknown).what == What::nothing);
    CHECK(a.sessions.refused() == before + 1);
    CHECK(a.sessions.open() == 0);
    CHECK(a.hears(What::opened));
}

TEST_CASE("a message that overtakes the greeting opens its session, and is told as well") {
    constexpr std::string_view kText = "early";
    Party a;
    Party b;
    const auto early = sealed_by(half_open(a, b), Content::message, kText);
    const Event event = a.sessions.take(b.path(), early);
    CHECK(event.what == What::opened);
    REQUIRE(event.also_message);
    CHECK(std::string_view(static_cast<const char*>(event.message.data), event.message.size) == kText);
    CHECK(a.sessions.open() == 1);
}

TEST_CASE("a hello that nobody answers is sent again, each time after a longer pause") {
    Party a;
    const Caller silent;
    const Session& dialed = a.sessions.dial(random_id(), {silent.path()}, &a);
    const auto hello = silent.receive();
    std::vector<Event> events;
    for (int i = 0; i < 3; ++i) {
        const Clock::duration before = dialed.times.pause;
        a.sessions.run(a.sessions.next(), events);
        CHECK(silent.receive() == hello);
        CHECK(dialed.times.pause > before);
    }
    CHECK(events.empty());
}

TEST_CASE("a hello that is played again from elsewhere is answered to nobody") {
    Party b;
    const Caller caller;
    const Caller elsewhere;
    const auto hello = [&](std::uint32_t name) {
        return datagram_of({Kind::hello, 0, name},
                           Handshake::connecting(caller.table(), b.id()).take_outgoing());
    };
    const auto first = hello(1);
    (void)b.sessions.take(caller.path(), first);
    (void)b.sessions.take(elsewhere.path(), first);
    (void)b.sessions.take(caller.path(), hello(2));
    for (const std::uint32_t name : {1U, 2U}) {
        const auto bytes = caller.receive();
        const auto answer = decode(bytes);
        REQUIRE(answer);
        CHECK(answer->header.to == name);
    }
}

TEST_CASE("a forged confirm ends no exchange, and a genuine one that comes again is answered") {
    Party b;
    const Caller caller;
    Handshake dialer = Handshake::connecting(caller.table(), b.id());
    (void)b.sessions.take(caller.path(), datagram_of({Kind::hello, 0, 1}, dialer.take_outgoing()));
    const auto bytes = caller.receive();
    const auto answer = decode(bytes);
    REQUIRE(answer);
    REQUIRE(dialer.feed(answer->rest) == PLEXUS_OK);
    const auto name = static_cast<std::uint32_t>(answer->header.number);
    const auto confirm = datagram_of({Kind::confirm, name, 0}, dialer.take_outgoing());
    auto forged = confirm;
    forged.back() ^= 1;
    CHECK(b.sessions.take(caller.path(), forged).what == What::nothing);
    CHECK(b.sessions.refused() == 1);
    const Event event = b.sessions.take(caller.path(), confirm);
    REQUIRE(event.what == What::accepted);
    // The greeting is lost.
    CHECK(b.sessions.take(caller.path(), forged).what == What::nothing);
    CHECK(event.session->keys->sent == 0);
    CHECK(b.sessions.take(caller.path(), confirm).what == What::nothing);
    CHECK(event.session->keys->sent == 1);
    CHECK(caller.receive()[0] == static_cast<std::uint8_t>(Kind::sealed));
}

TEST_CASE("what comes keeps a session, and one that is quiet says that it is there") {
    Party a;
    Party b;
    const auto ends = opened(a, b);
    const auto long_ago = Clock::now() - 1h;
    ends.first->times.heard = ends.second->times.heard = long_ago;
    REQUIRE(send(b, *ends.second, "a reading") == PLEXUS_OK);
    REQUIRE(a.hears(What::message));
    std::vector<Event> events;
    a.sessions.run(a.sessions.next(), events); // nothing was sent for so long
    CHECK(events.empty());
    CHECK(eventually(10s, [&] {
        (void)b.take();
        return ends.second->times.heard > long_ago;
    }));
}

TEST_CASE("the peer is told when its session is given up, and when all are ended") {
    const bool all = GENERATE(false, true);
    CAPTURE(all);
    Party a;
    Party b;
    Session& at_a = *opened(a, b).first;
    if (all)
        a.sessions.end_all(true);
    else
        a.sessions.give_up(at_a);
    CHECK(b.hears(What::lost));
}

TEST_CASE("a message is as large as the path carries, and not a byte larger") {
    constexpr std::size_t kMost = 1'000;
    Party a;
    Party b;
    Session& at_a = *opened(a, b).first;
    at_a.most = kMost;
    CHECK(send(a, at_a, std::string(kMost, 'x')) == PLEXUS_OK);
    CHECK(send(a, at_a, std::string(kMost + 1, 'x')) == PLEXUS_TOO_LARGE);
}

TEST_CASE("the same bytes by the same number are sealed to others in each direction") {
    constexpr std::string_view kText = "the same bytes";
    Party a;
    Party b;
    const auto ends = opened(a, b);
    ends.first->keys->sent = ends.second->keys->sent = 100;
    REQUIRE(send(a, *ends.first, kText) == PLEXUS_OK);
    REQUIRE(send(b, *ends.second, kText) == PLEXUS_OK);
    REQUIRE(b.hears(What::message));
    REQUIRE(a.hears(What::message));
    CHECK(decode(a.last)->header.number == decode(b.last)->header.number);
    CHECK(sealed_in(a.last) != sealed_in(b.last));
}

TEST_CASE("a hello that comes again gets the same answer, and another one when its session has ended") {
    Party b;
    const Caller caller;
    const auto record = Handshake::connecting(caller.table(), b.id()).take_outgoing();
    const auto hello = datagram_of({Kind::hello, 0, 1}, record);
    const auto answer = [&] {
        CHECK(b.sessions.take(caller.path(), hello).what == What::nothing);
        return caller.receive();
    };
    const auto first = answer();
    CHECK(answer() == first);
    std::vector<Event> events;
    b.sessions.run(Clock::now() + 10s, events); // later than connect_timeout
    CHECK(events.empty());
    b.sessions.bury();
    CHECK(answer() != first);
}

TEST_CASE("one turn looks at some of the sessions that are due, and a few turns at all of them, once each") {
    Party a;
    const Caller silent;
    constexpr std::size_t kMany = 400;
    for (std::size_t i = 0; i < kMany; ++i) (void)a.sessions.dial(random_id(), {silent.path()}, &a);
    const auto late = Clock::now() + 1h; // all are due
    std::vector<Event> events;
    for (std::size_t seen = 0; seen < kMany;) {
        CHECK(a.sessions.next() <= late);
        a.sessions.run(late, events);
        seen = std::min(seen + Sessions::kMostRun, kMany);
        REQUIRE(events.size() == seen);
    }
    std::set<const Session*> ended;
    for (const Event& event : events) ended.insert(event.session);
    CHECK(ended.size() == kMany);
    CHECK(a.sessions.next() == Clock::time_point::max());
}

TEST_CASE("a session that was given up is due no more") {
    Party a;
    const Caller silent;
    for (int i = 0; i < 3; ++i) a.sessions.give_up(a.sessions.dial(random_id(), {silent.path()}, &a));
    CHECK(a.sessions.next() == Clock::time_point::max());
    a.sessions.bury();
    std::vector<Event> events;
    a.sessions.run(Clock::now() + 1h, events);
    CHECK(events.empty());
}

TEST_CASE("a session that is idle for too long is due when that time is over") {
    Party a(options_with_idle(1500ms));
    Party b;
    Session& at_a = *opened(a, b).first;
    std::vector<Event> events;
    const auto now = at_a.times.message = Clock::now();
    a.sessions.run(now + 1s, events); // a sign of life is due
    CHECK(events.empty());
    CHECK(a.sessions.next() <= now + 1500ms);
    a.sessions.run(now + 1500ms, events);
    REQUIRE(events.size() == 1);
    CHECK(events[0].why.find("no message for longer than idle") != std::string::npos);
}

TEST_CASE("keys that have sealed as much as they may end their session, and the next one has others") {
    constexpr std::string_view kText = "the same bytes";
    Party a;
    Party b;
    const auto ends = opened(a, b);
    Session* at_a = ends.first;
    const auto arrives = [&] {
        REQUIRE(send(a, *at_a, kText) == PLEXUS_OK);
        REQUIRE(b.hears(What::message));
        return b.last;
    };
    const std::vector<std::uint8_t> first = arrives();
    at_a->keys->blocks = Keys::kMostBlocks - 1;
    (void)arrives();
    CHECK(send(a, *at_a, kText) == PLEXUS_LINK_LOST);
    std::vector<Event> events;
    CHECK(a.sessions.next() <= Clock::now());
    a.sessions.run(Clock::now(), events);
    REQUIRE(events.size() == 1);
    CHECK(events[0].what == What::lost);
    CHECK(events[0].why.find("sealed as much as they may") != std::string::npos);
    CHECK(b.hears(What::lost)); // it was told
    CHECK(ends.second->state == Session::State::over);

    at_a = opened(a, b).first;
    const std::vector<std::uint8_t> second = arrives();
    constexpr std::size_t kNumber = 8; // where it begins in a header
    CHECK(std::equal(first.begin() + kNumber, first.begin() + Header::kBytes, second.begin() + kNumber));
    CHECK(!std::equal(first.begin() + Header::kBytes, first.end(), second.begin() + Header::kBytes));
}

TEST_CASE("each byte that is sealed counts towards the end of the keys") {
    Party a;
    Party b;
    Session* const at_a = opened(a, b).first;
    const std::uint64_t before = at_a->keys->blocks;
    const std::string text(1'000, 'x');
    for (int i = 0; i < 100; ++i) REQUIRE(send(a, *at_a, text) == PLEXUS_OK);
    CHECK(at_a->keys->blocks >= before + 100 * 1'000 / 16);
    CHECK(at_a->keys->sent >= 100);
}

TEST_CASE("of hellos that nobody confirms the last 256 wait, and those before them make room") {
    Party b;
    const Caller caller;
    std::vector<Handshake> dialers;
    std::vector<std::uint32_t> names; // by which b calls the session of each
    constexpr std::uint32_t kHellos = 300;
    for (std::uint32_t i = 1; i <= kHellos; ++i) {
        dialers.push_back(Handshake::connecting(caller.table(), b.id()));
        const auto hello = datagram_of({Kind::hello, 0, i}, dialers.back().take_outgoing());
        CHECK(b.sessions.take(caller.path(), hello).what == What::nothing);
        const auto bytes = caller.receive();
        const auto answer = decode(bytes);
        REQUIRE(answer);
        CHECK(answer->header.to == i);
        REQUIRE(dialers.back().feed(answer->rest) == PLEXUS_OK);
        names.push_back(static_cast<std::uint32_t>(answer->header.number));
    }
    const auto confirmed = [&](std::size_t which) {
        const auto confirm = datagram_of({Kind::confirm, names[which], 0}, dialers[which].take_outgoing());
        return b.sessions.take(caller.path(), confirm).what == What::accepted;
    };
    constexpr std::size_t kWait = 256;
    CHECK(!confirmed(0));
    CHECK(!confirmed(kHellos - kWait - 1));
    CHECK(confirmed(kHellos - kWait));
    CHECK(confirmed(kHellos - 1));
    for (std::uint32_t i = 1; i <= kWait; ++i) { // those that are open are none of these
        Handshake dialer = Handshake::connecting(caller.table(), b.id());
        (void)b.sessions.take(caller.path(),
                              datagram_of({Kind::hello, 0, kHellos + i}, dialer.take_outgoing()));
    }
    CHECK(b.sessions.open() == 2);
}

} // namespace sessions_test
