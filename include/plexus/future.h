// SPDX-License-Identifier: BSD-3-Clause
// The answer to a call, to come. Waiting for it makes progress: the waiting thread polls.
// co_await resumes on whichever thread made the progress, like an inline handler. A coroutine that
// returns a Future outside of a handler belongs to no context: co_await it, or give it a then().
#pragma once

#include "plexus/archive.h"
#include "plexus/error.h"

#include <atomic>
#include <chrono>
#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
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
    /// The result is in place already.
    void succeed() noexcept { settle(); }
    Core& core() const noexcept { return *core_; }
    const std::shared_ptr<Core>& keep() const noexcept { return core_; }

    /// The call that this waits for, before it is sent.
    void belongs_to(std::uint64_t call, const void* peer) noexcept {
        call_ = call;
        peer_ = peer;
    }
    /// Lets this state be cancelled although no call belongs to it: whoever gets true from claim() ends it.
    void may_be_cancelled() noexcept { claim_.store(Claim::open, std::memory_order_relaxed); }
    /// True for the first caller only: that caller ends this state.
    bool claim() noexcept {
        Claim open = Claim::open; // alone is the message: settle() orders what goes with it
        return claim_.compare_exchange_strong(open, Claim::taken, std::memory_order_relaxed);
    }
    /// Ends this with Status::cancelled. False: it has ended, or it cannot be cancelled.
    bool cancel();

  protected:
    /// Decodes the result.
    virtual void take(Reader& in) = 0;

  private:
    struct Waiter;
    enum class Claim : std::uint8_t { none, open, taken };
    static inline Waiter* const kDone = reinterpret_cast<Waiter*>(1);
    void settle() noexcept;

    std::shared_ptr<Core> core_;
    std::atomic<Waiter*> waiter_{nullptr};
    Status status_ = Status::ok;
    std::atomic<Claim> claim_{Claim::none}; ///< of what is no call
    std::string why_;
    std::uint64_t call_ = 0;
    const void* peer_ = nullptr; ///< null: it belongs to no call
};

/// With a place for the result; completed here.
template <class R>
class ValueCall : public CallState {
  public:
    using CallState::CallState;
    std::optional<R> value;

  private:
    void take(Reader& in) override { in.spoil(); }
};
template <>
class ValueCall<void> : public CallState {
  public:
    using CallState::CallState;

  private:
    void take(Reader&) override {}
};

/// The same, completed by a frame.
template <class R>
class TypedCall final : public ValueCall<R> {
  public:
    using ValueCall<R>::ValueCall;

  private:
    void take(Reader& in) override { this->value.emplace(in.get<R>()); }
};
template <>
class TypedCall<void> final : public ValueCall<void> {
  public:
    using ValueCall<void>::ValueCall;
};

struct Nothing {};
/// What stands for a result where void can't.
template <class R>
using Held = std::conditional_t<std::is_void_v<R>, Nothing, R>;

/// The exception that is being handled, as an Error. Inside a catch clause.
inline Error current_error() {
    try {
        throw;
    } catch (const Error& error) { return error; } catch (const std::exception& error) {
        return {Status::handler_threw, error.what()};
    } catch (...) { return {Status::handler_threw, "something that is no std::exception was thrown"}; }
}

/// The context whose handler runs on this thread; null: none does.
PLEXUS_API std::shared_ptr<Core> core_of_handler() noexcept;

template <class R>
class Promise;

} // namespace detail

template <class R>
class [[nodiscard]] Future {
  public:
    /// A function that returns a Future may be a coroutine. It starts at once.
    using promise_type = detail::Promise<R>;

    Future() = default;
    explicit Future(std::shared_ptr<detail::ValueCall<R>> state) noexcept
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

    /// Ends the call, transfer, lookup or fence that this is the future of with Status::cancelled, also for
    /// whoever waits for it or has given a then(). An answer that still comes is dropped. The far side is
    /// told, and drops a request whose handler has not begun; the handler may run, or have run, all the
    /// same. If bytes of a transfer are moving at this moment, the future is ready as soon as nobody
    /// touches the caller's memory any more.
    /// False: it has ended already, or this is the future of a collective operation, a coroutine, when_all or
    /// when_any: nothing happens. @thread any
    bool cancel() const { return state_->cancel(); }

    /// Calls `next(Future)` once, when the answer is there: on the thread that made the
    /// progress, or here if it is there already. It must not block. What it throws is told to
    /// Context::on_error(). The future is empty afterwards.
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

    /// For the other headers of Plexus.
    const std::shared_ptr<detail::ValueCall<R>>& state() const noexcept { return state_; }

  private:
    static R finish(detail::ValueCall<R>& state) {
        state.rethrow();
        if constexpr (!std::same_as<R, void>) return std::move(*state.value);
    }
    std::shared_ptr<detail::ValueCall<R>> state_;
};

namespace detail {

/// What coroutines that return a Future have in common. The future is ready when the coroutine's
/// frame is gone: whoever waits for it may then end what the frame referred to.
template <class R>
class PromiseBase {
  public:
    Future<R> get_return_object() noexcept { return Future<R>(state_); }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    auto final_suspend() const noexcept {
        struct Final {
            bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<Promise<R>> self) const noexcept {
                const auto state = std::move(self.promise().state_);
                const std::optional<Error> error = std::move(self.promise().error_);
                self.destroy();
                error ? state->fail(error->status(), error->what()) : state->succeed();
            }
            void await_resume() const noexcept {}
        };
        return Final{};
    }
    void unhandled_exception() { error_ = current_error(); }

  protected:
    std::shared_ptr<ValueCall<R>> state_ = std::make_shared<ValueCall<R>>(core_of_handler());
    std::optional<Error> error_;
};

template <class R>
class Promise final : public PromiseBase<R> {
  public:
    template <class Value>
    requires std::convertible_to<Value&&, R>
    void return_value(Value&& value) { this->state_->value.emplace(std::forward<Value>(value)); }
};
template <>
class Promise<void> final : public PromiseBase<void> {
  public:
    void return_void() const noexcept {}
};

} // namespace detail

} // namespace plexus
