// SPDX-License-Identifier: BSD-3-Clause
// TCP connections of this method's own, for links that run over no other method: TLS from the first byte. To
// the module it is an inner method whose messages are records, and whose links come with the session that has
// begun on them.
#pragma once

#include "stream_link/module.h"

#include <chrono>
#include <memory>
#include <string>

namespace plexus::tls {

class Module;

extern const plexus_ops kCarrierOps;

class Carrier final : public stream_link::Module {
  public:
    /// `under` is the host table that `owner` keeps for an inner method; both outlive this.
    Carrier(const plexus_host& under, tls::Module& owner);

    std::unique_ptr<module::StreamReader> make_reader() const override;
    std::unique_ptr<stream_link::Greeting> connecting(const plexus_id& wanted) override;
    std::unique_ptr<stream_link::Greeting> accepting() override;
    void tell_refusal(const std::string& line) override;

    /// No module is made by the table: the owner makes it.
    static std::int32_t make(const plexus_host&, std::unique_ptr<Carrier>&) { return PLEXUS_UNSUPPORTED; }

  private:
    /// Refusals that the log shows as warnings in each minute: anybody may cause them.
    static constexpr int kTold = 32;

    tls::Module& owner_;
    std::chrono::steady_clock::time_point told_since_{};
    int told_ = 0;
};

} // namespace plexus::tls
