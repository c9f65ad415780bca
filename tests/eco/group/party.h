// SPDX-License-Identifier: BSD-3-Clause
// Members of a group in one process: a context and a thread for each. Threads report, the test
// asserts.
#pragma once

#include "plexus/eco/group.h"
#include "unit/context/contexts.h"

#include <atomic>
#include <barrier>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace plexus::testing {

inline std::string fresh_name() {
    static std::atomic<int> next{0}; // names only
    return "party " + std::to_string(next.fetch_add(1, std::memory_order_relaxed));
}

class Party {
  public:
    Party(eco::Rank size, std::string_view methods, const Values& more = {}) {
        for (eco::Rank rank = 0; rank < size; ++rank)
            contexts_.push_back(std::make_unique<Context>(by(methods, more)));
    }

    explicit Party(std::vector<std::unique_ptr<Context>> contexts)
      : contexts_(std::move(contexts)) {}

    eco::Rank size() const { return static_cast<eco::Rank>(contexts_.size()); }
    Context& context(eco::Rank rank) { return *contexts_[rank]; }
    void end(eco::Rank rank) { contexts_[rank].reset(); }

    /// Runs `body(group)` on a thread for each member. What each member had to complain about:
    /// the error it ended with, or what `body` returned.
    template <class Body>
    std::vector<std::string> run(Body body, const eco::GroupOptions& options = {}) {
        return run_with([&](eco::Rank) { return options; }, body);
    }
    /// The same, each member with options of its own.
    template <class OptionsOf, class Body>
    std::vector<std::string> run_with(OptionsOf options_of, Body body) {
        const std::string name = fresh_name();
        std::vector<std::string> said(size());
        std::vector<std::thread> threads;
        // Nobody breaks the group while others still meet: they would hear of it there.
        std::barrier<> met(static_cast<std::ptrdiff_t>(size()));
        for (eco::Rank rank = 0; rank < size(); ++rank)
            threads.emplace_back([&, rank] {
                std::optional<eco::Group> group;
                try {
                    group.emplace(eco::Group::meet(*contexts_[rank], name, rank, size(), options_of(rank)));
                } catch (const std::exception& error) { said[rank] = std::string("threw: ") + error.what(); }
                met.arrive_and_wait();
                if (!group) return;
                try {
                    said[rank] = body(*group);
                } catch (const std::exception& error) { said[rank] = std::string("threw: ") + error.what(); }
            });
        for (std::thread& each : threads) each.join();
        return said;
    }

  private:
    std::vector<std::unique_ptr<Context>> contexts_;
};

/// Options for members who are as if on the hosts that `hosts` names by letters, one for each.
inline auto on_hosts(std::string_view hosts) {
    return [hosts](eco::Rank rank) {
        eco::GroupOptions options;
        options.host = hosts[rank];
        return options;
    };
}

/// All complaints, a line each, or nothing.
inline std::string complaints(const std::vector<std::string>& said) {
    std::string all;
    for (std::size_t rank = 0; rank < said.size(); ++rank)
        if (!said[rank].empty())
            all += (all.empty() ? "member " : "\nmember ") + std::to_string(rank) + ": " + said[rank];
    return all;
}

} // namespace plexus::testing
