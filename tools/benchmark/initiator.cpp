// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/initiator.h"

#include <algorithm>

namespace plexus::tools::bench {

NearEnd::NearEnd(Context& here, const Wish& wish)
  : here_(here)
  , wish_(wish) {
    here_.on_error([this](const Error& error) {
        const std::lock_guard hold(mutex_);
        if (failure_.empty()) failure_ = error.what();
        failed_.store(true, std::memory_order_release); // [set] pairs with the loads in until() and check()
    });
    progress_.show("waiting for the other end");
    far_ = here_.lookup<Control>(kControlName).get();
}

NearEnd::~NearEnd() {
    progress_.clear();
    try {
        far_.call(finish).get();
    } catch (const Error&) {
        // It is gone: whoever measured has said why, and the launcher ends the job.
    }
    here_.on_error([](const Error&) {});
}

void NearEnd::until(const std::function<bool()>& done) {
    here_.run_until([&] { return done() || failed_.load(std::memory_order_acquire); });
    check();
}

void NearEnd::run_for(double seconds) {
    here_.run_for(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds)));
    check();
}

void NearEnd::check() {
    if (!failed_.load(std::memory_order_acquire)) return;
    const std::lock_guard hold(mutex_);
    throw Error(Status::message_lost, failure_);
}

void NearEnd::skip_poll(const std::string& method, SkipPoll turns) {
    here_.skip_poll(method, turns);
    far_.call(set_skip_poll, method, turns.value_or(0)).get();
}

void NearEnd::confine(const std::string& method, bool confined) {
    here_.confine(method, confined);
    far_.call(set_confined, method, confined).get();
}

SkipPoll NearEnd::skip_poll_of(const std::string& method) const {
    for (const LaneReport& lane : here_.lanes())
        if (means_row(lane.method, method) && !lane.automatic) return lane.skip_poll;
    return {};
}

std::uint64_t warm_up(const Wish& wish, std::uint64_t smallest,
                      const std::function<double(std::uint64_t)>& run) {
    run(smallest); // opens connections, meets page faults
    if (wish.iterations != 0) {
        run(std::max<std::uint64_t>(wish.iterations / 10, 1));
        return wish.iterations;
    }
    std::uint64_t times = smallest;
    double each = run(times) / static_cast<double>(times);
    for (double taken = 0; taken < wish.round_seconds() / 10;) {
        taken = run(times *= 4);
        each = std::min(each, taken / static_cast<double>(times)); // one that was disturbed says nothing
    }
    return std::max(static_cast<std::uint64_t>(wish.round_seconds() / each), smallest);
}

} // namespace plexus::tools::bench
