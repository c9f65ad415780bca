// SPDX-License-Identifier: BSD-3-Clause
#include "request/server.h"

#include "method/prescription.h"
#include "request/answers.h"
#include "wire/signature.h"
#include "wire/table.h"

#include <algorithm>

namespace plexus::request {
namespace {

/// For the last word about requests that have not begun: as long as some are refused, and for all of them.
constexpr auto kLastReports = std::chrono::milliseconds(100);
constexpr auto kAllReports = std::chrono::seconds(1);
/// Requests that are refused in one turn at the end. Others read, and make progress, in between.
constexpr std::size_t kRefusedInATurn = 1000;

} // namespace

Server::Server(std::size_t threads, std::size_t queue, const std::string& name, Reporter& reporter)
  : name_(name)
  , reporter_(reporter)
  , parked_(queue)
  , executor_(threads, queue, reporter) {}

void Server::serve(transport::Transport& transport) {
    using Owned = Buffer;
    using transport::Link;
    endpoint_ = &transport.endpoint();
    transport::Demux& demux = transport.demux();
    demux.on(wire::Kind::request,
             {[](void* s, Link& from, wire::View frame, Owned* owned) {
                  static_cast<Server*>(s)->take_request(from, frame, owned);
              },
              nullptr, this,
              [](void* s, Link& from, wire::View head, Status status, const std::string& why) {
                  const auto header = wire::decode_request(head);
                  if (header) refuse(static_cast<Server*>(s)->reporter_, *from.channel, *header, status, why);
                  return header.has_value();
              }});
    demux.on_datagram({[](void* s, transport::Peer& from, const transport::Interface& by, wire::View frame) {
                           return static_cast<Server*>(s)->take_datagram(from, by, frame);
                       },
                       this});
    demux.on(wire::Kind::declare, {[](void* s, Link& from, wire::View frame, Owned*) {
                                       static_cast<Server*>(s)->take_declare(from, frame);
                                   },
                                   nullptr, this});
    demux.on(wire::Kind::table, {[](void* s, Link& from, wire::View frame, Owned*) {
                                     static_cast<Server*>(s)->take_table(from, frame);
                                 },
                                 nullptr, this});
    demux.on(wire::Kind::cancel, {[](void* s, Link& from, wire::View frame, Owned*) {
                                      static_cast<Server*>(s)->take_cancel(from, frame);
                                  },
                                  nullptr, this});
}

void Server::finish_handlers(poll::Scheduler& scheduler, Clock::time_point deadline) {
    // Those that wait for room may need a thread.
    scheduler.wait_for_true([this] { return parked_.count() == 0; }, deadline);
    const std::size_t without_thread = executor_.finish(scheduler, deadline);
    const std::size_t dropped = without_thread + parked_.count();
    if (dropped == 0) return end_.store(End::refused, std::memory_order_release); // what comes now is refused
    log::warn("request",
              "{} accepted requests were refused: their handlers had not begun after three quarters of "
              "progress.close_timeout. Raise it, or handlers.threads",
              dropped);
    // In a turn, where no answer or report waits for room.
    end_.store(End::refuses, std::memory_order_release); // [end]
    scheduler.request_deferred_work();
    const auto all_refused = [this] { return end_.load(std::memory_order_acquire) == End::refused; };
    const auto latest = Clock::now() + kAllReports;
    for (std::uint32_t before = 0;; before = refusing_turns_.load(std::memory_order_relaxed)) {
        if (scheduler.wait_for_true(all_refused, std::min(latest, Clock::now() + kLastReports))) return;
        if (Clock::now() >= latest || refusing_turns_.load(std::memory_order_relaxed) == before) return;
    }
}

void Server::refuse_not_begun() {
    refusing_turns_.fetch_add(1, std::memory_order_relaxed);
    std::size_t left = kRefusedInATurn;
    left -= executor_.refuse_not_begun(left);
    left -= parked_.give_up([this](ParkedRequests::Request& request) { begin(request); }, left);
    if (left == 0) return endpoint_->scheduler().request_deferred_work(); // there may be more
    end_.store(End::refused, std::memory_order_release);                  // [end]
    endpoint_->scheduler().wake();                                        // finish_handlers() waits for that
}

void Server::release_handlers(Clock::time_point deadline, std::shared_ptr<void> keep) {
    for (const void* handler : executor_.release(deadline, std::move(keep)))
        log::error(
            "request",
            "the handler of \"{}\" has not returned within progress.close_timeout: its thread was left "
            "running. Let handlers return when a call in them fails with `closed`",
            handlers_.name_of(handler));
}

void Server::take_request(transport::Link& from, wire::View frame, Buffer* owned) {
    auto header = wire::decode_request(frame);
    if (!header)
        return reporter_.report_error(Status::bad_archive,
                                      from.peer->text() + " sent a request that is too short");
    PeerRequests& requests = requests_of(*from.peer);
    if ((header->flags & (wire::kNewestWins | wire::kByDatagram)) != 0) [[unlikely]] {
        header->flags &= static_cast<std::uint8_t>(~wire::kByDatagram); // whatever the peer says
        if ((header->flags & wire::kNewestWins) != 0 &&
            !requests.newest.take(header->handle, header->request, std::exchange(header->call, 0)))
            return transport::MethodCounts::one_more(from.interface.counts.dropped);
    }
    if (parked_.must_wait(requests.parked, *from.channel, *header)) [[unlikely]]
        return park(*from.channel, requests, *header, frame, owned);
    handle(*from.channel, requests, *header, frame, owned);
}

bool Server::take_datagram(const transport::Peer& from, const transport::Interface& by, wire::View frame) {
    if (frame.empty() || wire::kind_of(frame) != wire::Kind::request) return false;
    auto header = wire::decode_request(frame);
    constexpr std::uint8_t kMarked = wire::kUnreliable | wire::kDeadline;
    if (!header || (header->flags & (kMarked | wire::kWantsReply)) != kMarked) return false;
    PeerRequests& requests = requests_of(from);
    // What declares its number may still be under way.
    if (requests.declared.find(header->request) == nullptr) return false;
    // Reports of what goes wrong, and what the handler sends back, take a way on which nothing is lost.
    transport::Channel* const back = from.live_channel();
    if (back == nullptr) return false;
    const bool newest_wins = (header->flags & wire::kNewestWins) != 0;
    if (newest_wins && !requests.newest.take(header->handle, header->request, header->call)) return false;
    header->flags |= wire::kByDatagram;
    header->call = by.lane;
    handle(*back, requests, *header, frame, nullptr);
    return true;
}

void Server::park(transport::Channel& from, PeerRequests& requests, const wire::RequestHeader& header,
                  wire::View frame, Buffer* owned) {
    if (end_.load(std::memory_order_relaxed) != End::none)
        return refuse(reporter_, from, header, Status::closed, kNotBegun);
    std::string why;
    try {
        if (parked_.add(requests.parked, from, header, frame, owned)) {
            requests.waiting.enter();
            return endpoint_->scheduler().request_deferred_work();
        }
        why = fmt::format(
            "answers to {} do not leave, and of its requests as many wait as limits.handler_queue "
            "of context {} allows: let it read answers before it sends more, or raise the limit",
            from.peer().text(), transport::short_text(from.endpoint().self()));
    } catch (const std::bad_alloc&) {
        why = fmt::format("context {} has no memory for a request of {} bytes that has to wait",
                          transport::short_text(from.endpoint().self()), frame.size());
    }
    refuse(reporter_, from, header, Status::again, why);
}

std::chrono::nanoseconds Server::begin_parked() {
    if (end_.load(std::memory_order_acquire) == End::refuses) { // [end]
        refuse_not_begun();
        return std::chrono::nanoseconds::max();
    }
    const bool some = parked_.count() > 0;
    const auto next = parked_.run([this](ParkedRequests::Request& request) { begin(request); });
    if (next.count() == 0) endpoint_->scheduler().request_deferred_work();
    if (some && parked_.count() == 0) endpoint_->scheduler().wake(); // finish_handlers() waits for that
    return next;
}

// One that has waited for room.
void Server::begin(ParkedRequests::Request& request) {
    wire::RequestHeader header = request.header;
    PeerRequests& requests = requests_of(*request.peer);
    // Only calls are cancelled; other requests have no number of their own.
    const bool is_call = (header.flags & wire::kWantsReply) != 0;
    if (!(is_call ? requests.waiting.leave(header.call) : requests.waiting.leave())) return;
    const bool ends = end_.load(std::memory_order_relaxed) == End::refuses;
    if (transport::is_away(request.peer->presence()) && (is_call || ends)) return; // nobody hears an answer
    if (header.deadline != 0) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(request.expires - Clock::now());
        if (left.count() <= 0)
            return refuse(reporter_, *request.from, header, Status::deadline_exceeded,
                          "its deadline had passed before its handler began");
        header.deadline = static_cast<std::uint32_t>(left.count());
    }
    if (ends) return refuse(reporter_, *request.from, header, Status::closed, kNotBegun);
    handle(*request.from, requests, header, request.frame, &request.memory);
}

void Server::take_cancel(transport::Link& from, wire::View frame) {
    const auto calls = wire::decode_cancel(frame);
    if (!calls)
        return reporter_.report_error(Status::bad_archive,
                                      from.peer->text() + " sent a list of cancelled calls that is none");
    requests_of(*from.peer).waiting.cancel(*calls);
}

void Server::handle(transport::Channel& from, PeerRequests& requests, const wire::RequestHeader& header,
                    wire::View frame, Buffer* owned) {
    const auto self = [&] {
        return transport::short_text(from.endpoint().self()) + (name_.empty() ? "" : " (" + name_ + ")");
    };
    DeclaredRequests::Entry* const entry = requests.declared.find(header.request);
    if (entry == nullptr) [[unlikely]]
        return refuse(reporter_, from, header, Status::no_handler,
                      "a request of number " + std::to_string(header.request) + ", which was not declared");
    if (entry->handler == nullptr) [[unlikely]] {
        const HandlerTable::Found found = handlers_.find(entry->name, entry->signature);
        if (found.handler == nullptr)
            return refuse(reporter_, from, header, found.status,
                          found.status == Status::no_handler
                              ? "nobody handles \"" + entry->name + "\" in context " + self() +
                                    ": call on() there first"
                              : wire::declared_as(entry->name, found.types, self()));
        entry->handler = found.handler;
    }
    detail::Handler* const handler = entry->handler;
    Objects::Slot* const slot = objects_.enter(header.handle, header.generation, header.key);
    if (slot == nullptr) [[unlikely]] {
        objects_.leave();
        return refuse(reporter_, from, header, Status::dead_pointer,
                      "\"" + entry->name + "\": the object is not bound (any more)");
    }
    if (slot->type != handler->type()) [[unlikely]] {
        objects_.leave();
        return refuse(reporter_, from, header, Status::bad_signature,
                      "\"" + entry->name + "\": the pointer names an object of another type");
    }
    if (handler->threaded()) {
        executor_.submit(*handler, *slot, from, header, frame, owned);
    } else {
        const std::size_t answered = executor_.run(*handler, *slot, from, header, frame, owned);
        if ((header.flags & wire::kWantsReply) != 0) ParkedRequests::answered(requests.parked, answered);
    }
    objects_.leave();
}

void Server::take_declare(transport::Link& from, wire::View frame) {
    const auto declare = wire::decode_declare(frame);
    if (!declare)
        return reporter_.report_error(Status::bad_archive,
                                      from.peer->text() + " sent a declaration that is none");
    if (!from.interface.calls.demux->learn_name(from, declare->sender)) return;
    requests_of(*from.peer).declared.declare(*declare);
}

void Server::take_table(transport::Link& from, wire::View frame) {
    const auto sent = wire::decode_table_frame(frame);
    auto table = sent ? wire::decode_table(sent->table) : std::nullopt;
    if (!table)
        return reporter_.report_error(Status::bad_archive,
                                      from.peer->text() + " sent a descriptor table that is none");
    if (!table->prescribed().empty())
        if (const auto good = method::check_prescription(table->prescribed()); !good)
            return reporter_.report_error(
                Status::bad_archive,
                from.peer->text() + " sent a pointer that prescribes what can't be: " + good.failure().why);
    from.interface.calls.demux->learn_table(from, sent->context, std::move(*table));
}

} // namespace plexus::request
