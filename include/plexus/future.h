// SPDX-License-Identifier: BSD-3-Clause
// The answer to a call, to come. Waiting for it makes progress: the waiting thread polls.
// co_await resumes on whichever thread made the progress, like an inline handler.
#pragma once

#include "plexus/archive.h"
#include "plexus/error.h"

#include <atomic>
#include <chrono>
#include <concepts>
#include <coroutine>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace plexus {

namespace detail {

class Core;

/// What a future and the runtime share. Completed once, by complete() or fail().
class PLEXUS_API CallState {
  public:
    explicit CallState(std::shared_ptr<Core> core) noexcept;
    virtual ~CallState();
    CallState(const CallState&) = delete;
    CallState& operator=(const CallState&) = delete;

    /// [done] in settle(): whoever sees true also sees the result.
    bool done() const noexcept { return waiter_.load(std::memory_order_acquire) == kDone; }
    void wait();
    bool wait_until(std::chrono::steady_clock::time_point deadline);
    void rethrow() const;
    Status status() const noexcept { return status_; }
    const std::string& why() const noexcept { return why_; }

    /// Runs `call(self)` once this is done: at once if it is already. One waiter at most.
    using Continuation = void (*)(void* self);
    void then(Continuation call, void* self);

    void complete(Reader& in) noexcept;
    void fail(Status status, std::string why) noexcept;
    Core& core() const noexcept { return *core_; }

  protected:
    /// Decodes the result.
    virtual void take(Reader& in) = 0;

  private:
    struct Waiter;
    static inline Waiter* const kDone = reinterpret_cast<Waiter*>(1);
    void settle() noexcept;

    std::shared_ptr<Core> core_;
    std::atomic<Waiter*> waiter_{nullptr};
    Status status_ = Status::ok;
    std::string why_;
};

template <class R>
class TypedCall final : public CallState {
  public:
    using CallState::CallState;
    std::optional<R> value;

  private:
    void take(Reader& in) override { value.emplace(in.get<R>()); }
};
template <>
class TypedCall<void> final : public CallState {
  public:
    using CallState::CallState;

  private:
    void take(Reader&) override {}
};

} // namespace detail

template <class R>
class [[nodiscard]] Future {
  public:
    Future() = default;
    explicit Future(std::shared_ptr<detail::TypedCall<R>> state) noexcept
      : state_(std::move(state)) {}

    bool valid() const noexcept { return state_ != nullptr; }
    bool ready() const noexcept { return state_->done(); }

    /// Makes progress until the answer is there. The future is empty afterwards.
    /// @thread any but inside an inline handler
    /// @error  what the far side or the way there said, as plexus::Error;
    ///         would_deadlock inside an inline handler
    R get() {
        const auto state = std::move(state_);
        state->wait();
        return finish(*state);
    }
    void wait() const { state_->wait(); }

    /// True if the answer came in time. @thread as get()
    template <class Rep, class Period>
    bool wait_for(std::chrono::duration<Rep, Period> time) const {
        return state_->wait_until(std::chrono::steady_clock::now() +
                                  std::chrono::duration_cast<std::chrono::nanoseconds>(time));
    }

    /// Calls `next(Future)` once, when the answer is there: on the thread that made the
    /// progress, or here if it is there already. It must not block. The future is empty
    /// afterwards.
    template <std::invocable<Future> Next>
    void then(Next next) {
        struct Node {
            Future future;
            Next next;
        };
        auto* const node = new Node{Future(state_), std::move(next)};
        const auto state = std::move(state_);
        state->then(
            [](void* self) {
                const std::unique_ptr<Node> owned(static_cast<Node*>(self));
                owned->next(std::move(owned->future));
            },
            node);
    }

    bool await_ready() const noexcept { return ready(); }
    void await_suspend(std::coroutine_handle<> caller) {
        state_->then([](void* frame) { std::coroutine_handle<>::from_address(frame).resume(); },
                     caller.address());
    }
    R await_resume() { return finish(*std::exchange(state_, nullptr)); }

  private:
    static R finish(detail::TypedCall<R>& state) {
        state.rethrow();
        if constexpr (!std::same_as<R, void>) return std::move(*state.value);
    }
    std::shared_ptr<detail::TypedCall<R>> state_;
};

} // namespace plexus
