// SPDX-License-Identifier: BSD-3-Clause
// Bytes go in and come out again; whatever else comes in is refused, and nothing is written outside.
#include "zstd/codec.h"

#include "sources.h"
#include "support/catch.h"

#include <array>
#include <string>
#include <zstd.h>

namespace codec_test {

using namespace plexus::testing;
using plexus::zstd::Packer;
using plexus::zstd::Unpacker;

namespace {

Bytes packed(const Bytes& message) {
    Packer packer(1);
    Bytes out(message.size() + 1000);
    const plexus_view pieces[] = {{nullptr, 0}, view_of(message)};
    out.resize(packer.pack(pieces, 0, out).value());
    return out;
}

} // namespace

TEST_CASE("what is packed unpacks to the same, however it is cut") {
    const Bytes message = field(100'000);
    Packer packer(1);
    Unpacker unpacker;
    for (const std::size_t head : {std::size_t{0}, std::size_t{24}, std::size_t{64}})
        for (const std::size_t cut : {head, head + 1, std::size_t{50'000}}) {
            const plexus_view pieces[] = {{message.data(), head},
                                          {message.data() + head, cut - head},
                                          {nullptr, 0},
                                          {message.data() + cut, message.size() - cut}};
            Bytes out(message.size());
            out.resize(packer.pack(pieces, head, out).value());
            CHECK(out.size() < message.size() / 4);
            Bytes back(message.size() - head);
            CHECK(unpacker.unpack(out, back) == nullptr);
            CHECK(std::equal(back.begin(), back.end(), message.begin() + static_cast<std::ptrdiff_t>(head)));
        }
}

TEST_CASE("a head that is a part of the first of two pieces leaves the rest of that piece to be packed") {
    const Bytes message = field(10'000);
    const plexus_view pieces[] = {{message.data(), 100}, {message.data() + 100, message.size() - 100}};
    Packer packer(1);
    Bytes out(message.size());
    out.resize(packer.pack(pieces, 64, out).value());
    Bytes back(message.size() - 64);
    Unpacker unpacker;
    CHECK(unpacker.unpack(out, back) == nullptr);
    CHECK(std::equal(back.begin(), back.end(), message.begin() + 64));
}

TEST_CASE("a byte that has changed in data that did not shrink is noticed") {
    const Bytes message = noise(20'000);
    Bytes damaged = packed(message);
    damaged[damaged.size() / 2] ^= std::byte{1};
    Bytes place(message.size());
    Unpacker unpacker;
    CHECK(unpacker.unpack(damaged, place) != nullptr);
}

TEST_CASE("what does not fit is not packed, in one piece or in many") {
    const Bytes message = noise(100'000);
    Packer packer(1);
    Bytes out(90'000);
    const plexus_view one[] = {{nullptr, 0}, view_of(message)};
    CHECK_FALSE(packer.pack(one, 0, out).has_value());
    const plexus_view three[] = {
        {nullptr, 0}, {message.data(), 50'000}, {message.data() + 50'000, message.size() - 50'000}};
    CHECK_FALSE(packer.pack(three, 0, out).has_value());
    const Bytes small = field(1'000);
    const plexus_view next[] = {{nullptr, 0}, view_of(small)};
    CHECK(packer.pack(next, 0, out).has_value()); // what failed is forgotten
}

TEST_CASE("not a byte is written beyond the place, whatever a frame holds") {
    const Bytes bomb = packed(Bytes(std::size_t{64} << 20)); // 64 MiB in some thousand bytes
    CHECK(bomb.size() < 10'000);
    Unpacker unpacker;
    Bytes place(4096 + 64, std::byte{0x5a});
    const std::span room(place.data(), 4096);
    CHECK(unpacker.unpack(bomb, room) != nullptr);
    CHECK(std::all_of(place.begin(), place.end(), [](std::byte each) { return each == std::byte{0x5a}; }));
}

TEST_CASE("a frame that lies about its size is cut off at the place") {
    // The header of a frame of 4096 bytes before the blocks of a frame of 8192.
    Bytes lie = packed(noise(8192));
    const Bytes truth = packed(noise(4096));
    REQUIRE(ZSTD_getFrameContentSize(truth.data(), truth.size()) == 4096);
    constexpr std::ptrdiff_t kHeader = 7; // magic number, descriptor, two bytes of size
    std::copy_n(truth.begin(), kHeader, lie.begin());
    Unpacker unpacker;
    Bytes place(4096 + 8192, std::byte{0x5a});
    CHECK(unpacker.unpack(lie, std::span(place.data(), 4096)) != nullptr);
    CHECK(std::all_of(place.begin() + 4096, place.end(),
                      [](std::byte each) { return each == std::byte{0x5a}; }));
}

TEST_CASE("damaged frames are refused or give as many bytes as they say, and nothing else") {
    const Bytes message = field(20'000);
    const Bytes whole = packed(message);
    Unpacker unpacker;
    Bytes place(message.size() + 64, std::byte{0x5a});
    const std::span room(place.data(), message.size());
    for (std::size_t length = 0; length < whole.size(); ++length)
        CHECK(unpacker.unpack(std::span(whole.data(), length), room) != nullptr);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        Bytes damaged = whole;
        damaged[at] ^= std::byte{0x10};
        (void)unpacker.unpack(damaged, room);
    }
    CHECK(std::all_of(place.begin() + static_cast<std::ptrdiff_t>(message.size()), place.end(),
                      [](std::byte each) { return each == std::byte{0x5a}; }));
    CHECK(unpacker.unpack(whole, room) == nullptr);
    CHECK(std::equal(message.begin(), message.end(), place.begin()));
}

TEST_CASE("two frames, a frame and more, and a frame of unknown size are refused") {
    const Bytes one = packed(field(10'000));
    Bytes two = one;
    two.insert(two.end(), one.begin(), one.end());
    CHECK(std::string(Unpacker::fault_of(two, 10'000)).find("ends elsewhere") != std::string::npos);
    CHECK(std::string(Unpacker::fault_of(one, 10'001)).find("another number") != std::string::npos);
    CHECK(std::string(Unpacker::fault_of(noise(100), 100)).find("no zstd frame") != std::string::npos);
    CHECK(Unpacker::fault_of(one, 10'000) == nullptr);
    const std::array<std::byte, 10> unsaid{std::byte{0x28}, std::byte{0xb5}, std::byte{0x2f}, std::byte{0xfd},
                                           std::byte{0x00}, std::byte{0x58}, std::byte{0x01}};
    CHECK(std::string(Unpacker::fault_of(unsaid, 0)).find("does not say") != std::string::npos);
}

} // namespace codec_test
