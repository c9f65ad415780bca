// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/fetches.h"

#include "libfabric/errors.h"
#include "libfabric/peer.h"

#include <algorithm>
#include <rdma/fi_rma.h>

namespace plexus::libfabric {

using message_link::Event;
using message_link::Outcome;
using message_link::Registration;
using message_link::Stretch;

Fetches::Fetches(const plexus_host& host, std::shared_ptr<Page> page)
  : host_(host)
  , page_(std::move(page)) {}

void Fetches::open(fid_ep* endpoint, const MemoryRules& rules, std::size_t most_message, bool on_host) {
    constexpr std::size_t kMostFetch = 4 * 1024 * 1024;
    endpoint_ = endpoint;
    rules_ = rules;
    most_bytes_ = std::min(kMostFetch, most_message);
    on_host_ = on_host;
}

// Without a sight of our page a reader could not tell whether the memory is still what it was: between
// processes of a host the provider does not forget a registration that has ended.
bool Fetches::may_offer(const message_link::Peer& peer) const { return !on_host_ || peer.sees_us; }

// An outsider shall not guess it.
std::uint64_t Fetches::random_key() const {
    std::uint64_t key = 0;
    host_.random(host_.self, &key, sizeof key);
    return key;
}

bool Fetches::offer(const plexus_view& memory, Registration& out, Stretch& stretch) {
    MemoryRegion made;
    if (register_memory(rules_, memory.data, memory.size, FI_REMOTE_READ, random_key(), made) != 0)
        return false;
    stretch.address = rules_.virtual_addresses ? reinterpret_cast<std::uintptr_t>(memory.data) : 0;
    stretch.key = fi_mr_key(made.get());
    stretch.size = memory.size;
    out = std::move(made);
    return true;
}

Outcome Fetches::prepare(void* memory, std::size_t size, Registration& out, void*& handle, std::string& why) {
    handle = nullptr;
    if (!rules_.local) return PLEXUS_OK;
    MemoryRegion made;
    if (const int error = register_memory(rules_, memory, size, FI_READ, random_key(), made); error != 0) {
        why = text_of_error(error);
        return PLEXUS_LINK_LOST;
    }
    handle = fi_mr_desc(made.get());
    out = std::move(made);
    return PLEXUS_OK;
}

Outcome Fetches::fetch(message_link::Peer& its_peer, std::byte* where, std::size_t size, void* handle,
                       const Stretch& from, std::string& why) {
    FabricPeer& peer = FabricPeer::of(its_peer);
    if (endpoint_ == nullptr) return outcome_of(-FI_ESHUTDOWN, why);
    if (free_.empty()) free_.push_back(&ops_.emplace_back());
    Op& op = *free_.back();
    op.what = Op::What::fetch;
    op.peer = &peer;
    op.size = size;
    const int error = peer.contact->reach([&] {
        return static_cast<int>(fi_read(endpoint_, where, size, handle, peer.contact->address, from.address,
                                        from.key, &op.context));
    });
    if (error == 0) {
        free_.pop_back();
        ++under_way_;
    }
    peer.page.ring(); // some providers need the peer's help
    return outcome_of(error, why);
}

void Fetches::completed(Op& op, Event& out) {
    --under_way_;
    free_.push_back(&op);
    out.what = Event::What::fetched;
    out.bytes = op.size;
}

} // namespace plexus::libfabric
