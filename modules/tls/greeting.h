// SPDX-License-Identifier: BSD-3-Clause
// What the ends of a connection of this method's own say first: the handshake of TLS, then, inside of it, the
// three records of handshake.h, whose proofs hold for this very session. So nobody in the middle can join two
// sessions, and each end knows that the other holds the job's key, and who it is. A refusal is told inside of
// TLS, by an alert.
#pragma once

#include "plexus/module/handshake.h"
#include "stream_link/greeting.h"
#include "tls/engine.h"
#include "tls/records.h"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace plexus::tls {

class Greeting final : public stream_link::Greeting {
  public:
    /// `wanted`: the context to connect to; nothing: this side accepts. `most`: the largest message that this
    /// side takes, 0: any. `host` outlives this.
    Greeting(const plexus_host& host, std::unique_ptr<Engine> engine, const std::optional<plexus_id>& wanted,
             std::uint64_t most);

    std::vector<std::uint8_t> take_outgoing() override;
    std::span<std::uint8_t> room() override;
    std::int32_t took(std::size_t bytes) override;
    bool is_known() const noexcept override { return handshake_.has_value(); }
    const plexus_id& peer() const noexcept override { return handshake_->peer(); }
    std::uint64_t peer_max_message() const noexcept override { return handshake_->peer_max_message(); }
    std::uint16_t peer_version() const noexcept override { return handshake_->peer_version(); }
    std::string why() const override { return why_; }

    /// The session, once both sides have proved themselves.
    std::unique_ptr<Engine> take_engine() noexcept { return std::move(engine_); }

  private:
    struct Binding;
    std::size_t step_size() const noexcept;
    std::int32_t shake(std::span<const std::byte> record);
    std::int32_t prove(std::span<const std::byte> record);
    std::int32_t refuse(std::string why);
    bool say(std::span<const std::uint8_t> plain);

    const plexus_host& host_;
    plexus_host bound_; // proves with host_'s key what stands before it together with binding_
    std::unique_ptr<Engine> engine_;
    const std::optional<plexus_id> wanted_;
    const std::uint64_t most_;
    std::array<std::byte, 32> binding_{};
    std::optional<module::Handshake> handshake_; // once the handshake of TLS is over
    std::array<std::byte, kMostRecord> record_;
    std::size_t got_ = 0;
    std::array<std::uint8_t, module::Handshake::kHelloBytes> plain_; // the largest there is
    std::size_t plain_got_ = 0;
    Block out_;
    std::string why_;
};

} // namespace plexus::tls
