// SPDX-License-Identifier: BSD-3-Clause
// What a context's sockets are waited for with: one epoll set, level triggered, and the
// deadlines of those that have one. Asio's own reactor is not used here because it keeps
// its epoll descriptor to itself, and the host needs one descriptor to sleep on that covers
// everything. Knows nothing of links.
#pragma once

#include "common/owned_fd.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <sys/epoll.h>
#include <utility>
#include <vector>

namespace plexus::tcp {

using Clock = std::chrono::steady_clock;

class Poller;

/// Something with a socket, a deadline, or both. @thread progress
class Watched {
  public:
    explicit Watched(Poller& poller)
      : poller_(poller) {}
    virtual ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    /// Its socket has something: EPOLL* bits. Adds to `handled`, stays within `budget`.
    virtual void ready(std::uint32_t events, std::uint32_t budget, std::uint32_t& handled) = 0;
    /// Its deadline has passed, and is cleared.
    virtual void expired() {}

    void set_deadline(Clock::time_point when);
    void clear_deadline();

  protected:
    Poller& poller() const noexcept { return poller_; }

  private:
    friend class Poller;
    Poller& poller_;
    Clock::time_point due_{};
    bool has_deadline_ = false;
    bool retired_ = false; // events that were fetched before it was are not for it any more
};

class Poller {
  public:
    Poller();
    bool usable() const noexcept { return epoll_.get() >= 0 && wake_.get() >= 0; }
    int fd() const noexcept { return epoll_.get(); }

    // One registration per socket; closing the socket ends it. @thread any
    bool add(int fd, std::uint32_t events, Watched& who) noexcept;
    void change(int fd, std::uint32_t events, Watched& who) noexcept;
    void remove(int fd) noexcept;
    /// Makes the descriptor readable until the next wait(). @thread any
    void wake() noexcept;

    /// Asks the kernel once and runs who is ready, then whose deadline has passed. Returns how
    /// many sockets had something. @thread progress
    std::uint32_t wait(std::uint32_t budget, std::uint32_t& handled);
    /// The earliest deadline, or time_point::max(). @thread progress
    Clock::time_point next_deadline() const noexcept;

    /// Frees it when no event of this turn can name it any more. @thread progress
    void retire(std::unique_ptr<Watched> who) {
        who->clear_deadline();
        who->retired_ = true;
        retired_.push_back(std::move(who));
    }
    void bury() {
        if (!retired_.empty()) retired_.clear();
    }

  private:
    friend class Watched;
    static constexpr int kBatch = 64;
    void run_deadlines();

    module::OwnedFd epoll_;
    module::OwnedFd wake_;
    std::set<std::pair<Clock::time_point, Watched*>> deadlines_;
    std::vector<std::unique_ptr<Watched>> retired_;
};

} // namespace plexus::tcp
