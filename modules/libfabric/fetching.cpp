// SPDX-License-Identifier: BSD-3-Clause
// Reading large messages out of the peer's memory. @thread progress
#include "libfabric/link.h"
#include "libfabric/module.h"

namespace plexus::libfabric {
namespace {
constexpr std::uint32_t kMostReads = 8;                // of one link at a time
constexpr auto kMostDoubted = std::chrono::seconds(1); // without one that ends
} // namespace

// Asks for as much as there is room for; called again whenever a read is over.
void Link::fetch_more() {
    if (landing_ == nullptr || !landing_->fetched || landing_->where == nullptr || state != State::open)
        return;
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
        unread_ = passes(error);
        if (unread_) module.note_carrying(*this);
    }
    if (error != 0 && !unread_) return lose_reading(text_of_error(error));
    page.ring(); // some providers need the peer's help
}

// The placement is ended with the link, when none of its reads is in flight any more.
void Link::lose_reading(const std::string& reason) {
    lose(PLEXUS_LINK_LOST, "a message could not be read from the peer's memory: " + reason);
}

void Link::doubt_reading(const std::string& error) {
    if (landing_ == nullptr || !fetching()) return;
    landing_->doubt = error;
    landing_->doubted_until = Clock::now() + kMostDoubted;
}

bool Link::doubts_reading() const { return landing_ != nullptr && !landing_->doubt.empty(); }

void Link::see_to_doubts(Clock::time_point now) {
    if (doubts_reading() && now >= landing_->doubted_until) lose_reading(landing_->doubt);
}

void Link::fetch_over(Op& op, const std::string& error) {
    free_reads_.push_back(&op);
    if (state == State::over) module.begin_ending(*this); // it may be freed now
    if (landing_ == nullptr) return;
    if (!error.empty()) return lose_reading(error);
    landing_->landed += op.size;
    landing_->doubted_until = Clock::now() + kMostDoubted;
    if (landing_->landed == landing_->note.rest) return finish_landing();
    fetch_more();
}

void Link::send_over(const std::string& error) {
    sends_in_flight_.fetch_sub(1, std::memory_order_relaxed);
    if (state == State::over) module.begin_ending(*this); // ditto
    if (error.empty()) return;
    const module::Lock hold(port.mutex());
    if (broken) return;
    broken = true;
    why_broken = "a message could not be sent: " + error;
    module.note_broken(*this);
}

} // namespace plexus::libfabric
