// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/memory.h"

#include "common/byte_order.h"
#include "ucx/trace.h"

#include <algorithm>
#include <cstring>

namespace plexus::ucx {

using message_link::Hold;
using message_link::Outcome;

struct RemoteKeys::Key final : message_link::RemoteKey {
    Key(RemoteKeys& all, ucp_rkey_h unpacked, std::uint64_t at)
      : owner(all)
      , handle(unpacked)
      , base(at) {
        owner.keys_.push_back(this);
    }
    ~Key() override {
        std::erase(owner.keys_, this);
        if (handle != nullptr) ::ucp_rkey_destroy(handle);
    }
    RemoteKeys& owner;
    ucp_rkey_h handle;
    std::uint64_t base;
};

namespace {

constexpr std::size_t kAddressBytes = 8;
// UCX reads as far as a key's own numbers say: at most so many memory domains, each with at most
// so many bytes. What is not there reads as zero.
constexpr std::size_t kMostKeyBytes = std::size_t{64} * 256;

// One request of a get or put is over.
void part_over(void* request, ucs_status_t status, void* its) {
    ::ucp_request_free(request);
    Op& op = *static_cast<Op*>(its);
    if (status != UCS_OK) op.failed = true;
    if (--op.awaited == 0) op.owner->complete(op, op.failed);
}

ucp_request_param_t told_by(Op& op) {
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    how.cb.send = part_over;
    how.user_data = &op;
    return how;
}

bool may_move(const UcxPeer& peer) { return !peer.endpoint.failed && peer.endpoint.handle != nullptr; }

} // namespace

std::uint64_t RemoteKeys::least_bytes() const { return library_.moves_memory() ? least_ : 0; }

std::int32_t RemoteKeys::register_memory(void*& data, std::size_t size, plexus_text& key,
                                         MemoryRegion*& region) {
    if (!library_.moves_memory()) return PLEXUS_UNSUPPORTED;
    const Trace trace;
    ucp_mem_map_params_t wanted{};
    wanted.field_mask =
        UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    wanted.address = data;
    wanted.length = size;
    wanted.flags = data == nullptr ? UCP_MEM_MAP_ALLOCATE : 0;
    auto made = std::make_unique<MemoryRegion>();
    ucp_mem_attr_t known{};
    known.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    void* packed = nullptr;
    std::size_t bytes = 0;
    const Hold hold(port_.lock);
    ucs_status_t status = ::ucp_mem_map(library_.context(), &wanted, &made->handle);
    if (status != UCS_OK) {
        host_.log(host_.self, PLEXUS_DEBUG,
                  ("UCX does not map memory: " + std::string(::ucs_status_string(status))).c_str());
        return status == UCS_ERR_NO_MEMORY ? PLEXUS_TOO_LARGE : PLEXUS_UNSUPPORTED;
    }
    status = ::ucp_mem_query(made->handle, &known);
    if (status == UCS_OK) status = ::ucp_rkey_pack(library_.context(), made->handle, &packed, &bytes);
    if (status == UCS_OK && kAddressBytes + bytes <= key.capacity) {
        const auto base = reinterpret_cast<std::uint64_t>(known.address);
        module::store(reinterpret_cast<std::uint8_t*>(key.data), base);
        std::memcpy(key.data + kAddressBytes, packed, bytes);
        key.size = kAddressBytes + bytes;
        data = known.address;
        region = made.release();
    }
    if (packed != nullptr) ::ucp_rkey_buffer_release(packed);
    if (region != nullptr) return PLEXUS_OK;
    (void)::ucp_mem_unmap(library_.context(), made->handle);
    return PLEXUS_UNSUPPORTED;
}

void RemoteKeys::deregister_memory(MemoryRegion& region) {
    const std::unique_ptr<MemoryRegion> last(&region);
    const Trace trace;
    const Hold hold(port_.lock);
    (void)::ucp_mem_unmap(library_.context(), region.handle);
}

std::unique_ptr<message_link::RemoteKey> RemoteKeys::attach(message_link::Peer& its_peer, plexus_view key,
                                                            std::int32_t& status) {
    status = PLEXUS_BAD_ARGUMENT;
    if (key.size <= kAddressBytes || key.size > PLEXUS_KEY_MAX) return nullptr;
    const auto* bytes = static_cast<const std::uint8_t*>(key.data);
    std::vector<std::uint8_t> packed(kMostKeyBytes);
    std::copy(bytes + kAddressBytes, bytes + key.size, packed.begin());
    const UcxPeer& peer = ours(its_peer);
    status = PLEXUS_LINK_LOST;
    if (!may_move(peer)) return nullptr;
    const Trace trace;
    ucp_rkey_h unpacked = nullptr;
    status = PLEXUS_UNSUPPORTED;
    if (::ucp_ep_rkey_unpack(peer.endpoint.handle, packed.data(), &unpacked) != UCS_OK) return nullptr;
    return std::make_unique<Key>(*this, unpacked, module::load<std::uint64_t>(bytes));
}

// What was begun: nothing if UCX refused all of it, else at least one request is waited for, or
// none is left.
Outcome RemoteKeys::begin(Op& op, std::initializer_list<ucs_status_ptr_t> requests) {
    for (const ucs_status_ptr_t each : requests) {
        if (UCS_PTR_IS_PTR(each)) ++op.awaited;
        if (UCS_PTR_IS_ERR(each)) op.failed = true;
    }
    if (op.awaited > 0) {
        operations_.begin(op);
        return PLEXUS_POSTED;
    }
    const bool failed = op.failed;
    operations_.give_back(op);
    return failed ? PLEXUS_UNSUPPORTED : PLEXUS_OK;
}

Outcome RemoteKeys::get(message_link::Peer& its_peer, message_link::RemoteKey& remote, std::uint64_t offset,
                        void* into, std::size_t size, void* token) {
    const Trace trace;
    UcxPeer& peer = ours(its_peer);
    const Key& key = static_cast<const Key&>(remote);
    if (!may_move(peer)) return PLEXUS_LINK_LOST;
    Op& op = operations_.take(peer, Op::What::move, 0);
    op.token = token;
    op.size = size;
    const ucp_request_param_t how = told_by(op);
    return begin(op, {::ucp_get_nbx(peer.endpoint.handle, into, size, key.base + offset, key.handle, &how)});
}

// UCX says of a put only that our memory may be used again. What it flushes after it is in place.
Outcome RemoteKeys::put(message_link::Peer& its_peer, message_link::RemoteKey& remote, std::uint64_t offset,
                        const void* from, std::size_t size, void* token) {
    const Trace trace;
    UcxPeer& peer = ours(its_peer);
    const Key& key = static_cast<const Key&>(remote);
    if (!may_move(peer)) return PLEXUS_LINK_LOST;
    Op& op = operations_.take(peer, Op::What::move, 0);
    op.token = token;
    op.size = size;
    const ucp_request_param_t how = told_by(op);
    const ucs_status_ptr_t moved =
        ::ucp_put_nbx(peer.endpoint.handle, from, size, key.base + offset, key.handle, &how);
    if (UCS_PTR_IS_ERR(moved)) return begin(op, {moved});
    return begin(op, {moved, ::ucp_ep_flush_nbx(peer.endpoint.handle, &how)});
}

void RemoteKeys::end() {
    for (Key* const each : keys_) ::ucp_rkey_destroy(std::exchange(each->handle, nullptr));
    keys_.clear();
}

} // namespace plexus::ucx
