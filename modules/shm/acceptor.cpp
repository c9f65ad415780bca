// SPDX-License-Identifier: BSD-3-Clause
#include "shm/acceptor.h"

#include "common/system_text.h"

#include <bit>
#include <cerrno>

namespace plexus::shm {

using module::system_text;

namespace {

constexpr std::uint32_t kLeastLines = 64;
constexpr std::uint32_t kMostLines = 1 << 14;

} // namespace

void Acceptor::accept() {
    listener_.accept_waiting(Clock::now() + parts_.options.connect_timeout,
                             [this](std::uint32_t id) { hear(id); });
}

void Acceptor::hear(std::uint32_t caller) {
    if (const std::unique_ptr<Opening> opening = listener_.step(caller)) adopt(*opening);
}

void Acceptor::adopt(Opening& opening) {
    auto made = std::make_unique<Link>(parts_.orders, parts_.host, parts_.options, parts_.totals);
    if (const std::string why = prepare(*made, opening); !why.empty()) {
        parts_.host.log(parts_.host.self, PLEXUS_WARN, ("a peer can not be taken: " + why).c_str());
        if (made->slot != Link::kNoSlot) links_.release(*made.release());
        return;
    }
    Link& link = *made.release();
    const std::int32_t wanted = parts_.host.accepted(parts_.host.self, reinterpret_cast<plexus_link*>(&link),
                                                     &opening.peer(), &link.cookie);
    const bool gone = link.gone.load(std::memory_order_relaxed);
    if (wanted != PLEXUS_OK) {
        link.gone.store(true, std::memory_order_relaxed);
        if (!gone) links_.leave(link); // otherwise its order is waiting
        return;
    }
    const std::array fds{parts_.mailbox.memory_fd(), parts_.mailbox.event_fd()};
    if (!opening.welcome(link.shared.socket.get(), parts_.self.setup(link.slot, opening.theirs().ring_lines),
                         fds))
        links_.lose(link, PLEXUS_LINK_LOST, "the peer left while the link was opened: " + system_text(errno));
}

std::string Acceptor::prepare(Link& link, Opening& opening) {
    const std::uint32_t lines = opening.theirs().ring_lines;
    if (!std::has_single_bit(lines) || lines < kLeastLines || lines > kMostLines)
        return "it wants a ring of " + std::to_string(lines) + " lines";
    const UniqueFd segment_fd = opening.take_fd(0);
    const std::size_t bytes = segment_bytes(lines);
    link.shared.segment = SealedMemory::map(segment_fd.get(), bytes, bytes);
    if (!link.shared.segment) return "its segment can't be mapped: " + system_text(errno);
    if (!parts_.table.add(link)) return "this context has as many shm links as it can";
    if (Refusal refusal = links_.join(link, opening, false, lines); !refusal.why.empty())
        return std::move(refusal.why);
    if (!links_.watch(link)) return "its socket can't be watched: " + system_text(errno);
    return {};
}

} // namespace plexus::shm
