// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/inbox.h"

#include <cstring>

namespace plexus::ucx {
namespace {

using message_link::Header;
using message_link::kHeaderBytes;
using message_link::Kind;

constexpr std::size_t kMostHello = 2048;    // more than one needs; a stranger's is not looked at
constexpr std::size_t kWorthKeeping = 1024; // bytes that are better kept in place than copied

} // namespace

Inbox::~Inbox() { drop(nullptr); }

ucs_status_t Inbox::take(void* inbox, const void* its_header, std::size_t header_size, void* data,
                         std::size_t size, const ucp_am_recv_param_t* about) {
    Inbox& in = *static_cast<Inbox*>(inbox);
    if (header_size == 0) { // it stands before the message
        if (size < kHeaderBytes || (about->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return UCS_OK;
        const Header header = Header::read(static_cast<const std::byte*>(data));
        if (header.kind == Kind::carried) return UCS_OK;
        if (header.kind == Kind::hello && size > kMostHello) return UCS_OK;
        return in.keep(header, nullptr, 0, data, kHeaderBytes, size - kHeaderBytes, about->recv_attr);
    }
    if (header_size < kHeaderBytes || header_size > kHeaderBytes + PLEXUS_HEAD_MAX) return UCS_OK;
    const auto* const bytes = static_cast<const std::byte*>(its_header);
    const Header header = Header::read(bytes);
    if (header.kind != Kind::carried || size == 0) return UCS_OK;
    return in.keep(header, bytes + kHeaderBytes, header_size - kHeaderBytes, data, 0, size, about->recv_attr);
}

Arrival& Inbox::add(const Header& header) {
    std::unique_ptr<Arrival> made;
    if (free_.empty()) {
        made = std::make_unique<Arrival>();
    } else {
        made = std::move(free_.back());
        free_.pop_back();
    }
    Arrival& arrival = *made.release();
    if (next_ == arrived_.size()) {
        arrived_.clear();
        next_ = 0;
    }
    arrived_.push_back(&arrival);
    arrival.header = header;
    return arrival;
}

// The message begins `skip` bytes into `data`.
ucs_status_t Inbox::keep(const Header& header, const std::byte* head, std::size_t head_size, void* data,
                         std::size_t skip, std::size_t size, std::uint64_t attributes) {
    Arrival& arrival = add(header);
    const bool carried = header.kind == Kind::carried;
    const bool rendezvous = (attributes & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    const bool stays = (attributes & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
    if (head_size > 0) std::memcpy(arrival.room.data(), head, head_size);
    const auto* at = static_cast<const std::byte*>(data) + skip;
    ucs_status_t status = UCS_OK;
    if (rendezvous || (stays && size >= kWorthKeeping && reinterpret_cast<std::uintptr_t>(data) % 8 == 0)) {
        arrival.store = rendezvous ? Arrival::Store::rendezvous : Arrival::Store::kept;
        arrival.memory = data;
        status = UCS_INPROGRESS;
    } else if (!carried && size <= Arrival::kRoom) {
        arrival.store = Arrival::Store::here;
        if (size > 0) std::memcpy(arrival.room.data(), at, size);
        at = arrival.room.data();
    } else {
        const bool fits = size <= block_bytes_;
        std::unique_ptr<std::byte[]> copy;
        if (fits && !blocks_.empty()) {
            copy = std::move(blocks_.back());
            blocks_.pop_back();
        } else {
            copy = std::make_unique_for_overwrite<std::byte[]>(fits ? block_bytes_ : size);
        }
        arrival.store = fits ? Arrival::Store::block : Arrival::Store::heap;
        std::memcpy(copy.get(), at, size);
        at = copy.get();
        arrival.memory = copy.release();
    }
    arrival.body = carried ? arrival.room.data() : at;
    arrival.size = carried ? head_size : size;
    arrival.rest = carried ? size : 0;
    arrival.data = carried && !rendezvous ? at : nullptr;
    return status;
}

void Inbox::flush(ucp_worker_h worker) {
    for (Arrival* const each : to_release_) {
        std::unique_ptr<Arrival> own(each);
        std::unique_ptr<std::byte[]> memory;
        if (each->store == Arrival::Store::block || each->store == Arrival::Store::heap)
            memory.reset(static_cast<std::byte*>(each->memory));
        if (each->store == Arrival::Store::block && blocks_.size() < kMostKept)
            blocks_.push_back(std::move(memory));
        const bool of_ucx = each->store == Arrival::Store::kept || each->store == Arrival::Store::rendezvous;
        if (of_ucx && worker != nullptr) ::ucp_am_data_release(worker, each->memory);
        each->store = Arrival::Store::here;
        if (free_.size() < kMostKept) free_.push_back(std::move(own));
    }
    to_release_.clear();
}

void Inbox::drop(ucp_worker_h worker) {
    while (Arrival* const each = next()) to_release_.push_back(each);
    for (Arrival* const each : to_release_)
        if (each->store == Arrival::Store::rendezvous) each->store = Arrival::Store::here;
    flush(worker);
}

} // namespace plexus::ucx
