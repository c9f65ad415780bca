// SPDX-License-Identifier: BSD-3-Clause
#include "layout.h"

#include <algorithm>
#include <stdexcept>

namespace climate {

Layout::Layout(int contexts, int atmospheres, const Grid& atmosphere, int ratio)
  : atmospheres_(atmospheres)
  , oceans_(contexts - atmospheres)
  , ratio_(ratio)
  , atmosphere_(atmosphere)
  , ocean_{atmosphere.columns * ratio, atmosphere.rows * ratio} {
    if (contexts < 2)
        throw std::invalid_argument(
            "the coupled model needs two contexts at least: start it with plexus run -n 6");
    if (atmospheres_ < 1 || oceans_ < 1)
        throw std::invalid_argument("--atmosphere takes 1 to " + std::to_string(contexts - 1) +
                                    " of these contexts, so that each model has one");
    const int thinnest = std::min(atmosphere.rows / atmospheres_, atmosphere.rows / oceans_ * ratio);
    if (thinnest < Field::kHalo)
        throw std::invalid_argument(
            "the grid has too few rows for so many contexts: each needs two; use a larger --grid");
}

int Layout::usual_atmospheres(int contexts) noexcept {
    return std::clamp((2 * contexts + 1) / 3, 1, std::max(1, contexts - 1));
}

std::string Layout::name(Model model, int number) {
    return (model == Model::atmosphere ? "atmosphere." : "ocean.") + std::to_string(number);
}

Band Layout::coarse_band(Model model, int number) const noexcept {
    const int rows = atmosphere_.rows;
    const int first = rows * number / members(model);
    return {first, rows * (number + 1) / members(model) - first, rows};
}

Band Layout::band(Model model, int number) const noexcept {
    const Band coarse = coarse_band(model, number);
    const int fine = model == Model::ocean ? ratio_ : 1;
    return {coarse.first * fine, coarse.rows * fine, coarse.total * fine};
}

std::vector<Shore> Layout::shores(Model model, int number) const {
    const Model other = model == Model::atmosphere ? Model::ocean : Model::atmosphere;
    const Band mine = coarse_band(model, number);
    std::vector<Shore> shores;
    for (int member = 0; member < members(other); ++member) {
        const Band theirs = coarse_band(other, member);
        const int first = std::max(mine.first, theirs.first);
        const int end = std::min(mine.first + mine.rows, theirs.first + theirs.rows);
        if (first < end) shores.push_back({member, first - mine.first, first - theirs.first, end - first});
    }
    return shores;
}

std::vector<double> Layout::sea_parts(const Band& band, const std::vector<unsigned char>& sea) const {
    std::vector<double> parts;
    for (int j = band.first; j < band.first + band.rows; ++j) {
        for (int i = 0; i < atmosphere_.columns; ++i) {
            int cells = 0;
            for (int b = j * ratio_; b < (j + 1) * ratio_; ++b)
                for (int a = i * ratio_; a < (i + 1) * ratio_; ++a)
                    cells += sea[static_cast<std::size_t>(b) * static_cast<std::size_t>(ocean_.columns) +
                                 static_cast<std::size_t>(a)];
            parts.push_back(static_cast<double>(cells) / (ratio_ * ratio_));
        }
    }
    return parts;
}

} // namespace climate
