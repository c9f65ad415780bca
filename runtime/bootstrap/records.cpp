// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/records.h"

#include "base/byte_reader.h"

#include <algorithm>
#include <concepts>

namespace plexus::bootstrap {
namespace {

class Writer {
  public:
    template <std::unsigned_integral T>
    void number(T value) {
        for (std::size_t i = 0; i < sizeof value; ++i)
            bytes_.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
    }
    void raw(std::span<const std::byte> data) { bytes_.insert(bytes_.end(), data.begin(), data.end()); }
    void name(const std::string& text) {
        number(static_cast<std::uint8_t>(text.size()));
        raw(std::as_bytes(std::span(text)));
    }
    void value(const Bytes& data) {
        number(static_cast<std::uint32_t>(data.size()));
        raw(data);
    }
    Bytes take() { return std::move(bytes_); }
    Bytes take_frame() {
        Writer length;
        length.number(static_cast<std::uint32_t>(bytes_.size()));
        bytes_.insert(bytes_.begin(), length.bytes_.begin(), length.bytes_.end());
        return std::move(bytes_);
    }

  private:
    Bytes bytes_;
};

/// Reads until something does not fit; from then on all is empty.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes)
      : bytes_(bytes) {}

    template <std::unsigned_integral T>
    T number() {
        return static_cast<T>(bytes_.number(sizeof(T)));
    }
    std::span<const std::byte> raw(std::size_t size) { return bytes_.take(size); }
    std::string name() {
        const auto field = raw(number<std::uint8_t>());
        return {reinterpret_cast<const char*>(field.data()), field.size()};
    }
    Bytes value() {
        const std::size_t size = number<std::uint32_t>();
        if (size > kLongestValue) fits_ = false;
        const auto field = raw(fits_ ? size : 0);
        return {field.begin(), field.end()};
    }
    std::chrono::microseconds timeout() {
        constexpr auto kMost = std::chrono::microseconds(kLongestTimeout).count();
        return std::chrono::microseconds(
            std::min(number<std::uint64_t>(), static_cast<std::uint64_t>(kMost)));
    }
    bool good_to_the_end() const { return fits_ && bytes_.at_end(); }

  private:
    ByteReader bytes_;
    bool fits_ = true; ///< no value was too long
};

std::uint64_t count_of(std::chrono::microseconds timeout) {
    return timeout.count() <= 0 ? 0 : static_cast<std::uint64_t>(timeout.count());
}

} // namespace

Bytes encode(const Frame& frame) {
    Writer out;
    out.number(static_cast<std::uint8_t>(frame.kind));
    out.number(frame.request);
    switch (frame.kind) {
    case Kind::publish:
        out.name(frame.name);
        out.value(frame.value);
        break;
    case Kind::unpublish:
        out.name(frame.name);
        break;
    case Kind::lookup:
        out.name(frame.name);
        out.number(count_of(frame.timeout));
        break;
    case Kind::fence:
        out.number(count_of(frame.timeout));
        break;
    case Kind::answer:
        out.number(static_cast<std::uint32_t>(frame.status));
        out.value(frame.value);
        break;
    }
    return out.take_frame();
}

Bytes encode_answer_head(std::uint32_t request, std::size_t value_bytes) {
    Writer out;
    constexpr std::size_t kRest = kShortestFrame + 4 + 4; // status and length of the value
    out.number(static_cast<std::uint32_t>(kRest + value_bytes));
    out.number(static_cast<std::uint8_t>(Kind::answer));
    out.number(request);
    out.number(static_cast<std::uint32_t>(Status::ok));
    out.number(static_cast<std::uint32_t>(value_bytes));
    return out.take();
}

std::optional<std::size_t> decode_length(std::span<const std::byte, kLengthBytes> bytes) {
    const std::size_t length = Reader(bytes).number<std::uint32_t>();
    if (length < kShortestFrame || length > kLongestFrame) return std::nullopt;
    return length;
}

std::optional<Frame> decode(std::span<const std::byte> bytes) {
    Reader in(bytes);
    Frame frame;
    frame.kind = static_cast<Kind>(in.number<std::uint8_t>());
    frame.request = in.number<std::uint32_t>();
    switch (frame.kind) {
    case Kind::publish:
        frame.name = in.name();
        frame.value = in.value();
        break;
    case Kind::unpublish:
        frame.name = in.name();
        break;
    case Kind::lookup:
        frame.name = in.name();
        frame.timeout = in.timeout();
        break;
    case Kind::fence:
        frame.timeout = in.timeout();
        break;
    case Kind::answer:
        frame.status = static_cast<Status>(in.number<std::uint32_t>());
        frame.value = in.value();
        if (to_string(frame.status) == to_string(static_cast<Status>(-1))) return std::nullopt;
        break;
    default:
        return std::nullopt;
    }
    if (!in.good_to_the_end()) return std::nullopt;
    return frame;
}

} // namespace plexus::bootstrap
