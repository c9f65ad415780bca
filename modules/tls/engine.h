// SPDX-License-Identifier: BSD-3-Clause
// TLS 1.3 over blocks of bytes that arrive whole and in order: what one side writes into a block the other
// reads from it. Knows no link. Its lock lets one thread write while another reads.
#pragma once

#include "base/lock.h"
#include "tls/credentials.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace plexus::tls {

using Block = std::vector<std::byte>;

class Engine {
  public:
    /// Most bytes that one record holds, and what it takes besides.
    static constexpr std::size_t kRecord = 16 * 1024;
    static constexpr std::size_t kRecordCost = 22;
    /// Most bytes of answers to the peer's changes of keys that wait for the next record of ours.
    static constexpr std::size_t kMostEarly = 4 * 1024;

    /// Takes a session that has not begun. The key that sends is renewed after so many bytes of
    /// records.
    Engine(Session session, std::uint64_t update_after);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    enum class Step : std::uint8_t { going, done, failed };

    /// Goes on with the handshake by what has arrived, at the client's first step nothing, and appends to
    /// `out` what the peer shall have, which may be the reason of a refusal. Failed: see why(). What is left
    /// of `in` after the last step is data for read().
    Step shake(std::span<const std::byte> in, Block& out);

    /// After the handshake: a value that both sides of this session have, and no other session.
    std::optional<std::array<std::byte, 32>> binding();

    /// Whether the peer's certificate has this name, or one below "*.example".
    bool has_name(const std::string& name) const;

    /// Appends `plain`, at most kRecord bytes, to `out` as one record. False: see why().
    bool write(std::span<const std::byte> plain, Block& out);

    /// Tells the peer by an alert that nothing follows, if the session has keys and has told it no reason
    /// yet.
    void end(Block& out);

    /// What has arrived is there to be read. Until everything was read, `in` must stay. @thread progress
    void arrived(std::span<const std::byte> in);
    /// Reads at most out.size() bytes, no further than to the end of a record. 0: nothing is left. Nothing:
    /// the session is broken, see why(). @thread progress
    std::optional<std::size_t> read(std::span<std::byte> out);
    /// All that arrived has been read: no part of a record is left. @thread progress
    bool is_read_up();

    /// Why the first call that failed did.
    std::string why() const;

  private:
    friend struct Wire;
    void fail() PLEXUS_REQUIRES(mutex_);

    mutable Mutex mutex_;
    const Session session_; // used under mutex_
    const std::uint64_t update_after_;
    std::span<const std::byte> in_ PLEXUS_GUARDED_BY(mutex_);
    Block* out_ PLEXUS_GUARDED_BY(mutex_) = nullptr;
    Block early_ PLEXUS_GUARDED_BY(mutex_); // written while reading: goes ahead of the next record
    std::uint64_t written_ PLEXUS_GUARDED_BY(mutex_) = 0; // under this key
    std::string why_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::tls
