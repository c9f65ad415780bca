// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/names.h"

#include <algorithm>
#include <array>

namespace plexus::ucx {
namespace {

constexpr std::array<std::string_view, 38> kTransports{
    "all",       "sm",       "shm",      "mm",   "ib",        "ud",       "ud_v",     "ud_x",
    "ud_verbs",  "ud_mlx5",  "rc",       "rc_v", "rc_x",      "rc_verbs", "rc_mlx5",  "dc",
    "dc_x",      "dc_mlx5",  "gga",      "ugni", "tcp",       "self",     "posix",    "sysv",
    "cma",       "knem",     "xpmem",    "cuda", "cuda_copy", "cuda_ipc", "gdr_copy", "rocm",
    "rocm_copy", "rocm_ipc", "rocm_gdr", "ze",   "ze_copy",   "srd"};
constexpr std::array<std::string_view, 8> kOnHost{"self", "posix", "sysv", "cma",
                                                  "knem", "xpmem", "shm",  "mm"};

std::string_view first_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

} // namespace

bool is_transport(std::string_view name) {
    return std::find(kTransports.begin(), kTransports.end(), name) != kTransports.end();
}

bool stays_on_host(std::string_view transport) {
    return std::find(kOnHost.begin(), kOnHost.end(), transport) != kOnHost.end();
}

std::vector<std::string> all_transports() { return {kTransports.begin(), kTransports.end()}; }

std::string unknown_transport(const std::vector<std::string>& tls) {
    for (std::string_view word : tls) {
        while (!word.empty() && (word.front() == '^' || word.front() == '\\')) word.remove_prefix(1);
        if (!is_transport(word.substr(0, word.find(':')))) return std::string(word);
    }
    return {};
}

// Lines such as "#      resource 2  :  md 1  dev 2  flags -- tcp/eth0".
std::vector<Resource> parse_resources(std::string_view info) {
    std::vector<Resource> out;
    while (!info.empty()) {
        const std::string_view line = first_line(info);
        if (line.find(" resource ") == std::string_view::npos) continue;
        const std::size_t slash = line.rfind('/');
        if (slash == std::string_view::npos) continue;
        const std::size_t space = line.rfind(' ', slash);
        const std::size_t start = space == std::string_view::npos ? 0 : space + 1;
        std::string_view device = line.substr(slash + 1);
        device = device.substr(0, device.find_first_of(" \t"));
        out.push_back({std::string(line.substr(start, slash - start)), std::string(device)});
    }
    return out;
}

} // namespace plexus::ucx
