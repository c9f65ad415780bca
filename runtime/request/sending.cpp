// SPDX-License-Identifier: BSD-3-Clause
// Requests and answers on their way out, and answers that arrive.
#include "request/sending.h"

#include "request/dispatcher.h"
#include "request/names.h"
#include "wire/signature.h"

namespace plexus::request {

Dispatcher& dispatcher_of(const detail::Route& route) noexcept {
    return static_cast<Dispatcher&>(route.endpoint().listener());
}

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

void Dispatcher::take_reply(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_reply(frame);
    if (!header)
        return on_error(Status::bad_archive, from.peer->text() + " sent an answer that is too short");
    const Calls::Entry entry = calls_.take(header->call, from.peer.get());
    if (entry.state == nullptr) return; // its caller was told already that the peer is lost
    if (header->status == 0) {
        detail::Reader in(from.channel, frame.data(), frame.size(), wire::ReplyHeader::kBytes);
        entry.state->complete(in);
    } else {
        const wire::View text = frame.subspan(wire::ReplyHeader::kBytes);
        const auto status = static_cast<Status>(header->status);
        std::string why(reinterpret_cast<const char*>(text.data()), text.size());
        if (status == Status::bad_signature) why = wire::with_own_types(why, entry.types);
        entry.state->fail(status, std::move(why));
    }
}

bool Dispatcher::refuse_reply(transport::Link& from, wire::View head, Status status, const std::string& why) {
    const auto header = wire::decode_reply(head);
    if (!header) return false;
    endings_.end(header->call, from.peer.get(), status, why);
    return true;
}

void Dispatcher::take_report(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_report(frame);
    if (!header) return on_error(Status::bad_archive, from.peer->text() + " sent a report that is too short");
    const wire::View text = frame.subspan(wire::ReportHeader::kBytes);
    const auto status = static_cast<Status>(header->status);
    std::string why(reinterpret_cast<const char*>(text.data()), text.size());
    if (status == Status::bad_signature) why = wire::with_own_types(why, types_of(header->request));
    on_error(status, "request \"" + name_of(header->request) + "\" to " + from.peer->text() +
                         " was not carried out: " + why);
}

void Dispatcher::peer_lost(transport::Peer& peer, Status status, const std::string& why) {
    const bool over = status == Status::closed; // the modules have ended: nothing moves any more
    endings_.end_all(peer, status, why, over);
    if (over) parked_.clear();
    if (extension_ != nullptr) extension_->peer_lost(peer);
    if (observer_ != nullptr) observer_->peer_lost(peer, true);
}

bool Dispatcher::awaits(const transport::Channel& via) {
    return calls_.awaits_by(&via) || (extension_ != nullptr && extension_->awaits(via)) ||
           (observer_ != nullptr && observer_->needs(via.peer()));
}

void Dispatcher::calls_lost(transport::Channel& via, transport::WhichCalls which, Status status,
                            const std::string& why) {
    const bool only_uncertain = which == transport::WhichCalls::uncertain;
    const Calls::Ending ending{
        status, via.peer().text() + " may or may not have carried out the call, and will not answer: " + why};
    for (const Calls::Entry& entry : calls_.take_all_by(&via, ending, only_uncertain))
        entry.state->fail(ending.status, ending.why);
    if (extension_ != nullptr && !only_uncertain) extension_->calls_lost(via);
}

void Dispatcher::frames_lost(transport::Peer& peer, const std::vector<wire::View>& heads, Status status,
                             const std::string& why) {
    std::size_t requests = 0;
    bool any_own = false;
    const std::string text = "the call to " + peer.text() + " may or may not have been carried out: " + why;
    for (const wire::View head : heads) {
        std::optional<std::uint64_t> call; // 0 is one, too: the first of a context
        switch (wire::kind_of(head).value_or(wire::Kind::goodbye)) {
        case wire::Kind::request:
            if (const auto header = wire::decode_request(head)) {
                const bool one_way = (header->flags & wire::kWantsReply) == 0;
                const bool own = observers_own_ != nullptr && header->request == observers_own_->number;
                requests += one_way && !own ? 1 : 0;
                any_own = any_own || own;
                if (!one_way) call = header->call;
            }
            break;
        case wire::Kind::put:
        case wire::Kind::get:
            if (const auto header = wire::decode_bulk(head)) call = header->call;
            break;
        default:
            break;
        }
        if (call) endings_.end(*call, &peer, status, text);
    }
    if (any_own) observer_->peer_lost(peer, false);
    if (requests > 0)
        on_error(Status::message_lost, std::to_string(requests) + " requests to " + peer.text() +
                                           " may not have been delivered: " + why);
}

void Dispatcher::calls_moved(transport::Channel& from, transport::Channel& to) {
    calls_.moved(&from, &to);
    if (extension_ != nullptr) extension_->calls_moved(from, to);
}

std::chrono::nanoseconds Dispatcher::deferred_work() {
    const std::chrono::nanoseconds parked = begin_parked();
    return std::min(parked, endings_.run());
}

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
    request::Outgoing out(target, request, writer, flags, mark.newest_wins ? dispatcher.next_number() : 0,
                          limit, dispatcher.name());
    if (limit != 0) out.frame.deadline = Clock::now() + std::chrono::milliseconds(limit);
    return route.send_unreliable(out.frame, out.declare.request, why);
}

void call(Route& route, const Target& target, const RequestInfo& request, Writer& writer, Deadline deadline,
          std::shared_ptr<CallState> state) {
    request::Dispatcher& dispatcher = request::dispatcher_of(route);
    std::string why;
    if (const Status status = route.refuse_forked(&why); status != Status::ok)
        return state->fail(status, std::move(why));
    transport::Channel* const channel = route.current();
    const auto id = dispatcher.calls().add({state, &route.peer(), {}, channel, false, request.types});
    if (!id) return state->fail(id.status(), id.failure().why);
    state->belongs_to(*id, &route.peer());
    const std::uint32_t limit = dispatcher.limit_of(deadline);
    const auto expires = dispatcher.endings().limit(*id, limit);
    if (send_at_once(channel, target, request, writer, wire::kWantsReply, *id, limit)) return;
    request::Outgoing out(target, request, writer, wire::kWantsReply, *id, limit, dispatcher.name());
    out.frame.deadline = expires;
    Status status = request::send_call(dispatcher.calls(), route, *id, out.frame, &why);
    if (status == Status::timed_out) status = Status::deadline_exceeded;
    if (status == Status::ok) return;
    dispatcher.calls().goes_by(*id, &route.peer(), nullptr); // nobody has the request: nothing to cancel
    dispatcher.endings().end(*id, &route.peer(), status, why);
}

std::shared_ptr<Core> core_of(const Route& route) noexcept { return route.core(); }

} // namespace plexus::detail
