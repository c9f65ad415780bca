// SPDX-License-Identifier: BSD-3-Clause
#include "base/spelling.h"

#include <algorithm>
#include <numeric>

namespace plexus {
namespace {

constexpr std::size_t kMostOffers = 3;

} // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
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

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> known) {
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const std::string& each : known) {
        const std::size_t far = edit_distance(word, each);
        const bool begins = word.size() >= 2 && each.substr(0, word.size()) == word;
        if (far <= std::max<std::size_t>(1, word.size() / 2) || begins)
            near.emplace_back(begins ? 0 : far, each);
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> out;
    for (const auto& each : near)
        if (out.size() < kMostOffers) out.push_back(each.second);
    return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
    const std::vector<std::string> near = nearest(word, known);
    if (near.empty()) return {};
    std::string out = "; did you mean ";
    for (std::size_t i = 0; i < near.size(); ++i) out += (i == 0 ? "" : " or ") + near[i];
    return out + "?";
}

} // namespace plexus
