// SPDX-License-Identifier: BSD-3-Clause
// The function table of a module that is written as two classes: one for what it has of a
// context, one for a link. Small C++ help for authors of modules; what the functions promise
// stands in abi.h.
#pragma once

#include "plexus/export.h"
#include "plexus/module/abi.h"

#include <memory>

namespace plexus::module {

/// A table whose functions are these members, with `caps` for its abilities:
///
///     static std::int32_t Module::make(const plexus_host&, std::unique_ptr<Module>& made);
///     void                Module::close();
///     void                Module::drain();
///     std::int32_t        Module::describe(plexus_text& out);
///     std::int32_t        Module::applies(plexus_view descriptor, plexus_text& why);
///     std::int32_t        Module::connect(plexus_view descriptor, const plexus_id& peer, void* cookie,
///                                         plexus_link** link);
///     std::int32_t        Module::poll(std::uint32_t budget);
///     std::int32_t        Module::arm(std::uint64_t& sleep_ns);
///     int                 Module::wait_fd();
///     std::int32_t        Module::query(Link* or null, plexus_query what, std::uint64_t& value);
///     std::int32_t        Link::send(const plexus_view* pieces, std::uint32_t count, void* token);
///     void                Link::disconnect();
///     std::int32_t        Link::set(const char* key, const char* value, plexus_text& why);
///
/// And where `caps` has PLEXUS_CAP_REMOTE_MEMORY, with a class Module::Memory and a class Link::Remote:
///
///     std::int32_t Module::expose(void*& data, std::size_t size, plexus_text& key, Memory*& memory);
///     void         Module::withdraw(Memory& memory);
///     std::int32_t Link::attach(plexus_view key, Remote*& remote);
///     void         Link::detach(Remote& remote);
///     std::int32_t Link::get(Remote& remote, std::uint64_t offset, void* into, std::size_t size,
///                            void* token);
///     std::int32_t Link::put(Remote& remote, std::uint64_t offset, const void* from, std::size_t size,
///                            void* token);
///
/// A module's handle is the address of its Module, a link's that of its Link. After `make`
/// has said PLEXUS_OK, `made` lives until the host destroys it. No member may throw.
template <class Module, class Link>
constexpr plexus_ops table_of(std::uint32_t caps) {
    using M = plexus_module;
    using L = plexus_link;
    plexus_ops ops = {
        .size = PLEXUS_OPS_SIZE,
        .caps = caps,
        .open =
            [](const plexus_host* host, M** out) {
                std::unique_ptr<Module> made;
                const std::int32_t status = Module::make(*host, made);
                if (status == PLEXUS_OK) *out = reinterpret_cast<M*>(made.release());
                return status;
            },
        .close = [](M* m) { reinterpret_cast<Module*>(m)->close(); },
        .drain = [](M* m) { reinterpret_cast<Module*>(m)->drain(); },
        .destroy = [](M* m) { const std::unique_ptr<Module> last(reinterpret_cast<Module*>(m)); },
        .describe = [](M* m, plexus_text* out) { return reinterpret_cast<Module*>(m)->describe(*out); },
        .applies = [](M* m, plexus_view descriptor,
                      plexus_text* why) { return reinterpret_cast<Module*>(m)->applies(descriptor, *why); },
        .connect =
            [](M* m, plexus_view descriptor, const plexus_id* peer, void* cookie, L** link) {
                return reinterpret_cast<Module*>(m)->connect(descriptor, *peer, cookie, link);
            },
        .disconnect = [](L* l) { reinterpret_cast<Link*>(l)->disconnect(); },
        .send = [](L* l, const plexus_view* pieces, std::uint32_t count,
                   void* token) { return reinterpret_cast<Link*>(l)->send(pieces, count, token); },
        .poll = [](M* m, std::uint32_t budget) { return reinterpret_cast<Module*>(m)->poll(budget); },
        .arm = [](M* m, std::uint64_t* sleep_ns) { return reinterpret_cast<Module*>(m)->arm(*sleep_ns); },
        .wait_fd = [](M* m) { return std::int32_t{reinterpret_cast<Module*>(m)->wait_fd()}; },
        .query =
            [](M* m, L* l, plexus_query what, std::uint64_t* value) {
                return reinterpret_cast<Module*>(m)->query(reinterpret_cast<Link*>(l), what, *value);
            },
        .set = [](L* l, const char* key, const char* value,
                  plexus_text* why) { return reinterpret_cast<Link*>(l)->set(key, value, *why); },
        .describe_row = nullptr,
        .row_of = nullptr,
        .expose = nullptr,
        .withdraw = nullptr,
        .attach = nullptr,
        .detach = nullptr,
        .get = nullptr,
        .put = nullptr,
    };
    if constexpr (requires { typename Module::Memory; }) {
        using Memory = typename Module::Memory;
        using Remote = typename Link::Remote;
        ops.expose = [](M* m, void** data, std::size_t size, plexus_text* key, plexus_memory** out) {
            Memory* memory = nullptr;
            const std::int32_t status = reinterpret_cast<Module*>(m)->expose(*data, size, *key, memory);
            *out = reinterpret_cast<plexus_memory*>(memory);
            return status;
        };
        ops.withdraw = [](M* m, plexus_memory* memory) {
            reinterpret_cast<Module*>(m)->withdraw(*reinterpret_cast<Memory*>(memory));
        };
        ops.attach = [](L* l, plexus_view key, plexus_remote** out) {
            Remote* remote = nullptr;
            const std::int32_t status = reinterpret_cast<Link*>(l)->attach(key, remote);
            *out = reinterpret_cast<plexus_remote*>(remote);
            return status;
        };
        ops.detach = [](L* l, plexus_remote* remote) {
            reinterpret_cast<Link*>(l)->detach(*reinterpret_cast<Remote*>(remote));
        };
        ops.get = [](L* l, plexus_remote* remote, std::uint64_t offset, void* into, std::size_t size,
                     void* token) {
            return reinterpret_cast<Link*>(l)->get(*reinterpret_cast<Remote*>(remote), offset, into, size,
                                                   token);
        };
        ops.put = [](L* l, plexus_remote* remote, std::uint64_t offset, const void* from, std::size_t size,
                     void* token) {
            return reinterpret_cast<Link*>(l)->put(*reinterpret_cast<Remote*>(remote), offset, from, size,
                                                   token);
        };
    }
    return ops;
}

/// The same for a module that has several rows:
///
///     std::int32_t        Module::describe_row(std::uint32_t row, plexus_text& label,
///                                              plexus_text& descriptor);
///     std::uint32_t       Link::row();
template <class Module, class Link>
constexpr plexus_ops table_with_rows_of(std::uint32_t caps) {
    plexus_ops table = table_of<Module, Link>(caps);
    table.describe_row = [](plexus_module* m, std::uint32_t row, plexus_text* label,
                            plexus_text* descriptor) {
        return reinterpret_cast<Module*>(m)->describe_row(row, *label, *descriptor);
    };
    table.row_of = [](plexus_link* l, std::uint32_t* row) {
        *row = reinterpret_cast<Link*>(l)->row();
        return std::int32_t{PLEXUS_OK};
    };
    return table;
}

} // namespace plexus::module
