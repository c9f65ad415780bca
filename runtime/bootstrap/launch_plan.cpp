// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launch_plan.h"

#include "base/log.h"
#include "bootstrap/job.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plexus::bootstrap {
namespace {

constexpr std::uint32_t kMostProcesses = 65536;

using Variables = std::map<std::string, std::string>;

Variables own_environment() {
    Variables all;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const std::size_t equals = text.find('=');
        if (equals != std::string::npos) all[text.substr(0, equals)] = text.substr(equals + 1);
    }
    // A job inside a job is a new one.
    for (const char* name : {kJobId, kJobRank, kJobSize, kJobLocalSize, kJobUrl, kJobKey}) all.erase(name);
    return all;
}

Result<void> set(Variables& all, const NamesAndValues& values) {
    for (const auto& [name, value] : values) {
        if (name.empty() || name.find('=') != std::string::npos)
            return fail(Status::bad_argument, "\"{}\" cannot be the name of an environment variable", name);
        all[name] = value;
    }
    return {};
}

Result<void> configure(Variables& all, const NamesAndValues& settings) {
    for (const auto& [key, value] : settings) {
        const bool good = !key.empty() && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") ==
                                              std::string::npos;
        if (!good)
            return fail(Status::bad_argument, "\"{}\" is no configuration key: write it like progress.spin",
                        key);
        all[variable_of(key)] = value;
    }
    return {};
}

bool is_plain_file(const std::string& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
}

Result<std::string> find_program(const std::string& name) {
    if (name.empty()) return fail(Status::bad_argument, "a program of the job has no name");
    std::string seen; // there, but not executable
    if (name.find('/') != std::string::npos) {
        if (is_plain_file(name) && ::access(name.c_str(), X_OK) == 0) return name;
        struct stat about {};
        if (::stat(name.c_str(), &about) != 0)
            return fail(Status::not_found, "the program \"{}\" cannot be found: {}", name,
                        std::strerror(errno));
        seen = name;
    } else {
        const char* path = std::getenv("PATH");
        std::string_view folders = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
        for (bool more = true; more;) {
            const std::size_t colon = folders.find(':');
            const std::string_view folder = folders.substr(0, colon);
            const std::string candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
            if (is_plain_file(candidate)) {
                if (::access(candidate.c_str(), X_OK) == 0) return candidate;
                seen = candidate;
            }
            more = colon != std::string_view::npos;
            if (more) folders = folders.substr(colon + 1);
        }
    }
    if (!seen.empty()) return fail(Status::not_found, "\"{}\" is not a program that may be executed", seen);
    return fail(Status::not_found, "the program \"{}\" cannot be found in the folders of PATH{}", name,
                is_plain_file(name) ? fmt::format(": for the one in this folder, write ./{}", name) : "");
}

Result<void> check_readable(std::uint32_t rank, const std::string& file) {
    std::string why = "it is not a plain file";
    if (::access(file.c_str(), R_OK) != 0) {
        why = std::strerror(errno);
    } else if (is_plain_file(file)) {
        return {};
    }
    return fail(Status::not_found, "the configuration file \"{}\" for rank {} cannot be read: {}", file, rank,
                why);
}

std::vector<int> usable_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> usable;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return usable;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(static_cast<std::size_t>(i), &set)) usable.push_back(i);
    return usable;
}

} // namespace

std::string variable_of(const std::string& key) {
    std::string name = "PLEXUS_";
    for (const char c : key)
        name += c == '.' || c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return name;
}

Result<LaunchPlan> plan_launch(const LaunchOptions& options, const std::string& job_id,
                               const std::string& key_hex) {
    std::uint64_t size = 0;
    for (const LaunchProgram& program : options.programs) size += program.processes;
    if (size == 0) return fail(Status::bad_argument, "a job needs at least one process");
    if (size > kMostProcesses)
        return fail(Status::bad_argument, "a job of {} processes is too large for one machine: at most {}",
                    size, kMostProcesses);
    if (!options.config_files.empty() && options.config_files.rbegin()->first >= size)
        return fail(Status::bad_argument, "there is a configuration file for rank {}, but ranks end at {}",
                    options.config_files.rbegin()->first, size - 1);

    Variables common = own_environment();
    common[kJobId] = job_id;
    common[kJobKey] = key_hex;
    common[kJobSize] = common[kJobLocalSize] = std::to_string(size);
    if (auto done = configure(common, options.settings); !done) return done.failure();
    if (auto done = set(common, options.environment); !done) return done.failure();

    const std::vector<int> processors = options.bind_to_core ? usable_processors() : std::vector<int>{};
    LaunchPlan plan;
    for (const LaunchProgram& program : options.programs) {
        if (program.command.empty()) return fail(Status::bad_argument, "a program of the job has no name");
        const std::string& name = program.command.front();
        auto path = find_program(name);
        if (!path) return path.failure();
        std::vector<std::string> arguments = program.command;
        if (!program.wrapper.empty()) {
            arguments.front() = *path;
            arguments.insert(arguments.begin(), program.wrapper.begin(), program.wrapper.end());
            path = find_program(arguments.front());
            if (!path) return path.failure();
        }
        Variables variables = common;
        if (auto done = configure(variables, program.settings); !done) return done.failure();
        if (auto done = set(variables, program.environment); !done) return done.failure();
        for (std::uint32_t i = 0; i < program.processes; ++i) {
            const auto rank = static_cast<std::uint32_t>(plan.processes.size());
            variables[kJobRank] = std::to_string(rank);
            Variables own = variables;
            if (const auto file = options.config_files.find(rank); file != options.config_files.end()) {
                if (auto good = check_readable(rank, file->second); !good) return good.failure();
                own["PLEXUS_CONFIG"] = file->second;
            }
            PlannedProcess process{name, *path, arguments, {}, -1};
            for (const auto& [key, value] : own) process.environment.push_back(key + "=" + value);
            if (!processors.empty()) process.processor = processors[rank % processors.size()];
            plan.processes.push_back(std::move(process));
        }
    }
    return plan;
}

} // namespace plexus::bootstrap
