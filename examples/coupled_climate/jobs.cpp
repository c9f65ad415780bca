// SPDX-License-Identifier: BSD-3-Clause
#include "jobs.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <thread>

namespace climate {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr plexus::Request<Introduction(Party&)> introduce{"climate.introduce"};
constexpr plexus::Request<Meeting(Party&)> whom_met{"climate.whom_met"};
constexpr plexus::Request<void(Party&, std::uint64_t)> reach_fence{"climate.reach_fence"};

constexpr const char* kParty = "climate.party"; // in each job's own directory
constexpr auto kAskAgain = 50ms;
constexpr auto kLastAnswer = 5s; // for the other job to have asked as well
constexpr int kLongestLookup = 30;

const char* text_of(Model model) { return model == Model::atmosphere ? "atmosphere" : "ocean"; }

Model other_than(Model model) { return model == Model::atmosphere ? Model::ocean : Model::atmosphere; }

/// The name under which rank 0 of a model's job is found where the jobs meet.
std::string name_of(Model model) { return std::string("climate.") + text_of(model); }

/// Errors that pass when the other side starts, or when what is left of a former job has ended.
bool may_pass(plexus::Status status) {
    using plexus::Status;
    constexpr Status passing[] = {Status::not_found, Status::timed_out,  Status::deadline_exceeded,
                                  Status::busy,      Status::peer_lost,  Status::closed,
                                  Status::no_method, Status::no_handler, Status::dead_pointer};
    return std::ranges::find(passing, status) != std::end(passing);
}

std::string setting(const plexus::Context& here, const std::string& key) {
    for (const plexus::SettingReport& each : here.settings())
        if (each.key == key) return each.value;
    return {};
}

} // namespace

/// When waiting ends, and what is said meanwhile: each thing once, and nothing in the first second.
class Jobs::Patience {
  public:
    Patience(int seconds, bool speaks)
      : end_(Clock::now() + std::chrono::seconds(seconds))
      , seconds_(seconds)
      , speaks_(speaks) {}

    std::string awaited; ///< "the ocean's job at plexus://..."

    /// For one step, after which what was found is looked at again.
    plexus::Deadline step() const {
        return plexus::deadline(std::clamp<Clock::duration>(end_ - Clock::now(), 1ms, 1s));
    }

    /// Repeats `attempt` until it throws nothing that may pass. Throws Ending when time is over.
    template <class Attempt>
    auto repeat(Attempt&& attempt) {
        for (;;) {
            try {
                return attempt();
            } catch (const plexus::Error& error) {
                if (!may_pass(error.status())) throw;
                if (Clock::now() >= end_)
                    throw Ending{1, "waited " + std::to_string(seconds_) + " s for " + awaited + ": " +
                                        error.what() + "; --wait SECONDS waits longer"};
            }
            if (speaks_ && awaited != said_ && Clock::now() > start_ + 1s) {
                std::fprintf(stderr, "coupled_climate: waits for %s, %d s at most\n", awaited.c_str(),
                             seconds_);
                said_ = awaited;
            }
            std::this_thread::sleep_for(kAskAgain);
        }
    }

  private:
    const Clock::time_point start_ = Clock::now();
    const Clock::time_point end_;
    const int seconds_;
    const bool speaks_;
    std::string said_;
};

Jobs::Jobs(plexus::Context& here, const Options& options)
  : here_(here)
  , own_contexts_(static_cast<int>(here.size()))
  , atmospheres_(options.atmospheres)
  , rank_(static_cast<int>(here.rank())) {
    if (options.sites.empty()) return;
    model_ = options.model;
    here.on(introduce, [](Party& party) {
        party.was_asked.store(true, std::memory_order_relaxed); // a flag; it orders nothing
        return party.own;
    });
    here.on(whom_met, [](Party& party) { return party.met; });
    here.on(reach_fence, [](Party& party, std::uint64_t number) {
        party.fences.store(number, std::memory_order_relaxed); // [fence_reached()]
    });

    const Meeting met = meet(options);
    if (!met.refusal.empty()) {
        here.fence().get(); // the object of rank 0 stays until all have asked it
        throw Ending{met.code, met.refusal};
    }
    other_contexts_ = static_cast<int>(met.other_contexts);
    atmospheres_ = model_ == Model::atmosphere ? own_contexts_ : other_contexts_;
    if (model_ == Model::ocean) rank_ += atmospheres_;
}

Meeting Jobs::meet(const Options& options) {
    if (here_.rank() != 0) { // rank 0 ends first, whatever it ends with
        Patience patience(options.wait + kLongestLookup, false);
        patience.awaited = "word from rank 0 of this job";
        return patience.repeat(
            [&] { return here_.lookup<Party>(kParty, patience.step()).get().call(whom_met).get(); });
    }
    party_.own = {here_.size(), agreed_text(options)};
    bound_ = here_.bind(party_);
    try {
        meet_other(options);
    } catch (const Ending& ending) {
        party_.met.code = ending.code;
        party_.met.refusal = ending.text;
    } catch (const plexus::Error& error) {
        party_.met.code = 1;
        party_.met.refusal = error.what();
    }
    here_.publish(kParty, bound_.pointer());
    return party_.met;
}

/// Rank 0: finds the other job's rank 0, and agrees with it.
void Jobs::meet_other(const Options& options) {
    const std::string here = std::string(text_of(model_)) + "'s job";
    const std::string there = std::string("the ") + text_of(other_than(model_)) + "'s job";
    Patience patience(options.wait, true);
    const Introduction other = patience.repeat([&] {
        try {
            if (!directory_) {
                patience.awaited = options.serve ? "a free port: " + options.sites
                                                 : "somebody who listens at " + options.sites;
                enter_directory(options);
                patience.awaited = "the name of the " + here + " at " + options.sites;
                directory_->publish(name_of(model_), bound_.pointer());
            }
            patience.awaited = there + " at " + options.sites;
            const auto found = directory_->lookup<Party>(name_of(other_than(model_)), patience.step()).get();
            other_ = plexus::GlobalPointer<Party>::load(here_, found.save());
            if (options.between != "auto") other_.use(options.between);
            return other_.call(introduce).get();
        } catch (const plexus::Error& error) {
            // The directory is gone, or somebody in it who has not been taken out yet.
            if (error.status() != plexus::Status::deadline_exceeded) directory_.reset();
            throw;
        }
    });
    // Whoever finds that the jobs don't fit leaves: not before the other one has heard why.
    const auto end = Clock::now() + kLastAnswer;
    here_.run_until([&] { return party_.was_asked.load(std::memory_order_relaxed) || Clock::now() > end; });
    if (other.options != party_.own.options)
        throw Ending{2, "both jobs need the same options: " + there + " has " + other.options +
                            "; this one " + party_.own.options};
    party_.met.other_contexts = other.contexts;
}

/// A second context of this process, for names alone: requests go by the first one.
void Jobs::enter_directory(const Options& options) {
    const std::string key_file = setting(here_, "job.key_file");
    if (key_file.empty())
        throw Ending{2, "two jobs need a key that both have: set job.key_file to the file with the key"};
    plexus::Options names;
    names.set = {{"job.key_file", key_file},
                 {"launcher", "none"},
                 {"methods", "local"},
                 {"forward.allow", "none"},
                 {"progress.thread", "false"},
                 {"counters", "false"},
                 {"progress.lookup_timeout", std::to_string(std::min(options.wait, kLongestLookup)) + " s"},
                 {"listen", options.serve ? options.sites : ""}};
    if (options.serve)
        directory_.emplace(std::move(names));
    else
        directory_.emplace(plexus::Context::attach(options.sites, std::move(names)));
}

void Jobs::announce_fence() {
    ++fences_;
    other_.call(reach_fence, fences_).get();
}

void Jobs::say_joined() {
    if (!two() || here_.rank() != 0 || fences_ != 1) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    std::printf("%-14s the %s's job with %d %s, after %.3f s\n", "joined", text_of(other_than(model_)),
                other_contexts_, other_contexts_ == 1 ? "context" : "contexts", seconds);
    std::fflush(stdout);
}

std::string agreed_text(const Options& options) {
    std::string text = "--grid " + std::to_string(options.grid.columns) + "x" +
                       std::to_string(options.grid.rows) + " --ratio " + std::to_string(options.ratio) +
                       " --steps " + std::to_string(options.steps) +
                       (options.image.empty() ? " --image none" : "");
    if (options.table) text += " --table --repetitions " + std::to_string(options.repetitions) + " of";
    for (const Experiment& each : options.experiments)
        text += std::string(options.table ? " (" : ", ") + each.name + (options.table ? ")" : "");
    return text;
}

} // namespace climate
