// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/map.h"

#include "base/utf8.h"
#include "topology/limits.h"
#include "topology/refuse.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace plexus::eco {
namespace {

// Matrices of 4,096 hosts are 800 MB a size: more cells than that are a mistake, not a map.
constexpr std::size_t kMaxCells = std::size_t{1} << 25;

bool is_name(std::string_view name) {
    const auto plain = [](unsigned char each) { return each > ' ' && each != 0x7f && each != '#'; };
    return !name.empty() && name.size() <= 255 && std::all_of(name.begin(), name.end(), plain);
}

/// A map is written as TOML, which is UTF-8.
void check_text(std::string_view text, const char* what) {
    std::string shown;
    bool good = true;
    while (!text.empty()) {
        const std::size_t size = utf8_character(text);
        if (size == 0) {
            good = false;
            shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
        }
        shown += text.substr(0, size);
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    if (!good) refuse(Status::bad_argument, "the {} \"{}\" is no text in UTF-8", what, shown);
}

void check_names(const std::vector<std::string>& names, const char* what) {
    std::set<std::string_view> seen;
    for (const std::string& name : names) {
        check_text(name, what);
        if (!is_name(name))
            refuse(Status::bad_argument,
                   "\"{}\" is no name of a {}: it has 1 to 255 characters, no blank and no #", name, what);
        if (!seen.insert(name).second) refuse(Status::bad_argument, "the {} {} is there twice", what, name);
    }
}

/// Of a model or a parameter.
void check_word(std::string_view word) {
    const auto plain = [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '_';
    };
    if (word.empty() || word.size() > 64 || !std::all_of(word.begin(), word.end(), plain)) {
        check_text(word, "name");
        refuse(Status::bad_argument,
               "\"{}\" is no name of a model or parameter: it has 1 to 64 of a-z, 0-9 and _", word);
    }
}

void check_seconds(double time_s, std::string_view model, std::string_view what) {
    if (!(time_s >= 0 && time_s <= kMostTime))
        refuse(Status::bad_argument, "{}: {} is a number from 0 to {:g}, not {}", model, what, kMostTime,
               time_s);
}

/// Which of them are times only eco/model knows.
void check_parameter(double value, std::string_view model, std::string_view name) {
    if (!(value >= 0 && value <= kMostBandwidth))
        refuse(Status::bad_argument, "{}: {} is a number from 0 to {:g}, not {}", model, name, kMostBandwidth,
               value);
}

void check_level(const AcquiredLevel& level, std::string_view model) {
    check_seconds(level.latency_s, model, "a latency");
    if (level.sizes.empty()) refuse(Status::bad_argument, "{}: a level has at least one size", model);
    for (std::size_t at = 0; at < level.sizes.size(); ++at) {
        const SizedTimes& each = level.sizes[at];
        if (each.bytes > INT64_MAX || (at > 0 && each.bytes <= level.sizes[at - 1].bytes))
            refuse(Status::bad_argument, "{}: the sizes of a level rise, and {} B is none of them", model,
                   each.bytes);
        for (const double time : {each.send_overhead_s, each.receive_overhead_s, each.gap_s})
            check_seconds(time, model, "an overhead or gap");
    }
}

void check_acquired(const AcquiredModel& each) {
    check_word(each.model);
    check_text(each.words, "remark");
    if (each.cost.messages > INT64_MAX || each.cost.bytes > INT64_MAX)
        refuse(Status::bad_argument, "{}: its cost is too large for a map", each.model);
    check_seconds(each.cost.seconds, each.model, "the time of acquiring it");
    if (!each.parameters.empty() && !each.levels.empty())
        refuse(Status::bad_argument, "{}: a model has parameters or levels, not both", each.model);
    for (const auto& [name, value] : each.parameters) {
        check_word(name);
        check_parameter(value, each.model, name);
    }
    for (const AcquiredLevel& level : each.levels) check_level(level, each.model);
}

double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double low = sorted[below];
    return low + (place - static_cast<double>(below)) * (sorted[above] - low);
}

} // namespace

double Cost::at(Statistic which) const noexcept {
    switch (which) {
    case Statistic::min:
        return min_us;
    case Statistic::p25:
        return p25_us;
    case Statistic::median:
        return median_us;
    case Statistic::p75:
        return p75_us;
    case Statistic::p95:
        return p95_us;
    }
    return min_us;
}

Cost cost_of(std::span<const double> samples_us, std::uint16_t method) {
    if (samples_us.empty()) refuse(Status::bad_argument, "a cost needs at least one sample");
    for (const double each : samples_us)
        if (!(each >= 0) || std::isinf(each))
            refuse(Status::bad_argument, "a cost is a number of microseconds from 0 up, not {}", each);
    std::vector<double> sorted(samples_us.begin(), samples_us.end());
    std::sort(sorted.begin(), sorted.end());
    return {sorted.front(),
            quantile(sorted, 0.25),
            quantile(sorted, 0.5),
            quantile(sorted, 0.75),
            quantile(sorted, 0.95),
            static_cast<std::uint32_t>(sorted.size()),
            method};
}

Map::Map(std::vector<std::string> hosts, std::vector<std::string> methods,
         std::vector<std::uint64_t> sizes_bytes, std::string date)
  : hosts_(std::move(hosts))
  , methods_(std::move(methods))
  , sizes_bytes_(std::move(sizes_bytes))
  , date_(std::move(date)) {
    if (hosts_.empty() || hosts_.size() > kMaxHosts)
        refuse(Status::bad_argument, "a map has 1 to {} hosts, not {}", kMaxHosts, hosts_.size());
    check_names(hosts_, "host");
    check_names(methods_, "method");
    check_text(date_, "date");
    if (sizes_bytes_.empty()) refuse(Status::bad_argument, "a map has at least one size of messages");
    if (std::adjacent_find(sizes_bytes_.begin(), sizes_bytes_.end(), std::greater_equal<>{}) !=
        sizes_bytes_.end())
        refuse(Status::bad_argument, "the sizes of a map rise, and none is there twice");
    if (sizes_bytes_.back() > INT64_MAX)
        refuse(Status::bad_argument, "a size of {} bytes is too large for a map", sizes_bytes_.back());
    const std::size_t pairs = hosts_.size() * hosts_.size();
    if (sizes_bytes_.size() > kMaxCells / pairs)
        refuse(Status::bad_argument, "{} hosts and {} sizes are too many for one map", hosts_.size(),
               sizes_bytes_.size());
    costs_.resize(pairs * sizes_bytes_.size());
}

std::size_t Map::index_of(std::string_view host) const {
    const auto found = std::find(hosts_.begin(), hosts_.end(), host);
    if (found == hosts_.end())
        refuse(Status::not_found, "the map{}{} has no host {}: measure it with plexus probe",
               date_.empty() ? "" : " of ", date_, host);
    return static_cast<std::size_t>(found - hosts_.begin());
}

std::size_t Map::size_index(std::uint64_t bytes) const {
    const auto found = std::find(sizes_bytes_.begin(), sizes_bytes_.end(), bytes);
    if (found == sizes_bytes_.end())
        refuse(Status::not_found, "the map has no costs for {} bytes; its sizes are {}", bytes,
               fmt::join(sizes_bytes_, ", "));
    return static_cast<std::size_t>(found - sizes_bytes_.begin());
}

void Map::set(std::size_t size, std::size_t from, std::size_t to, const Cost& cost) {
    if (size >= sizes_bytes_.size() || from >= hosts_.size() || to >= hosts_.size())
        refuse(Status::bad_argument, "the map has no such size or host");
    if (cost.measured()) {
        const double numbers[] = {cost.min_us, cost.p25_us, cost.median_us, cost.p75_us, cost.p95_us};
        for (const double each : numbers)
            if (!(each >= 0) || std::isinf(each))
                refuse(Status::bad_argument,
                       "the cost from {} to {} is a number of microseconds from 0 up, not {}", hosts_[from],
                       hosts_[to], each);
        if (!std::is_sorted(std::begin(numbers), std::end(numbers)))
            refuse(Status::bad_argument,
                   "the costs from {} to {} do not rise from the least to the 95 % quantile", hosts_[from],
                   hosts_[to]);
        if (cost.method != Cost::kNoMethod && cost.method >= methods_.size())
            refuse(Status::bad_argument, "the map has no method {}", cost.method);
    }
    costs_[(size * hosts_.size() + from) * hosts_.size() + to] = cost;
}

void Map::set_both(std::size_t size, std::size_t a, std::size_t b, const Cost& cost) {
    set(size, a, b, cost);
    set(size, b, a, cost);
}

void Map::set_shared_wires(std::vector<std::vector<std::size_t>> wires) {
    std::vector<char> seen(hosts_.size());
    for (const auto& wire : wires) {
        if (wire.size() < 2) refuse(Status::bad_argument, "two hosts or more share a wire");
        for (const std::size_t host : wire) {
            if (host >= hosts_.size()) refuse(Status::bad_argument, "the map has no host {}", host);
            if (seen[host]++ != 0) refuse(Status::bad_argument, "{} is on two shared wires", hosts_[host]);
        }
    }
    shared_wires_ = std::move(wires);
}

void Map::set_acquired(std::vector<AcquiredModel> models) {
    std::set<std::tuple<std::size_t, std::size_t, std::string_view>> seen;
    for (const AcquiredModel& each : models) {
        if (std::max(each.from, each.to) >= hosts_.size() || each.from == each.to)
            refuse(Status::bad_argument, "a model is acquired between two hosts of the map, not {} and {}",
                   each.from, each.to);
        check_acquired(each);
        if (!seen.emplace(each.from, each.to, each.model).second)
            refuse(Status::bad_argument, "{} is there twice from {} to {}", each.model, hosts_[each.from],
                   hosts_[each.to]);
    }
    std::stable_sort(models.begin(), models.end(), [](const AcquiredModel& one, const AcquiredModel& other) {
        return std::tie(one.from, one.to) < std::tie(other.from, other.to);
    });
    acquired_ = std::move(models);
}

bool Map::same_both_ways() const noexcept {
    for (std::size_t size = 0; size < sizes_bytes_.size(); ++size)
        for (std::size_t a = 0; a < hosts_.size(); ++a)
            for (std::size_t b = 0; b < a; ++b)
                if (cost(size, a, b) != cost(size, b, a)) return false;
    return true;
}

CostMatrix Map::matrix(std::size_t size, Statistic which) const {
    if (size >= sizes_bytes_.size()) refuse(Status::bad_argument, "the map has no such size");
    CostMatrix out(hosts_.size());
    for (std::size_t from = 0; from < hosts_.size(); ++from)
        for (std::size_t to = 0; to < hosts_.size(); ++to)
            if (const Cost& each = cost(size, from, to); from != to && each.measured())
                out.set(from, to, each.at(which));
    return out;
}

CostMatrix Map::matrix(std::size_t size, Statistic which, Symmetry algorithm) const {
    return symmetric(matrix(size, which), algorithm, hosts_);
}

} // namespace plexus::eco
