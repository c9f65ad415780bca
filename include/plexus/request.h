// SPDX-License-Identifier: BSD-3-Clause
// A request: a named procedure with a typed signature. Declared once, as a constant that
// both sides share; the name is its identity on the wire, the signature is checked there.
#pragma once

#include "plexus/archive.h"

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
    /// What the signature is the hash of: "f64(i32,seq<f64>)".
    std::string_view types;
    /// This process' small number for the name; 0 until first used. Whoever reads a
    /// non-zero value needs nothing else: the number alone is the message.
    mutable std::atomic<std::uint32_t> number{0};

    constexpr RequestInfo(std::string_view the_name, std::uint64_t the_signature,
                          std::string_view the_types = {})
      : name(the_name)
      , signature(the_signature)
      , types(the_types) {}
    RequestInfo(const RequestInfo&) = delete;
    RequestInfo& operator=(const RequestInfo&) = delete;
};

} // namespace detail

template <class Signature>
class Request;

/// `inline constexpr plexus::Request<double(Ocean&, int, int)> probe{"ocean.probe"};`
///
/// The first parameter is the object that the global pointer names. Parameters may be scalars,
/// enums, plain structs (trivially copyable aggregates), types whose fields are listed by
/// PLEXUS_FIELDS, types with cereal's serialize() and a PLEXUS_NAME, containers and other library
/// types of all these, global pointers, and contiguous ranges of plain elements (std::span,
/// std::vector, std::string, std::string_view; spans and string views arrive as views into the
/// receive buffer, valid while the handler runs). The result may be any of these but a view.
/// plexus/fields.h says how a type of your own is identified, and how it may grow. Names are at
/// most 255 bytes.
///
/// Both sides need the same result and parameters, in structure: a request that was declared with
/// others is refused with bad_signature.
template <class R, class T, class... P>
class Request<R(T&, P...)> {
  public:
    using Result = R;
    using Object = T;

    consteval explicit Request(std::string_view name)
      : info_(name, detail::Signature<R, P...>::hash(), detail::Signature<R, P...>::text()) {
        if (name.empty() || name.size() > 255) throw "a request's name has 1 to 255 bytes";
    }

    constexpr std::string_view name() const noexcept { return info_.name; }
    /// Result and parameters as they are compared: "f64(i32,seq<f64>)".
    constexpr std::string_view signature() const noexcept { return info_.types; }
    constexpr const detail::RequestInfo& info() const noexcept { return info_; }

  private:
    detail::RequestInfo info_;
};

/// Where a handler runs: on a pool thread, where it may block.
struct Threaded {};
inline constexpr Threaded threaded{};

} // namespace plexus
