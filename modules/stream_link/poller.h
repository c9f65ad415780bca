// SPDX-License-Identifier: BSD-3-Clause
// Waits for a context's sockets: one epoll set, level triggered, and the sockets' deadlines. Asio's
// reactor is not used because it does not show its epoll descriptor, and the host needs one
// descriptor for everything to sleep on. Knows nothing of links.
#pragma once

#include "base/event_fd.h"
#include "base/unique_fd.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <sys/epoll.h>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace plexus::stream_link {

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

    /// Events of the socket: EPOLL* bits. Adds to `handled`, at most about `budget`.
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
    bool retired_ = false; // events that were fetched before are dropped
};

class Poller {
  public:
    Poller();
    bool usable() const noexcept { return epoll_.get() >= 0 && wake_.get() >= 0; }
    int fd() const noexcept { return epoll_.get(); }

    // One registration per socket. @thread any
    bool add(int fd, std::uint32_t events, Watched& who) noexcept;
    void change(int fd, std::uint32_t events, Watched& who) noexcept;
    /// Removes the socket from the epoll set, ends the connection in order, and closes the socket. close()
    /// alone does neither while a forked child holds the socket too.
    void close(int fd) noexcept;
    /// The same, but resets the connection: the peer learns that what it sent may not have been read.
    void abort(int fd) noexcept;
    /// False in a forked child of the process that made this set: the connections are the parent's.
    bool is_own_process() const noexcept;
    /// Makes the descriptor readable until the next wait(). @thread any
    void wake() noexcept;

    /// Asks the kernel once. Each ready object runs with a share of `budget`, then each object whose
    /// deadline has passed. Returns how many events were handled. @thread progress
    std::uint32_t wait(std::uint32_t budget);
    /// The earliest deadline, or time_point::max(). @thread progress
    Clock::time_point next_deadline() const noexcept;

    /// Frees the object when no event of this turn can refer to it any more. @thread progress
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
    static constexpr std::uint32_t kBatch = 64;
    void run_deadlines();

    const pid_t process_;
    UniqueFd epoll_;
    EventFd wake_;
    std::set<std::pair<Clock::time_point, Watched*>> deadlines_;
    std::vector<std::unique_ptr<Watched>> retired_;
};

/// Owns a socket that is in the epoll set. @thread progress
class PolledSocket {
  public:
    explicit PolledSocket(Poller& poller) noexcept
      : poller_(poller) {}
    ~PolledSocket() { close(); }
    PolledSocket(const PolledSocket&) = delete;
    PolledSocket& operator=(const PolledSocket&) = delete;

    /// False: the system refuses to watch it, errno says why.
    bool open(UniqueFd socket, std::uint32_t events, Watched& who) noexcept {
        close();
        fd_ = socket.release();
        return poller_.add(fd_, events, who);
    }
    int get() const noexcept { return fd_; }
    void change(std::uint32_t events, Watched& who) noexcept { poller_.change(fd_, events, who); }
    /// The next owner takes over the registration too.
    UniqueFd release() noexcept { return UniqueFd(std::exchange(fd_, -1)); }
    void close() noexcept {
        if (fd_ >= 0) poller_.close(std::exchange(fd_, -1));
    }
    void abort() noexcept {
        if (fd_ >= 0) poller_.abort(std::exchange(fd_, -1));
    }

  private:
    Poller& poller_;
    int fd_ = -1;
};

} // namespace plexus::stream_link
