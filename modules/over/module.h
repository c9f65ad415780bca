// SPDX-License-Identifier: BSD-3-Clause
// What is common to methods that work over another one: opens the inner method, carries its
// descriptors inside its own, and passes through what a method does not change. A method derives a
// Module, which says how its links are made, and a Link (see link.h); its table is
// table_of<its Module, over::Link, Caps>().
//
// Locks: mutex_ guards the lists that any thread adds to; it is never held in a call to the host or
// the inner module.
#pragma once

#include "base/event_fd.h"
#include "base/lock.h"
#include "base/unique_fd.h"
#include "plexus/module/module.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::over {

class Link;

/// Refuses, by the log, a module's parameter "over" that names no other method. @return empty then.
std::string inner_method(const plexus_host& host, std::string_view own_name);

class Module {
  public:
    /// `inner_name` is empty for a method with an inner module of its own.
    Module(const plexus_host& outer, std::string inner_name);
    virtual ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    /// Opens the inner method. Not OK: the reason is in the log. @thread setup
    std::int32_t open_inner();

    // The functions of the same names in abi.h.
    void close() { inner_ops_->close(inner_); }
    void drain();
    std::int32_t describe(plexus_rows& rows) const;
    std::int32_t applies(plexus_view descriptor, plexus_text& why) const;
    std::int32_t connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** link);
    std::int32_t poll(std::uint32_t budget);
    std::int32_t arm(std::uint64_t& sleep_ns);
    int wait_fd() const noexcept { return wait_fd_.get(); }
    std::int32_t query(const Link* link, plexus_query what, std::uint64_t& value) const;

    const plexus_host& host() const noexcept { return *host_; }
    const plexus_ops& inner_ops() const noexcept { return *inner_ops_; }
    plexus_module* inner() const noexcept { return inner_; }
    const std::string& inner_name() const noexcept { return inner_name_; }

    /// A parameter of this method that links of the inner one take while they run, as their own. @thread any
    virtual bool is_of_inner(std::string_view) const { return false; }
    /// A new link, which this module owns. @thread any
    Link& add_link();
    /// Forgets a link that nobody knows yet or any more. @thread any
    void remove_link(Link& link);
    /// `link` wants attention from the next poll. @thread any
    void owe(Link& link);
    /// `link` was given up: it goes when nothing can name it any more. @thread any
    void retire(Link& link);

  protected:
    /// @thread any, no lock held
    virtual std::unique_ptr<Link> make_link() = 0;
    /// Opens what this method works over, which keeps `under`. Not OK: the reason is in the log. Default: the
    /// method of the name. @thread setup
    virtual std::int32_t find_inner(const plexus_host& under, const plexus_ops*& ops, plexus_module*& inner);
    /// Work of a method's own in each poll; returns how many events. @thread progress
    virtual std::int32_t turn() { return 0; }
    /// Whether that work lets the thread sleep: as `arm` in abi.h. @thread progress
    virtual std::int32_t rest(std::uint64_t&) { return PLEXUS_OK; }
    /// Nothing names `link` after this. @thread progress
    virtual void forget(Link&) {}

  private:
    /// The inner module's bytes inside ours; an empty view if they are not well formed or run over
    /// another method, then *why says so.
    plexus_view unwrap(plexus_view descriptor, std::string& why) const;
    std::int32_t pay();
    std::int32_t watch_inner(std::string& why);

    const plexus_host* host_;
    const std::string inner_name_;
    plexus_host under_{};
    const plexus_ops* inner_ops_ = nullptr;
    plexus_module* inner_ = nullptr;
    EventFd event_;    // readable: something is owed
    UniqueFd wait_fd_; // epoll over the inner module's descriptor and event_

    Mutex mutex_;
    std::map<Link*, std::unique_ptr<Link>> links_ PLEXUS_GUARDED_BY(mutex_);
    std::vector<Link*> owed_ PLEXUS_GUARDED_BY(mutex_);
    std::vector<Link*> retired_ PLEXUS_GUARDED_BY(mutex_);
    bool armed_ PLEXUS_GUARDED_BY(mutex_) = false;
};

} // namespace plexus::over
