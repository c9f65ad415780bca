// SPDX-License-Identifier: BSD-3-Clause
// A member of the job that holds the key and sends what it likes: it speaks the inner method alone.
#include "support/bare_host.h"
#include "support/catch.h"
#include "support/log_guard.h"

#include <cstring>

namespace hostile_test {

extern "C" const plexus_passport plexus_passport;

using namespace plexus::testing;

namespace {

const BareOptions kByKey{{}, {1, 2, 3}, {{"over", "tcp"}, {"handshake_timeout", "300 ms"}}};

/// A victim over tcp, and somebody who speaks tcp to it.
struct Attack {
    Attack()
      : victim(method_of(plexus_passport), kByKey)
      , villain(find_method("tcp")) {
        Bytes inner = victim.descriptor();
        inner.erase(inner.begin(), inner.begin() + 4); // "tcp" and a zero byte
        to_victim = villain.connect(inner, victim.id());
        if (to_victim == nullptr || !pump({&victim, &villain}, 10s, [&] { return to_victim->is_open(); }))
            throw std::runtime_error("no link to the victim");
    }
    /// The victim has dropped the link, and its host never heard of it.
    bool is_dropped() {
        return pump({&victim, &villain}, 10s, [&] { return to_victim->is_lost(); }) &&
               victim.incoming_count() == 0;
    }

    BareHost victim;
    BareHost villain;
    End* to_victim = nullptr;
};

} // namespace

TEST_CASE("what is no TLS gets no link, small or large") {
    const auto expected = expect_warning("no TLS with peer");
    const std::size_t size = GENERATE(std::size_t{5}, std::size_t{3000}, std::size_t{200'000});
    CAPTURE(size);
    Attack attack;
    const auto junk = std::make_shared<Bytes>(size, std::byte{0x41});
    attack.villain.push(*attack.to_victim, junk);
    CHECK(attack.is_dropped());
    CHECK(expected.count() == 1);
}

TEST_CASE("a block larger than any of the method is not taken into memory") {
    Attack attack;
    attack.villain.push(*attack.to_victim, std::make_shared<Bytes>(std::size_t{64} << 20));
    CHECK(attack.is_dropped());
}

TEST_CASE("who says nothing is dropped after handshake_timeout") {
    const auto expected = expect_warning("the handshake took longer than handshake_timeout");
    Attack attack;
    CHECK(attack.is_dropped());
    CHECK(expected.count() == 1);
}

TEST_CASE("who is answered by nothing is told after handshake_timeout") {
    BareHost caller(method_of(plexus_passport), kByKey);
    BareHost mute(find_method("tcp"));
    Bytes outer = mute.descriptor();
    const char prefix[] = "tcp";
    outer.insert(outer.begin(), reinterpret_cast<const std::byte*>(prefix),
                 reinterpret_cast<const std::byte*>(prefix) + sizeof prefix);
    End* const end = caller.connect(outer, mute.id());
    REQUIRE(end != nullptr);
    CHECK(pump({&caller, &mute}, 10s, [&] { return end->is_lost(); }));
    CHECK_FALSE(end->is_opened());
    CHECK(end->lost_why().find("the handshake took longer than handshake_timeout") != std::string::npos);
}

} // namespace hostile_test
