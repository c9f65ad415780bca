// SPDX-License-Identifier: BSD-3-Clause
#include "request/dispatcher.h"

#include <algorithm>
#include <optional>

namespace plexus::request {

Dispatcher::Dispatcher(DispatcherOptions options)
  : options_(std::move(options))
  , client_(options_.calls, options_.call_deadline, reporter_)
  , server_(options_.handler_threads, options_.handler_queue, options_.name, reporter_) {}

void Dispatcher::serve(transport::Transport& transport) {
    client_.serve(transport);
    server_.serve(transport);
}

std::unique_ptr<transport::Attachment> Dispatcher::attach(transport::Peer&) {
    return std::make_unique<PeerRequests>();
}

void Dispatcher::peer_lost(transport::Peer& peer, Status status, const std::string& why) {
    const bool over = status == Status::closed; // the modules have ended: nothing moves any more
    client_.endings().end_all(peer, status, why, over);
    if (over) server_.drop_parked();
    if (extension_ != nullptr) extension_->peer_lost(peer);
    if (observer_ != nullptr) observer_->peer_lost(peer, true);
}

bool Dispatcher::awaits(const transport::Channel& via) {
    return client_.calls().awaits_by(&via) || (extension_ != nullptr && extension_->awaits(via)) ||
           (observer_ != nullptr && observer_->needs(via.peer()));
}

void Dispatcher::calls_lost(transport::Channel& via, transport::WhichCalls which, Status status,
                            const std::string& why) {
    const bool only_uncertain = which == transport::WhichCalls::uncertain;
    client_.endings().end_all_by(via, status, why, only_uncertain);
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
        if (call) client_.endings().end(*call, &peer, status, text);
    }
    if (any_own) observer_->peer_lost(peer, false);
    if (requests > 0)
        on_error(Status::message_lost, std::to_string(requests) + " requests to " + peer.text() +
                                           " may not have been delivered: " + why);
}

void Dispatcher::calls_moved(transport::Channel& from, transport::Channel& to) {
    client_.calls().moved(&from, &to);
    if (extension_ != nullptr) extension_->calls_moved(from, to);
}

std::chrono::nanoseconds Dispatcher::deferred_work() {
    const std::chrono::nanoseconds parked = server_.begin_parked();
    return std::min(parked, client_.endings().run());
}

void Dispatcher::peer_event(transport::Peer& peer, Status what, const std::string& why) {
    reporter_.peer_event({peer.id, peer.name(), what, why});
}

} // namespace plexus::request
