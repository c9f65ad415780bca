// SPDX-License-Identifier: BSD-3-Clause
// How links and the module end.
#include "ucx/link.h"
#include "ucx/module.h"

#include <poll.h>
#include <utility>

namespace plexus::ucx {
namespace {

void disown(Arrival& arrival, const Link& link) {
    if (arrival.link != &link) return;
    arrival.link = nullptr;
    arrival.header.kind = Kind::bye; // to nobody
}

} // namespace

// The host has given the link up. What it had accepted is still sent, then the peer is told.
void Link::wind_up() {
    if (state == State::open) return leave();
    if (state == State::waiting) return lose(PLEXUS_LINK_LOST, "");
    if (state == State::failing || state == State::over) module.look_after(*this);
    // Greeting: its answer is waited for, so that the peer can be told.
}

void Link::leave() {
    (void)say(Kind::bye, {});
    drop_waiting();
    {
        const Hold hold(module.lock());
        if (state == State::open || state == State::greeting) state = State::leaving;
    }
    module.watch(*this, module.options().linger);
    module.look_after(*this);
}

// Given up, and its peer has not taken all in time: it may be stopped. By force where endpoints know
// that; over shared memory what UCX reads of the host's stays with it until the peer goes on or dies.
void Link::cut_short() {
    const Hold hold(module.lock());
    if (state != State::leaving || ops == nullptr || !module.endpoints_fail()) return;
    module.break_way(*way, UCS_ERR_TIMED_OUT);
    module.close_endpoint(*way);
}

// The first reason counts.
void Link::lose(std::int32_t broken, std::string because) {
    if (state == State::failing || state == State::over) return;
    status_ = broken;
    why_ = std::move(because);
    deadline = Clock::time_point::max();
    {
        const Hold hold(module.lock());
        state = State::failing;
    }
    drop_waiting();
    module.look_after(*this);
}

Link::Rest Link::try_to_end() {
    while (!landings_.empty() && landings_.front()->over.load(std::memory_order_acquire)) finish_landing();
    bool lost = false;
    {
        const Hold hold(module.lock());
        if (state == State::over) return refs > 0 ? Rest::going : given_up() ? Rest::free : Rest::over;
        if (way != nullptr && way->failed && !module.endpoints_fail()) orphan_ops(false);
        if (state == State::failing) orphan_copies(); // a stopped peer takes nothing
    }
    if (way != nullptr && way->cut && way->failed && !module.endpoints_fail()) bury_landings();
    {
        const Hold hold(module.lock());
        if (ops != nullptr || receiving > 0 || !landings_.empty() || refs > 0) return Rest::going;
        lost = state == State::failing;
        state = State::over;
    }
    if (way != nullptr) --way->links;
    const bool known = connects_ || established_;
    if (lost && known && !given_up()) module.host().lost(cookie, status_, module::view(why_));
    if (!known) given_up_.store(true, std::memory_order_relaxed);
    return Rest::going; // the lists are looked through once more
}

// Nobody writes to them any more; UCX may never say so.
void Link::bury_landings() {
    while (!landings_.empty()) {
        std::unique_ptr<Landing> landing = std::move(landings_.front());
        landings_.pop_front();
        if (!given_up()) module.host().placed(cookie, landing->token, PLEXUS_MESSAGE_LOST);
        {
            const Hold hold(module.lock());
            if (!landing->over.load(std::memory_order_relaxed)) --receiving;
            landing->link = nullptr;
        }
        module.bury(std::move(landing));
    }
}

void Link::end_everything() {
    drop_waiting();
    {
        const Hold hold(module.lock());
        orphan_ops(true);
        state = State::over;
    }
    bury_landings();
}

void Module::fail(Way& way, const std::string& why) {
    std::vector<Link*> links;
    {
        const Hold hold(lock_);
        way.failed = true;
        close_endpoint(way);
        for (Link* link : slots_)
            if (link != nullptr && link->way == &way) links.push_back(link);
    }
    for (Link* link : links) link->lose(PLEXUS_LINK_LOST, why);
    const auto found = ways_.find(key_of(way.address));
    if (found != ways_.end() && found->second.get() == &way) {
        failed_ways_.push_back(std::move(found->second));
        ways_.erase(found);
    }
    drop_failed_ways();
}

// UCX may still name one whose endpoint could not be closed by force: those keep little.
void Module::drop_failed_ways() {
    for (const auto& way : failed_ways_)
        if (way->links == 0) way->lifeline.reset();
    if (endpoints_fail()) std::erase_if(failed_ways_, [](const auto& way) { return way->links == 0; });
}

void Module::end_links() {
    for (std::size_t i = 0; i < ending_.size();) {
        Link& link = *ending_[i];
        const Link::Rest rest = link.try_to_end();
        if (rest == Link::Rest::going) {
            ++i;
            continue;
        }
        ending_.erase(ending_.begin() + static_cast<std::ptrdiff_t>(i)); // a callback may have added some
        link.ending = false;
        if (rest == Link::Rest::free) forget(link);
    }
    if (!failed_ways_.empty()) drop_failed_ways();
}

void Module::forget(Link& link) {
    {
        const Hold hold(lock_);
        slots_[link.mine.slot] = nullptr;
        free_slots_.push_back(link.mine.slot);
        --link_count_;
        std::erase(noted_, &link);
        std::erase(ready_, &link);
        for (Arrival& each : inbox_) disown(each, link);
    }
    for (Arrival& each : batch_) disown(each, link);
    std::erase(watched_, &link);
    std::erase(ending_, &link);
    delete &link;
}

// True: something is left that has to be sent. A hello counts: UCX 1.13 can end a process with
// an assertion if the other side goes while the two get to know each other.
bool Module::linger() {
    bool left = false;
    const Hold hold(lock_);
    while (::ucp_worker_progress(worker()) != 0) {}
    for (const Link* link : slots_) left |= link != nullptr && link->ops != nullptr && !link->way->failed;
    return left;
}

// What UCX has put together in memory of its own goes back while it stands; what it has yet to fetch
// goes with it, for to release that would tell the peer that it was taken.
void Module::drop_arrivals() {
    for (Arrival& each : inbox_) release(each);
    for (; batch_next_ < batch_.size(); ++batch_next_) release(batch_[batch_next_]);
    std::erase_if(to_release_, [](const Arrival& each) { return each.store == Arrival::Store::rendezvous; });
    const Hold hold(lock_);
    flush_releases();
}

void Module::drain() {
    close();
    const Trace trace;
    std::vector<Link*> links;
    {
        const Hold hold(lock_);
        for (Link* link : slots_)
            if (link != nullptr) links.push_back(link);
    }
    for (Link* link : links)
        if (link->state == Link::State::open) (void)link->say(Kind::bye, {});
    const auto deadline = Clock::now() + options_.linger;
    while (linger() && Clock::now() < deadline) (void)::poll(nullptr, 0, 1); // for the other side to read

    // First of all: what peers still read of ours is not valid any more.
    lifeline_.cut();
    for (const auto& each : ways_) {
        const Hold hold(lock_);
        each.second->failed = true;
        close_endpoint(*each.second);
    }
    if (endpoints_fail()) {
        const Hold hold(lock_);
        const auto enough = Clock::now() + std::chrono::milliseconds(100);
        while (::ucp_worker_progress(worker()) != 0 && Clock::now() < enough) {}
    }
    for (Link* link : links) link->drop_waiting();
    drop_arrivals();
    {
        const Hold hold(lock_);
        for (Link* link : links) link->drop_remotes();
        library_.close();
        for (Op* op : orphans_) ops_.give_back(*op);
        orphans_.clear();
    }
    for (Link* link : links) link->end_everything();
    (void)tell_news(); // of posted sends
    drop_arrivals();   // what came while UCX closed
    drained_ = true;
    for (Link* link : links)
        if (link->given_up() || link->cookie == nullptr) forget(*link);
    ways_.clear();
    failed_ways_.clear();
}

} // namespace plexus::ucx
