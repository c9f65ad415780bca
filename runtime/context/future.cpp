// SPDX-License-Identifier: BSD-3-Clause
// The shared state of futures: settled once, with one waiter at most.
#include "plexus/future.h"

#include "context/core.h"

namespace plexus::detail {

struct CallState::Waiter {
    Continuation call;
    void* self;
};

CallState::CallState(std::shared_ptr<Core> core) noexcept
  : core_(std::move(core)) {}

CallState::~CallState() {
    // A waiter that was never called: its context ended first.
    if (Waiter* const waiter = waiter_.load(std::memory_order_relaxed); waiter != nullptr && waiter != kDone)
        delete waiter;
}

void CallState::wait() { wait_until(std::chrono::steady_clock::time_point::max()); }

bool CallState::wait_until(std::chrono::steady_clock::time_point deadline) {
    if (done()) return true;
    poll::Scheduler& scheduler = core_->scheduler();
    if (scheduler.inside_turn())
        throw Error(
            Status::would_deadlock,
            "an inline handler can't wait for an answer: it runs on the thread that would receive it. "
            "Register it as threaded, or use then() or co_await");
    const bool came = scheduler.wait_for_true([this] { return done(); }, deadline);
    if (!came && std::chrono::steady_clock::now() < deadline)
        throw Error(Status::closed, "the context was closed while a thread waited for an answer");
    return came;
}

void CallState::rethrow() const {
    if (!done()) throw Error(Status::again, "the answer is not there yet");
    if (status_ != Status::ok) throw Error(status_, why_);
}

void CallState::then(Continuation call, void* self) {
    auto waiter = std::make_unique<Waiter>(Waiter{call, self});
    Waiter* nobody = nullptr;
    // [then] release: settle() on another thread sees the waiter whole.
    if (waiter_.compare_exchange_strong(nobody, waiter.get(), std::memory_order_acq_rel)) {
        waiter.release();
        return;
    }
    if (nobody != kDone) throw Error(Status::bad_argument, "a future has one waiter at most");
    call(self);
}

void CallState::complete(Reader& in) noexcept {
    try {
        take(in);
        if (!in.ok()) {
            status_ = Status::bad_archive;
            why_ = "the answer is not what the signature says";
        }
    } catch (const std::exception& error) {
        status_ = Status::bad_archive;
        why_ = error.what();
    }
    settle();
}

void CallState::fail(Status status, std::string why) noexcept {
    status_ = status;
    why_ = std::move(why);
    settle();
}

void CallState::settle() noexcept {
    // [done] release: whoever sees kDone sees the result; acquire: pairs with [then].
    // Off the thread that polls, a waiter may sleep on what polls bring; it may drop this at once.
    const bool inside = core_ == nullptr || core_->scheduler().inside_turn();
    const std::shared_ptr<Core> core = inside ? nullptr : core_;
    Waiter* const waiter = waiter_.exchange(kDone, std::memory_order_acq_rel);
    if (waiter != nullptr && waiter != kDone) {
        const std::unique_ptr<Waiter> owned(waiter);
        owned->call(owned->self);
    }
    if (core != nullptr) core->scheduler().wake();
}

} // namespace plexus::detail
