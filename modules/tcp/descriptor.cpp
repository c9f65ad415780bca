// SPDX-License-Identifier: BSD-3-Clause
#include "tcp/descriptor.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace plexus::tcp {
namespace {

constexpr std::uint8_t kVersion = 1;
enum : std::uint8_t { kFour = 4, kSix = 6 };

// Reads forward. After a read past the end all results are zero and ok() is false.
class Reader {
  public:
    explicit Reader(std::span<const std::uint8_t> bytes)
      : bytes_(bytes) {}

    std::uint64_t number(std::size_t size) {
        std::uint64_t value = 0;
        for (const std::uint8_t byte : take(size)) value = value << 8 | byte;
        return value;
    }
    template <std::size_t N>
    std::array<std::uint8_t, N> array() {
        std::array<std::uint8_t, N> out{};
        const auto from = take(N);
        std::copy(from.begin(), from.end(), out.begin());
        return out;
    }
    bool ok() const { return ok_; }
    bool at_end() const { return bytes_.empty(); }

  private:
    std::span<const std::uint8_t> take(std::size_t size) {
        ok_ = ok_ && size <= bytes_.size();
        if (!ok_) return {};
        const auto taken = bytes_.first(size);
        bytes_ = bytes_.subspan(size);
        return taken;
    }

    std::span<const std::uint8_t> bytes_;
    bool ok_ = true;
};

void put(std::vector<std::uint8_t>& out, std::uint64_t value, int size) {
    for (int i = size - 1; i >= 0; --i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

} // namespace

std::vector<std::uint8_t> Descriptor::encode() const {
    std::vector<std::uint8_t> out;
    out.reserve(64); // gcc 12 sees a write past the end in a vector that starts with one byte
    out.push_back(kVersion);
    out.insert(out.end(), where.boot.begin(), where.boot.end());
    put(out, where.network_namespace, 8);
    put(out, port, 2);
    const std::size_t count = std::min(addresses.size(), kMostAddresses);
    put(out, count, 1);
    for (std::size_t i = 0; i < count; ++i) {
        out.push_back(addresses[i].is_v4() ? kFour : kSix);
        if (addresses[i].is_v4()) {
            for (const auto byte : addresses[i].to_v4().to_bytes()) out.push_back(byte);
        } else {
            for (const auto byte : addresses[i].to_v6().to_bytes()) out.push_back(byte);
        }
    }
    return out;
}

std::optional<Descriptor> Descriptor::decode(plexus_view bytes) {
    Reader in({static_cast<const std::uint8_t*>(bytes.data), bytes.size});
    Descriptor out;
    if (in.number(1) != kVersion) return std::nullopt;
    out.where.boot = in.array<16>();
    out.where.network_namespace = in.number(8);
    out.port = static_cast<std::uint16_t>(in.number(2));
    const std::uint64_t count = in.number(1);
    if (count > kMostAddresses) return std::nullopt;
    for (std::uint64_t i = 0; in.ok() && i < count; ++i) {
        const std::uint64_t family = in.number(1);
        if (family == kFour) {
            out.addresses.emplace_back(asio::ip::address_v4(in.array<4>()));
        } else if (family == kSix) {
            out.addresses.emplace_back(asio::ip::address_v6(in.array<16>()));
        } else {
            return std::nullopt;
        }
        const auto& last = out.addresses.back();
        if (last.is_unspecified() || last.is_multicast()) return std::nullopt;
    }
    if (!in.ok() || !in.at_end() || out.port == 0 || out.addresses.empty()) return std::nullopt;
    return out;
}

std::vector<asio::ip::address> Descriptor::reachable_from(const module::Surroundings& here) const {
    std::vector<asio::ip::address> out;
    const bool same = where.same_network(here);
    for (const auto& address : addresses)
        if (same || !address.is_loopback()) out.push_back(address);
    std::stable_partition(out.begin(), out.end(), [](const auto& address) { return address.is_loopback(); });
    return out;
}

std::string Descriptor::why_not(const module::Surroundings& here) const {
    return where.same_boot(here) ? "listens on loopback of another network namespace"
                                 : "listens on loopback of another host";
}

} // namespace plexus::tcp
