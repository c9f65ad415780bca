// SPDX-License-Identifier: BSD-3-Clause
// A context's part in a probe: it answers pings, and measures the way to another station when
// it is asked to. Sleeps while others measure. Knows nothing of maps.
#pragma once

#include "tools/probe/requests.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

namespace plexus::tools::probe {

class Station {
  public:
    /// Its handlers, its name in the job, and the context's errors are the station's.
    explicit Station(Context& here);
    ~Station();
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;

    /// Until it is told to finish, or `abandoned` becomes true and the context is woken.
    /// @thread one, which is the one that measures
    void serve(const std::atomic<bool>& abandoned);

  private:
    struct Order {
        GlobalPointer<Station> partner;
        Sizes sizes;
        Effort effort;
    };

    void install();
    Readings have_measured(Order order);
    Readings fulfil(const Order& order);
    std::vector<double> measure_size(const Effort& effort);
    void until(const std::function<bool()>& done);
    double play(std::uint32_t trips);
    void returned(std::uint64_t game);
    void fail(const std::string& why);

    Context& here_;
    GlobalPointer<Station> back_; // handlers' own
    std::atomic<bool> finished_{false};

    std::mutex turn_;                        // held by the pool thread whose order is the one below
    std::atomic<std::uint32_t> abandons_{0}; // a number that goes with nothing else
    // Handed over by a pool thread, under mutex_; has_order_ tells serve() to look.
    std::mutex mutex_;
    std::condition_variable answered_;
    std::optional<Order> order_;
    std::optional<Readings> readings_;
    std::string refusal_;
    Status refused_ = Status::ok;
    std::atomic<bool> has_order_{false};

    // The ping-pong under way. left_ is set by serve()'s thread before the first ping, then
    // belongs to the handlers, which run one at a time; 0 [release] tells serve().
    GlobalPointer<Station> far_;
    std::vector<std::byte> payload_;
    std::atomic<std::uint64_t> game_; // no other station has the same numbers
    std::atomic<std::uint32_t> left_{0};
    std::atomic<bool> failed_{false}; // [set] after failure_, which is under mutex_
    std::string failure_;

    Bound<Station> bound_; // ends first: no handler runs after that
};

} // namespace plexus::tools::probe
