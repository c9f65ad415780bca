// SPDX-License-Identifier: BSD-3-Clause
#include "comm/peer.h"

#include "wire/table.h"

namespace plexus::comm {
namespace {

/// Tables of one context that are remembered: it makes one, users of its pointers may change
/// theirs. Beyond that the oldest numbers go.
constexpr std::size_t kMostTables = 64;

} // namespace

std::shared_ptr<const KnownTable> KnownTable::make(DescriptorTable table) {
    auto known = std::make_shared<KnownTable>();
    known->encoded = wire::encode_table(table);
    known->hash = wire::table_hash(known->encoded);
    known->table = std::move(table);
    return known;
}

std::shared_ptr<const KnownTable> Peer::find_table(std::uint64_t hash) const {
    Lock hold(mutex);
    const auto found = tables.find(hash);
    return found == tables.end() ? nullptr : found->second;
}

void Peer::learn(std::shared_ptr<const KnownTable> table, bool from_owner) {
    Lock hold(mutex);
    if (tables.size() >= kMostTables) tables.erase(tables.begin());
    if (from_owner || owners == nullptr) owners = table;
    tables[table->hash] = std::move(table);
}

std::shared_ptr<const KnownTable> Peer::owners_table() const {
    Lock hold(mutex);
    return owners;
}

} // namespace plexus::comm
