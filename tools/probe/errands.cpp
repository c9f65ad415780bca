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
        std::unique_lock hold(mutex_);
        changed_.wait(hold, [&] { return !is_taken_ || is_closed_ || is_void(); });
        if (is_closed_) throw Error(Status::closed, kEnded);
        if (is_void()) throw Error(Status::timed_out, "it took too long");
        is_taken_ = true;
        is_done_ = false;
        refused_ = Status::ok;
        work_ = std::move(work);
        has_work_.store(true, std::memory_order_relaxed);
    }
    wake_();
}

void Errands::finish() {
    std::unique_lock hold(mutex_);
    if (!is_taken_) throw Error(Status::bad_argument, "nothing was begun that could be finished");
    changed_.wait(hold, [&] { return is_done_; });
    is_taken_ = false;
    const Status refused = refused_;
    const std::string refusal = refusal_;
    changed_.notify_all();
    hold.unlock();
    if (refused != Status::ok) throw Error(refused, refusal);
}

void Errands::look() {
    const std::lock_guard hold(mutex_);
    changed_.notify_all();
}

void Errands::close() {
    Work never;
    const std::lock_guard hold(mutex_);
    is_closed_ = true;
    if (is_taken_ && !is_done_) {
        never = std::move(work_);
        is_done_ = true;
        refused_ = Status::closed;
        refusal_ = kEnded;
    }
    changed_.notify_all();
}

void Errands::do_work() {
    if (!has_work_.exchange(false, std::memory_order_relaxed)) return;
    Work work;
    {
        const std::lock_guard hold(mutex_);
        work = std::move(work_);
    }
    Status refused = Status::ok;
    std::string refusal;
    try {
        work();
    } catch (const Error& error) {
        refused = error.status();
        refusal = error.what();
    } catch (const std::exception& error) { // no memory for messages of that size
        refused = Status::too_large;
        refusal = error.what();
    }
    const std::lock_guard hold(mutex_);
    is_done_ = true;
    refused_ = refused;
    refusal_ = std::move(refusal);
    changed_.notify_all();
}

} // namespace plexus::tools::probe
