// SPDX-License-Identifier: BSD-3-Clause
// What a forwarder relays: links between two neighbours, each with a window in both directions, so that no
// more than the windows' bytes are ever held. Leader only.
#pragma once

#include "forward/hop.h"
#include "plexus/forward.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace plexus::forward {

class Relays {
  public:
    explicit Relays(Hub& hub)
      : hub_(hub) {}

    /// Somebody asks for a link to a third context: relays it, or says why not.
    void open(const LinkName& from, const Hop& hop, const Destination& to);
    std::size_t count() const noexcept { return relays_.size(); }
    void clear() { relays_.clear(); }

  private:
    using Clock = std::chrono::steady_clock;
    class Relay final : public HopEnd {
      public:
        Relay(Relays& owner, const LinkName& from, const LinkName& to, std::uint64_t window)
          : owner_(owner)
          , sides_{from, to}
          , window_(window) {}
        void take(const LinkName& from, const Hop& hop) override;
        void cut(const LinkName& from, const std::string& why) override;
        const ContextId* far_end() const override { return nullptr; }
        const LinkName& side(std::size_t which) const noexcept { return sides_[which]; }
        /// Both ends have said all that belongs to the opening.
        bool is_open() const noexcept { return confirmed_; }

        const Clock::time_point began = Clock::now();

      private:
        bool count(std::size_t from, const Hop& hop);

        Relays& owner_;
        const std::array<LinkName, 2> sides_;
        std::uint64_t window_;
        std::array<std::uint64_t, 2> under_way_{}; ///< bytes from each side that the other has not taken yet
        bool opened_ = false;
        bool confirmed_ = false;
    };

    /// Empty: the rules allow it.
    std::string refusal(const ForwardRules& rules, const Neighbour* to, const ContextId& context) const;
    void end_late();
    void end(Relay& relay, const std::array<bool, 2>& tell, const std::string& why);

    Hub& hub_;
    std::vector<std::unique_ptr<Relay>> relays_;
    Clock::time_point next_look_{}; ///< for those that were not opened
};

} // namespace plexus::forward
