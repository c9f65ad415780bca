// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: every decoder of the wire room, and the reader of arguments with plain,
// ranged and archived types, over bytes that a stranger chose. What decodes must encode to
// bytes that decode to the same again; what does not must leave nothing behind.
#include "plexus/archive.h"
#include "wire/frame.h"
#include "wire/table.h"

#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace plexus;
using namespace plexus::wire;

/// Ends the run: the fuzzer keeps the input. Unlike assert(), in every build.
void require(bool holds) {
    if (!holds) std::abort();
}

bool same(View a, View b) { return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin()); }

void fuzz_table(View bytes) {
    const auto table = decode_table(bytes);
    if (!table) return;
    const Bytes again = encode_table(*table);
    require(same(again, bytes));
    require(table_hash(again) == table_hash(bytes));
}

void fuzz_frame(View frame) {
    (void)kind_of(frame);
    (void)decode_reply(frame);
    (void)decode_report(frame);
    (void)decode_lease(frame);
    if (const auto calls = decode_cancel(frame)) {
        require(calls->size() <= kMostCancelled);
        require(same(View(encode_cancel(*calls)).subspan(4), frame.subspan(4)));
    }
    if (const auto bulk = decode_bulk(frame)) require(bulk->offset + bulk->length >= bulk->offset);
    if (const auto request = decode_request(frame)) {
        Bytes again(request->bytes());
        encode(*request, again.data());
        require(same(View(again).subspan(1), frame.subspan(1, request->bytes() - 1)));
    }
    if (const auto stream = decode_stream(frame)) {
        Bytes again(StreamFrame::kBytes);
        encode(Kind::replay_request, *stream, again.data());
        const auto second = decode_stream(again);
        require(second && second->stream == stream->stream && second->count == stream->count);
    }
    if (const auto dropped = decode_dropped(frame)) {
        Bytes again(DroppedFrame::kBytes);
        encode(*dropped, again.data());
        require(same(View(again).subspan(4), frame.subspan(4)));
    }
    if (const auto declare = decode_declare(frame)) {
        require(!declare->name.empty() && declare->name.size() <= 255);
        require(same(View(encode(*declare)).subspan(2), frame.subspan(2)));
    }
    if (const auto hello = decode_hello(frame)) fuzz_table(hello->table);
    if (const auto table = decode_table_frame(frame)) fuzz_table(table->table);
}

struct Inner {
    std::string name;
    std::vector<double> values;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(name, values);
    }
};
PLEXUS_NAME(Inner, "fuzz.inner")
struct Outer {
    std::map<std::string, Inner> parts;
    std::optional<std::uint32_t> number;
    std::vector<std::vector<std::string>> nested;
    std::vector<bool> bits;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(parts, number, nested, bits);
    }
};
PLEXUS_NAME(Outer, "fuzz.outer")

template <class T>
void fuzz_one(View frame, std::size_t skip) {
    detail::Reader in(nullptr, frame.data(), frame.size(), skip);
    const T value = in.get<T>();
    if (!in.ok()) return;
    detail::Writer out(0);
    out.put(value);
    const Bytes bytes = out.bytes();
    detail::Reader again(nullptr, bytes.data(), bytes.size(), 0);
    (void)again.get<T>();
    require(again.ok() && again.left() == 0);
}

void fuzz_arguments(View frame, std::size_t skip) {
    fuzz_one<bool>(frame, skip);
    fuzz_one<std::string>(frame, skip);
    fuzz_one<std::vector<double>>(frame, skip);
    fuzz_one<std::vector<std::string>>(frame, skip);
    fuzz_one<Outer>(frame, skip);
    // As a handler's arguments: one after the other, checked at the end.
    detail::Reader in(nullptr, frame.data(), frame.size(), skip);
    (void)in.get<std::uint8_t>();
    const auto view = in.get<std::span<const std::uint64_t>>();
    std::uint64_t sum = 0;
    for (const std::uint64_t word : view) sum += word; // every byte that is promised is there
    (void)in.get<std::string_view>();
    (void)in.get<Outer>();
    require(in.ok() || in.left() == 0);
    volatile std::uint64_t kept = sum;
    (void)kept;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Frames are 8-byte aligned, and end where they end: a copy of exactly that size.
    std::vector<std::uint64_t> words((size + 7) / 8);
    auto* const bytes = reinterpret_cast<std::byte*>(words.data());
    if (size > 0) std::memcpy(bytes, data, size);
    const View frame(bytes, size);
    fuzz_frame(frame);
    fuzz_table(frame);
    fuzz_arguments(frame, 0);
    if (const auto request = decode_request(frame)) fuzz_arguments(frame, request->bytes());
    return 0;
}
