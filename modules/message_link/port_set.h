// SPDX-License-Identifier: BSD-3-Clause
// The ports of one engine in their order of preference, and the descriptor that the host sleeps on for all of
// them. Each port is the first to be polled at times. @thread progress, unless it says otherwise
#pragma once

#include "base/unique_fd.h"
#include "message_link/port.h"

#include <vector>

namespace plexus::message_link {

class PortSet {
  public:
    /// Once, with ports that are open; `wake_fd` is watched beside theirs. An error of the system, or 0.
    /// @thread setup
    int open(std::vector<std::unique_ptr<Port>> ports, int wake_fd);

    // In their order. @thread any
    auto begin() const noexcept { return ports_.begin(); }
    auto end() const noexcept { return ports_.end(); }
    const std::unique_ptr<Port>& front() const noexcept { return ports_.front(); }
    const std::unique_ptr<Port>& operator[](std::size_t row) const noexcept { return ports_[row]; }
    std::uint32_t row_of(const Port& port) const noexcept;
    int wait_fd() const noexcept { return epoll_.get(); }

    /// Calls `visit` with each port, beginning with another one each time.
    template <class Visit>
    void each_in_turn(Visit&& visit) {
        std::size_t at = first_;
        if (++first_ >= ports_.size()) first_ = 0;
        for (std::size_t left = ports_.size(); left > 0; --left) {
            Port& port = *ports_[at];
            if (++at == ports_.size()) at = 0;
            visit(port);
        }
    }
    /// Port::arm() of all. False: some port has work, or has shut and the links do not know.
    bool arm(std::uint64_t& sleep_ns, bool stalled);
    /// The port has shut: what it has to say on its descriptor wakes nobody any more.
    void stop_watching(const Port& port);

  private:
    std::vector<std::unique_ptr<Port>> ports_;
    UniqueFd epoll_;
    std::size_t first_ = 0; // in the next turn
};

} // namespace plexus::message_link
