// SPDX-License-Identifier: BSD-3-Clause
#include "wire/table.h"

#include <algorithm>

namespace plexus::wire {
namespace {

std::string text_of(View bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

bool is_of_a_name(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

bool is_within(View bytes) noexcept {
    return bytes.size() <= kLongestWithin && std::all_of(bytes.begin(), bytes.end(), [](std::byte b) {
               const char c = static_cast<char>(b);
               return is_of_a_name(c) || c == ',' || c == ' ';
           });
}

bool is_prescription(View bytes) noexcept {
    return !bytes.empty() && bytes.size() <= kLongestPrescription &&
           std::all_of(bytes.begin(), bytes.end(), [](std::byte b) {
               const char c = static_cast<char>(b);
               return c >= ' ' && c <= '~';
           });
}

} // namespace

bool is_site_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= kLongestSiteName &&
           std::all_of(name.begin(), name.end(), is_of_a_name);
}

Bytes encode_table(const DescriptorTable& table) {
    Bytes bytes;
    Builder out(bytes);
    const Place& place = table.place();
    out.u8(static_cast<std::uint8_t>(place.site.size()));
    out.raw(place.site.data(), place.site.size());
    out.raw(place.host.data(), place.host.size());
    out.u8(static_cast<std::uint8_t>(table.size()));
    for (const Descriptor& row : table) {
        out.u8(static_cast<std::uint8_t>(row.method.size()));
        out.raw(row.method.data(), row.method.size());
        out.u16(static_cast<std::uint16_t>(row.bytes.size()));
        out.raw(row.bytes.data(), row.bytes.size());
        out.u16(static_cast<std::uint16_t>(row.within.size()));
        out.raw(row.within.data(), row.within.size());
    }
    if (!table.prescribed().empty()) {
        out.u16(static_cast<std::uint16_t>(table.prescribed().size()));
        out.raw(table.prescribed().data(), table.prescribed().size());
    }
    return bytes;
}

std::optional<DescriptorTable> decode_table(View bytes) {
    In in(bytes);
    Place place;
    place.site = text_of(in.raw(in.u8()));
    const View host = in.raw(place.host.size());
    if (!in.ok() || (!place.site.empty() && !is_site_name(place.site))) return std::nullopt;
    std::memcpy(place.host.data(), host.data(), host.size());
    const std::size_t rows = in.u8();
    if (rows > DescriptorTable::kMaxRows) return std::nullopt;
    DescriptorTable table;
    table.set_place(std::move(place));
    for (std::size_t i = 0; i < rows; ++i) {
        const View method = in.raw(in.u8());
        const View descriptor = in.raw(in.u16());
        const View within = in.raw(in.u16());
        if (!in.ok() || method.empty() || method.size() > kLongestMethodName ||
            descriptor.size() > kLongestDescriptor || !is_within(within))
            return std::nullopt;
        table.push_back({text_of(method), {descriptor.begin(), descriptor.end()}, {}, text_of(within)});
    }
    if (in.ok() && !in.rest().empty()) {
        const View prescribed = in.raw(in.u16());
        if (!in.ok() || !is_prescription(prescribed)) return std::nullopt;
        table.set_prescribed(text_of(prescribed));
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
