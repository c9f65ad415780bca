// SPDX-License-Identifier: BSD-3-Clause
// The objects of libfabric that make up one endpoint: in which order they are opened, and what is closed.
//
// After open() under the endpoint's lock, unless it says otherwise.
#pragma once

#include "libfabric/descriptor.h"
#include "libfabric/memory.h"
#include "libfabric/providers.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <string>

namespace plexus::libfabric {

class Handles {
  public:
    explicit Handles(Info info);
    ~Handles() { close(false); } ///< reads have ended, or close() has been called

    /// Opens and enables all of them, and fills in the endpoint's address. The step that failed and the
    /// library's reason; empty: none did. @thread setup
    std::string open(Address& address);
    /// Closes the endpoint, if it is open; the others stay, for what still refers to them. Where the library
    /// can't close it while it `is_reading`, all stay open and unused until the process ends.
    void close(bool is_reading);
    /// Zero: one may sleep on queue_fd(). Else an error code of libfabric's.
    int try_wait() const;

    const fi_info& info() const noexcept { return *info_; } ///< @thread any
    MemoryRules memory_rules() const;
    bool is_open() const noexcept { return endpoint_ != nullptr; }
    fid_ep* endpoint() const noexcept { return endpoint_.get(); }
    fid_cq* queue() const noexcept { return queue_.get(); }
    fid_av* addresses() const noexcept { return addresses_.get(); } ///< null: there is none any more
    int queue_fd() const noexcept { return queue_fd_; }             ///< -1: the provider has none

  private:
    fid_ep* abandon() noexcept;

    const Info info_;
    Owned<fid_fabric> fabric_;
    Owned<fid_domain> domain_;
    Owned<fid_av> addresses_;
    Owned<fid_cq> queue_;
    Owned<fid_ep> endpoint_;
    int queue_fd_ = -1;
    std::string neighbour_; // its key among Neighbours; empty: it is none
};

} // namespace plexus::libfabric
