// SPDX-License-Identifier: BSD-3-Clause
#include "wire/table.h"

namespace plexus::wire {

Bytes encode_table(const DescriptorTable& table) {
    Bytes bytes;
    Builder out(bytes);
    out.u8(static_cast<std::uint8_t>(table.size()));
    for (const Descriptor& row : table) {
        out.u8(static_cast<std::uint8_t>(row.method.size()));
        out.raw(row.method.data(), row.method.size());
        out.u16(static_cast<std::uint16_t>(row.bytes.size()));
        out.raw(row.bytes.data(), row.bytes.size());
    }
    return bytes;
}

std::optional<DescriptorTable> decode_table(View bytes) {
    In in(bytes);
    const std::size_t rows = in.u8();
    if (rows > DescriptorTable::kMaxRows) return std::nullopt;
    DescriptorTable table;
    for (std::size_t i = 0; i < rows; ++i) {
        const View method = in.raw(in.u8());
        const View descriptor = in.raw(in.u16());
        if (!in.ok() || method.empty() || method.size() > kLongestMethodName ||
            descriptor.size() > kLongestDescriptor)
            return std::nullopt;
        table.push_back({std::string(reinterpret_cast<const char*>(method.data()), method.size()),
                         {descriptor.begin(), descriptor.end()},
                         {}});
    }
    if (!in.ok() || !in.rest().empty()) return std::nullopt;
    return table;
}

std::uint64_t table_hash(View encoded) noexcept {
    std::uint64_t hash =
        0xcbf29ce484222325ull; // FNV-1a; the owner vouches for its table, nobody attacks this
    for (const std::byte b : encoded) hash = (hash ^ static_cast<std::uint8_t>(b)) * 0x100000001b3ull;
    return hash;
}

} // namespace plexus::wire
