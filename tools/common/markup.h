// SPDX-License-Identifier: BSD-3-Clause
// Parts of the pages and pictures that the tools write: quoted text, colours, templates. Pure. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace plexus::tools {

/// As text or attribute in XML and HTML. What is no UTF-8, or no character of XML, is replaced.
std::string in_xml(std::string_view text);

/// At most so many letters, at least two: both ends of a name tell hosts apart.
std::string shortened(std::string_view text, std::size_t letters);

/// JSON that stands inside a script of HTML: no name in it can end the script.
std::string in_script(std::string_view text);

/// `text` with the first `mark` replaced. The mark is there.
std::string replaced(std::string text, std::string_view mark, std::string_view by);

/// The colours that pages and pictures share, as properties of `element` in CSS: paper, ink, soft, line, box,
/// host, near, far. Light and dark as the viewer prefers; near and far differ for all eyes.
std::string palette(std::string_view element);

/// The tip of an arrow in SVG, to be named as `url(#name)`, in one of the colours.
std::string arrow_tip(std::string_view name, std::string_view colour);

} // namespace plexus::tools
