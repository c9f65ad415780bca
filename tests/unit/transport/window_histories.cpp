// SPDX-License-Identifier: BSD-3-Clause
// The two windows against their model, over random histories. PLEXUS_TEST_HISTORIES asks for another
// number of them than the suite's.
#include "window_model.h"

#include "support/catch.h"
#include "support/eventually.h"

#include <cstdlib>
#include <random>

namespace window_histories_test {

using namespace plexus::testing;

namespace {

std::uint64_t histories() {
    if (const char* asked = std::getenv("PLEXUS_TEST_HISTORIES")) return std::strtoull(asked, nullptr, 10);
    return kSanitized ? 20'000 : 1'000'000;
}

} // namespace

TEST_CASE("in a million histories of links that break every frame arrives once, in order") {
    std::mt19937_64 dice(20261122);
    std::vector<std::uint8_t> choices;
    for (std::uint64_t history = 0; history < histories(); ++history) {
        choices.resize(8 + dice() % 40);
        for (std::uint8_t& choice : choices) choice = static_cast<std::uint8_t>(dice());
        const bool retains = history % 8 != 0;
        const std::string wrong = WindowModel(choices, retains).run();
        if (wrong.empty()) continue;
        CAPTURE(history, retains, choices);
        FAIL(wrong);
    }
}

} // namespace window_histories_test
