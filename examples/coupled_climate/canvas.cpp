// SPDX-License-Identifier: BSD-3-Clause
#include "canvas.h"

#include "font.h"

#include <algorithm>
#include <png.h>
#include <stdexcept>

namespace climate {
namespace {

constexpr int kAdvance = 6; // dots from one letter to the next

std::uint8_t blend(std::uint8_t under, std::uint8_t over, double part) {
    return static_cast<std::uint8_t>(under + (over - under) * part + 0.5);
}

} // namespace

Colour mix(Colour under, Colour over, double part) {
    return {blend(under.red, over.red, part), blend(under.green, over.green, part),
            blend(under.blue, over.blue, part)};
}

Canvas::Canvas(int width, int height, Colour paper)
  : width_(width)
  , height_(height)
  , pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), paper) {}

void Canvas::dot(int x, int y, Colour colour) noexcept {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    pixels_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)] =
        colour;
}

void Canvas::box(int x, int y, int width, int height, Colour colour) noexcept {
    for (int b = y; b < y + height; ++b)
        for (int a = x; a < x + width; ++a) dot(a, b, colour);
}

void Canvas::frame(int x, int y, int width, int height, Colour colour) noexcept {
    box(x, y, width, 1, colour);
    box(x, y + height - 1, width, 1, colour);
    box(x, y, 1, height, colour);
    box(x + width - 1, y, 1, height, colour);
}

void Canvas::text(int x, int y, int scale, std::string_view words, Colour colour) {
    for (const char sign : words) {
        const auto glyph = std::ranges::find(kFont, sign, &Glyph::sign);
        if (glyph != kFont.end())
            for (int row = 0; row < 8; ++row)
                for (int column = 0; column < 5; ++column)
                    if ((glyph->rows[static_cast<std::size_t>(row)] >> (4 - column) & 1) != 0)
                        box(x + column * scale, y + row * scale, scale, scale, colour);
        x += kAdvance * scale;
    }
}

int Canvas::text_width(int scale, std::string_view words) noexcept {
    return (static_cast<int>(words.size()) * kAdvance - 1) * scale;
}

void Canvas::save_png(const std::string& file) const {
    static_assert(sizeof(Colour) == 3, "libpng takes packed RGB");
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width_);
    image.height = static_cast<png_uint_32>(height_);
    image.format = PNG_FORMAT_RGB;
    if (png_image_write_to_file(&image, file.c_str(), 0, pixels_.data(), 0, nullptr) != 0) return;
    throw std::runtime_error("cannot write the picture " + file + ": " + image.message);
}

} // namespace climate
