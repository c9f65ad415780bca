// SPDX-License-Identifier: BSD-3-Clause
// What happens when a way breaks: the same method anew, then the next row that applies, then
// the peer is lost. What was accepted moves along. @thread progress
#include "comm/exchange.h"
#include "comm/route.h"

namespace plexus::comm {

using std::chrono::nanoseconds;

namespace {

/// A peer that lets us in and sends us away before a word is said is closing, or out of means:
/// it is asked again, ever more slowly, for a quarter of a second in all.
constexpr unsigned kMostLinksInVain = 10;

nanoseconds pause_after(unsigned links_in_vain) {
    constexpr unsigned kLongest = 6;
    return links_in_vain < 2 ? nanoseconds{0}
                             : std::chrono::milliseconds(1u << std::min(links_in_vain - 2, kLongest));
}

} // namespace

void Exchange::lost(Connection& connection, Status status, const std::string& why) {
    if (connection.lost) return;
    connection.lost = true;
    lost_.push_back(&connection);
    scheduler_.request_chores();
    Object& object = *connection.object;
    Peer& peer = *connection.peer;
    const bool was_way = object.link_lost(connection, status, why);
    if (parted()) return;
    if (connection.farewell) return see_off(connection.peer);
    if (!was_way) return;
    {
        Lock hold(peer.mutex);
        if (peer.presence == Presence::gone) return;
    }
    const std::string name = to_string(peer.id).substr(0, 8);
    if (!connection.open) {
        log::info("comm", "{} does not reach context {}: {}", object.row_name(), name, why);
        return substitute(object, status, why);
    }
    log::info("comm", "{}: the connection to context {} broke: {}", object.row_name(), name, why);
    if (connection.broken_rules) return substitute(object, status, why);
    if (Connection* other = find_spare(object)) return object.adopt(*other);
    if (!object.has_stake() && !listener_.awaits(peer)) return;
    if (connection.heard || connection.delivered > 0) {
        object.links_in_vain = 0;
        return object.reconnect();
    }
    if (++object.links_in_vain > kMostLinksInVain) return substitute(object, status, why);
    retries_.push_back(
        {std::chrono::steady_clock::now() + pause_after(object.links_in_vain), connection.peer, &object});
}

// Where both sides connected at the same time, one link was enough.
Connection* Exchange::find_spare(const Object& object) {
    Lock hold(connections_mutex_);
    const auto found = std::find_if(connections_.begin(), connections_.end(), [&](const auto& each) {
        return each->object == &object && each->open && !each->lost && !each->ignored;
    });
    return found == connections_.end() ? nullptr : found->get();
}

nanoseconds Exchange::retry_links() {
    const auto now = std::chrono::steady_clock::now();
    nanoseconds next = nanoseconds::max();
    const auto due = std::stable_partition(retries_.begin(), retries_.end(),
                                           [&](const Retry& retry) { return retry.when > now; });
    const std::vector<Retry> ready(due, retries_.end());
    retries_.erase(due, retries_.end());
    for (const Retry& retry : retries_) next = std::min<nanoseconds>(next, retry.when - now);
    for (const Retry& retry : ready) retry.object->reconnect();
    return next;
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

void Exchange::substitute(Object& object, Status status, const std::string& why) {
    Peer& peer = object.peer();
    const std::string method = object.row_name();
    const bool stake = object.has_stake() || listener_.awaits(peer);
    Object::Estate estate = object.die();
    {
        Lock hold(peer.mutex);
        peer.failed[method] = why;
        if (status == Status::denied) peer.status = status;
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
    std::string all = method + ": " + why;
    for (const Verdict& verdict : choice.trail)
        if (verdict.method != method) all += "; " + verdict.method + ": " + verdict.because;
    // Another key is the operator's mistake, not the peer's end: that is said wherever it was seen.
    bool denied = false;
    {
        Lock hold(peer.mutex);
        denied = peer.status == Status::denied;
    }
    const Status end = denied ? Status::denied : Status::peer_lost;
    declare_lost(peer, end, all);
    abandon(peer, end, all, std::move(estate));
}

void Exchange::abandon(Peer& peer, Status status, const std::string& why, Object::Estate estate) {
    const std::size_t frames = estate.frames();
    Object::bury(std::move(estate), status);
    if (frames > 0)
        listener_.trouble(Status::message_lost,
                          fmt::format("{} requests to context {} may not have been delivered: {}", frames,
                                      to_string(peer.id).substr(0, 8), why));
}

void Exchange::declare_lost(Peer& peer, Status status, const std::string& why) {
    {
        Lock hold(peer.mutex);
        if (peer.presence == Presence::gone) return;
        peer.presence = Presence::lost;
        peer.status = status;
        peer.why = why;
        peer.lost_at = std::chrono::steady_clock::now();
    }
    listener_.peer_lost(peer, status, why);
}

nanoseconds Exchange::chores() {
    settle_failed();
    release_lost();
    if (!gone_.empty()) forget_gone();
    if (farewell_.load(std::memory_order_acquire)) say_goodbyes(); // pairs with [farewell]
    const nanoseconds next = retries_.empty() ? nanoseconds::max() : retry_links();
    if (owing_.empty()) return next;
    const auto now = std::chrono::steady_clock::now();
    if (now < confirm_at_) return std::min<nanoseconds>(next, confirm_at_ - now);
    const std::vector<Connection*> owing = owing_;
    for (Connection* connection : owing) confirm(*connection);
    return next;
}

// What was delivered here is confirmed before the goodbye, so that nobody takes it for lost.
void Exchange::say_goodbyes() {
    parted_.store(true, std::memory_order_relaxed); // a hint; the leader orders the rest
    const std::vector<Connection*> owing = owing_;
    for (Connection* connection : owing) confirm(*connection);
    std::vector<Connection*> open;
    {
        Lock hold(connections_mutex_);
        for (const auto& connection : connections_)
            if (connection->open && !connection->lost) open.push_back(connection.get());
    }
    for (Connection* connection : open) connection->object->control(*connection, wire::encode_goodbye());
    farewell_.store(false, std::memory_order_release); // [farewell]
}

// A server outlives many clients: of one that has ended nothing stays but what others still hold.
void Exchange::forget_gone() {
    std::vector<std::shared_ptr<detail::Route>> ways; // end outside of the locks
    std::vector<std::shared_ptr<Peer>> over;
    std::erase_if(gone_, [&](std::shared_ptr<Peer>& peer) {
        Lock hold(peers_mutex_);
        const std::size_t before = ways.size();
        {
            Lock inner(peer->mutex);
            for (auto way = peer->ways.begin(); way != peer->ways.end();) {
                const bool unused = way->second.use_count() == 1;
                if (unused) ways.push_back(std::move(way->second));
                way = unused ? peer->ways.erase(way) : std::next(way);
            }
            if (!peer->ways.empty()) return false;
        }
        // One is the map's, one is ours, and each of those ways has one.
        if (peer.use_count() != static_cast<long>(2 + ways.size() - before)) return false;
        peers_.erase(peer->id);
        over.push_back(std::move(peer));
        return true;
    });
}

} // namespace plexus::comm
