// SPDX-License-Identifier: BSD-3-Clause
// Quotes text for XML, HTML and dot. Pure.
#pragma once

#include <string>
#include <string_view>

namespace plexus::tools::show {

/// As text or attribute in XML and HTML. What is no UTF-8, or no character of XML, is replaced.
std::string in_xml(std::string_view text);

/// At most so many letters, at least two: both ends of a name tell hosts apart.
std::string shortened(std::string_view text, std::size_t letters);

/// As a quoted text of the dot language.
std::string in_dot(std::string_view text);

} // namespace plexus::tools::show
