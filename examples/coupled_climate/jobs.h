// SPDX-License-Identifier: BSD-3-Clause
// The job that runs the model, or the two jobs that run one model each, at two sites. Two jobs meet in a
// directory that both reach, a forwarder's or one that a job serves itself, in whichever order they start:
// rank 0 of each publishes itself there, asks what the other job is, and copies the names of members between
// that directory and the one of its own job. Says which place of the whole model this context has. Model
// thread only, but for the handlers.
#pragma once

#include "layout.h"
#include "options.h"

#include <plexus/plexus.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace climate {

/// What a job tells the other one.
struct Introduction {
    std::uint32_t contexts = 0;
    std::string options; // agreed_text()
};
PLEXUS_FIELDS(Introduction, contexts, options)

/// What rank 0 tells the other contexts of its job.
struct Meeting {
    std::uint32_t other_contexts = 0;
    std::int32_t code = 0;
    std::string refusal; // why the model does not run; empty: it does
};
PLEXUS_FIELDS(Meeting, other_contexts, code, refusal)

/// The object of rank 0 that the other job and the contexts of its own job ask.
struct Party {
    Introduction own;
    Meeting met; // written before the own job finds the object
    std::atomic<bool> was_asked{false};
    std::atomic<std::uint64_t> fences{0}; // how many the other job has reached; orders nothing else
};

class Jobs {
  public:
    /// Meets the other job, where there is one: waits at most Options::wait, and says on standard error for
    /// what. Throws Ending, the same in every context of the job.
    Jobs(plexus::Context& here, const Options& options);
    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;

    bool two() const noexcept { return other_contexts_ > 0; }
    /// Of the whole model.
    int contexts() const noexcept { return own_contexts_ + other_contexts_; }
    int atmospheres() const noexcept { return atmospheres_; }
    /// This context's place in the whole model; 0 collects the results.
    int rank() const noexcept { return rank_; }

    /// Makes a name of the job of `from` known in the other job. Both jobs call it with the same names in the
    /// same order.
    template <class T>
    void carry(const std::string& name, Model from) {
        if (!directory_) return; // one job, or another rank than 0
        if (model_ == from)
            directory_->publish(name, here_.lookup<T>(name).get());
        else
            here_.publish(name, directory_->lookup<T>(name).get());
    }

    /// For a fence over both jobs, at rank 0 of each: tells the other job that this one has come, and says
    /// whether the other one has.
    void announce_fence();
    bool fence_reached() const noexcept { return party_.fences.load(std::memory_order_relaxed) >= fences_; }
    /// Prints once that every connection between the jobs stands, and after what time.
    void say_joined();

  private:
    class Patience;
    Meeting meet(const Options& options);
    void meet_other(const Options& options);
    void enter_directory(const Options& options);

    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    plexus::Context& here_;
    Model model_ = Model::atmosphere; // of two jobs, this one's
    int own_contexts_;
    int other_contexts_ = 0;
    int atmospheres_;
    int rank_;
    std::uint64_t fences_ = 0;
    Party party_;
    plexus::GlobalPointer<Party> other_;       // at rank 0
    std::optional<plexus::Context> directory_; // at rank 0: this process in the directory where the jobs meet
    plexus::Bound<Party> bound_;               // last: handlers end before what they use
};

/// The options that both jobs must have alike, in words.
std::string agreed_text(const Options& options);

} // namespace climate
