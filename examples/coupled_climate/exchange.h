// SPDX-License-Identifier: BSD-3-Clause
// The two conversations of the model: halo rows with the bands next to one's own, several
// times a step, and surface temperature and fluxes with the other model, every two steps.
// Model thread only.
#pragma once

#include "atmosphere.h"
#include "ocean.h"
#include "station.h"

namespace climate {

class StationHalo final : public Halo {
  public:
    explicit StationHalo(Station& station)
      : station_(station) {}
    void exchange(std::span<Field* const> fields) override;

  private:
    Station& station_;
    std::uint64_t turn_ = 0;
};

class Coupler {
  public:
    Coupler(Station& station, const Layout& layout);

    /// Selective polling: ask tcp for work only while the models talk.
    void poll_here_only(bool selective) noexcept { selective_ = selective; }

    /// Both sides meet: the sea's temperature goes one way, the fluxes that the atmosphere
    /// makes of it the other.
    void meet(Atmosphere& atmosphere);
    void meet(Ocean& ocean);

  private:
    /// Rows of all our shores, put together from what arrives.
    std::span<const double> collect(std::size_t row_size);
    void send(std::span<const double> rows, std::size_t row_size);

    Station& station_;
    std::vector<Shore> shores_;
    std::size_t columns_;
    std::vector<double> arrived_;
    std::uint64_t turn_ = 0;
    bool selective_ = false;
};

} // namespace climate
