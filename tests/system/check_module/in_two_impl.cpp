// SPDX-License-Identifier: BSD-3-Clause
// Second parts for in_two.cpp; the build says which one this is. One goes with it, the others are as
// another version of Plexus may have left them: nothing of them may be called.
#include "common/stub.h"
#include "local/module.h"

#if defined(IMPL_right)
PLEXUS_IMPL(plexus::local::kOps);
#elif defined(IMPL_bare_pointer) // before implementations had a version
extern "C" PLEXUS_EXPORT const plexus_ops* const plexus_module_impl;
const plexus_ops* const plexus_module_impl = nullptr;
#elif defined(IMPL_older_abi) || defined(IMPL_shorter_table)
extern "C" PLEXUS_EXPORT const plexus::module::Impl plexus_module_impl;
const plexus::module::Impl plexus_module_impl = {
    .magic = plexus::module::kImplMagic,
#if defined(IMPL_older_abi)
    .abi_major = 1,
    .abi_minor = 1,
#else
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
#endif
    .ops_size = PLEXUS_OPS_SIZE - sizeof(void*),
    .ops = nullptr,
};
#elif defined(IMPL_other_abilities) || defined(IMPL_hole)
namespace {
constexpr plexus_ops kOps = [] {
    plexus_ops ops{};
    ops.size = PLEXUS_OPS_SIZE;
#if defined(IMPL_hole)
    ops.caps = PLEXUS_CAP_SLEEP | PLEXUS_CAP_LOCAL; // those of the first part, without any function
#else
    ops.caps = PLEXUS_CAP_LOCAL;
#endif
    return ops;
}();
} // namespace
PLEXUS_IMPL(kOps);
#endif
