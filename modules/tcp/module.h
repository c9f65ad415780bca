// SPDX-License-Identifier: BSD-3-Clause
// The tcp method of one context: its listening sockets, its links, and the turn that polls them. The hot
// links, which received most recently, are read directly, everything else through one epoll set.
#pragma once

#include "common/mutex.h"
#include "common/surroundings.h"
#include "tcp/addresses.h"
#include "tcp/descriptor.h"
#include "tcp/link.h"
#include "tcp/listener.h"
#include "tcp/options.h"
#include "tcp/poller.h"
#include "tcp/receive_buffers.h"
#include "tcp/watchdog.h"

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace plexus::tcp {

extern const plexus_ops kOps;

class Module {
  public:
    Module(const plexus_host& host, Options options);
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    // @thread setup
    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made);
    std::int32_t listen(); ///< logs why not
    void close();
    void drain();
    std::int32_t describe(plexus_rows& rows) const;

    // @thread any
    std::int32_t applies(plexus_view descriptor, plexus_text& why) const;
    std::int32_t connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** link);
    std::int32_t query(const Link* link, plexus_query what, std::uint64_t& value) const;
    int wait_fd() const noexcept { return poller_.fd(); }

    // @thread progress
    std::int32_t poll(std::uint32_t budget);
    std::int32_t arm(std::uint64_t& sleep_ns);

    // For links, listeners and dials.
    const plexus_host& host() const noexcept { return host_; }
    const Options& options() const noexcept { return options_; }
    const module::Surroundings& here() const noexcept { return here_; }
    const std::vector<Interface>& interfaces() const noexcept { return interfaces_; }
    const module::FrameReader::Limits& limits() const noexcept { return limits_; }
    Poller& poller() noexcept { return poller_; }
    void log(plexus_level level, const std::string& text) const {
        host_.log(host_.self, level, text.c_str());
    }
    bool closing() const noexcept { return closing_.load(std::memory_order_relaxed); }
    /// `link` has sent something and is not being watched. @thread any
    void watch(Link& link);
    /// Calls attend() in the next turn, and wakes a sleeping thread for the turn. @thread any
    void notify(Link& link);

    // @thread progress
    ReceiveBuffers& buffers() noexcept { return buffers_; }
    /// A stranger has authenticated itself: makes a link of the connection if the host accepts.
    void welcome(module::OwnedFd socket, const module::Handshake& proved);
    /// `link` is read directly from now on.
    void heat(Link& link);
    /// `link` is not read directly any more, and its receive buffer is free.
    void cool(Link& link);
    /// Epoll has found an event of a link that is not hot.
    void found_cold() noexcept { found_cold_ = true; }
    /// The link is over: removed from the lists, and freed at the end of the turn.
    void forget(Link& link);
    /// After drain there are no turns: a link that the host disconnects is freed at once.
    bool drained() const noexcept { return drained_; }

  private:
    static constexpr std::size_t kHot = 2;
    static constexpr std::uint32_t kMostMisses = 512; // then a link is not hot any more
    static constexpr std::uint32_t kFewMisses = 32;   // up to here it keeps its place before another
    static constexpr std::uint32_t kMostSkips = 16;   // turns on hot links between two of epoll

    std::uint32_t attend_noted(std::uint32_t budget);
    std::uint32_t resume_links(std::uint32_t budget);
    std::uint32_t read_hot(std::uint32_t budget);
    std::uint32_t wait(std::uint32_t budget);
    void enter(Link& link);
    void wake_up() PLEXUS_MODULE_REQUIRES(mutex_);

    const plexus_host& host_;
    const Options options_;
    const module::Surroundings here_;
    std::vector<Interface> interfaces_;
    const module::FrameReader::Limits limits_;
    Poller poller_;
    Watchdog watchdog_;
    std::unique_ptr<Listener> listener_;
    Descriptor self_;
    std::atomic<bool> closing_{false}; // set once; a send that misses it is still carried
    bool drained_ = false;

    ReceiveBuffers buffers_;
    std::array<Link*, kHot> hot_{};
    std::size_t hot_count_ = 0;
    std::uint32_t skips_left_ = 0;
    std::uint32_t skips_ = 0;
    bool found_cold_ = false;
    bool slept_ = false;

    // [noted] A hint that noted_ has something, pairs with the load in poll(): a turn that
    // misses it is followed by another, and arm() asks under the lock.
    std::atomic<bool> any_noted_{false};
    mutable module::Mutex mutex_;
    std::vector<Link*> noted_ PLEXUS_MODULE_GUARDED_BY(mutex_);
    bool armed_ PLEXUS_MODULE_GUARDED_BY(mutex_) = false;
    Link* links_ PLEXUS_MODULE_GUARDED_BY(mutex_) = nullptr;
    std::uint64_t link_count_ PLEXUS_MODULE_GUARDED_BY(mutex_) = 0;
};

} // namespace plexus::tcp
