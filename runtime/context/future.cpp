// SPDX-License-Identifier: BSD-3-Clause
// The shared state of futures: settled once, with one waiter at most.
#include "plexus/future.h"

#include "context/core.h"

#include "base/log.h"

namespace plexus::detail {

struct CallState::Waiter {
    Continuation call;
    void* self;

    /// Runs the continuation. What the program throws there has no caller: on_error() hears it.
    void run(Core* core) const noexcept {
        Status status = Status::handler_threw;
        std::string why;
        try {
            return call(self);
        } catch (const Error& error) {
            status = error.status();
            why = error.what();
        } catch (const std::exception& error) { why = error.what(); } catch (...) {
            why = "something that is no std::exception";
        }
        why = "a continuation of a future threw: " + why;
        if (core != nullptr && !core->forked()) {
            core->dispatcher().reporter().report_error(status, why);
        } else {
            log::error("context", "{}", why);
        }
    }
};

CallState::CallState(std::shared_ptr<Core> core) noexcept
  : core_(std::move(core)) {}

CallState::~CallState() {
    // A waiter that was never called: its context ended first.
    if (Waiter* const waiter = waiter_.load(std::memory_order_relaxed); waiter != nullptr && waiter != kDone)
        delete waiter;
}

bool CallState::cancel() {
    if (peer_ != nullptr)
        return core_->dispatcher().client().endings().cancel(call_,
                                                             static_cast<const transport::Peer*>(peer_));
    if (!claim()) return false;
    fail(Status::cancelled, "it was cancelled");
    return true;
}

void CallState::wait() { wait_until(std::chrono::steady_clock::time_point::max()); }

bool CallState::wait_until(std::chrono::steady_clock::time_point deadline) {
    if (done()) return true;
    if (core_ == nullptr)
        throw Error(Status::would_deadlock, "a coroutine's future that belongs to no context can't be waited "
                                            "for: co_await it, or give it a then()");
    poll::Scheduler& scheduler = core_->scheduler();
    if (scheduler.inside_turn())
        throw Error(
            Status::would_deadlock,
            "an inline handler can't wait for an answer: it runs on the thread that would receive it. "
            "Register it as threaded, or use then() or co_await");
    const request::Objects::Waiting waits; // seen by whoever unbinds the object of this handler
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
    waiter->run(core_.get());
}

void CallState::complete(Reader& in) noexcept {
    try {
        take(in);
        if (!in.ok() || in.left() > 0) {
            status_ = Status::bad_archive;
            why_ = "the answer is not what the signature says";
        }
    } catch (const std::exception& error) {
        status_ = Status::bad_archive;
        why_ = error.what();
    } catch (...) {
        status_ = Status::bad_archive;
        why_ = "what reads the answer's type threw something that is no std::exception";
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
    Core* const reports = core_.get(); // stays: it is `core`, or this thread is inside its turn
    Waiter* const waiter = waiter_.exchange(kDone, std::memory_order_acq_rel);
    if (waiter != nullptr && waiter != kDone) {
        const std::unique_ptr<Waiter> owned(waiter);
        owned->run(reports);
    }
    if (core != nullptr) core->scheduler().wake();
}

} // namespace plexus::detail
