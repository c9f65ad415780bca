// SPDX-License-Identifier: BSD-3-Clause
// The method of one context: the listening socket, the links, and the turn that polls them. A thread can
// sleep on the descriptor of epoll.h, so arm has next to nothing to do.
#pragma once

#include "epoll.h"
#include "link.h"

#include <memory>

namespace pipes {

class Module {
  public:
    explicit Module(const plexus_host& host)
      : host_(host) {}

    // @thread setup
    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made);
    std::int32_t open(); ///< logs why not
    void close();
    void drain();

    // @thread any
    std::int32_t describe(plexus_rows& rows) const;
    std::int32_t applies(plexus_view descriptor, plexus_text& why) const;
    std::int32_t connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** out);
    std::int32_t query(const Link* link, plexus_query what, std::uint64_t& value) const;
    int wait_fd() const { return epoll_.fd(); }

    // @thread progress
    std::int32_t poll(std::uint32_t budget);
    std::int32_t arm(std::uint64_t& sleep_ns) const;

    // What links ask for. @thread any
    const plexus_host& host() const { return host_; }
    bool is_closing() const { return closing_; }
    std::size_t queue() const { return queue_; }
    /// Calls attend() in the next turn, and wakes a sleeping thread.
    void note(Link& link);
    const Epoll& epoll() const { return epoll_; }
    void log(plexus_level level, const std::string& text) const {
        host_.log(host_.self, level, text.c_str());
    }

    // What links ask for. @thread progress
    void read_again(Link& link) { backlog_.push_back(&link); } ///< in the next turn, without news
    void try_again(Link& link) { again_.push_back(&link); }    ///< attend() soon
    void watch_clock(Link& link) { timed_.push_back(&link); }  ///< expire() from then on
    void free_dead_links_later() { any_dead_ = true; }

  private:
    Link& add(std::unique_ptr<Link> link);
    std::uint32_t accept_some();
    void attend_all();
    void look_at_clock();
    void free_dead_links();

    const plexus_host& host_;
    Place here_;
    Epoll epoll_;
    Fd listening_;
    std::size_t queue_ = 0;
    std::atomic<bool> closing_{false}; // set once; a send that misses it is still carried

    // The polling thread's.
    std::vector<Link*> backlog_, again_, timed_;
    bool any_dead_ = false;
    bool short_ = false;      // of descriptors: nobody is let in for a while
    bool short_said_ = false; // in the log, once

    mutable std::mutex mutex_; // of what follows; taken before a link's
    std::vector<std::unique_ptr<Link>> links_;
    std::vector<Link*> noted_;
};

} // namespace pipes
