// SPDX-License-Identifier: BSD-3-Clause
#include "request/sending.h"

#include "request/dispatcher.h"
#include "request/names.h"
#include "wire/signature.h"

namespace plexus::request {
namespace {

/// Completes a frame whose arguments are written: header, pieces, what it refers to.
struct Outgoing {
    Outgoing(const detail::Target& target, const detail::RequestInfo& request, detail::Writer& writer,
             std::uint8_t flags, std::uint64_t call, std::uint32_t deadline, std::string_view sender) {
        declare.request = number_of(request);
        declare.signature = request.signature;
        declare.name = request.name;
        declare.sender = sender.substr(0, 255);
        wire::RequestHeader header;
        header.flags = flags;
        header.request = declare.request;
        header.call = call;
        header.deadline = deadline;
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
    transport::Frame frame;
};

} // namespace

Status resolve(detail::Route& route, transport::Channel*& channel, std::string* why,
               method::Boundary& unheard) {
    Status status = Status::ok;
    try {
        channel = route.resolve(status, why, unheard);
    } catch (const Error& error) {
        status = error.status();
        *why = error.what();
    } catch (const std::exception& error) {
        status = Status::handler_threw;
        *why = std::string("the policy of the pointer threw: ") + error.what();
    } catch (...) {
        status = Status::handler_threw;
        *why = "the policy of the pointer threw something that is no std::exception";
    }
    return status;
}

Status send_call(Calls& calls, detail::Route& route, std::uint64_t call, transport::Frame& frame,
                 std::string* why) {
    for (;;) {
        transport::Channel* channel = nullptr;
        method::Boundary unheard;
        Status status = resolve(route, channel, why, unheard);
        if (channel == nullptr) return status;
        if (!calls.goes_by(call, &route.peer(), channel)) return Status::ok;
        frame.stays = route.stays();
        frame.within = unheard.limits() ? &unheard : nullptr;
        status = channel->send(frame, why);
        if (status != Status::link_lost) return status;
    }
}

Status send_call(Calls& calls, transport::Channel& to, std::uint64_t call, transport::Frame& frame,
                 std::string* why) {
    transport::Endpoint& endpoint = to.endpoint();
    if (!calls.goes_by(call, &to.peer(), &to)) return Status::ok;
    const Status status = to.send(frame, why);
    if (status != Status::link_lost || endpoint.closing()) return status;
    const auto table = to.peer().owners_table();
    if (table == nullptr) return status;
    return send_call(calls, *endpoint.way(to.peer().shared_from_this(), table), call, frame, why);
}

Status send_onward(detail::Route& route, const detail::Target& target, const detail::RequestInfo& request,
                   detail::Writer& frame, std::shared_ptr<const void> pin) {
    Outgoing out(target, request, frame, 0, 0, 0, dispatcher_of(route).name());
    out.frame.onward = true;
    out.frame.pin = std::move(pin);
    return route.send(out.frame, nullptr);
}

} // namespace plexus::request

namespace plexus::detail {

namespace {

using Clock = std::chrono::steady_clock;

// The way of a small request to a context that knows it already: no frame is built around it.
bool send_at_once(transport::Channel* by, const Target& target, const RequestInfo& request, Writer& writer,
                  std::uint8_t flags, std::uint64_t call, std::uint32_t deadline) {
    const std::uint32_t number = request.number.load(std::memory_order_relaxed); // see number_of()
    if (by == nullptr || number == 0 || !writer.fits_head()) return false;
    wire::RequestHeader header;
    header.flags = flags;
    header.request = static_cast<std::uint16_t>(number);
    header.call = call;
    header.key = target.key;
    header.handle = target.handle;
    header.generation = target.generation;
    header.deadline = deadline;
    wire::encode(header, writer.head());
    return by->send_at_once({writer.head(), writer.total()}, header.request);
}

Status send_any(Route& route, const Target& target, const RequestInfo& request, Writer& writer,
                std::string* why) {
    request::Outgoing out(target, request, writer, 0, 0, 0, request::dispatcher_of(route).name());
    return route.send(out.frame, why);
}

} // namespace

void send(Route& route, const Target& target, const RequestInfo& request, Writer& writer) {
    if (send_at_once(route.current(), target, request, writer, 0, 0, 0)) [[likely]]
        return;
    std::string why;
    if (const Status status = send_any(route, target, request, writer, &why); status != Status::ok)
        throw Error(status, why);
}

Status try_send(Route& route, const Target& target, const RequestInfo& request, Writer& writer) {
    if (send_at_once(route.current(), target, request, writer, 0, 0, 0)) [[likely]]
        return Status::ok;
    return send_any(route, target, request, writer, nullptr);
}

Status send_before(Route& route, const Target& target, const RequestInfo& request, Writer& writer,
                   Deadline deadline, std::string* why) {
    // limits.call_deadline is for calls.
    const std::uint32_t limit = deadline == no_deadline ? 0 : deadline.milliseconds;
    if (send_at_once(route.current(), target, request, writer, wire::kDeadline, 0, limit)) return Status::ok;
    request::Outgoing out(target, request, writer, wire::kDeadline, 0, limit,
                          request::dispatcher_of(route).name());
    if (limit != 0) out.frame.deadline = Clock::now() + std::chrono::milliseconds(limit);
    return route.send(out.frame, why);
}

Status send_unreliable(Route& route, const Target& target, const RequestInfo& request, Writer& writer,
                       Deadline deadline, Unreliable mark, std::string* why) {
    request::Dispatcher& dispatcher = request::dispatcher_of(route);
    const std::uint32_t limit = deadline == no_deadline ? 0 : deadline.milliseconds;
    std::uint8_t flags = wire::kDeadline | wire::kUnreliable;
    if (mark.newest_wins) flags |= wire::kNewestWins;
    request::Outgoing out(target, request, writer, flags,
                          mark.newest_wins ? dispatcher.client().next_number() : 0, limit, dispatcher.name());
    if (limit != 0) out.frame.deadline = Clock::now() + std::chrono::milliseconds(limit);
    return route.send_unreliable(out.frame, out.declare.request, why);
}

void call(Route& route, const Target& target, const RequestInfo& request, Writer& writer, Deadline deadline,
          std::shared_ptr<CallState> state) {
    request::Dispatcher& dispatcher = request::dispatcher_of(route);
    request::Client& client = dispatcher.client();
    std::string why;
    if (const Status status = route.refuse_forked(&why); status != Status::ok)
        return state->fail(status, std::move(why));
    transport::Channel* const channel = route.current();
    const auto id = client.calls().add({state, &route.peer(), {}, channel, false, request.types});
    if (!id) return state->fail(id.status(), id.failure().why);
    state->belongs_to(*id, &route.peer());
    const std::uint32_t limit = client.limit_of(deadline);
    const auto expires = client.endings().limit(*id, limit);
    if (send_at_once(channel, target, request, writer, wire::kWantsReply, *id, limit)) return;
    request::Outgoing out(target, request, writer, wire::kWantsReply, *id, limit, dispatcher.name());
    out.frame.deadline = expires;
    Status status = request::send_call(client.calls(), route, *id, out.frame, &why);
    if (status == Status::timed_out) status = Status::deadline_exceeded;
    if (status == Status::ok) return;
    client.calls().goes_by(*id, &route.peer(), nullptr); // nobody has the request: nothing to cancel
    client.endings().end(*id, &route.peer(), status, why);
}

std::shared_ptr<Core> core_of(const Route& route) noexcept { return route.core(); }

} // namespace plexus::detail
