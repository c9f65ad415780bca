// SPDX-License-Identifier: BSD-3-Clause
// Measures methods one after the other, each in processes of its own: one that crashes or
// hangs costs its own figures and nothing else.
#pragma once

#include "tools/info/order.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace plexus::tools {

/// A survey takes about a second, many where others use the processors; a method that needs so long
/// is stuck.
inline constexpr std::chrono::seconds kTrialLimit{30};

/// What to measure: its name, and the method list by which a trial has it and nothing else.
struct Subject {
    std::string method;
    std::string list;
};

/// `settings`: words for the command line of every trial. `says(method, at)` is called before
/// method number `at`, from 0 on. @error not_found, runtime_lost (thrown): no process can be made
std::vector<Measured> measure_each(const std::vector<Subject>& subjects,
                                   const std::vector<std::string>& settings,
                                   const std::function<void(const std::string&, std::size_t)>& says);

} // namespace plexus::tools
