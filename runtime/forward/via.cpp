// SPDX-License-Identifier: BSD-3-Clause
#include "forward/via.h"

#include "base/log.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace plexus::forward {
namespace {

constexpr std::uint8_t kVersion = 2;
constexpr std::string_view kMethod = "forward"; // rows of other methods over it are not looked into
constexpr std::size_t kLongestName = 31;

Result<unsigned> count(const Via& via, std::vector<ContextId>& seen) {
    if (std::find(seen.begin(), seen.end(), via.hub.context) != seen.end())
        return fail(Status::no_method, "the way leads through {} twice", via.text());
    if (seen.size() > kMostHops)
        return fail(Status::no_method, "the way leads through more than {} forwarders", kMostHops);
    seen.push_back(via.hub.context);
    std::optional<Failure> failure;
    std::optional<unsigned> least;
    for (const Descriptor& row : via.table) {
        if (!means_row(kMethod, row.method)) {
            least = 1;
            continue;
        }
        const auto inner = decode(row.bytes);
        const auto beyond = inner ? count(*inner, seen) : Result<unsigned>(inner.failure());
        if (beyond)
            least = std::min(least.value_or(kMostHops), *beyond + 1);
        else
            failure = beyond.failure();
    }
    seen.pop_back();
    if (least) return *least;
    if (failure) return *failure;
    return fail(Status::no_method, "{} has no row by which it is reached", via.text());
}

// Of the forwarder's own rows by the method; false: none has one.
bool forget_inner_url(DescriptorTable& table) {
    for (std::size_t at = 0; at < table.size(); ++at) {
        if (!means_row(kMethod, table[at].method)) continue;
        auto inner = decode(table[at].bytes);
        if (!inner || std::exchange(inner->url, {}).empty()) continue;
        Descriptor row = table[at];
        row.bytes = encode(std::move(*inner), row.bytes.size());
        table.erase(at);
        table.insert(at, std::move(row));
        return true;
    }
    return false;
}

} // namespace

std::string short_text(const ContextId& id) {
    std::string text;
    for (const std::uint8_t byte : std::span(id.bytes).first(4)) text += fmt::format("{:02x}", byte);
    return text;
}

std::string Via::text() const {
    const std::string id = short_text(hub.context);
    return name.empty() ? id : fmt::format("{} ({})", name, id);
}

wire::Bytes encode(Via via, std::size_t limit) {
    for (;;) {
        wire::Bytes bytes;
        bytes.reserve(256); // gcc 12 sees a write past the end in a vector that starts with one byte
        wire::Builder out(bytes);
        out.u8(kVersion);
        out.u8(via.instance);
        out.text(std::string_view(via.name).substr(0, kLongestName));
        out.text(via.url);
        out.raw(via.hub.context.bytes.data(), via.hub.context.bytes.size());
        out.u64(via.hub.key);
        out.u32(via.hub.handle);
        out.u32(via.hub.generation);
        const wire::Bytes table = wire::encode_table(via.table);
        out.raw(table.data(), table.size());
        if (bytes.size() <= limit) return bytes;
        if (!std::exchange(via.url, {}).empty() || forget_inner_url(via.table)) continue;
        if (via.table.empty()) return {};
        std::size_t longest = 0;
        for (std::size_t row = 1; row < via.table.size(); ++row)
            if (via.table[row].bytes.size() >= via.table[longest].bytes.size()) longest = row;
        via.table.erase(longest);
    }
}

Result<Via> decode(wire::View bytes) {
    wire::In in(bytes);
    Via via;
    const bool known = in.u8() == kVersion;
    via.instance = in.u8();
    const std::string_view name = in.text();
    if (name.size() <= kLongestName) via.name = name;
    const std::string_view url = in.text();
    if (url.size() <= kLongestUrl) via.url = url;
    const wire::View id = in.raw(via.hub.context.bytes.size());
    if (in.ok()) std::copy(id.begin(), id.end(), reinterpret_cast<std::byte*>(via.hub.context.bytes.data()));
    via.hub.key = in.u64();
    via.hub.handle = in.u32();
    via.hub.generation = in.u32();
    auto table = in.ok() && known ? wire::decode_table(in.rest()) : std::nullopt;
    if (!table || !table->prescribed().empty() || name.size() > kLongestName || url.size() > kLongestUrl)
        return fail(Status::bad_archive, "not a row of this version of the method");
    via.table = std::move(*table);
    return via;
}

Result<unsigned> hops(const Via& via, const ContextId& self) {
    std::vector<ContextId> seen;
    if (via.hub.context == self) return fail(Status::no_method, "the way leads through this context itself");
    seen.push_back(self);
    return count(via, seen);
}

} // namespace plexus::forward
