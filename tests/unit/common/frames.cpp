// SPDX-License-Identifier: BSD-3-Clause
#include "common/frames.h"

#include "support/catch.h"
#include "support/eventually.h"

#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace frames_test {

using namespace plexus::module;
using namespace plexus::testing;
using plexus::Mutex;

namespace {

using Bytes = std::vector<std::byte>;

// A host of which only what a reader calls is there.
struct Host {
    Host() {
        table.deliver = [](void* cookie, plexus_view message) {
            const auto* bytes = static_cast<const std::byte*>(message.data);
            CHECK(reinterpret_cast<std::uintptr_t>(bytes) % 8 == 0);
            static_cast<Host*>(cookie)->messages.emplace_back(bytes, bytes + message.size);
        };
        table.place = [](void* cookie, plexus_view head, std::size_t rest, void** where, void** token) {
            auto& host = *static_cast<Host*>(cookie);
            if (host.refuse) return std::int32_t{PLEXUS_TOO_LARGE};
            const auto* bytes = static_cast<const std::byte*>(head.data);
            host.coming.assign(bytes, bytes + head.size);
            host.coming.resize(head.size + rest);
            *where = host.coming.data() + head.size;
            *token = &host;
            return std::int32_t{PLEXUS_OK};
        };
        table.placed = [](void* cookie, void*, std::int32_t status) {
            auto& host = *static_cast<Host*>(cookie);
            if (host.given_up) ++host.told_too_late;
            ++host.placed;
            if (status == PLEXUS_OK) host.messages.push_back(host.coming);
        };
    }
    FrameReader::Owner owner() { return {table, this, given_up, border}; }

    plexus_host table{};
    std::atomic<bool> given_up{false};
    Mutex border;
    bool refuse = false;
    int placed = 0;
    int told_too_late = 0; ///< callbacks after given_up
    Bytes coming;
    std::vector<Bytes> messages;
};

Bytes message_of(std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + size);
    return bytes;
}

void append_frame(Bytes& stream, const Bytes& message) {
    const std::size_t at = stream.size();
    stream.resize(at + static_cast<std::size_t>(frame_bytes(message.size())));
    write_frame_word(stream.data() + at, message.size(), std::min<std::size_t>(message.size(), 24));
    std::copy(message.begin(), message.end(), stream.begin() + static_cast<std::ptrdiff_t>(at + kFrameWord));
}

// Feeds `stream` in cuts of up to `most` bytes, as a socket's reader does.
void feed(FrameReader& reader, Host& host, const Bytes& stream, std::size_t most, std::uint32_t budget_each) {
    std::mt19937 random(42);
    std::size_t at = 0;
    Bytes kept;
    alignas(8) std::array<std::byte, 400'000> room;
    while (at < stream.size() || !kept.empty()) {
        std::size_t cut = std::min<std::size_t>(1 + random() % most, stream.size() - at);
        std::uint32_t budget = budget_each;
        if (const auto landing = reader.landing(); !landing.empty()) {
            cut = std::min(cut, landing.size());
            std::copy_n(stream.begin() + static_cast<std::ptrdiff_t>(at), cut, landing.begin());
            at += cut;
            reader.landed(host.owner(), cut, budget);
            continue;
        }
        const std::size_t offset = (8 - reader.skew()) % 8;
        auto end = std::copy(kept.begin(), kept.end(), room.begin() + offset);
        end = std::copy_n(stream.begin() + static_cast<std::ptrdiff_t>(at), cut, end);
        at += cut;
        const std::span<const std::byte> bytes(room.begin() + offset, end);
        const std::size_t taken = reader.take(host.owner(), bytes, budget);
        kept.assign(bytes.begin() + static_cast<std::ptrdiff_t>(taken), bytes.end());
        if (reader.corrupt() != nullptr) return;
        if (cut == 0) REQUIRE(taken > 0); // it must get on
    }
}

/// True while that thread of this process waits in the kernel.
bool is_asleep(pid_t thread) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string all;
    std::getline(file, all);
    const std::size_t name = all.rfind(')');
    return name != all.npos && all.substr(name, 3) == ") S";
}

} // namespace

TEST_CASE("messages come out of a stream whole and in order, however it is cut") {
    const FrameReader::Limits limits{1024, 0};
    Bytes stream;
    std::vector<Bytes> sent;
    for (const std::size_t size : {0u, 1u, 7u, 8u, 9u, 1023u, 1024u, 1025u, 5000u, 3u, 70'001u, 64u}) {
        sent.push_back(message_of(size));
        append_frame(stream, sent.back());
    }
    for (const std::size_t most : {1u, 3u, 100u, 1500u, 200'000u})
        for (const std::uint32_t budget : {1u, 1000u}) {
            Host host;
            FrameReader reader(limits);
            feed(reader, host, stream, most, budget);
            CHECK(host.messages == sent);
            CHECK_FALSE(reader.inside_message());
        }
}

TEST_CASE("a message that the host refuses is dropped, and the next one comes") {
    const FrameReader::Limits limits{1024, 0};
    Bytes stream;
    append_frame(stream, message_of(9999));
    append_frame(stream, message_of(10));
    Host host;
    host.refuse = true;
    FrameReader reader(limits);
    feed(reader, host, stream, 700, 10);
    CHECK(host.messages == std::vector<Bytes>{message_of(10)});
    CHECK(host.placed == 0);
}

TEST_CASE("a word that no sender writes is found before anything is done with it") {
    const FrameReader::Limits limits{1024, 1 << 20};
    for (const auto& [size, head] : {std::pair{100u, 65u}, {10u, 11u}, {(1u << 20) + 1, 24u}}) {
        Host host;
        FrameReader reader(limits);
        alignas(8) std::array<std::byte, 8> word;
        write_frame_word(word.data(), size, head);
        CHECK(reader.enough(word) == word.size()); // nothing has to follow
        std::uint32_t budget = 1;
        CHECK(reader.take(host.owner(), word, budget) == 0);
        CHECK(reader.corrupt() != nullptr);
    }
}

TEST_CASE("a stream that ends inside a large message ends its placement, once") {
    const FrameReader::Limits limits{1024, 0};
    Bytes stream;
    append_frame(stream, message_of(5000));
    Host host;
    FrameReader reader(limits);
    std::uint32_t budget = 1;
    const std::size_t some = reader.take(host.owner(), std::span(stream).first(2000), budget);
    CHECK(some == 2000);
    CHECK(reader.inside_message());
    reader.abandon(host.owner());
    reader.abandon(host.owner());
    CHECK(host.placed == 1);
    CHECK(host.messages.empty());
}

TEST_CASE("messages up to the eager size come out of the buffer, larger ones go to a place") {
    constexpr FrameReader::Limits kLimits{256, 0};
    for (const std::size_t size : {255, 256, 257}) {
        Host host;
        FrameReader reader(kLimits);
        Bytes stream;
        append_frame(stream, message_of(size));
        std::uint32_t budget = 8;
        CHECK(reader.take(host.owner(), stream, budget) == stream.size());
        CHECK(host.placed == (size > 256 ? 1 : 0));
        CHECK(host.messages == std::vector<Bytes>{message_of(size)});
    }
}

TEST_CASE("a reader stops when its budget is spent, by small messages and by large ones") {
    constexpr FrameReader::Limits kLimits{256, 0};
    for (const std::size_t size : {40, 4000}) {
        CAPTURE(size);
        Host host;
        FrameReader reader(kLimits);
        Bytes stream;
        for (int i = 0; i < 5; ++i) append_frame(stream, message_of(size));
        std::uint32_t budget = 2;
        const std::size_t done = reader.take(host.owner(), stream, budget);
        CHECK(host.messages.size() == 2);
        CHECK(budget == 0);
        CHECK(done == 2 * frame_bytes(size));
        budget = 8;
        CHECK(reader.take(host.owner(), std::span(stream).subspan(done), budget) == stream.size() - done);
        CHECK(host.messages.size() == 5);
        CHECK(budget == 5);
    }
}

TEST_CASE("the longest message that was agreed on is taken, one byte more is corrupt") {
    constexpr FrameReader::Limits kLimits{256, 1000};
    for (const std::size_t size : {1000, 1001}) {
        Host host;
        FrameReader reader(kLimits);
        Bytes stream;
        append_frame(stream, message_of(size));
        std::uint32_t budget = 8;
        reader.take(host.owner(), stream, budget);
        CHECK((reader.corrupt() == nullptr) == (size == 1000));
        CHECK(host.messages.size() == (size == 1000 ? 1u : 0u));
    }
}

TEST_CASE("once a link is given up its host is told nothing, and nothing is written to its memory") {
    constexpr FrameReader::Limits kLimits{256, 0};
    Host host;
    FrameReader reader(kLimits);
    Bytes stream;
    append_frame(stream, message_of(4000));
    std::uint32_t budget = 8;
    const std::size_t done = reader.take(host.owner(), std::span(stream).first(1000), budget);
    REQUIRE(reader.landing().size() == stream.size() - done);
    const Bytes before = host.coming;

    // Another thread gives the link up between the reader's look at it and the copy.
    SECTION("bytes that take() would copy") {
        host.border.lock();
        std::atomic<pid_t> reads{0};
        std::thread polling([&] {
            reads = ::gettid();
            reader.take(host.owner(), std::span(stream).subspan(done), budget);
        });
        const bool waits = eventually(5s, [&] { return reads != 0 && is_asleep(reads); }); // for the border
        host.given_up = true;
        host.border.unlock();
        polling.join();
        CHECK(waits);
        CHECK(host.coming == before);
    }
    SECTION("the last bytes of a message that were read to their place") {
        host.given_up = true;
        reader.landed(host.owner(), reader.landing().size(), budget);
    }
    SECTION("the end of the stream") {
        host.given_up = true;
        reader.abandon(host.owner());
    }
    CHECK(host.told_too_late == 0);
    CHECK(host.placed == 0);
}

} // namespace frames_test
