// SPDX-License-Identifier: BSD-3-Clause
// What a verb of the `plexus` program is. A new verb is a folder whose code defines its function, a
// declaration here, and a line in main.cpp and in meson.build.
#pragma once

#include <string_view>

namespace plexus::tools {

/// Exit codes of every verb, unless a job's own code is passed on.
enum ExitCode : int {
    kOk = 0,
    kNo = 1,          ///< the answer is no
    kUsage = 2,       ///< the command line is wrong
    kEnvironment = 3, ///< a file, program, port or the like is missing
};

/// arguments[0] is "plexus <verb>". May throw: main prints what() behind that name.
using VerbFunction = int (*)(int count, char** arguments);

struct Verb {
    std::string_view name;
    std::string_view summary; ///< for the list of verbs: one line, no full stop
    VerbFunction run;
};

int run(int count, char** arguments);
int info(int count, char** arguments);
int explain(int count, char** arguments);
int bench_verb(int count, char** arguments);
int probe_verb(int count, char** arguments);
int bench_collective(int count, char** arguments); ///< `plexus bench collective`
int map_verb(int count, char** arguments);
int schedule_verb(int count, char** arguments);
int check_module(int count, char** arguments);
int lab_verb(int count, char** arguments);
int forward_verb(int count, char** arguments);
int top_verb(int count, char** arguments);

} // namespace plexus::tools
