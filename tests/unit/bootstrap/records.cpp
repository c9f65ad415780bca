// SPDX-License-Identifier: BSD-3-Clause
// The directory's frames: golden bytes, and no crash on any others.
#include "bootstrap/records.h"
#include "support/catch.h"
#include "unit/bootstrap/waiting.h"

#include <random>

namespace records_test {

using namespace plexus;
using namespace plexus::bootstrap;
using namespace plexus::bootstrap::testing;

namespace {

std::string hex(const Bytes& bytes) {
    std::vector<std::uint8_t> numbers;
    for (const std::byte byte : bytes) numbers.push_back(std::to_integer<std::uint8_t>(byte));
    return to_hex(numbers);
}

std::vector<Frame> one_of_each() {
    Frame publish{.kind = Kind::publish, .request = 0x01020304, .name = "ab", .value = bytes_of("xyz")};
    Frame unpublish{.kind = Kind::unpublish, .request = 2, .name = "c"};
    Frame lookup{.kind = Kind::lookup, .request = 3, .name = "d", .timeout = std::chrono::microseconds(258)};
    Frame fence{.kind = Kind::fence, .request = 4, .timeout = std::chrono::microseconds(1)};
    Frame answer{.kind = Kind::answer, .request = 5, .value = bytes_of("!"), .status = Status::busy};
    return {publish, unpublish, lookup, fence, answer};
}

std::span<const std::byte> after_length(const Bytes& bytes) { return std::span(bytes).subspan(kLengthBytes); }

} // namespace

TEST_CASE("frames have the bytes that they always had") {
    const auto frames = one_of_each();
    CHECK(hex(encode(frames[0])) == "0f000000"
                                    "01"
                                    "04030201"
                                    "026162"
                                    "03000000"
                                    "78797a");
    CHECK(hex(encode(frames[1])) == "07000000"
                                    "02"
                                    "02000000"
                                    "0163");
    CHECK(hex(encode(frames[2])) == "0f000000"
                                    "03"
                                    "03000000"
                                    "0164"
                                    "0201000000000000");
    CHECK(hex(encode(frames[3])) == "0d000000"
                                    "04"
                                    "04000000"
                                    "0100000000000000");
    CHECK(hex(encode(frames[4])) == "0e000000"
                                    "40"
                                    "05000000"
                                    "19000000"
                                    "01000000"
                                    "21");
}

TEST_CASE("an answer whose value follows apart has the same bytes") {
    for (const char* text : {"", "!", "a longer value"}) {
        const Bytes whole = encode({.kind = Kind::answer, .request = 0x01020304, .value = bytes_of(text)});
        Bytes parts = encode_answer_head(0x01020304, std::string_view(text).size());
        for (const std::byte byte : bytes_of(text)) parts.push_back(byte);
        CHECK(parts == whole);
    }
}

TEST_CASE("a frame comes back as it was") {
    for (const Frame& frame : one_of_each()) {
        const Bytes bytes = encode(frame);
        const auto length =
            decode_length(std::span<const std::byte, kLengthBytes>(bytes.data(), kLengthBytes));
        REQUIRE(length == bytes.size() - kLengthBytes);
        const auto back = decode(after_length(bytes));
        REQUIRE(back);
        CHECK(back->kind == frame.kind);
        CHECK(back->request == frame.request);
        CHECK(back->name == frame.name);
        CHECK(back->value == frame.value);
        CHECK(back->timeout == frame.timeout);
        CHECK(back->status == frame.status);
    }
}

TEST_CASE("a frame that is cut or has something behind it is refused") {
    for (const Frame& frame : one_of_each()) {
        Bytes bytes = encode(frame);
        for (std::size_t size = 0; size + kLengthBytes < bytes.size(); ++size)
            CHECK_FALSE(decode(after_length(bytes).first(size)));
        bytes.push_back(std::byte{0});
        CHECK_FALSE(decode(after_length(bytes)));
    }
}

TEST_CASE("lengths that no frame has are refused before anything is allocated") {
    const auto length_of = [](std::uint32_t value) {
        std::array<std::byte, kLengthBytes> bytes;
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(value >> (8 * i));
        return decode_length(bytes);
    };
    CHECK_FALSE(length_of(0));
    CHECK_FALSE(length_of(kShortestFrame - 1));
    CHECK(length_of(kShortestFrame) == kShortestFrame);
    CHECK(length_of(kLongestFrame) == kLongestFrame);
    CHECK_FALSE(length_of(kLongestFrame + 1));
    CHECK_FALSE(length_of(0xffffffff));

    Frame longest{
        .kind = Kind::publish, .name = std::string(kLongestName, 'n'), .value = Bytes(kLongestValue)};
    const Bytes good = encode(longest);
    REQUIRE(good.size() == kLengthBytes + kLongestFrame);
    CHECK(decode(after_length(good)));
    longest.name.pop_back(); // room for one byte more than a value may have
    longest.value.emplace_back();
    CHECK_FALSE(decode(after_length(encode(longest))));
}

TEST_CASE("a timeout without end is cut, and an unknown status or kind refused") {
    Bytes fence = encode(one_of_each()[3]);
    for (std::size_t i = fence.size() - 8; i < fence.size(); ++i) fence[i] = std::byte{0xff};
    const auto back = decode(after_length(fence));
    REQUIRE(back);
    CHECK(back->timeout == kLongestTimeout);

    Bytes answer = encode(one_of_each()[4]);
    answer[kLengthBytes + kShortestFrame] = std::byte{0x63};
    CHECK_FALSE(decode(after_length(answer)));
    answer[kLengthBytes] = std::byte{9};
    CHECK_FALSE(decode(after_length(answer)));
}

TEST_CASE("random bytes never decode to anything out of bounds") {
    std::mt19937 random(7);
    for (int round = 0; round < 20000; ++round) {
        Bytes bytes(random() % 64);
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
        if (!bytes.empty()) bytes[0] = static_cast<std::byte>(1 + random() % 4);
        const auto frame = decode(bytes);
        if (frame) CHECK(frame->name.size() + frame->value.size() <= bytes.size());
    }
}

} // namespace records_test
