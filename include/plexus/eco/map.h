// SPDX-License-Identifier: BSD-3-Clause
// The map: what was measured of a network, as a value. Hosts in order, the methods that
// carried the measurements, what a message of each size costs between each two hosts, and
// parameters of models that were acquired between some.
// Knows nothing of how it was measured or what is made of it. No clock, no network; a value
// is used by one thread at a time, or read by many.
#pragma once

#include "plexus/eco/acquired.h"
#include "plexus/export.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::eco {

/// Of the map's file as it is written. A reader takes every version from 1 to this one and refuses any other.
/// 1: without acquired models, and without the passes of costs.
inline constexpr std::uint32_t kMapVersion = 2;
inline constexpr std::size_t kMaxHosts = 4096;

enum class Statistic : std::uint8_t { min, p25, median, p75, p95 };

/// What one message costs one way, as it was seen in `samples` repetitions.
struct Cost {
    static constexpr std::uint16_t kNoMethod = 0xffff;

    double min_us = 0;
    double p25_us = 0;
    double median_us = 0;
    double p75_us = 0;
    double p95_us = 0;
    std::uint32_t samples = 0;        ///< 0: not measured, and the numbers mean nothing
    std::uint16_t method = kNoMethod; ///< a place in Map::methods()
    std::uint32_t passes = 1;         ///< of a probe over all pairs, whose samples are in it

    bool measured() const noexcept { return samples > 0; }
    PLEXUS_API double at(Statistic which) const noexcept;
    bool operator==(const Cost&) const = default;
};

/// The cost that these repetitions show. Quantiles between two samples are interpolated.
/// @error bad_argument there is no sample, or one is negative or no number (thrown)
PLEXUS_API Cost cost_of(std::span<const double> samples_us, std::uint16_t method = Cost::kNoMethod);

/// One number for each ordered pair of hosts; infinity: not measured. The diagonal means
/// nothing and reads as 0.
class PLEXUS_API CostMatrix {
  public:
    static constexpr double kNotMeasured = std::numeric_limits<double>::infinity();

    /// Nothing is measured yet.
    explicit CostMatrix(std::size_t hosts);

    std::size_t size() const noexcept { return hosts_; }
    double operator()(std::size_t from, std::size_t to) const { return costs_[from * hosts_ + to]; }
    /// @error bad_argument `cost` is negative or no number, or there is no such host (thrown)
    void set(std::size_t from, std::size_t to, double cost);
    void set_both(std::size_t a, std::size_t b, double cost);

    bool operator==(const CostMatrix&) const = default;

  private:
    std::size_t hosts_;
    std::vector<double> costs_;
};

/// What to do where a to b costs something else than b to a. Where one way alone was
/// measured, every kind but `refuse` takes it for both.
enum class Symmetry : std::uint8_t { refuse, min, max, mean };

/// The same both ways. `hosts` are names for the sentence.
/// @error bad_config `how` is refuse, and it is not (thrown; names the two hosts)
PLEXUS_API CostMatrix symmetric(const CostMatrix& costs, Symmetry algorithm,
                                std::span<const std::string> hosts);

class PLEXUS_API Map {
  public:
    /// Nothing is measured yet. `date` is a text, as 2026-11-21T08:54:19Z.
    /// @error bad_argument no host or too many, no size, a name twice, one with blanks or not in
    ///                     UTF-8 (thrown)
    Map(std::vector<std::string> hosts, std::vector<std::string> methods,
        std::vector<std::uint64_t> sizes_bytes, std::string date);

    const std::vector<std::string>& hosts() const noexcept { return hosts_; }
    const std::vector<std::string>& methods() const noexcept { return methods_; }
    /// Rising. A plain matrix has the one size 0: nobody said which.
    const std::vector<std::uint64_t>& sizes_bytes() const noexcept { return sizes_bytes_; }
    const std::string& date() const noexcept { return date_; }

    /// The place of a host. @error not_found the map lacks it (thrown)
    std::size_t index_of(std::string_view host) const;
    /// The place of a size. @error not_found it was not measured (thrown; says which were)
    std::size_t size_index(std::uint64_t bytes) const;

    /// `size` is a place in sizes_bytes(), `from` and `to` are places in hosts().
    const Cost& cost(std::size_t size, std::size_t from, std::size_t to) const {
        return costs_[(size * hosts_.size() + from) * hosts_.size() + to];
    }
    /// @error bad_argument negative, not rising from min to p95, no such place (thrown)
    void set(std::size_t size, std::size_t from, std::size_t to, const Cost& cost);
    void set_both(std::size_t size, std::size_t a, std::size_t b, const Cost& cost);

    /// Hosts, by their places, that contend for one wire: while one of them sends or is sent
    /// to, the others wait. What nobody looked at is not among them.
    const std::vector<std::vector<std::size_t>>& shared_wires() const noexcept { return shared_wires_; }
    /// @error bad_argument no such host, one that is there twice, or a wire of fewer than two (thrown)
    void set_shared_wires(std::vector<std::vector<std::size_t>> wires);

    /// Models whose parameters were acquired between two hosts, sorted by pair and in the order in which they
    /// were given.
    const std::vector<AcquiredModel>& acquired() const noexcept { return acquired_; }
    /// @error bad_argument no such host, a host with itself, a model of a pair twice, a name that is none, a
    ///        number that is negative or not finite, sizes that do not rise, words that are no UTF-8 (thrown)
    void set_acquired(std::vector<AcquiredModel> models);

    /// True if every pair has the same cost in both directions.
    bool same_both_ways() const noexcept;
    CostMatrix matrix(std::size_t size, Statistic which) const;
    /// The same made symmetric. @error bad_config it is not, and `how` is refuse (thrown)
    CostMatrix matrix(std::size_t size, Statistic which, Symmetry algorithm) const;

    bool operator==(const Map&) const = default;

  private:
    std::vector<std::string> hosts_;
    std::vector<std::string> methods_;
    std::vector<std::uint64_t> sizes_bytes_;
    std::string date_;
    std::vector<Cost> costs_; // size by size, row by row
    std::vector<std::vector<std::size_t>> shared_wires_;
    std::vector<AcquiredModel> acquired_;
};

/// The map as TOML, a pair a line; read_map() gives the same map again.
PLEXUS_API std::string to_toml(const Map& map);

/// A map from TOML, or from a plain matrix: `N name1 … nameN`, then N rows of N numbers,
/// `-` or `inf` where nothing was measured, # before a comment, the diagonal ignored. `name`
/// is the file's, for the sentences.
/// @error bad_config another version, cut off, negative, an unknown or a missing host, … (thrown; with
///                   the line)
PLEXUS_API Map read_map(std::string_view text, const std::string& name);

/// read_map() of a whole file. @error not_found it cannot be read (thrown); those of read_map()
PLEXUS_API Map load_map(const std::string& path);

} // namespace plexus::eco
