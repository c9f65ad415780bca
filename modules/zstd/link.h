// SPDX-License-Identifier: BSD-3-Clause
// One link whose messages may travel compressed. Sends come from any thread, serialised by the host;
// the hooks run on the progress thread.
#pragma once

#include "over/link.h"
#include "zstd/frame.h"
#include "zstd/worth.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace plexus::zstd {

class Module;

class Link final : public over::Link {
  public:
    explicit Link(Module& owner);

    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token) override;

  private:
    using Bytes = std::unique_ptr<std::byte[]>;
    /// A frame to be sent instead of the message.
    struct Frame {
        Bytes bytes;
        std::size_t size = 0;
    };
    /// What a posted send keeps until `sent`.
    struct Posted {
        void* token;
        Frame frame;
    };
    /// A message that is being placed: into the host's place, or into memory of ours.
    struct Coming {
        void* token = nullptr; // the host's
        Frame frame;           // ours
        std::size_t head = 0;  // of a message in it that travels as it is
        bool is_plain = true;
    };

    void on_deliver(plexus_view message) override;
    std::int32_t on_place(plexus_view head, std::size_t rest, void** where, void** token) override;
    void on_placed(void* token, std::int32_t status) override;
    void on_sent(void* token, std::int32_t status) override;

    Frame packed(Pieces pieces, std::size_t size);
    bool is_worth_it(Pieces pieces, std::size_t size, class Packer& packer);
    std::int32_t place_here(Coming& coming, std::span<const std::byte> head, std::size_t rest, void** where);
    static Frame stored(Pieces pieces, std::size_t size);
    std::int32_t send_frame(Frame frame, std::size_t size, void* token);
    std::int32_t post(Pieces pieces, Frame frame, void* token);

    void hand_on(const Coming& coming);
    void unpack(std::span<const std::byte> frame);
    void unpack_in_place(std::span<const std::byte> frame, const Prefix& prefix);
    const char* fill(std::span<const std::byte> frame, const Prefix& prefix, std::span<std::byte> rest);
    void refuse(const char* why);

    Module& module_;
    Worth worth_;                                  // under the host's lock of this link
    std::uint64_t told_at_ns_ = 0;                 // same lock
    std::uint64_t told_rate_ = 0;                  // same lock; what the inner method says
    std::vector<std::unique_ptr<Coming>> comings_; // progress
};

} // namespace plexus::zstd
