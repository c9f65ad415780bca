// SPDX-License-Identifier: BSD-3-Clause
// Module: how links come and go.
#include "shm/module.h"

#include "common/system_text.h"
#include "shm/process.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

namespace plexus::shm {

using module::is_shortage;
using module::Lock;
using module::OwnedFd;
using module::system_text;
using module::view;

namespace {

constexpr std::uint32_t kLeastLines = 64;
constexpr std::uint32_t kMostLines = 1 << 14;

} // namespace

void Module::unwatch(Link& link) {
    if (link.opening) events_.unwatch(link.opening->socket());
    events_.unwatch(link.socket.get());
    events_.unwatch(link.process.get());
}

std::uint32_t Module::take_orders() {
    ordered_.store(false, std::memory_order_seq_cst); // [orders]
    std::vector<Order> orders;
    {
        const Lock hold(orders_mutex_);
        orders.swap(orders_);
    }
    for (const Order& order : orders) {
        switch (order.what) {
        case Order::Do::connect:
            begin(*order.link);
            break;
        case Order::Do::disconnect:
            leave(*order.link);
            break;
        case Order::Do::stream:
            if (order.link->state == Link::State::open) add_busy(*order.link);
            break;
        }
    }
    return static_cast<std::uint32_t>(orders.size());
}

bool Module::give_slot(Link& link) {
    const Lock hold(books_);
    if (free_slots_.empty() && slots_.size() == MailboxPage::kBits) return false;
    if (free_slots_.empty()) {
        link.slot = static_cast<std::uint32_t>(slots_.size());
        slots_.push_back(&link);
    } else {
        link.slot = free_slots_.back();
        free_slots_.pop_back();
        slots_[link.slot] = &link;
    }
    return true;
}

Setup Module::setup_for(const Link& link, std::uint32_t ring_lines) const {
    return {kVersion,
            ring_lines,
            link.slot,
            joined_ ? 1u : 0u,
            {reinterpret_cast<std::uintptr_t>(cookie_.data()), cookie_},
            start_time_};
}

// The side that connects.
void Module::begin(Link& link) {
    if (draining_) { // no callback any more
        link.state = Link::State::lost;
        link.sender.fail(link.cookie);
        strays_.push_back(&link);
        return;
    }
    if (!give_slot(link)) {
        strays_.push_back(&link);
        return lose(link, PLEXUS_LINK_LOST, "this context has as many shm links as it can");
    }
    if (closing_) return lose(link, PLEXUS_LINK_LOST, "this context is closing");
    link.opening = opening_of(link, Clock::now() + options_.connect_timeout);
    openings_.push_back(&link);
    step(link);
}

std::unique_ptr<Opening> Module::opening_of(const Link& link, Clock::time_point until) const {
    return std::make_unique<Opening>(host_, link.name, link.peer, setup_for(link, options_.ring_lines),
                                     until);
}

// False: the link is lost, or this process has no descriptor or no memory for now.
bool Module::make_segment(Link& link) {
    link.segment = SharedMemory::create("plexus link", segment_bytes(options_.ring_lines), link.segment_fd);
    if (link.segment) return true;
    const int error = errno;
    std::string why = "no shared memory can be made: " + system_text(error);
    if (is_shortage(error)) {
        (void)link.opening->wait_for(std::move(why));
    } else {
        lose(link, PLEXUS_LINK_LOST, why);
    }
    return false;
}

void Module::step(Link& link) {
    if (!link.segment && !make_segment(link)) return;
    Opening& opening = *link.opening;
    const bool dialled = opening.socket() >= 0;
    opening.offer({link.segment_fd.get(), mailbox_.memory_fd(), mailbox_.event_fd()});
    const std::int32_t status = opening.step();
    // Also if the peer was so quick that the opening is over: the socket tells of the link's end.
    if (!dialled && opening.socket() >= 0 && !events_.watch(opening.socket(), kLinkTag + link.slot))
        return lose(link, PLEXUS_LINK_LOST, "the peer's socket can't be watched: " + system_text(errno));
    if (status == PLEXUS_OK) return finish_opening(link);
    if (status == PLEXUS_AGAIN) return;
    if (!opening.is_cut_off() || std::exchange(link.called_again, true))
        return lose(link, status, std::string(opening.why()));
    // A peer that was killed meanwhile is not there any more when it is called again.
    events_.unwatch(opening.socket());
    link.opening = opening_of(link, opening.until());
}

void Module::finish_opening(Link& link) {
    const std::unique_ptr<Opening> opening = std::move(link.opening);
    std::erase(openings_, &link);
    link.segment_fd.reset();
    if (const Refusal refusal = join(link, *opening, true, options_.ring_lines); !refusal.why.empty()) {
        events_.unwatch(opening->socket());
        return lose(link, refusal.status, refusal.why);
    }
    // Bells that the peer rang before are answered now.
    mailbox_.ring(link.slot);
    if (!link.gone.load(std::memory_order_relaxed)) host_.opened(link.cookie);
    (void)link.sender.settle(link.cookie, link.gone.load(std::memory_order_relaxed));
}

// Descriptors are the last two, in either direction mailbox and eventfd.
Refusal Module::join(Link& link, Opening& opening, bool connected, std::uint32_t ring_lines) {
    const Setup& theirs = opening.theirs();
    const std::size_t first = connected ? 0 : 1;
    const OwnedFd mailbox = opening.take_fd(first);
    const bool light = joined_ && theirs.barrier == 1;
    const Direction& out = link.segment.at<Direction>(0)[connected ? 0 : 1];
    if (!link.bell.attach(mailbox.get(), opening.take_fd(first + 1), theirs.bell, out, light))
        return {"the peer's mailbox can't be used: " + system_text(errno)};
    const bool reads = options_.limits.fetch && can_read(opening.process(), theirs.cookie);
    if (!reads && options_.insist_on_fetch) {
        const std::string text = "cma = on, but the kernel forbids to read a peer's memory (" +
                                 system_text(errno) + "): large messages are copied through shared memory";
        host_.log(host_.self, PLEXUS_WARN, text.c_str());
    }
    link.socket = opening.take_socket();
    if (Refusal refusal = watch_process(link, opening.process(), theirs.start_time); !refusal.why.empty())
        return refusal;
    link.attach(ring_lines, connected, opening.process(), reads, spare_);
    link.state = Link::State::open;
    link_count_.fetch_add(1, std::memory_order_relaxed);
    segment_bytes_.fetch_add(link.segment.size(), std::memory_order_relaxed);
    link.sender.open();
    return {};
}

// Where the system shows no process the socket alone tells of the peer's end, which it can't while a forked
// child of the peer holds the other end too. So a link is open without a watch there only.
Refusal Module::watch_process(Link& link, pid_t number, std::uint64_t start_time) {
    link.process = peer_process(link.socket.get());
    if (!link.process && !is_shortage(errno)) link.process = process_started_at(number, start_time);
    const int error = errno;
    if (link.process ? has_ended(link.process.get()) : error == ESRCH)
        return {"the peer's process has ended", PLEXUS_PEER_LOST};
    if (!link.process && !is_shortage(error)) return {};
    if (link.process && events_.watch(link.process.get(), kProcessTag + link.slot)) return {};
    return {"the peer's process can't be watched: " + system_text(link.process ? errno : error)};
}

// The side that accepts.
void Module::accept_callers() {
    door_.let_in(Clock::now() + options_.connect_timeout, [this](std::uint32_t id) { hear_caller(id); });
}

void Module::hear_caller(std::uint32_t id) {
    if (const std::unique_ptr<Opening> opening = door_.step(id)) adopt(*opening);
}

void Module::adopt(Opening& opening) {
    auto made = std::make_unique<Link>(*this, host_, options_, totals_);
    if (const std::string why = prepare(*made, opening); !why.empty()) {
        host_.log(host_.self, PLEXUS_WARN, ("a peer can not be taken: " + why).c_str());
        if (made->slot != Link::kNoSlot) release(*made.release());
        return;
    }
    Link& link = *made.release();
    const std::int32_t wanted =
        host_.accepted(host_.self, reinterpret_cast<plexus_link*>(&link), &opening.peer(), &link.cookie);
    const bool gone = link.gone.load(std::memory_order_relaxed);
    if (wanted != PLEXUS_OK) {
        link.gone.store(true, std::memory_order_relaxed);
        if (!gone) leave(link); // otherwise its order is waiting
        return;
    }
    const std::array fds{mailbox_.memory_fd(), mailbox_.event_fd()};
    if (!opening.welcome(link.socket.get(), setup_for(link, opening.theirs().ring_lines), fds))
        lose(link, PLEXUS_LINK_LOST, "the peer left while the link was opened: " + system_text(errno));
}

std::string Module::prepare(Link& link, Opening& opening) {
    const std::uint32_t lines = opening.theirs().ring_lines;
    if (!std::has_single_bit(lines) || lines < kLeastLines || lines > kMostLines)
        return "it wants a ring of " + std::to_string(lines) + " lines";
    const OwnedFd segment_fd = opening.take_fd(0);
    const std::size_t bytes = segment_bytes(lines);
    link.segment = SharedMemory::map(segment_fd.get(), bytes, bytes);
    if (!link.segment) return "its segment can't be mapped: " + system_text(errno);
    if (!give_slot(link)) return "this context has as many shm links as it can";
    if (Refusal refusal = join(link, opening, false, lines); !refusal.why.empty())
        return std::move(refusal.why);
    if (!events_.watch(link.socket.get(), kLinkTag + link.slot))
        return "its socket can't be watched: " + system_text(errno);
    return {};
}

// The host has given the link up.
void Module::leave(Link& link) {
    if (link.state != Link::State::open) return release(link);
    cool(link);
    link.receiver.fail(link.cookie, true);
    link.in->deaf.store(1, std::memory_order_seq_cst);
    link.out->finished.store(1, std::memory_order_release);
    link.bell.notify();
    if (link.sender.idle()) return release(link);
    link.leaving = true;
    link.leaving_until = Clock::now() + options_.linger;
    add_busy(link);
}

void Module::lose(Link& link, std::int32_t status, const std::string& why) {
    if (link.state == Link::State::lost) return;
    link.state = Link::State::lost;
    cool(link);
    std::erase(openings_, &link);
    std::erase(short_, &link);
    unwatch(link);
    link.opening.reset();
    if (link.socket) hang_up(link.socket.get()); // a send may be using it: it is closed by release()
    link.sender.fail(link.cookie);
    link.receiver.fail(link.cookie, link.gone.load(std::memory_order_relaxed));
    if (!link.gone.load(std::memory_order_relaxed)) host_.lost(link.cookie, status, view(why));
}

void Module::release(Link& link) {
    cool(link);
    if (link.busy) std::erase(busy_, &link);
    std::erase(openings_, &link);
    std::erase(short_, &link);
    unwatch(link);
    if (link.socket) hang_up(link.socket.get());
    if (link.ready.load(std::memory_order_relaxed)) {
        link_count_.fetch_sub(1, std::memory_order_relaxed);
        segment_bytes_.fetch_sub(link.segment.size(), std::memory_order_relaxed);
    }
    const Lock hold(books_);
    if (link.slot == Link::kNoSlot) {
        std::erase(strays_, &link);
    } else {
        slots_[link.slot] = nullptr;
        free_slots_.push_back(link.slot);
    }
    delete &link;
}

} // namespace plexus::shm
