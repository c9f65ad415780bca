// SPDX-License-Identifier: BSD-3-Clause
#include "shm/connector.h"

#include "common/system_text.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace plexus::shm {

using module::is_shortage;
using module::system_text;

namespace {

constexpr auto kRedial = std::chrono::milliseconds(1);
constexpr auto kBetweenTries = std::chrono::milliseconds(100);

} // namespace

void Connector::begin(Link& link) {
    if (parts_.draining) { // no callback any more
        link.state = Link::State::lost;
        link.sender.fail(link.cookie);
        parts_.table.add_stray(link);
        return;
    }
    if (!parts_.table.add(link)) {
        parts_.table.add_stray(link);
        return links_.lose(link, PLEXUS_LINK_LOST, "this context has as many shm links as it can");
    }
    if (parts_.closing) return links_.lose(link, PLEXUS_LINK_LOST, "this context is closing");
    link.call.opening = opening_of(link, Clock::now() + parts_.options.connect_timeout);
    links_.openings().push_back(&link);
    step(link);
}

std::unique_ptr<Opening> Connector::opening_of(const Link& link, Clock::time_point until) const {
    return std::make_unique<Opening>(parts_.host, link.call.name, link.call.peer,
                                     parts_.self.setup(link.slot, parts_.options.ring_lines), until);
}

// False: the link is lost, or this process has no descriptor or no memory for now.
bool Connector::make_segment(Link& link) {
    link.shared.segment =
        SealedMemory::create("plexus link", segment_bytes(parts_.options.ring_lines), link.call.segment_fd);
    if (link.shared.segment) return true;
    const int error = errno;
    std::string why = "no shared memory can be made: " + system_text(error);
    if (is_shortage(error)) {
        (void)link.call.opening->wait_for(std::move(why));
    } else {
        links_.lose(link, PLEXUS_LINK_LOST, why);
    }
    return false;
}

void Connector::step(Link& link) {
    if (!link.shared.segment && !make_segment(link)) return;
    Opening& opening = *link.call.opening;
    const bool dialled = opening.socket() >= 0;
    opening.offer({link.call.segment_fd.get(), parts_.mailbox.memory_fd(), parts_.mailbox.event_fd()});
    const std::int32_t status = opening.step();
    // Also if the peer was so quick that the opening is over: the socket tells of the link's end.
    if (!dialled && opening.socket() >= 0 &&
        !parts_.events.watch(opening.socket(), Links::kLinkTag + link.slot))
        return links_.lose(link, PLEXUS_LINK_LOST,
                           "the peer's socket can't be watched: " + system_text(errno));
    if (status == PLEXUS_OK) return finish(link);
    if (status == PLEXUS_AGAIN) return;
    if (!opening.is_cut_off() || std::exchange(link.call.again, true))
        return links_.lose(link, status, std::string(opening.why()));
    // A peer that was killed meanwhile is not there any more when it is called again.
    parts_.events.unwatch(opening.socket());
    link.call.opening = opening_of(link, opening.until());
}

void Connector::finish(Link& link) {
    const std::unique_ptr<Opening> opening = std::move(link.call.opening);
    std::erase(links_.openings(), &link);
    link.call.segment_fd.reset();
    if (const Refusal refusal = links_.join(link, *opening, true, parts_.options.ring_lines);
        !refusal.why.empty()) {
        parts_.events.unwatch(opening->socket());
        return links_.lose(link, refusal.status, refusal.why);
    }
    // Bits that the peer has set before are answered now.
    parts_.mailbox.ring(link.slot);
    if (!link.gone.load(std::memory_order_relaxed)) parts_.host.opened(link.cookie);
    (void)link.sender.settle(link.cookie, link.gone.load(std::memory_order_relaxed));
}

void Connector::check_time(Clock::time_point now) {
    const std::vector<Link*>& openings = links_.openings();
    for (std::size_t i = openings.size(); i-- > 0;) {
        Link& link = *openings[i];
        if (link.call.opening->until() < now)
            links_.lose(link, PLEXUS_LINK_LOST,
                        link.call.opening->why().empty() ? "the peer does not answer: is its process stopped?"
                                                         : std::string(link.call.opening->why()));
        else if (link.call.opening->socket() < 0)
            step(link);
    }
}

std::optional<std::chrono::nanoseconds> Connector::sleep_limit(Clock::time_point now) const {
    std::optional<std::chrono::nanoseconds> least;
    for (const Link* const link : links_.openings()) {
        const Opening& opening = *link->call.opening;
        const std::chrono::nanoseconds rest = opening.socket() >= 0 ? opening.until() - now
                                              : opening.why().empty()
                                                  ? std::chrono::nanoseconds(kRedial)
                                                  : std::chrono::nanoseconds(kBetweenTries);
        least = std::min(least.value_or(rest), rest);
    }
    return least;
}

} // namespace plexus::shm
