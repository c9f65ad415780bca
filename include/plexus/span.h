// SPDX-License-Identifier: BSD-3-Clause
// Bulk memory: a span of some context's memory that others may read and write without a
// handler of its owner taking part.
#pragma once

#include "plexus/bound.h"

namespace plexus {

namespace detail {
PLEXUS_API void bulk_get(Route& route, const Target& target, std::uint64_t offset, std::span<std::byte> into,
                         Deadline deadline, std::shared_ptr<CallState> state);
PLEXUS_API void bulk_put(Route& route, const Target& target, std::uint64_t offset,
                         std::span<const std::byte> from, bool in_order, Deadline deadline,
                         std::shared_ptr<CallState> state);
} // namespace detail

/// Names `size()` elements in another context (or this one). Transfers are in no order with each
/// other and with requests, but for put_then: wait for one before you start what depends on it.
template <detail::Element T>
class GlobalSpan : public detail::PointerBase {
  public:
    GlobalSpan() = default;
    GlobalSpan(const detail::Target& target, std::shared_ptr<detail::Route> route, std::uint64_t offset,
               std::uint64_t size)
      : PointerBase(target, std::move(route))
      , offset_(offset)
      , size_(size) {}

    std::uint64_t size() const noexcept { return size_; }

    /// A part of it. @error bad_argument past the end (thrown)
    GlobalSpan subspan(std::uint64_t offset, std::uint64_t count) const {
        if (offset > size_ || count > size_ - offset)
            throw Error(Status::bad_argument, "a part of a GlobalSpan goes past its end");
        GlobalSpan part(target(), route(), offset_ + offset, count);
        part.set_deadline(deadline());
        return part;
    }

    /// The same memory with a deadline, as GlobalPointer::with(): a transfer that is not over in time fails
    /// with deadline_exceeded, as soon as nobody touches the caller's memory any more.
    GlobalSpan with(Deadline deadline) const {
        GlobalSpan limited(*this);
        limited.set_deadline(deadline);
        return limited;
    }

    /// Copies far elements from `offset` on into `into`, which stays the caller's and must not
    /// be touched until the future is ready. @thread any
    Future<void> get(std::uint64_t offset, std::span<T> into) const {
        auto state = start(offset, into.size());
        detail::bulk_get(*route(), target(), (offset_ + offset) * sizeof(T), std::as_writable_bytes(into),
                         deadline(), state);
        return Future<void>(std::move(state));
    }

    /// Copies `from` over the far elements from `offset` on. Ready when they are in place;
    /// `from` must stay as it is until then. @thread any
    Future<void> put(std::uint64_t offset, std::span<const T> from) const { return put(offset, from, false); }

    /// The same, and then runs `request` on `whom`, an object of the same context: its handler
    /// sees the elements in place. @error bad_argument another context (thrown)
    template <class R, class O, class... P>
    Future<void> put_then(std::uint64_t offset, std::span<const T> from, GlobalPointer<O> whom,
                          const Request<R(O&, P...)>& request,
                          const std::type_identity_t<std::remove_cvref_t<P>>&... arguments) const {
        if (whom.context() != context())
            throw Error(Status::bad_argument, "put_then: the object is in another context than the memory");
        Future<void> landed = put(offset, from, true);
        GlobalPointer<O> same_way(whom.target(), route()); // runs after
        same_way.set_deadline(whom.deadline());
        same_way.send(request, arguments...);
        return landed;
    }

    template <class Archive>
    requires std::same_as<Archive, detail::OutputArchive>
    void save(Archive& out) const {
        write(out.writer());
        out(offset_, size_);
    }
    template <class Archive>
    requires std::same_as<Archive, detail::InputArchive>
    void load(Archive& in) {
        read(in.reader());
        in(offset_, size_);
    }

  private:
    Future<void> put(std::uint64_t offset, std::span<const T> from, bool in_order) const {
        auto state = start(offset, from.size());
        detail::bulk_put(*route(), target(), (offset_ + offset) * sizeof(T), std::as_bytes(from), in_order,
                         deadline(), state);
        return Future<void>(std::move(state));
    }
    std::shared_ptr<detail::TypedCall<void>> start(std::uint64_t offset, std::uint64_t count) const {
        if (!*this) throw Error(Status::dead_pointer, "a null GlobalSpan was used");
        if (offset > size_ || count > size_ - offset)
            throw Error(Status::bad_argument, "a transfer goes past the end of a GlobalSpan");
        return std::make_shared<detail::TypedCall<void>>(detail::core_of(*route()));
    }
    std::uint64_t offset_ = 0; // in elements, from the start of the bound memory
    std::uint64_t size_ = 0;
};

template <detail::Element T>
class [[nodiscard]] BoundSpan {
  public:
    BoundSpan() = default;
    BoundSpan(detail::Binding binding, std::span<T> memory)
      : binding_(std::move(binding))
      , memory_(memory) {}
    GlobalSpan<T> span() const { return {binding_.target(), binding_.route(), 0, memory_.size()}; }
    /// The elements themselves, here.
    std::span<T> local() const noexcept { return memory_; }
    /// As Bound::reset(): when it gives ok nobody reads or writes the memory any more: transfers that
    /// are under way end first. Inside an inline handler it gives would_deadlock if there are some. Memory
    /// that was allocated goes without waiting, when the last of them is over.
    Status reset() noexcept {
        memory_ = {};
        return binding_.release();
    }

  private:
    detail::Binding binding_;
    std::span<T> memory_;
};

} // namespace plexus
