// SPDX-License-Identifier: BSD-3-Clause
// Global pointers: the mobile name of an object in some context, and the way to it.
// A pointer may be sent inside any request, stored, compared and used by whoever received
// it; it carries the owner's descriptor table (Nexus, section 3.1).
#pragma once

#include "plexus/future.h"
#include "plexus/id.h"
#include "plexus/request.h"
#include "plexus/table.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace plexus {

class Context;

/// What to do when the first row of a table does not apply, or the one in use fails.
enum class Fallback : std::uint8_t { allow, warn, forbid };

struct Automatic {};
/// far.use(plexus::automatic): back to the first row that applies.
inline constexpr Automatic automatic{};

/// How long requests may take: far.with(plexus::deadline(2s)). Whole milliseconds, at least one.
struct Deadline {
    std::uint32_t milliseconds = 0; ///< 0: the context's limits.call_deadline

    bool operator==(const Deadline&) const = default;
};
template <class Rep, class Period>
constexpr Deadline deadline(std::chrono::duration<Rep, Period> time) {
    constexpr std::chrono::milliseconds kLongest{UINT32_MAX - 1}; // 49 days
    if (time >= kLongest) return {UINT32_MAX - 1};
    const auto whole = std::chrono::ceil<std::chrono::milliseconds>(time).count();
    return {static_cast<std::uint32_t>(std::max<std::int64_t>(1, whole))};
}
/// No limit, whatever limits.call_deadline says.
inline constexpr Deadline no_deadline{UINT32_MAX};

/// Marks one-way requests that may be lost: far.with(plexus::unreliable). They go by a method that loses
/// messages, such as udp, if the owner's table has one and it reaches the owner; else as any other.
struct Unreliable {
    bool newest_wins = false;
    bool operator==(const Unreliable&) const = default;
};
inline constexpr Unreliable unreliable{};
/// The same, and a request that is older than the newest of this context that has come for the same object
/// and request is dropped: for readings of which only the last counts.
inline constexpr Unreliable newest_wins{true};

/// What a policy function sees of one row of the table.
struct RowFacts {
    Descriptor descriptor;
    bool applies = false;
    std::string because;           ///< why not
    bool one_host = false;         ///< this method reaches contexts of this very host only
    std::uint64_t latency_ns = 0;  ///< one way, small message; estimate or measured
    std::uint64_t bandwidth = 0;   ///< bytes a second
    std::uint64_t queued = 0;      ///< bytes accepted and not yet out: the load
    std::uint64_t max_message = 0; ///< bytes; 0: no limit of its own
};
/// Chooses a row; nullopt: none. Called when a way is chosen, never per message.
using Policy = std::function<std::optional<std::size_t>(const std::vector<RowFacts>&)>;

namespace detail {

/// Whom a pointer names: 32 bytes, plain data.
struct Target {
    ContextId context;
    std::uint64_t key = 0; ///< capability: a pointer that was made up does not have it
    std::uint32_t handle = 0;
    std::uint32_t generation = 0;
    bool operator==(const Target&) const = default;
};

PLEXUS_API void send(Route& route, const Target& target, const RequestInfo& request, Writer& frame);
PLEXUS_API Status try_send(Route& route, const Target& target, const RequestInfo& request, Writer& frame);
/// The same with a deadline; the frame leaves kCallHeader bytes. @error timed_out. Throws nothing of its own.
PLEXUS_API Status send_before(Route& route, const Target& target, const RequestInfo& request, Writer& frame,
                              Deadline deadline, std::string* why);
/// The same, marked; the frame leaves kCallHeader bytes. Throws nothing of its own.
PLEXUS_API Status send_unreliable(Route& route, const Target& target, const RequestInfo& request,
                                  Writer& frame, Deadline deadline, Unreliable mark, std::string* why);
PLEXUS_API void call(Route& route, const Target& target, const RequestInfo& request, Writer& frame,
                     Deadline deadline, std::shared_ptr<CallState> state);
PLEXUS_API std::shared_ptr<Core> core_of(const Route& route) noexcept;
inline constexpr std::size_t kRequestHeader = 24;
inline constexpr std::size_t kCallHeader = 32;
inline constexpr const char* kNullPointer =
    "a null global pointer was used: assign it from bind(), lookup() or a request first";

/// All of a pointer that does not depend on the type of its object.
class PLEXUS_API PointerBase {
  public:
    PointerBase() = default;
    PointerBase(const Target& target, std::shared_ptr<Route> route) noexcept;

    /// False for a pointer that names nothing.
    explicit operator bool() const noexcept { return route_ != nullptr; }
    /// The context that owns the object.
    const ContextId& context() const noexcept { return target_.context; }
    /// Two pointers are equal if they name the same object, whatever way they use.
    bool operator==(const PointerBase& other) const noexcept { return target_ == other.target_; }

    // Each of the following throws Error; @thread any, on one pointer one at a time.

    /// The method in use, choosing one if none was yet. @error no_method
    std::string method() const;
    /// The pointer's own table: a copy.
    DescriptorTable table() const;
    /// Replaces it, for this pointer alone; the way is chosen anew.
    /// @error bad_argument a table that no context takes from another: a name or descriptor that is too long
    /// or none, a site or prescription that is none (thrown)
    void set_table(DescriptorTable table);

    /// From now on this method, with these parameters for its connection, and no other.
    /// Requests sent before arrive before those sent after. A method list ("shm, tcp")
    /// orders the table and keeps only what it names. @error no_method bad_config
    void use(std::string_view methods, const Parameters& parameters = {});
    /// Fixes methods and parameters as use() does, for whoever uses the pointer: they travel with it, and
    /// with every copy made from now on. Requests go by the first that applies to their sender, or by none:
    /// the error, and explain(), say why. The method need not apply here. Boundaries (`within`) and modules
    /// of the user's own configuration hold as they do for any pointer, so what a pointer prescribes can
    /// narrow them and never widen them; a parameter that a method takes only when it is opened is not taken,
    /// with a warning. use(), policies and set_table() of the pointer choose among what is prescribed;
    /// prescribing again narrows it. The owner's own pointers stay as they are.
    /// @error no_method the table, or what is prescribed already, has none of them; bad_config (thrown)
    void prescribe(std::string_view methods, const Parameters& parameters = {});
    /// From now on what the policy chooses.
    void use(Policy policy);
    void use(Automatic);
    /// Overrides the configuration's `fallback` for this pointer.
    void fallback(Fallback what);

    /// The deadline of what is sent and called on this pointer; see with().
    Deadline deadline() const noexcept { return deadline_; }
    void set_deadline(Deadline deadline) noexcept { deadline_ = deadline; }

    /// "shm: other host; tcp: applies (row 2)": what selection finds for every row now.
    std::string explain() const;
    /// The same as data.
    Choice choose() const;
    /// Enquiry: what is known of every row of the table.
    std::vector<RowFacts> enquire() const;

    /// The pointer as bytes with its whole table: to store it, or to carry it elsewhere.
    std::vector<std::byte> save() const;

    const Target& target() const noexcept { return target_; }
    const std::shared_ptr<Route>& route() const noexcept { return route_; }

  protected:
    void write(Writer& out) const;
    void read(Reader& in);

  private:
    Route& own_route();
    Target target_;
    std::shared_ptr<Route> route_;
    Deadline deadline_; // stays here: it does not travel with the pointer
};

/// What PointerBase::save() gave, usable from `here`. @error bad_archive (thrown)
PLEXUS_API PointerBase load_pointer(Context& here, std::span<const std::byte> bytes);

} // namespace detail

template <class T>
class UnreliablePointer;

template <class T>
class GlobalPointer : public detail::PointerBase {
  public:
    using PointerBase::PointerBase;

    /// A stored pointer, usable from `here`. @error bad_archive (thrown)
    static GlobalPointer load(Context& here, std::span<const std::byte> bytes) {
        const PointerBase pointer = detail::load_pointer(here, bytes);
        return {pointer.target(), pointer.route()};
    }

    /// The same pointer with a deadline, for one call or to be kept:
    ///
    ///     double t = far.with(plexus::deadline(2s)).call(probe, 3).get();
    ///
    /// A call whose answer is not there in time fails with deadline_exceeded; a send that finds no room
    /// in time throws timed_out. The deadline travels: the far side drops what is out of date before its
    /// handler runs, and says so.
    GlobalPointer with(Deadline deadline) const {
        GlobalPointer limited(*this);
        limited.set_deadline(deadline);
        return limited;
    }

    /// The same pointer for requests that may be lost, to be kept where many are sent. The pointer's deadline
    /// and preferences hold for them.
    UnreliablePointer<T> with(Unreliable mark) const { return UnreliablePointer<T>(*this, mark); }

    /// Sends one request, one way. Returns when the arguments may be reused: the request is
    /// then accepted for transport, the handler may not have run. Where there is no room the
    /// thread makes progress meanwhile; inside an inline handler the request is queued.
    /// @thread any
    /// @error  no_method, peer_lost, too_large, closed, again (a handler's queue is full), timed_out
    ///         (with a deadline); thrown
    template <class R, class... P>
    void send(const Request<R(T&, P...)>& request,
              const std::type_identity_t<std::remove_cvref_t<P>>&... arguments) const {
        check();
        if (deadline() != Deadline{}) [[unlikely]] {
            std::string why;
            const Status status = send_before(&why, request, arguments...);
            if (status != Status::ok) throw Error(status, why);
            return;
        }
        detail::Writer frame(detail::kRequestHeader);
        (frame.put(arguments), ...);
        detail::send(*route(), target(), request.info(), frame);
    }

    /// The same without exceptions.
    template <class R, class... P>
    [[nodiscard]] Status try_send(const Request<R(T&, P...)>& request,
                                  const std::type_identity_t<std::remove_cvref_t<P>>&... arguments) const {
        if (!*this) return Status::dead_pointer;
        if (deadline() != Deadline{}) [[unlikely]]
            return send_before(nullptr, request, arguments...);
        detail::Writer frame(detail::kRequestHeader);
        (frame.put(arguments), ...);
        return detail::try_send(*route(), target(), request.info(), frame);
    }

    /// Sends one request and gives a future for its result. Errors of the way there arrive in
    /// the future. Arguments as for send(). A deadline comes from with(), else from limits.call_deadline;
    /// Future::cancel() ends the call before. @thread any
    template <class R, class... P>
    Future<R> call(const Request<R(T&, P...)>& request,
                   const std::type_identity_t<std::remove_cvref_t<P>>&... arguments) const {
        check();
        auto state = std::make_shared<detail::TypedCall<R>>(detail::core_of(*route()));
        detail::Writer frame(detail::kCallHeader);
        (frame.put(arguments), ...);
        detail::call(*route(), target(), request.info(), frame, deadline(), state);
        return Future<R>(std::move(state));
    }

    template <class Archive>
    requires std::same_as<Archive, detail::OutputArchive>
    void save(Archive& out) const { write(out.writer()); }
    template <class Archive>
    requires std::same_as<Archive, detail::InputArchive>
    void load(Archive& in) {
        read(in.reader());
        in.check();
    }
    using PointerBase::save;

  private:
    template <class R, class... P>
    Status send_before(std::string* why, const Request<R(T&, P...)>& request,
                       const std::type_identity_t<std::remove_cvref_t<P>>&... arguments) const {
        detail::Writer frame(detail::kCallHeader);
        (frame.put(arguments), ...);
        return detail::send_before(*route(), target(), request.info(), frame, deadline(), why);
    }
    void check() const {
        if (!*this) throw Error(Status::dead_pointer, detail::kNullPointer);
    }
};

/// A pointer for one-way requests that may be lost, arrive in another order, or be dropped by a receiver that
/// is too slow; none arrives twice, and none that was not sent by a member of the job. What goes wrong with
/// one that has arrived is reported as of any other. GlobalPointer::with() makes it.
template <class T>
class UnreliablePointer {
  public:
    UnreliablePointer(GlobalPointer<T> pointer, Unreliable mark) noexcept
      : pointer_(std::move(pointer))
      , mark_(mark) {}

    const GlobalPointer<T>& pointer() const noexcept { return pointer_; }
    Unreliable mark() const noexcept { return mark_; }

    /// Sends one request, one way, and waits for nothing: without room it is dropped. The first of each
    /// request, those that carry global pointers, those that are larger than the path to the owner carries at
    /// once, and all while no unreliable method reaches the owner, or it is this context itself, go as
    /// GlobalPointer::send() sends them, which may wait and does not lose them: the method that carries them
    /// counts them among its fallbacks. One whose deadline passes meanwhile is dropped, which is no error.
    /// @thread any
    /// @error  too_large (more than the method carries by any path), and those of GlobalPointer::send() but
    ///         timed_out; thrown
    template <class R, class... P>
    void send(const Request<R(T&, P...)>& request,
              const std::type_identity_t<std::remove_cvref_t<P>>&... arguments) const {
        if (!pointer_) throw Error(Status::dead_pointer, detail::kNullPointer);
        std::string why; // allocates nothing while all goes well
        const Status status = send_marked(&why, request, arguments...);
        if (status != Status::ok) throw Error(status, why);
    }

    /// The same without exceptions.
    template <class R, class... P>
    [[nodiscard]] Status try_send(const Request<R(T&, P...)>& request,
                                  const std::type_identity_t<std::remove_cvref_t<P>>&... arguments) const {
        return send_marked(nullptr, request, arguments...);
    }

    /// A mistake: it does not compile.
    template <class R, class... P>
    Future<R> call(const Request<R(T&, P...)>&,
                   const std::type_identity_t<std::remove_cvref_t<P>>&...) const {
        static_assert(sizeof(Request<R(T&, P...)>) == 0,
                      "plexus: what may be lost has no answer: send() it, or call() by the pointer without "
                      "plexus::unreliable");
        return {};
    }

  private:
    template <class R, class... P>
    Status send_marked(std::string* why, const Request<R(T&, P...)>& request,
                       const std::type_identity_t<std::remove_cvref_t<P>>&... arguments) const {
        if (!pointer_) return Status::dead_pointer;
        detail::Writer frame(detail::kCallHeader);
        (frame.put(arguments), ...);
        return detail::send_unreliable(*pointer_.route(), pointer_.target(), request.info(), frame,
                                       pointer_.deadline(), mark_, why);
    }
    GlobalPointer<T> pointer_;
    Unreliable mark_;
};

} // namespace plexus
