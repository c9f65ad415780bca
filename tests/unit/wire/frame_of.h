// SPDX-License-Identifier: BSD-3-Clause
// Values as the bytes of a frame, and a frame as memory of its own.
#pragma once

#include "hex.h"
#include "plexus/archive.h"
#include "support/catch.h"

#include <cstring>
#include <string_view>
#include <vector>

namespace plexus::testing {

/// Bytes in memory of their own size, so that sanitizers see a read past the end, as a frame
/// has them: aligned to 8.
class FrameOf {
  public:
    explicit FrameOf(const wire::Bytes& bytes)
      : words_((bytes.size() + 7) / 8)
      , size_(bytes.size()) {
        if (size_ > 0) std::memcpy(words_.data(), bytes.data(), size_);
    }
    detail::Reader reader(std::size_t skip = 0) const {
        return {nullptr, reinterpret_cast<const std::byte*>(words_.data()), size_, skip};
    }

  private:
    std::vector<std::uint64_t> words_;
    std::size_t size_;
};

template <class... T>
wire::Bytes written(const T&... values) {
    detail::Writer writer(0);
    (writer.put(values), ...);
    return writer.bytes();
}

template <class T>
T read_back(const T& value) {
    const FrameOf frame(written(value));
    detail::Reader in = frame.reader();
    T got = in.get<T>();
    CHECK(in.ok());
    CHECK(in.left() == 0);
    return got;
}

/// True if the bytes are a T and nothing more.
template <class T>
bool reads(std::string_view hex) {
    const FrameOf frame(bytes_of(hex));
    detail::Reader in = frame.reader();
    static_cast<void>(in.get<T>());
    return in.ok() && in.left() == 0;
}

} // namespace plexus::testing
