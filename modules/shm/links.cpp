// SPDX-License-Identifier: BSD-3-Clause
#include "shm/links.h"

#include "base/process_watch.h"
#include "common/system_text.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <utility>

namespace plexus::shm {

using module::is_shortage;
using module::system_text;
using module::view;

namespace {

constexpr auto kBetweenRetries = std::chrono::milliseconds(100);
// A ring holds no more than this; whoever writes on after its end is not listened to.
constexpr std::uint32_t kMostAfterEnd = 1 << 15;

void unwatch(EventSet& events, Link& link) {
    if (link.call.opening) events.unwatch(link.call.opening->socket());
    events.unwatch(link.shared.socket.get());
    events.unwatch(link.shared.process.get());
}

} // namespace

// Descriptors are the last two, in either direction mailbox and eventfd.
Refusal Links::join(Link& link, Opening& opening, bool connected, std::uint32_t ring_lines) {
    const Setup& theirs = opening.theirs();
    const std::size_t first = connected ? 0 : 1;
    const UniqueFd mailbox = opening.take_fd(first);
    const bool light = parts_.self.has_barrier() && theirs.barrier == 1;
    const Direction& out = link.shared.segment.at<Direction>(0)[connected ? 0 : 1];
    if (!link.shared.doorbell.attach(mailbox.get(), opening.take_fd(first + 1), theirs.mailbox_bit, out,
                                     light))
        return {"the peer's mailbox can't be used: " + system_text(errno)};
    const bool reads = parts_.options.limits.fetch && can_read(opening.process(), theirs.cookie);
    if (!reads && parts_.options.insist_on_fetch) {
        const std::string text = "cma = on, but the kernel forbids to read a peer's memory (" +
                                 system_text(errno) + "): large messages are copied through shared memory";
        parts_.host.log(parts_.host.self, PLEXUS_WARN, text.c_str());
    }
    link.shared.socket = opening.take_socket();
    link.shared.peer = theirs.name;
    if (Refusal refusal = watch_process(link, opening.process(), theirs.start_time); !refusal.why.empty())
        return refusal;
    link.attach(ring_lines, connected, opening.process(), reads, spare_);
    link.state = Link::State::open;
    parts_.table.count_open(link);
    link.sender.open();
    return {};
}

// Where the system shows no process the socket alone tells of the peer's end, which it can't while a forked
// child of the peer holds the other end too. So a link is open without a watch there only.
Refusal Links::watch_process(Link& link, pid_t number, std::uint64_t start_time) {
    link.shared.process = peer_process(link.shared.socket.get());
    if (!link.shared.process && !is_shortage(errno))
        link.shared.process = process_started_at(number, start_time);
    const int error = errno;
    if (link.shared.process ? has_ended(link.shared.process.get()) : error == ESRCH)
        return {"the peer's process has ended", PLEXUS_PEER_LOST};
    if (!link.shared.process && !is_shortage(error)) return {};
    if (link.shared.process && parts_.events.watch(link.shared.process.get(), kProcessTag + link.slot))
        return {};
    return {"the peer's process can't be watched: " + system_text(link.shared.process ? errno : error)};
}

void Links::leave(Link& link) {
    if (link.state != Link::State::open) return release(link);
    parts_.hot.remove(link);
    link.receiver.fail(link.cookie, true);
    link.shared.in->deaf.store(1, std::memory_order_seq_cst);
    link.shared.out->finished.store(1, std::memory_order_release);
    link.shared.doorbell.notify();
    if (link.sender.idle()) return release(link);
    link.leaves_at = Clock::now() + parts_.options.linger;
    parts_.busy.add(link);
}

void Links::lose(Link& link, std::int32_t status, const std::string& why) {
    if (link.state == Link::State::lost) return;
    link.state = Link::State::lost;
    parts_.hot.remove(link);
    std::erase(openings_, &link);
    std::erase(short_, &link);
    unwatch(parts_.events, link);
    link.call.opening.reset();
    if (link.shared.socket)
        hang_up(link.shared.socket.get()); // a send may be using it: it is closed by release()
    link.sender.fail(link.cookie);
    link.receiver.fail(link.cookie, link.gone.load(std::memory_order_relaxed));
    if (!link.gone.load(std::memory_order_relaxed)) parts_.host.lost(link.cookie, status, view(why));
}

void Links::release(Link& link) {
    parts_.hot.remove(link);
    parts_.busy.remove(link);
    std::erase(openings_, &link);
    std::erase(short_, &link);
    unwatch(parts_.events, link);
    if (link.shared.socket) hang_up(link.shared.socket.get());
    parts_.table.remove(link);
}

void Links::hear(Link& link) {
    switch (link.receiver.hear()) {
    case Receiver::Heard::nothing:
        return;
    case Receiver::Heard::end:
        return end(link);
    case Receiver::Heard::nonsense:
        return lose(link, PLEXUS_LINK_LOST, link.receiver.error());
    case Receiver::Heard::later:
        return note_short(link);
    case Receiver::Heard::part:
        parts_.busy.add(link);
        break;
    case Receiver::Heard::area:
        break;
    }
    if (std::erase(short_, &link) == 0) return;
    if (!watch(link))
        return lose(link, PLEXUS_LINK_LOST, "the peer's socket can't be watched: " + system_text(errno));
    parts_.mailbox.ring(link.slot); // there may be more
}

// The packet with the area stays in the queue and the socket readable: it is not watched meanwhile.
void Links::note_short(Link& link) {
    const auto now = Clock::now();
    if (std::find(short_.begin(), short_.end(), &link) == short_.end()) {
        parts_.events.unwatch(link.shared.socket.get());
        short_.push_back(&link);
        link.short_since = last_retry_ = now;
        const std::string text = "messages of a peer have to wait: " + link.receiver.error();
        parts_.host.log(parts_.host.self, PLEXUS_WARN, text.c_str());
    } else if (now - link.short_since > parts_.options.connect_timeout) {
        lose(link, PLEXUS_LINK_LOST, link.receiver.error());
    }
}

// What the peer wrote before its end is still delivered.
void Links::end(Link& link) {
    if (link.receiver.is_held_up() && !link.receiver.is_copying())
        (void)link.receiver.hear(); // the last chance
    for (std::uint32_t done = 0; done < kMostAfterEnd && !link.gone.load(std::memory_order_relaxed);) {
        const std::int32_t handled = link.receiver.receive(link.cookie, kMostAfterEnd - done, link.gone);
        if (handled <= 0) break;
        done += static_cast<std::uint32_t>(handled);
    }
    const bool willing = link.shared.in->finished.load(std::memory_order_acquire) != 0;
    if (link.shared.process && has_ended(link.shared.process.get()))
        return lose(link, PLEXUS_PEER_LOST, "the peer's process ended");
    lose(link, PLEXUS_LINK_LOST, willing ? "the peer closed the link" : "the peer's process ended");
}

void Links::check_time(Clock::time_point now) {
    if (short_.empty() || now - last_retry_ <= kBetweenRetries) return;
    last_retry_ = now;
    for (std::size_t i = short_.size(); i-- > 0;) hear(*short_[i]);
}

std::optional<std::chrono::nanoseconds> Links::sleep_limit() const noexcept {
    if (short_.empty()) return std::nullopt;
    return kBetweenRetries;
}

void Links::close() {
    parts_.table.for_each([](Link& link) { link.sender.close(); });
}

void Links::drain() {
    parts_.table.for_each([](Link& link) {
        if (link.state != Link::State::open) return;
        link.receiver.fail(link.cookie, link.gone.load(std::memory_order_relaxed));
        link.shared.in->deaf.store(1, std::memory_order_release);
        link.shared.out->finished.store(1, std::memory_order_release);
        link.shared.doorbell.notify();
    });
    const auto until = Clock::now() + parts_.options.linger;
    while (carry_on_draining() && Clock::now() < until) (void)::poll(nullptr, 0, 1);
    parts_.table.for_each([](Link& link) {
        link.state = Link::State::lost;
        link.call.opening.reset();
        link.sender.fail(link.cookie);
        if (link.shared.socket) hang_up(link.shared.socket.get());
        link.shared.socket.reset(); // the peer takes what is in the ring, then sees the end
    });
    openings_.clear();
    short_.clear();
    parts_.busy.clear();
    parts_.hot.drop();
}

// True: a peer may still fetch what has been posted.
bool Links::carry_on_draining() {
    bool any = false;
    parts_.table.for_each([&](Link& link) {
        if (link.state != Link::State::open || link.sender.idle()) return;
        if (link.sender.is_streaming()) (void)link.sender.carry_on(link.cookie);
        (void)link.sender.settle(link.cookie, true);
        const bool hopeless = link.shared.out->deaf.load(std::memory_order_acquire) != 0 ||
                              !peer_is_there(link.shared.socket.get(), link.shared.process.get());
        any = any || !(hopeless || link.sender.idle());
    });
    return any;
}

} // namespace plexus::shm
