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

Status Neighbour::try_send(std::uint8_t kind, std::uint32_t number, const Hop& hop) {
    detail::Writer frame(detail::kRequestHeader);
    frame.put(kind);
    frame.put(number);
    frame.put(hop.number);
    frame.put(hop.bytes);
    return request::send_onward(*pointer_.route(), pointer_.target(), kHop.info(), frame, hop.pin);
}

void Neighbour::send(std::uint8_t kind, std::uint32_t number, const Hop& hop) {
    if (lost_) return;
    if (queue_.empty()) {
        const Status status = try_send(kind, number, hop);
        if (status == Status::ok) return;
        if (!is_worth_repeating(status)) return mark_lost();
    }
    Waiting& last = queue_.emplace_back(Waiting{kind, number, hop, {}});
    if (hop.pin == nullptr) {
        last.copy.assign(hop.bytes.begin(), hop.bytes.end());
        last.hop.bytes = last.copy;
    }
    queued_ += hop.cost();
}

bool Neighbour::retry() {
    while (!queue_.empty()) {
        const Waiting& first = queue_.front();
        const Status status = try_send(first.kind, first.number, first.hop);
        if (is_worth_repeating(status)) return false;
        if (status != Status::ok) {
            mark_lost();
            break;
        }
        queued_ -= first.hop.cost();
        queue_.pop_front();
    }
    return true;
}

} // namespace plexus::forward
