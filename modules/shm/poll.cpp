// SPDX-License-Identifier: BSD-3-Clause
// Module: what a turn does, which links it looks at, and how the context sleeps.
#include "shm/module.h"

#include "common/system_text.h"
#include "shm/process.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace plexus::shm {

namespace {

using namespace std::chrono_literals;

// Between two looks at the clock: a turn counts as kTurn, each event as one, since handlers take time too.
constexpr std::int32_t kTurn = 4;
constexpr std::int32_t kBetweenClocks = 64 * kTurn;
constexpr std::int32_t kWhileOpening = 4 * kTurn;
constexpr auto kBetweenLooks = 100us;
constexpr auto kBetweenHeats = 2ms;
constexpr auto kRedial = 1ms;
constexpr auto kBetweenTries = 100ms;
// A ring holds no more than this; whoever writes on after its end is not listened to.
constexpr std::uint32_t kMostAfterEnd = 1 << 15;

// How long an opening needs no look, if nothing comes over its socket.
std::chrono::nanoseconds until_next_step(const Opening& opening, Clock::time_point now) {
    if (opening.socket() >= 0) return opening.until() - now;
    return opening.why().empty() ? kRedial : kBetweenTries;
}

} // namespace

std::int32_t Module::poll(std::uint32_t budget) {
    if (armed_) [[unlikely]]
        wake_up();
    std::uint32_t handled = 0;
    for (std::uint32_t i = 0; i < hot_count_;) {
        Link* const link = hot_[i];
        handled += serve(*link, budget);
        if (hot_[i] == link) ++i; // it was not lost
    }
    if (mailbox_.rung()) handled += answer_bells(budget);
    if (ordered_.load(std::memory_order_relaxed)) [[unlikely]]
        handled += take_orders();
    if (!busy_.empty()) [[unlikely]]
        handled += tend_busy();
    if ((until_look_ -= kTurn + static_cast<std::int32_t>(handled)) <= 0) [[unlikely]]
        look_around(false);
    return static_cast<std::int32_t>(handled);
}

inline std::uint32_t Module::serve(Link& link, std::uint32_t budget) {
    if (link.gone.load(std::memory_order_relaxed)) [[unlikely]]
        return 0;
    const std::int32_t received = link.receiver.receive(link.cookie, budget, link.gone);
    if (received < 0) [[unlikely]] {
        lose(link, PLEXUS_LINK_LOST, link.receiver.trouble());
        return 0;
    }
    auto handled = static_cast<std::uint32_t>(received);
    if (link.sender.watched()) [[unlikely]]
        handled += link.sender.settle(link.cookie, link.gone.load(std::memory_order_relaxed));
    if (link.receiver.is_held_up()) [[unlikely]]
        hold_up(link);
    link.events += handled;
    return handled;
}

// Bits that hostile or former peers leave may name no link, or another: that costs a look.
std::uint32_t Module::answer_bells(std::uint32_t budget) {
    std::uint32_t handled = 0;
    bool late = false;
    mailbox_.take(first_bell_, [&](std::uint32_t bit) {
        Link* const link = bit < slots_.size() ? slots_[bit] : nullptr;
        if (link == nullptr || link->state != Link::State::open || link->hot) return;
        if (handled >= budget) {
            if (!std::exchange(late, true)) first_bell_ = bit; // the first of the next turn
            return mailbox_.ring(bit);
        }
        if (link->leaving) return; // tend() looks anyway
        const std::uint32_t room = budget - handled;
        if (std::exchange(link->heat_period, heat_period_) != heat_period_) link->events = 0;
        const std::uint32_t done = serve(*link, room);
        handled += done;
        if (link->state != Link::State::open) return;
        if (hot_count_ < options_.hot) return heat(*link);
        if (done >= room) mailbox_.ring(bit); // there may be more
        if (busiest_ == nullptr || link->events > busiest_->events) busiest_ = link;
    });
    return handled;
}

void Module::heat(Link& link) {
    if (link.gone.load(std::memory_order_relaxed)) return;
    link.hot = true;
    link.events = 0;
    hot_[hot_count_++] = &link;
    // A sender that still sees `doorbell` rings for nothing; that one is polled anyway.
    link.in->attention.store(Direction::direct, std::memory_order_relaxed);
}

// For good, or followed by a barrier and a last look at the ring.
void Module::cool(Link& link) {
    if (busiest_ == &link) busiest_ = nullptr;
    if (!link.hot) return;
    link.hot = false;
    link.in->attention.store(Direction::doorbell, std::memory_order_seq_cst);
    Link** const end = hot_.data() + hot_count_;
    Link** const place = std::find(hot_.data(), end, &link);
    *place = *(end - 1);
    *(end - 1) = nullptr;
    --hot_count_;
}

// Swaps the hot link that brought least with the other one that brought most, if that is
// clearly more. Seldom, because a barrier is dear.
void Module::compare_heat() {
    if (hot_count_ < options_.hot) return;
    Link* const busiest = std::exchange(busiest_, nullptr);
    ++heat_period_;
    Link* const idlest =
        *std::min_element(hot_.data(), hot_.data() + hot_count_,
                          [](const Link* a, const Link* b) { return a->events < b->events; });
    if (busiest != nullptr && !busiest->hot && busiest->events > 16 && busiest->events / 4 > idlest->events) {
        cool(*idlest);
        full_barrier(joined_);
        mailbox_.ring(idlest->slot); // the last look
        heat(*busiest);
    }
    for (std::uint32_t i = 0; i < hot_count_; ++i) hot_[i]->events = 0;
}

void Module::add_busy(Link& link) {
    if (link.busy) return;
    link.busy = true;
    busy_.push_back(&link);
}

std::uint32_t Module::tend_busy() {
    std::uint32_t handled = 0;
    for (std::size_t i = 0; i < busy_.size();) {
        Link& link = *busy_[i];
        if (tend(link, handled)) {
            ++i;
            continue;
        }
        busy_[i] = busy_.back();
        busy_.pop_back();
        link.busy = false;
        if (link.leaving) release(link);
    }
    return handled;
}

// False: nothing more to do here.
bool Module::tend(Link& link, std::uint32_t& handled) {
    if (link.receiver.is_copying() && !link.hot) handled += serve(link, 1);
    if (link.state == Link::State::open && link.sender.is_streaming())
        handled += link.sender.carry_on(link.cookie) == Sender::Go::stuck ? 0 : 1;
    const bool gone = link.gone.load(std::memory_order_relaxed);
    if (link.state == Link::State::open) handled += link.sender.settle(link.cookie, gone);
    if (link.state != Link::State::open) return false;
    if (!link.leaving) return link.receiver.is_copying() || link.sender.is_streaming();
    if (link.sender.idle()) return false;
    if (link.out->deaf.load(std::memory_order_acquire) == 0) {
        if (Clock::now() < link.leaving_until) return true;
        host_.log(
            host_.self, PLEXUS_WARN,
            "messages of a link that was given up are lost, for the peer has not fetched them within linger: "
            "is its process stopped?");
        hang_up(link.socket.get()); // first: what the peer reads of them from now on does not count
    }
    link.sender.fail(link.cookie); // the peer fetches nothing any more
    return false;
}

bool Module::has_news() const {
    if (mailbox_.rung() || ordered_.load(std::memory_order_seq_cst)) return true;
    const auto news = [](const Link* link) { return link->receiver.has_news() || link->sender.has_news(); };
    if (std::any_of(hot_.data(), hot_.data() + hot_count_, news)) return true;
    return std::any_of(busy_.begin(), busy_.end(), [](const Link* link) {
        const bool over = link->leaving && link->out->deaf.load(std::memory_order_seq_cst) != 0;
        return over || link->receiver.is_copying() || link->sender.has_news() ||
               link->state != Link::State::open;
    });
}

// The hot links have to ring too while this context sleeps. First it says so, then the
// barrier makes sure that whoever has not seen it has been seen by has_news().
std::int32_t Module::arm(std::uint64_t& sleep_ns) {
    if (has_news()) return PLEXUS_AGAIN;
    for (std::uint32_t i = 0; i < hot_count_; ++i)
        hot_[i]->in->attention.store(Direction::doorbell, std::memory_order_seq_cst);
    mailbox_.fall_asleep();
    full_barrier(joined_ && hot_count_ > 0);
    if (has_news()) {
        mailbox_.stay_awake();
        for (std::uint32_t i = 0; i < hot_count_; ++i)
            hot_[i]->in->attention.store(Direction::direct, std::memory_order_relaxed);
        return PLEXUS_AGAIN;
    }
    // Whoever rings first becomes hot again: a context that only wakes and sleeps needs no barrier.
    for (std::uint32_t i = 0; i < hot_count_; ++i) hot_[i]->hot = false;
    hot_.fill(nullptr);
    hot_count_ = 0;
    armed_ = true;

    const auto at_most = [&](std::chrono::nanoseconds time) {
        sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(std::max(time, 0ns).count()));
    };
    const auto now = Clock::now();
    if (const auto next = door_.next_check()) at_most(*next - now);
    for (const Link* const link : openings_) at_most(until_next_step(*link->opening, now));
    if (!short_.empty()) at_most(kBetweenTries);
    for (const Link* const link : busy_)
        if (link->leaving) at_most(link->leaving_until - now);
    if (totals_.area_bytes.load(std::memory_order_relaxed) > 0) at_most(options_.area_idle);
    return PLEXUS_OK;
}

void Module::wake_up() {
    armed_ = false;
    mailbox_.stay_awake();
    look_around(true);
}

void Module::look_around(bool at_once) {
    const bool opening = door_.is_busy() || !openings_.empty();
    until_look_ = opening ? kWhileOpening : kBetweenClocks;
    const auto now = Clock::now();
    if (!at_once && !opening && now - last_look_ < kBetweenLooks) return;
    last_look_ = now;
    take_events();
    check_time(now);
}

void Module::take_events() {
    std::array<epoll_event, 32> events;
    const int count = events_.look(events.data(), static_cast<int>(events.size()));
    for (int i = 0; i < count; ++i) take_event(events[static_cast<std::size_t>(i)].data.u64);
}

void Module::take_event(std::uint64_t tag) {
    const auto id = static_cast<std::uint32_t>(tag);
    if (tag == kEventTag) return mailbox_.clear_event();
    if (tag == Door::kDoorTag) return accept_callers();
    if ((tag & Door::kCallerTag) != 0) return hear_caller(id);
    Link* const link = id < slots_.size() ? slots_[id] : nullptr;
    if (link == nullptr) return;
    if ((tag & kProcessTag) != 0) {
        // The slot may be another link's since the event.
        if (link->state == Link::State::open && has_ended(link->process.get())) end_of(*link);
    } else if (link->state == Link::State::opening) {
        step(*link);
    } else if (link->state == Link::State::open) {
        hear(*link);
    }
}

// On an open link the socket brings the area, or the end.
void Module::hear(Link& link) {
    switch (link.receiver.hear()) {
    case Receiver::Heard::nothing:
        return;
    case Receiver::Heard::end:
        return end_of(link);
    case Receiver::Heard::nonsense:
        return lose(link, PLEXUS_LINK_LOST, link.receiver.trouble());
    case Receiver::Heard::later:
        return note_short(link);
    case Receiver::Heard::area:
        break;
    }
    if (std::erase(short_, &link) == 0) return;
    if (!events_.watch(link.socket.get(), kLinkTag + link.slot))
        return lose(link, PLEXUS_LINK_LOST,
                    "the peer's socket can't be watched: " + module::system_text(errno));
    mailbox_.ring(link.slot); // there may be more
}

// Apart from serve(), which is short.
void Module::hold_up(Link& link) {
    if (link.receiver.is_copying()) return add_busy(link);
    note_short(link);
}

// The packet with the area stays in the queue and the socket readable: it is not watched meanwhile.
void Module::note_short(Link& link) {
    const auto now = Clock::now();
    if (std::find(short_.begin(), short_.end(), &link) == short_.end()) {
        events_.unwatch(link.socket.get());
        short_.push_back(&link);
        link.short_since = last_retry_ = now;
        const std::string text = "messages of a peer have to wait: " + link.receiver.trouble();
        host_.log(host_.self, PLEXUS_WARN, text.c_str());
    } else if (now - link.short_since > options_.connect_timeout) {
        lose(link, PLEXUS_LINK_LOST, link.receiver.trouble());
    }
}

// What the peer wrote before its end is still delivered.
void Module::end_of(Link& link) {
    if (link.receiver.is_short()) (void)link.receiver.hear(); // the last chance
    for (std::uint32_t done = 0; done < kMostAfterEnd && !link.gone.load(std::memory_order_relaxed);) {
        const std::int32_t handled = link.receiver.receive(link.cookie, kMostAfterEnd - done, link.gone);
        if (handled <= 0) break;
        done += static_cast<std::uint32_t>(handled);
    }
    const bool willing = link.in->finished.load(std::memory_order_acquire) != 0;
    if (link.process && has_ended(link.process.get()))
        return lose(link, PLEXUS_PEER_LOST, "the peer's process ended");
    lose(link, PLEXUS_LINK_LOST, willing ? "the peer closed the link" : "the peer's process ended");
}

void Module::check_time(Clock::time_point now) {
    door_.check_time(now);
    for (std::size_t i = openings_.size(); i-- > 0;) {
        Link& link = *openings_[i];
        if (link.opening->until() < now)
            lose(link, PLEXUS_LINK_LOST,
                 link.opening->why().empty() ? "the peer does not answer: is its process stopped?"
                                             : std::string(link.opening->why()));
        else if (link.opening->socket() < 0)
            step(link);
    }
    if (!short_.empty() && now - last_retry_ > kBetweenTries) {
        last_retry_ = now;
        for (std::size_t i = short_.size(); i-- > 0;) hear(*short_[i]);
    }
    if (now - last_heat_ > kBetweenHeats) {
        last_heat_ = now;
        compare_heat();
    }
    if (now - last_idle_ > options_.area_idle) {
        last_idle_ = now;
        for (Link* const link : slots_)
            if (link != nullptr) link->sender.discard_idle_area();
    }
}

} // namespace plexus::shm
