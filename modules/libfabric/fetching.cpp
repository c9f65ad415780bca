// SPDX-License-Identifier: BSD-3-Clause
// Reading large messages out of the peer's memory. @thread progress
#include "libfabric/link.h"
#include "libfabric/module.h"

#include <rdma/fi_errno.h>

namespace plexus::libfabric {
namespace {
constexpr std::uint32_t kMostReads = 8; // of one link at a time
} // namespace

// Asks for as much as there is room for; called again whenever a read is over.
bool Link::fetch_more() {
    if (landing_ == nullptr || !landing_->fetched || landing_->failed || landing_->where == nullptr)
        return false;
    Landing& in = *landing_;
    int error = 0;
    {
        const module::Lock hold(port.mutex());
        while (in.stretch < in.note.count && in_flight_.load(std::memory_order_relaxed) < kMostReads &&
               !given_up()) {
            const Stretch& from = in.note.stretches[in.stretch];
            const std::uint64_t left = from.size - in.offset;
            if (left == 0) {
                ++in.stretch;
                in.offset = 0;
                continue;
            }
            if (free_reads_.empty()) free_reads_.push_back(&reads_.emplace_back());
            Op& op = *free_reads_.back();
            op.what = Op::What::fetch;
            op.link = this;
            const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, port.most_fetch()));
            error =
                port.fetch(at, op, in.where + in.asked, size, in.handle, from.address + in.offset, from.key);
            if (error != 0) break;
            op.size = size;
            free_reads_.pop_back();
            in.asked += size;
            in.offset += size;
            in_flight_.fetch_add(1, std::memory_order_relaxed); // [in flight]
        }
        if (error == -FI_EAGAIN) module.note_carrying(*this);
    }
    if (error != 0 && error != -FI_EAGAIN) {
        in.failed = true;
        if (!fetching()) finish_landing();
        return false;
    }
    page.ring(); // some providers need the peer's help
    return error == -FI_EAGAIN;
}

void Link::fetch_over(Op& op, const std::string& error) {
    free_reads_.push_back(&op);
    if (landing_ == nullptr) return;
    landing_->landed += op.size;
    if (!error.empty() && !landing_->failed) {
        landing_->failed = true;
        const module::Lock hold(port.mutex());
        broken = true;
        why_broken = "a message could not be read from the peer's memory: " + error;
        module.note_broken(*this);
    }
    if (landing_->failed) return;
    if (landing_->landed == landing_->note.rest) return finish_landing();
    (void)fetch_more();
}

void Link::send_over(const std::string& error) {
    sends_in_flight_.fetch_sub(1, std::memory_order_relaxed);
    if (error.empty()) return;
    const module::Lock hold(port.mutex());
    if (broken) return;
    broken = true;
    why_broken = "a message could not be sent: " + error;
    module.note_broken(*this);
}

} // namespace plexus::libfabric
