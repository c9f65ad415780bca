// SPDX-License-Identifier: BSD-3-Clause
// Compression over another method. The module holds what its links share: the codecs' contexts, which
// are large, and the limits of the inner method.
#pragma once

#include "over/module.h"
#include "zstd/codec.h"
#include "zstd/options.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace plexus::zstd {

class Module final : public over::Module {
  public:
    Module(const plexus_host& outer, Options options);

    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made);
    /// As of the inner method, less the room that a prefix of ours takes.
    std::int32_t query(const over::Link* link, plexus_query what, std::uint64_t& value) const;

    const Options& options() const noexcept { return options_; }
    std::uint64_t most() const noexcept { return most_; } ///< bytes of a message; 0: no limit
    /// Bytes of a message that is kept here before the host is asked for its place; 0: no limit.
    std::uint64_t most_kept() const noexcept { return most_kept_; }
    std::uint64_t eager() const noexcept { return eager_; } ///< bytes; larger messages may be posted

    /// A packer for one message, and back. @thread any
    std::unique_ptr<Packer> borrow();
    void give_back(std::unique_ptr<Packer> packer);
    Unpacker& unpacker() noexcept { return unpacker_; } ///< @thread progress
    /// 8-byte aligned, at least so many bytes; valid until the next call. Two of them: what came, and what
    /// it held. @thread progress
    std::span<std::byte> room_for_packed(std::size_t bytes) { return room(packed_, bytes); }
    std::span<std::byte> room_for_message(std::size_t bytes) { return room(message_, bytes); }

  private:
    using Words = std::vector<std::uint64_t>;
    static std::span<std::byte> room(Words& words, std::size_t bytes);
    std::unique_ptr<over::Link> make_link() override;

    const Options options_;
    std::uint64_t most_ = 0;
    std::uint64_t most_kept_ = 0;
    std::uint64_t eager_ = 0;
    Unpacker unpacker_; // progress
    Words packed_;      // progress
    Words message_;     // progress

    Mutex packers_mutex_;
    std::vector<std::unique_ptr<Packer>> packers_ PLEXUS_GUARDED_BY(packers_mutex_);
};

} // namespace plexus::zstd
