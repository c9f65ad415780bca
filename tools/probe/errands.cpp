// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/errands.h"

#include <exception>
#include <utility>

namespace plexus::tools::probe {
namespace {

constexpr char kEnded[] = "the probe has ended";

} // namespace

void Errands::begin(Work work, const std::function<bool()>& is_void) {
    {
        const Lock hold(mutex_);
        while (is_taken_ && !is_closed_ && !is_void()) changed_.wait(mutex_);
        if (is_closed_) throw Error(Status::closed, kEnded);
        if (is_void()) throw Error(Status::timed_out, "it took too long");
        is_taken_ = true;
        is_done_ = false;
        work_ = std::move(work);
        has_work_.store(true, std::memory_order_relaxed);
    }
    wake_();
}

void Errands::finish() {
    Outcome outcome;
    {
        const Lock hold(mutex_);
        if (!is_taken_) throw Error(Status::bad_argument, "nothing was begun that could be finished");
        while (!is_done_) changed_.wait(mutex_);
        is_taken_ = false;
        outcome = std::move(outcome_);
        changed_.notify_all();
    }
    if (outcome.status != Status::ok) throw Error(outcome.status, outcome.why);
}

void Errands::look() {
    const Lock hold(mutex_);
    changed_.notify_all();
}

void Errands::close() {
    Work never;
    const Lock hold(mutex_);
    is_closed_ = true;
    if (is_taken_ && !is_done_) {
        never = std::move(work_);
        is_done_ = true;
        outcome_ = {Status::closed, kEnded};
    }
    changed_.notify_all();
}

void Errands::do_work() {
    if (!has_work_.exchange(false, std::memory_order_relaxed)) return;
    Work work;
    {
        const Lock hold(mutex_);
        work = std::move(work_);
    }
    Outcome outcome;
    try {
        work();
    } catch (const Error& error) {
        outcome = {error.status(), error.what()};
    } catch (const std::exception& error) { // no memory for messages of that size
        outcome = {Status::too_large, error.what()};
    }
    const Lock hold(mutex_);
    is_done_ = true;
    outcome_ = std::move(outcome);
    changed_.notify_all();
}

} // namespace plexus::tools::probe
