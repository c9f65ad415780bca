// SPDX-License-Identifier: BSD-3-Clause
// A context's part in a probe: it answers pings, and measures the way to another station when the coordinator
// asks. Sleeps while others measure. Knows nothing of maps.
#pragma once

#include "tools/benchmark/ping_pong.h"
#include "tools/probe/caller.h"
#include "tools/probe/errands.h"
#include "tools/probe/requests.h"

#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <vector>

namespace plexus::tools::probe {

class Station {
  public:
    /// The station takes the context's errors, and publishes itself in the job. It serves until `abandoned`
    /// becomes true and the context is woken, if nobody tells it to finish.
    Station(Context& here, const std::atomic<bool>& abandoned);
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;

    /// Until it is told to finish, or is abandoned. Once.
    /// @thread one, which is the one that measures
    void serve();

  private:
    /// Of one caller.
    class Answering {
      public:
        Answering(Context& here, GlobalPointer<Caller> caller)
          : answerer_{std::move(caller), {}}
          , bound_(here.bind(answerer_)) {}
        GlobalPointer<Answerer> pointer() const { return bound_.pointer(); }

      private:
        Answerer answerer_;
        Bound<Answerer> bound_; // ends first: no handler runs after that
    };

    void install();
    Readings have_measured(const GlobalPointer<Station>& partner, const Sizes& sizes, const Effort& effort);
    TrialTime have_tried(const GlobalPointer<Station>& partner, const Trial& trial);
    void start_load(const GlobalPointer<Station>& partner, std::uint64_t bytes, double limit_s);
    void make_load(const GlobalPointer<Answerer>& far, std::uint64_t bytes, double limit_s,
                   const std::function<bool()>& is_void, std::promise<void>& begun);
    bool is_over() const noexcept;
    TrialTime finish_load();
    GlobalPointer<Answerer> answerer_of(std::uint32_t rank, GlobalPointer<Caller> caller);
    GlobalPointer<Answerer> meet_answerer(const GlobalPointer<Station>& partner);
    void have_done(std::uint32_t abandons, Errands::Work work);
    std::vector<double> measure_size(const Effort& effort);
    double try_out(const Trial& trial);
    double gap(const Trial& trial);

    const std::atomic<bool>& abandoned_; // a flag that goes with nothing else
    benchmark::Participant end_;
    benchmark::Player player_;
    Caller caller_;
    GlobalPointer<benchmark::Echo> echo_;
    std::atomic<bool> finished_{false};
    std::atomic<bool> ending_load_{false};
    std::atomic<std::uint32_t> abandons_{0};                        // a number that goes with nothing else
    std::map<std::uint32_t, std::unique_ptr<Answering>> answering_; // by rank; handlers only
    Errands errands_;
    Bound<Station> bound_; // ends first: no handler runs after that
};

} // namespace plexus::tools::probe
