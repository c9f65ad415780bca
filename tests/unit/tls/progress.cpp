// SPDX-License-Identifier: BSD-3-Clause
// A link goes on whenever the inner method may: no message waits for a callback that nobody owes.
#include "support/catch.h"
#include "support/stream.h"

namespace progress_test {

extern "C" const plexus_passport plexus_passport;

using namespace plexus::testing;

TEST_CASE("large messages go on when the inner link has room again at once") {
    // Blocks that the inner method copies, and an area that holds few: it is full after each of them, and
    // another thread empties it meanwhile.
    const std::map<std::string, std::string> few{
        {"over", "shm"}, {"shm.area", "1 MiB"}, {"shm.eager", "256 KiB"}};
    Pair pair(method_of(plexus_passport), {{}, {1, 2, 3}, few}, {{}, {1, 2, 3}, few});
    constexpr std::uint64_t kMessages = kSanitized ? 40 : 400;
    const SizeOf size_of = always(3'000'000);
    Receiver at_b(pair.b, size_of);
    Stream stream(*pair.to_b, size_of, kMessages);
    {
        const Poller b(pair.b);
        CHECK(pump({&pair.a}, 30s, [&] {
            stream.step();
            return at_b.received() == kMessages;
        }));
    }
    CHECK(at_b.fault() == "");
}

TEST_CASE("a link that is given up still sends what it had accepted") {
    const std::string over = GENERATE("", "tcp", "shm"); // nothing: connections of its own
    CAPTURE(over);
    Pair pair(method_of(plexus_passport), with({{"over", over}}), with({{"over", over}}));
    const auto message = std::make_shared<Bytes>(std::size_t{8} << 20, std::byte{7});
    REQUIRE(pair.a.send(*pair.to_b, message, 24, 2) == PLEXUS_POSTED);
    pair.a.disconnect(*pair.to_b);
    CHECK(pair.pump(10s, [&] { return pair.to_a->received() == 1 || pair.to_a->is_lost(); }));
    REQUIRE(pair.to_a->received() == 1);    // the end of the link may have come in the same turn
    CHECK((pair.to_a->take() == *message)); // not printed
    CHECK(pair.pump(10s, [&] { return pair.to_b->completed() == 1; }));
}

TEST_CASE("each block of a message that is not whole yet is a sign of it") {
    // The inner method hands over whole blocks, and has no sign of its own.
    const BareOptions over_local = with({{"over", "local"}});
    Pair pair(method_of(plexus_passport), over_local, over_local);
    const auto small = std::make_shared<Bytes>(1000, std::byte{7});
    const auto large = std::make_shared<Bytes>(std::size_t{8} << 20, std::byte{7});
    REQUIRE(pair.a.push(*pair.to_b, small));
    REQUIRE(pair.pump(10s, [&] { return pair.to_a->received() == 1; }));
    CHECK(pair.to_a->arriving() == 0);
    REQUIRE(pair.a.push(*pair.to_b, large));
    REQUIRE(pair.pump(10s, [&] { return pair.to_a->received() == 2; }));
    CHECK(pair.to_a->arriving() > 0);
}

} // namespace progress_test
