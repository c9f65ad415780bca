// SPDX-License-Identifier: BSD-3-Clause
// What happens when a way breaks: the same method anew, then the next row that applies, then
// the peer is lost. What was accepted moves along. @thread progress
#include "comm/exchange.h"
#include "comm/route.h"

namespace plexus::comm {

using std::chrono::nanoseconds;

void Exchange::lost(Connection& connection, Status status, const std::string& why) {
    if (connection.lost) return;
    connection.lost = true;
    lost_.push_back(&connection);
    scheduler_.request_chores();
    Object& object = *connection.object;
    Peer& peer = *connection.peer;
    const bool was_way = object.link_lost(connection, status, why);
    if (!was_way || closing()) return;
    {
        Lock hold(peer.mutex);
        if (peer.presence == Presence::gone) return;
    }
    const std::string name = to_string(peer.id).substr(0, 8);
    if (!connection.open) {
        log::info("comm", "{} does not reach context {}: {}", connection.method->name, name, why);
        return substitute(object, why);
    }
    log::info("comm", "{}: the connection to context {} broke: {}", connection.method->name, name, why);
    if (connection.broken_rules) return substitute(object, why);
    if (object.has_stake() || listener_.awaits(peer)) object.reconnect();
}

// connect() said no at once: told here, outside of the caller's locks.
void Exchange::settle_failed() {
    std::vector<Connection*> failed;
    {
        Lock hold(connections_mutex_);
        failed.swap(failed_);
    }
    for (Connection* connection : failed)
        lost(*connection, Status::link_lost, "no connection could be started");
}

void Exchange::substitute(Object& object, const std::string& why) {
    Peer& peer = object.peer();
    const std::string method = object.method().name;
    const bool stake = object.has_stake() || listener_.awaits(peer);
    Object::Estate estate = object.die();
    {
        Lock hold(peer.mutex);
        peer.failed[method] = why;
    }
    if (!stake) return; // whoever sends next chooses anew
    Choice choice;
    const auto known = peer.owners_table();
    if (known != nullptr && options_.fallback != Fallback::forbid)
        choice = method::first_applicable(known->table,
                                          [&](const Descriptor& row) { return applicable(&peer, row); });
    if (choice.row) {
        const Descriptor& row = known->table[*choice.row];
        if (options_.fallback == Fallback::warn)
            warn_once(fmt::format("context {} is reached by {} from now on: {}: {}",
                                  to_string(peer.id).substr(0, 8), row.method, method, why));
        return this->object(peer, row).inherit(std::move(estate));
    }
    const std::size_t frames = estate.frames();
    Object::bury(std::move(estate), Status::peer_lost);
    std::string all = method + ": " + why;
    for (const Verdict& verdict : choice.trail)
        if (verdict.method != method) all += "; " + verdict.method + ": " + verdict.because;
    declare_lost(peer, Status::peer_lost, all);
    if (frames > 0)
        listener_.trouble(Status::message_lost,
                          fmt::format("{} requests to context {} may not have been delivered: {}", frames,
                                      to_string(peer.id).substr(0, 8), all));
}

void Exchange::declare_lost(Peer& peer, Status status, const std::string& why) {
    {
        Lock hold(peer.mutex);
        if (peer.presence == Presence::gone) return;
        peer.presence = Presence::lost;
        peer.why = why;
        peer.lost_at = std::chrono::steady_clock::now();
    }
    listener_.peer_lost(peer, status, why);
}

nanoseconds Exchange::chores() {
    settle_failed();
    release_lost();
    if (owing_.empty()) return nanoseconds::max();
    const auto now = std::chrono::steady_clock::now();
    if (now >= confirm_at_) {
        const std::vector<Connection*> owing = owing_;
        for (Connection* connection : owing) confirm(*connection);
        return nanoseconds::max();
    }
    return confirm_at_ - now;
}

} // namespace plexus::comm
