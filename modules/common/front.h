// SPDX-License-Identifier: BSD-3-Clause
// A module in two shared objects. The front is what the loader opens in every process: the
// passport, and a function table that passes everything on. The body is the module itself,
// with a library under it that takes long to load: it is opened when a context wants it.
#pragma once

#include "plexus/module/module.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace plexus::module {

/// What a body shows of itself: plain data, read before anything of the body is called. The front passes
/// every slot on without a question, so both must be of one build; a body that an older installation has
/// left beside a newer front is refused.
struct Body {
    std::uint64_t magic;
    std::uint32_t abi_major;
    std::uint32_t abi_minor;
    std::uint32_t ops_size; ///< of the table that the body was built with
    const plexus_ops* ops;
};
inline constexpr std::uint64_t kBodyMagic = 0x3159444f42584c50; // "PLXBODY1"
inline constexpr char kBodySymbol[] = "plexus_module_body";

/// The body's function table: opens `file`, which lies beside this front, once in a process.
/// It stays. Null: `why` says it. @thread any
const plexus_ops* open_body(const char* file, std::string& why);

/// False, where one of these parameters is set or this machine has a device of a fabric.
bool nothing_to_reach(const plexus_host& host, std::initializer_list<const char*> parameters);

/// `Traits`: kBody, the body's file; kCaps; refuses(host), which gives the reason, if the module has
/// no use here, before anything is loaded.
template <class Traits>
struct Front {
    static const plexus_ops& body() noexcept {
        return *found.load(std::memory_order_acquire);
    } // pairs with [found]

    static std::int32_t open(const plexus_host* host, plexus_module** module) {
        std::string why = Traits::refuses(*host);
        if (why.empty() && found.load(std::memory_order_acquire) == nullptr)
            found.store(open_body(Traits::kBody, why), std::memory_order_release); // [found]
        if (why.empty()) return body().open(host, module);
        host->log(host->self, PLEXUS_ERROR, why.c_str());
        return PLEXUS_UNSUPPORTED;
    }

    static constexpr plexus_ops kTable{
        .size = PLEXUS_OPS_SIZE,
        .caps = Traits::kCaps,
        .open = open,
        .close = [](plexus_module* m) { body().close(m); },
        .drain = [](plexus_module* m) { body().drain(m); },
        .destroy = [](plexus_module* m) { body().destroy(m); },
        .describe = [](plexus_module* m, plexus_text* out) { return body().describe(m, out); },
        .applies = [](plexus_module* m, plexus_view d,
                      plexus_text* why) { return body().applies(m, d, why); },
        .connect = [](plexus_module* m, plexus_view d, const plexus_id* peer, void* cookie,
                      plexus_link** link) { return body().connect(m, d, peer, cookie, link); },
        .disconnect = [](plexus_link* l) { body().disconnect(l); },
        .send = [](plexus_link* l, const plexus_view* pieces, std::uint32_t count,
                   void* token) { return body().send(l, pieces, count, token); },
        .poll = [](plexus_module* m, std::uint32_t budget) { return body().poll(m, budget); },
        .arm = [](plexus_module* m, std::uint64_t* sleep_ns) { return body().arm(m, sleep_ns); },
        .wait_fd = [](plexus_module* m) { return body().wait_fd(m); },
        .query = [](plexus_module* m, plexus_link* l, plexus_query what,
                    std::uint64_t* value) { return body().query(m, l, what, value); },
        .set = [](plexus_link* l, const char* key, const char* value,
                  plexus_text* why) { return body().set(l, key, value, why); },
        .describe_row =
            [](plexus_module* m, std::uint32_t row, plexus_text* label, plexus_text* descriptor) {
                return body().describe_row != nullptr ? body().describe_row(m, row, label, descriptor)
                                                      : std::int32_t{PLEXUS_UNSUPPORTED};
            },
        .row_of = [](plexus_link* l, std::uint32_t* row) { return body().row_of(l, row); },
        .expose =
            [](plexus_module* m, void** data, std::size_t size, plexus_text* key, plexus_memory** memory) {
                return body().expose != nullptr ? body().expose(m, data, size, key, memory)
                                                : std::int32_t{PLEXUS_UNSUPPORTED};
            },
        .withdraw = [](plexus_module* m, plexus_memory* memory) { body().withdraw(m, memory); },
        .attach =
            [](plexus_link* l, plexus_view key, plexus_remote** remote) {
                return body().attach != nullptr ? body().attach(l, key, remote)
                                                : std::int32_t{PLEXUS_UNSUPPORTED};
            },
        .detach = [](plexus_link* l, plexus_remote* remote) { body().detach(l, remote); },
        .get = [](plexus_link* l, plexus_remote* remote, std::uint64_t offset, void* into, std::size_t size,
                  void* token) { return body().get(l, remote, offset, into, size, token); },
        .put = [](plexus_link* l, plexus_remote* remote, std::uint64_t offset, const void* from,
                  std::size_t size, void* token) { return body().put(l, remote, offset, from, size, token); },
    };

    // [found] set once the body's code and data are there.
    static inline std::atomic<const plexus_ops*> found{nullptr};
};

} // namespace plexus::module

/// In the body: what its front finds.
#define PLEXUS_BODY(table)                                                                                   \
    extern "C" PLEXUS_EXPORT const plexus::module::Body plexus_module_body;                                  \
    const plexus::module::Body plexus_module_body = {                                                        \
        .magic = plexus::module::kBodyMagic,                                                                 \
        .abi_major = PLEXUS_ABI_MAJOR,                                                                       \
        .abi_minor = PLEXUS_ABI_MINOR,                                                                       \
        .ops_size = PLEXUS_OPS_SIZE,                                                                         \
        .ops = &(table),                                                                                     \
    }
