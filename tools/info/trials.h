// SPDX-License-Identifier: BSD-3-Clause
// Measures methods one after the other, each in processes of its own: a method that crashes or hangs costs
// only its own figures.
#pragma once

#include "tools/info/order.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace plexus::tools {

/// A survey takes about a second, and several if other programs use the processors; a method that needs this
/// long is stuck.
inline constexpr std::chrono::seconds kTrialLimit{30};

/// A method to measure: its name, and the method list with which a trial has this method only.
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
