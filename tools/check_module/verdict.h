// SPDX-License-Identifier: BSD-3-Clause
// Turns the ending of the helper program into a verdict on the module: the one place that knows the answers
// of tests/conformance/main.cpp. Pure functions.
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
    std::vector<std::string> because; ///< why the promise was skipped, or what happened instead
};

/// The name of the admitted module; nothing: the module was not admitted, and `why` says why.
std::optional<std::string> admitted(const Ending& ending, std::chrono::milliseconds limit, std::string& why);

/// The promises, one a line.
std::vector<Promise> promises_in(std::string_view listing);

/// The outcome of one promise.
Outcome outcome_of(const Ending& ending, std::chrono::milliseconds limit);

} // namespace plexus::tools
