// SPDX-License-Identifier: BSD-3-Clause
// A picture in memory: coloured pixels, lines, small text, saved as PNG. Knows nothing of
// climates. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace climate {

struct Colour {
    std::uint8_t red = 0, green = 0, blue = 0;
};

/// `part` of `over` on the rest of `under`.
Colour mix(Colour under, Colour over, double part);

class Canvas {
  public:
    Canvas(int width, int height, Colour paper);

    int width() const noexcept { return width_; }
    int height() const noexcept { return height_; }
    /// Row 0 is at the top. Drawing outside the picture has no effect.
    void dot(int x, int y, Colour colour) noexcept;
    void box(int x, int y, int width, int height, Colour colour) noexcept;
    void frame(int x, int y, int width, int height, Colour colour) noexcept;

    /// Letters of 5 by 8 dots, each dot `scale` pixels wide; y is the top. Characters that the
    /// font lacks leave a gap.
    void text(int x, int y, int scale, std::string_view words, Colour colour);
    static int text_width(int scale, std::string_view words) noexcept;

    /// Throws std::runtime_error with the system's reason if the file can't be written.
    void save_png(const std::string& file) const;

  private:
    int width_;
    int height_;
    std::vector<Colour> pixels_;
};

} // namespace climate
