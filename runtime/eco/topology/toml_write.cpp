// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/map.h"
#include "topology/acquired_file.h"
#include "topology/toml_values.h"

#include <fmt/format.h>
#include <iterator>

namespace plexus::eco {
namespace {

std::string quote(std::string_view text) {
    std::string out = "\"";
    std::size_t dots = 0;
    for (const char each : text) {
        if (each == '"' || each == '\\') out += '\\';
        const bool dot_too_many = each == '.' && ++dots > kMostDots;
        if (static_cast<unsigned char>(each) < 0x20 || each == 0x7f || dot_too_many) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(each));
        } else {
            out += each;
        }
    }
    return out + '"';
}

std::string list(const std::vector<std::string>& names) {
    std::vector<std::string> quoted;
    for (const std::string& name : names) quoted.push_back(quote(name));
    return fmt::format("[{}]", fmt::join(quoted, ", "));
}

} // namespace

std::string to_toml(const Map& map) {
    const bool both_ways = map.same_both_ways();
    const std::size_t hosts = map.hosts().size();
    std::vector<std::string> names;
    for (const std::string& host : map.hosts()) names.push_back(quote(host));
    std::string out = fmt::format("# What messages cost between these hosts, one way.\n"
                                  "version = {}\ndate = {}\nhosts = {}\nmethods = {}\nsizes_bytes = [{}]\n"
                                  "both_ways = {}\n",
                                  kMapVersion, quote(map.date()), list(map.hosts()), list(map.methods()),
                                  fmt::join(map.sizes_bytes(), ", "), both_ways);
    if (!map.shared_wires().empty()) {
        out += "# hosts that contend for one wire\nshared_wires = [\n";
        for (const auto& wire : map.shared_wires()) {
            std::vector<std::string> on_it;
            for (const std::size_t host : wire) on_it.push_back(map.hosts()[host]);
            out += "  " + list(on_it) + ",\n";
        }
        out += "]\n";
    }
    out += acquired_to_toml(map, quote); // before the sizes: their number tells whether the file was cut off
    for (std::size_t size = 0; size < map.sizes_bytes().size(); ++size) {
        out += fmt::format(
            "\n[[size]]\nbytes = {}\n"
            "# from, to, method, samples, then microseconds: min, 25 %, median, 75 %, 95 %; passes\n"
            "costs = [\n",
            map.sizes_bytes()[size]);
        for (std::size_t from = 0; from < hosts; ++from)
            for (std::size_t to = both_ways ? from + 1 : 0; to < hosts; ++to) {
                const Cost& cost = map.cost(size, from, to);
                if (from == to || !cost.measured()) continue;
                const std::string method =
                    cost.method == Cost::kNoMethod ? "\"\"" : quote(map.methods()[cost.method]);
                fmt::format_to(std::back_inserter(out), "  [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}],\n",
                               names[from], names[to], method, cost.samples, cost.min_us, cost.p25_us,
                               cost.median_us, cost.p75_us, cost.p95_us, cost.passes);
            }
        out += "]\n";
    }
    return out;
}

} // namespace plexus::eco
