// SPDX-License-Identifier: BSD-3-Clause
// Second parts for fronted.cpp; the build says which one this is. One goes with it, the others are as
// another version of Plexus may have left them: nothing of them may be called.
#include "common/front.h"
#include "local/module.h"

#if defined(BODY_right)
PLEXUS_BODY(plexus::local::kOps);
#elif defined(BODY_bare_pointer) // before bodies had a version
extern "C" PLEXUS_EXPORT const plexus_ops* const plexus_module_body;
const plexus_ops* const plexus_module_body = nullptr;
#elif defined(BODY_older_abi) || defined(BODY_shorter_table)
extern "C" PLEXUS_EXPORT const plexus::module::Body plexus_module_body;
const plexus::module::Body plexus_module_body = {
    .magic = plexus::module::kBodyMagic,
#if defined(BODY_older_abi)
    .abi_major = 1,
    .abi_minor = 1,
#else
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
#endif
    .ops_size = PLEXUS_OPS_SIZE - sizeof(void*),
    .ops = nullptr,
};
#endif
