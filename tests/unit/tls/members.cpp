// SPDX-License-Identifier: BSD-3-Clause
// Members of the job that break the protocol on connections of the method's own: what a context still does.
#include "common/frames.h"
#include "guest.h"
#include "support/catch.h"
#include "support/log_guard.h"

#include <optional>

namespace members_test {

extern "C" const plexus_passport plexus_passport;

using namespace plexus::testing;
using plexus::tls::Block;

namespace {

const BareOptions kByKey{{}, {1, 2, 3}, {{"listen", "127.0.0.1"}}};

/// A host, and a member with a link to it.
struct Fixture {
    explicit Fixture(std::uint64_t most = 0, const BareOptions& options = kByKey)
      : host(method_of(plexus_passport), options) {
        guest.emplace(plexus_passport, host, most);
        guest->greet(host);
        end = host.incoming().front();
        host.hooks.place = [this](End&, std::size_t rest) {
            asked = rest;
            return std::int32_t{PLEXUS_OK};
        };
    }
    bool is_lost() {
        return pump({&host}, 5s, [&] { return end->is_lost(); });
    }
    /// The first record of a message of this size.
    Block begun(std::size_t size) {
        std::vector<std::byte> plain(plexus::tls::Engine::kRecord);
        plexus::module::write_frame_word(plain.data(), size, 24);
        return guest->sealed(plain);
    }

    BareHost host;
    std::optional<Guest> guest;
    End* end = nullptr;
    std::optional<std::size_t> asked; ///< the host was asked for a place for so much
};

} // namespace

TEST_CASE("a record that is sent again breaks the link, and its message comes once") {
    Fixture f;
    const Block message = f.guest->sealed_message(100);
    f.guest->send(message);
    CHECK(pump({&f.host}, 5s, [&] { return f.end->received() == 1; }));
    f.guest->send(message);
    CHECK(f.is_lost());
    CHECK(f.end->lost_why().find("decryption failed or bad record mac") != std::string::npos);
    CHECK(f.end->received() == 1);
}

TEST_CASE("a message of another size than its word says, and bytes that are no record, break the link") {
    Fixture f;
    std::string why;
    SECTION("another size") {
        const std::vector<std::byte> nonsense(40, std::byte{1});
        f.guest->send(f.guest->sealed(nonsense));
        why = "makes no sense";
    }
    SECTION("no record") {
        f.guest->send(Block(100, std::byte{0x5a}));
        why = "what arrives is no record of TLS";
    }
    CHECK(f.is_lost());
    CHECK(f.end->lost_why().find(why) != std::string::npos);
    CHECK(f.end->received() == 0);
}

TEST_CASE("a message larger than this side takes breaks the link before there is a place for it") {
    Fixture f(0, {{}, {1, 2, 3}, {{"listen", "127.0.0.1"}, {"max_message", "100000"}}});
    f.guest->send(f.begun(100'001));
    CHECK(f.is_lost());
    CHECK(f.end->lost_why().find("makes no sense") != std::string::npos);
    CHECK_FALSE(f.asked);
}

TEST_CASE("large messages under way end before the link of a member that goes is lost") {
    Fixture f;
    std::int32_t sent = PLEXUS_OK;
    f.host.hooks.sent = [&](End&, std::int32_t status) { sent = status; };
    f.guest->send(f.begun(1'000'000));
    REQUIRE(pump({&f.host}, 5s, [&] { return f.asked == 1'000'000 - 24; }));
    REQUIRE(f.host.send(*f.end, std::make_shared<Bytes>(std::size_t{64} << 20), 24, 2) == PLEXUS_POSTED);
    f.guest.reset();
    CHECK(f.is_lost()); // the host sees to it that what it was told before ends before
    CHECK(f.end->completed() == 1);
    CHECK(sent == PLEXUS_LINK_LOST);
    CHECK(f.end->received() == 0);
}

TEST_CASE("a peer that says it takes less than a record gets no message that is larger, and nobody hangs") {
    constexpr std::size_t kMost = 16'400; // a record's plain bytes, and not its cost
    Fixture f(kMost);
    const std::int32_t status = f.host.send(*f.end, std::make_shared<Bytes>(kMost - 4), 24, 2);
    CHECK(status == PLEXUS_LINK_LOST);
    CHECK(f.is_lost());
}

TEST_CASE("who sends record after record before it has proved itself has no turn to itself") {
    BareHost host(method_of(plexus_passport), kByKey);
    Guest guest(plexus_passport, host);
    guest.shake_only(host);
    for (int i = 0; i < 100; ++i) { // of a hello of 112 bytes
        const std::byte one{};
        guest.send(guest.sealed(std::span(&one, 1)));
    }
    std::int32_t most = 0;
    std::int32_t all = 0;
    CHECK(eventually(5s, [&] {
        const std::int32_t handled = host.poll();
        most = std::max(most, handled);
        return (all += handled) >= 200; // the head of each record, and the rest
    }));
    CHECK(most <= 40);
    CHECK_FALSE(guest.is_closed());
}

} // namespace members_test
