// SPDX-License-Identifier: BSD-3-Clause
// The two exchanges of the model: halo rows with the neighbouring bands, several times a step; surface
// temperature and fluxes with the other model, every two steps. Model thread only.
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

    /// Selective polling: polls this method only while the models exchange data; empty: no selective polling.
    void poll_here_only(std::string method) { selective_ = std::move(method); }

    /// Exchanges with the other model: the ocean sends its surface temperature, the atmosphere sends the
    /// fluxes that it computes from the temperature.
    void meet(Atmosphere& atmosphere);
    void meet(Ocean& ocean);

  private:
    /// The rows that this band shares with bands of the other model, put together from the arrived messages.
    std::span<const double> collect(std::size_t row_size);
    void send(std::span<const double> rows, std::size_t row_size);

    Station& station_;
    std::vector<Shore> shores_;
    std::size_t columns_;
    std::vector<double> arrived_;
    std::uint64_t turn_ = 0;
    std::string selective_;
};

} // namespace climate
