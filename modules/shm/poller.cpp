// SPDX-License-Identifier: BSD-3-Clause
#include "shm/poller.h"

#include "base/process_watch.h"
#include "shm/barrier.h"

#include <algorithm>
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

} // namespace

std::int32_t Poller::poll(std::uint32_t budget) {
    if (armed_) [[unlikely]]
        wake_up();
    std::uint32_t handled = 0;
    HotLinks& hot = parts_.hot;
    for (std::uint32_t i = 0; i < hot.size();) {
        Link* const link = hot[i];
        handled += serve(*link, budget);
        if (hot[i] == link) ++i; // it was not lost
    }
    if (parts_.mailbox.rung()) handled += answer_doorbells(budget);
    if (parts_.orders.waiting()) [[unlikely]]
        handled += take_orders();
    if (!parts_.busy.empty()) [[unlikely]]
        handled += tend_busy();
    if ((until_look_ -= kTurn + static_cast<std::int32_t>(handled)) <= 0) [[unlikely]]
        look_around(false);
    return static_cast<std::int32_t>(handled);
}

inline std::uint32_t Poller::serve(Link& link, std::uint32_t budget) {
    if (link.gone.load(std::memory_order_relaxed)) [[unlikely]]
        return 0;
    const std::int32_t received = link.receiver.receive(link.cookie, budget, link.gone);
    if (received < 0) [[unlikely]] {
        links_.lose(link, PLEXUS_LINK_LOST, link.receiver.error());
        return 0;
    }
    auto handled = static_cast<std::uint32_t>(received);
    if (link.sender.watched()) [[unlikely]]
        handled += link.sender.settle(link.cookie, link.gone.load(std::memory_order_relaxed));
    if (link.receiver.is_held_up()) [[unlikely]]
        hold_up(link);
    link.heat.events += handled;
    return handled;
}

// Apart from serve(), which is short.
void Poller::hold_up(Link& link) {
    if (link.receiver.is_copying()) parts_.busy.add(link);
    if (link.receiver.is_short()) links_.note_short(link);
}

// Bits that hostile or former peers leave may name no link, or another: that costs a look.
std::uint32_t Poller::answer_doorbells(std::uint32_t budget) {
    Mailbox& mailbox = parts_.mailbox;
    HotLinks& hot = parts_.hot;
    std::uint32_t handled = 0;
    bool late = false;
    mailbox.take(first_bit_, [&](std::uint32_t bit) {
        Link* const link = parts_.table.at(bit);
        if (link == nullptr || link->state != Link::State::open || link->heat.hot) return;
        if (handled >= budget) {
            if (!std::exchange(late, true)) first_bit_ = bit; // the first of the next turn
            return mailbox.ring(bit);
        }
        if (link->leaves_at) return; // tend() looks anyway
        const std::uint32_t room = budget - handled;
        hot.begin_count(*link);
        const std::uint32_t done = serve(*link, room);
        handled += done;
        if (link->state != Link::State::open) return;
        if (!hot.is_full()) return hot.add(*link);
        if (done >= room) mailbox.ring(bit); // there may be more
        hot.note(*link);
    });
    return handled;
}

std::uint32_t Poller::take_orders() {
    const std::vector<Order> orders = parts_.orders.take();
    for (const Order& order : orders) {
        switch (order.what) {
        case Order::Do::connect:
            connector_.begin(*order.link);
            break;
        case Order::Do::disconnect:
            links_.leave(*order.link);
            break;
        case Order::Do::stream:
            if (order.link->state == Link::State::open) parts_.busy.add(*order.link);
            break;
        }
    }
    return static_cast<std::uint32_t>(orders.size());
}

std::uint32_t Poller::tend_busy() {
    std::uint32_t handled = 0;
    for (std::size_t i = 0; i < parts_.busy.size();) {
        Link& link = parts_.busy[i];
        if (tend(link, handled)) {
            ++i;
            continue;
        }
        parts_.busy.remove_at(i);
        if (link.leaves_at) links_.release(link);
    }
    return handled;
}

// False: nothing more to do here.
bool Poller::tend(Link& link, std::uint32_t& handled) {
    if (link.receiver.is_copying() && !link.heat.hot) handled += serve(link, 1);
    if (link.state == Link::State::open && link.sender.is_streaming())
        handled += link.sender.carry_on(link.cookie) == Sender::Go::stuck ? 0 : 1;
    const bool gone = link.gone.load(std::memory_order_relaxed);
    if (link.state == Link::State::open) handled += link.sender.settle(link.cookie, gone);
    if (link.state != Link::State::open) return false;
    if (!link.leaves_at) return link.receiver.is_copying() || link.sender.is_streaming();
    if (link.sender.idle()) return false;
    if (link.shared.out->deaf.load(std::memory_order_acquire) == 0) {
        if (Clock::now() < *link.leaves_at) return true;
        parts_.host.log(
            parts_.host.self, PLEXUS_WARN,
            "messages of a link that was given up are lost, for the peer has not fetched them within linger: "
            "is its process stopped?");
        hang_up(link.shared.socket.get()); // first: what the peer reads of them from now on does not count
    }
    link.sender.fail(link.cookie); // the peer fetches nothing any more
    return false;
}

bool Poller::has_news() const {
    if (parts_.mailbox.rung() || parts_.orders.waiting_exactly() || parts_.hot.has_news()) return true;
    return std::any_of(parts_.busy.begin(), parts_.busy.end(), [](const Link* link) {
        const bool over = link->leaves_at && link->shared.out->deaf.load(std::memory_order_seq_cst) != 0;
        return over || link->receiver.is_copying() || link->sender.has_news() ||
               link->state != Link::State::open;
    });
}

// The hot links have to ring too while this context sleeps. First it says so, then the
// barrier makes sure that whoever has not seen it has been seen by has_news().
std::int32_t Poller::arm(std::uint64_t& sleep_ns) {
    if (has_news()) return PLEXUS_AGAIN;
    HotLinks& hot = parts_.hot;
    hot.expect_doorbells();
    parts_.mailbox.fall_asleep();
    full_barrier(parts_.self.has_barrier() && hot.size() > 0);
    if (has_news()) {
        parts_.mailbox.stay_awake();
        hot.expect_polls();
        return PLEXUS_AGAIN;
    }
    hot.forget(); // a context that only wakes and sleeps needs no barrier
    armed_ = true;

    const auto at_most = [&](std::optional<std::chrono::nanoseconds> time) {
        if (time) sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(std::max(*time, 0ns).count()));
    };
    const auto now = Clock::now();
    if (const auto next = acceptor_.listener().next_check()) at_most(*next - now);
    at_most(connector_.sleep_limit(now));
    at_most(links_.sleep_limit());
    for (const Link* const link : parts_.busy)
        if (link->leaves_at) at_most(*link->leaves_at - now);
    if (parts_.totals.area_bytes.load(std::memory_order_relaxed) > 0) at_most(parts_.options.area_idle);
    return PLEXUS_OK;
}

void Poller::wake_up() {
    armed_ = false;
    parts_.mailbox.stay_awake();
    look_around(true);
}

void Poller::look_around(bool at_once) {
    const bool opening = acceptor_.listener().is_busy() || connector_.is_busy();
    until_look_ = opening ? kWhileOpening : kBetweenClocks;
    const auto now = Clock::now();
    if (!at_once && !opening && now - last_look_ < kBetweenLooks) return;
    last_look_ = now;
    take_events();
    check_time(now);
}

void Poller::take_events() {
    std::array<epoll_event, 32> events;
    const int count = parts_.events.look(events.data(), static_cast<int>(events.size()));
    for (int i = 0; i < count; ++i) take_event(events[static_cast<std::size_t>(i)].data.u64);
}

void Poller::take_event(std::uint64_t tag) {
    const auto id = static_cast<std::uint32_t>(tag);
    if (tag == kEventTag) return parts_.mailbox.clear_event();
    if (tag == Listener::kListenerTag) return acceptor_.accept();
    if ((tag & Listener::kCallerTag) != 0) return acceptor_.hear(id);
    Link* const link = parts_.table.at(id);
    if (link == nullptr) return;
    if ((tag & Links::kProcessTag) != 0) {
        // The slot may be another link's since the event.
        if (link->state == Link::State::open && has_ended(link->shared.process.get())) links_.end(*link);
    } else if (link->state == Link::State::opening) {
        connector_.step(*link);
    } else if (link->state == Link::State::open) {
        links_.hear(*link);
    }
}

void Poller::check_time(Clock::time_point now) {
    acceptor_.listener().check_time(now);
    connector_.check_time(now);
    links_.check_time(now);
    if (now - last_heat_ > kBetweenHeats) {
        last_heat_ = now;
        parts_.hot.compare(parts_.mailbox, parts_.self.has_barrier());
    }
    if (now - last_idle_ > parts_.options.area_idle) {
        last_idle_ = now;
        parts_.table.for_each([](Link& link) { link.sender.discard_idle_area(); });
    }
}

} // namespace plexus::shm
