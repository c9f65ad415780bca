// SPDX-License-Identifier: BSD-3-Clause
// `plexus probe` on this machine, quick, with contexts in the place of hosts.
#pragma once

#include "plexus/eco/map.h"
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace plexus::testing {

/// `plexus probe FILE` by so many contexts, with more words: one round trip in a repetition
/// and two repetitions, unless they say how many.
inline Words probe_words(int contexts, const std::string& file, const Words& more = {}) {
    Words words{"probe", file, "-n", std::to_string(contexts), "--per-context"};
    words.insert(words.end(), more.begin(), more.end());
    if (std::find(more.begin(), more.end(), "--repetitions") == more.end())
        words.insert(words.end(), {"--trips", "1", "--repetitions", "2"});
    return words;
}

/// Runs it to a good end and gives its JSON.
inline std::string probed(int contexts, const std::string& file, Words more = {}) {
    more.emplace_back("--json");
    Command tool(probe_words(contexts, file, more));
    CHECK(tool.wait() == 0);
    INFO(tool.err());
    CHECK(is_json(tool.out()));
    CHECK(tool.left_nothing());
    return tool.out();
}

/// The program that is tested, for command lines in which it is not the first.
inline std::string tested_plexus() { return std::getenv("TESTED_PLEXUS"); }

/// -1: it is none of a job.
inline int rank_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    const std::string key = "PLEXUS_JOB_RANK=";
    const std::size_t at = all.find(key);
    return at == std::string::npos ? -1 : std::atoi(all.c_str() + at + key.size());
}

/// -1: there is none.
inline pid_t process_of(const Command& job, int rank) {
    for (const pid_t pid : job.ranks())
        if (rank_of(pid) == rank) return pid;
    return -1;
}

/// How many pairs of the map have a cost of each size.
inline std::size_t pairs_in(const eco::Map& map) {
    std::size_t pairs = 0;
    for (std::size_t a = 0; a < map.hosts().size(); ++a)
        for (std::size_t b = 0; b < a; ++b) {
            bool all = true;
            for (std::size_t size = 0; size < map.sizes_bytes().size(); ++size)
                all = all && map.cost(size, a, b).measured();
            pairs += all ? 1u : 0u;
        }
    return pairs;
}

} // namespace plexus::testing
