// SPDX-License-Identifier: BSD-3-Clause
// The three records of handshake.h as they are: they prove that both ends hold the job's key, and hide
// nothing.
#pragma once

#include "plexus/module/handshake.h"
#include "stream_link/greeting.h"

#include <array>

namespace plexus::tcp {

class Greeting final : public stream_link::Greeting {
  public:
    explicit Greeting(module::Handshake handshake)
      : handshake_(std::move(handshake)) {}

    std::vector<std::uint8_t> take_outgoing() override { return handshake_.take_outgoing(); }
    std::span<std::uint8_t> room() override;
    std::int32_t took(std::size_t bytes) override;
    bool is_known() const noexcept override { return is_known_; }
    const plexus_id& peer() const noexcept override { return handshake_.peer(); }
    std::uint64_t peer_max_message() const noexcept override { return handshake_.peer_max_message(); }
    std::uint16_t peer_version() const noexcept override { return handshake_.peer_version(); }

  private:
    module::Handshake handshake_;
    std::array<std::uint8_t, module::Handshake::kHelloBytes> record_; // the largest there is
    std::size_t got_ = 0;
    bool is_known_ = false;
};

} // namespace plexus::tcp
