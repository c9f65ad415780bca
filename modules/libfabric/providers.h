// SPDX-License-Identifier: BSD-3-Clause
// Which providers of libfabric are there, and which of them a configuration means. Asking
// libfabric takes tens of milliseconds the first time in a process. @thread setup
#pragma once

#include "libfabric/options.h"

#include <memory>
#include <rdma/fabric.h>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::libfabric {

struct FreeInfo {
    void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

/// "verbs" of "verbs;ofi_rxm": without what lies between it and libfabric.
std::string_view core_of(std::string_view provider) noexcept;
/// True if the word of a configuration means this provider: "tcp" means "tcp;ofi_rxm" too.
bool means(std::string_view word, std::string_view provider) noexcept;
/// Every provider that this libfabric has, whether a device for it is there or not.
std::vector<std::string> provider_names();

struct Offers {
    std::vector<Info> chosen;         ///< best first; one for each core_of() of a provider
    std::vector<std::string> missing; ///< sentences: providers of the configuration that are not usable
    std::vector<std::string> unknown; ///< sentences: words that mean no provider
};
Offers offers(const Options& options);

} // namespace plexus::libfabric
