// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/directory.h"

#include "base/log.h"

namespace plexus::bootstrap {

Directory::~Directory() = default;

Result<void> check_name(std::string_view name) {
    if (!name.empty() && name.size() <= kLongestName) return {};
    return fail(Status::bad_argument, "a published name has 1 to {} bytes, not {}", kLongestName,
                name.size());
}

Result<void> check_entry(std::string_view name, std::span<const std::byte> value) {
    if (auto checked = check_name(name); !checked || value.size() <= kLongestValue) return checked;
    return fail(Status::too_large, "\"{}\" cannot be published: {} bytes are more than {}", name,
                value.size(), kLongestValue);
}

} // namespace plexus::bootstrap
