// SPDX-License-Identifier: BSD-3-Clause
#include "topology/acquired_file.h"

#include <iterator>
#include <utility>

namespace plexus::eco {
namespace {

constexpr std::size_t kSizeCells = 4; // bytes, three times
constexpr std::size_t kCostCells = 3; // messages, bytes, seconds

class AcquiredReader {
  public:
    AcquiredReader(const TomlValues& values, const PlacesByName& hosts)
      : values_(values)
      , hosts_(hosts) {}

    AcquiredModel read(const toml::node& node) const {
        const toml::table* table = node.as_table();
        if (table == nullptr)
            refuse(Status::bad_config, "{}: an acquired model is a table", values_.origin(node));
        values_.know(*table, {"from", "to", "model", "words", "cost", "parameters", "levels"});
        AcquiredModel out;
        out.from = host(*table, "from");
        out.to = host(*table, "to");
        out.model = values_.want<std::string>(*table, "model", "a text");
        if (table->contains("words")) out.words = values_.want<std::string>(*table, "words", "a text");
        out.cost = cost(values_.list(*table, "cost"));
        if (const toml::node* parameters = table->get("parameters")) read(*parameters, out);
        if (table->contains("levels"))
            for (const toml::node& each : values_.list(*table, "levels")) out.levels.push_back(level(each));
        return out;
    }

  private:
    std::size_t host(const toml::table& table, std::string_view key) const {
        const auto name = values_.want<std::string>(table, key, "a text");
        const auto found = hosts_.find(name);
        if (found == hosts_.end())
            refuse(Status::bad_config, "{}: {} is not among the map's hosts", values_.origin(*table.get(key)),
                   name);
        return found->second;
    }

    double number(const toml::node& node) const {
        const auto value = TomlValues::number(node);
        if (!value) refuse(Status::bad_config, "{}: here stands a number", values_.origin(node));
        return *value;
    }

    std::uint64_t whole(const toml::node& node) const {
        const auto value = node.value_exact<std::int64_t>();
        if (!value || *value < 0)
            refuse(Status::bad_config, "{}: here stands a whole number from 0 up", values_.origin(node));
        return static_cast<std::uint64_t>(*value);
    }

    AcquisitionCost cost(const toml::array& cells) const {
        if (cells.size() != kCostCells)
            refuse(Status::bad_config, "{}: a cost is messages, bytes and seconds", values_.origin(cells));
        return {whole(*cells.get(0)), whole(*cells.get(1)), number(*cells.get(2))};
    }

    void read(const toml::node& parameters, AcquiredModel& out) const {
        if (!parameters.is_table())
            refuse(Status::bad_config, "{}: parameters are a table", values_.origin(parameters));
        for (const auto& [key, value] : *parameters.as_table())
            out.parameters.emplace(std::string(key.str()), number(value));
    }

    AcquiredLevel level(const toml::node& node) const {
        const toml::array* cells = node.as_array();
        if (cells == nullptr || cells->size() != 2 || !cells->get(1)->is_array())
            refuse(Status::bad_config, "{}: a level is a latency and a list of sizes", values_.origin(node));
        AcquiredLevel out{number(*cells->get(0)), {}};
        for (const toml::node& each : *cells->get(1)->as_array()) {
            const toml::array* row = each.as_array();
            if (row == nullptr || row->size() != kSizeCells)
                refuse(Status::bad_config, "{}: a size is its bytes, both overheads and the gap",
                       values_.origin(each));
            out.sizes.push_back(
                {whole(*row->get(0)), number(*row->get(1)), number(*row->get(2)), number(*row->get(3))});
        }
        return out;
    }

    const TomlValues& values_;
    const PlacesByName& hosts_;
};

std::string to_toml(const AcquiredLevel& level) {
    std::string out = fmt::format("  [{}, [\n", level.latency_s);
    for (const SizedTimes& each : level.sizes)
        fmt::format_to(std::back_inserter(out), "    [{}, {}, {}, {}],\n", each.bytes, each.send_overhead_s,
                       each.receive_overhead_s, each.gap_s);
    return out + "  ]],\n";
}

} // namespace

void read_acquired(const TomlValues& values, const toml::array& rows, const PlacesByName& hosts, Map& map) {
    const AcquiredReader reader(values, hosts);
    std::vector<AcquiredModel> models;
    const auto set = [&](const toml::node& place, std::vector<AcquiredModel> some) {
        try {
            map.set_acquired(std::move(some));
        } catch (const Error& error) {
            refuse(Status::bad_config, "{}: {}", values.origin(place), error.what());
        }
    };
    for (const toml::node& row : rows) {
        models.push_back(reader.read(row));
        set(row, {models.back()}); // what is wrong with one alone names its row
    }
    set(rows, std::move(models));
}

std::string acquired_to_toml(const Map& map, std::string (*quote)(std::string_view)) {
    std::string out;
    for (const AcquiredModel& each : map.acquired()) {
        if (out.empty())
            out = "\n# Parameters of models in seconds, by their own procedures. cost: messages, bytes, "
                  "seconds.\n# levels: the latency; then bytes, send overhead, receive overhead, gap.\n";
        else
            out += '\n';
        fmt::format_to(std::back_inserter(out),
                       "[[acquired]]\nfrom = {}\nto = {}\nmodel = {}\ncost = [{}, {}, {}]\n",
                       quote(map.hosts()[each.from]), quote(map.hosts()[each.to]), quote(each.model),
                       each.cost.messages, each.cost.bytes, each.cost.seconds);
        if (!each.words.empty()) out += fmt::format("words = {}\n", quote(each.words));
        std::vector<std::string> parameters;
        for (const auto& [name, value] : each.parameters)
            parameters.push_back(fmt::format("{} = {}", name, value));
        if (!parameters.empty()) out += fmt::format("parameters = {{ {} }}\n", fmt::join(parameters, ", "));
        if (each.levels.empty()) continue;
        out += "levels = [\n";
        for (const AcquiredLevel& level : each.levels) out += to_toml(level);
        out += "]\n";
    }
    return out;
}

} // namespace plexus::eco
