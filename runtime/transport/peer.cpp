// SPDX-License-Identifier: BSD-3-Clause
#include "transport/peer.h"

#include "base/crypto.h"
#include "transport/channel.h"
#include "wire/table.h"

#include <algorithm>

namespace plexus::transport {

std::string short_text(const ContextId& id) { return to_string(id).substr(0, 8); }

std::shared_ptr<const KnownTable> KnownTable::make(DescriptorTable table) {
    auto known = std::make_shared<KnownTable>();
    known->encoded = wire::encode_table(table);
    known->hash = wire::table_hash(known->encoded);
    known->table = std::move(table);
    return known;
}

std::shared_ptr<const KnownTable> KnownTables::find(std::uint64_t hash) const {
    const auto found =
        std::find_if(tables_.begin(), tables_.end(), [&](const auto& each) { return each->hash == hash; });
    return found == tables_.end() ? nullptr : *found;
}

namespace {

// What one pointer prescribes does not hold for others.
std::shared_ptr<const KnownTable> without_prescription(const std::shared_ptr<const KnownTable>& table) {
    if (table->table.prescribed().empty()) return table;
    DescriptorTable rows = table->table;
    rows.set_prescribed({});
    return KnownTable::make(std::move(rows));
}

} // namespace

void KnownTables::learn(const std::shared_ptr<const KnownTable>& table, bool from_owner) {
    if (from_owner || owners_ == nullptr) owners_ = without_prescription(table);
    owner_said_ = owner_said_ || from_owner;
    if (find(table->hash) != nullptr) return;
    tables_.push_back(table);
    auto unused = static_cast<std::size_t>(std::count_if(
        tables_.begin(), tables_.end(), [](const auto& each) { return each.use_count() == 1; }));
    for (auto at = tables_.begin(); unused > kMostUnused && at != tables_.end();) {
        const bool forget = at->use_count() == 1;
        unused -= forget ? 1 : 0;
        at = forget ? tables_.erase(at) : std::next(at);
    }
}

Peer::Peer(const ContextId& the_id)
  : id(the_id)
  , short_id(short_text(the_id)) {
    crypto::fill_random(&relation.memory, sizeof relation.memory);
    relation.memory |= 1; // never 0
}

Peer::~Peer() = default;

std::string Peer::name() const {
    const std::string* const name = name_.load(std::memory_order_acquire); // [name]
    return name == nullptr ? std::string() : *name;
}

void Peer::learn_name(std::string_view name) {
    if (owned_name_ != nullptr || name.empty()) return;
    owned_name_ = std::make_unique<const std::string>(name);
    name_.store(owned_name_.get(), std::memory_order_release); // [name]
}

std::string Peer::text() const {
    const std::string said = name();
    return "context " + short_id + (said.empty() ? "" : " (" + said + ")");
}

std::shared_ptr<const KnownTable> Peer::find_table(std::uint64_t hash) const {
    Lock hold(mutex);
    return tables.find(hash);
}

void Peer::learn(const std::shared_ptr<const KnownTable>& table, bool owners) {
    Lock hold(mutex);
    tables.learn(table, owners);
}

std::shared_ptr<const KnownTable> Peer::owners_table() const {
    Lock hold(mutex);
    return tables.owners();
}

std::shared_ptr<const KnownTable> Peer::said_table() const {
    Lock hold(mutex);
    return tables.said();
}

std::vector<Channel*> Peer::all_channels() const {
    Lock hold(mutex);
    std::vector<Channel*> all;
    for (const auto& channel : channels) all.push_back(channel.get());
    return all;
}

Channel* Peer::live_channel() const {
    Lock hold(mutex);
    for (const auto& channel : channels)
        if (!channel->dead()) return channel.get();
    return nullptr;
}

Presence Peer::presence() const {
    Lock hold(mutex);
    return state.presence;
}

} // namespace plexus::transport
