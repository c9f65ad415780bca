// SPDX-License-Identifier: BSD-3-Clause
// A module in two shared objects. The front is what the loader opens in every process: the
// passport, and a function table that passes everything on. The body is the module itself,
// with a library under it that takes long to load: it is opened when a context wants it.
#pragma once

#include "plexus/module/module.h"
#include "plexus/module/table.h"

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

/// The function table of a body with these abilities: opens `file`, which lies beside this front, once in
/// a process. It stays. Null: `why` says it. @thread any
const plexus_ops* open_body(const char* file, std::uint32_t caps, std::string& why);

/// False, where one of these parameters is set or this machine has a device of a fabric.
bool nothing_to_reach(const plexus_host& host, std::initializer_list<const char*> parameters);

/// `Traits`: kBody, the body's file; kCaps; refuses(host), which gives the reason, if the module has
/// no use here, before anything is loaded.
template <class Traits>
class Front {
  public:
    /// The table of the passport.
    static constexpr plexus_ops table() {
        plexus_ops ops{};
        ops.size = PLEXUS_OPS_SIZE;
        ops.caps = Traits::kCaps;
#define PLEXUS_SLOT(name, demand)                                                                            \
    if (has_function(demand, Traits::kCaps)) ops.name = Pass<&plexus_ops::name>::call;
        PLEXUS_OPS_SLOTS(PLEXUS_SLOT)
#undef PLEXUS_SLOT
        ops.open = open;
        return ops;
    }

  private:
    /// Passes a call on to the body.
    template <auto Slot>
    struct Pass;
    template <class Result, class... Args, Result (*plexus_ops::*Slot)(Args...)>
    struct Pass<Slot> {
        static Result call(Args... args) { return (body().*Slot)(args...); }
    };

    static const plexus_ops& body() noexcept {
        return *found.load(std::memory_order_acquire);
    } // pairs with [found]

    static std::int32_t open(const plexus_host* host, plexus_module** module) {
        std::string why = Traits::refuses(*host);
        if (why.empty() && found.load(std::memory_order_acquire) == nullptr)
            found.store(open_body(Traits::kBody, Traits::kCaps, why), std::memory_order_release); // [found]
        if (why.empty()) return body().open(host, module);
        host->log(host->self, PLEXUS_ERROR, why.c_str());
        return PLEXUS_UNSUPPORTED;
    }

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
