// SPDX-License-Identifier: BSD-3-Clause
// A member of the job that holds the key and sends what it likes: it speaks the inner method alone, so
// its messages are taken for frames as they are.
#include "sources.h"
#include "support/catch.h"
#include "support/log_guard.h"
#include "zstd/codec.h"
#include "zstd/frame.h"

#include <array>
#include <sys/mman.h>

namespace hostile_test {

extern "C" const plexus_passport plexus_passport;

using namespace plexus::testing;
using plexus::zstd::kPrefix;
using plexus::zstd::Prefix;

namespace {

const BareOptions kAlways{{}, {1, 2, 3}, {{"over", "tcp"}, {"always", "true"}, {"from", "4096"}}};

/// A victim over tcp, and somebody who speaks tcp to it.
struct Attack {
    explicit Attack(const BareOptions& options = kAlways)
      : victim(method_of(plexus_passport), options)
      , villain(find_method("tcp")) {
        Bytes inner = victim.descriptor();
        inner.erase(inner.begin(), inner.begin() + 4); // "tcp" and a zero byte
        to_victim = villain.connect(inner, victim.id());
        if (to_victim == nullptr || !pump({&victim, &villain}, 10s, [&] {
                return to_victim->is_open() && victim.incoming_count() == 1;
            }))
            throw std::runtime_error("no link to the victim");
        from_villain = victim.incoming().front();
    }

    /// Sends it, and waits for the end of the link: what the victim says about it.
    std::string lost_after(const Bytes& frame) {
        if (!villain.push(*to_victim, std::make_shared<Bytes>(frame), 64, 2)) return "not sent";
        if (!pump({&victim, &villain}, 10s, [&] { return from_villain->is_lost(); })) return "not lost";
        CHECK(from_villain->lost_status() == PLEXUS_LINK_LOST);
        CHECK(from_villain->received() == 0);
        return from_villain->lost_why();
    }

    BareHost victim;
    BareHost villain;
    End* to_victim = nullptr;
    End* from_villain = nullptr;
};

Bytes frame_of(const Bytes& message, Prefix prefix) {
    plexus::zstd::Packer packer(1);
    Bytes frame(message.size() + 1000);
    plexus::zstd::write_prefix(frame.data(), prefix);
    std::copy_n(message.begin(), prefix.head, frame.begin() + kPrefix);
    const plexus_view pieces[] = {{message.data(), prefix.head},
                                  {message.data() + prefix.head, message.size() - prefix.head}};
    const std::size_t begin = kPrefix + prefix.head;
    frame.resize(begin + packer.pack(pieces, prefix.head, std::span(frame).subspan(begin)).value());
    return frame;
}

std::string hexadecimal(const plexus_id& id) {
    std::string text;
    for (const std::uint8_t byte : id.bytes) {
        text += "0123456789abcdef"[byte / 16];
        text += "0123456789abcdef"[byte % 16];
    }
    return text;
}

} // namespace

TEST_CASE("a frame that is well formed arrives, also from who made it by hand") {
    Attack attack;
    const Bytes message = field(300'000);
    attack.villain.push(*attack.to_victim,
                        std::make_shared<Bytes>(frame_of(message, {message.size(), 24, false})));
    CHECK(pump({&attack.victim, &attack.villain}, 10s, [&] { return attack.from_villain->received() == 1; }));
    CHECK(attack.from_villain->take() == message);
}

TEST_CASE("a bomb is refused before it is expanded, with the name of the peer") {
    const Bytes zeros(std::size_t{64} << 20);
    const Bytes bomb = frame_of(zeros, {50'000, 24, false}); // 64 MiB, said to be 50,000 bytes
    REQUIRE(bomb.size() < 20'000);
    Attack attack;
    const std::string why = attack.lost_after(bomb);
    CHECK(why.find("holds another number of bytes") != std::string::npos);
    CHECK(why.find(hexadecimal(attack.villain.id())) != std::string::npos);
}

TEST_CASE("the host is asked before more is expanded than it takes") {
    const Bytes zeros(std::size_t{64} << 20);
    Attack attack;
    std::size_t asked = 0;
    attack.victim.hooks.place = [&](End&, std::size_t rest) {
        asked = rest;
        return std::int32_t{PLEXUS_TOO_LARGE};
    };
    attack.villain.push(*attack.to_victim,
                        std::make_shared<Bytes>(frame_of(zeros, {zeros.size(), 24, false})));
    CHECK(pump({&attack.victim, &attack.villain}, 10s, [&] { return asked != 0; }));
    CHECK(asked == zeros.size() - 24);
    CHECK(attack.from_villain->received() == 0);
    attack.victim.hooks.place = {};
    const Bytes next = noise(100);
    attack.villain.push(*attack.to_victim, std::make_shared<Bytes>(next)); // the link goes on
    CHECK(pump({&attack.victim, &attack.villain}, 10s, [&] { return attack.from_villain->received() == 1; }));
}

TEST_CASE("a large frame is refused before memory is there for it, if the host would not take its message") {
    BareOptions limited = kAlways;
    limited.settings["limits.max_message"] = "3000000";
    Bytes message = noise(3'000'001);
    std::fill(message.begin() + 1'000'000, message.end(), std::byte{1});
    Attack attack(limited);
    attack.victim.hooks.place = [](End&, std::size_t) { return std::int32_t{PLEXUS_TOO_LARGE}; };
    const Bytes frame = frame_of(message, {message.size(), 24, false});
    CHECK(attack.lost_after(frame).find("more bytes than this link permits") != std::string::npos);
    Attack next(limited);
    message.pop_back();
    next.villain.push(*next.to_victim,
                      std::make_shared<Bytes>(frame_of(message, {message.size(), 24, false})));
    CHECK(pump({&next.victim, &next.villain}, 10s, [&] { return next.from_villain->received() == 1; }));
    CHECK((next.from_villain->take() == message)); // not printed
}

TEST_CASE("a damaged frame breaks the link, small or large") {
    const std::size_t size = GENERATE(std::size_t{20'000}, std::size_t{5'000'000});
    CAPTURE(size);
    Bytes message = noise(size);
    std::fill(message.begin() + static_cast<std::ptrdiff_t>(size / 2), message.end(), std::byte{1});
    Bytes frame = frame_of(message, {size, 24, false});
    for (std::size_t at = kPrefix + 40; at < frame.size(); at += 97) frame[at] ^= std::byte{0xff};
    Attack attack;
    CHECK(attack.lost_after(frame).find("can't be unpacked: ") != std::string::npos);
}

TEST_CASE("frames that end early, lie or are nothing but a mark break the link") {
    const Bytes message = field(200'000);
    const Bytes whole = frame_of(message, {message.size(), 24, false});
    const auto first = [&](std::size_t bytes) {
        return Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
    };
    const auto [frame, why] = GENERATE_COPY(
        table<Bytes, std::string>({{first(8), "ends within its prefix"},
                                   {first(kPrefix + 3), "ends within its head"},
                                   {first(kPrefix + 24), "is no zstd frame"},
                                   {first(whole.size() - 1), "ends elsewhere than the message"},
                                   {frame_of(message, {message.size(), 100, false}), "head is longer"},
                                   {frame_of(message, {1000, 24, false}), "can't be unpacked"}}));
    Attack attack;
    CHECK(attack.lost_after(frame).find(why) != std::string::npos);
}

TEST_CASE("messages of at least the size of `from` travel compressed, smaller ones as they are") {
    Attack attack; // who speaks the inner method sees what travels
    const auto travelled = [&](std::size_t size) {
        attack.victim.push(*attack.from_villain, std::make_shared<Bytes>(field(size)));
        std::optional<Bytes> got;
        CHECK(pump({&attack.victim, &attack.villain}, 10s,
                   [&] { return (got = attack.to_victim->take()).has_value(); }));
        return got.value_or(Bytes{});
    };
    CHECK(travelled(4095) == field(4095));
    for (const std::size_t size : {std::size_t{4096}, std::size_t{100'000}, std::size_t{3'000'000}}) {
        CAPTURE(size);
        const Bytes frame = travelled(size);
        CHECK(plexus::zstd::has_mark(frame));
        CHECK(frame.size() < size / 2);
    }
}

TEST_CASE("a message that begins with the mark by chance arrives as it is") {
    Pair pair(method_of(plexus_passport), kAlways, kAlways);
    const std::size_t size = GENERATE(std::size_t{8}, std::size_t{16}, std::size_t{100}, std::size_t{4096},
                                      std::size_t{3'000'000});
    CAPTURE(size);
    for (const bool shrinks : {true, false}) {
        Bytes message = shrinks ? field(size) : noise(size);
        std::memcpy(message.data(), plexus::zstd::kMark.data(), plexus::zstd::kMark.size());
        pair.a.push(*pair.to_b, std::make_shared<Bytes>(message));
        std::optional<Bytes> got;
        CHECK(pair.pump(10s, [&] { return (got = pair.to_a->take()).has_value(); }));
        CHECK(got == message);
    }
}

TEST_CASE("a message that the other side does not take is refused here, also if it would shrink") {
    BareOptions small = kAlways;
    small.settings["tcp.max_message"] = "65536";
    Pair pair(method_of(plexus_passport), kAlways, small);
    const std::uint64_t most = pair.a.query(PLEXUS_QUERY_MAX_MESSAGE, pair.to_b);
    CHECK(most == 65'536 - kPrefix);
    CHECK(pair.a.send(*pair.to_b, std::make_shared<Bytes>(field(most + 1)), 24, 2) == PLEXUS_TOO_LARGE);
    CHECK(pair.a.push(*pair.to_b, std::make_shared<Bytes>(field(most))));
    CHECK(pair.pump(10s, [&] { return pair.to_a->received() == 1; }));
    CHECK_FALSE(pair.to_b->is_lost());
}

TEST_CASE("a link says which of its parameters may change while it runs") {
    Pair pair(method_of(plexus_passport), kAlways, kAlways);
    std::string why;
    CHECK(pair.a.set(*pair.to_b, "level", "3", &why) == PLEXUS_UNSUPPORTED);
    CHECK(why.find("when the context starts only") != std::string::npos);
    CHECK(pair.a.set(*pair.to_b, "nodelay", "true", &why) == PLEXUS_OK); // the inner method's
    CHECK(pair.a.set(*pair.to_b, "colour", "red", &why) == PLEXUS_BAD_ARGUMENT);
}

TEST_CASE("a message that the inner method loses breaks the link") {
    const auto said = expect_warning("reading a message from the peer's memory failed");
    const auto told = expect_warning("copying the message failed (Bad address)");
    const BareOptions over_shm{
        {}, {1, 2, 3}, {{"over", "shm"}, {"shm.cma_from", "1"}, {"shm.eager", "4 KiB"}}};
    Pair pair(method_of(plexus_passport), over_shm, over_shm);
    constexpr std::size_t kSize = 3 << 20;
    void* const memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    const Bytes data = noise(kSize); // goes as it is, from this memory
    std::memcpy(memory, data.data(), kSize);
    const Bytes head(24);
    const std::array<plexus_view, 2> pieces{view_of(head), plexus_view{memory, kSize}};
    REQUIRE(pair.a.send_pieces(*pair.to_b, pieces) == PLEXUS_POSTED);
    const Bytes next = noise(100);
    REQUIRE(pair.a.push(*pair.to_b, std::make_shared<Bytes>(next)));
    REQUIRE(::mprotect(memory, kSize, PROT_NONE) == 0);
    REQUIRE(pair.pump(10s, [&] { return pair.to_a->is_lost() && pair.to_b->is_lost(); }));
    CHECK(pair.to_a->received() == 0);
    CHECK(pair.to_a->lost_why() == "the inner method has lost a message");
    ::munmap(memory, kSize);
}

TEST_CASE("parameters that make no sense are refused") {
    const auto expected = expect_warning("");
    const auto refusal = [](std::map<std::string, std::string> settings) {
        try {
            BareHost host(method_of(plexus_passport), {{}, {1, 2, 3}, std::move(settings)});
        } catch (const OpenFailed& failed) {
            CHECK(failed.status == PLEXUS_BAD_CONFIG);
            return std::string(failed.what());
        }
        return std::string();
    };
    CHECK(refusal({{"over", "zstd"}}).find("name of another method") != std::string::npos);
    CHECK(refusal({{"over", ""}}).find("name of another method") != std::string::npos);
    CHECK(refusal({{"level", "20"}}).find("from 1 to 19") != std::string::npos);
    CHECK(refusal({{"from", "63"}}).find("from") != std::string::npos);
}

} // namespace hostile_test
