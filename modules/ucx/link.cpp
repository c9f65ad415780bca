// SPDX-License-Identifier: BSD-3-Clause
// The half of a link that any thread may use: sending and giving up.
#include "ucx/link.h"

#include "common/values.h"
#include "ucx/module.h"

#include <algorithm>
#include <cstring>

namespace plexus::ucx {
namespace {

constexpr unsigned kMessageId = 1; // of our active messages

std::uint64_t size_of(const plexus_view* pieces, std::uint32_t count) {
    std::uint64_t size = 0;
    for (std::uint32_t i = 0; i < count; ++i) size += pieces[i].size;
    return size;
}

void send_over(void* request, ucs_status_t, void* op) {
    ::ucp_request_free(request);
    Op& over = *static_cast<Op*>(op);
    if (over.link != nullptr) return over.link->op_over(over);
    over.module->orphan_over(over);
}

} // namespace

Link::Link(Module& owner, void* its_cookie, const plexus_id& its_peer, Descriptor its_target)
  : module(owner)
  , cookie(its_cookie)
  , peer(its_peer)
  , target(std::move(its_target)) {}

std::int32_t Link::send(const plexus_view* pieces, std::uint32_t count, void* token) {
    const std::uint64_t size = size_of(pieces, count);
    const bool small = size <= module.options().eager;
    if (!small && pieces[0].size > PLEXUS_HEAD_MAX) return PLEXUS_BAD_ARGUMENT;
    if (module.closing()) return PLEXUS_LINK_LOST;

    const Hold hold(module.lock());
    if (state == State::waiting || state == State::greeting) {
        wishes = true;
        return PLEXUS_AGAIN;
    }
    if (state != State::open || way->failed) return PLEXUS_LINK_LOST;
    if (!has_room(size, small)) {
        wishes = true;
        return PLEXUS_AGAIN;
    }
    return small ? send_small(pieces, count, size) : send_large(pieces, count, size, token);
}

// What follows a large message waits at the receiver until that has landed: not too much.
bool Link::has_room(std::size_t size, bool small) const {
    if (posted_ > 0 && (behind_ + size > kMostBehind || behind_count_ >= kMostBehindCount) && small)
        return false;
    if (!small) return posted_ < kMostPosted;
    return in_flight_ == 0 ||
           (in_flight_ < kMostInFlight && in_flight_bytes_ + size <= module.options().queue);
}

std::int32_t Link::send_small(const plexus_view* pieces, std::uint32_t count, std::size_t size) {
    Op& op = module.ops().take(size);
    std::byte* out = op.block.get() + Header::kBytes;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (pieces[i].size > 0) std::memcpy(out, pieces[i].data, pieces[i].size);
        out += pieces[i].size;
    }
    op.size = size;
    const std::int32_t status = submit_block(op, Kind::small);
    if (status == PLEXUS_OK && posted_ > 0) {
        behind_ += size;
        ++behind_count_;
    }
    return status;
}

std::int32_t Link::send_large(const plexus_view* pieces, std::uint32_t count, std::size_t size, void* token) {
    const std::size_t head = pieces[0].size;
    Op& op = module.ops().take(0);
    op.posted = true;
    op.token = token;
    op.size = size;
    if (head > 0) std::memcpy(op.header.data() + Header::kBytes, pieces[0].data, head);
    op.pieces.clear();
    for (std::uint32_t i = 1; i < count; ++i)
        if (pieces[i].size > 0) op.pieces.push_back({const_cast<void*>(pieces[i].data), pieces[i].size});
    header_of(Kind::large, head).write(op.header.data());
    const std::size_t header_size = Header::kBytes + head;
    if (op.pieces.size() == 1)
        return submit(op, Kind::large, op.pieces[0].buffer, op.pieces[0].length, ucp_dt_make_contig(1),
                      header_size, 0);
    return submit(op, Kind::large, op.pieces.data(), op.pieces.size(), ucp_dt_make_iov(), header_size, 0);
}

Header Link::header_of(Kind kind, std::size_t head) const {
    const bool to_nobody = kind == Kind::hello;
    return {to_nobody ? 0 : theirs_.token, to_nobody ? kNoSlot : theirs_.slot, number_, kind,
            static_cast<std::uint8_t>(head)};
}

// In one stretch with its header, which the transport carries faster than two.
std::int32_t Link::submit_block(Op& op, Kind kind) {
    header_of(kind, 0).write(reinterpret_cast<std::uint8_t*>(op.block.get()));
    return submit(op, kind, op.block.get(), Header::kBytes + op.size, ucp_dt_make_contig(1), 0,
                  UCP_AM_SEND_FLAG_EAGER);
}

// PLEXUS_OK: UCX has taken it, and given `op` back already or not.
std::int32_t Link::submit(Op& op, Kind kind, const void* data, std::size_t count, ucp_datatype_t type,
                          std::size_t header_size, std::uint32_t flags) {
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS |
                       UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    how.flags = flags;
    how.cb.send = send_over;
    how.datatype = type;
    how.user_data = &op;
    how.memory_type = UCS_MEMORY_TYPE_HOST;
    const ucs_status_ptr_t request =
        ::ucp_am_send_nbx(way->endpoint, kMessageId, op.header.data(), header_size, data, count, &how);
    const bool posted = std::exchange(op.posted, false);
    if (UCS_PTR_IS_ERR(request)) {
        module.ops().give_back(op);
        const ucs_status_t status = UCS_PTR_STATUS(request);
        if (status == UCS_ERR_NO_MEMORY || status == UCS_ERR_NO_RESOURCE) {
            wishes = true;
            module.be_ready(*this); // nobody will tell when that is over
            return PLEXUS_AGAIN;
        }
        module.break_way(*way, status);
        return PLEXUS_LINK_LOST;
    }
    if (kind != Kind::hello && kind != Kind::answer) ++number_;
    if (request == nullptr) {
        module.ops().give_back(op);
        return PLEXUS_OK;
    }
    op.posted = posted;
    enlist(op);
    return posted ? PLEXUS_POSTED : PLEXUS_OK;
}

void Link::enlist(Op& op) {
    op.module = &module;
    op.link = this;
    op.previous = nullptr;
    op.next = ops;
    if (ops != nullptr) ops->previous = &op;
    ops = &op;
    if (op.posted) {
        if (posted_++ == 0) behind_ = behind_count_ = 0;
    } else if (!op.moves) {
        ++in_flight_;
        in_flight_bytes_ += op.size;
    }
    queued_.fetch_add(op.size, std::memory_order_relaxed);
    module.something_is_pending();
}

// The reverse of enlist().
void Link::take_off(Op& op) {
    (op.previous != nullptr ? op.previous->next : ops) = op.next;
    if (op.next != nullptr) op.next->previous = op.previous;
    queued_.fetch_sub(op.size, std::memory_order_relaxed);
    if (op.posted) {
        --posted_;
    } else if (!op.moves) {
        --in_flight_;
        in_flight_bytes_ -= op.size;
    }
    op.link = nullptr;
}

void Link::op_over(Op& op) {
    take_off(op);
    if (op.posted) {
        module.is_over(*this, op.token, way->failed ? PLEXUS_MESSAGE_LOST : PLEXUS_OK);
    } else if (op.moves) {
        module.is_over(*this, op.token, op.failed ? PLEXUS_LINK_LOST : PLEXUS_OK);
    }
    op.posted = op.moves = false;
    module.ops().give_back(op);
    if (wishes) module.be_ready(*this);
}

// What UCX has yet to send from memory of ours is no reason to keep the link.
void Link::orphan_copies() {
    for (Op* op = ops; op != nullptr;) {
        Op& each = *op;
        op = each.next;
        if (each.posted || each.moves) continue;
        take_off(each);
        module.orphan(each);
    }
}

// UCX has ended; or it keeps them, but will do nothing with them, for the peer has.
void Link::orphan_ops(bool for_good) {
    while (ops != nullptr) {
        Op& op = *ops;
        ops = op.next;
        if (op.posted || op.moves) module.is_over(*this, op.token, PLEXUS_MESSAGE_LOST);
        op.link = nullptr;
        op.posted = op.moves = false;
        if (for_good) {
            module.ops().give_back(op);
        } else {
            module.orphan(op);
        }
    }
    posted_ = in_flight_ = 0;
    in_flight_bytes_ = 0;
    queued_.store(0, std::memory_order_relaxed);
}

// Words of the meeting and of the end go whether there is room or not: they are few.
bool Link::say(Kind kind, Bytes body) {
    const Hold hold(module.lock());
    if (way == nullptr || way->failed) return false;
    Op& op = module.ops().take(body.size(), true);
    if (!body.empty()) std::memcpy(op.block.get() + Header::kBytes, body.data(), body.size());
    op.size = body.size();
    return submit_block(op, kind) == PLEXUS_OK;
}

void Link::disconnect() {
    {
        const module::Lock border(border_);
        given_up_.store(true, std::memory_order_relaxed);
    }
    if (module.drained()) return module.forget(*this);
    const Trace trace;
    const Hold hold(module.lock());
    // UCX writes to the host's memory: it has to be through with it. By force where endpoints
    // know that; the others copy by themselves, and are through soon.
    if (receiving > 0 && module.endpoints_fail()) {
        module.break_way(*way, UCS_ERR_CANCELED);
        module.close_endpoint(*way);
    }
    // Of a peer that died UCX may never say so: nobody writes any more, and they are buried later.
    constexpr auto kMoment = std::chrono::milliseconds(20);
    const auto enough = receiving > 0 ? Clock::now() + kMoment : Clock::time_point{};
    while (receiving > 0)
        if (::ucp_worker_progress(module.worker()) == 0 && Clock::now() > enough &&
            is_cut(way->lifeline.get()))
            break;
    module.note(*this);
}

std::int32_t Link::set(const char* key, const char*, plexus_text& why) const {
    return module::set_at_open_only(module.host(), key, why);
}

} // namespace plexus::ucx
