// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/timeouts.h"

#include <algorithm>
#include <utility>

namespace plexus::message_link {
namespace {

constexpr std::uint64_t kUnseenNs = 1'000'000; // the peer can't wake us
constexpr std::uint64_t kOpeningNs = 20'000'000;
constexpr std::uint64_t kSuspectNs = 200'000'000;

} // namespace

void Timeouts::check(const LinkTable& links) {
    read_clock();
    expected_ = dead_after_.count() > 0;
    // After a pause of this process what the peers have said meanwhile is not read yet.
    const auto since = now_ - std::exchange(checked_, now_);
    const bool paused = expected_ && since > dead_after_ / 3;
    links.each([&](Link& link) {
        if (paused) link.watch.heard = now_;
        link.check_times(now_);
        expected_ = expected_ || is_opening(link.state) || link.receiver.is_suspect();
    });
}

void Timeouts::limit_sleep(const LinkTable& links, std::uint64_t& sleep_ns) const {
    links.each([&](const Link& link) {
        const bool seen = link.peer() != nullptr && link.peer()->is_seen();
        const bool unheard =
            !link.port.traits().wakes && link.state == Link::State::open && !link.peer()->sees_us;
        if (unheard) sleep_ns = std::min(sleep_ns, kUnseenNs);
        if (is_opening(link.state)) sleep_ns = std::min(sleep_ns, kOpeningNs);
        if (link.receiver.is_suspect()) sleep_ns = std::min(sleep_ns, kSuspectNs);
        if (!seen && dead_after_.count() > 0)
            sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(dead_after_.count()) / 6);
    });
}

} // namespace plexus::message_link
