// SPDX-License-Identifier: BSD-3-Clause
#include "picture.h"

#include "canvas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace climate {
namespace {

constexpr Colour kPaper{252, 252, 250};
constexpr Colour kInk{38, 42, 48};
constexpr Colour kFaint{120, 125, 132};
constexpr Colour kLand{203, 199, 188};
constexpr Colour kCoast{25, 28, 34};

constexpr int kWide = 1080; // a panel, pixels
constexpr int kHigh = 450;
constexpr int kLeft = 64;
constexpr int kTop = 62;
constexpr int kGap = 78;
constexpr int kBarRoom = 106;

/// Colours whose lightness changes evenly, so that equal differences look equal.
using Palette = std::array<Colour, 10>;
constexpr Palette kViolet{{{2, 4, 30},
                           {27, 12, 65},
                           {74, 12, 107},
                           {120, 28, 109},
                           {165, 44, 96},
                           {207, 68, 70},
                           {237, 105, 37},
                           {251, 155, 6},
                           {247, 209, 61},
                           {252, 255, 190}}};
constexpr Palette kThermal{{{4, 35, 51},
                            {23, 51, 122},
                            {85, 59, 157},
                            {129, 79, 143},
                            {175, 95, 130},
                            {222, 112, 101},
                            {249, 146, 66},
                            {249, 196, 65},
                            {240, 228, 88},
                            {232, 250, 91}}};

Colour colour_of(const Palette& palette, double part) {
    const double place = std::clamp(part, 0.0, 1.0) * (palette.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(place), palette.size() - 2);
    return mix(palette[below], palette[below + 1], place - static_cast<double>(below));
}

/// The field between its cells' centres; cells for which `counts` is false have no weight.
template <class Counts>
double sample(const Grid& grid, const std::vector<double>& field, double i, double j, const Counts& counts) {
    const double x = i - 0.5, y = j - 0.5;
    const int left = static_cast<int>(std::floor(x)), low = static_cast<int>(std::floor(y));
    double sum = 0, weight = 0;
    for (int b = low; b <= low + 1; ++b) {
        for (int a = left; a <= left + 1; ++a) {
            const int column = (a + grid.columns) % grid.columns;
            const int row = std::clamp(b, 0, grid.rows - 1);
            const auto cell = static_cast<std::size_t>(row) * static_cast<std::size_t>(grid.columns) +
                              static_cast<std::size_t>(column);
            if (!counts(cell)) continue;
            // A little weight for all of them: a pixel at the coast may touch only corners.
            const double w = (1 - std::abs(x - a)) * (1 - std::abs(y - b)) + 1e-6;
            sum += w * field[cell];
            weight += w;
        }
    }
    return weight > 0 ? sum / weight : NAN;
}

struct Panel {
    int top;
    const char* title;
    const Palette& palette;
    double low, high; // degrees Celsius
    int step;         // between the ticks of the bar
};

/// Which pixels of a panel are land, and which of those lie at a coast.
class Ground {
  public:
    Ground() {
        for (int y = 0; y <= kHigh; ++y)
            for (int x = 0; x <= kWide; ++x)
                land_.push_back(is_land(360.0 * (x + 0.5) / kWide - 180.0,
                                        kPolewardEnd * (1.0 - 2.0 * (y + 0.5) / kHigh)));
    }
    bool land(int x, int y) const { return land_[static_cast<std::size_t>(y * (kWide + 1) + x)]; }
    bool coast(int x, int y) const { return land(x, y) != land(x + 1, y) || land(x, y) != land(x, y + 1); }

  private:
    std::vector<bool> land_;
};

template <class Counts>
void fill(Canvas& canvas, const Panel& panel, const Ground& ground, bool hide_land, const Grid& grid,
          const std::vector<double>& field, const Counts& counts) {
    for (int y = 0; y < kHigh; ++y) {
        for (int x = 0; x < kWide; ++x) {
            const double kelvin = sample(grid, field, (x + 0.5) * grid.columns / kWide,
                                         grid.rows - (y + 0.5) * grid.rows / kHigh, counts);
            const bool land = hide_land && (std::isnan(kelvin) || ground.land(x, y));
            Colour colour =
                land ? kLand
                     : colour_of(panel.palette, (kelvin - kKelvin - panel.low) / (panel.high - panel.low));
            if (ground.coast(x, y)) colour = mix(colour, kCoast, 0.75);
            canvas.dot(kLeft + x, panel.top + y, colour);
        }
    }
}

void label(Canvas& canvas, int x, int y, const std::string& words, Colour colour) {
    canvas.text(x - Canvas::text_width(2, words) / 2, y, 2, words, colour);
}

void axes(Canvas& canvas, const Panel& panel) {
    canvas.frame(kLeft - 1, panel.top - 1, kWide + 2, kHigh + 2, kInk);
    canvas.text(kLeft, panel.top - 26, 2, panel.title, kInk);
    for (int degrees = -120; degrees <= 120; degrees += 60) {
        const int x = kLeft + kWide * (degrees + 180) / 360;
        canvas.box(x, panel.top + kHigh + 1, 1, 6, kInk);
        label(canvas, x, panel.top + kHigh + 11,
              std::to_string(std::abs(degrees)) + "^" +
                  (degrees < 0   ? "W"
                   : degrees > 0 ? "E"
                                 : ""),
              kFaint);
    }
    for (int degrees = -60; degrees <= 60; degrees += 30) {
        const int y = panel.top + static_cast<int>(kHigh * (1 - degrees / kPolewardEnd) / 2);
        const std::string words = std::to_string(std::abs(degrees)) + "^" +
                                  (degrees < 0   ? "S"
                                   : degrees > 0 ? "N"
                                                 : "");
        canvas.box(kLeft - 7, y, 6, 1, kInk);
        canvas.text(kLeft - 12 - Canvas::text_width(2, words), y - 7, 2, words, kFaint);
    }
}

void colour_bar(Canvas& canvas, const Panel& panel) {
    const int left = kLeft + kWide + 22;
    for (int y = 0; y < kHigh; ++y)
        canvas.box(left, panel.top + y, 20, 1, colour_of(panel.palette, 1 - (y + 0.5) / kHigh));
    canvas.frame(left - 1, panel.top - 1, 22, kHigh + 2, kInk);
    for (int degrees = static_cast<int>(panel.low); degrees <= panel.high; degrees += panel.step) {
        const int y =
            panel.top + static_cast<int>((kHigh - 1) * (panel.high - degrees) / (panel.high - panel.low));
        canvas.box(left + 21, y, 6, 1, kInk);
        canvas.text(left + 32, y - 7, 2, std::to_string(degrees), kFaint);
    }
    canvas.text(left + 2, panel.top - 26, 2, "^C", kFaint);
}

} // namespace

void draw(const Scene& scene, const std::string& file) {
    Canvas canvas(kLeft + kWide + kBarRoom, kTop + 2 * kHigh + kGap + 44, kPaper);
    const Panel air{kTop, "Temperature of the air", kViolet, -15, 30, 5};
    const Panel sea{kTop + kHigh + kGap, "Temperature of the sea surface", kThermal, 0, 30, 5};
    const std::vector<unsigned char> mask = sea_mask(scene.sea_grid);

    const Ground ground;
    fill(canvas, air, ground, false, scene.air_grid, scene.air, [](std::size_t) { return true; });
    fill(canvas, sea, ground, true, scene.sea_grid, scene.sea,
         [&](std::size_t cell) { return mask[cell] != 0; });
    for (const Panel* panel : {&air, &sea}) {
        axes(canvas, *panel);
        colour_bar(canvas, *panel);
    }
    char day[32];
    std::snprintf(day, sizeof day, "day %.1f", scene.days);
    label(canvas, kLeft + kWide / 2, 10, std::string("Coupled model, ") + day, kInk);
    canvas.text(kLeft + kWide - Canvas::text_width(2, scene.note), kTop - 26, 2, scene.note, kFaint);
    canvas.save_png(file);
}

} // namespace climate
