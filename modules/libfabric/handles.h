// SPDX-License-Identifier: BSD-3-Clause
// The objects of libfabric that make up one endpoint, in the order of their making.
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
    /// Opens and enables all of them, and asks for the endpoint's name. The step that failed and the
    /// library's reason; empty: none did.
    std::string open(const Info& info, Bytes& name, std::size_t most_name);
    /// Closes the endpoint. The others stay, for what still refers to them.
    void close_endpoint() { endpoint_.reset(); }
    /// Leaves everything open and unused until the process ends.
    fid_ep* abandon() noexcept;

    MemoryRules memory_rules(const Info& info) const;
    bool is_open() const noexcept { return endpoint_ != nullptr; }
    fid_ep* endpoint() const noexcept { return endpoint_.get(); }
    fid_cq* queue() const noexcept { return queue_.get(); }
    fid_av* addresses() const noexcept { return addresses_.get(); }
    fid_fabric* fabric() const noexcept { return fabric_.get(); }
    int queue_fd() const noexcept { return queue_fd_; } ///< -1: the provider has none

  private:
    Owned<fid_fabric> fabric_;
    Owned<fid_domain> domain_;
    Owned<fid_av> addresses_;
    Owned<fid_cq> queue_;
    Owned<fid_ep> endpoint_;
    int queue_fd_ = -1;
};

} // namespace plexus::libfabric
