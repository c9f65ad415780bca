// SPDX-License-Identifier: BSD-3-Clause
// How a link ends: given up by its host, or lost. Either way nothing is called back, and
// nothing freed, that a provider may still write to. @thread progress
#include "libfabric/module.h"

#include <algorithm>
#include <sys/epoll.h>
#include <sys/mman.h>

namespace plexus::libfabric {
namespace {

constexpr auto kMostFailing = std::chrono::seconds(1);  // for reads from a peer that has gone
constexpr auto kMostGoodbyes = std::chrono::seconds(1); // for a bye that finds no room

// The provider keeps a file in /dev/shm for each endpoint, named by its process first, and a
// process that was killed leaves it. Only after the process has ended.
void remove_left_over(const Address& address, const Bell& bell) {
    if (address.reach != Reach::host) return;
    const std::string file = shared_file_of(address.name);
    if (file.rfind("/" + std::to_string(bell.process) + ":", 0) == 0) (void)::shm_unlink(file.c_str());
}

} // namespace

Link::~Link() {
    if (bereaved || page.process_ended()) remove_left_over(target.address, target.bell);
}

void Link::lose(std::int32_t how, std::string reason) {
    if (state == State::failing || state == State::over) return;
    if (state == State::open) module.uncount(); // one that is leaving has been
    if (state == State::greeting) module.uncount_stranger();
    {
        const module::Lock hold(port.mutex());
        state = State::failing;
    }
    status = how;
    why = std::move(reason);
    deadline = Clock::now() + kMostFailing;
    module.begin_ending(*this);
}

void Link::refuse() { given_up_.store(true, std::memory_order_relaxed); }

void Link::read_is_over() { in_flight_.fetch_sub(1, std::memory_order_relaxed); }

void Link::end_everything() {
    std::vector<void*> tokens;
    bool offered = false;
    {
        const module::Lock hold(port.mutex());
        state = State::over;
        offered = !offers_.empty();
        for (const Offer& offer : offers_) tokens.push_back(offer.token);
        if (parts_ != nullptr) tokens.push_back(parts_->token);
        if (offered) module.page().revise(slot);
        offers_.clear();
        parts_.reset();
        if (landing_ != nullptr) landing_->memory.reset();
        unread_ = false;
        queued_.store(0, std::memory_order_relaxed);
        if (port.is_shut()) in_flight_.store(0, std::memory_order_relaxed);
    }
    for (const auto& [kind, buffer] : held_) port.recycle(*buffer);
    held_.clear();
    const std::unique_ptr<Landing> landing = std::move(landing_);
    if (landing != nullptr && landing->where != nullptr && !given_up())
        module.host().placed(cookie, landing->token, PLEXUS_MESSAGE_LOST);
    for (void* const each : tokens) module.host().sent(cookie, each, PLEXUS_MESSAGE_LOST);
}

void Link::fall_silent() {
    const module::Lock hold(port.mutex());
    unsaid_.clear();
}

bool Link::may_be_freed() const {
    const module::Lock hold(port.mutex());
    return port.is_shut() ||
           (in_flight_.load(std::memory_order_relaxed) == 0 &&
            sends_in_flight_.load(std::memory_order_relaxed) == 0 && (unsaid_.empty() || broken));
}

void Module::begin_ending(Link& link) {
    if (!std::exchange(link.ending, true)) ending_.push_back(&link);
}

void Module::give_up(Link& link) {
    if (drained_) {
        free(link);
    } else {
        note(Note::What::give_up, link);
    }
}

// The host has given it up: what it had accepted is still sent.
void Module::leave(Link& link) {
    switch (link.state) {
    case Link::State::open: {
        uncount();
        const module::Lock hold(link.port.mutex());
        link.state = Link::State::leaving;
        link.deadline = Clock::now() + options_.linger;
        break;
    }
    case Link::State::connecting:
    case Link::State::greeting:
        link.lose(PLEXUS_LINK_LOST, "given up");
        break;
    default:
        break;
    }
    begin_ending(link);
}

// True: it need not be looked after any more; it may be gone.
bool Module::try_to_end(Link& link) {
    if (link.state == Link::State::open) { // it does not end, or not yet
        link.ending = link.bereaved;
        return !link.bereaved;
    }
    if (link.state == Link::State::leaving) {
        const bool late = Clock::now() >= link.deadline || link.bereaved || link.port.is_shut();
        if (!late && (!link.idle() || link.fetching())) return false;
        link.end_everything();
        link.deadline = Clock::now() + kMostGoodbyes;
        (void)link.say(Kind::bye);
    }
    if (link.state == Link::State::failing) {
        if (link.fetching() && !link.port.is_shut()) {
            if (Clock::now() < link.deadline) return false;
            link.port.shut(); // the only way to be sure that nothing is written any more
        }
        report_lost(link);
    }
    if (link.state != Link::State::over) return false;
    const bool late = Clock::now() >= link.deadline;
    if (late || link.bereaved) link.fall_silent();
    const bool nobodys = link.given_up() || link.cookie == nullptr;
    if (nobodys && link.may_be_freed()) {
        free(link);
        return true;
    }
    if (!late) return false;
    link.ending = false; // its host, or the completion of what the provider has, brings it back
    return true;
}

void Module::report_lost(Link& link) {
    bool tell_peer = link.peer_slot != kNoSlot && !link.farewell && !link.bereaved && link.known &&
                     link.status != PLEXUS_WRONG_PEER && !link.page.process_ended();
    {
        const module::Lock hold(link.port.mutex());
        tell_peer = tell_peer && !link.broken;
    }
    const bool host_knows = link.cookie != nullptr;
    if (!host_knows) host_.log(host_.self, PLEXUS_DEBUG, ("a peer was turned away: " + link.why).c_str());
    link.end_everything();
    link.deadline = Clock::now() + kMostGoodbyes;
    if (tell_peer) (void)link.say(Kind::bye);
    if (host_knows && !link.given_up()) host_.lost(link.cookie, link.status, module::view(link.why));
}

void Module::free(Link& link) {
    if (link.page.process_fd() >= 0 && !link.bereaved && epoll_)
        (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, link.page.process_fd(), nullptr);
    if (link.known) {
        const module::Lock hold(link.port.mutex());
        link.port.drop_peer(link.target.address.name);
    }
    std::erase(wishing_, &link);
    std::erase(carrying_, &link);
    std::erase(ending_, &link);
    std::erase(strays_, &link);
    {
        const module::Lock hold(notes_mutex_);
        std::erase_if(notes_, [&](const Note& one) { return one.link == &link; });
    }
    {
        const module::Lock hold(books_);
        if (link.slot != kNoSlot) {
            slots_[link.slot] = nullptr;
            free_slots_.push_back(link.slot);
        }
    }
    delete &link;
}

} // namespace plexus::libfabric
