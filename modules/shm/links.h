// SPDX-License-Identifier: BSD-3-Clause
// The life of links from the moment when both sides know each other: how a link opens, waits for memory,
// ends, and is given up. Connector and Acceptor bring them that far. @thread progress
#pragma once

#include "shm/parts.h"
#include "shm/spare_descriptor.h"

#include <optional>
#include <string>
#include <vector>

namespace plexus::shm {

/// Why there is no link; without a text there is one.
struct Refusal {
    std::string why;
    std::int32_t status = PLEXUS_LINK_LOST;
};

class Links {
  public:
    // What an event of the set is about, beside the tags of Listener.
    static constexpr std::uint64_t kLinkTag = std::uint64_t{2} << 32;    // + Link::slot: its socket
    static constexpr std::uint64_t kProcessTag = std::uint64_t{4} << 32; // + Link::slot: the peer's process

    explicit Links(Parts& parts)
      : parts_(parts) {}
    void open() { spare_.restore(); }

    /// Opens a link with what the peer has said. `connected`: this side has made the segment.
    Refusal join(Link& link, Opening& opening, bool connected, std::uint32_t ring_lines);
    /// Watches the socket of an open link. False: errno says why.
    bool watch(Link& link) { return parts_.events.watch(link.shared.socket.get(), kLinkTag + link.slot); }
    /// The links that the connector is opening.
    std::vector<Link*>& openings() noexcept { return openings_; }

    /// The host has given the link up.
    void leave(Link& link);
    /// The link has ended; it waits for the host to give it up.
    void lose(Link& link, std::int32_t status, const std::string& why);
    void release(Link& link);

    /// The socket of an open link is readable: it brings the area, or the end.
    void hear(Link& link);
    /// The peer's process or its end of the socket is gone.
    void end(Link& link);
    /// There is no memory or no descriptor for what a peer sends: it is tried again.
    void note_short(Link& link);
    void check_time(Clock::time_point now);
    /// How long nothing of this class is due. Empty: for ever.
    std::optional<std::chrono::nanoseconds> sleep_limit() const noexcept;

    /// Refuses sends, on all links.
    void close();
    /// Nothing else runs in the module. Waits for what has been posted and ends all links.
    void drain();

  private:
    Refusal watch_process(Link& link, pid_t number, std::uint64_t start_time);
    bool carry_on_draining();

    Parts& parts_;
    SpareDescriptor spare_;
    std::vector<Link*> openings_;
    std::vector<Link*> short_; // of memory or descriptors, see Receiver::is_short
    Clock::time_point last_retry_{};
};

} // namespace plexus::shm
