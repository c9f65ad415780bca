// SPDX-License-Identifier: BSD-3-Clause
// One link whose messages travel in a TLS session of its own. Who began the inner link is the client. After
// the handshake each side proves that it holds the job's key, is who the inner method says, and is at the end
// of this very session; then the host hears of the link. On a connection of this method's own all that came
// before (see greeting.h): the link takes over the session.
#pragma once

#include "over/link.h"
#include "tls/engine.h"
#include "tls/inbox.h"
#include "tls/outbox.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace plexus::tls {

class Module;

class Link final : public over::Link {
  public:
    explicit Link(Module& owner);

    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token) override;
    /// What the peer's certificate allows it to say of itself. @thread progress
    std::int32_t check_claim(plexus_claim what, const char* said, plexus_text& why) override;
    /// Accepted, and not yet with the inner link. @thread any
    std::uint64_t own_queued() const noexcept;

    /// Not open for so long: gives up. True: it need not be asked again. @thread progress
    bool has_shaken_by(std::chrono::steady_clock::time_point now);

    // For Outbox and Inbox.
    std::int32_t carry(const plexus_view* pieces, std::uint32_t count, void* token) {
        return send_inner(pieces, count, token);
    }
    void break_off(std::string why);              ///< @thread any
    void shake(std::span<const std::byte> block); ///< @thread progress
    bool is_open() const noexcept { return is_open_; }
    using over::Link::border;
    using over::Link::is_over;
    void hand_over(plexus_view message) { over::Link::on_deliver(message); }
    std::int32_t ask_place(plexus_view head, std::size_t rest, void** where, void** token) {
        return over::Link::on_place(head, rest, where, token);
    }
    void tell_placed(void* token, std::int32_t status) { over::Link::on_placed(token, status); }

  private:
    enum class State : std::uint8_t { shaking, proving, open };
    using ProofBytes = std::array<std::byte, 32>;
    /// What exists once it is known which side this is.
    struct Parts {
        Parts(Module& module, Link& link, std::unique_ptr<Engine> session, bool is_client);
        const std::unique_ptr<Engine> own_engine;
        Engine& engine;
        Outbox outbox;
        Inbox inbox;
        const bool is_client;
    };

    std::string on_connect() override;
    void on_opened() override;
    std::int32_t on_accepted() override;
    void on_deliver(plexus_view message) override;
    std::int32_t on_place(plexus_view head, std::size_t rest, void** where, void** token) override;
    void on_placed(void* token, std::int32_t status) override;
    void on_sent(void* token, std::int32_t status) override;
    void on_writable() override;
    void on_over() override;
    bool has_unsent() override;

    std::string begin(bool is_client);
    void open();
    void go_on_shaking(std::span<const std::byte> block);
    void check_proof(std::span<const std::byte> block);
    std::optional<ProofBytes> proof(bool of_client);
    bool send_proof();
    void refuse(std::int32_t status, const std::string& why);
    void pay_owed(const Outbox::Owed& owed, std::int32_t status);

    Module& module_;
    std::optional<Parts> parts_;   // made before the host or the inner module can name this link
    State state_ = State::shaking; // progress
    std::atomic<bool> is_open_{false};
    std::chrono::steady_clock::time_point began_at_; // progress
};

} // namespace plexus::tls
