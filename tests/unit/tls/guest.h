// SPDX-License-Identifier: BSD-3-Clause
// Somebody who holds what the method asks for, and speaks it by a plain socket: record by record, what the
// test likes.
#pragma once

#include "base/unique_fd.h"
#include "support/bare_host.h"
#include "tls/credentials.h"
#include "tls/greeting.h"

#include <memory>

namespace plexus::testing {

/// The port on which a host of the method listens by itself.
std::uint16_t port_of(BareHost& host);

/// A plain socket, connected to the port.
class Plain {
  public:
    explicit Plain(BareHost& host);
    /// All of it; the host is not polled meanwhile.
    void send(const void* bytes, std::size_t size);
    /// At most that many bytes of what is there. 0: nothing is there.
    std::size_t receive(void* bytes, std::size_t size);
    bool is_closed() const;

  private:
    UniqueFd socket_;
};

class Guest {
  public:
    /// Calls `host`, whose method has the passport, as a context of the job that takes messages of `most`
    /// bytes.
    Guest(const plexus_passport& passport, BareHost& host, std::uint64_t most = 0);

    /// The library's session and no more.
    void shake_only(BareHost& host);
    /// Throws std::runtime_error if the host does not take it for a member.
    void greet(BareHost& host);

    /// One record with these plain bytes.
    tls::Block sealed(std::span<const std::byte> plain);
    /// One message as the method has it.
    tls::Block sealed_message(std::size_t size);
    void send(const tls::Block& block) { plain_.send(block.data(), block.size()); }
    bool is_closed() const { return plain_.is_closed(); }

  private:
    std::int32_t step(BareHost& host, tls::Greeting& greeting);

    BareHost self_;
    tls::Options options_;
    tls::Credentials credentials_;
    Plain plain_;
    const plexus_id wanted_;
    const std::uint64_t most_;
    std::unique_ptr<tls::Engine> engine_;
};

} // namespace plexus::testing
