// SPDX-License-Identifier: BSD-3-Clause
// One member's part in a collective call that is measured: its memory, the call itself, and the check of
// the result. Knows nothing of time. One thread.
#pragma once

#include "plexus/eco/group.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plexus::tools::benchmark {

class CollectiveCall {
  public:
    /// `bytes`: of the vector, or of each member's part. Fills the memory with values that each element's
    /// place determines. @error too_large more memory than is sensible (thrown)
    CollectiveCall(const eco::Group& group, eco::Operation operation, std::uint64_t bytes, eco::Rank root);

    /// The call; every member of the group makes it. @error as Collectives (thrown)
    void run();
    /// After run(): whether this member received the right data.
    bool right() const;

  private:
    std::span<std::byte> sent() { return std::as_writable_bytes(std::span(out_)).first(out_bytes_); }
    std::span<std::byte> received() { return std::as_writable_bytes(std::span(in_)).first(in_bytes_); }
    std::span<const std::byte> received() const { return std::as_bytes(std::span(in_)).first(in_bytes_); }
    void make_room(std::uint64_t out_bytes, std::uint64_t in_bytes);
    void fill();
    bool right_blocks() const;
    bool right_sums() const;

    eco::Group group_;
    eco::Operation operation_;
    std::uint64_t bytes_;
    eco::Rank root_;
    // Words, so that numbers are aligned.
    std::vector<std::uint64_t> out_;
    std::vector<std::uint64_t> in_;
    std::uint64_t out_bytes_ = 0;
    std::uint64_t in_bytes_ = 0;
};

} // namespace plexus::tools::benchmark
