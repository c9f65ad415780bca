// SPDX-License-Identifier: BSD-3-Clause
// The part that every process loads: libfabric with all its providers takes a tenth of a second,
// and asking them once more.
#include "common/stub.h"

namespace plexus::libfabric {
namespace {

struct Traits {
    static constexpr const char* kImpl = "impl_libfabric.so";
    static constexpr std::uint32_t kCaps = PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE;
    static std::string refuses(const plexus_host& host) {
        if (!module::nothing_to_reach(host, {"provider", "domain"})) return {};
        return "this machine has no fabric that libfabric reaches; provider = \"tcp\" or \"shm\" would use "
               "it "
               "without";
    }
};

} // namespace

extern const plexus_ops kOps;
const plexus_ops kOps = module::Stub<Traits>::table();

} // namespace plexus::libfabric
