// SPDX-License-Identifier: BSD-3-Clause
// A module as small as one can be. None of its functions may be called by the loader: each
// ends the process. The build makes variants with one thing wrong by the macros below.
#include "plexus/module/module.h"

#include <cstdlib>
#include <type_traits>

#if !defined(FIXTURE_MAGIC)
#define FIXTURE_MAGIC PLEXUS_ABI_MAGIC
#endif
#if !defined(FIXTURE_MAJOR)
#define FIXTURE_MAJOR PLEXUS_ABI_MAJOR
#endif
#if !defined(FIXTURE_MINOR)
#define FIXTURE_MINOR PLEXUS_ABI_MINOR
#endif
#if !defined(FIXTURE_CAPS)
#define FIXTURE_CAPS 0
#endif
#if !defined(FIXTURE_SEND)
#define FIXTURE_SEND fatal
#endif
#if !defined(FIXTURE_NAME)
#define FIXTURE_NAME "sound"
#endif
#if !defined(FIXTURE_KEY)
#define FIXTURE_KEY "depth"
#endif

namespace {

template <class... Args>
std::int32_t fatal(Args...) {
    std::abort();
}
template <class... Args>
void fatal_end(Args...) {
    std::abort();
}

template <class Result, class... Args>
constexpr void fill(Result (*&slot)(Args...)) {
    if constexpr (std::is_void_v<Result>) {
        slot = fatal_end;
    } else {
        slot = fatal;
    }
}

// What every module must have.
constexpr plexus_ops kOps = [] {
    plexus_ops ops{};
    ops.size = PLEXUS_OPS_SIZE;
    ops.caps = FIXTURE_CAPS;
#define PLEXUS_SLOT(name, demand)                                                                            \
    if ((demand) == PLEXUS_SLOT_ALWAYS) fill(ops.name);
    PLEXUS_OPS_SLOTS(PLEXUS_SLOT)
#undef PLEXUS_SLOT
    ops.send = FIXTURE_SEND;
    return ops;
}();
constexpr plexus_parameter kParameters[] = {{FIXTURE_KEY, "count", "16", "how deep"}};

} // namespace

extern "C" PLEXUS_EXPORT const struct plexus_passport plexus_passport;
const struct plexus_passport plexus_passport = {
    FIXTURE_MAGIC,
    FIXTURE_MAJOR,
    FIXTURE_MINOR,
    FIXTURE_NAME,
    "a fixture of the loader's tests",
    &kOps,
    kParameters,
    1,
    sizeof(plexus_parameter),
};
