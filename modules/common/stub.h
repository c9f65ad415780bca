// SPDX-License-Identifier: BSD-3-Clause
// A module in two shared objects. The stub is what the loader opens in every process: the
// passport, and a function table that passes everything on. The implementation is the module proper,
// with a library under it that takes long to load: it is opened when a context wants it.
#pragma once

#include "plexus/module/module.h"
#include "plexus/module/table.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace plexus::module {

/// What an implementation shows of itself: plain data, read before any of its functions is called. The
/// stub passes every slot on unchecked, so both must be of one build; an implementation that an older
/// installation has left beside a newer stub is refused.
struct Impl {
    std::uint64_t magic;
    std::uint32_t abi_major;
    std::uint32_t abi_minor;
    std::uint32_t ops_size; ///< of the table that the implementation was built with
    const plexus_ops* ops;
};
inline constexpr std::uint64_t kImplMagic = 0x314c504d49584c50; // "PLXIMPL1"
inline constexpr char kImplSymbol[] = "plexus_module_impl";

/// The function table of an implementation with these abilities: opens `file`, which lies beside this
/// stub, once in a process. It stays open. Null: `why` has the reason. @thread any
const plexus_ops* open_impl(const char* file, std::uint32_t caps, std::string& why);

/// False, where one of these parameters is set or this machine has a device of a fabric.
bool nothing_to_reach(const plexus_host& host, std::initializer_list<const char*> parameters);

/// `Traits`: kImpl, the implementation's file; kCaps; refuses(host), which gives the reason if the module
/// has no use here, before anything is loaded.
template <class Traits>
class Stub {
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
    /// Passes a call on to the implementation.
    template <auto Slot>
    struct Pass;
    template <class Result, class... Args, Result (*plexus_ops::*Slot)(Args...)>
    struct Pass<Slot> {
        static Result call(Args... args) { return (impl().*Slot)(args...); }
    };

    static const plexus_ops& impl() noexcept {
        return *found.load(std::memory_order_acquire);
    } // pairs with [found]

    static std::int32_t open(const plexus_host* host, plexus_module** module) {
        std::string why = Traits::refuses(*host);
        if (why.empty() && found.load(std::memory_order_acquire) == nullptr)
            found.store(open_impl(Traits::kImpl, Traits::kCaps, why), std::memory_order_release); // [found]
        if (why.empty()) return impl().open(host, module);
        host->log(host->self, PLEXUS_ERROR, why.c_str());
        return PLEXUS_UNSUPPORTED;
    }

    // [found] set once the implementation's code and data are there.
    static inline std::atomic<const plexus_ops*> found{nullptr};
};

} // namespace plexus::module

/// In the implementation: what its stub finds.
#define PLEXUS_IMPL(table)                                                                                   \
    extern "C" PLEXUS_EXPORT const plexus::module::Impl plexus_module_impl;                                  \
    const plexus::module::Impl plexus_module_impl = {                                                        \
        .magic = plexus::module::kImplMagic,                                                                 \
        .abi_major = PLEXUS_ABI_MAJOR,                                                                       \
        .abi_minor = PLEXUS_ABI_MINOR,                                                                       \
        .ops_size = PLEXUS_OPS_SIZE,                                                                         \
        .ops = &(table),                                                                                     \
    }
