// SPDX-License-Identifier: BSD-3-Clause
// plexus-limits WHAT [BYTES…]: measures one limit of this machine and prints one JSON
// object a line. tools/bench-peers runs it beside Plexus and its peers.
#include "tools/benchmark/cores.h"
#include "tools/limits/machine.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

namespace plexus::limits {

void pin(int core) {
    if (core >= 0) tools::benchmark::pin_to({core}); // not allowed: measured unpinned
}

namespace {

constexpr const char* kUsage =
    "usage: plexus-limits cache-line|ring|copy|socket|socket-bandwidth\n"
    "                     [--cores A,B] [--rounds N] [--seconds S] [--buffers N] [BYTES…]\n"
    "Measures what this machine can do at best and prints one JSON object a line.\n";

template <class Number>
bool parse(std::string_view text, Number& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
}

bool parse_cores(std::string_view text, std::pair<int, int>& cores) {
    const std::size_t comma = text.find(',');
    return comma != text.npos && parse(text.substr(0, comma), cores.first) &&
           parse(text.substr(comma + 1), cores.second);
}

/// One line; false if the measurement failed.
bool say(std::string_view what, std::size_t bytes, const char* key, double value) {
    if (value <= 0) {
        std::fprintf(stderr, "plexus-limits: %.*s could not be measured: %s\n", static_cast<int>(what.size()),
                     what.data(), std::strerror(errno));
        return false;
    }
    std::printf("{\"limit\":\"%.*s\",\"size_bytes\":%zu,\"%s\":%.6g}\n", static_cast<int>(what.size()),
                what.data(), bytes, key, value);
    return true;
}

int usage(FILE* where, int code) {
    std::fputs(kUsage, where);
    return code;
}

} // namespace

int run(int argc, char** argv) {
    if (argc < 2) return usage(stderr, 2);
    const std::string_view what = argv[1];
    if (what == "--help" || what == "-h") return usage(stdout, 0);
    Plan plan;
    std::vector<std::size_t> sizes;
    for (int at = 2; at < argc; ++at) {
        const std::string_view word = argv[at];
        const std::string_view value = at + 1 < argc ? argv[at + 1] : "";
        std::size_t bytes = 0;
        if (word == "--cores" && parse_cores(value, plan.cores)) {
            ++at;
        } else if (word == "--rounds" && parse(value, plan.rounds)) {
            ++at;
        } else if (word == "--seconds" && parse(value, plan.seconds)) {
            ++at;
        } else if (word == "--buffers" && parse(value, plan.buffers) && plan.buffers > 0) {
            ++at;
        } else if (parse(word, bytes) && bytes > 0) {
            sizes.push_back(bytes);
        } else {
            return usage(stderr, 2);
        }
    }
    if (sizes.empty()) sizes = {8};
    bool fine = true;
    for (const std::size_t bytes : sizes) {
        if (what == "cache-line") {
            fine &= say(what, bytes, "one_way_us", cache_line_us(plan));
        } else if (what == "ring") {
            fine &= say(what, bytes, "messages_per_s", ring_rate(plan));
        } else if (what == "copy") {
            fine &= say(what, bytes, "bandwidth_MBps", copy_bandwidth(plan, bytes));
        } else if (what == "socket") {
            fine &= say(what, bytes, "one_way_us", socket_us(plan, bytes));
        } else if (what == "socket-bandwidth") {
            fine &= say(what, bytes, "bandwidth_MBps", socket_bandwidth(plan, bytes));
        } else {
            return usage(stderr, 2);
        }
    }
    return fine ? 0 : 3;
}

} // namespace plexus::limits

int main(int argc, char** argv) { return plexus::limits::run(argc, argv); }
