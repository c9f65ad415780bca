// SPDX-License-Identifier: BSD-3-Clause
#include "exchange.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace climate {
namespace {

/// Adds the time of its scope to `sum`.
class Stopwatch {
  public:
    explicit Stopwatch(double& sum)
      : sum_(sum) {}
    ~Stopwatch() { sum_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

  private:
    using Clock = std::chrono::steady_clock;
    double& sum_;
    Clock::time_point start_ = Clock::now();
};

constexpr Mailroom::Side kSides[] = {Mailroom::south, Mailroom::north};

} // namespace

void StationHalo::exchange(std::span<Field* const> fields) {
    const Stopwatch watch(station_.spent.inside);
    ++turn_;
    for (const Mailroom::Side side : kSides) {
        if (!station_.has_neighbour(side)) continue;
        for (std::uint32_t f = 0; f < fields.size(); ++f) {
            const int first = side == Mailroom::south ? 0 : fields[f]->rows() - Field::kHalo;
            station_.send_halo(side, f, turn_, fields[f]->lines(first, Field::kHalo));
        }
    }
    for (const Mailroom::Side side : kSides) {
        if (!station_.has_neighbour(side)) continue;
        for (std::uint32_t f = 0; f < fields.size(); ++f) {
            const int first = side == Mailroom::south ? -Field::kHalo : fields[f]->rows();
            station_.receive(Mailroom::halo_box(side, f), turn_, [&](std::span<const double> rows) {
                std::ranges::copy(rows, fields[f]->lines(first, Field::kHalo).begin());
            });
        }
    }
}

Coupler::Coupler(Station& station, const Layout& layout)
  : station_(station)
  , shores_(layout.shores(station.model(), station.number()))
  , columns_(static_cast<std::size_t>(layout.grid(Model::atmosphere).columns)) {}

std::span<const double> Coupler::collect(std::size_t row_size) {
    for (const Shore& shore : shores_) {
        const std::size_t first = static_cast<std::size_t>(shore.first) * row_size;
        station_.receive(Mailroom::shore_box(static_cast<std::uint32_t>(shore.member)), turn_,
                         [&](std::span<const double> rows) {
                             arrived_.resize(std::max(arrived_.size(), first + rows.size()));
                             std::ranges::copy(rows, arrived_.begin() + static_cast<std::ptrdiff_t>(first));
                         });
    }
    return arrived_;
}

void Coupler::send(std::span<const double> rows, std::size_t row_size) {
    for (std::size_t k = 0; k < shores_.size(); ++k) {
        const auto first = static_cast<std::size_t>(shores_[k].first);
        const auto count = static_cast<std::size_t>(shores_[k].rows);
        station_.send_shore(k, turn_, rows.subspan(first * row_size, count * row_size));
    }
}

void Coupler::meet(Atmosphere& atmosphere) {
    const Stopwatch watch(station_.spent.between);
    std::optional<plexus::Polling> guard;
    if (!selective_.empty()) guard.emplace(station_.context(), selective_);
    ++turn_;
    atmosphere.meet(collect(columns_));
    send(atmosphere.fluxes(), 2 * columns_);
}

void Coupler::meet(Ocean& ocean) {
    const Stopwatch watch(station_.spent.between);
    std::optional<plexus::Polling> guard;
    if (!selective_.empty()) guard.emplace(station_.context(), selective_);
    ++turn_;
    send(ocean.surface(), columns_);
    ocean.meet(collect(2 * columns_));
}

} // namespace climate
