// SPDX-License-Identifier: BSD-3-Clause
// TLS over another method, or over TCP connections of its own. The module holds what its links share: who
// this context is, memory, and the limits that follow from the inner method's.
#pragma once

#include "over/module.h"
#include "tls/credentials.h"
#include "tls/engine.h"
#include "tls/options.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace plexus::tls {

class Carrier;
class Link;

/// Memory for blocks, kept for the next ones. @thread any
class Blocks {
  public:
    /// Empty, with the room that it had.
    Block take();
    void give_back(Block block);

  private:
    static constexpr std::size_t kMostKept = 16;

    Mutex mutex_;
    std::vector<Block> kept_ PLEXUS_GUARDED_BY(mutex_);
};

class Module final : public over::Module {
  public:
    /// All in bytes.
    struct Limits {
        std::uint64_t most = 0;        ///< of a message
        std::uint64_t eager = 0;       ///< of a message that is one record and delivered out of our memory
        std::uint64_t inner_eager = 0; ///< of a block that the inner method copies
    };

    Module(const plexus_host& outer, Options options);

    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made);
    std::int32_t query(const over::Link* link, plexus_query what, std::uint64_t& value) const;

    /// How many records a block may have, over an inner method that takes messages of so many bytes.
    static std::size_t records_in(std::uint64_t most) noexcept;

    /// The options of a socket, this method's own or another method's.
    bool is_of_inner(std::string_view key) const override;

    const Options& options() const noexcept { return options_; }
    const Limits& limits() const noexcept { return limits_; }
    Credentials& credentials() noexcept { return credentials_; }
    Blocks& blocks() noexcept { return blocks_; }
    /// Room for a record's plain bytes, 8-byte aligned; valid until the next call. @thread progress
    std::span<std::byte> room() noexcept { return std::as_writable_bytes(std::span(room_)); }
    /// The links have TCP connections of their own.
    bool has_socket() const noexcept { return carrier_ != nullptr; }
    /// The session of the connection that the carrier tells of just now. @thread progress
    std::unique_ptr<Engine> take_session();
    /// Ends the link if its handshake takes too long. @thread any
    void watch_handshake(Link& link);

  private:
    std::int32_t learn_limits();
    std::unique_ptr<over::Link> make_link() override;
    std::int32_t find_inner(const plexus_host& under, const plexus_ops*& ops, plexus_module*& inner) override;
    std::int32_t turn() override;
    std::int32_t rest(std::uint64_t& sleep_ns) override;
    void forget(over::Link& link) override;

    const Options options_;
    Credentials credentials_;
    Carrier* carrier_ = nullptr; // the inner module, if it is this method's own
    Limits limits_;
    Blocks blocks_;
    std::vector<std::uint64_t> room_; // progress

    Mutex shaking_mutex_;
    std::vector<Link*> shaking_ PLEXUS_GUARDED_BY(shaking_mutex_);
    std::atomic<bool> any_shaking_{false}; // a hint, for turns without
};

} // namespace plexus::tls
