// SPDX-License-Identifier: BSD-3-Clause
// The libfabric method of one context: an endpoint for each provider that is used.
#pragma once

#include "libfabric/endpoint.h"
#include "message_link/engine.h"

namespace plexus::libfabric {

extern const plexus_ops kOps;

class Module final : public message_link::Engine {
  public:
    Module(const plexus_host& host, Options options);

    // @thread setup
    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made);

  private:
    std::int32_t open(); ///< logs why not
    std::int32_t choose(plexus_view descriptor, message_link::Port*& port, std::string& why) const override;
    std::string_view label_of(std::uint32_t row) const override;

    const Options options_;
    Descriptor self_;                // without an address
    std::vector<Address> addresses_; // of the ports, in their order
    const std::shared_ptr<Page> page_ = std::make_shared<Page>();
};

} // namespace plexus::libfabric
