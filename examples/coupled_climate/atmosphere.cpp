// SPDX-License-Identifier: BSD-3-Clause
#include "atmosphere.h"

#include "transport.h"

#include <cmath>
#include <numeric>

namespace climate {
namespace {

constexpr double kGravity = 9.81;              // m/s2
constexpr double kDepth = 3000.0;              // m, on average
constexpr double kTopSpeed = 80.0;             // m/s, of the wind
constexpr double kViscosity = 0.20;            // m/s, times the grid spacing: m2/s
constexpr double kConductivity = 0.01;         // likewise, for heat
constexpr double kDrag = 1.0 / (20 * 86400.0); // 1/s

/// Depth that balances the first wind (geostrophy), integrated from the southern wall, one
/// value a cell centre; its mean over the rows is kDepth.
std::vector<double> balanced_depth(const Grid& grid) {
    std::vector<double> depth;
    double height = 0;
    for (int j = 0; j < grid.rows; ++j) {
        depth.push_back(height);
        const double latitude = grid.latitude(j + 1.0);
        height -= coriolis(latitude) * first_wind(latitude) / kGravity * grid.dy();
    }
    const double mean = std::accumulate(depth.begin(), depth.end(), 0.0) / grid.rows;
    for (double& each : depth) each += kDepth - mean;
    return depth;
}

} // namespace

Atmosphere::Atmosphere(const Grid& grid, const Band& band, std::vector<double> sea)
  : grid_(grid)
  , band_(band)
  , dt_(time_step(grid))
  , sea_(std::move(sea))
  , now_(grid.columns, band.rows)
  , first_(grid.columns, band.rows)
  , second_(grid.columns, band.rows)
  , flow_east_(grid.columns, band.rows)
  , flow_north_(grid.columns, band.rows)
  , spin_(grid.columns, band.rows)
  , pressure_(grid.columns, band.rows)
  , temperature_(grid.columns, band.rows)
  , heat_east_(grid.columns, band.rows)
  , heat_north_(grid.columns, band.rows)
  , fluxes_(flux_row_size() * static_cast<std::size_t>(band.rows))
  , books_(static_cast<std::size_t>(band.rows)) {}

double Atmosphere::time_step(const Grid& grid) {
    return 0.45 * std::min(grid.dx(), grid.dy()) / (std::sqrt(kGravity * kDepth) + kTopSpeed);
}

void Atmosphere::reset(Halo& halo) {
    const std::vector<double> depth = balanced_depth(grid_);
    for (int j = 0; j < band_.rows; ++j) {
        const int row = band_.first + j;
        const double latitude = grid_.latitude(row + 0.5);
        for (int i = 0; i < grid_.columns; ++i) {
            const double here = depth[static_cast<std::size_t>(row)];
            now_.depth.row(j)[i] = here;
            now_.east.row(j)[i] = first_wind(latitude);
            now_.north.row(j)[i] =
                row == 0 ? 0.0 : first_storms(grid_.longitude(i + 0.5), grid_.latitude(row));
            now_.heat.row(j)[i] = here * first_air_temperature(latitude);
        }
        books_[static_cast<std::size_t>(j)] = {};
    }
    std::ranges::fill(fluxes_, 0.0);
    settle(now_, halo);
    for (int j = 0; j < band_.rows; ++j) {
        RowBudget& book = books_[static_cast<std::size_t>(j)];
        const RowBudget first = budget(j);
        book.mass_first = first.mass_now;
        book.heat_first = first.heat_now;
    }
}

void Atmosphere::step(Halo& halo) {
    advance(now_, 0.0, now_, 1.0, first_);
    settle(first_, halo);
    advance(now_, 0.75, first_, 0.25, second_);
    settle(second_, halo);
    advance(now_, 1.0 / 3.0, second_, 2.0 / 3.0, now_);
    exchange_heat();
    settle(now_, halo);
}

void Atmosphere::settle(State& state, Halo& halo) {
    const std::array<Field*, 4> fields = state.all();
    for (Field* field : fields) field->wrap(0, band_.rows);
    halo.exchange(fields);
    for (Field* field : {&state.depth, &state.east, &state.heat}) field->mirror(band_);
    // No wind through the walls; beyond one it is the mirror image with the sign changed.
    for (int i = -Field::kHalo; i < grid_.columns + Field::kHalo; ++i) {
        Field& north = state.north;
        if (band_.at_south_wall()) {
            north.row(0)[i] = 0;
            north.row(-1)[i] = -north.row(1)[i];
        }
        if (band_.at_north_wall()) north.row(band_.rows)[i] = 0;
    }
}

void Atmosphere::derive(const State& state) {
    const int columns = grid_.columns;
    const int rows = band_.rows;
    const double per_dx = 1 / grid_.dx();
    const double per_dy = 1 / grid_.dy();
    for (int j = -Field::kHalo; j < rows + Field::kHalo; ++j) {
        const double* const heat = state.heat.row(j);
        const double* const depth = state.depth.row(j);
        double* const warm = temperature_.row(j);
        for (int i = -Field::kHalo; i < columns + Field::kHalo; ++i) warm[i] = heat[i] / depth[i];
    }
    for (int j = -1; j <= rows; ++j) {
        const double twice = coriolis(grid_.latitude(band_.first + j));
        const double *const h = state.depth.row(j), *const hs = state.depth.row(j - 1);
        const double *const u = state.east.row(j), *const us = state.east.row(j - 1);
        const double *const v = state.north.row(j), *const vn = state.north.row(j + 1);
        double *const fe = flow_east_.row(j), *const fn = flow_north_.row(j);
        double *const q = spin_.row(j), *const p = pressure_.row(j);
        for (int i = -1; i <= columns; ++i) {
            fe[i] = u[i] * 0.5 * (h[i] + h[i - 1]);
            fn[i] = v[i] * 0.5 * (h[i] + hs[i]);
            const double curl = (v[i] - v[i - 1]) * per_dx - (u[i] - us[i]) * per_dy;
            q[i] = (twice + curl) * 4 / (h[i] + h[i - 1] + hs[i] + hs[i - 1]);
            p[i] = kGravity * h[i] + 0.25 * (u[i] * u[i] + u[i + 1] * u[i + 1] + v[i] * v[i] + vn[i] * vn[i]);
        }
    }
    const double along = kConductivity * grid_.dx() * per_dx;
    const double across = kConductivity * grid_.dy() * per_dy;
    for (int j = 0; j <= rows; ++j) {
        const double *const t = temperature_.row(j), *const s = temperature_.row(j - 1);
        const double *const ss = temperature_.row(j - 2), *const n = temperature_.row(j + 1);
        const double *const h = state.depth.row(j), *const hs = state.depth.row(j - 1);
        const double *const fe = flow_east_.row(j), *const fn = flow_north_.row(j);
        double *const he = heat_east_.row(j), *const hn = heat_north_.row(j);
        for (int i = 0; i <= columns; ++i) {
            he[i] = fe[i] * face_value(fe[i], t[i - 2], t[i - 1], t[i], t[i + 1]) -
                    along * 0.5 * (h[i] + h[i - 1]) * (t[i] - t[i - 1]);
            hn[i] = fn[i] * face_value(fn[i], ss[i], s[i], t[i], n[i]) -
                    across * 0.5 * (h[i] + hs[i]) * (t[i] - s[i]);
        }
    }
}

void Atmosphere::advance(const State& old, double keep, const State& from, double add, State& next) {
    derive(from);
    const double per_dx = 1 / grid_.dx();
    const double per_dy = 1 / grid_.dy();
    const double rub_x = kViscosity * per_dx;
    const double rub_y = kViscosity * per_dy;
    for (int j = 0; j < band_.rows; ++j) {
        const double *const fe = flow_east_.row(j), *const fes = flow_east_.row(j - 1);
        const double *const fn = flow_north_.row(j), *const fnn = flow_north_.row(j + 1);
        const double *const q = spin_.row(j), *const qn = spin_.row(j + 1);
        const double *const p = pressure_.row(j), *const ps = pressure_.row(j - 1);
        const double *const he = heat_east_.row(j), *const hn = heat_north_.row(j),
                            *const hnn = heat_north_.row(j + 1);
        const double *const u = from.east.row(j), *const us = from.east.row(j - 1),
                            *const un = from.east.row(j + 1);
        const double *const v = from.north.row(j), *const vs = from.north.row(j - 1),
                            *const vn = from.north.row(j + 1);
        const bool wall = band_.first + j == 0;
        for (int i = 0; i < grid_.columns; ++i) {
            const double flow = -(fe[i + 1] - fe[i]) * per_dx - (fnn[i] - fn[i]) * per_dy;
            const double warmth = -(he[i + 1] - he[i]) * per_dx - (hnn[i] - hn[i]) * per_dy;
            const double push_east = 0.25 * (q[i] * (fn[i] + fn[i - 1]) + qn[i] * (fnn[i] + fnn[i - 1])) -
                                     (p[i] - p[i - 1]) * per_dx + rub_x * (u[i + 1] - 2 * u[i] + u[i - 1]) +
                                     rub_y * (un[i] - 2 * u[i] + us[i]) - kDrag * u[i];
            const double push_north =
                -0.25 * (q[i] * (fe[i] + fes[i]) + q[i + 1] * (fe[i + 1] + fes[i + 1])) -
                (p[i] - ps[i]) * per_dy + rub_x * (v[i + 1] - 2 * v[i] + v[i - 1]) +
                rub_y * (vn[i] - 2 * v[i] + vs[i]) - kDrag * v[i];
            const auto blend = [&](const Field& before, const Field& stage, Field& after, double tendency) {
                after.row(j)[i] = keep * before.row(j)[i] + add * (stage.row(j)[i] + dt_ * tendency);
            };
            blend(old.depth, from.depth, next.depth, flow);
            blend(old.heat, from.heat, next.heat, warmth);
            blend(old.east, from.east, next.east, push_east);
            blend(old.north, from.north, next.north, wall ? 0.0 : push_north);
        }
    }
}

void Atmosphere::exchange_heat() {
    const double per_joule = kDepth / kAtmosphereHeat; // K m for each J/m2
    for (int j = 0; j < band_.rows; ++j) {
        const auto row = static_cast<std::size_t>(j);
        const double sun = sunshine(grid_.latitude(band_.first + j + 0.5));
        const double* const flux = fluxes_.data() + row * flux_row_size();
        const double* const sea = sea_.data() + row * static_cast<std::size_t>(grid_.columns);
        const double* const depth = now_.depth.row(j);
        double* const heat = now_.heat.row(j);
        double to_land = 0, to_space = 0, from_sea = 0; // W/m2, summed over the row
        for (int i = 0; i < grid_.columns; ++i) {
            const double warm = sea[i] * flux[i];
            const double shine = (1 - sea[i]) * sun;
            const double loss = radiated(heat[i] / depth[i]);
            heat[i] += dt_ * per_joule * (warm + shine - loss);
            from_sea += warm;
            to_land += shine;
            to_space += loss;
        }
        const double joules = grid_.area() * dt_;
        books_[row].sun += joules * to_land;
        books_[row].space += joules * to_space;
        books_[row].sea_to_air += joules * from_sea;
    }
}

void Atmosphere::meet(std::span<const double> sea_temperature) {
    for (int j = 0; j < band_.rows; ++j) {
        const double *const heat = now_.heat.row(j), *const depth = now_.depth.row(j);
        const double *const u = now_.east.row(j), *const v = now_.north.row(j),
                            *const vn = now_.north.row(j + 1);
        const auto columns = static_cast<std::size_t>(grid_.columns);
        const double* const sea = sea_temperature.data() + static_cast<std::size_t>(j) * columns;
        double* const flux = fluxes_.data() + static_cast<std::size_t>(j) * flux_row_size();
        double* const wind = flux + columns;
        for (int i = 0; i < grid_.columns; ++i) {
            const double east = 0.5 * (u[i] + u[i + 1]);
            const double north = 0.5 * (v[i] + vn[i]);
            flux[i] = kTransfer * (sea[i] - heat[i] / depth[i]);
            wind[i] = std::sqrt(east * east + north * north);
        }
    }
}

RowBudget Atmosphere::budget(int row) const {
    RowBudget book = books_[static_cast<std::size_t>(row)];
    const auto columns = static_cast<std::size_t>(grid_.columns);
    const double *const depth = now_.depth.row(row), *const heat = now_.heat.row(row);
    book.mass_now = grid_.area() * std::accumulate(depth, depth + columns, 0.0);
    book.heat_now = grid_.area() * kAtmosphereHeat / kDepth * std::accumulate(heat, heat + columns, 0.0);
    for (const Field* field : {&now_.depth, &now_.east, &now_.north, &now_.heat})
        book.digest = digest(book.digest, {field->row(row), columns});
    return book;
}

std::vector<double> Atmosphere::temperature() const {
    std::vector<double> all;
    for (int j = 0; j < band_.rows; ++j)
        for (int i = 0; i < grid_.columns; ++i) all.push_back(now_.heat.row(j)[i] / now_.depth.row(j)[i]);
    return all;
}

} // namespace climate
