// SPDX-License-Identifier: BSD-3-Clause
// The ucx method of one context: its worker, the ways to other workers, its links, and the
// turn that polls them. One lock stands around every call of UCX, whose callbacks run under
// it and therefore only take notes; what they noted is told to the host without it.
#pragma once

#include "common/surroundings.h"
#include "ucx/library.h"
#include "ucx/lifeline.h"
#include "ucx/link.h"
#include "ucx/options.h"
#include "ucx/spin_lock.h"
#include "ucx/trace.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace plexus::ucx {

extern const plexus_ops kOps;

/// Memory that peers may reach.
struct Memory {
    ucp_mem_h handle = nullptr;
};

class Module {
  public:
    using Memory = ucx::Memory;
    Module(const plexus_host& host, Options options);
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    // @thread setup
    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made);
    std::int32_t open(); ///< logs why not
    void close() { closing_.store(true, std::memory_order_relaxed); }
    void drain();
    std::int32_t describe(plexus_text& out) const;

    // @thread any
    std::int32_t applies(plexus_view descriptor, plexus_text& why) const;
    std::int32_t connect(plexus_view descriptor, const plexus_id& peer, void* cookie, plexus_link** link);
    std::int32_t query(const Link* link, plexus_query what, std::uint64_t& value);
    std::int32_t expose(void*& data, std::size_t size, plexus_text& key, Memory*& memory);
    void withdraw(Memory& memory);
    int wait_fd() const noexcept { return epoll_.get(); }

    // @thread progress
    std::int32_t poll(std::uint32_t budget);
    std::int32_t arm(std::uint64_t& sleep_ns);

    // What its parts ask for.
    const plexus_host& host() const noexcept { return host_; }
    const Options& options() const noexcept { return options_; }
    const Descriptor& self() const noexcept { return self_; }
    const Bytes& own_descriptor() const noexcept { return descriptor_; }
    ucp_worker_h worker() const noexcept { return library_.worker(); }
    bool endpoints_fail() const noexcept { return library_.endpoints_fail(); }
    bool closing() const noexcept { return closing_.load(std::memory_order_relaxed); }
    bool drained() const noexcept { return drained_; }
    void log(plexus_level level, const std::string& text) const {
        host_.log(host_.self, level, text.c_str());
    }
    SpinLock& lock() noexcept { return lock_; }

    // Under the lock.
    Ops& ops() noexcept { return ops_; }
    void note(Link& link);
    void be_ready(Link& link);
    void is_over(Link& link, void* token, std::int32_t status);
    void has_landed(Landing& landing);
    void orphan(Op& op);      ///< UCX keeps it, and may never be through with it
    void orphan_over(Op& op); ///< it is
    void something_is_pending();
    void break_way(Way& way, ucs_status_t status);
    void close_endpoint(Way& way);
    void wake_up();

    // @thread progress
    /// Null and a sentence: there is none.
    Way* way_to(const Descriptor& target, std::string& why);
    void watch(Link& link, std::chrono::nanoseconds limit); ///< expired() unless told otherwise
    void look_after(Link& link);                            ///< try_to_end() from now on
    void release(Arrival& arrival);                         ///< what it holds is not wanted any more
    void forget(Link& link);                                ///< off the books, and freed
    void bury(std::unique_ptr<Landing> landing) { buried_.push_back(std::move(landing)); }

  private:
    struct Ended {
        Link* link;
        void* token;
        std::int32_t status;
    };

    static ucs_status_t take(void* module, const void* header, std::size_t header_size, void* data,
                             std::size_t size, const ucp_am_recv_param_t* about);
    ucs_status_t keep(const Header& header, const void* head, void* data, std::size_t skip, std::size_t size,
                      std::uint64_t attributes);
    Link* named_by(const Header& header) const;
    void enter(Link& link);

    std::uint32_t tell_news();
    void greeted(Arrival& arrival);
    void turn_down(const char* why);
    void flush_releases();
    void drop_arrivals();
    void look_around();
    void check_times();
    void check_ways(bool quiet);
    void fail(Way& way, const std::string& why);
    void end_links();
    void drop_failed_ways();
    bool linger();

    const plexus_host& host_;
    const Options options_;
    TraceUse trace_use_;
    Library library_;
    Lifeline lifeline_;
    Descriptor self_;
    Bytes descriptor_;
    module::OwnedFd epoll_;
    module::OwnedFd bell_;             // wakes a sleeper
    std::atomic<bool> closing_{false}; // set once; a send that misses it is still carried
    bool drained_ = false;

    SpinLock lock_; // what follows
    Ops ops_;
    Blocks blocks_;
    std::vector<Link*> slots_;
    std::vector<std::uint32_t> free_slots_;
    std::size_t link_count_ = 0;
    std::vector<Arrival> inbox_;
    bool news_ = false; // one of these has something
    std::vector<Link*> noted_;
    std::vector<Link*> ready_;
    std::vector<Ended> ended_;
    std::vector<Op*> orphans_;
    std::vector<Link*> landed_;
    bool way_failed_ = false;
    bool armed_ = false;

    // The progress thread's.
    std::vector<Arrival> batch_;
    std::size_t batch_next_ = 0;
    std::vector<Arrival> to_release_;
    std::map<std::string, std::unique_ptr<Way>, std::less<>> ways_; // by address
    std::vector<std::unique_ptr<Way>> failed_ways_;
    std::vector<std::unique_ptr<Landing>> buried_; // UCX may still name them
    std::vector<Link*> watched_;
    std::vector<Link*> ending_;
    std::size_t cut_ways_ = 0;
    std::uint32_t turns_ = 0;
    bool slept_ = false;
    Clock::time_point quiet_until_{};
};

} // namespace plexus::ucx
