// SPDX-License-Identifier: BSD-3-Clause
// The local method in two parts, as modules with a heavy library are: this one is what the loader opens.
#include "common/stub.h"

namespace {

struct Traits {
    static constexpr const char* kImpl = "impl_in_two.so";
    static constexpr std::uint32_t kCaps = PLEXUS_CAP_SLEEP | PLEXUS_CAP_LOCAL;
    static std::string refuses(const plexus_host&) { return {}; }
};

constexpr plexus_ops kOps = plexus::module::Stub<Traits>::table();
constexpr plexus_parameter kParameters[] = {
    {"queue", "size", "1 MiB", "as local has it"},
    {"eager", "size", "16 KiB", "as local has it"},
};

} // namespace

PLEXUS_PASSPORT(in_two) = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "in_two",
    .help = "a method in two parts",
    .ops = &kOps,
    .parameters = kParameters,
    .parameter_count = std::size(kParameters),
    .parameter_size = sizeof(plexus_parameter),
};
