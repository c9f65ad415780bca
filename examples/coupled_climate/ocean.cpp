// SPDX-License-Identifier: BSD-3-Clause
#include "ocean.h"

#include "transport.h"

#include <cmath>
#include <numeric>

namespace climate {
namespace {

constexpr double kStill = 0.004;  // m/s, times the grid spacing: mixing without wind, m2/s
constexpr double kStirred = 4e-4; // likewise, for each m/s of wind

} // namespace

Ocean::Ocean(const Grid& grid, const Band& band, int ratio, const std::vector<unsigned char>& sea, double dt)
  : grid_(grid)
  , band_(band)
  , ratio_(ratio)
  , dt_(dt)
  , wet_(grid.columns, band.rows)
  , now_(grid.columns, band.rows)
  , first_(now_)
  , second_(now_)
  , east_parts_{now_, now_, now_}
  , north_parts_{now_, now_, now_}
  , east_(now_)
  , north_(now_)
  , heat_east_(now_)
  , heat_north_(now_)
  , wind_(now_)
  , surface_(static_cast<std::size_t>(grid.columns / ratio) * static_cast<std::size_t>(band.rows / ratio))
  , flux_(static_cast<std::size_t>(grid.columns) * static_cast<std::size_t>(band.rows))
  , books_(static_cast<std::size_t>(band.rows)) {
    const auto at = [&](int row, int column) {
        const int i = (column + grid.columns) % grid.columns;
        const int j = std::clamp(row, 0, grid.rows - 1);
        return sea[static_cast<std::size_t>(j) * static_cast<std::size_t>(grid.columns) +
                   static_cast<std::size_t>(i)] != 0;
    };
    for (int j = -Field::kHalo; j < band.rows + Field::kHalo; ++j) {
        for (int i = 0; i < grid.columns; ++i) wet_.row(j)[i] = at(band.first + j, i) ? 1.0 : 0.0;
        wet_.wrap(j, j + 1);
    }
    // The stream function at the south-western corner of a cell; 0 where a corner touches land
    // or a wall, so that no current crosses either.
    const auto corner = [&](int row, int column) -> Stream {
        const bool ashore = row <= 0 || row >= grid.rows || !at(row, column) || !at(row - 1, column) ||
                            !at(row, column - 1) || !at(row - 1, column - 1);
        return ashore ? Stream{}
                      : stream(grid.longitude((column + grid.columns) % grid.columns), grid.latitude(row));
    };
    const auto row_of_corners = [&](int row) {
        std::vector<Stream> corners;
        for (int i = 0; i <= grid.columns; ++i) corners.push_back(corner(row, i));
        return corners;
    };
    std::vector<Stream> here = row_of_corners(band.first);
    for (int j = 0; j <= band.rows; ++j) {
        const std::vector<Stream> north = row_of_corners(band.first + j + 1);
        for (std::size_t i = 0; i < here.size() - 1; ++i) {
            const auto flows = [&](std::size_t part, double Stream::*which) {
                east_parts_[part].row(j)[i] = -(north[i].*which - here[i].*which) / grid.dy();
                north_parts_[part].row(j)[i] = (here[i + 1].*which - here[i].*which) / grid.dx();
            };
            flows(0, &Stream::steady);
            flows(1, &Stream::cosine);
            flows(2, &Stream::sine);
        }
        here = north;
        for (std::size_t part = 0; part < 3; ++part) {
            east_parts_[part].wrap(j, j + 1);
            north_parts_[part].wrap(j, j + 1);
        }
    }
}

void Ocean::reset(Halo& halo) {
    time_ = 0;
    std::ranges::fill(flux_, 0.0);
    wind_ = Field(grid_.columns, band_.rows);
    for (int j = 0; j < band_.rows; ++j) {
        const double warm = first_sea_temperature(grid_.latitude(band_.first + j + 0.5));
        std::fill_n(now_.row(j), grid_.columns, warm);
    }
    settle(now_, halo);
    for (int j = 0; j < band_.rows; ++j) {
        RowBudget& book = books_[static_cast<std::size_t>(j)];
        book = {};
        book.heat_first = budget(j).heat_now;
    }
}

void Ocean::step(Halo& halo) {
    settle(wind_, halo); // both sides of a face must mix it alike
    steer();
    advance(now_, 0.0, now_, 1.0, first_);
    settle(first_, halo);
    advance(now_, 0.75, first_, 0.25, second_);
    settle(second_, halo);
    advance(now_, 1.0 / 3.0, second_, 2.0 / 3.0, now_);
    exchange_heat();
    settle(now_, halo);
    time_ += dt_;
}

void Ocean::settle(Field& field, Halo& halo) {
    field.wrap(0, band_.rows);
    Field* const fields[] = {&field};
    halo.exchange(fields);
    field.mirror(band_);
}

void Ocean::steer() {
    const double cosine = std::cos(eddy_phase(time_));
    const double sine = std::sin(eddy_phase(time_));
    for (int j = 0; j <= band_.rows; ++j) {
        for (int i = 0; i <= grid_.columns; ++i) {
            east_.row(j)[i] = east_parts_[0].row(j)[i] + cosine * east_parts_[1].row(j)[i] +
                              sine * east_parts_[2].row(j)[i];
            north_.row(j)[i] = north_parts_[0].row(j)[i] + cosine * north_parts_[1].row(j)[i] +
                               sine * north_parts_[2].row(j)[i];
        }
    }
}

void Ocean::advance(const Field& old, double keep, const Field& from, double add, Field& next) {
    // The wind of a cell stirs its western and southern faces; the same for both cells there.
    for (int j = 0; j <= band_.rows; ++j) {
        const double *const t = from.row(j), *const s = from.row(j - 1), *const ss = from.row(j - 2),
                            *const n = from.row(j + 1);
        const double *const u = east_.row(j), *const v = north_.row(j);
        const double *const wet = wet_.row(j), *const south = wet_.row(j - 1), *const wind = wind_.row(j);
        double *const he = heat_east_.row(j), *const hn = heat_north_.row(j);
        for (int i = 0; i <= grid_.columns; ++i) {
            const double mixing = kStill + kStirred * wind[i];
            he[i] = u[i] * face_value(u[i], t[i - 2], t[i - 1], t[i], t[i + 1]) -
                    mixing * wet[i] * wet[i - 1] * (t[i] - t[i - 1]);
            hn[i] =
                v[i] * face_value(v[i], ss[i], s[i], t[i], n[i]) - mixing * wet[i] * south[i] * (t[i] - s[i]);
        }
    }
    const double per_dx = 1 / grid_.dx();
    const double per_dy = 1 / grid_.dy();
    for (int j = 0; j < band_.rows; ++j) {
        const double *const he = heat_east_.row(j), *const hn = heat_north_.row(j),
                            *const hnn = heat_north_.row(j + 1);
        for (int i = 0; i < grid_.columns; ++i) {
            const double warmth = -(he[i + 1] - he[i]) * per_dx - (hnn[i] - hn[i]) * per_dy;
            next.row(j)[i] = keep * old.row(j)[i] + add * (from.row(j)[i] + dt_ * warmth);
        }
    }
}

void Ocean::exchange_heat() {
    for (int j = 0; j < band_.rows; ++j) {
        const auto row = static_cast<std::size_t>(j);
        const double sun = sunshine(grid_.latitude(band_.first + j + 0.5));
        const double* const flux = flux_.data() + row * static_cast<std::size_t>(grid_.columns);
        double taken = 0, given = 0; // W/m2, summed over the row
        for (int i = 0; i < grid_.columns; ++i) {
            if (!sea(j, i)) continue;
            now_.row(j)[i] += dt_ / kOceanHeat * (sun - flux[i]);
            taken += sun;
            given += flux[i];
        }
        const double joules = grid_.area() * dt_;
        books_[row].sun += joules * taken;
        books_[row].sea_to_air += joules * given;
    }
}

std::span<const double> Ocean::surface() {
    std::size_t out = 0;
    for (int j = 0; j < band_.rows; j += ratio_) {
        for (int i = 0; i < grid_.columns; i += ratio_) {
            double sum = 0;
            int cells = 0;
            for (int b = j; b < j + ratio_; ++b) {
                for (int a = i; a < i + ratio_; ++a) {
                    if (!sea(b, a)) continue;
                    sum += now_.row(b)[a];
                    ++cells;
                }
            }
            surface_[out++] = cells > 0 ? sum / cells : 0.0;
        }
    }
    return surface_;
}

void Ocean::meet(std::span<const double> fluxes) {
    const int coarse = grid_.columns / ratio_;
    for (int j = 0; j < band_.rows; ++j) {
        const double* const heat = fluxes.data() + std::ptrdiff_t{j / ratio_} * 2 * coarse;
        const double* const wind = heat + coarse;
        double* const flux = flux_.data() + std::ptrdiff_t{j} * grid_.columns;
        for (int i = 0; i < grid_.columns; ++i) {
            flux[i] = heat[i / ratio_];
            wind_.row(j)[i] = wind[i / ratio_];
        }
    }
}

RowBudget Ocean::budget(int row) const {
    RowBudget book = books_[static_cast<std::size_t>(row)];
    double sum = 0;
    for (int i = 0; i < grid_.columns; ++i)
        if (sea(row, i)) sum += now_.row(row)[i];
    book.heat_now = grid_.area() * kOceanHeat * sum;
    book.digest = digest(book.digest, {now_.row(row), static_cast<std::size_t>(grid_.columns)});
    return book;
}

std::vector<double> Ocean::temperature() const {
    std::vector<double> all;
    for (int j = 0; j < band_.rows; ++j) all.insert(all.end(), now_.row(j), now_.row(j) + grid_.columns);
    return all;
}

} // namespace climate
