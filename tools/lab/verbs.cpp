// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/verbs.h"

#include "plexus/error.h"
#include "tools/common/quantity.h"
#include "tools/lab/control.h"
#include "tools/lab/machine.h"
#include "tools/lab/network_file.h"
#include "tools/lab/refusal.h"
#include "tools/lab/session.h"
#include "tools/verb.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plexus::tools::lab {
namespace {

constexpr int kNotStarted = 127; // the exit code of shells
constexpr char kEnterUsage[] = "write it like plexus lab enter [--alone] [--shell] HOST PROGRAM [ARGUMENTS]";

/// The variables by which a process takes part in a job.
constexpr const char* kJobVariables[] = {"PLEXUS_JOB_ID",         "PLEXUS_JOB_RANK", "PLEXUS_JOB_SIZE",
                                         "PLEXUS_JOB_LOCAL_SIZE", "PLEXUS_JOB_URL",  "PLEXUS_JOB_KEY"};

pid_t number(const std::string& text) {
    pid_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? value : -1;
}

pid_t process_of(const std::string& host) {
    const char* hosts = std::getenv(kHostsVariable);
    if (hosts == nullptr)
        throw Error(Status::not_found, "this is no lab: plexus lab enter is for programs that run in one");
    for (const std::string& one : split_list(hosts)) {
        const std::size_t colon = one.rfind(':');
        if (colon != std::string::npos && one.substr(0, colon) == host) return number(one.substr(colon + 1));
    }
    throw Error(Status::not_found, fmt::format("this lab has no host \"{}\"", host));
}

pid_t only_lab() {
    const auto labs = running_labs();
    if (labs.empty()) throw Error(Status::not_found, "no lab runs here that could be asked");
    if (labs.size() > 1)
        throw Error(Status::bad_argument,
                    fmt::format("several labs run: say which with --lab, one of {}", fmt::join(labs, ", ")));
    return labs.front();
}

} // namespace

int enter(int count, char** arguments) {
    bool is_line = false;
    int first = 1;
    for (; first < count && arguments[first][0] == '-'; ++first) {
        const std::string_view option = arguments[first];
        if (option == "--shell") {
            is_line = true;
        } else if (option == "--alone") {
            for (const char* name : kJobVariables) ::unsetenv(name);
        } else {
            throw Error(Status::bad_argument, kEnterUsage);
        }
    }
    const std::string host = first < count ? arguments[first++] : "";
    if (first < count && std::strcmp(arguments[first], "--") == 0) ++first;
    if (first >= count) throw Error(Status::bad_argument, kEnterUsage);
    try {
        if (host != kLabName) enter_machine(process_of(host));
    } catch (const NotAllowed& error) { throw Error(Status::runtime_lost, error.what()); }
    if (is_line) {
        std::string line = arguments[first];
        for (int i = first + 1; i < count; ++i) line += std::string(" ") + arguments[i];
        ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    } else {
        ::execvp(arguments[first], arguments + first);
    }
    std::fprintf(stderr, "plexus lab enter: %s cannot be started: %s\n", arguments[first],
                 std::strerror(errno));
    return kNotStarted;
}

int ctl(int count, char** arguments) {
    int first = 1;
    pid_t lab = 0;
    if (count > 2 && std::strcmp(arguments[1], "--lab") == 0) {
        lab = number(arguments[2]);
        if (lab <= 0)
            throw Error(Status::bad_argument, fmt::format("\"{}\" is no process number", arguments[2]));
        first = 3;
    }
    std::string request;
    for (int i = first; i < count; ++i) request += (request.empty() ? "" : " ") + std::string(arguments[i]);
    if (request.empty()) {
        if (lab == 0) {
            for (const pid_t one : running_labs()) std::printf("%d\n", static_cast<int>(one));
            return kOk;
        }
        request = "report text";
    }
    const Answer answer = ask(connect_to(lab != 0 ? lab : only_lab()).get(), request);
    if (!answer.ok) {
        std::fprintf(stderr, "plexus lab ctl: %s\n", answer.text.c_str());
        return kNo;
    }
    std::fputs(answer.text.c_str(), stdout);
    if (!answer.text.empty() && answer.text.back() != '\n') std::fputc('\n', stdout);
    return kOk;
}

int list_networks() {
    for (const std::string& name : known_networks()) {
        const Network network = load_network(name);
        std::printf("%-18s %3zu hosts  %s\n", name.c_str(), network.hosts.size(), network.summary.c_str());
    }
    return kOk;
}

} // namespace plexus::tools::lab
