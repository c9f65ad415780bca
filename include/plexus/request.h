// SPDX-License-Identifier: BSD-3-Clause
// A request: a named procedure with a typed signature. Declared once, as a constant that
// both sides share; the name is its identity on the wire, the signature is checked there.
#pragma once

#include "plexus/wire_type.h"

#include <atomic>
#include <concepts>
#include <cstdint>
#include <string_view>

namespace plexus {

namespace detail {

/// What the runtime knows of a request.
struct RequestInfo {
    std::string_view name;
    std::uint64_t signature;
    /// This process' small number for the name; 0 until first used. Whoever reads a
    /// non-zero value needs nothing else: the number alone is the message.
    mutable std::atomic<std::uint32_t> number{0};

    constexpr RequestInfo(std::string_view the_name, std::uint64_t the_signature)
      : name(the_name)
      , signature(the_signature) {}
    RequestInfo(const RequestInfo&) = delete;
    RequestInfo& operator=(const RequestInfo&) = delete;
};

} // namespace detail

template <class Signature>
class Request;

/// `inline constexpr plexus::Request<double(Ocean&, int, int)> probe{"ocean.probe"};`
///
/// The first parameter is the object that the global pointer names. Parameters may be
/// scalars, enums, contiguous ranges of plain elements (std::span, std::vector,
/// std::string, std::string_view; spans and views arrive as views into the receive
/// buffer, valid while the handler runs), global pointers, and whatever cereal can
/// archive. The result may be any of these but a view. Names are at most 255 bytes.
template <class R, class T, class... P>
class Request<R(T&, P...)> {
  public:
    using Result = R;
    using Object = T;

    consteval explicit Request(std::string_view name)
      : info_(name, detail::signature_of<R, T, P...>()) {
        if (name.empty() || name.size() > 255) throw "a request's name has 1 to 255 bytes";
    }

    constexpr std::string_view name() const noexcept { return info_.name; }
    constexpr const detail::RequestInfo& info() const noexcept { return info_; }

  private:
    static_assert(
        !detail::Range<R> || !requires { requires detail::RangeOf<R>::kView; },
        "a request can't return a view: return a std::vector or std::string");
    detail::RequestInfo info_;
};

/// Where a handler runs: on a pool thread, where it may block.
struct Threaded {};
inline constexpr Threaded threaded{};

} // namespace plexus
