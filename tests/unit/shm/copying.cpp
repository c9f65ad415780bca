// SPDX-License-Identifier: BSD-3-Clause
// How larger messages are copied: what is configured, what a link measures, and that all of it arrives.
#include "parts.h"
#include "support/catch.h"
#include "support/log_guard.h"

#include "shm/copy_meter.h"

namespace copying_test {

using namespace plexus::shm;
using namespace plexus::testing;

namespace {

// Messages of all sizes around the limits of classes and ways, one after another; each is compared.
void carry(Pair& pair, int rounds) {
    std::uint8_t first = 0;
    for (int round = 0; round < rounds; ++round) {
        for (const std::size_t size : {std::size_t{2'100}, std::size_t{4'096}, std::size_t{8'192},
                                       std::size_t{65'536}, std::size_t{1} << 20, std::size_t{3} << 20}) {
            for (const std::size_t around : {size - 1, size, size + 1}) {
                const auto message = numbered(around, ++first);
                REQUIRE(pair.a.push(*pair.to_b, message));
                std::optional<Bytes> there;
                REQUIRE(pair.pump(20s, [&] {
                    there = pair.to_a->take();
                    return there.has_value();
                }));
                REQUIRE((*there == *message));
            }
        }
    }
    CHECK(pair.pump(10s, [&] { return pair.to_b->completed() == pair.to_b->posted(); }));
}

bool opens(std::map<std::string, std::string> settings, const char* words) {
    const auto expected = expect_warning(words);
    try {
        BareHost host(shm(), with(std::move(settings)));
        return true;
    } catch (const OpenFailed& failed) {
        if (failed.status != PLEXUS_BAD_CONFIG || expected.count() == 0) report_violation(failed.what());
    }
    return false;
}

} // namespace

TEST_CASE("messages that are copied by each strategy, and by all in turn, arrive whole") {
    const char* const copy = GENERATE("auto", "cached", "nontemporal", "cma");
    CAPTURE(copy);
    Pair pair(shm(), with({{"copy", copy}}));
    carry(pair, std::string_view(copy) == "auto" ? 12 : 2);
}

TEST_CASE("a strategy that does not exist, or that another parameter forbids, is refused with the reason") {
    CHECK_FALSE(opens({{"copy", "fast"}}, "copy = \"fast\" is not auto, cached, nontemporal or cma"));
    CHECK_FALSE(opens({{"copy", "cma"}, {"cma", "off"}}, "copy = \"cma\" is not possible with cma = off"));
    CHECK_FALSE(
        opens({{"copy", "cached"}, {"past_caches_from", "8 KiB"}}, "is not possible with past_caches_from"));
    CHECK_FALSE(opens({{"past_caches_from", "soon"}}, "is not auto, or a size such as \"64 KiB\""));
    CHECK_FALSE(opens({{"cma_from", "0"}}, "is not auto, or a size such as \"64 KiB\""));
}

TEST_CASE("how a running link copies is changed, or the reason is said") {
    Pair pair(shm());
    std::string why;
    CHECK(pair.a.set(*pair.to_b, "past_caches_from", "64 KiB", &why) == PLEXUS_OK);
    CHECK(pair.a.set(*pair.to_b, "cma_from", "2 MiB", &why) == PLEXUS_OK);
    carry(pair, 1);
    CHECK(pair.a.set(*pair.to_b, "copy", "cached", &why) == PLEXUS_BAD_ARGUMENT);
    CHECK(why.find("leave out one") != std::string::npos);
    CHECK(pair.a.set(*pair.to_b, "past_caches_from", "auto", &why) == PLEXUS_OK);
    why.clear();
    CHECK(pair.a.set(*pair.to_b, "copy", "cached", &why) == PLEXUS_OK);
    CHECK(pair.a.set(*pair.to_b, "copy", "slow", &why) == PLEXUS_BAD_ARGUMENT);
    CHECK(why.find("auto, cached, nontemporal or cma") != std::string::npos);
    why.clear();
    CHECK(pair.a.set(*pair.to_b, "copy", "cma", &why) == PLEXUS_OK);
    CHECK(pair.a.set(*pair.to_b, "cma", "off", &why) == PLEXUS_BAD_ARGUMENT);
    CHECK(why.find("cma = off") != std::string::npos);
    carry(pair, 1);
}

TEST_CASE("what a link has measured is said of the peer's descriptor, at either end") {
    Pair pair(shm());
    const auto said = [](BareHost& host, BareHost& peer) {
        std::string why;
        CHECK(host.applies(peer.descriptor(), &why) == PLEXUS_OK);
        return why;
    };
    const auto send = [&](BareHost& from, End& to, End& there) {
        for (int i = 0; i < 400; ++i) {
            REQUIRE(from.push(to, numbered(65'536, 1)));
            REQUIRE(pair.pump(20s, [&] { return there.take().has_value(); }));
        }
    };
    CHECK(said(pair.a, pair.b).empty());
    send(pair.a, *pair.to_b, *pair.to_a);
    CHECK(said(pair.a, pair.b).find("copies 64 KiB ") == 0);
    CHECK(said(pair.a, pair.b).find("; fixed by copy = ") != std::string::npos);
    CHECK(said(pair.b, pair.a).empty()); // it has sent nothing so far
    send(pair.b, *pair.to_a, *pair.to_b);
    CHECK(said(pair.b, pair.a).find("copies 64 KiB ") == 0);
    BareHost other(shm());
    CHECK(said(pair.a, other).empty());
}

TEST_CASE("a strategy is chosen by the time of both sides, and of the slower one where messages queue") {
    constexpr std::uint64_t kBytes = 65'536;
    const bool behind = GENERATE(false, true);
    CAPTURE(behind);
    Direction direction{};
    CopyMeter meter(direction, 0);
    const CopySet copied = CopySet().add(Copy::cached).add(Copy::nontemporal);
    Copy last = Copy::fetch;
    for (int i = 0; i < 200; ++i) {
        const CopyChoice::Pick pick = meter.next(kBytes, copied);
        last = pick.copy;
        const std::uint32_t sample = meter.begin(kBytes, pick, behind);
        CHECK((sample != 0) == pick.measure);
        if (sample == 0) continue;
        REQUIRE(sample <= kSamples);
        // 10 and 10 microseconds against 14 and 3.
        const bool is_cached = pick.copy == Copy::cached;
        meter.copied(sample, std::chrono::microseconds(is_cached ? 10 : 14));
        direction.spent[sample - 1].store(is_cached ? 10'000 : 3'000);
    }
    CHECK(last == (behind ? Copy::cached : Copy::nontemporal));
    CHECK(meter.learned()[CopyChoice::class_of(kBytes)].cost(last) > 0);
}

TEST_CASE("at most as many messages are measured at once as there are places, and a message that was dropped "
          "says nothing") {
    Direction direction{};
    CopyMeter meter(direction, 0);
    const CopySet copied = CopySet().add(Copy::cached).add(Copy::nontemporal);
    std::vector<std::uint32_t> open;
    for (std::uint64_t bytes = CopyChoice::kLeast; bytes <= std::uint64_t{1} << 24; bytes *= 2) {
        for (int i = 0; i < 10; ++i) {
            const CopyChoice::Pick pick = meter.next(bytes, copied);
            const std::uint32_t sample = meter.begin(bytes, pick, false);
            if (sample == 0) continue;
            CHECK(std::find(open.begin(), open.end(), sample) == open.end());
            open.push_back(sample);
        }
    }
    CHECK(open.size() == kSamples);
    for (const std::uint32_t sample : open) {
        CopyTimer timer(sample);
        timer.answer(direction, false);
    }
    CHECK(meter.next(CopyChoice::kLeast, copied).copy == Copy::cached);
    CHECK(meter.learned()[0].cost(Copy::cached) == 0);
}

} // namespace copying_test
