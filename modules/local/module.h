// SPDX-License-Identifier: BSD-3-Clause
// The local method of one context: takes what is in its queue and calls the host. Contexts
// of one process trust each other, so there is no handshake.
#pragma once

#include "local/descriptor.h"
#include "local/link.h"
#include "local/registry.h"

#include <atomic>
#include <memory>
#include <sys/types.h>

namespace plexus::local {

extern const plexus_ops kOps;

class Module {
  public:
    Module(const plexus_host& host, std::uint64_t eager_bytes, std::uint64_t queue_bytes);
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made); ///< @thread setup
    bool join();  ///< becomes reachable; false: this id is taken. @thread setup
    void close(); ///< @thread setup
    void drain(); ///< @thread setup

    std::int32_t describe(plexus_rows& rows) const;
    std::int32_t applies(plexus_view descriptor, plexus_text& why) const; ///< @thread any
    std::int32_t connect(plexus_view descriptor, const plexus_id& peer, void* cookie,
                         plexus_link** link);  ///< @thread any
    std::int32_t poll(std::uint32_t budget);   ///< @thread progress
    std::int32_t arm(std::uint64_t& sleep_ns); ///< @thread progress
    int wait_fd() const noexcept { return inbox_->wait_fd(); }
    std::int32_t query(const Link* link, plexus_query what, std::uint64_t& value) const; ///< @thread any

    // What links ask for. @thread any
    const plexus_host& host() const noexcept { return host_; }
    bool closing() const noexcept { return closing_.load(std::memory_order_relaxed); }
    std::uint64_t eager_bytes() const noexcept { return eager_bytes_; }
    std::uint64_t queue_bytes() const noexcept { return queue_bytes_; }
    void add(Post& post);
    void remove(Post& post);
    /// Removes an end from the module's list and frees the end, to which nothing refers any more.
    void forget(Link& end);

  private:
    // Room made by the records of one link in a row; their sender is told once.
    struct Credit {
        Link* sender = nullptr;
        std::uint64_t bytes = 0;
    };

    bool next_chunk();
    void take(Record& record, bool deliver);
    void add(Link& end);
    void open_incoming(Link& end, bool deliver);
    void fetch(Link& end, Post& post, bool deliver);
    void end_post(Post& post);
    void credit(Link& sender, std::uint64_t bytes);
    void settle();
    /// This is a forked child of the process that opened the module, without its other threads.
    bool is_forked() const noexcept;

    const plexus_host& host_;
    const pid_t owner_;
    const Descriptor here_;
    const std::uint64_t eager_bytes_;
    const std::uint64_t queue_bytes_;
    const std::shared_ptr<Inbox> inbox_;
    std::atomic<bool> closing_{false}; // set once by close; a send that misses it is still delivered

    // Progress thread.
    Chunk* batch_ = nullptr;
    std::size_t at_ = 0;
    std::uint64_t copied_ = 0; // by this poll, of posted sends
    Credit credit_;

    mutable Mutex books_;
    Link* ends_ PLEXUS_GUARDED_BY(books_) = nullptr;
    Post* posts_ PLEXUS_GUARDED_BY(books_) = nullptr;
    std::uint64_t end_count_ PLEXUS_GUARDED_BY(books_) = 0;
};

} // namespace plexus::local
