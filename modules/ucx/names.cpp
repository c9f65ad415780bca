// SPDX-License-Identifier: BSD-3-Clause
#include "ucx/names.h"

#include <algorithm>
#include <array>
#include <numeric>

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
constexpr std::size_t kMostOffers = 3;

// Letters to insert, drop, change, or swap with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> row(3, std::vector<std::size_t>(b.size() + 1));
    std::iota(row[1].begin(), row[1].end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        row[2][0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t change = row[1][j] + (a[i] == b[j] ? 0 : 1);
            row[2][j + 1] = std::min({row[2][j] + 1, row[1][j + 1] + 1, change});
            if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
                row[2][j + 1] = std::min(row[2][j + 1], row[0][j - 1] + 1);
        }
        std::rotate(row.begin(), row.begin() + 1, row.end());
    }
    return row[1].back();
}

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

std::vector<std::string> nearest(std::string_view name, std::span<const std::string> known) {
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const std::string& each : known) {
        const std::size_t far = distance(name, each);
        const bool begins = name.size() >= 2 && each.substr(0, name.size()) == name;
        if (far <= std::max<std::size_t>(1, name.size() / 2) || begins)
            near.emplace_back(begins ? 0 : far, each);
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> out;
    for (const auto& each : near)
        if (out.size() < kMostOffers) out.push_back(each.second);
    return out;
}

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
