// SPDX-License-Identifier: BSD-3-Clause
// The planet: its size, sun, continents, first winds and currents. An idealised Earth as a flat channel
// between 75 degrees south and north. Currents are stronger than real ones, so that days show changes
// which take years on Earth. Pure functions of place.
#pragma once

#include <vector>

namespace climate {

inline constexpr double kCircumference = 4.0e7;                          // m
inline constexpr double kPolewardEnd = 75.0;                             // degrees
inline constexpr double kHeight = kCircumference * kPolewardEnd / 180.0; // m, from wall to wall
inline constexpr double kKelvin = 273.15;
inline constexpr double kAtmosphereHeat = 1.0e7; // J/(m2 K), of the whole column
inline constexpr double kOceanHeat = 2.0e8;      // J/(m2 K), of the mixed layer
inline constexpr double kTransfer = 20.0;        // W/(m2 K), between sea and air

/// Square cells are not required; the spacing is the same everywhere.
struct Grid {
    int columns = 0;
    int rows = 0;

    double dx() const noexcept { return kCircumference / columns; }
    double dy() const noexcept { return kHeight / rows; }
    double area() const noexcept { return dx() * dy(); }
    /// Degrees, of a position in cells: 0.5 is the centre of the first.
    double longitude(double i) const noexcept { return 360.0 * i / columns - 180.0; }
    double latitude(double j) const noexcept { return kPolewardEnd * (2.0 * j / rows - 1.0); }
};

/// Twice the planet's rotation, seen from `latitude`; 1/s.
double coriolis(double latitude);
/// The heat that the ground absorbs from the sun, a yearly mean; W/m2.
double sunshine(double latitude);
/// The heat that air of this temperature (K) loses to space; W/m2.
double radiated(double temperature);

bool is_land(double longitude, double latitude);
/// 1 for sea, 0 for land, cell by cell from the south-west corner on.
std::vector<unsigned char> sea_mask(const Grid& ocean);

/// The wind to begin with (m/s, eastward) and its stormy part (northward).
double first_wind(double latitude);
double first_storms(double longitude, double latitude);
double first_air_temperature(double latitude);
double first_sea_temperature(double latitude);

/// Stream function of the currents (m2/s) as if there were no land: the steady part, and
/// two patterns whose weights are the cosine and sine of eddy_phase().
struct Stream {
    double steady = 0, cosine = 0, sine = 0;
};
Stream stream(double longitude, double latitude);
double eddy_phase(double seconds);

} // namespace climate
