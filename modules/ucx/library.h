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

    /// Endpoints tell of failures themselves, and can be closed by force. Where all transports
    /// stay on this host that would forbid copying straight from process to process: there
    /// it is off, and a lifeline tells.
    bool endpoints_fail() const noexcept { return endpoints_fail_; }
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
    bool on_host_ = false;
    bool moves_memory_ = false;
};

} // namespace plexus::ucx
