// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/history.h"

#include "group/map_number.h"
#include "plexus/eco/algorithm.h"
#include "plexus/wire_type.h"
#include "topology/refuse.h"
#include "topology/toml_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>
#include <toml++/toml.h>
#include <tuple>

namespace plexus::eco {
namespace {

constexpr std::uint64_t kMostOldCalls = 100;
auto key_of(const PastCalls& calls) {
    return std::tie(calls.place, calls.operation, calls.root, calls.bytes, calls.algorithm);
}

bool is_time(double us) { return std::isfinite(us) && us >= 0; }

class HistoryReader : private TomlValues {
  public:
    explicit HistoryReader(const std::string& name)
      : TomlValues(name, "history") {}

    History read(const toml::table& root) const {
        if (root.contains("hosts"))
            refuse(Status::bad_config, "{}: this is the map of a network, and no history", file());
        const auto version = want<std::int64_t>(root, "version", "a whole number");
        if (version != kHistoryVersion)
            refuse(Status::bad_config, "{}: the history has version {}, and this Plexus reads version {}",
                   file(), version, kHistoryVersion);
        History out;
        const toml::node* const all = root.get("calls");
        const auto count = want<std::int64_t>(root, "count", "a whole number");
        const toml::array* const list = all == nullptr ? nullptr : all->as_array();
        if (all != nullptr && list == nullptr)
            refuse(Status::bad_config, "{}: calls is a list of tables", file());
        const std::size_t have = list == nullptr ? 0 : list->size();
        if (count < 0 || have != static_cast<std::uint64_t>(count))
            refuse(Status::bad_config, "{}: there are {} calls, and count says {}: the file was cut off",
                   file(), have, count);
        struct Row {
            PastCalls calls;
            const toml::table* table;
        };
        std::vector<Row> rows;
        const auto at_line = [&](const toml::table& table, auto body) {
            try {
                body();
            } catch (const Error& error) {
                if (error.status() != Status::bad_argument) throw;
                refuse(Status::bad_config, "{}: {}", origin(table), error.what());
            }
        };
        for (std::size_t each = 0; each < have; ++each) {
            const toml::table* const table = list->get(each)->as_table();
            if (table == nullptr) refuse(Status::bad_config, "{}: calls is a list of tables", file());
            at_line(*table, [&] { rows.push_back({calls_in(*table), table}); });
        }
        // Each is added behind all before it then.
        std::stable_sort(rows.begin(), rows.end(),
                         [](const Row& a, const Row& b) { return key_of(a.calls) < key_of(b.calls); });
        for (const Row& each : rows) at_line(*each.table, [&] { out.add(each.calls); });
        return out;
    }

  private:
    std::uint64_t number(const toml::table& table, std::string_view key) const {
        const auto value = want<std::int64_t>(table, key, "a whole number");
        if (value < 0) refuse(Status::bad_argument, "{} is {}", key, value);
        return static_cast<std::uint64_t>(value);
    }
    std::uint64_t digest(const toml::table& table, std::string_view key) const {
        const auto text = want<std::string>(table, key, "a text");
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
        if (error != std::errc{} || end != text.data() + text.size())
            refuse(Status::bad_argument, "{} is a hexadecimal number in quotes", key);
        return value;
    }
    PastCalls calls_in(const toml::table& table) const {
        PastCalls out;
        out.place = {digest(table, "map"), digest(table, "members")};
        const auto operation = want<std::string>(table, "operation", "a text");
        const auto* const found = std::find_if(std::begin(kOperations), std::end(kOperations),
                                               [&](Operation each) { return to_string(each) == operation; });
        if (found == std::end(kOperations))
            refuse(Status::bad_argument, "there is no operation {}", operation);
        out.operation = *found;
        const std::uint64_t root = number(table, "root");
        if (root > UINT32_MAX) refuse(Status::bad_argument, "there is no root {}", root);
        out.root = static_cast<Rank>(root);
        out.bytes = number(table, "bytes");
        out.algorithm = want<std::string>(table, "algorithm", "a text");
        out.predicted_us = want<double>(table, "predicted_us", "a number of microseconds");
        out.measured_us = want<double>(table, "measured_us", "a number of microseconds");
        out.calls = number(table, "calls");
        return out;
    }
};

} // namespace

HistoryPlace history_place(const Map& map, std::span<const std::string> hosts) {
    using plexus::detail::mix;
    HistoryPlace out{mix_costs(0xcbf29ce484222325ull, map),
                     mix(0xcbf29ce484222325ull, std::uint64_t{hosts.size()})};
    for (const std::string& host : hosts) out.members = mix(out.members, host);
    return out;
}

void History::add(const PastCalls& calls) {
    if (calls.calls == 0 || !is_time(calls.predicted_us) || !is_time(calls.measured_us))
        refuse(Status::bad_argument, "{} calls with a predicted time of {} us and a measured time of {} us",
               calls.calls, calls.predicted_us, calls.measured_us);
    if (!parse_algorithm(calls.algorithm))
        refuse(Status::bad_argument, "there is no algorithm \"{}\"", calls.algorithm);
    const auto at =
        std::lower_bound(calls_.begin(), calls_.end(), calls,
                         [](const PastCalls& a, const PastCalls& b) { return key_of(a) < key_of(b); });
    if (at == calls_.end() || key_of(*at) != key_of(calls)) {
        calls_.insert(at, calls);
        return;
    }
    const auto old = static_cast<double>(std::min(at->calls, kMostOldCalls));
    const auto fresh = static_cast<double>(calls.calls);
    at->measured_us = (at->measured_us * old + calls.measured_us * fresh) / (old + fresh);
    at->predicted_us = calls.predicted_us;
    at->calls += std::min(calls.calls, INT64_MAX - std::min<std::uint64_t>(at->calls, INT64_MAX));
}

void History::add(const History& other) {
    const std::vector<PastCalls> calls = other.calls_; // may be this one
    for (const PastCalls& each : calls) add(each);
}

const PastCalls* History::fastest(const HistoryPlace& place, Operation operation, Rank root,
                                  std::uint64_t bytes) const {
    const auto kind_of = [](const PastCalls& calls) {
        return std::tie(calls.place, calls.operation, calls.root, calls.bytes);
    };
    PastCalls wanted;
    wanted.place = place;
    wanted.operation = operation;
    wanted.root = root;
    wanted.bytes = bytes;
    const auto [begin, end] =
        std::equal_range(calls_.begin(), calls_.end(), wanted,
                         [&](const PastCalls& a, const PastCalls& b) { return kind_of(a) < kind_of(b); });
    const auto least = std::min_element(
        begin, end, [](const PastCalls& a, const PastCalls& b) { return a.measured_us < b.measured_us; });
    return least == end ? nullptr : &*least;
}

std::string to_toml(const History& history) {
    std::string out = fmt::format("# What collective calls were predicted to take, and what they took.\n"
                                  "version = {}\ncount = {}\n",
                                  kHistoryVersion, history.calls().size());
    for (const PastCalls& each : history.calls())
        out += fmt::format("\n[[calls]]\nmap = \"{:016x}\"\nmembers = \"{:016x}\"\noperation = \"{}\"\n"
                           "root = {}\nbytes = {}\nalgorithm = \"{}\"\npredicted_us = {:.17e}\n"
                           "measured_us = {:.17e}\ncalls = {}\n",
                           each.place.map, each.place.members, to_string(each.operation), each.root,
                           each.bytes, each.algorithm, each.predicted_us, each.measured_us, each.calls);
    return out;
}

History read_history(std::string_view text, const std::string& name) {
    if (has_endless_name(text))
        refuse(Status::bad_config, "{}: a name with this many dots is in no history", name);
    try {
        return HistoryReader(name).read(toml::parse(text, name));
    } catch (const toml::parse_error& error) {
        refuse(Status::bad_config, "{}:{}: {}: this is no history, or it was damaged", name,
               error.source().begin.line, error.description());
    }
}

} // namespace plexus::eco
