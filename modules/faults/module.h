// SPDX-License-Identifier: BSD-3-Clause
// A method over another one that passes everything through, except for the faults of its plan. What it
// keeps back comes out of its own poll.
#pragma once

#include "faults/plan.h"
#include "over/module.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace plexus::faults {

class Link;

class Module final : public over::Module {
  public:
    Module(const plexus_host& outer, Plan plan);

    static std::int32_t make(const plexus_host& host, std::unique_ptr<Module>& made);

    const Plan& plan() const noexcept { return plan_; }
    /// The number of a connection, from 1. @thread any
    std::uint64_t next_connect() noexcept { return ++connects_; }
    /// `link` has begun to keep messages back. @thread progress
    void holds_back(Link& link);

  private:
    std::unique_ptr<over::Link> make_link() override;
    std::int32_t turn() override;
    std::int32_t rest(std::uint64_t& sleep_ns) override;
    void forget(over::Link& link) override;

    const Plan plan_;
    std::atomic<std::uint64_t> links_made_{0}; // alone is the message, as the next
    std::atomic<std::uint64_t> connects_{0};
    std::vector<Link*> holding_; // progress
};

} // namespace plexus::faults
