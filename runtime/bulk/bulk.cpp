// SPDX-License-Identifier: BSD-3-Clause
#include "bulk/bulk.h"

#include "plexus/span.h"
#include "request/answers.h"
#include "request/sending.h"

namespace plexus::bulk {
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

void Bulk::serve(transport::Transport& transport) {
    using Owned = Buffer;
    using transport::Link;
    endpoint_ = &transport.endpoint();
    transport.demux().on(
        wire::Kind::put,
        {[](void* s, Link& from, wire::View frame, Owned*) { static_cast<Bulk*>(s)->take_put(from, frame); },
         [](void* s, Link& from, wire::View head, std::size_t rest, transport::Placement& placement,
            void** where) { return static_cast<Bulk*>(s)->place_put(from, head, rest, placement, where); },
         this,
         [](void* s, Link& from, wire::View head, Status status, const std::string& why) {
             const auto header = wire::decode_bulk(head);
             if (header) static_cast<Bulk*>(s)->answer(*from.channel, header->call, status, why);
             return header.has_value();
         }});
    transport.demux().on(wire::Kind::get, {[](void* s, Link& from, wire::View frame, Owned*) {
                                               static_cast<Bulk*>(s)->take_get(from, frame);
                                           },
                                           nullptr, this});
    transport.demux().on(
        wire::Kind::data,
        {[](void* s, Link& from, wire::View frame, Owned*) { static_cast<Bulk*>(s)->take_data(from, frame); },
         [](void* s, Link& from, wire::View head, std::size_t rest, transport::Placement& placement,
            void** where) { return static_cast<Bulk*>(s)->place_data(from, head, rest, placement, where); },
         this,
         [](void* s, Link& from, wire::View head, Status status, const std::string& why) {
             return static_cast<Bulk*>(s)->dispatcher_.refuse_reply(from, head, status, why);
         }});
    transport.demux().on(wire::Kind::borrow, {[](void* s, Link& from, wire::View frame, Owned*) {
                                                  static_cast<Bulk*>(s)->lender_.take_borrow(from, frame);
                                              },
                                              nullptr, this});
    transport.demux().on(wire::Kind::lend, {[](void* s, Link& from, wire::View frame, Owned*) {
                                                static_cast<Bulk*>(s)->borrower_.take_lend(from, frame);
                                            },
                                            nullptr, this});
    transport.demux().on(wire::Kind::give_back, {[](void* s, Link& from, wire::View frame, Owned*) {
                                                     static_cast<Bulk*>(s)->lender_.take_give_back(from,
                                                                                                   frame);
                                                 },
                                                 nullptr, this});
    transport.demux().on(wire::Kind::recall, {[](void* s, Link& from, wire::View frame, Owned*) {
                                                  static_cast<Bulk*>(s)->borrower_.take_recall(from, frame);
                                              },
                                              nullptr, this});
    dispatcher_.extend(*this);
}

void Bulk::peer_lost(const transport::Peer& peer) {
    lender_.peer_lost(peer);
    borrower_.peer_lost(peer);
}

/// The slot, entered; null: the other side was told why.
Bulk::Slot* Bulk::enter(transport::Link& from, const wire::BulkHeader& header) {
    Slot* const slot = dispatcher_.objects().enter(header.handle, header.generation, header.key);
    if (slot != nullptr && inside(*slot, header)) return slot;
    dispatcher_.objects().leave();
    answer(*from.channel, header.call, slot == nullptr ? Status::dead_pointer : Status::bad_argument,
           slot == nullptr ? kDead : kPast);
    return nullptr;
}

void Bulk::take_put(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_bulk(frame);
    if (!header || header->length != frame.size() - wire::BulkHeader::kBytes) {
        if (header)
            answer(*from.channel, header->call, Status::bad_archive,
                   "a put holds fewer or more bytes than it says");
        return;
    }
    Slot* const slot = enter(from, *header);
    if (slot == nullptr) return;
    std::memcpy(static_cast<std::byte*>(slot->object) + header->offset,
                frame.data() + wire::BulkHeader::kBytes, header->length);
    dispatcher_.objects().leave();
    answer(*from.channel, header->call, Status::ok, {});
}

bool Bulk::place_put(transport::Link& from, wire::View head, std::size_t rest,
                     transport::Placement& placement, void** where) {
    const auto header = wire::decode_bulk(head);
    if (!header || head.size() != wire::BulkHeader::kBytes || header->length != rest)
        return false; // take_put() says why
    Slot* const slot = dispatcher_.objects().enter(header->handle, header->generation, header->key);
    const bool good = slot != nullptr && inside(*slot, *header);
    if (good) {
        request::Objects::pin(*slot);
        *where = static_cast<std::byte*>(slot->object) + header->offset;
        keep(placement, {slot, from.channel, from.peer.get(), header->call});
        placement.self = this;
        placement.finish = [](void* self, transport::Placement& done, Status status) {
            const Landing landing = kept(done);
            request::Objects::unpin(*landing.slot);
            if (status == Status::ok)
                static_cast<Bulk*>(self)->answer(*landing.from, landing.call, Status::ok, {});
        };
    }
    dispatcher_.objects().leave();
    return good; // a bad one is received in a buffer, so that take_put() can answer
}

void Bulk::take_get(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_bulk(frame);
    if (!header) return;
    Slot* const slot = enter(from, *header);
    if (slot == nullptr) return;
    // The pin keeps the binding until the last byte has left.
    request::Objects::pin(*slot);
    const std::shared_ptr<const void> pin(slot, [](const void* pinned) {
        request::Objects::unpin(*const_cast<Slot*>(static_cast<const Slot*>(pinned)));
    });
    const std::byte* data = static_cast<const std::byte*>(slot->object) + header->offset;
    dispatcher_.objects().leave();
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

bool Bulk::place_data(transport::Link& from, wire::View head, std::size_t rest,
                      transport::Placement& placement, void** where) {
    const auto header = wire::decode_reply(head);
    if (!header || head.size() != wire::ReplyHeader::kBytes || header->status != 0) return false;
    const std::span<std::byte> into = dispatcher_.calls().destination(header->call, from.peer.get());
    if (into.size() != rest) return false; // take_data() ends the call
    *where = into.data();
    keep(placement, {nullptr, from.channel, from.peer.get(), header->call});
    placement.self = this;
    placement.finish = [](void* self, transport::Placement& done, Status status) {
        const Landing landing = kept(done);
        if (status != Status::ok)
            return; // the link broke: the answer will be sent again, or the peer is lost
        auto& calls = static_cast<Bulk*>(self)->dispatcher_.calls();
        const auto entry = calls.take(landing.call, landing.peer);
        detail::Reader nothing(nullptr, nullptr, 0, 0);
        if (entry.state != nullptr) entry.state->complete(nothing);
    };
    return true;
}

void Bulk::take_data(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_reply(frame);
    if (!header) return;
    const auto entry = dispatcher_.calls().take(header->call, from.peer.get());
    if (entry.state == nullptr) return;
    const wire::View rest = frame.subspan(wire::ReplyHeader::kBytes);
    if (header->status != 0) {
        entry.state->fail(static_cast<Status>(header->status),
                          std::string(reinterpret_cast<const char*>(rest.data()), rest.size()));
    } else if (rest.size() != entry.into.size()) {
        entry.state->fail(Status::bad_archive, "a get was answered with another number of bytes");
    } else {
        if (!rest.empty()) std::memcpy(entry.into.data(), rest.data(), rest.size());
        detail::Reader nothing(nullptr, nullptr, 0, 0);
        entry.state->complete(nothing);
    }
}

namespace {

// A frame around a transfer, for as long as the caller waits.
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
    }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

    alignas(8) std::byte head[wire::BulkHeader::kBytes];
    detail::Piece pieces[2];
    transport::Frame frame;
};

} // namespace

void Bulk::start(detail::Route& route, Transfer transfer, bool in_order,
                 std::shared_ptr<detail::CallState> state) {
    std::string why;
    if (const Status status = route.refuse_forked(&why); status != Status::ok)
        return state->fail(status, std::move(why));
    request::Calls& calls = dispatcher_.calls();
    const std::span<std::byte> into(transfer.memory, transfer.header.length);
    const auto id =
        calls.add({state, &route.peer(), transfer.kind == wire::Kind::get ? into : std::span<std::byte>()});
    if (!id) return state->fail(id.status(), id.failure().why);
    transfer.header.call = *id;
    Status status = Status::ok;
    transport::Channel* object = nullptr;
    if (!in_order) status = request::resolve(route, object, &why);
    if (object != nullptr && transport::moves_memory(*object, into.size()) &&
        borrower_.start(*object, transfer))
        return;
    Message message(transfer);
    if (status == Status::ok) status = request::send_call(calls, route, *id, message.frame, &why);
    if (status != Status::ok && calls.take(*id, &route.peer()).state != nullptr)
        state->fail(status, std::move(why));
}

void Bulk::is_over(const transport::Peer& peer, std::uint64_t call) {
    const auto entry = dispatcher_.calls().take(call, &peer);
    detail::Reader nothing(nullptr, nullptr, 0, 0);
    if (entry.state != nullptr) entry.state->complete(nothing);
}

void Bulk::by_message(transport::Channel& to, const Transfer& transfer) {
    Message message(transfer);
    std::string why;
    const Status status =
        request::send_call(dispatcher_.calls(), to, transfer.header.call, message.frame, &why);
    if (status == Status::ok) return;
    const auto entry = dispatcher_.calls().take(transfer.header.call, &to.peer());
    if (entry.state != nullptr) entry.state->fail(status, std::move(why));
}

void Bulk::answer(transport::Channel& to, std::uint64_t call, Status status, std::string_view why) {
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

} // namespace plexus::bulk

namespace plexus::detail {
namespace {

void start(Route& route, wire::Kind kind, const Target& target, std::uint64_t offset,
           std::span<std::byte> memory, bool in_order, std::shared_ptr<CallState> state) {
    bulk::Transfer transfer;
    transfer.kind = kind;
    transfer.header.key = target.key;
    transfer.header.handle = target.handle;
    transfer.header.generation = target.generation;
    transfer.header.offset = offset;
    transfer.header.length = memory.size();
    transfer.memory = memory.data();
    auto& bulk = static_cast<bulk::Bulk&>(*request::dispatcher_of(route).extension());
    bulk.start(route, transfer, in_order, std::move(state));
}

} // namespace

void bulk_get(Route& route, const Target& target, std::uint64_t offset, std::span<std::byte> into,
              std::shared_ptr<CallState> state) {
    start(route, wire::Kind::get, target, offset, into, false, std::move(state));
}

void bulk_put(Route& route, const Target& target, std::uint64_t offset, std::span<const std::byte> from,
              bool in_order, std::shared_ptr<CallState> state) {
    // Only read from: a put's frame and a module's put both take it as const.
    const std::span<std::byte> memory(const_cast<std::byte*>(from.data()), from.size());
    start(route, wire::Kind::put, target, offset, memory, in_order, std::move(state));
}

} // namespace plexus::detail
