// SPDX-License-Identifier: BSD-3-Clause
#include "multicast/channel.h"

#include <algorithm>

namespace plexus::eco::multicast {
namespace {

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
  , incoming_(agreed.payload + kOverhead + 1) {
    (void)socket_.keep_out(group, me); // where there is no filter, is_wanted() drops them
}

std::uint64_t Channel::count_of(std::uint64_t bytes) const noexcept {
    return std::max<std::uint64_t>(1, (bytes + agreed_.payload - 1) / agreed_.payload);
}

bool Channel::send(PacketHeader header, Bytes data) {
    header.group = group_;
    header.sender = me_;
    encode(header, data, key_, outgoing_);
    return socket_.send(outgoing_);
}

template <class Wants>
std::optional<Packet> Channel::next(Budget& budget, Wants&& wants) {
    while (budget.take()) {
        const auto datagram = socket_.receive(incoming_);
        if (!datagram) return std::nullopt;
        const auto packet = parse(*datagram, group_);
        if (!packet || !wants(*packet) || !is_genuine(*datagram, key_)) continue;
        const Drop drop = drop_.load(std::memory_order_relaxed);
        if (drop == nullptr || !drop(packet->header, me_)) return packet;
    }
    return std::nullopt;
}

bool Channel::is_wanted(const Packet& packet, std::uint32_t call) const noexcept {
    const PacketHeader& header = packet.header;
    if (header.count == 0 || header.sender == me_ || packet.data.size() > agreed_.payload) return false;
    return header.call == call || (is_later(header.call, call) && may_keep(packet.data.size()));
}

std::optional<Packet> Channel::receive(std::uint32_t call, Budget& budget) {
    if (take_kept(call, budget)) return Packet{present_.header, present_.data};
    const auto wants = [&](const Packet& packet) { return is_wanted(packet, call); };
    while (const auto packet = next(budget, wants)) {
        if (packet->header.call == call) return packet;
        keep(*packet);
    }
    return std::nullopt;
}

/// True: `present_` is a datagram of this call that came before the call. Those of earlier calls go.
bool Channel::take_kept(std::uint32_t call, Budget& budget) {
    while (!kept_.empty() && !is_later(kept_.front().header.call, call) && budget.take()) {
        present_ = std::move(kept_.front());
        kept_.pop_front();
        kept_bytes_ -= present_.data.size();
        if (present_.header.call == call) return true;
    }
    return false;
}

bool Channel::may_keep(std::size_t bytes) const noexcept {
    return kept_bytes_ + bytes <= kMostKept && kept_.size() < kMostKept / kOverhead;
}

void Channel::keep(const Packet& packet) {
    const auto at = std::upper_bound(
        kept_.begin(), kept_.end(), packet.header.call,
        [](std::uint32_t call, const Kept& each) { return is_later(each.header.call, call); });
    kept_.insert(at, {packet.header, {packet.data.begin(), packet.data.end()}});
    kept_bytes_ += packet.data.size();
}

std::optional<std::uint32_t> Channel::receive_probe(Budget& budget) {
    const auto packet = next(budget, [](const Packet& each) { return each.header.count == 0; });
    if (!packet) return std::nullopt;
    return packet->header.sender;
}

} // namespace plexus::eco::multicast
