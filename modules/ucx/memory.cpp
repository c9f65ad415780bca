// SPDX-License-Identifier: BSD-3-Clause
// Remote memory access: UCX moves bytes between our memory and a peer's, by a key that the peer
// has packed. A key as it travels: the address of the memory over there, then UCX's part.
#include "common/byte_order.h"
#include "ucx/module.h"

#include <algorithm>
#include <cstring>

namespace plexus::ucx {
namespace {

using module::load;
using module::store;

constexpr std::size_t kAddressBytes = 8;
// UCX reads as far as a key's own numbers say: at most so many memory domains, each with at most
// so many bytes. What is not there reads as zero.
constexpr std::size_t kMostKeyBytes = std::size_t{64} * 256;

// One request of a get or put is over.
void part_over(void* request, ucs_status_t status, void* its) {
    ::ucp_request_free(request);
    Op& op = *static_cast<Op*>(its);
    if (status != UCS_OK) op.failed = true;
    if (--op.awaited > 0) return;
    if (op.link != nullptr) return op.link->op_over(op);
    op.module->orphan_over(op);
}

ucp_request_param_t told_by(Op& op) {
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    how.cb.send = part_over;
    how.user_data = &op;
    return how;
}

} // namespace

std::int32_t Module::expose(void*& data, std::size_t size, plexus_text& key, Memory*& memory) {
    if (!library_.moves_memory() || closing()) return PLEXUS_UNSUPPORTED;
    const Trace trace;
    ucp_mem_map_params_t wanted{};
    wanted.field_mask =
        UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    wanted.address = data;
    wanted.length = size;
    wanted.flags = data == nullptr ? UCP_MEM_MAP_ALLOCATE : 0;
    auto made = std::make_unique<Memory>();
    ucp_mem_attr_t known{};
    known.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    void* packed = nullptr;
    std::size_t bytes = 0;
    const Hold hold(lock_);
    ucs_status_t status = ::ucp_mem_map(library_.context(), &wanted, &made->handle);
    if (status != UCS_OK) {
        log(PLEXUS_DEBUG, "UCX does not map memory: " + std::string(::ucs_status_string(status)));
        return status == UCS_ERR_NO_MEMORY ? PLEXUS_TOO_LARGE : PLEXUS_UNSUPPORTED;
    }
    status = ::ucp_mem_query(made->handle, &known);
    if (status == UCS_OK) status = ::ucp_rkey_pack(library_.context(), made->handle, &packed, &bytes);
    if (status == UCS_OK && kAddressBytes + bytes <= key.capacity) {
        const auto base = reinterpret_cast<std::uint64_t>(known.address);
        store(reinterpret_cast<std::uint8_t*>(key.data), base);
        std::memcpy(key.data + kAddressBytes, packed, bytes);
        key.size = kAddressBytes + bytes;
        data = known.address;
        memory = made.release();
    }
    if (packed != nullptr) ::ucp_rkey_buffer_release(packed);
    if (memory != nullptr) return PLEXUS_OK;
    (void)::ucp_mem_unmap(library_.context(), made->handle);
    return PLEXUS_UNSUPPORTED;
}

void Module::withdraw(Memory& memory) {
    const std::unique_ptr<Memory> last(&memory);
    const Trace trace;
    const Hold hold(lock_);
    (void)::ucp_mem_unmap(library_.context(), memory.handle);
}

bool Link::may_move() const { return state == State::open && !way->failed && way->endpoint != nullptr; }

std::int32_t Link::attach(plexus_view key, Remote*& remote) {
    if (key.size <= kAddressBytes || key.size > PLEXUS_KEY_MAX) return PLEXUS_BAD_ARGUMENT;
    const auto* bytes = static_cast<const std::uint8_t*>(key.data);
    std::vector<std::uint8_t> packed(kMostKeyBytes);
    std::copy(bytes + kAddressBytes, bytes + key.size, packed.begin());
    const Trace trace;
    const Hold hold(module.lock());
    if (!may_move()) return PLEXUS_LINK_LOST;
    ucp_rkey_h unpacked = nullptr;
    if (::ucp_ep_rkey_unpack(way->endpoint, packed.data(), &unpacked) != UCS_OK) return PLEXUS_UNSUPPORTED;
    remotes_.push_back(std::make_unique<Remote>(unpacked, load<std::uint64_t>(bytes)));
    remote = remotes_.back().get();
    return PLEXUS_OK;
}

void Link::detach(Remote& remote) {
    const Hold hold(module.lock());
    std::erase_if(remotes_, [&](const auto& each) { return each.get() == &remote; });
}

Op& Link::op_of_move(std::size_t size, void* sent_token) {
    Op& op = module.ops().take(0);
    op.token = sent_token;
    op.size = size;
    return op;
}

// What was begun: nothing if UCX refused all of it, else at least one request is waited for, or
// none is left.
std::int32_t Link::begin_move(Op& op, std::initializer_list<ucs_status_ptr_t> requests) {
    op.awaited = 0;
    op.failed = false;
    for (const ucs_status_ptr_t each : requests) {
        if (UCS_PTR_IS_PTR(each)) ++op.awaited;
        if (UCS_PTR_IS_ERR(each)) op.failed = true;
    }
    if (op.awaited > 0) {
        op.moves = true;
        enlist(op);
        return PLEXUS_POSTED;
    }
    const bool failed = op.failed;
    module.ops().give_back(op);
    return failed ? PLEXUS_UNSUPPORTED : PLEXUS_OK;
}

std::int32_t Link::get(Remote& remote, std::uint64_t offset, void* into, std::size_t size, void* sent_token) {
    const Trace trace;
    const Hold hold(module.lock());
    if (!may_move()) return PLEXUS_LINK_LOST;
    Op& op = op_of_move(size, sent_token);
    const ucp_request_param_t how = told_by(op);
    return begin_move(op, {::ucp_get_nbx(way->endpoint, into, size, remote.base + offset, remote.key, &how)});
}

// UCX says of a put only that our memory may be used again. What it flushes after it is in place.
std::int32_t Link::put(Remote& remote, std::uint64_t offset, const void* from, std::size_t size,
                       void* sent_token) {
    const Trace trace;
    const Hold hold(module.lock());
    if (!may_move()) return PLEXUS_LINK_LOST;
    Op& op = op_of_move(size, sent_token);
    const ucp_request_param_t how = told_by(op);
    const ucs_status_ptr_t moved =
        ::ucp_put_nbx(way->endpoint, from, size, remote.base + offset, remote.key, &how);
    if (UCS_PTR_IS_ERR(moved)) return begin_move(op, {moved});
    return begin_move(op, {moved, ::ucp_ep_flush_nbx(way->endpoint, &how)});
}

} // namespace plexus::ucx
