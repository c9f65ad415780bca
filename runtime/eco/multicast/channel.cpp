// SPDX-License-Identifier: BSD-3-Clause
#include "multicast/channel.h"

#include <algorithm>

namespace plexus::eco::multicast {
namespace {

/// Datagrams that one call of receive() looks at: many may be forged.
constexpr int kBudget = 32;
/// Limit of what is kept for later calls. More is dropped, and asked for again.
constexpr std::size_t kMostKept = 1u << 20;
constexpr std::size_t kLeastBurst = 64u << 10;

bool is_later(std::uint32_t call, std::uint32_t than) noexcept {
    return static_cast<std::int32_t>(call - than) > 0; // numbers start again after the highest
}

} // namespace

Channel::Channel(Socket socket, const Key& key, std::uint64_t group, std::uint32_t me,
                 const Agreement& agreed)
  : socket_(std::move(socket))
  , key_(key)
  , group_(group)
  , me_(me)
  , agreed_(agreed)
  , limiter_(agreed.bytes_per_second, std::max<std::size_t>(kLeastBurst, agreed.payload + kOverhead))
  , incoming_(agreed.payload + kOverhead + 1) {}

std::uint64_t Channel::count_of(std::uint64_t bytes) const noexcept {
    return std::max<std::uint64_t>(1, (bytes + agreed_.payload - 1) / agreed_.payload);
}

bool Channel::send(PacketHeader header, Bytes data) {
    header.group = group_;
    header.sender = me_;
    encode(header, data, key_, outgoing_);
    return socket_.send(outgoing_);
}

/// The next genuine datagram of another member, or of this one if it is a probe.
std::optional<Packet> Channel::next() {
    for (int i = 0; i < kBudget; ++i) {
        const Bytes datagram = socket_.receive(incoming_);
        if (datagram.empty()) return std::nullopt;
        const auto packet = decode(datagram, group_, key_);
        if (!packet || (packet->header.sender == me_ && packet->header.count > 0)) continue;
        const Drop drop = drop_.load(std::memory_order_relaxed);
        if (drop == nullptr || !drop(packet->header, me_)) return packet;
    }
    return std::nullopt;
}

std::optional<Packet> Channel::receive(std::uint32_t call) {
    while (!kept_.empty() && !is_later(kept_.front().header.call, call)) {
        present_ = std::move(kept_.front());
        kept_.pop_front();
        kept_bytes_ -= present_.data.size();
        if (present_.header.call == call) return Packet{present_.header, present_.data};
    }
    for (int i = 0; i < kBudget; ++i) {
        const auto packet = next();
        if (!packet) break;
        if (packet->header.count == 0) continue; // a probe that came late
        if (packet->header.call == call) return packet;
        if (is_later(packet->header.call, call)) keep(*packet);
    }
    return std::nullopt;
}

void Channel::keep(const Packet& packet) {
    if (kept_bytes_ + packet.data.size() > kMostKept || kept_.size() >= kMostKept / kOverhead) return;
    const auto at = std::upper_bound(
        kept_.begin(), kept_.end(), packet.header.call,
        [](std::uint32_t call, const Kept& each) { return is_later(each.header.call, call); });
    kept_.insert(at, {packet.header, {packet.data.begin(), packet.data.end()}});
    kept_bytes_ += packet.data.size();
}

std::optional<std::uint32_t> Channel::receive_probe() {
    for (int i = 0; i < kBudget; ++i) {
        const auto packet = next();
        if (!packet) break;
        if (packet->header.count == 0) return packet->header.sender;
    }
    return std::nullopt;
}

} // namespace plexus::eco::multicast
