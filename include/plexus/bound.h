// SPDX-License-Identifier: BSD-3-Clause
// Objects that others may name. Binding is RAII: when a Bound ends, every pointer to its
// object is dead, and no handler runs on it any more: see reset() for the two exceptions.
#pragma once

#include "plexus/pointer.h"

#include <functional>
#include <utility>

namespace plexus {

namespace detail {

/// One entry of a context's table of objects.
class PLEXUS_API Binding {
  public:
    Binding() = default;
    Binding(std::shared_ptr<Core> core, void* object, std::size_t bytes, std::uint64_t type);
    /// Of `bytes` new ones at `memory`, all zero, that peers reach best. @error too_large (thrown)
    static Binding allocate(std::shared_ptr<Core> core, std::size_t bytes, std::uint64_t type, void*& memory);
    Binding(Binding&& other) noexcept = default;
    Binding& operator=(Binding&& other) noexcept;
    ~Binding();

    const Target& target() const noexcept { return target_; }
    std::shared_ptr<Route> route() const;
    Status release() noexcept;
    void release(std::function<void()> last);

  private:
    Binding(std::shared_ptr<Core> core, const Target& target);
    std::shared_ptr<Core> core_;
    Target target_;
};

} // namespace detail

template <class T>
class [[nodiscard]] Bound {
  public:
    Bound() = default;
    explicit Bound(detail::Binding binding)
      : binding_(std::move(binding)) {}

    /// A pointer to the object, for any number of users. @thread any
    GlobalPointer<T> pointer() const { return {binding_.target(), binding_.route()}; }

    /// Ends the binding now: every pointer to the object is dead, requests that still wait for a thread
    /// are refused. Then waits for the handlers that run on the object, except one that this is called
    /// from. ~Bound does the same, and logs an error where this gives one. Whatever this gives, the
    /// binding has ended. @thread any, one at a time
    /// @error would_deadlock called inside an inline handler while a threaded handler or a coroutine on
    ///        the object waits for progress, which this thread would have to make: the object must stay
    ///        until that handler has ended. Use reset(last) there.
    /// @error timed_out a handler still runs on the object after progress.close_timeout
    Status reset() noexcept { return binding_.release(); }

    /// The same without waiting for threaded handlers and coroutines: `last` runs when nobody uses the
    /// object any more, on the thread that was the last to use it, or here. The place to destroy the object:
    ///
    ///     session->bound.reset([session] {}); // the handlers that still run keep the session
    void reset(std::function<void()> last) { binding_.release(std::move(last)); }

  private:
    detail::Binding binding_;
};

} // namespace plexus
