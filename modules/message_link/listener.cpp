// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/listener.h"

#include "message_link/engine.h"

#include <utility>

namespace plexus::message_link {
namespace {

constexpr std::size_t kMostStrangers = 256;
constexpr std::size_t kMostWaiting = 1024;

} // namespace

void Listener::take(Port& port, ByteView body) {
    if (engine_.is_closing() || engine_.is_draining() || port.is_shut()) return;
    const plexus_host& host = engine_.host();
    Hello hello;
    Opening opening(host);
    const auto verdict = opening.take_hello(body, hello);
    if (verdict.status == PLEXUS_AGAIN) return turn_away(verdict.why);
    const ConnectionCounts::Source source = source_of(hello.descriptor);
    if (strangers_.size() >= kMostStrangers && !make_room(source)) // a hello is said once
        return let_wait(source, {&port, {body.begin(), body.end()}, Clock::now()});
    auto made = std::make_unique<Link>(engine_, port, nullptr, plexus_id{}, Bytes{});
    std::int32_t status = PLEXUS_LINK_LOST;
    std::string why;
    auto peer = port.reach(hello.descriptor, *made, status, why);
    if (peer == nullptr) // it holds the key, but has gone or can't be reached
        return host.log(host.self, PLEXUS_DEBUG, ("a peer was turned away: " + why).c_str());
    Link& link = *made;
    if (!links_.add(std::move(made), host)) return links_.remove(link);
    strangers_.add(source, &link);
    timeouts_.expect();
    link.greet(std::move(opening), hello.end, std::move(peer));
    if (verdict.status != PLEXUS_OK) {
        link.lose(verdict.status, verdict.why);
    } else if (port.traits().same_eager && hello.end.eager != link.mine.eager) {
        link.lose(PLEXUS_LINK_LOST, "its parameter eager has another value");
    }
}

void Listener::opening_is_over(const Link& link) {
    strangers_.remove([&](const Link* each) { return each == &link; });
}

bool Listener::make_room(const ConnectionCounts::Source& source) {
    Link** const first = strangers_.eviction_victim(source);
    if (first == nullptr) return false;
    (*first)->lose(PLEXUS_LINK_LOST, "its member said hello many times, and did not prove itself");
    return true;
}

void Listener::let_wait(const ConnectionCounts::Source& source, Waiting waiting) {
    if (waiting_.size() >= kMostWaiting) {
        const Waiting* const first = waiting_.eviction_victim(source);
        if (first == nullptr) return;
        waiting_.remove([&](const Waiting& each) { return &each == first; });
    }
    waiting_.add(source, std::move(waiting));
}

bool Listener::has_room_for_waiting() const noexcept {
    return !waiting_.empty() && strangers_.size() < kMostStrangers;
}

// Who has waited for longer than its connect_timeout, which is taken to be as long as here, has given up.
std::uint32_t Listener::take_waiting(std::uint32_t budget) {
    const auto since = Clock::now() - engine_.settings().connect_timeout;
    std::uint32_t taken = 0;
    for (; !waiting_.empty() && taken < budget; ++taken) {
        const bool is_late = waiting_.front().came < since;
        if (!is_late && strangers_.size() >= kMostStrangers) break;
        const Waiting next = waiting_.take_front();
        if (!is_late) take(*next.port, next.hello);
    }
    return taken;
}

// A line a minute: strangers may come often.
void Listener::turn_away(const std::string& why) {
    const auto now = Clock::now();
    if (now < quiet_until_) return;
    quiet_until_ = now + std::chrono::minutes(1);
    const plexus_host& host = engine_.host();
    host.log(host.self, PLEXUS_WARN, ("a stranger was turned away: " + why).c_str());
}

} // namespace plexus::message_link
