// SPDX-License-Identifier: BSD-3-Clause
// UCX's context and worker of one Plexus context, opened as the options say, or the sentence
// that says why not. Knows no links and no messages. @thread setup
#pragma once

#include "ucx/descriptor.h"
#include "ucx/options.h"

#include <memory>
#include <string>
#include <ucp/api/ucp.h>

namespace plexus::ucx {

struct CloseContext {
    void operator()(ucp_context_h context) const noexcept { ::ucp_cleanup(context); }
};
struct CloseWorker {
    void operator()(ucp_worker_h worker) const noexcept { ::ucp_worker_destroy(worker); }
};

class Library {
  public:
    Library() = default;
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    /// PLEXUS_OK, or a status and *why.
    std::int32_t open(const Options& options, std::string& why);
    /// No call after it, no memory of anybody's is touched any more.
    void close() noexcept;

    ucp_worker_h worker() const noexcept { return worker_.get(); }
    const std::vector<Resource>& resources() const noexcept { return resources_; }
    const std::vector<std::uint8_t>& address() const noexcept { return address_; }
    int event_fd() const noexcept { return event_fd_; }
    static Version version() noexcept;

    /// Endpoints report failures and can be closed by force. If all transports stay on this host, that mode
    /// would forbid copying directly between processes: it is off, and a liveness socket shows the peer's
    /// end.
    bool endpoints_fail() const noexcept { return endpoints_fail_; }
    /// The endpoint of a peer that has gone can be closed by force, which alone gives back what UCX has
    /// mapped of it. True where endpoints fail; beside cma, an endpoint of a living peer that may still read
    /// our memory is not to be closed so.
    bool ends_by_force() const noexcept { return ends_by_force_; }
    bool on_host() const noexcept { return on_host_; } ///< no transport leaves it
    /// UCX reaches peers' memory by itself, and not by messages of its own, as over tcp: there it
    /// is slower than ours, and sends in place (runtime/notes/0006-libraries.md).
    bool moves_memory() const noexcept { return moves_memory_; }
    ucp_context_h context() const noexcept { return context_.get(); }

  private:
    std::int32_t make_context(const Options& options, std::string& why);
    std::int32_t make_worker(const Options& options, std::string& why);

    std::unique_ptr<ucp_context, CloseContext> context_;
    std::unique_ptr<ucp_worker, CloseWorker> worker_; // ends before its context
    std::vector<Resource> resources_;
    std::vector<std::uint8_t> address_;
    int event_fd_ = -1;
    bool open_ = false;
    bool endpoints_fail_ = true;
    bool ends_by_force_ = true;
    bool on_host_ = false;
    bool moves_memory_ = false;
};

} // namespace plexus::ucx
