// SPDX-License-Identifier: BSD-3-Clause
// Sessions of two contexts over real sockets, without the module around them: how long keys last, and how
// many hellos wait.
#include "udp/sessions.h"

#include "support/bare_host.h"
#include "support/catch.h"

#include <algorithm>
#include <asio/ip/address_v4.hpp>
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

/// One context: a host with the job's key, a socket, and the sessions.
class Party {
  public:
    Party()
      : host_(method_of(plexus_passport))
      , sessions(nullptr, host_.table(), options_, sockets_)
      , room_(kMostPayload) {
        std::string why;
        plexus::stream_link::Interface loopback;
        loopback.address = asio::ip::address_v4::loopback();
        loopback.prefix = 8;
        REQUIRE(sockets_.bind({loopback}, {}, why) == 0);
    }
    const plexus_host& table() const { return host_.table(); }
    const plexus_id& id() const { return host_.id(); }
    Path path() const { return {0, {asio::ip::address_v4::loopback(), sockets_.port()}}; }

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
    Options options_ = options();
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

std::int32_t send(Party& from, Session& session, std::string_view text) {
    const plexus_view pieces[] = {{text.data(), text.size()}};
    return from.sessions.send(session, pieces);
}

} // namespace

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
    BareHost caller(method_of(plexus_passport));
    std::vector<Handshake> dialers;
    std::vector<std::uint32_t> names; // by which b calls the session of each
    constexpr std::uint32_t kHellos = 300;
    Sockets answers;
    std::string why;
    plexus::stream_link::Interface loopback;
    loopback.address = asio::ip::address_v4::loopback();
    loopback.prefix = 8;
    REQUIRE(answers.bind({loopback}, {}, why) == 0);
    const Path from{0, {asio::ip::address_v4::loopback(), answers.port()}};
    for (std::uint32_t i = 1; i <= kHellos; ++i) {
        dialers.push_back(Handshake::connecting(caller.table(), b.id()));
        std::vector<std::uint8_t> hello(Header::kBytes);
        encode({Kind::hello, 0, i}, hello.data());
        const auto record = dialers.back().take_outgoing();
        hello.insert(hello.end(), record.begin(), record.end());
        CHECK(b.sessions.take(from, hello).what == What::nothing);
        std::vector<std::uint8_t> room(kMostPayload);
        asio::ip::udp::endpoint peer;
        std::ptrdiff_t got = -1;
        REQUIRE(eventually(10s, [&] { return (got = answers.receive(0, room, peer)) >= 0; }));
        const auto answer = decode({room.data(), static_cast<std::size_t>(got)});
        REQUIRE(answer);
        CHECK(answer->header.to == i);
        REQUIRE(dialers.back().feed(answer->rest) == PLEXUS_OK);
        names.push_back(static_cast<std::uint32_t>(answer->header.number));
    }
    const auto confirmed = [&](std::size_t which) {
        std::vector<std::uint8_t> confirm(Header::kBytes);
        encode({Kind::confirm, names[which], 0}, confirm.data());
        const auto record = dialers[which].take_outgoing();
        confirm.insert(confirm.end(), record.begin(), record.end());
        return b.sessions.take(from, confirm).what == What::accepted;
    };
    constexpr std::size_t kWait = 256;
    CHECK(!confirmed(0));
    CHECK(!confirmed(kHellos - kWait - 1));
    CHECK(confirmed(kHellos - kWait));
    CHECK(confirmed(kHellos - 1));
}

} // namespace sessions_test
