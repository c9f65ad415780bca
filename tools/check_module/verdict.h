// SPDX-License-Identifier: BSD-3-Clause
// From how the program of the promises ended to what is said about the module: the one place
// that knows that program's answers (tests/conformance/main.cpp). Pure functions.
#pragma once

#include "tools/common/trial.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::tools {

struct Promise {
    std::string group;    ///< "order"
    std::string sentence; ///< what is promised
};

enum class Kept { yes, no, skipped };

struct Outcome {
    Kept kept = Kept::no;
    std::vector<std::string> because; ///< why it was skipped, or what was seen instead
};

/// What the module that was admitted is called; nothing: it was not, and *why.
std::optional<std::string> admitted(const Ending& ending, std::chrono::milliseconds limit, std::string& why);

/// The promises, one a line.
std::vector<Promise> promises_in(std::string_view listing);

/// What one promise came to.
Outcome outcome_of(const Ending& ending, std::chrono::milliseconds limit);

} // namespace plexus::tools
