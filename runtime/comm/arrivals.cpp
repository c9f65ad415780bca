// SPDX-License-Identifier: BSD-3-Clause
// What modules tell their host: links that open, frames that arrive. @thread progress
#include "comm/exchange.h"

#include "wire/table.h"

namespace plexus::comm {
namespace {

/// So many frames or bytes are delivered on a fragile link before its sender is told.
constexpr std::uint64_t kConfirmFrames = 256;
constexpr std::uint64_t kConfirmBytes = 256 * 1024;
/// And so long at most.
constexpr auto kConfirmTime = std::chrono::milliseconds(50);
constexpr std::size_t kPastStreams = 1024;
constexpr std::size_t kAlignment = 64;

} // namespace

int32_t Exchange::accepted(Method& method, plexus_link* link, const ContextId& who, void** cookie) {
    if (parted()) return PLEXUS_AGAIN;
    const auto peer = this->peer(who);
    const std::string& row = method.row_of(link);
    {
        Lock hold(peer->mutex);
        if (peer->presence == Presence::gone) return PLEXUS_PEER_LOST;
        // While this context closes, only for what was begun before.
        if (closing() && peer->presence == Presence::unknown) return PLEXUS_AGAIN;
        peer->presence = Presence::here;
        peer->forget_failure(row);
    }
    // Whoever comes by this method can be answered by it; how to reach it anew its hello will say.
    Object& object = this->object(*peer, Descriptor{row, {}, {}});
    Connection& connection = new_connection(method, *peer, object);
    connection.link = link;
    connection.open = true;
    *cookie = &connection;
    object.adopt(connection);
    return PLEXUS_OK;
}

void Exchange::opened(Connection& connection) {
    connection.open = true;
    {
        Lock hold(connection.peer->mutex);
        connection.peer->presence = Presence::here;
        connection.peer->forget_failure(connection.object->row_name());
    }
    connection.object->adopt(connection);
}

void Exchange::deliver(Connection& connection, wire::View frame, Buffer* owned) {
    if (connection.ignored) return;
    const auto kind = frame.empty() ? std::size_t{0} : static_cast<std::size_t>(frame[0]);
    if (kind >= wire::kFirstUncounted) {
        connection.heard = true;
        const auto known = wire::kind_of(frame);
        return known ? take_control(connection, *known, frame)
                     : break_rules(connection, "a frame of an unknown kind");
    }
    const Sink& sink = sinks_[kind];
    if (sink.take == nullptr || connection.stream == 0) [[unlikely]]
        return break_rules(connection,
                           sink.take == nullptr ? "a frame of an unknown kind" : "a frame before the hello");
    if (frame.size() <= options_.max_message) [[likely]]
        sink.take(sink.self, connection, frame, owned);
    else
        refuse(connection, frame, frame.size(), false);
    ++connection.delivered;
    if (connection.method->fragile())
        account(connection, frame.size(),
                static_cast<std::uint8_t>(frame.size() > 1 ? frame[1] : std::byte{}));
}

int32_t Exchange::place(Connection& connection, wire::View head, std::size_t rest, void** where,
                        void** token) {
    if (connection.ignored || connection.stream == 0) return PLEXUS_LINK_LOST;
    // It counts as delivered: its sender must not send it again, and may be waiting to hear so.
    const auto pass_over = [&](bool memory) {
        refuse(connection, head, head.size() + rest, memory);
        ++connection.delivered;
        if (connection.method->fragile()) account(connection, 0, wire::kConfirmNow);
        return PLEXUS_TOO_LARGE;
    };
    if (head.size() + rest > options_.max_message) return pass_over(false);
    auto placement = std::make_unique<Placement>();
    placement->size = head.size() + rest;
    const auto kind = head.empty() ? std::size_t{0} : static_cast<std::size_t>(head[0]);
    const Sink* sink = kind < wire::kFirstUncounted ? &sinks_[kind] : nullptr;
    if (sink == nullptr || sink->place == nullptr ||
        !sink->place(sink->self, connection, head, rest, *placement, where)) {
        // The rest starts at a multiple of 64, the head just before it.
        const std::size_t before = (head.size() + kAlignment - 1) / kAlignment * kAlignment;
        placement->memory = make_buffer(before + rest + kAlignment);
        if (placement->memory == nullptr) return pass_over(true);
        const auto start = reinterpret_cast<std::uintptr_t>(placement->memory.get());
        auto* body =
            placement->memory.get() + ((start + before + kAlignment - 1) / kAlignment * kAlignment - start);
        placement->frame = body - head.size();
        std::memcpy(placement->frame, head.data(), head.size());
        *where = body;
    }
    *token = placement.get();
    connection.placements.insert(std::move(placement));
    return PLEXUS_OK;
}

void Exchange::placed(Connection& connection, Placement* placement, Status status) {
    const auto found = std::find_if(connection.placements.begin(), connection.placements.end(),
                                    [&](const auto& each) { return each.get() == placement; });
    if (found == connection.placements.end()) return;
    const auto owned = std::move(connection.placements.extract(found).value());
    if (owned->finish != nullptr) {
        owned->finish(owned->self, *owned, status);
        if (status != Status::ok || connection.ignored) return;
        ++connection.delivered;
        if (connection.method->fragile()) account(connection, owned->size, wire::kConfirmNow);
    } else if (status == Status::ok) {
        deliver(connection, {owned->frame, owned->size}, &owned->memory);
    }
}

void Exchange::refuse(Connection& connection, wire::View head, std::size_t bytes, bool memory) {
    const auto kind = head.empty() ? std::size_t{0} : static_cast<std::size_t>(head[0]);
    const std::string why =
        memory ? fmt::format("context {} has no memory for a message of {} bytes",
                             to_string(self_).substr(0, 8), bytes)
               : fmt::format("the message has {} bytes, limits.max_message of context {} allows {}: raise it "
                             "on both sides, or send in parts",
                             bytes, to_string(self_).substr(0, 8), options_.max_message);
    const Sink* sink = kind < wire::kFirstUncounted ? &sinks_[kind] : nullptr;
    if (sink == nullptr || sink->refuse == nullptr ||
        !sink->refuse(sink->self, connection, head, Status::too_large, why))
        listener_.trouble(Status::too_large, fmt::format("from context {}: {}",
                                                         to_string(connection.peer->id).substr(0, 8), why));
}

void Exchange::account(Connection& connection, std::size_t bytes, std::uint8_t flags) {
    if (connection.delivered - connection.confirmed == 1) {
        if (owing_.empty()) {
            confirm_at_ = std::chrono::steady_clock::now() + kConfirmTime;
            scheduler_.request_chores();
        }
        owing_.push_back(&connection);
    }
    connection.unconfirmed_bytes += bytes;
    if (connection.delivered - connection.confirmed >= kConfirmFrames ||
        connection.unconfirmed_bytes >= kConfirmBytes || (flags & wire::kConfirmNow) != 0)
        confirm(connection);
}

void Exchange::confirm(Connection& connection) {
    wire::Bytes bytes(wire::StreamFrame::kBytes);
    wire::encode(wire::Kind::confirm, wire::StreamFrame{connection.stream, connection.delivered},
                 bytes.data());
    connection.confirmed = connection.delivered;
    connection.unconfirmed_bytes = 0;
    std::erase(owing_, &connection);
    connection.object->control(connection, std::move(bytes));
}

void Exchange::take_control(Connection& connection, wire::Kind kind, wire::View frame) {
    if (kind == wire::Kind::hello) return take_hello(connection, frame);
    if (kind == wire::Kind::goodbye) return take_goodbye(connection);
    const auto stream = wire::decode_stream(frame);
    if (!stream) return break_rules(connection, "a control frame of the wrong size");
    switch (kind) {
    case wire::Kind::confirm:
        connection.object->confirmed(stream->stream, stream->count);
        break;
    case wire::Kind::fence:
        if (stream->stream == connection.stream) confirm(connection);
        break;
    case wire::Kind::recover:
        take_recover(connection, *stream);
        break;
    case wire::Kind::recovered:
        connection.object->recovered(stream->stream, stream->count);
        break;
    default:
        break_rules(connection, "a control frame of an unknown kind");
    }
}

void Exchange::take_hello(Connection& connection, wire::View frame) {
    const auto hello = wire::decode_hello(frame);
    if (!hello || hello->stream == 0 || connection.stream != 0)
        return break_rules(connection, "a hello that is none");
    if (hello->version != wire::kVersion) {
        listener_.trouble(Status::unsupported,
                          fmt::format("context {} speaks version {} of the wire format, this one {}: both "
                                      "need the same release of Plexus",
                                      to_string(connection.peer->id).substr(0, 8), hello->version,
                                      wire::kVersion));
        return break_rules(connection, "another version of the wire format");
    }
    auto table = wire::decode_table(hello->table);
    if (!table) return break_rules(connection, "a descriptor table that is none");
    connection.stream = hello->stream;
    // A question about this stream was quicker, and the answer was: nothing has come.
    const Peer& peer = *connection.peer;
    if (peer.past_streams.count(hello->stream) != 0 || hello->stream <= peer.forgotten_streams)
        connection.ignored = true;
    auto known = KnownTable::make(std::move(*table));
    connection.object->learn(*known);
    connection.peer->learn(std::move(known), true);
}

void Exchange::take_recover(Connection& connection, const wire::StreamFrame& frame) {
    Peer& peer = *connection.peer;
    std::optional<std::uint64_t> count;
    {
        Lock hold(connections_mutex_);
        for (const auto& other : connections_) {
            if (other->peer.get() != &peer || other->stream != frame.stream) continue;
            other->ignored = true; // its sender has given it up: what still comes would come twice
            count = other->delivered;
        }
    }
    if (const auto past = peer.past_streams.find(frame.stream); past != peer.past_streams.end())
        count = past->second;
    if (!count && frame.stream <= peer.forgotten_streams)
        return break_rules(connection, "a question about a stream of long ago"); // any answer could be wrong
    remember(peer, frame.stream, count.value_or(0)); // also where its hello is still on its way
    wire::Bytes bytes(wire::StreamFrame::kBytes);
    wire::encode(wire::Kind::recovered, wire::StreamFrame{frame.stream, count.value_or(0)}, bytes.data());
    connection.object->control(connection, std::move(bytes));
}

// On each of its links a peer confirms what it got, then says goodbye: only after the last of
// them is it known what did not arrive.
void Exchange::take_goodbye(Connection& connection) {
    connection.farewell = true;
    see_off(connection.peer);
}

void Exchange::see_off(const std::shared_ptr<Peer>& peer) {
    {
        Lock hold(connections_mutex_);
        for (const auto& other : connections_)
            if (other->peer == peer && other->open && !other->lost && !other->farewell) return;
    }
    constexpr const char* kWhy = "it has ended";
    declare_lost(*peer, Status::peer_lost, kWhy);
    std::vector<Object*> objects;
    {
        Lock hold(peer->mutex);
        if (std::exchange(peer->presence, Presence::gone) == Presence::gone) return;
        for (const auto& object : peer->objects) objects.push_back(object.get());
    }
    for (Object* object : objects) abandon(*peer, Status::peer_lost, kWhy, object->die());
    gone_.push_back(peer);
}

void Exchange::break_rules(Connection& connection, const char* how) {
    if (connection.broken_rules) return;
    connection.broken_rules = true;
    connection.ignored = true;
    log::warn("comm", "{}: context {} sent {}: the connection is closed", connection.method->name,
              to_string(connection.peer->id).substr(0, 8), how);
    lost(connection, Status::link_lost, std::string("it sent ") + how);
}

// What was said of a stream once stays said.
void Exchange::remember(Peer& peer, std::uint32_t stream, std::uint64_t delivered) {
    auto& past = peer.past_streams;
    if (!past.emplace(stream, delivered).second || past.size() <= kPastStreams) return;
    peer.forgotten_streams = past.begin()->first;
    past.erase(past.begin());
}

void Exchange::release_lost() {
    for (Connection* connection : lost_) {
        std::erase(owing_, connection);
        connection->object->release(*connection);
        if (connection->stream != 0) remember(*connection->peer, connection->stream, connection->delivered);
        for (const auto& placement : connection->placements)
            if (placement->finish != nullptr)
                placement->finish(placement->self, *placement, Status::link_lost);
        std::unique_ptr<Connection> over;
        Lock hold(connections_mutex_);
        const auto found = std::find_if(connections_.begin(), connections_.end(),
                                        [&](const auto& each) { return each.get() == connection; });
        over = std::move(*found);
        connections_.erase(found);
    }
    lost_.clear();
}

} // namespace plexus::comm
