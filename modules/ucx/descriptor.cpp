// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/descriptor.h"

#include "common/bytes.h"
#include "common/proof.h"
#include "plexus/module/module.h"
#include "ucx/options.h"

#include <algorithm>

namespace plexus::ucx {
namespace {

using module::ByteReader;
using module::put;

constexpr std::uint8_t kVersion = 2;
constexpr std::string_view kPurpose = "plexus ucx descriptor";
constexpr std::size_t kMostName = 15;
constexpr std::size_t kCheckBytes = 4;
constexpr unsigned kLeavesHost = 1;
constexpr unsigned kFail = 2;
constexpr std::size_t kTail = kCheckBytes + Descriptor::kSealBytes;

// FNV-1a: finds accidents; against intent there is the seal.
std::uint32_t checksum(std::span<const std::uint8_t> bytes) {
    std::uint32_t sum = 2166136261u;
    for (const std::uint8_t byte : bytes) sum = (sum ^ byte) * 16777619u;
    return sum;
}

module::Proof seal_of(const plexus_host& host, std::span<const std::uint8_t> bytes) {
    return module::proof_of(host, kPurpose, kVersion, std::as_bytes(bytes));
}

bool shared(const Descriptor& a, const Descriptor& b, bool (*fits)(std::string_view)) {
    return std::any_of(a.transports.begin(), a.transports.end(), [&](const std::string& name) {
        return fits(name) && std::find(b.transports.begin(), b.transports.end(), name) != b.transports.end();
    });
}

bool carries_on_host(std::string_view name) { return stays_on_host(name) && name != "self" && name != "cma"; }
bool carries_away(std::string_view name) { return !stays_on_host(name); }

} // namespace

std::vector<std::uint8_t> Descriptor::encode(const plexus_host& host) const {
    std::vector<std::uint8_t> out;
    out.reserve(kMostBytes);
    put(out, kVersion, 1);
    put(out, library.major, 1);
    put(out, library.minor, 1);
    put(out, where.boot);
    put(out, where.network_namespace, 8);
    put(out, liveness);
    put(out, (leaves_host ? kLeavesHost : 0u) | (endpoints_fail ? kFail : 0u), 1);
    const std::size_t count = std::min(transports.size(), kMostTransports);
    put(out, count, 1);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view name = std::string_view(transports[i]).substr(0, kMostName);
        put(out, name.size(), 1);
        out.insert(out.end(), name.begin(), name.end());
    }
    put(out, address.size(), 2);
    out.insert(out.end(), address.begin(), address.end());
    if (address.size() > 0xffff || out.size() + kTail > kMostBytes) return {};
    const auto proof = seal_of(host, out);
    put(out, checksum(out), kCheckBytes);
    out.insert(out.end(), proof.begin(), proof.begin() + kSealBytes);
    return out;
}

std::optional<Descriptor> Descriptor::decode(plexus_view bytes) {
    const std::span<const std::uint8_t> all(static_cast<const std::uint8_t*>(bytes.data), bytes.size);
    if (all.size() < kTail || all.size() > kMostBytes || all[0] != kVersion) return std::nullopt;
    const auto said = all.first(all.size() - kTail);
    if (ByteReader(all.subspan(said.size(), kCheckBytes)).number(kCheckBytes) != checksum(said))
        return std::nullopt;
    ByteReader in(said.subspan(1));
    Descriptor out;
    out.library.major = static_cast<std::uint8_t>(in.number(1));
    out.library.minor = static_cast<std::uint8_t>(in.number(1));
    in.fill(out.where.boot);
    out.where.network_namespace = in.number(8);
    in.fill(out.liveness);
    const std::uint64_t flags = in.number(1);
    out.leaves_host = (flags & kLeavesHost) != 0;
    out.endpoints_fail = (flags & kFail) != 0;
    const std::uint64_t count = in.number(1);
    if (count > kMostTransports) return std::nullopt;
    for (std::uint64_t i = 0; in.ok() && i < count; ++i) {
        const std::string_view name = in.text(in.number(1));
        if (name.empty() || name.size() > kMostName) return std::nullopt;
        out.transports.emplace_back(name);
    }
    const std::string_view address = in.text(in.number(2));
    out.address.assign(address.begin(), address.end());
    if (!in.ok() || !in.at_end() || out.address.empty()) return std::nullopt;
    return out;
}

bool Descriptor::sealed(const plexus_host& host, plexus_view bytes) {
    const std::span<const std::uint8_t> all(static_cast<const std::uint8_t*>(bytes.data), bytes.size);
    if (all.size() < kTail) return false;
    const auto proof = seal_of(host, all.first(all.size() - kTail));
    std::uint8_t difference = 0; // in constant time: how far two proofs agree is a secret
    for (std::size_t i = 0; i < kSealBytes; ++i)
        difference = static_cast<std::uint8_t>(difference | (all[all.size() - kSealBytes + i] ^ proof[i]));
    return difference == 0;
}

std::string Descriptor::why_not(const Descriptor& here) const {
    const auto text = [](Version v) { return std::to_string(v.major) + "." + std::to_string(v.minor); };
    if (library.major != here.library.major)
        return "UCX " + text(library) + " there, UCX " + text(here.library) + " here";
    if (address == here.address) return {};
    const std::string lists = " (here " + joined(here.transports) + "; there " + joined(transports) + ")";
    if (endpoints_fail != here.endpoints_fail)
        return "only one side is set to transports of this host alone" + lists;
    const bool same_host = where.same_boot(here.where);
    const bool same_network = where.same_network(here.where);
    if (same_network && shared(*this, here, carries_on_host)) return {};
    if (shared(*this, here, carries_away)) {
        if ((leaves_host && here.leaves_host) || same_network) return {};
        return same_host ? "only by loopback, and in another network namespace"
                         : "other host, and only loopback devices";
    }
    if (same_host && shared(*this, here, carries_on_host))
        return "another network namespace, from which the end of a process would not be noticed";
    return (same_host ? "no common transport" : "other host, and no common transport that leaves one") +
           lists;
}

void describe_resources(Descriptor& descriptor, std::span<const Resource> resources) {
    for (const Resource& each : resources) {
        auto& names = descriptor.transports;
        if (std::find(names.begin(), names.end(), each.transport) == names.end() &&
            names.size() < Descriptor::kMostTransports)
            names.push_back(each.transport);
        if (!stays_on_host(each.transport) && each.device != "lo") descriptor.leaves_host = true;
    }
}

} // namespace plexus::ucx
