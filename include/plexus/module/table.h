// SPDX-License-Identifier: BSD-3-Clause
// The function table of a module that is written as two classes: one for its state of a context,
// one for a link. Small C++ help for authors of modules; abi.h says what the functions promise.
#pragma once

#include "plexus/export.h"
#include "plexus/module/abi.h"

#include <cstddef>
#include <memory>

namespace plexus::module {

/// What PLEXUS_OPS_SLOTS says of one slot.
struct Slot {
    const char* name;
    std::size_t offset;   ///< in plexus_ops
    std::uint32_t demand; ///< PLEXUS_SLOT_ALWAYS, PLEXUS_SLOT_OPTIONAL or an ability
};

#define PLEXUS_SLOT(name, demand) {#name, offsetof(plexus_ops, name), demand},
inline constexpr Slot kSlots[] = {PLEXUS_OPS_SLOTS(PLEXUS_SLOT)};
#undef PLEXUS_SLOT

/// Whether a module with these abilities must have a slot.
constexpr bool demanded(std::uint32_t demand, std::uint32_t caps) {
    return (demand & (caps | PLEXUS_SLOT_ALWAYS)) != 0;
}

/// Whether a table with these abilities has a function in a slot.
constexpr bool has_function(std::uint32_t demand, std::uint32_t caps) {
    return demand == PLEXUS_SLOT_OPTIONAL || demanded(demand, caps);
}

namespace detail {

constexpr bool list_is_struct() {
    std::size_t at = 2 * sizeof(std::uint32_t);
    for (const Slot& slot : kSlots) {
        if (slot.offset != at) return false;
        at += sizeof(void (*)());
    }
    return at == sizeof(plexus_ops);
}
static_assert(list_is_struct(), "PLEXUS_OPS_SLOTS lists every slot of plexus_ops, in its order");

/// The slots over the members of the two classes. A slot of the list that has no function here does not
/// compile; a function whose ability is not claimed is never instantiated.
template <class Module, class Link>
struct Slots {
    using M = plexus_module;
    using L = plexus_link;
    static Module& of(M* m) { return *reinterpret_cast<Module*>(m); }
    static Link& of(L* l) { return *reinterpret_cast<Link*>(l); }
    static auto& of(plexus_memory_region* r) { return *reinterpret_cast<typename Module::MemoryRegion*>(r); }
    static auto& of(plexus_remote_key* k) { return *reinterpret_cast<typename Link::RemoteKey*>(k); }

    static std::int32_t open(const plexus_host* host, M** out) {
        std::unique_ptr<Module> made;
        const std::int32_t status = Module::make(*host, made);
        if (status == PLEXUS_OK) *out = reinterpret_cast<M*>(made.release());
        return status;
    }
    static void close(M* m) { of(m).close(); }
    static void drain(M* m) { of(m).drain(); }
    static void destroy(M* m) { const std::unique_ptr<Module> last(&of(m)); }

    static std::int32_t describe(M* m, plexus_rows* rows) { return of(m).describe(*rows); }
    static std::int32_t applies(M* m, plexus_view descriptor, plexus_text* why) {
        return of(m).applies(descriptor, *why);
    }

    static std::int32_t connect(M* m, plexus_view descriptor, const plexus_id* peer, void* cookie, L** link) {
        return of(m).connect(descriptor, *peer, cookie, link);
    }
    static void disconnect(L* l) { of(l).disconnect(); }
    static std::int32_t set(L* l, const char* key, const char* value, plexus_text* why) {
        return of(l).set(key, value, *why);
    }
    static std::int32_t row_of(L* l, std::uint32_t* row) {
        *row = 0;
        if constexpr (requires { of(l).row(); }) *row = of(l).row();
        return PLEXUS_OK;
    }

    static std::int32_t send(L* l, const plexus_view* pieces, std::uint32_t count, void* token) {
        return of(l).send(pieces, count, token);
    }

    static std::int32_t poll(M* m, std::uint32_t budget) { return of(m).poll(budget); }
    static std::int32_t arm(M* m, std::uint64_t* sleep_ns) { return of(m).arm(*sleep_ns); }
    static std::int32_t wait_fd(M* m) { return of(m).wait_fd(); }

    static std::int32_t query(M* m, L* l, plexus_query what, std::uint64_t* value) {
        return of(m).query(reinterpret_cast<Link*>(l), what, *value);
    }

    static std::int32_t register_memory(M* m, void** data, std::size_t size, plexus_text* key,
                                        plexus_memory_region** out) {
        typename Module::MemoryRegion* region = nullptr;
        const std::int32_t status = of(m).register_memory(*data, size, *key, region);
        *out = reinterpret_cast<plexus_memory_region*>(region);
        return status;
    }
    static void deregister_memory(M* m, plexus_memory_region* region) { of(m).deregister_memory(of(region)); }
    static std::int32_t attach(L* l, plexus_view key, plexus_remote_key** out) {
        typename Link::RemoteKey* remote = nullptr;
        const std::int32_t status = of(l).attach(key, remote);
        *out = reinterpret_cast<plexus_remote_key*>(remote);
        return status;
    }
    static void detach(L* l, plexus_remote_key* remote) { of(l).detach(of(remote)); }
    static std::int32_t get(L* l, plexus_remote_key* remote, std::uint64_t offset, void* into,
                            std::size_t size, void* token) {
        return of(l).get(of(remote), offset, into, size, token);
    }
    static std::int32_t put(L* l, plexus_remote_key* remote, std::uint64_t offset, const void* from,
                            std::size_t size, void* token) {
        return of(l).put(of(remote), offset, from, size, token);
    }

    static std::int32_t check_claim(L* l, plexus_claim what, const char* said, plexus_text* why) {
        if constexpr (requires { of(l).check_claim(what, said, *why); })
            return of(l).check_claim(what, said, *why);
        return PLEXUS_OK;
    }
};

} // namespace detail

/// A table whose functions are these members, with `Caps` for its abilities:
///
///     static std::int32_t Module::make(const plexus_host&, std::unique_ptr<Module>& made);
///     void                Module::close();
///     void                Module::drain();
///     std::int32_t        Module::describe(plexus_rows& rows);
///     std::int32_t        Module::applies(plexus_view descriptor, plexus_text& why);
///     std::int32_t        Module::connect(plexus_view descriptor, const plexus_id& peer, void* cookie,
///                                         plexus_link** link);
///     void                Link::disconnect();
///     std::int32_t        Link::set(const char* key, const char* value, plexus_text& why);
///     std::int32_t        Link::send(const plexus_view* pieces, std::uint32_t count, void* token);
///     std::int32_t        Module::poll(std::uint32_t budget);
///     std::int32_t        Module::query(Link* or null, plexus_query what, std::uint64_t& value);
///
/// For a module that describes several rows:
///
///     std::uint32_t       Link::row();
///
/// With PLEXUS_CAP_SLEEP:
///
///     std::int32_t        Module::arm(std::uint64_t& sleep_ns);
///     int                 Module::wait_fd();
///
/// With PLEXUS_CAP_REMOTE_MEMORY, a class Module::MemoryRegion and a class Link::RemoteKey:
///
///     std::int32_t Module::register_memory(void*& data, std::size_t size, plexus_text& key,
///                                          MemoryRegion*& region);
///     void         Module::deregister_memory(MemoryRegion& region);
///     std::int32_t Link::attach(plexus_view key, RemoteKey*& remote);
///     void         Link::detach(RemoteKey& remote);
///     std::int32_t Link::get(RemoteKey& remote, std::uint64_t offset, void* into, std::size_t size,
///                            void* token);
///     std::int32_t Link::put(RemoteKey& remote, std::uint64_t offset, const void* from, std::size_t size,
///                            void* token);
///
/// A module's handle is the address of its Module, a link's that of its Link. After `make`
/// has said PLEXUS_OK, `made` lives until the host destroys it. No member may throw.
template <class Module, class Link, std::uint32_t Caps>
constexpr plexus_ops table_of() {
    plexus_ops ops{};
    ops.size = PLEXUS_OPS_SIZE;
    ops.caps = Caps;
#define PLEXUS_SLOT(name, demand)                                                                            \
    if constexpr (has_function(demand, Caps)) ops.name = detail::Slots<Module, Link>::name;
    PLEXUS_OPS_SLOTS(PLEXUS_SLOT)
#undef PLEXUS_SLOT
    return ops;
}

} // namespace plexus::module
