// SPDX-License-Identifier: BSD-3-Clause
#include "planet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace climate {
namespace {

constexpr double kDegree = std::numbers::pi / 180.0;
constexpr double kRotation = 7.292e-5; // 1/s
constexpr double kDay = 86400.0;       // s
constexpr double kJetSpeed = 55.0;     // m/s
constexpr double kJetLatitude = 44.0;  // degrees
constexpr double kJetWidth = 6.5;      // degrees
constexpr double kTradeSpeed = 7.0;    // m/s
constexpr double kGyreSpeed = 2.2;     // m/s

double bump(double distance, double width) { return std::exp(-distance * distance / (width * width)); }
double sech2(double x) { return 1.0 / (std::cosh(x) * std::cosh(x)); }

/// Longitudes are a circle.
double apart(double a, double b) {
    const double d = a - b;
    return d - 360.0 * std::round(d / 360.0);
}

/// A piece of a continent: a tilted ellipse, in degrees.
struct Blob {
    double longitude, latitude, half_width, half_height;
    double cosine, sine; // of the tilt
    Blob(double x, double y, double width, double height, double tilt)
      : longitude(x)
      , latitude(y)
      , half_width(width)
      , half_height(height)
      , cosine(std::cos(tilt * kDegree))
      , sine(std::sin(tilt * kDegree)) {}
};
const std::array kContinents{
    Blob{-100, 52, 34, 17, -8}, Blob{-95, 34, 17, 12, -30}, Blob{-60, -9, 18, 17, -25},
    Blob{-66, -34, 8, 17, 10},  Blob{-88, 17, 9, 5, -35},   Blob{12, 15, 27, 17, 0},
    Blob{26, -12, 15, 22, -4},  Blob{52, 50, 42, 15, 4},    Blob{100, 52, 42, 19, 6},
    Blob{78, 25, 8, 14, 0},     Blob{104, 26, 17, 12, -25}, Blob{134, -25, 18, 10, 6},
    Blob{-42, 73, 15, 9, 0},    Blob{47, 26, 11, 10, 0},    Blob{10, 48, 13, 7, 10},
};

/// Above 0 on land; its slope is a measure of the distance to the coast.
double elevation(double longitude, double latitude) {
    double sum = 0;
    for (const Blob& blob : kContinents) {
        const double x = apart(longitude, blob.longitude);
        const double y = latitude - blob.latitude;
        const double a = (blob.cosine * x + blob.sine * y) / blob.half_width;
        const double b = (blob.cosine * y - blob.sine * x) / blob.half_height;
        sum += std::exp(-0.7 * (a * a + b * b));
    }
    const double rough = 0.05 * std::sin(9 * longitude * kDegree + 0.21 * latitude) +
                         0.05 * std::cos(14 * longitude * kDegree - 0.33 * latitude) +
                         0.04 * std::sin(23 * longitude * kDegree + 0.47 * latitude);
    return sum + rough - 0.5;
}

} // namespace

double coriolis(double latitude) { return 2 * kRotation * std::sin(latitude * kDegree); }

double sunshine(double latitude) {
    const double s = std::sin(latitude * kDegree);
    return 238.0 * (1.0 - 0.482 * 0.5 * (3 * s * s - 1));
}

double radiated(double temperature) { return 203.3 + 2.09 * (temperature - kKelvin); }

bool is_land(double longitude, double latitude) { return elevation(longitude, latitude) > 0; }

std::vector<unsigned char> sea_mask(const Grid& ocean) {
    std::vector<unsigned char> mask;
    mask.reserve(static_cast<std::size_t>(ocean.columns) * static_cast<std::size_t>(ocean.rows));
    for (int j = 0; j < ocean.rows; ++j)
        for (int i = 0; i < ocean.columns; ++i)
            mask.push_back(is_land(ocean.longitude(i + 0.5), ocean.latitude(j + 0.5)) ? 0 : 1);
    return mask;
}

double first_wind(double latitude) {
    const double jets =
        sech2((latitude - kJetLatitude) / kJetWidth) + sech2((latitude + kJetLatitude) / kJetWidth);
    return kJetSpeed * jets - kTradeSpeed * bump(latitude, 14.0);
}

double first_storms(double longitude, double latitude) {
    const double x = longitude * kDegree;
    const double north = std::sin(6 * x) + 0.6 * std::sin(7 * x + 1.1) + 0.4 * std::cos(4 * x + 0.3);
    const double south = std::sin(5 * x + 0.7) + 0.6 * std::sin(6 * x + 2.0) + 0.4 * std::cos(8 * x);
    const double tropics = std::sin(9 * x) + 0.5 * std::cos(5 * x + 0.5);
    return 14.0 *
               (north * bump(latitude - kJetLatitude, 10.0) + south * bump(latitude + kJetLatitude, 10.0)) +
           3.0 * tropics * bump(latitude, 12.0);
}

double first_air_temperature(double latitude) {
    const double s = std::sin(latitude * kDegree);
    return kKelvin + 27.0 - 44.0 * s * s;
}

double first_sea_temperature(double latitude) {
    const double s = std::sin(latitude * kDegree);
    return kKelvin + 28.5 - 31.0 * std::pow(std::abs(s), 2.2);
}

Stream stream(double longitude, double latitude) {
    // Zero on land and rising away from the coast: no current crosses it.
    const double offshore = std::clamp(-elevation(longitude, latitude) / 0.3, 0.0, 1.0);
    const double shore = offshore * offshore * (3 - 2 * offshore);
    const double scale = kGyreSpeed * kHeight / (2 * std::numbers::pi);
    const double y = latitude * kDegree;
    const double x = longitude * kDegree;
    // Subtropical gyres turn with the trades, subpolar ones against them.
    const double walls = 1 - std::pow(latitude / kPolewardEnd, 8);
    const double gyres = 0.75 * std::sin(5.2 * y) * walls + 0.12 * std::sin(14 * y);
    const auto eddies = [&](double turn) {
        return 0.16 * std::sin(11 * x + 3 * y + turn) * std::cos(9 * y) +
               0.12 * std::cos(17 * x - 8 * y + turn) * std::cos(13 * y + 0.6) +
               0.10 * std::sin(7 * x + 19 * y + turn);
    };
    const double weight = scale * shore;
    return {weight * gyres, weight * walls * eddies(0), weight * walls * eddies(std::numbers::pi / 2)};
}

double eddy_phase(double seconds) { return 2 * std::numbers::pi * seconds / (9 * kDay); }

} // namespace climate
