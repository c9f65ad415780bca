// SPDX-License-Identifier: BSD-3-Clause
// Requests and answers on their way out, and answers that arrive.
#include "request/dispatcher.h"
#include "request/names.h"

namespace plexus::request {

Dispatcher& dispatcher_of(const detail::Route& route) noexcept {
    return static_cast<Dispatcher&>(route.exchange().listener());
}

namespace {

/// Completes a frame whose arguments are written: header, pieces, what it refers to.
struct Outgoing {
    Outgoing(const detail::Target& target, const detail::RequestInfo& request, detail::Writer& writer,
             std::uint8_t flags, std::uint32_t call) {
        declare.request = number_of(request);
        declare.signature = request.signature;
        declare.name = request.name;
        wire::RequestHeader header;
        header.flags = flags;
        header.request = declare.request;
        header.call = call;
        header.key = target.key;
        header.handle = target.handle;
        header.generation = target.generation;
        wire::encode(header, writer.head());
        frame.pieces = pieces;
        frame.count = writer.finish(pieces);
        frame.size = writer.total();
        frame.head = writer.head();
        frame.declare = &declare;
        frame.carried = writer.carried();
    }
    wire::Declare declare;
    detail::Piece pieces[detail::Writer::kPieces + 1];
    comm::Frame frame;
};

Status send_answer(comm::Object& to, detail::Writer& writer) {
    detail::Piece pieces[detail::Writer::kPieces + 1];
    comm::Frame frame;
    frame.pieces = pieces;
    frame.count = writer.finish(pieces);
    frame.size = writer.total();
    frame.head = writer.head();
    frame.carried = writer.carried();
    std::string why;
    const Status status = to.exchange().answer(to, frame, &why);
    if (status != Status::ok) log::info("request", "an answer could not be sent: {}", why);
    return status;
}

} // namespace

void Dispatcher::answer(comm::Object& to, std::uint32_t call, detail::Writer& result) {
    wire::encode(wire::Kind::reply, wire::ReplyHeader{0, call}, result.head());
    const std::size_t size = result.total();
    if (send_answer(to, result) == Status::too_large)
        answer(to, call, Status::too_large,
               "the result has " + std::to_string(size) + " bytes, limits.max_message allows less");
}

void Dispatcher::answer(comm::Object& to, std::uint32_t call, Status status, std::string_view why) {
    detail::Writer writer(wire::ReplyHeader::kBytes);
    writer.raw(why.data(), std::min<std::size_t>(why.size(), 1024));
    wire::encode(wire::Kind::reply, wire::ReplyHeader{static_cast<std::uint16_t>(status), call},
                 writer.head());
    send_answer(to, writer);
}

void Dispatcher::take_reply(comm::Connection& from, wire::View frame) {
    const auto header = wire::decode_reply(frame);
    if (!header) return trouble(Status::bad_archive, "an answer is too short");
    const Calls::Entry entry = calls_.take(header->call, from.peer.get());
    if (entry.state == nullptr) return; // its caller was told already that the peer is lost
    if (header->status == 0) {
        detail::Reader in(from.object, frame.data(), frame.size(), wire::ReplyHeader::kBytes);
        entry.state->complete(in);
    } else {
        const wire::View text = frame.subspan(wire::ReplyHeader::kBytes);
        entry.state->fail(static_cast<Status>(header->status),
                          std::string(reinterpret_cast<const char*>(text.data()), text.size()));
    }
}

bool Dispatcher::refuse_reply(comm::Connection& from, wire::View head, Status status,
                              const std::string& why) {
    const auto header = wire::decode_reply(head);
    if (!header) return false;
    const Calls::Entry entry = calls_.take(header->call, from.peer.get());
    if (entry.state != nullptr) entry.state->fail(status, why);
    return true;
}

void Dispatcher::take_report(comm::Connection& from, wire::View frame) {
    const auto header = wire::decode_report(frame);
    if (!header) return trouble(Status::bad_archive, "a report is too short");
    const wire::View text = frame.subspan(wire::ReportHeader::kBytes);
    trouble(
        static_cast<Status>(header->status),
        "request \"" + name_of(header->request) + "\" to context " + to_string(from.peer->id).substr(0, 8) +
            " was not carried out: " + std::string(reinterpret_cast<const char*>(text.data()), text.size()));
}

void Dispatcher::peer_lost(comm::Peer& peer, Status status, const std::string& why) {
    for (const Calls::Entry& entry : calls_.take_all(&peer))
        entry.state->fail(status, "context " + to_string(peer.id).substr(0, 8) + " did not answer: " + why);
    if (extension_ != nullptr) extension_->peer_lost(peer);
}

} // namespace plexus::request

namespace plexus::detail {

namespace {

// The way of a small request to a context that knows it already: no frame is built around it.
bool send_at_once(Route& route, const Target& target, const RequestInfo& request, Writer& writer,
                  std::uint8_t flags, std::uint32_t call) {
    const std::uint32_t number = request.number.load(std::memory_order_relaxed); // see number_of()
    if (number == 0 || !writer.fits_head()) return false;
    wire::RequestHeader header;
    header.flags = flags;
    header.request = static_cast<std::uint16_t>(number);
    header.call = call;
    header.key = target.key;
    header.handle = target.handle;
    header.generation = target.generation;
    wire::encode(header, writer.head());
    return route.send_at_once({writer.head(), writer.total()}, header.request);
}

Status send_any(Route& route, const Target& target, const RequestInfo& request, Writer& writer,
                std::string* why) {
    request::Outgoing out(target, request, writer, 0, 0);
    return route.send(out.frame, why);
}

} // namespace

void send(Route& route, const Target& target, const RequestInfo& request, Writer& writer) {
    if (send_at_once(route, target, request, writer, 0, 0)) [[likely]]
        return;
    std::string why;
    if (const Status status = send_any(route, target, request, writer, &why); status != Status::ok)
        throw Error(status, why);
}

Status try_send(Route& route, const Target& target, const RequestInfo& request, Writer& writer) {
    if (send_at_once(route, target, request, writer, 0, 0)) [[likely]]
        return Status::ok;
    return send_any(route, target, request, writer, nullptr);
}

void call(Route& route, const Target& target, const RequestInfo& request, Writer& writer,
          std::shared_ptr<CallState> state) {
    request::Dispatcher& dispatcher = request::dispatcher_of(route);
    const auto number = dispatcher.calls().add({state, &route.peer(), {}});
    if (!number) return state->fail(number.status(), number.failure().why);
    if (send_at_once(route, target, request, writer, wire::kWantsReply, *number)) return;
    request::Outgoing out(target, request, writer, wire::kWantsReply, *number);
    std::string why;
    if (const Status status = route.send(out.frame, &why); status != Status::ok)
        if (dispatcher.calls().take(*number, &route.peer()).state != nullptr)
            state->fail(status, std::move(why));
}

std::shared_ptr<Core> core_of(const Route& route) noexcept { return route.core(); }

Handler::~Handler() = default;

} // namespace plexus::detail
