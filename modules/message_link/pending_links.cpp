// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/pending_links.h"

#include <algorithm>
#include <utility>

namespace plexus::message_link {
namespace {

// Between two tries to reach a peer that does not answer.
constexpr Clock::duration kSoon = std::chrono::microseconds(20);
constexpr Clock::duration kSeldom = std::chrono::milliseconds(20);

} // namespace

void PendingLinks::add_ending(Link& link) {
    if (!std::exchange(link.watch.ending, true)) ending_.push_back(&link);
}

void PendingLinks::forget(const Link& link) {
    std::erase(carrying_, &link);
    std::erase(waiting_, &link);
    std::erase(ending_, &link);
}

void PendingLinks::clear() {
    carrying_.clear();
    waiting_.clear();
    ending_.clear();
}

bool PendingLinks::are_stalled() const {
    return std::any_of(waiting_.begin(), waiting_.end(), [](const Link* link) {
        const Hold hold(link->port.lock);
        return link->sender.is_stalled();
    });
}

std::uint32_t PendingLinks::carry() {
    if (carrying_.empty()) return 0;
    std::uint32_t handled = 0;
    std::vector<Link*> carrying;
    carrying.swap(carrying_);
    const auto now = Clock::now();
    for (Link* const link : carrying) {
        // Asked for a connection again and again, a library tries one each time: ever more seldom.
        if (is_opening(link->state) || link->state == Link::State::over) {
            if (now < link->watch.next_try) {
                carrying_.push_back(link);
                continue;
            }
            link->watch.next_try = now + std::clamp((now - link->watch.heard) / 4, kSoon, kSeldom);
        }
        bool done = false;
        handled += link->carry_on(done) ? 1 : 0;
        if (!done) carrying_.push_back(link);
    }
    return handled;
}

std::uint32_t PendingLinks::tell_writable(bool retry) {
    std::uint32_t handled = 0;
    std::vector<Link*> waiting;
    waiting.swap(waiting_);
    for (Link* const link : waiting) {
        if (!link->has_room(retry)) {
            waiting_.push_back(link);
        } else if (link->state == Link::State::open && !link->is_given_up()) {
            ++handled;
            link->host().writable(link->cookie);
        }
    }
    return handled;
}

std::vector<Link*> PendingLinks::end() {
    std::vector<Link*> over;
    std::vector<Link*> ending;
    ending.swap(ending_);
    for (Link* const link : ending) {
        bool may_be_freed = false;
        if (!link->try_to_end(may_be_freed)) ending_.push_back(link);
        if (may_be_freed) over.push_back(link);
    }
    return over;
}

} // namespace plexus::message_link
