// SPDX-License-Identifier: BSD-3-Clause
// The ordered ways to reach one context, and what selection says of them.
#pragma once

#include "plexus/export.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus {

/// Parameters of a method, by key, as text: {{"sndbuf", "4 MiB"}}.
using Parameters = std::map<std::string, std::string>;

/// The few bytes that a module needs to reach one context by its method. Opaque to
/// everybody but that module; a method unknown here travels on unharmed.
struct Descriptor {
    std::string method; ///< "tcp"; "libfabric:verbs", where a method has several rows
    std::vector<std::byte> bytes;
    Parameters parameters; ///< set when a connection is opened by this row; never travel
    /// How far its owner lets the method reach, as `within` in a file: "host", "site", names of sites with
    /// commas between; empty: anywhere.
    std::string within{};

    bool operator==(const Descriptor&) const = default;
};

/// Where a context is, as it says itself.
struct Place {
    std::string site;                    ///< its key `site`; empty: it names none
    std::array<std::uint8_t, 16> host{}; ///< the same for all contexts of one host; all zero: not known

    bool operator==(const Place&) const = default;
};

/// True if `name` means the row called `row`: a method means all its rows, "method:label" the
/// one.
constexpr bool means_row(std::string_view name, std::string_view row) noexcept {
    return row.starts_with(name) && (row.size() == name.size() || row[name.size()] == ':');
}

/// An ordered list of descriptors: order is preference (Nexus, section 3.1). A value: a
/// pointer's own table changes by GlobalPointer::set_table. Not synchronised.
class PLEXUS_API DescriptorTable {
  public:
    static constexpr std::size_t kMaxRows = 32;

    std::size_t size() const noexcept { return rows_.size(); }
    bool empty() const noexcept { return rows_.empty(); }
    const Descriptor& operator[](std::size_t row) const { return rows_[row]; }
    auto begin() const noexcept { return rows_.begin(); }
    auto end() const noexcept { return rows_.end(); }

    /// The first row that `method` means, if any.
    std::optional<std::size_t> find(std::string_view method) const noexcept;

    /// Puts a row before row `at` (size(): at the end).
    /// @error bad_argument `at` is past the end, or the table is full (thrown)
    void insert(std::size_t at, Descriptor descriptor);
    void push_back(Descriptor descriptor) { insert(size(), std::move(descriptor)); }
    /// @error bad_argument no such row (thrown)
    void erase(std::size_t row);
    /// Moves a row; the others keep their order. @error bad_argument no such row (thrown)
    void move(std::size_t from, std::size_t to);
    /// Brings the rows that these names mean to the front, in this order; the others follow.
    void prefer(const std::vector<std::string>& methods);

    /// Where the context is that the rows lead to.
    const Place& place() const noexcept { return place_; }
    void set_place(Place place) { place_ = std::move(place); }

    /// The methods that GlobalPointer::prescribe() fixed, as a list with parameters ("tcp?sndbuf=4MiB"), in
    /// printable ASCII; empty: none. Rows that it does not name are not chosen.
    const std::string& prescribed() const noexcept { return prescribed_; }
    void set_prescribed(std::string methods) { prescribed_ = std::move(methods); }

    bool operator==(const DescriptorTable&) const = default;

  private:
    Place place_;
    std::string prescribed_;
    std::vector<Descriptor> rows_;
};

/// What was found about one row: `because` is English ("other host").
struct Verdict {
    std::string method;
    bool applies = false;
    std::string because;
};

/// The outcome of a selection: the row taken, if any, and what was found about each row
/// that was looked at.
struct Choice {
    std::optional<std::size_t> row;
    std::vector<Verdict> trail;
};

/// "shm: other host; tcp: applies (row 2)". @thread any
PLEXUS_API std::string to_string(const Choice& choice);

} // namespace plexus
