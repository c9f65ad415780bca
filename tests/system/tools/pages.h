// SPDX-License-Identifier: BSD-3-Clause
// Pages and pictures that tools write, tried in other programs where this machine has them. Test's thread.
#pragma once

#include "support/tmpdir.h"
#include "system/launcher/command.h"

#include <optional>
#include <string>

namespace plexus::testing {

std::string text_of(const std::string& path);

/// Everything that a browser would fetch from elsewhere has a word that this checks for.
void check_alone(std::string text);

bool is_there(const std::string& program);

/// Runs any program, bounded and cleaned up after, as a job of one.
std::string output_of(const Words& program);

/// The name of the root of an XML file, as a parser of Python's sees it.
std::string root_of_xml(const std::string& path);

/// A browser that runs here; some systems have a stand-in that does not.
std::optional<std::string> find_browser();

/// What the page is after its scripts ran.
std::string page_in_browser(const std::string& browser, const TmpDir& folder, const std::string& address);

} // namespace plexus::testing
