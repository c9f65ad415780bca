// SPDX-License-Identifier: BSD-3-Clause
// A context's part in a probe: it answers pings, and measures the way to another station when the coordinator
// asks. Sleeps while others measure. Knows nothing of maps.
#pragma once

#include "tools/benchmark/ping_pong.h"
#include "tools/probe/requests.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace plexus::tools::probe {

class Station {
  public:
    /// The station takes the context's errors, and publishes itself in the job.
    explicit Station(Context& here);
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;

    /// Until it is told to finish, or `abandoned` becomes true and the context is woken.
    /// @thread one, which is the one that measures
    void serve(const std::atomic<bool>& abandoned);

  private:
    struct Order {
        GlobalPointer<benchmark::Echo> partner;
        Sizes sizes;
        Effort effort;
    };

    void install();
    Readings have_measured(const GlobalPointer<Station>& partner, Sizes sizes, const Effort& effort);
    Readings fulfil(const Order& order);
    std::vector<double> measure_size(const Effort& effort);

    benchmark::Participant end_;
    benchmark::Player player_;
    GlobalPointer<benchmark::Echo> echo_;
    std::atomic<bool> finished_{false};

    std::mutex turn_;                        // held by the pool thread whose order is the one below
    std::atomic<std::uint32_t> abandons_{0}; // a number that goes with nothing else
    // A pool thread hands these over under mutex_; has_order_ tells serve() to look.
    std::mutex mutex_;
    std::condition_variable answered_;
    std::optional<Order> order_;
    std::optional<Readings> readings_;
    std::string refusal_;
    Status refused_ = Status::ok;
    std::atomic<bool> has_order_{false};

    Bound<Station> bound_; // ends first: no handler runs after that
};

} // namespace plexus::tools::probe
