// SPDX-License-Identifier: BSD-3-Clause
// What an authenticated peer may do to a link: nonsense, half a message, silence.
#include "raw_peer.h"
#include "support/catch.h"

namespace stream_test {

using namespace plexus::testing;

namespace {

struct Fixture {
    Fixture()
      : raw(host) {
        raw.shake_hands(self, host);
        if (!pump({&host}, 5s, [&] { return host.incoming_count() == 1; }))
            throw std::runtime_error("no link");
        end = host.incoming().front();
    }
    bool lost() {
        return pump({&host}, 5s, [&] { return end->is_lost(); });
    }

    BareHost self{tcp()};
    BareHost host{tcp()};
    RawPeer raw;
    End* end = nullptr;
};

} // namespace

TEST_CASE("a frame whose head is longer than heads may be ends the link") {
    Fixture f;
    f.raw.send_word(100, 65);
    REQUIRE(f.lost());
    CHECK(f.end->lost_status() == PLEXUS_LINK_LOST);
    CHECK(f.end->lost_why().find("damaged") != std::string::npos);
}

TEST_CASE("a frame of an absurd length is the host's to refuse, and nothing is allocated for it") {
    Fixture f;
    std::size_t asked = 0;
    f.host.hooks.place = [&](End&, std::size_t rest) {
        asked = rest;
        return std::int32_t{PLEXUS_TOO_LARGE};
    };
    const std::uint64_t huge = (std::uint64_t{1} << 56) - 1;
    f.raw.send_word(huge, 24);
    f.raw.send(Bytes(24 + 100'000));
    REQUIRE(pump({&f.host}, 5s, [&] { return asked != 0; }));
    CHECK(asked == huge - 24);
    for (int i = 0; i < 100; ++i) f.host.poll();
    CHECK_FALSE(f.end->is_lost());
    f.raw.close();
    REQUIRE(f.lost());
    CHECK(f.end->lost_why().find("in the middle of a message") != std::string::npos);
}

TEST_CASE("a peer that dies in mid-message ends what was being placed, then the link") {
    Fixture f;
    f.raw.send_word(1'000'000, 24);
    f.raw.send(Bytes(500'000));
    for (int i = 0; i < 100; ++i) f.host.poll();
    f.raw.close();
    REQUIRE(f.lost()); // the bare host checks that `placed` came before
    CHECK(f.end->received() == 0);
}

TEST_CASE("half a small frame and silence hold up nobody else") {
    Fixture f;
    f.raw.send_word(100, 24);
    f.raw.send(Bytes(30));
    BareHost peer(tcp());
    End* far = nullptr;
    End* near = link_up(peer, f.host, &far);
    REQUIRE(near != nullptr);
    REQUIRE(peer.send(*near, std::make_shared<const Bytes>(40), 24, 2) == PLEXUS_OK);
    REQUIRE(pump({&f.host}, 5s, [&] { return far->received() == 1; }));
    f.raw.send(Bytes(70 + 4)); // the rest and its padding
    REQUIRE(pump({&f.host}, 5s, [&] { return f.end->received() == 1; }));
    CHECK(f.end->take()->size() == 100);
}

TEST_CASE("frames that arrive byte by byte are whole messages") {
    Fixture f;
    Bytes stream;
    for (const std::size_t size : {0u, 1u, 8u, 17u}) {
        stream.push_back(static_cast<std::byte>(size));
        stream.insert(stream.end(), 7, std::byte{0});
        stream.insert(stream.end(), size + (8 - size % 8) % 8, std::byte{7});
    }
    for (const std::byte byte : stream) {
        f.raw.send(std::span(&byte, 1));
        f.host.poll();
    }
    REQUIRE(pump({&f.host}, 5s, [&] { return f.end->received() == 4; }));
    for (const std::size_t size : {0u, 1u, 8u, 17u}) CHECK(f.end->take() == Bytes(size, std::byte{7}));
}

TEST_CASE("max_message is kept on both sides") {
    BareOptions limited;
    limited.settings = {{"max_message", "64 KiB"}};
    Pair pair(tcp(), limited, limited);
    CHECK(pair.a.query(PLEXUS_QUERY_MAX_MESSAGE) == 65'536);
    const auto fits = std::make_shared<const Bytes>(65'536);
    CHECK(pair.a.send(*pair.to_b, fits, 24, 2) != PLEXUS_TOO_LARGE);
    CHECK(pair.a.send(*pair.to_b, std::make_shared<const Bytes>(65'537), 24, 2) == PLEXUS_TOO_LARGE);
    REQUIRE(pair.pump(5s, [&] { return pair.to_a->received() == 1; }));

    BareHost self(tcp());
    RawPeer raw(pair.b);
    raw.shake_hands(self, pair.b);
    REQUIRE(pump({&pair.b}, 5s, [&] { return pair.b.incoming_count() == 2; }));
    End* end = pair.b.incoming().back();
    raw.send_word(65'537, 24);
    REQUIRE(pump({&pair.b}, 5s, [&] { return end->is_lost(); }));
    CHECK(end->lost_why().find("max_message") != std::string::npos);
}

TEST_CASE("a message that only the other side finds too large is refused before it is sent") {
    BareOptions limited;
    limited.settings = {{"max_message", "64 KiB"}};
    Pair pair(tcp(), {}, limited);
    CHECK(pair.a.query(PLEXUS_QUERY_MAX_MESSAGE) == 0);
    CHECK(pair.a.query(PLEXUS_QUERY_MAX_MESSAGE, pair.to_b) == 65'536);
    CHECK(pair.b.query(PLEXUS_QUERY_MAX_MESSAGE, pair.to_a) == 65'536);
    CHECK(pair.a.send(*pair.to_b, std::make_shared<const Bytes>(65'537), 24, 2) == PLEXUS_TOO_LARGE);
    CHECK(pair.a.send(*pair.to_b, std::make_shared<const Bytes>(65'536), 24, 2) != PLEXUS_TOO_LARGE);
    CHECK(pair.pump(5s, [&] { return pair.to_a->received() == 1; }));
    CHECK(pair.to_b->is_open());

    End* in = nullptr;
    End* out = link_up(pair.b, pair.a, &in); // the limited side connects
    REQUIRE(out != nullptr);
    CHECK(pair.a.query(PLEXUS_QUERY_MAX_MESSAGE, in) == 65'536);
    CHECK(pair.a.send(*in, std::make_shared<const Bytes>(65'537), 24, 2) == PLEXUS_TOO_LARGE);
}

TEST_CASE("socket parameters change while a link runs, others do not") {
    Pair pair(tcp());
    std::string why;
    CHECK(pair.a.set(*pair.to_b, "sndbuf", "1 MiB") == PLEXUS_OK);
    CHECK(pair.a.set(*pair.to_b, "nodelay", "false") == PLEXUS_OK);
    CHECK(pair.a.set(*pair.to_b, "nodelay", "perhaps", &why) == PLEXUS_BAD_ARGUMENT);
    CHECK(pair.a.set(*pair.to_b, "rcvbuf", "a lot", &why) == PLEXUS_BAD_ARGUMENT);
    CHECK(pair.a.set(*pair.to_b, "sndbuf", "0", &why) ==
          PLEXUS_BAD_ARGUMENT); // the system's own can't come back
    CHECK(pair.a.set(*pair.to_b, "port", "1", &why) == PLEXUS_UNSUPPORTED);
    CHECK(why.find("starts") != std::string::npos);
    CHECK(pair.a.set(*pair.to_b, "colour", "red", &why) == PLEXUS_BAD_ARGUMENT);
    REQUIRE(pair.a.send(*pair.to_b, std::make_shared<const Bytes>(40), 24, 2) == PLEXUS_OK);
    CHECK(pair.pump(5s, [&] { return pair.to_a->received() == 1; }));
}

TEST_CASE("what follows a refused message of an odd size is aligned") {
    Pair pair(tcp());
    pair.b.hooks.place = [](End&, std::size_t) { return std::int32_t{PLEXUS_TOO_LARGE}; };
    for (std::size_t odd = 0; odd < 8; ++odd) {
        const std::uint64_t before = pair.to_a->received();
        const auto large = std::make_shared<const Bytes>(300'001 + odd);
        REQUIRE(pair.a.send(*pair.to_b, large, 24, 2) != PLEXUS_AGAIN);
        REQUIRE(pair.pump(5s, [&] {
            return pair.a.send(*pair.to_b, std::make_shared<const Bytes>(33), 24, 2) != PLEXUS_AGAIN;
        }));
        REQUIRE(pair.pump(5s, [&] { return pair.to_a->received() > before; }));
    }
}

} // namespace stream_test
