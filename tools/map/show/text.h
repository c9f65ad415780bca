// SPDX-License-Identifier: BSD-3-Clause
// Words inside languages that have characters of their own. Pure.
#pragma once

#include <string>
#include <string_view>

namespace plexus::tools::show {

/// As text or attribute in XML and HTML.
std::string in_xml(std::string_view text);

/// As a quoted text of the dot language.
std::string in_dot(std::string_view text);

} // namespace plexus::tools::show
