// SPDX-License-Identifier: BSD-3-Clause
// The method `forward`: links to contexts that are reached through others only. A module like any other, but
// that its bytes travel as requests of its own context, by that context's Hub.
#pragma once

#include "base/event_fd.h"
#include "base/mutex.h"
#include "forward/hub.h"
#include "forward/link.h"
#include "plexus/module/abi.h"
#include "plexus/module/module.h"

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace plexus::forward {

/// What the loader reads of it.
const plexus_passport& passport() noexcept;

class Module final : public Acceptor {
  public:
    Module(const plexus_host& host, Hub& hub, EventFd event, std::uint64_t max_message);
    ~Module() override { hub_.remove(instance_); }
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    const plexus_host& host() const noexcept { return host_; }
    Hub& hub() const noexcept { return hub_; }
    std::uint64_t max_message() const noexcept { return max_message_; }

    // What table_of() asks for.
    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made);
    void close() noexcept { closed_ = true; }
    void drain();
    std::int32_t describe(plexus_rows& rows) const;
    std::int32_t applies(plexus_view descriptor, plexus_text& why) const;
    std::int32_t connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** link);
    std::int32_t poll(std::uint32_t budget);
    std::int32_t arm(std::uint64_t& sleep_ns);
    int wait_fd() const noexcept { return event_.get(); }
    std::int32_t query(const Link* link, plexus_query what, std::uint64_t& value) const;

    /// The link wants a turn, and sets a flag before it can have one. @thread any
    void owe(Link& link, std::atomic<bool>* flag = nullptr) PLEXUS_EXCLUDES(mutex_);

    /// The link wants a turn at `to`, max(): without a cause no more; it was due at `from`. @thread progress
    void set_due(Link& link, Link::Clock::time_point from, Link::Clock::time_point to);

    void accept(const LinkName& from, const Hop& open, const Destination& to) override;

  private:
    Link& add(std::unique_ptr<Link> link) PLEXUS_EXCLUDES(mutex_);
    void remove(Link& link) PLEXUS_EXCLUDES(mutex_);
    void owe_due() PLEXUS_EXCLUDES(mutex_);

    const plexus_host& host_;
    Hub& hub_;
    const std::uint64_t max_message_;
    const std::uint8_t instance_;
    const EventFd event_;
    std::atomic<bool> closed_{false}; // a hint: refused links end in drain() at the latest
    // [work] set after a link was added to ready_; whoever sees it takes the lock.
    std::atomic<bool> work_{false};
    // [armed] set by arm() before it looks at work_; owe() sets work_, then looks at armed_.
    std::atomic<bool> armed_{false};
    bool slept_ = false; ///< arm() was called since the last poll: the event may be set. The leader's own
    std::set<std::pair<Link::Clock::time_point, Link*>> due_; ///< the leader's own
    mutable RankedMutex<32> mutex_;
    std::map<const Link*, std::unique_ptr<Link>> links_ PLEXUS_GUARDED_BY(mutex_);
    std::vector<Link*> ready_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::forward
