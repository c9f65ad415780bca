// SPDX-License-Identifier: BSD-3-Clause
#include "forward/neighbour.h"

#include "request/sending.h"
#include "transport/peer.h"
#include "transport/route.h"

namespace plexus::forward {
namespace {

bool is_worth_repeating(Status status) noexcept { return status == Status::again; }

} // namespace

std::string Neighbour::text() const { return pointer_.route()->peer().text(); }
std::string Neighbour::name() const { return pointer_.route()->peer().name(); }

bool Neighbour::introduce(const GlobalPointer<Hub>& me) {
    if (!introduced) introduced = pointer_.try_send(kAttach, me) == Status::ok;
    return introduced;
}

Status Neighbour::try_send(std::uint8_t kind, std::uint32_t number, std::uint64_t value, wire::View bytes) {
    detail::Writer frame(detail::kRequestHeader);
    frame.put(kind);
    frame.put(number);
    frame.put(value);
    frame.put(bytes);
    return request::send_onward(*pointer_.route(), pointer_.target(), kHop.info(), frame);
}

void Neighbour::send(std::uint8_t kind, std::uint32_t number, std::uint64_t value, wire::View bytes) {
    if (lost_) return;
    if (queue_.empty()) {
        const Status status = try_send(kind, number, value, bytes);
        if (status == Status::ok) return;
        if (!is_worth_repeating(status)) return mark_lost();
    }
    queue_.push_back({kind, number, value, wire::Bytes(bytes.begin(), bytes.end())});
    queued_ += bytes.size() + kHopCost;
}

bool Neighbour::retry() {
    while (!queue_.empty()) {
        const Waiting& first = queue_.front();
        const Status status = try_send(first.kind, first.number, first.value, first.bytes);
        if (is_worth_repeating(status)) return false;
        if (status != Status::ok) {
            mark_lost();
            break;
        }
        queued_ -= first.bytes.size() + kHopCost;
        queue_.pop_front();
    }
    return true;
}

} // namespace plexus::forward
