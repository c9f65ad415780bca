// SPDX-License-Identifier: BSD-3-Clause
#include "transport/endpoint.h"

#include "transport/channel.h"
#include "transport/reach.h"
#include "transport/route.h"

#include <algorithm>
#include <map>

namespace plexus::transport {
namespace {

constexpr std::size_t kMostWarnings = 1000;
/// Ways to one peer by different tables, of which no pointer uses some any more.
constexpr std::size_t kMostWays = 64;

} // namespace

Endpoint::Endpoint(const ContextId& self, EndpointOptions options, poll::Scheduler& scheduler,
                   Listener& listener)
  : self_(self)
  , options_(std::move(options))
  , scheduler_(scheduler)
  , listener_(listener) {}

Endpoint::~Endpoint() = default;

void Endpoint::add(std::unique_ptr<Interface> interface) { interfaces_.add(std::move(interface)); }

void Endpoint::seal_table(const std::vector<method::ListItem>& order) {
    std::map<std::string, const Descriptor*> rows;
    std::vector<std::string> names;
    for (const auto& interface : interfaces())
        for (const Descriptor& row : interface->rows)
            if (rows.emplace(row.method, &row).second) names.push_back(row.method);
    DescriptorTable table;
    table.set_place(options_.place);
    for (const method::ListItem& item : method::apply_list(order, names))
        if (table.size() < DescriptorTable::kMaxRows) table.push_back(*rows.at(item.method));
    own_table_.set(KnownTable::make(std::move(table)));
}

void Endpoint::change_own_table(const std::function<void(DescriptorTable&)>& change) {
    // Whoever changes it at the same time may learn in another order.
    for (auto known = own_table_.change(change);;) {
        peer(self_)->learn(known, true);
        auto now = own_table();
        if (now == known) return;
        known = std::move(now);
    }
}

Interface* Endpoint::find_interface(std::string_view name) const noexcept {
    if (closed()) return nullptr;
    for (const auto& interface : interfaces())
        if (means_row(interface->name, name)) return interface.get();
    return nullptr;
}

std::shared_ptr<Peer> Endpoint::peer(const ContextId& id) {
    Lock hold(peers_mutex_);
    std::shared_ptr<Peer>& peer = peers_[id];
    if (peer == nullptr) {
        peer = std::make_shared<Peer>(id);
        peer->attachment = listener_.attach(*peer);
        if (id == self_) peer->learn(own_table(), true);
    }
    return peer;
}

std::vector<std::shared_ptr<Peer>> Endpoint::peers() const {
    Lock hold(peers_mutex_);
    std::vector<std::shared_ptr<Peer>> all;
    for (const auto& [id, peer] : peers_) all.push_back(peer);
    return all;
}

bool Endpoint::forget(const std::shared_ptr<Peer>& peer) {
    std::vector<std::shared_ptr<detail::Route>> ways; // end outside of the locks
    Lock hold(peers_mutex_);
    {
        Lock inner(peer->mutex);
        for (auto way = peer->ways.begin(); way != peer->ways.end();) {
            const bool unused = way->second.use_count() == 1;
            if (unused) ways.push_back(std::move(way->second));
            way = unused ? peer->ways.erase(way) : std::next(way);
        }
        if (!peer->ways.empty()) return false;
    }
    // One is the map's, one is the caller's, and each of those ways has one.
    if (peer.use_count() != static_cast<long>(2 + ways.size())) return false;
    for (const Channel* channel : peer->all_channels()) channel->interface().counts.keep(channel->traffic());
    peers_.erase(peer->id);
    return true;
}

void Endpoint::forget_all() {
    std::unordered_map<ContextId, std::shared_ptr<Peer>> over; // ends outside of the lock
    Lock hold(peers_mutex_);
    over.swap(peers_);
}

namespace {

Channel* present_channel(Peer& peer, const Interface& interface, const Descriptor& row)
    PLEXUS_REQUIRES(peer.mutex) {
    for (const auto& channel : peer.channels)
        if (&channel->interface() == &interface && !channel->dead() && channel->serves(row))
            return channel.get();
    return nullptr;
}

} // namespace

Channel* Endpoint::find_channel(Peer& peer, const Descriptor& row) const {
    const Interface* const interface = find_interface(row.method);
    const Descriptor wanted = for_module(row);
    Lock hold(peer.mutex);
    return interface == nullptr ? nullptr : present_channel(peer, *interface, wanted);
}

Channel& Endpoint::channel(Peer& peer, const Descriptor& wanted) {
    Interface& interface = *find_interface(wanted.method);
    const Descriptor row = for_module(wanted);
    Lock hold(peer.mutex);
    if (Channel* const present = present_channel(peer, interface, row)) return *present;
    for (const auto& channel : peer.channels) // retries of a lost peer leave no heap of dead channels
        if (&channel->interface() == &interface && channel->revive(row)) return *channel;
    return *peer.channels.emplace_back(std::make_unique<Channel>(*this, peer, interface, row));
}

std::shared_ptr<detail::Route> Endpoint::way(const std::shared_ptr<Peer>& peer,
                                             const std::shared_ptr<const KnownTable>& table) {
    auto keeper = keeper_.lock();
    if (keeper == nullptr) throw Error(Status::closed, "this context is closing");
    std::vector<std::shared_ptr<detail::Route>> unused; // end outside of the lock
    Lock hold(peer->mutex);
    if (peer->ways.size() >= kMostWays && !peer->ways.contains(table->hash)) {
        for (auto each = peer->ways.begin(); each != peer->ways.end();) {
            const bool over = each->second.use_count() == 1;
            if (over) unused.push_back(std::move(each->second));
            each = over ? peer->ways.erase(each) : std::next(each);
        }
    }
    std::shared_ptr<detail::Route>& way = peer->ways[table->hash];
    if (way == nullptr) way = std::make_shared<detail::Route>(std::move(keeper), *this, peer, table);
    return way;
}

Status Endpoint::answer(Channel& to, Frame& frame, std::string* why) {
    Status status = to.send(frame, why);
    const auto table = status == Status::link_lost ? to.peer().owners_table() : nullptr;
    if (table != nullptr && !closing()) status = way(to.peer().shared_from_this(), table)->send(frame, why);
    const bool dropped = status == Status::again || status == Status::link_lost ||
                         status == Status::peer_lost || status == Status::no_method ||
                         status == Status::message_lost;
    if (!dropped || !frame.from_reserve || closing()) return status;
    const wire::View head{static_cast<const std::byte*>(frame.pieces[0].data), frame.pieces[0].size};
    note_dropped(to.peer(), is_report(head) ? wire::Dropped::reports : wire::Dropped::answers);
    return status;
}

void Endpoint::note_dropped(Peer& peer, wire::Dropped what, std::uint64_t count) {
    peer.dropped.add(what, count);
    for (Channel* each : peer.all_channels()) // without a link the next one begins with it
        each->on_outbox([](Outbox& outbox) { outbox.tell_dropped(); });
}

void Endpoint::warn_once(const std::string& text) {
    {
        Lock hold(peers_mutex_);
        if (std::find(warned_.begin(), warned_.end(), text) != warned_.end()) return;
        if (warned_.size() >= kMostWarnings) return;
        warned_.push_back(text);
    }
    log::warn("transport", "{}", text);
}

void Endpoint::attend(Channel& channel) {
    attention_.add({channel.peer().shared_from_this(), &channel});
    scheduler_.request_deferred_work();
}

void AttentionList::add(Attention attention) {
    Lock hold(mutex_);
    const bool noted = std::any_of(entries_.begin(), entries_.end(),
                                   [&](const Attention& each) { return each.channel == attention.channel; });
    if (!noted) entries_.push_back(std::move(attention));
}

std::vector<Attention> AttentionList::take() {
    Lock hold(mutex_);
    return std::exchange(entries_, {});
}

std::shared_ptr<const KnownTable> OwnTable::get() const {
    Lock hold(mutex_);
    return table_;
}

std::shared_ptr<const KnownTable> OwnTable::change(const std::function<void(DescriptorTable&)>& change) {
    for (;;) {
        const auto before = get();
        DescriptorTable table = before->table;
        change(table);
        auto after = KnownTable::make(std::move(table));
        const Lock hold(mutex_);
        if (table_ != before) continue; // another thread has changed it
        table_ = after;
        return after;
    }
}

void OwnTable::set(std::shared_ptr<const KnownTable> table) {
    Lock hold(mutex_);
    table_.swap(table); // the former ends outside of the lock
}

Policy SharedPolicy::get() const {
    Lock hold(mutex_);
    return policy_;
}

Policy SharedPolicy::exchange(Policy policy) {
    Lock hold(mutex_);
    return std::exchange(policy_, std::move(policy));
}

} // namespace plexus::transport
