// SPDX-License-Identifier: BSD-3-Clause
#include "transport/datagrams.h"

#include "transport/demux.h"
#include "transport/reach.h"

#include <algorithm>

namespace plexus::transport {
namespace {

constexpr auto kFirstPause = std::chrono::seconds(1);
constexpr auto kLongestPause = std::chrono::seconds(60);
/// Of one peer: one each that the two sides dialled, and those that it has given up and we have not missed
/// yet.
constexpr std::size_t kMostLinks = 8;
/// Peers that are remembered without a link.
constexpr std::size_t kManyWays = 1024;

} // namespace

Status Datagrams::send(Peer& peer, std::uint16_t request, const Frame& frame, std::string* why) {
    const std::uint64_t most = interface_.limits.max_message;
    if (most != 0 && frame.size > most) {
        if (why != nullptr)
            *why =
                fmt::format("a message of {} bytes is larger than the {} that {} carries at once: send it in "
                            "parts, or without plexus::unreliable",
                            frame.size, most, interface_.name);
        return Status::too_large;
    }
    if (interface_.calls.endpoint->closing()) return Status::link_lost;
    Lock hold(mutex_);
    const auto found = ways_.find(peer.id);
    if (found == ways_.end()) return Status::not_found;
    Way& way = found->second;
    DatagramLink* const link = open_link(way);
    if (link == nullptr) begin_dial(way, peer);
    if (link == nullptr || request >= way.introduced.size() || !way.introduced[request])
        return Status::link_lost;
    switch (interface_.ops.send(link->handle, frame.views(), frame.count, nullptr)) {
    case PLEXUS_OK:
        interface_.counts.count_sent(frame.size);
        return Status::ok;
    case PLEXUS_AGAIN:
        MethodCounts::one_more(interface_.counts.dropped);
        return Status::ok;
    default: // also more than this path carries
        return Status::link_lost;
    }
}

DatagramLink* Datagrams::open_link(const Way& way) noexcept {
    // The last: where both sides redialled, the peer may have given the others up already.
    const auto found =
        std::find_if(way.links.rbegin(), way.links.rend(), [](const auto& each) { return each->open; });
    return found == way.links.rend() ? nullptr : found->get();
}

void Datagrams::introduced(const Peer& peer, std::uint16_t request) {
    Lock hold(mutex_);
    const auto found = ways_.find(peer.id);
    if (found == ways_.end() || open_link(found->second) == nullptr) return;
    std::vector<bool>& known = found->second.introduced;
    if (request >= known.size()) known.resize(request + std::size_t{1});
    known[request] = true;
}

void Datagrams::dial(Peer& peer, const Descriptor& row) {
    Lock hold(mutex_);
    if (over_) return;
    if (ways_.size() >= kManyWays && !ways_.contains(peer.id))
        std::erase_if(ways_, [](const auto& each) { return each.second.links.empty(); });
    Way& way = ways_[peer.id];
    way.row = row;
    if (open_link(way) == nullptr) begin_dial(way, peer);
}

void Datagrams::begin_dial(Way& way, Peer& peer) {
    const auto now = Clock::now();
    const bool under_way =
        std::any_of(way.links.begin(), way.links.end(), [](const auto& each) { return each->dialed; });
    if (under_way || way.row.bytes.empty() || now < way.not_before) return;
    way.pause = std::clamp<Clock::duration>(2 * way.pause, kFirstPause, kLongestPause);
    way.not_before = now + way.pause;
    auto link = std::make_unique<DatagramLink>(DatagramLink{*this, peer.shared_from_this(), nullptr, true});
    DatagramLink& made = *way.links.emplace_back(std::move(link));
    const plexus_view descriptor{way.row.bytes.data(), way.row.bytes.size()};
    plexus_id whom;
    std::memcpy(whom.bytes, peer.id.bytes.data(), sizeof whom.bytes);
    if (interface_.ops.connect(interface_.instance, descriptor, &whom, &made, &made.handle) != PLEXUS_OK)
        way.links.pop_back();
}

int32_t Datagrams::accepted(plexus_link* handle, const ContextId& who, void** cookie) {
    Endpoint& endpoint = *interface_.calls.endpoint;
    if (endpoint.closing()) return PLEXUS_AGAIN;
    const auto peer = endpoint.peer(who);
    const auto said = peer->said_table();
    // A peer that has not come by another method yet has nothing to send here.
    if (said == nullptr || peer->presence() == Presence::gone) return PLEXUS_AGAIN;
    const std::string& row = interface_.row_of(handle);
    if (const std::string why = forbids(endpoint, interface_, row, said->table); !why.empty()) {
        warn_of_refusal(endpoint, *peer, row, why);
        MethodCounts::one_more(interface_.counts.refusals);
        return PLEXUS_NO_METHOD;
    }
    Lock hold(mutex_);
    if (over_) return PLEXUS_AGAIN;
    Way& way = ways_[who];
    if (way.links.size() >= kMostLinks) {
        MethodCounts::one_more(interface_.counts.refusals);
        return PLEXUS_AGAIN;
    }
    auto link = std::make_unique<DatagramLink>(DatagramLink{*this, peer, handle, false});
    link->open = true;
    *cookie = link.get();
    way.links.push_back(std::move(link));
    return PLEXUS_OK;
}

void Datagrams::opened(DatagramLink& link) {
    Lock hold(mutex_);
    link.open = true;
    Way& way = ways_[link.peer->id];
    way.pause = {};
    way.not_before = {};
}

void Datagrams::deliver(DatagramLink& link, wire::View message) {
    const Host& host = interface_.calls;
    interface_.counts.count_received(message.size());
    if (message.size() > host.endpoint->options().max_message ||
        !host.demux->deliver_datagram(*link.peer, interface_, message))
        MethodCounts::one_more(interface_.counts.dropped);
}

void Datagrams::lost(DatagramLink& link, std::string_view why) {
    log::info("transport", "{}: no connection with {}: {}", interface_.name, link.peer->text(), why);
    std::unique_ptr<DatagramLink> over;
    Lock hold(mutex_);
    interface_.ops.disconnect(link.handle);
    const auto found = ways_.find(link.peer->id);
    Way& way = found->second;
    const auto at = std::find_if(way.links.begin(), way.links.end(),
                                 [&](const auto& each) { return each.get() == &link; });
    over = std::move(*at);
    way.links.erase(at);
    if (open_link(way) == nullptr) way.introduced.clear();
    const bool was_vain = way.pause != Clock::duration{}; // the next dial has to wait, and then for longer
    if (way.links.empty() && !was_vain) ways_.erase(found);
}

void Datagrams::abandon() {
    std::unordered_map<ContextId, Way> ways;
    Lock hold(mutex_);
    over_ = true;
    ways.swap(ways_);
    for (const auto& [id, way] : ways)
        for (const auto& link : way.links) interface_.ops.disconnect(link->handle);
}

} // namespace plexus::transport
