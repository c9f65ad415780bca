// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/order.h"

#include "tools/benchmark/options.h"
#include "tools/common/json.h"
#include "tools/common/quantity.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace plexus::tools {

namespace {

struct Candidate {
    const Measured* measured;
    double seconds; ///< for a message
};

double cost(const benchmark::Point& point) {
    const bool by_stream = point.bytes_per_s.value_or(0) > 0;
    return by_stream ? static_cast<double>(point.size_bytes) / *point.bytes_per_s : point.one_way_us / 1e6;
}

/// A method moves ahead of its predecessor only if it is clearly faster. (Not a sort: "about as fast as" is
/// not transitive.)
void insert(std::vector<Candidate>& order, const Candidate& candidate) {
    auto at = order.end();
    while (at != order.begin() && candidate.measured->one_process == std::prev(at)->measured->one_process &&
           candidate.seconds < (1 - kNoise) * std::prev(at)->seconds)
        --at;
    order.insert(at, candidate);
}

std::vector<std::string> order_for(const std::vector<Measured>& all, std::uint64_t size_bytes) {
    std::vector<Candidate> order;
    for (const bool one_process : {true, false})
        for (const Measured& each : all)
            for (const benchmark::Point& point : each.points)
                if (each.one_process == one_process && point.size_bytes == size_bytes)
                    insert(order, {&each, cost(point)});
    std::vector<std::string> methods;
    for (const Candidate& each : order) methods.push_back(each.measured->method);
    return methods;
}

std::uint64_t border(std::uint64_t below, std::uint64_t above) {
    const double bits = (std::log2(static_cast<double>(below)) + std::log2(static_cast<double>(above))) / 2;
    return std::uint64_t{1} << static_cast<unsigned>(std::lround(bits));
}

bool has(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// "libfabric" of "libfabric:shm" and of "libfabric?provider=shm".
std::string method_of(const std::string& name) { return name.substr(0, name.find_first_of(":?")); }

/// True for "libfabric:shm", false for "tcp" and "tcp?listen=[::]:0".
bool has_label(const std::string& name) { return name.find(':') < name.find('?'); }

/// "libfabric?provider=shm" in the user's list; empty: the list gives this method no parameters.
std::string entry_with_parameters(const std::string& method, const std::vector<std::string>& wanted) {
    for (const std::string& entry : wanted)
        if (entry.size() > method.size() && benchmark::name_in(entry) == method) return entry;
    return {};
}

} // namespace

std::vector<std::string> names_of_rows(const std::vector<std::string>& rows,
                                       const std::vector<std::string>& wanted) {
    std::vector<std::string> names;
    for (const std::string& row : rows) {
        const std::string entry = entry_with_parameters(row, wanted); // none, where it has a label
        names.push_back(entry.empty() ? row : entry);
    }
    return names;
}

std::vector<std::string> lines_that_fix(const Measured& measured) {
    constexpr std::string_view kBefore = "; fixed by ";
    constexpr std::string_view kIs = " = ";
    const std::size_t at = measured.learned.rfind(kBefore);
    if (at == std::string::npos) return {};
    std::vector<std::string> lines;
    for (const std::string& each : split_list(measured.learned.substr(at + kBefore.size()))) {
        const std::size_t is = each.find(kIs);
        if (is == std::string::npos) continue;
        lines.push_back("method." + method_of(measured.method) + "." + each.substr(0, is) + std::string(kIs) +
                        json::quote(each.substr(is + kIs.size())));
    }
    return lines;
}

std::vector<std::string> list_of(const std::vector<std::string>& order, const std::vector<std::string>& all,
                                 const std::vector<std::string>& wanted) {
    std::vector<std::string> list;
    std::vector<std::string> excluded;
    const auto exclude = [&](const std::string& row) {
        if (!has(order, row) && !has(excluded, "^" + row)) excluded.push_back("^" + row);
    };
    for (auto at = order.begin(); at != order.end(); ++at) {
        const std::string method = method_of(*at);
        const std::string entry = entry_with_parameters(method, wanted);
        const bool is_last = std::none_of(
            at + 1, order.end(), [&](const std::string& later) { return method_of(later) == method; });
        if (!has_label(*at) || entry.empty() || !is_last) {
            list.push_back(*at);
            continue;
        }
        list.push_back(entry);
        for (const std::string& row : all)
            if (row.starts_with(method + ":")) exclude(row);
        for (const std::string& each : wanted)
            if (each.starts_with("^" + method + ":")) exclude(each.substr(1));
    }
    list.insert(list.end(), excluded.begin(), excluded.end());
    return list;
}

std::vector<Range> recommend(const std::vector<Measured>& all) {
    std::set<std::uint64_t> sizes;
    for (const Measured& each : all)
        for (const benchmark::Point& point : each.points) sizes.insert(point.size_bytes);
    std::vector<Range> ranges;
    std::uint64_t before = 0;
    for (const std::uint64_t size : sizes) {
        std::vector<std::string> methods = order_for(all, size);
        if (ranges.empty()) {
            ranges.push_back({0, std::move(methods)});
        } else if (methods != ranges.back().methods) {
            ranges.push_back({border(std::max<std::uint64_t>(before, 1), size), std::move(methods)});
        }
        before = size;
    }
    return ranges;
}

} // namespace plexus::tools
