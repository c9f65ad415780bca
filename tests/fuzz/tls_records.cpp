// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: the records of TLS in a byte stream, before there is any key. However the stream is cut
// and whatever the budget, the host is given the same records, which are the stream without a gap; what is no
// record ends it.
#include "tls/records.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using namespace plexus;
using namespace plexus::tls;

void require(bool holds) {
    if (!holds) std::abort();
}

/// The records, and the bytes of all of them.
struct Host {
    Host() {
        table.deliver = [](void* cookie, plexus_view record) {
            auto& host = *static_cast<Host*>(cookie);
            const auto* bytes = static_cast<const std::byte*>(record.data);
            require(record.size >= kRecordHead && record.size <= kMostRecord);
            require(record_size({bytes, record.size}) == record.size);
            host.sizes.push_back(record.size);
            host.stream.insert(host.stream.end(), bytes, bytes + record.size);
        };
    }
    plexus_host table{};
    std::atomic<bool> given_up{false};
    Mutex border;
    std::vector<std::size_t> sizes;
    std::vector<std::byte> stream;
};

/// Feeds `stream` in pieces of `cut` bytes, as the reader of a socket does. Whether it made sense.
bool feed(Host& host, std::span<const std::byte> stream, std::size_t cut, std::uint32_t budget) {
    RecordReader reader;
    const module::StreamReader::Owner owner{host.table, &host, host.given_up, host.border};
    std::vector<std::byte> kept; // of exactly the size that was read
    while (true) {
        const std::size_t more = std::min(cut, stream.size());
        kept.insert(kept.end(), stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(more));
        stream = stream.subspan(more);
        for (std::size_t taken = 1; taken > 0 && reader.corrupt() == nullptr;) {
            std::uint32_t left = budget;
            const std::vector<std::byte> bytes = kept;
            taken = reader.take(owner, bytes, left);
            require(taken <= bytes.size() && left <= budget);
            kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(taken));
        }
        if (reader.corrupt() != nullptr) return false;
        require(kept.size() < reader.enough(kept)); // it gets on
        require(reader.enough(kept) <= kMostRecord);
        if (stream.empty()) return true;
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const auto stream = std::as_bytes(std::span(data, size)).subspan(2);
    Host whole;
    const bool sense = feed(whole, stream, SIZE_MAX, UINT32_MAX);
    Host cut;
    require(feed(cut, stream, std::size_t{data[0]} + 1, std::uint32_t{data[1]} % 4 + 1) == sense);
    require(whole.sizes == cut.sizes && whole.stream == cut.stream);
    require(std::equal(whole.stream.begin(), whole.stream.end(), stream.begin()));
    return 0;
}
