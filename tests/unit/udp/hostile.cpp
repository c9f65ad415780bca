// SPDX-License-Identifier: BSD-3-Clause
// Datagrams of somebody without the job's key, who sees all that passes: forged, changed, cut, replayed. They
// are counted and dropped, no handler runs, and what is genuine still gets through.
#include "contexts.h"
#include "unit/context/key_file.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace hostile_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::testing::udp;

namespace {

std::uint16_t port_of(const Side& side) {
    const DescriptorTable table = side.bound.pointer().table();
    return port_in(table[table.find("udp").value()].bytes);
}

std::uint64_t refused(const Side& side) { return traffic_of(side.context, "udp").refusals; }

} // namespace

TEST_CASE("changed, cut, lengthened and made-up datagrams are dropped and counted") {
    Side far;
    Context near(options("tcp, udp"));
    Relay relay(port_of(far));
    const auto marked = through(relay, handed(near, far)).with(unreliable);
    until_by_udp(far, marked);
    until_none_under_way(far, marked);
    Datagram genuine = relay.seen(true).back();
    REQUIRE(genuine[0] == 4);
    const auto dials = [&] {
        const auto seen = relay.seen(true);
        return std::count_if(seen.begin(), seen.end(),
                             [](const Datagram& one) { return !one.empty() && one[0] == 1; });
    };
    const auto dialled = dials();
    const std::uint64_t before = refused(far);
    const std::size_t count = far.record.count();
    std::uint64_t sent = 0;
    const auto attack = [&](const Datagram& one) {
        relay.inject(one);
        ++sent;
        // Not faster than the victim reads: what its socket drops is not counted.
        REQUIRE(eventually(10s, [&] { return refused(far) >= before + sent; }));
    };
    for (std::size_t at = 0; at < genuine.size(); ++at) {
        Datagram changed = genuine;
        changed[at] = static_cast<std::uint8_t>(changed[at] ^ 0x10);
        attack(changed);
    }
    for (std::size_t size = 0; size < genuine.size(); size += 5)
        attack(Datagram(genuine.begin(), genuine.begin() + static_cast<std::ptrdiff_t>(size)));
    Datagram longer = genuine;
    longer.resize(genuine.size() + 100);
    attack(longer);
    attack(Datagram(65'000, 4));
    std::mt19937 random(3);
    for (int i = 0; i < 200; ++i) {
        Datagram noise(random() % 300);
        for (auto& byte : noise) byte = static_cast<std::uint8_t>(random());
        if (noise.size() > 4 && i % 2 == 0) { // a right beginning
            const std::uint8_t start[] = {static_cast<std::uint8_t>(1 + i / 2 % 4), 1, 0, 0};
            std::copy(std::begin(start), std::end(start), noise.begin());
            if (i / 2 % 4 == 1 || i / 2 % 4 == 2) continue; // an answer or a confirm to nobody says nothing
        }
        attack(noise);
    }
    attack(genuine); // again
    CHECK(refused(far) == before + sent);
    CHECK(far.record.count() == count);
    until_by_udp(far, marked);
    CHECK(dials() == dialled); // over the same connection: no forged number has moved what it takes
}

TEST_CASE("a recorded connection that is played again runs no handler") {
    Side far;
    Relay relay(port_of(far));
    {
        Context near(options("tcp, udp"));
        const auto marked = through(relay, handed(near, far)).with(unreliable);
        until_by_udp(far, marked);
        for (std::uint64_t i = 0; i < 20; ++i) marked.send(reading, i);
        CHECK(eventually(10s, [&] { return far.record.count_by("udp") > 15; }));
    }
    CHECK(eventually(10s, [&] { return traffic_of(far.context, "udp").links == 0; }));
    const std::size_t count = far.record.count();
    const std::uint64_t before = refused(far);
    const auto recorded = relay.seen(true);
    std::uint64_t sealed = 0;
    for (const Datagram& one : recorded) {
        relay.inject(one);
        sealed += one[0] == 4 ? 1 : 0;
    }
    CHECK(eventually(10s, [&] { return refused(far) >= before + sealed; }));
    CHECK(far.record.count() == count);
    CHECK(traffic_of(far.context, "udp").links == 0);
}

TEST_CASE("forged answers do not end a dial") {
    Side far;
    Context near(options("tcp, udp"));
    Relay relay(port_of(far));
    relay.set([](const Datagram& one, bool there) {
        if (there || one[0] != 2) return std::vector<Datagram>{one};
        Datagram forged = one;
        forged.back() ^= 1;
        return std::vector<Datagram>{forged, forged, one};
    });
    until_by_udp(far, through(relay, handed(near, far)).with(unreliable));
    CHECK(traffic_of(near, "udp").refusals >= 2);
}

TEST_CASE("nothing of a message, of a request's name or of a key is to be read on the way") {
    constexpr std::string_view kSecret = "the-depth-of-the-harbour";
    constexpr std::string_view kHexKey = "1f83d9abfb41bd6b5be0cd19137e2179428a2f98d728ae223c6ef372a54ff53a";
    const KeyFile file(kHexKey);
    std::vector<std::string> pieces; // of the key: eight bytes each, and their digits
    for (std::size_t at = 0; at < kHexKey.size(); at += 16) {
        pieces.emplace_back(kHexKey.substr(at, 16));
        std::string& bytes = pieces.emplace_back();
        for (std::size_t i = 0; i < 16; i += 2)
            bytes += static_cast<char>(std::stoi(std::string(kHexKey.substr(at + i, 2)), nullptr, 16));
    }
    constexpr Request<void(Sensor&, std::string)> tell{"udp.secret_name"};
    std::atomic<int> told{0};
    Side far("tcp, udp", {{"job.key_file", file.path()}});
    far.context.on(tell, [&](Sensor&, const std::string&) {
        if (caller().method == "udp") ++told;
    });
    Context near(options("tcp, udp", {{"job.key_file", file.path()}}));
    Relay relay(port_of(far));
    const auto marked = through(relay, handed(near, far)).with(unreliable);
    until_by_udp(far, marked);
    CHECK(eventually(10s, [&] {
        marked.send(tell, std::string(kSecret));
        return told.load() > 3;
    }));
    for (const Datagram& one : relay.seen(true)) {
        const std::string_view seen(reinterpret_cast<const char*>(one.data()), one.size());
        CHECK(seen.find(kSecret) == std::string_view::npos);
        CHECK(seen.find("udp.") == std::string_view::npos);
        for (const std::string& piece : pieces) CHECK(seen.find(piece) == std::string_view::npos);
    }
}

} // namespace hostile_test
