// SPDX-License-Identifier: BSD-3-Clause
// A decorator: opens another module under itself and passes everything through, but for
// the faults of its plan. What it keeps back, and what it owes the host (`lost` for a link
// it cut, `writable` after an AGAIN of its own), comes out of its own poll.
//
// Locks: mutex_ guards the lists that any thread adds to; it is never held in a call to
// the host or the inner module. What only the progress thread touches is said below.
#pragma once

#include "faults/plan.h"
#include "plexus/module/module.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace plexus::faults {

class Link;

class Module {
  public:
    Module(const plexus_host& outer, Plan plan);
    ~Module();

    // The functions of the same names in abi.h.
    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made);
    void close() { inner_ops_->close(inner_); }
    void drain() { inner_ops_->drain(inner_); }
    std::int32_t describe(plexus_rows& rows) const;
    std::int32_t applies(plexus_view descriptor, plexus_text& why) const;
    std::int32_t connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** link);
    std::int32_t poll(std::uint32_t budget);
    std::int32_t arm(std::uint64_t& sleep_ns);
    int wait_fd() const noexcept { return wait_fd_; }
    std::int32_t query(const Link* link, plexus_query what, std::uint64_t& value) const;

    /// The inner module's bytes inside ours; an empty view if they are not well formed or
    /// run over another method, then *why says so.
    plexus_view unwrap(plexus_view descriptor, std::string& why) const;

    const plexus_host& host() const noexcept { return *host_; }
    const plexus_ops& inner_ops() const noexcept { return *inner_ops_; }
    plexus_module* inner() const noexcept { return inner_; }
    const Plan& plan() const noexcept { return plan_; }

    /// A new link with dice of its own. @thread any
    Link& add_link();
    /// Forgets a link that nobody knows yet or any more. @thread any
    void remove_link(Link& link);
    /// `link` wants attention from the next poll. @thread any
    void owe(Link& link);
    /// The host has given `link` up: it goes when nothing can name it any more. @thread any
    void bury(Link& link);
    /// `link` has begun to keep messages back. @thread progress
    void holds_back(Link& link);

  private:
    std::int32_t open_inner(std::string& why);
    std::uint64_t next_connect(); // its number, from 1
    std::int32_t pay();
    std::int32_t release();

    const plexus_host* host_;
    const Plan plan_;
    plexus_host under_{};
    const plexus_ops* inner_ops_ = nullptr;
    plexus_module* inner_ = nullptr;
    int event_fd_ = -1; // readable: something is owed
    int wait_fd_ = -1;  // epoll over the inner module's descriptor and event_fd_

    std::mutex mutex_;
    std::map<Link*, std::unique_ptr<Link>> links_; // under mutex_
    std::vector<Link*> owed_;                      // under mutex_
    std::vector<Link*> buried_;                    // under mutex_
    std::uint64_t links_made_ = 0;                 // under mutex_
    std::uint64_t connects_ = 0;                   // under mutex_
    bool armed_ = false;                           // under mutex_

    std::vector<Link*> holding_; // progress
};

} // namespace plexus::faults
