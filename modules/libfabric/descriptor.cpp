// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/descriptor.h"

#include <algorithm>

namespace plexus::libfabric {
namespace {

using module::ByteReader;
using module::put;

constexpr std::uint8_t kVersion = 3;

void put_bytes(Bytes& out, ByteView bytes, std::size_t size_bytes) {
    put(out, bytes.size(), size_bytes);
    out.insert(out.end(), bytes.begin(), bytes.end());
}
void put_text(Bytes& out, const std::string& text) { put_bytes(out, std::as_bytes(std::span(text)), 1); }

std::string read_text(ByteReader& in) { return std::string(in.text(in.number(1))); }

// It ends up in sentences for people.
bool printable(const std::string& text) {
    return !text.empty() && text.size() <= Address::kMostText &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

bool read_address(ByteReader& in, Address& out) {
    out.provider = read_text(in);
    out.fabric = read_text(in);
    out.format = static_cast<std::uint32_t>(in.number(4));
    out.protocol = static_cast<std::uint32_t>(in.number(4));
    const std::uint64_t reach = in.number(1);
    const auto size = static_cast<std::size_t>(in.number(2));
    if (size == 0 || size > Address::kMostName || reach > 2) return false;
    out.reach = static_cast<Reach>(reach);
    const ByteView name = in.take(size);
    out.name.assign(name.begin(), name.end());
    return in.ok() && printable(out.provider) && printable(out.fabric);
}

std::string names(std::span<const Address> addresses) {
    std::string out;
    for (const Address& one : addresses) out += (out.empty() ? "" : ", ") + one.provider;
    return out.empty() ? "none" : out;
}

// Empty: it can be reached.
std::string obstacle(const Descriptor& mine, const Address& from, const Descriptor& theirs,
                     const Address& to) {
    const std::string which = to.provider + ": ";
    if (from.protocol != to.protocol) return which + "another protocol of the provider";
    if (from.format != to.format) return which + "another address format";
    if (to.reach == Reach::host) {
        if (!mine.where.same_boot(theirs.where)) return which + "other host";
        if (mine.shared_folder != theirs.shared_folder) return which + "another /dev/shm of this host";
        if (mine.user != theirs.user) return which + "another user of this host";
        return {};
    }
    if (from.fabric != to.fabric) return which + "fabric " + to.fabric + " there, " + from.fabric + " here";
    if (to.reach == Reach::network && !mine.where.same_network(theirs.where))
        return which + "loopback of another host or network namespace";
    return {};
}

} // namespace

Bytes Descriptor::encode() const {
    Bytes out;
    out.reserve(256);
    put(out, kVersion, 1);
    put(out, where.boot);
    put(out, where.network_namespace, 8);
    put(out, where.process_namespace, 8);
    put(out, user, 4);
    put(out, shared_folder, 8);
    put(out, page_address.process, 4);
    put(out, page_address.page, 4);
    put(out, page_address.ring, 4);
    put(out, page_address.cookie);
    put_text(out, address.provider);
    put_text(out, address.fabric);
    put(out, address.format, 4);
    put(out, address.protocol, 4);
    put(out, static_cast<std::uint64_t>(address.reach), 1);
    put_bytes(out, address.name, 2);
    return out;
}

std::optional<Descriptor> Descriptor::decode(ByteView bytes) {
    ByteReader in(bytes);
    Descriptor out;
    if (in.number(1) != kVersion) return std::nullopt;
    in.fill(out.where.boot);
    out.where.network_namespace = in.number(8);
    out.where.process_namespace = in.number(8);
    out.user = static_cast<std::uint32_t>(in.number(4));
    out.shared_folder = in.number(8);
    out.page_address.process = static_cast<std::uint32_t>(in.number(4));
    out.page_address.page = static_cast<std::uint32_t>(in.number(4));
    out.page_address.ring = static_cast<std::uint32_t>(in.number(4));
    in.fill(out.page_address.cookie);
    if (!read_address(in, out.address) || !in.at_end()) return std::nullopt;
    return out;
}

std::optional<std::size_t> choose(const Descriptor& here, std::span<const Address> mine,
                                  const Descriptor& theirs, std::string& why) {
    std::string obstacles;
    for (std::size_t i = 0; i < mine.size(); ++i) {
        if (mine[i].provider != theirs.address.provider) continue;
        const std::string one = obstacle(here, mine[i], theirs, theirs.address);
        if (one.empty()) return i;
        obstacles += (obstacles.empty() ? "" : "; ") + one;
    }
    why = !obstacles.empty()
              ? obstacles
              : "no common provider: " + theirs.address.provider + " there, " + names(mine) + " here";
    return std::nullopt;
}

} // namespace plexus::libfabric
