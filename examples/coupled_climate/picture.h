// SPDX-License-Identifier: BSD-3-Clause
// Draws the planet: the temperature of the air at the top and of the sea at the bottom, with coasts, axes
// and colour bars. Takes whole fields. One thread.
#pragma once

#include "planet.h"

#include <string>
#include <vector>

namespace climate {

struct Scene {
    Grid air_grid;
    std::vector<double> air; // K, row by row from the south-west corner on
    Grid sea_grid;
    std::vector<double> sea; // likewise; cells that are land are ignored
    double days = 0;
    std::string note; // a few words for the top right corner
};

/// Throws std::runtime_error with the reason if the file can't be written.
void draw(const Scene& scene, const std::string& file);

} // namespace climate
