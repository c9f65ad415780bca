// SPDX-License-Identifier: BSD-3-Clause
// What the user of a group may say: which pattern its calls follow, on which network its
// members sit, and how long a silent member is waited for. Values. Any thread.
#pragma once

#include "plexus/eco/map.h"
#include "plexus/eco/partition.h"
#include "plexus/eco/plan.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace plexus::eco {

/// Which pattern a call follows. All members must say the same.
class How {
  public:
    /// Blocking calls through memory, where all members share it; on several hosts small ones first
    /// through that of each. All else with a map as eco(), else as suits the size.
    constexpr How() = default;
    /// Always this one. @error unsupported it does not suit the operation (thrown by the call)
    constexpr How(const Shape& shape) // NOLINT: a shape is a way to do it
      : shape_(shape) {}
    constexpr How(Pattern pattern) // NOLINT
      : shape_(Shape{pattern}) {}
    /// The plan that follows the map. @error bad_argument the group has no map (thrown by the call)
    static constexpr How eco() {
        How how;
        how.eco_ = true;
        return how;
    }

    /// Through memory that all members share, being on one host. Blocking calls alone go that way.
    /// @error unsupported they share none, it is a call with a future, or one that combines elements of
    /// which not one of each member fits into 64 KiB (thrown by the call)
    static constexpr How memory() {
        How how;
        how.memory_ = true;
        return how;
    }
    /// As How(), but never through memory that members share.
    static constexpr How messages() {
        How how;
        how.messages_ = true;
        return how;
    }

    constexpr bool follows_map() const noexcept { return eco_; }
    constexpr bool by_memory() const noexcept { return memory_; }
    constexpr bool by_messages() const noexcept { return messages_; }
    constexpr const std::optional<Shape>& shape() const noexcept { return shape_; }

  private:
    std::optional<Shape> shape_;
    bool eco_ = false;
    bool memory_ = false;
    bool messages_ = false;
};

/// "auto" (How's default), "eco", "memory", "messages", "star", "tree:4" (of that arity), "binary",
/// "binomial", "chain", "chain:64KiB" (in segments of that size), "ring", "butterfly", "bruck", "pairwise".
/// Nothing: it is none of these. @thread any
PLEXUS_API std::optional<How> parse_how(std::string_view text);

struct GroupOptions {
    /// The measured network: a value, or the file that `plexus probe` wrote. All members must
    /// have the same. Neither: nothing is known of it.
    std::shared_ptr<const Map> map = nullptr;
    std::string map_file = {};
    Tolerance tolerance = {}; ///< for the subnets of the map
    /// This member's host as the map names it. Empty: the system's host name.
    std::string host = {};
    How how = {}; ///< of every call that does not say otherwise
    /// A member that has been waited for so long is asked whether it lives, and again each
    /// time. One that is lost is so known in this time and what its method needs to notice.
    std::chrono::milliseconds watch{100};
    /// Bytes that members who are ahead may have sent to this one before it comes to their calls.
    /// More than that breaks the group: let members meet from time to time.
    std::size_t ahead_bytes = std::size_t{256} << 20;
};

} // namespace plexus::eco
