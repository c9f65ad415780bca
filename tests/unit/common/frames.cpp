// SPDX-License-Identifier: BSD-3-Clause
#include "common/frames.h"

#include "support/catch.h"

#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace plexus::module;

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

TEST_CASE("a message of the eager size is delivered, one byte more is placed") {
    for (const std::size_t size : {1024u, 1025u}) {
        Bytes stream;
        append_frame(stream, message_of(size));
        Host host;
        FrameReader reader({1024, 0});
        feed(reader, host, stream, 200'000, 10);
        CHECK(host.messages == std::vector<Bytes>{message_of(size)});
        CHECK(host.placed == (size > 1024 ? 1 : 0));
    }
}

TEST_CASE("a reader hands over as many messages as its budget, small and large") {
    Bytes stream;
    for (int i = 0; i < 3; ++i) append_frame(stream, message_of(10));
    append_frame(stream, message_of(3000));
    append_frame(stream, message_of(20));
    Host host;
    FrameReader reader({1024, 0});
    std::size_t at = 0;
    const auto take = [&](std::uint32_t budget) {
        alignas(8) std::array<std::byte, 8'000> room;
        const auto offset = (8 - reader.skew()) % 8;
        const auto end = std::copy(stream.begin() + static_cast<std::ptrdiff_t>(at), stream.end(),
                                   room.begin() + static_cast<std::ptrdiff_t>(offset));
        at += reader.take(host.owner(), {room.begin() + static_cast<std::ptrdiff_t>(offset), end}, budget);
        return budget;
    };
    CHECK(take(2) == 0);
    CHECK(host.messages.size() == 2);
    CHECK(take(2) == 0); // the third, and the large one
    CHECK(host.messages.size() == 4);
    CHECK(take(2) == 1);
    CHECK(host.messages.size() == 5);
    CHECK(at == stream.size());
}

TEST_CASE("after a link was given up nothing is written to its places, and nothing is told") {
    Bytes stream;
    append_frame(stream, message_of(5000));
    Host host;
    FrameReader reader({1024, 0});
    std::uint32_t budget = 10;
    const std::size_t some = reader.take(host.owner(), std::span(stream).first(2000), budget);
    REQUIRE(reader.inside_message());
    const Bytes before = host.coming;
    host.given_up = true;
    (void)reader.take(host.owner(), std::span(stream).subspan(some), budget);
    CHECK((host.coming == before));
    // Bytes that were read into the place before it was given up.
    reader.landed(host.owner(), reader.landing().size(), budget);
    CHECK(host.placed == 0);
    FrameReader other({1024, 0});
    host.given_up = false;
    REQUIRE(other.take(host.owner(), std::span(stream).first(2000), budget) == 2000);
    host.given_up = true;
    other.abandon(host.owner());
    CHECK(host.placed == 0);
}

// Given up by another thread after the reader has looked, while it waits at the border of the place.
TEST_CASE("a place that is given up while the reader waits for it is not written to") {
    Bytes stream;
    append_frame(stream, message_of(5000));
    for (int round = 0; round < 20; ++round) {
        Host host;
        FrameReader reader({1024, 0});
        std::uint32_t budget = 10;
        const std::size_t some = reader.take(host.owner(), std::span(stream).first(2000), budget);
        const Bytes before = host.coming;
        std::atomic<bool> begun{false};
        host.border.lock();
        std::thread poller([&] {
            begun = true;
            (void)reader.take(host.owner(), std::span(stream).subspan(some), budget);
        });
        while (!begun) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        host.given_up = true;
        host.border.unlock();
        poller.join();
        CHECK((host.coming == before));
        CHECK(host.placed == 0);
    }
}

TEST_CASE("a message of just the size that this side allows is taken") {
    for (const std::size_t size : {3000u, 3001u}) {
        Bytes stream;
        append_frame(stream, message_of(size));
        Host host;
        FrameReader reader({1024, 3000});
        feed(reader, host, stream, 200'000, 10);
        CHECK(host.messages.size() == (size == 3000 ? 1 : 0));
        CHECK((reader.corrupt() != nullptr) == (size > 3000));
    }
}
