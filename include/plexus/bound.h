// SPDX-License-Identifier: BSD-3-Clause
// Objects that others may name. Binding is RAII: when a Bound ends, every pointer to its
// object is dead, and no handler runs on it any more.
#pragma once

#include "plexus/pointer.h"

#include <utility>

namespace plexus {

namespace request {
class Attached;
}

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
    void release() noexcept;

  private:
    Binding(std::shared_ptr<Core> core, void* object, std::size_t bytes, std::uint64_t type,
            std::shared_ptr<request::Attached> attached);
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

    /// Ends the binding now. Waits for a handler that runs on the object, unless called from
    /// that very handler. @thread any, one at a time
    void reset() noexcept { binding_.release(); }

  private:
    detail::Binding binding_;
};

} // namespace plexus
