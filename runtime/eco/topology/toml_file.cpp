// SPDX-License-Identifier: BSD-3-Clause
#include "topology/toml_file.h"

#include "topology/acquired_file.h"

#include <algorithm>
#include <toml++/toml.h>
#include <unordered_map>

namespace plexus::eco {
namespace {

// from, to, method, samples, five numbers; from version 2 on also passes
constexpr std::size_t kCells = 9;
constexpr std::size_t kNewestCells = 10;
constexpr std::size_t kNumbers = 5;

class Reader : private TomlValues {
  public:
    explicit Reader(const std::string& name)
      : TomlValues(name, "map") {}

    Map read(const toml::table& root) {
        const auto version = want<std::int64_t>(root, "version", "a whole number");
        if (version < 1 || version > kMapVersion)
            refuse(Status::bad_config,
                   "{}: the map has version {}, and this Plexus reads versions 1 to {}: measure again with "
                   "plexus probe, or use the Plexus that wrote it",
                   origin(*root.get("version")), version, kMapVersion);
        if (version == 1)
            know(root,
                 {"version", "date", "hosts", "methods", "sizes_bytes", "both_ways", "shared_wires", "size"});
        else
            know(root, {"version", "date", "hosts", "methods", "sizes_bytes", "both_ways", "shared_wires",
                        "acquired", "size"});
        most_cells_ = version == 1 ? kCells : kNewestCells;
        const bool both_ways = want<bool>(root, "both_ways", "true or false");
        Map map = head(root);
        for (std::size_t at = 0; at < map.hosts().size(); ++at) host_places_[map.hosts()[at]] = at;
        for (std::size_t at = 0; at < map.methods().size(); ++at) method_places_[map.methods()[at]] = at;
        if (root.contains("shared_wires")) add_wires(map, list(root, "shared_wires"));
        if (root.contains("acquired")) read_acquired(*this, list(root, "acquired"), host_places_, map);
        const toml::array& sizes = list(root, "size");
        for (std::size_t at = 0; at < std::max(sizes.size(), map.sizes_bytes().size()); ++at) {
            if (at >= sizes.size())
                refuse(Status::bad_config,
                       "{}: there is no [[size]] for {} bytes, which sizes_bytes promises: the file was cut "
                       "off",
                       file(), map.sizes_bytes()[at]);
            const toml::table* size = sizes.get(at)->as_table();
            if (size == nullptr) refuse(Status::bad_config, "{}: a size is a table", origin(*sizes.get(at)));
            know(*size, {"bytes", "costs"});
            const auto bytes = want<std::int64_t>(*size, "bytes", "a whole number");
            if (at >= map.sizes_bytes().size() || static_cast<std::uint64_t>(bytes) != map.sizes_bytes()[at])
                refuse(Status::bad_config, "{}: a [[size]] of {} bytes is not what sizes_bytes says here",
                       origin(*size->get("bytes")), bytes);
            for (const toml::node& row : list(*size, "costs")) add(map, at, row, both_ways);
        }
        return map;
    }

  private:
    std::vector<std::string> names(const toml::table& table, std::string_view key) const {
        std::vector<std::string> out;
        for (const toml::node& each : list(table, key)) {
            const auto name = each.value_exact<std::string>();
            if (!name) refuse(Status::bad_config, "{}: {} are texts", origin(each), key);
            out.push_back(*name);
        }
        return out;
    }

    Map head(const toml::table& root) const {
        std::vector<std::uint64_t> sizes;
        for (const toml::node& each : list(root, "sizes_bytes")) {
            const auto bytes = each.value_exact<std::int64_t>();
            if (!bytes || *bytes < 0)
                refuse(Status::bad_config, "{}: a size is a whole number from 0 up", origin(each));
            sizes.push_back(static_cast<std::uint64_t>(*bytes));
        }
        const auto date = want<std::string>(root, "date", "a text");
        auto hosts = names(root, "hosts");
        auto methods = names(root, "methods");
        try {
            return Map(std::move(hosts), std::move(methods), std::move(sizes), date);
        } catch (const Error& error) {
            refuse(Status::bad_config, "{}: {}", origin(*root.get("hosts")), error.what());
        }
    }

    std::size_t host(const toml::node& cell) const {
        const auto* name = cell.as_string();
        const auto found = name != nullptr ? host_places_.find(name->get()) : host_places_.end();
        if (found == host_places_.end())
            refuse(Status::bad_config, "{}: {} is not among the map's hosts", origin(cell),
                   name != nullptr ? name->get() : "what stands here");
        return found->second;
    }

    std::uint16_t method(const toml::node& cell) const {
        const auto* name = cell.as_string();
        if (name != nullptr && name->get().empty()) return Cost::kNoMethod;
        const auto found = name != nullptr ? method_places_.find(name->get()) : method_places_.end();
        if (found == method_places_.end())
            refuse(Status::bad_config, "{}: {} is not among the map's methods", origin(cell),
                   name != nullptr ? name->get() : "what stands here");
        return static_cast<std::uint16_t>(found->second);
    }

    void add_wires(Map& map, const toml::array& rows) const {
        std::vector<std::vector<std::size_t>> wires;
        for (const toml::node& row : rows) {
            if (!row.is_array())
                refuse(Status::bad_config, "{}: a shared wire is a list of hosts", origin(row));
            auto& wire = wires.emplace_back();
            for (const toml::node& cell : *row.as_array()) wire.push_back(host(cell));
        }
        try {
            map.set_shared_wires(std::move(wires));
        } catch (const Error& error) { refuse(Status::bad_config, "{}: {}", origin(rows), error.what()); }
    }

    void add(Map& map, std::size_t size, const toml::node& node, bool both_ways) const {
        const toml::array* row = node.as_array();
        if (row == nullptr || row->size() < kCells || row->size() > most_cells_)
            refuse(Status::bad_config,
                   "{}: a row of costs is a list of {}: from, to, method, samples, {} numbers{}",
                   origin(node), most_cells_, kNumbers, most_cells_ > kCells ? ", passes" : "");
        const std::size_t from = host(*row->get(0));
        const std::size_t to = host(*row->get(1));
        const std::string pair =
            fmt::format("{}: {} to {}", origin(node), map.hosts()[from], map.hosts()[to]);
        if (from == to) refuse(Status::bad_config, "{}: a host has no cost to itself", pair);
        if (map.cost(size, from, to).measured())
            refuse(Status::bad_config, "{}: is there twice{}", pair,
                   both_ways ? ": with both_ways one row holds for both directions" : "");
        Cost cost;
        cost.method = method(*row->get(2));
        const auto samples = row->get(3)->value_exact<std::int64_t>();
        if (!samples || *samples < 1 || *samples > UINT32_MAX)
            refuse(Status::bad_config, "{}: the number of samples is a whole number from 1 up", pair);
        cost.samples = static_cast<std::uint32_t>(*samples);
        if (row->size() > kCells) { // rows from before there were passes have none
            const auto passes = row->get(kCells)->value_exact<std::int64_t>();
            if (!passes || *passes < 1 || *passes > UINT32_MAX)
                refuse(Status::bad_config, "{}: the number of passes is a whole number from 1 up", pair);
            cost.passes = static_cast<std::uint32_t>(*passes);
        }
        double* const numbers[kNumbers] = {&cost.min_us, &cost.p25_us, &cost.median_us, &cost.p75_us,
                                           &cost.p95_us};
        for (std::size_t at = 0; at < kNumbers; ++at) {
            const toml::node& cell = *row->get(kCells - kNumbers + at);
            const auto value = number(cell);
            if (!value) refuse(Status::bad_config, "{}: a cost is a number of microseconds", pair);
            *numbers[at] = *value;
            if (*numbers[at] < 0)
                refuse(Status::bad_config, "{}: the cost {} is negative", pair, *numbers[at]);
        }
        try {
            map.set(size, from, to, cost);
            if (both_ways) map.set(size, to, from, cost);
        } catch (const Error& error) { refuse(Status::bad_config, "{}: {}", origin(node), error.what()); }
    }

    std::size_t most_cells_ = kNewestCells;
    PlacesByName host_places_;
    std::unordered_map<std::string, std::size_t> method_places_;
};

} // namespace

Map read_toml(std::string_view text, const std::string& name) {
    if (has_endless_name(text))
        refuse(Status::bad_config, "{}: a name with this many dots is in no map", name);
    try {
        return Reader(name).read(toml::parse(text, name));
    } catch (const toml::parse_error& error) {
        const bool cut = error.description().find("end-of-file") != std::string_view::npos;
        refuse(Status::bad_config, "{}:{}: {}{}", name, error.source().begin.line, error.description(),
               cut ? ": the file was cut off" : "");
    }
}

} // namespace plexus::eco
