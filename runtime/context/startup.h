// SPDX-License-Identifier: BSD-3-Clause
// How a context finds out what it is to be: its modules, its settings, and what these mean for each room.
// Functions without state.
#pragma once

#include "bootstrap/job.h"
#include "bootstrap/key.h"
#include "config/settings.h"
#include "loader/modules.h"
#include "method/list.h"
#include "plexus/forward.h"
#include "poll/scheduler.h"
#include "request/dispatcher.h"
#include "transport/endpoint.h"

#include <chrono>
#include <string>
#include <vector>

namespace plexus::detail {

/// Logs what was passed over, before anything can fail because of that. The filter of the log is checked, and
/// a bad one refused, with all other values.
void warn_of(const config::Raw& raw);

/// Adds modules: those that are built in, and those of the folders, which it gives.
std::vector<std::string> find_modules(const config::Raw& raw, loader::Modules& modules);

/// `tcp?sndbuf=4MiB` in the list of methods sets that method's parameter. @error bad_config (thrown)
void imply_parameters(config::Raw& raw);

/// What these sources say to all modules that there are. @error bad_config
Result<config::Settings> check_settings(config::Raw raw, const loader::Modules& modules,
                                        const bootstrap::Job& job);

/// The methods to open, in order. @error bad_config (thrown)
std::vector<method::ListItem> wanted_methods(const config::Raw& raw, const config::Settings& settings,
                                             const loader::Modules& modules,
                                             const std::vector<std::string>& searched);

/// @error as where it comes from (thrown)
bootstrap::Key job_key(const config::Settings& settings, const bootstrap::Job& job,
                       std::chrono::steady_clock::time_point deadline);

/// Checks the boundaries of all methods, of those that are not opened, too: nobody is to believe that a rule
/// holds which is none. @error bad_config (thrown)
Place find_place(const config::Settings& settings, const loader::Modules& modules);

/// Others relay for this context in the clear as far as its own methods in the clear may reach, and no
/// further, unless somebody has said how far. @thread setup
void limit_relayed(const transport::Endpoint& endpoint, const config::Settings& settings);

poll::SchedulerOptions polling_options(const config::Settings& settings, const bootstrap::Job& job);
request::DispatcherOptions dispatching_options(const config::Settings& settings);
/// Without the key and the place.
transport::EndpointOptions carrying_options(const config::Settings& settings);
ForwardRules forward_rules(const config::Settings& settings);

} // namespace plexus::detail
