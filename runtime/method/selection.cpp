// SPDX-License-Identifier: BSD-3-Clause
#include "method/selection.h"

namespace plexus::method {
namespace {

Verdict judge(const Descriptor& row, const Surroundings& here) {
    Applicable found = here(row);
    if (found.because.empty()) found.because = found.applies ? "applies" : "does not apply";
    return {row.method, found.applies, std::move(found.because)};
}

} // namespace

Choice first_applicable(const DescriptorTable& table, const Surroundings& here) {
    Choice choice;
    for (std::size_t row = 0; row < table.size() && !choice.row; ++row) {
        choice.trail.push_back(judge(table[row], here));
        if (choice.trail.back().applies) choice.row = row;
    }
    return choice;
}

Choice explain(const DescriptorTable& table, const Surroundings& here) {
    Choice choice;
    for (const Descriptor& row : table) {
        choice.trail.push_back(judge(row, here));
        if (!choice.trail.back().applies) continue;
        if (!choice.row) {
            choice.row = choice.trail.size() - 1;
        } else {
            choice.trail.back().because += ", but comes later";
        }
    }
    return choice;
}

} // namespace plexus::method
