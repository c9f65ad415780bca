// SPDX-License-Identifier: BSD-3-Clause
#include "transport/demux.h"

#include "base/trace.h"
#include "transport/reach.h"
#include "wire/table.h"

#include <algorithm>

namespace plexus::transport {
namespace {

constexpr std::size_t kAlignment = 64;
/// A sender introduces a table anew after 256 others (Introductions::kMostTables).
constexpr std::size_t kMostTables = 2 * Introductions::kMostTables;
/// Control frames that wait for a peer that asks and does not read.
constexpr std::size_t kMostControls = 2 * PastStreams::kMost;
/// The answer to a question about a stream that nobody here remembers.
constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

} // namespace

void Demux::deliver(Link& link, wire::View frame, Buffer* owned) {
    if (link.ignored) return;
    // Some methods deliver in memory that the peer can write: the kind is read once.
    const auto kind = frame.empty() ? std::size_t{0} : static_cast<std::size_t>(frame[0]);
    if (kind >= wire::kFirstUncounted) return take_control(link, frame);
    const Sink& sink = sinks_[kind];
    if (sink.take == nullptr || link.received.stream() == 0) [[unlikely]]
        return break_rules(link,
                           sink.take == nullptr ? "a frame of an unknown kind" : "a frame before the hello");
    const bool ack_now = frame.size() > 1 && (static_cast<std::uint8_t>(frame[1]) & wire::kAckNow) != 0;
    if (frame.size() <= endpoint_.options().max_message) [[likely]] {
        PLEXUS_TRACE3(deliver, link.peer->short_id.c_str(), link.channel->row_name().c_str(), frame.size());
        sink.take(sink.self, link, frame, owned);
    } else {
        refuse(link, frame, frame.size(), false);
    }
    acks_.delivered(link, frame.size(), ack_now);
}

int32_t Demux::place(Link& link, wire::View head, std::size_t rest, void** where, void** token) {
    if (link.ignored || link.received.stream() == 0) return PLEXUS_LINK_LOST;
    // It counts as delivered: its sender must not send it again, and may be waiting to hear so.
    const auto pass_over = [&](bool memory) {
        refuse(link, head, head.size() + rest, memory);
        acks_.delivered(link, 0, true);
        return PLEXUS_TOO_LARGE;
    };
    const auto kind = head.empty() ? std::size_t{0} : static_cast<std::size_t>(head[0]);
    if (kind >= wire::kFirstUncounted) {
        break_rules(link, "a control frame that is large");
        return PLEXUS_LINK_LOST;
    }
    if (head.size() + rest > endpoint_.options().max_message) return pass_over(false);
    auto placement = std::make_unique<Placement>();
    placement->size = head.size() + rest;
    const Sink& sink = sinks_[kind];
    if (sink.place == nullptr || !sink.place(sink.self, link, head, rest, *placement, where)) {
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
    link.placements.insert(std::move(placement));
    return PLEXUS_OK;
}

void Demux::placed(Link& link, Placement* placement, Status status) {
    const auto found = std::find_if(link.placements.begin(), link.placements.end(),
                                    [&](const auto& each) { return each.get() == placement; });
    if (found == link.placements.end()) return;
    const auto owned = std::move(link.placements.extract(found).value());
    if (link.ignored && status == Status::ok) status = Status::link_lost; // it will be sent again
    if (owned->finish != nullptr) {
        if (status == Status::ok)
            PLEXUS_TRACE3(deliver, link.peer->short_id.c_str(), link.channel->row_name().c_str(),
                          owned->size);
        owned->finish(owned->self, *owned, status);
        if (status == Status::ok) acks_.delivered(link, owned->size, true);
    } else if (status == Status::ok) {
        deliver_aligned(link, *owned);
    }
}

void Demux::arriving(Link& link) {
    if (link.ignored || link.received.stream() == 0) return;
    ++link.liveness.signs;
    acks_.arriving(link);
}

// A head whose length is no multiple of 8 bytes leaves the frame where its numbers can't be read in place.
void Demux::deliver_aligned(Link& link, Placement& placement) {
    const wire::View frame{placement.frame, placement.size};
    if (reinterpret_cast<std::uintptr_t>(placement.frame) % 8 == 0)
        return deliver(link, frame, &placement.memory);
    Buffer aligned = make_buffer(placement.size);
    if (aligned == nullptr) {
        refuse(link, frame, frame.size(), true);
        return acks_.delivered(link, frame.size(), true);
    }
    std::memcpy(aligned.get(), placement.frame, placement.size);
    deliver(link, {aligned.get(), placement.size}, &aligned);
}

void Demux::refuse(Link& link, wire::View head, std::size_t bytes, bool memory) {
    const auto kind = head.empty() ? std::size_t{0} : static_cast<std::size_t>(head[0]);
    const std::string self = short_text(endpoint_.self());
    const std::string why =
        memory ? fmt::format("context {} has no memory for a message of {} bytes", self, bytes)
               : fmt::format("the message has {} bytes, limits.max_message of context {} allows {}: raise it "
                             "on both sides, or send in parts",
                             bytes, self, endpoint_.options().max_message);
    const Sink* sink = kind < wire::kFirstUncounted ? &sinks_[kind] : nullptr;
    if (sink == nullptr || sink->refuse == nullptr ||
        !sink->refuse(sink->self, link, head, Status::too_large, why))
        endpoint_.listener().on_error(Status::too_large, fmt::format("from {}: {}", link.peer->text(), why));
}

void Demux::take_control(Link& link, wire::View frame) {
    ++link.liveness.signs;
    const auto kind = wire::kind_of(frame);
    if (!kind) return break_rules(link, "a frame of an unknown kind");
    if (*kind == wire::Kind::hello) return take_hello(link, frame);
    if (*kind == wire::Kind::goodbye) return failover_.goodbye(link);
    if (*kind == wire::Kind::dropped) return take_dropped(link, frame);
    const auto said = wire::decode_stream(frame);
    if (!said) return break_rules(link, "a control frame of the wrong size");
    switch (*kind) {
    case wire::Kind::ack:
        return link.channel->on_outbox([&](Outbox& outbox) { outbox.acked(*said); });
    case wire::Kind::ack_request:
        if (said->stream == link.received.stream()) acks_.now(link);
        return;
    case wire::Kind::replay_request:
        return take_replay_request(link, said->stream);
    case wire::Kind::replay_answer:
        return link.channel->on_outbox([&](Outbox& outbox) {
            outbox.resumed(said->stream, said->count == kUnknown ? std::nullopt : std::optional(said->count));
        });
    default:
        return break_rules(link, "a control frame of an unknown kind");
    }
}

void Demux::take_hello(Link& link, wire::View frame) {
    const auto hello = wire::decode_hello(frame);
    if (!hello || hello->stream == 0 || link.received.stream() != 0)
        return break_rules(link, "a hello that is none");
    Peer& peer = *link.peer;
    if (hello->version != wire::kVersion) {
        endpoint_.listener().on_error(
            Status::unsupported, fmt::format("{} speaks version {} of the wire format, this one {}: both "
                                             "need the same release of Plexus",
                                             peer.text(), hello->version, wire::kVersion));
        return break_rules(link, "another version of the wire format");
    }
    auto table = wire::decode_table(hello->table);
    if (!table) return break_rules(link, "a descriptor table that is none");
    if (!table->prescribed().empty()) return break_rules(link, "a table of its own that prescribes methods");
    auto known = KnownTable::make(std::move(*table));
    if (!believes(link, PLEXUS_CLAIM_SITE, known->table.place().site)) return;
    if (!believes(link, PLEXUS_CLAIM_NAME, peer.name())) return; // said by another link
    const std::string apart = forbids(endpoint_, link.interface, link.channel->row_name(), known->table);
    if (!apart.empty()) {
        peer.learn(known, true);
        warn_of_refusal(endpoint_, peer, link.channel->row_name(), apart);
        return failover_.reject(link, apart, Status::no_method);
    }
    link.received.start(hello->stream);
    Relation& relation = peer.relation;
    // A question about this stream was quicker, and the answer was: nothing has come.
    if (relation.past.find(hello->stream) || relation.past.forgotten(hello->stream)) link.ignored = true;
    // The peer speaks of a memory that is not this one: this context has forgotten the peer since.
    link.past_unknown = hello->known_memory != 0 && hello->known_memory != relation.memory;
    peer.learn(known, true);
    failover_.placed(peer); // before the next line lets go of what waits for the peer's hello
    peer.max_message.store(hello->max_message, std::memory_order_relaxed);
    // Nothing here waits for what was dropped before this context forgot the peer.
    const std::uint64_t dropped = hello->known_memory == relation.memory ? hello->dropped : 0;
    if (peer.dropped.start_at(hello->memory)) { // the peer has forgotten this context
        relation.their_drops = dropped;
        relation.their_dropped_reports = 0; // it counts anew, and says so behind its hello
        for (Channel* channel : peer.all_channels())
            endpoint_.listener().calls_lost(*channel, WhichCalls::all, Status::message_lost,
                                            "the peer has forgotten this context meanwhile");
    } else {
        answers_dropped(link, dropped);
    }
    link.channel->learn(*known);
    for (Channel* channel : peer.all_channels()) // what waited, and larger messages, may leave now
        channel->on_outbox([&](Outbox& outbox) {
            outbox.placed(known->table.place());
            if (outbox.out() != nullptr) outbox.flush(*outbox.out());
        });
}

void Demux::take_dropped(Link& link, wire::View frame) {
    const auto said = wire::decode_dropped(frame);
    if (!said) return break_rules(link, "a control frame of the wrong size");
    if (said->memory != link.peer->relation.memory) return; // this context has forgotten the peer since
    if (said->what == wire::Dropped::answers) return answers_dropped(link, said->count);
    if (said->what == wire::Dropped::reports) return reports_dropped(link, said->count);
}

// Which of the calls under way the dropped answers belong to is not known any more.
void Demux::answers_dropped(Link& link, std::uint64_t count) {
    Relation& relation = link.peer->relation;
    if (count <= relation.their_drops) return;
    relation.their_drops = count;
    for (Channel* channel : link.peer->all_channels())
        endpoint_.listener().calls_lost(
            *channel, WhichCalls::all, Status::message_lost,
            "the peer had to drop answers to this context: its queue was full, or no "
            "way led here");
}

// Which requests were refused, and why, is not known any more. No call is concerned.
void Demux::reports_dropped(Link& link, std::uint64_t count) {
    Relation& relation = link.peer->relation;
    if (count <= relation.their_dropped_reports) return;
    const std::uint64_t more = count - std::exchange(relation.their_dropped_reports, count);
    endpoint_.listener().on_error(
        Status::message_lost,
        fmt::format("up to {} one-way requests to {} were not carried out, and why is not known: its reports "
                    "of them found no room (limits.handler_queue there), or no way led here",
                    more, link.peer->text()));
}

void Demux::take_replay_request(Link& link, std::uint32_t stream) {
    Peer& peer = *link.peer;
    if (stream == link.received.stream())
        return break_rules(link, "a question about the stream of this very link");
    // The sender has given that link up: what would still come on it would come twice.
    for (Channel* channel : peer.all_channels())
        for (Link* other : channel->open_links())
            if (other->received.stream() == stream)
                failover_.end(*other, "the peer has given the connection up");
    PastStreams& past = peer.relation.past;
    std::uint64_t count = kUnknown;
    if (const auto found = past.find(stream)) {
        count = *found;
    } else if (!past.forgotten(stream) && !link.past_unknown) {
        count = 0;
        past.remember(stream, 0); // also if its hello is still on its way
    }
    if (link.lost) return;
    wire::Bytes bytes(wire::StreamFrame::kBytes);
    wire::encode(wire::Kind::replay_answer, wire::StreamFrame{stream, count}, bytes.data());
    const std::size_t waiting =
        link.channel->on_outbox([&](Outbox& outbox) { return outbox.control(link, std::move(bytes)); });
    if (waiting > kMostControls) break_rules(link, "more questions than it reads answers");
}

bool Demux::believes(Link& link, plexus_claim what, const std::string& said) {
    const auto checked = check_claim(link, what, said);
    if (checked) return true;
    const std::string& why = checked.failure().why;
    if (checked.status() != Status::denied) {
        failover_.lost(link, checked.status(), why);
        return false;
    }
    disbelieve(link, why);
    return false;
}

void Demux::disbelieve(Link& link, const std::string& why) {
    warn_of_refusal(endpoint_, *link.peer, link.channel->row_name(), why);
    link.peer->relation.shut_out[&link.interface] =
        std::chrono::steady_clock::now() + endpoint_.options().shut_out_for;
    failover_.reject(link, why, Status::denied);
}

// A peer's name is that of the caller of each of its requests, whichever link brings it. So each link's
// module has to believe the name: those of open links are asked here, those of later links at their hello.
bool Demux::learn_name(Link& link, std::string_view name) {
    const std::string said(name);
    if (!believes(link, PLEXUS_CLAIM_NAME, said)) return false;
    Peer& peer = *link.peer;
    if (said.empty() || !peer.name().empty()) return true;
    for (Channel* channel : peer.all_channels())
        for (const Link* other : channel->open_links()) {
            const auto checked = check_claim(*other, PLEXUS_CLAIM_NAME, said);
            if (checked || checked.status() != Status::denied) continue; // its module tells of its end
            disbelieve(link, fmt::format("{} (says the method of its other connection, {})",
                                         checked.failure().why, other->interface.name));
            return false;
        }
    peer.learn_name(said);
    return true;
}

void Demux::learn_table(Link& link, const ContextId& owner, DescriptorTable table) {
    const auto peer = endpoint_.peer(owner);
    auto known = KnownTable::make(std::move(table));
    if (const auto present = peer->find_table(known->hash))
        known = std::const_pointer_cast<KnownTable>(present);
    peer->learn(known, false);
    link.tables.emplace_back(peer, std::move(known));
    if (link.tables.size() <= kMostTables) return;
    const auto over = std::move(link.tables.front().first);
    link.tables.pop_front();
    // A context that nobody here has ever had to do with goes with the last table of it.
    if (over->id != endpoint_.self() && over->all_channels().empty()) endpoint_.forget(over);
}

void Demux::break_rules(Link& link, const char* how) {
    if (link.lost) return;
    log::warn("transport", "{}: {} sent {}: the connection is closed", link.interface.name, link.peer->text(),
              how);
    failover_.reject(link, std::string("it sent ") + how);
}

} // namespace plexus::transport
