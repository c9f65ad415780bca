// SPDX-License-Identifier: BSD-3-Clause
// The part that every process loads: UCX with all its transports takes a tenth of a second.
#include "common/stub.h"

namespace plexus::ucx {
namespace {

struct Traits {
    static constexpr const char* kImpl = "impl_ucx.so";
    static constexpr std::uint32_t kCaps = PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE | PLEXUS_CAP_REMOTE_MEMORY;
    static std::string refuses(const plexus_host& host) {
        if (!module::nothing_to_reach(host, {"tls", "net_devices", "env"})) return {};
        return "this machine has no fabric that UCX reaches; tls = \"tcp\" or \"shm\" would use it without";
    }
};

} // namespace

extern const plexus_ops kOps;
const plexus_ops kOps = module::Stub<Traits>::table();

} // namespace plexus::ucx
