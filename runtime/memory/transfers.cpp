// SPDX-License-Identifier: BSD-3-Clause
#include "memory/transfers.h"

#include "memory/lease_frames.h"
#include "plexus/span.h"
#include "request/answers.h"
#include "request/sending.h"

namespace plexus::memory {
namespace {

constexpr const char* kDead = "the memory is not bound (any more)";
constexpr const char* kPast = "the transfer goes past the end of the bound memory";

bool inside(const request::Objects::Slot& slot, const wire::BulkHeader& header) noexcept {
    return header.offset <= slot.bytes && header.length <= slot.bytes - header.offset;
}

/// What a placement needs to be finished; fits Placement::word.
struct Landing {
    request::Objects::Slot* slot;
    transport::Channel* from;
    const transport::Peer* peer;
    std::uint64_t call;
    transport::Link* by;
};
static_assert(sizeof(Landing) <= sizeof(transport::Placement::word) && std::is_trivially_copyable_v<Landing>);

void keep(transport::Placement& placement, const Landing& landing) noexcept {
    std::memcpy(placement.word, &landing, sizeof landing);
}
Landing kept(const transport::Placement& placement) noexcept {
    Landing landing;
    std::memcpy(&landing, placement.word, sizeof landing);
    return landing;
}

} // namespace

void Transfers::serve(transport::Transport& transport) {
    using Owned = Buffer;
    using transport::Link;
    endpoint_ = &transport.endpoint();
    transport.demux().on(
        wire::Kind::put,
        {[](void* s, Link& from, wire::View frame, Owned*) {
             static_cast<Transfers*>(s)->take_put(from, frame);
         },
         [](void* s, Link& from, wire::View head, std::size_t rest, transport::Placement& placement,
            void** where) {
             return static_cast<Transfers*>(s)->place_put(from, head, rest, placement, where);
         },
         this,
         [](void* s, Link& from, wire::View head, Status status, const std::string& why) {
             const auto header = wire::decode_bulk(head);
             if (header) static_cast<Transfers*>(s)->answer(*from.channel, header->call, status, why);
             return header.has_value();
         }});
    transport.demux().on(wire::Kind::get, {[](void* s, Link& from, wire::View frame, Owned*) {
                                               static_cast<Transfers*>(s)->take_get(from, frame);
                                           },
                                           nullptr, this});
    transport.demux().on(
        wire::Kind::data,
        {[](void* s, Link& from, wire::View frame, Owned*) {
             static_cast<Transfers*>(s)->take_data(from, frame);
         },
         [](void* s, Link& from, wire::View head, std::size_t rest, transport::Placement& placement,
            void** where) {
             return static_cast<Transfers*>(s)->place_data(from, head, rest, placement, where);
         },
         this,
         [](void* s, Link& from, wire::View head, Status status, const std::string& why) {
             return static_cast<Transfers*>(s)->client_.refuse_reply(from, head, status, why);
         }});
    transport.demux().on(wire::Kind::lease_request,
                         {[](void* s, Link& from, wire::View frame, Owned*) {
                              static_cast<Transfers*>(s)->leases_.take_request(from, frame);
                          },
                          nullptr, this});
    transport.demux().on(wire::Kind::lease, {[](void* s, Link& from, wire::View frame, Owned*) {
                                                 static_cast<Transfers*>(s)->remote_keys_.take_lease(from,
                                                                                                     frame);
                                             },
                                             nullptr, this});
    transport.demux().on(wire::Kind::lease_return,
                         {[](void* s, Link& from, wire::View frame, Owned*) {
                              static_cast<Transfers*>(s)->leases_.take_return(from, frame);
                          },
                          nullptr, this});
    transport.demux().on(wire::Kind::lease_recall,
                         {[](void* s, Link& from, wire::View frame, Owned*) {
                              static_cast<Transfers*>(s)->remote_keys_.take_recall(from, frame);
                          },
                          nullptr, this});
    dispatcher_.extend(*this);
}

void Transfers::peer_lost(const transport::Peer& peer) {
    leases_.peer_lost(peer);
    remote_keys_.peer_lost(peer);
}

/// The slot, entered; null: the other side was told why.
Transfers::Slot* Transfers::enter(transport::Link& from, const wire::BulkHeader& header) {
    Slot* const slot = objects_.enter(header.handle, header.generation, header.key);
    if (slot != nullptr && inside(*slot, header)) return slot;
    objects_.leave();
    answer(*from.channel, header.call, slot == nullptr ? Status::dead_pointer : Status::bad_argument,
           slot == nullptr ? kDead : kPast);
    return nullptr;
}

void Transfers::take_put(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_bulk(frame);
    if (!header) return tell_short(from, "a put");
    if (header->length != frame.size() - wire::BulkHeader::kBytes)
        return answer(*from.channel, header->call, Status::bad_archive,
                      "a put holds fewer or more bytes than it says");
    Slot* const slot = enter(from, *header);
    if (slot == nullptr) return;
    std::memcpy(static_cast<std::byte*>(slot->object) + header->offset,
                frame.data() + wire::BulkHeader::kBytes, header->length);
    objects_.leave();
    answer(*from.channel, header->call, Status::ok, {});
}

bool Transfers::place_put(transport::Link& from, wire::View head, std::size_t rest,
                          transport::Placement& placement, void** where) {
    const auto header = wire::decode_bulk(head);
    if (!header || head.size() != wire::BulkHeader::kBytes || header->length != rest)
        return false; // take_put() reports why
    Slot* const slot = objects_.enter(header->handle, header->generation, header->key);
    const bool good = slot != nullptr && inside(*slot, *header);
    if (good) {
        request::Objects::pin(*slot);
        *where = static_cast<std::byte*>(slot->object) + header->offset;
        keep(placement, {slot, from.channel, from.peer.get(), header->call, &from});
        placement.self = this;
        placement.finish = [](void* self, transport::Placement& done, Status status) {
            const Landing landing = kept(done);
            request::Objects::unpin(*landing.slot);
            if (status == Status::ok)
                static_cast<Transfers*>(self)->answer(*landing.from, landing.call, Status::ok, {});
        };
    }
    objects_.leave();
    return good; // a bad put is received in a buffer, so that take_put() can answer
}

void Transfers::take_get(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_bulk(frame);
    if (!header) return tell_short(from, "a get");
    Slot* const slot = enter(from, *header);
    if (slot == nullptr) return;
    // The pin keeps the binding until the last byte has left.
    request::Objects::pin(*slot);
    const std::shared_ptr<const void> pin(slot, [](const void* pinned) {
        request::Objects::unpin(*const_cast<Slot*>(static_cast<const Slot*>(pinned)));
    });
    const std::byte* data = static_cast<const std::byte*>(slot->object) + header->offset;
    objects_.leave();
    alignas(8) std::byte head[wire::ReplyHeader::kBytes];
    wire::encode(wire::Kind::data, wire::ReplyHeader{0, header->call}, head);
    const detail::Piece pieces[2]{{head, sizeof head}, {data, header->length}};
    transport::Frame answer_frame;
    answer_frame.pieces = pieces;
    answer_frame.count = header->length > 0 ? 2 : 1;
    answer_frame.size = sizeof head + header->length;
    answer_frame.head = head;
    answer_frame.pin = pin;
    std::string why;
    transport::Endpoint& endpoint = from.channel->endpoint();
    if (const Status status = endpoint.answer(*from.channel, answer_frame, &why); status != Status::ok)
        answer(*from.channel, header->call, status,
               fmt::format("{} bytes could not be sent: {}", header->length, why));
}

// The answer comes again on another link. The first link is lost, but its placement may not have ended yet.
void Transfers::take_from_lost(transport::Link& from, std::uint64_t call) {
    transport::Link* const first = client_.calls().placer(call, from.peer.get());
    if (first == nullptr || first == &from || !first->lost) return;
    first->channel->release(*first);
    client_.endings().let_go(call, from.peer.get(), {}, first);
}

bool Transfers::place_data(transport::Link& from, wire::View head, std::size_t rest,
                           transport::Placement& placement, void** where) {
    const auto header = wire::decode_reply(head);
    if (!header || head.size() != wire::ReplyHeader::kBytes || header->status != 0) return false;
    take_from_lost(from, header->call);
    std::byte* const into = client_.calls().land(header->call, from.peer.get(), rest, from);
    if (into == nullptr) return false; // take_data() reports why
    *where = into;
    keep(placement, {nullptr, from.channel, from.peer.get(), header->call, &from});
    placement.self = this;
    placement.finish = [](void* self, transport::Placement& done, Status status) {
        const Landing landing = kept(done);
        std::optional<request::Calls::Ending> ending;
        // Otherwise the link broke: the answer will be sent again, or the peer is lost.
        if (status == Status::ok) ending = request::Calls::Ending{};
        static_cast<Transfers*>(self)->client_.endings().let_go(landing.call, landing.peer, std::move(ending),
                                                                landing.by);
    };
    return true;
}

void Transfers::take_data(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_reply(frame);
    if (!header) return tell_short(from, "the answer to a transfer");
    const transport::Peer* const peer = from.peer.get();
    request::Calls& calls = client_.calls();
    const wire::View rest = frame.subspan(wire::ReplyHeader::kBytes);
    take_from_lost(from, header->call);
    if (calls.is_moving(header->call, peer))
        return dispatcher_.reporter().refused(peer->text() +
                                              " answered a transfer whose bytes are just being moved");
    if (header->status != 0) {
        client_.endings().end(header->call, peer, static_cast<Status>(header->status),
                              std::string(reinterpret_cast<const char*>(rest.data()), rest.size()));
        return;
    }
    request::Calls::Entry entry;
    if (rest.empty()) { // of a put: its sender may not have left yet
        const auto outcome = calls.end(header->call, peer, {}, entry);
        if (outcome != request::Calls::Outcome::ended) return;
    } else {
        entry = calls.take(header->call, peer);
        if (entry.state == nullptr) return;
    }
    if (rest.size() != entry.into.size()) {
        entry.state->fail(Status::bad_archive, "a get was answered with another number of bytes");
    } else {
        if (!rest.empty()) std::memcpy(entry.into.data(), rest.data(), rest.size());
        detail::Reader nothing(nullptr, nullptr, 0, 0);
        entry.state->complete(nothing);
    }
}

namespace {

// A transfer as a frame. Refers to the transfer's memory.
struct Message {
    explicit Message(const Transfer& transfer) {
        const bool put = transfer.kind == wire::Kind::put;
        wire::encode(transfer.kind, transfer.header, head);
        pieces[0] = {head, sizeof head};
        pieces[1] = {transfer.memory, transfer.header.length};
        frame.pieces = pieces;
        frame.count = put && transfer.header.length > 0 ? 2 : 1;
        frame.size = sizeof head + (put ? transfer.header.length : 0);
        frame.head = head;
        frame.deadline = transfer.expires;
    }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

    alignas(8) std::byte head[wire::BulkHeader::kBytes];
    detail::Piece pieces[2];
    transport::Frame frame;
};

} // namespace

void Transfers::start(detail::Route& route, Transfer transfer, bool in_order, Deadline deadline,
                      std::shared_ptr<detail::CallState> state) {
    std::string why;
    if (const Status status = route.refuse_forked(&why); status != Status::ok)
        return state->fail(status, std::move(why));
    request::Calls& calls = client_.calls();
    const std::span<std::byte> into(transfer.memory, transfer.header.length);
    const auto id =
        calls.add({state, &route.peer(), transfer.kind == wire::Kind::get ? into : std::span<std::byte>()});
    if (!id) return state->fail(id.status(), id.failure().why);
    state->belongs_to(*id, &route.peer());
    transfer.header.call = *id;
    transfer.expires = client_.endings().limit(*id, client_.limit_of(deadline));
    Status status = Status::ok;
    transport::Channel* channel = nullptr;
    method::Boundary unheard; // a message waits for the peer's hello, a transfer by key does not
    if (!in_order) status = request::resolve(route, channel, &why, unheard);
    if (channel != nullptr && !unheard.limits() && transport::moves_memory(*channel, into.size()) &&
        remote_keys_.start(*channel, transfer))
        return;
    Message message(transfer);
    if (status == Status::ok) status = request::send_call(calls, route, *id, message.frame, &why);
    if (status == Status::timed_out) status = Status::deadline_exceeded;
    if (status != Status::ok) client_.endings().end(*id, &route.peer(), status, why);
}

bool Transfers::begins(const transport::Peer& peer, std::uint64_t call) {
    return client_.calls().hold(call, &peer, request::Calls::Use::move);
}

void Transfers::is_over(const transport::Peer& peer, std::uint64_t call) {
    client_.endings().let_go(call, &peer, request::Calls::Ending{});
}

void Transfers::has_failed(const transport::Peer& peer, std::uint64_t call) {
    client_.endings().let_go(call, &peer);
}

void Transfers::by_message(transport::Channel& to, const Transfer& transfer) {
    const std::uint64_t call = transfer.header.call;
    request::Calls& calls = client_.calls();
    // Until a put's frame has left, nothing else may end the call: the caller would reuse the memory.
    const bool reads = transfer.kind == wire::Kind::put;
    if (reads && !calls.hold(call, &to.peer(), request::Calls::Use::send)) return;
    Message message(transfer);
    std::string why;
    Status status = request::send_call(calls, to, call, message.frame, &why);
    if (status == Status::timed_out) status = Status::deadline_exceeded;
    std::optional<request::Calls::Ending> ending;
    if (status != Status::ok) ending = {status, why};
    if (reads) {
        client_.endings().let_go(call, &to.peer(), std::move(ending));
    } else if (ending) {
        client_.endings().end(call, &to.peer(), status, why);
    }
}

void Transfers::answer(transport::Channel& to, std::uint64_t call, Status status, std::string_view why) {
    alignas(8) std::byte head[wire::ReplyHeader::kBytes];
    wire::encode(wire::Kind::data, wire::ReplyHeader{static_cast<std::uint16_t>(status), call}, head);
    const detail::Piece pieces[2]{{head, sizeof head}, {why.data(), why.size()}};
    transport::Frame frame;
    frame.pieces = pieces;
    frame.count = why.empty() ? 1 : 2;
    frame.size = sizeof head + why.size();
    frame.head = head;
    frame.from_reserve = true;
    std::string lost;
    if (const Status sent = to.endpoint().answer(to, frame, &lost); sent != Status::ok)
        request::log_unanswered(to, call, sent, lost);
}

} // namespace plexus::memory

namespace plexus::detail {
namespace {

void start(Route& route, wire::Kind kind, const Target& target, std::uint64_t offset,
           std::span<std::byte> memory, bool in_order, Deadline deadline, std::shared_ptr<CallState> state) {
    memory::Transfer transfer;
    transfer.kind = kind;
    transfer.header.key = target.key;
    transfer.header.handle = target.handle;
    transfer.header.generation = target.generation;
    transfer.header.offset = offset;
    transfer.header.length = memory.size();
    transfer.memory = memory.data();
    auto& transfers = static_cast<memory::Transfers&>(*request::dispatcher_of(route).extension());
    transfers.start(route, transfer, in_order, deadline, std::move(state));
}

} // namespace

void bulk_get(Route& route, const Target& target, std::uint64_t offset, std::span<std::byte> into,
              Deadline deadline, std::shared_ptr<CallState> state) {
    start(route, wire::Kind::get, target, offset, into, false, deadline, std::move(state));
}

void bulk_put(Route& route, const Target& target, std::uint64_t offset, std::span<const std::byte> from,
              bool in_order, Deadline deadline, std::shared_ptr<CallState> state) {
    // The memory is only read: a put's frame and a module's put both take it as const.
    const std::span<std::byte> memory(const_cast<std::byte*>(from.data()), from.size());
    start(route, wire::Kind::put, target, offset, memory, in_order, deadline, std::move(state));
}

} // namespace plexus::detail
