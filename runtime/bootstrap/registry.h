// SPDX-License-Identifier: BSD-3-Clause
// The registry behind every directory: published names, the lookups that wait for names, and the fence. Knows
// nothing of sockets; its users are numbers that it gives out. Any thread; callbacks run without a lock, on
// the thread that caused them, or on the io thread if a deadline caused them.
#pragma once

#include "base/mutex.h"
#include "bootstrap/directory.h"

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <vector>

namespace plexus::bootstrap {

class Registry : public std::enable_shared_from_this<Registry> {
  public:
    using User = std::uint64_t;
    /// A published value, shared by all who look it up. Never null in a good result.
    using Payload = std::shared_ptr<const Bytes>;
    using Found = std::function<void(Result<Payload>)>;
    using Done = Directory::Done;

    /// Bounds of one user's memory. A name costs kNameOverhead in addition to its letters and its value, a
    /// waiter about as much.
    static constexpr std::size_t kBytesPerUser = std::size_t{64} * 1024 * 1024;
    static constexpr std::size_t kNameOverhead = 256;
    static constexpr std::size_t kWaitersPerUser = 16384;

    /// Deadlines are kept on `io`.
    Registry(const std::shared_ptr<asio::io_context>& io, std::uint32_t members);

    User enter();
    /// Withdraws the names of `user`; its lookups and its fence end with `closed`.
    void leave(User user);

    Result<void> publish(User user, std::string_view name, std::span<const std::byte> value);
    void unpublish(User user, std::string_view name);
    void lookup(User user, std::string_view name, Clock::time_point deadline, Found found);
    void fence(User user, Clock::time_point deadline, Done done);

    /// Ends all lookups and the fence with `closed`; later calls fail with `closed`.
    void close();

  private:
    struct Entry {
        User user;
        Payload value;
    };
    struct Waiter {
        User user;
        Clock::time_point asked, deadline;
        Found found;
    };
    struct Arrival {
        User user;
        Clock::time_point asked, deadline;
        Done done;
    };
    struct Holdings {
        std::size_t bytes = 0;
        std::size_t waiters = 0;
        std::uint64_t next_fence = 0; ///< number of the fence it takes part in next
        bool has_met = false;         ///< it took part in a fence: if it leaves, the next fence fails
    };
    /// Callbacks that became due under the lock; run after the lock is released.
    using Due = std::vector<std::function<void()>>;

    void drop_waits(User user, Due& due) PLEXUS_REQUIRES(mutex_);
    void end_fence(const Result<void>& outcome, Due& due) PLEXUS_REQUIRES(mutex_);
    Clock::time_point expire(Due& due) PLEXUS_REQUIRES(mutex_);
    [[nodiscard]] bool is_sooner(Clock::time_point deadline) PLEXUS_REQUIRES(mutex_);
    void wake_timer();
    void on_timer(); // io thread

    const std::weak_ptr<asio::io_context> io_;
    const std::uint32_t members_;
    std::unique_ptr<asio::steady_timer> timer_; // io thread, like its end in close()

    RankedMutex<20> mutex_;
    bool closed_ PLEXUS_GUARDED_BY(mutex_) = false;
    User last_user_ PLEXUS_GUARDED_BY(mutex_) = 0;
    std::map<User, Holdings> users_ PLEXUS_GUARDED_BY(mutex_);
    std::map<std::string, Entry, std::less<>> names_ PLEXUS_GUARDED_BY(mutex_);
    std::multimap<std::string, Waiter, std::less<>> waiters_ PLEXUS_GUARDED_BY(mutex_);
    std::vector<Arrival> arrived_ PLEXUS_GUARDED_BY(mutex_);
    /// When the timer expires next; no waiting lookup or fence has an earlier deadline.
    Clock::time_point next_deadline_ PLEXUS_GUARDED_BY(mutex_) = Clock::time_point::max();
    std::uint64_t fence_ PLEXUS_GUARDED_BY(mutex_) = 0; // number of the fence under way
};

/// A view for a context of this process. `url` is the view's own URL; `keep` lives as long as the view.
std::shared_ptr<Directory> view_of(std::shared_ptr<Registry> registry, std::string url,
                                   std::shared_ptr<void> keep);

} // namespace plexus::bootstrap
