// SPDX-License-Identifier: BSD-3-Clause
#include "tools/map/show/plans.h"

#include "plexus/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace plexus::tools::show {
namespace {

using eco::Operation;

constexpr std::uint64_t kUsualSize = 64 * 1024;
constexpr std::uint64_t kSizes[] = {1024, 64 * 1024, 1024 * 1024};
constexpr std::size_t kMostMessages = 3000;       // of one plan
constexpr std::size_t kMostMessagesInAll = 60000; // a page of some two megabytes
constexpr char kEco[] = "eco";

bool reduces(Operation operation) {
    return operation == Operation::reduce || operation == Operation::all_reduce;
}

ShownPlan make(const eco::Network& network, Operation operation, const std::string& pattern, std::size_t root,
               std::uint64_t size) {
    const std::uint32_t element = reduces(operation) && size % 8 == 0 ? 8 : 1;
    eco::PlanRequest request{operation,      network.size(), static_cast<eco::Rank>(root),
                             size / element, element,        true};
    if (operation == Operation::barrier) request.elements = 0;
    const auto kind = std::find_if(std::begin(eco::kPatterns), std::end(eco::kPatterns),
                                   [&](eco::Pattern each) { return to_string(each) == pattern; });
    ShownPlan shown{operation, pattern, root, size, {}, {}, 0};
    shown.plan = pattern == kEco ? plan_eco(request, network) : plan(request, {*kind, 2, 0, 8192});
    shown.flights = timeline(shown.plan, network);
    for (const eco::Flight& flight : shown.flights)
        shown.total_us = std::max({shown.total_us, flight.free_us, flight.taken_us});
    return shown;
}

std::vector<std::string> patterns_for(Operation operation, const PlanOptions& options) {
    std::vector<std::string> all{kEco};
    for (const eco::Pattern pattern : eco::kPatterns)
        if (supports(pattern, operation)) all.emplace_back(to_string(pattern));
    if (options.pattern.empty()) return all;
    if (std::find(all.begin(), all.end(), options.pattern) == all.end()) return {};
    return {options.pattern};
}

std::vector<std::uint64_t> sizes_for(Operation operation, const PlanOptions& options) {
    if (operation == Operation::barrier) return {0};
    if (options.size_bytes) return {*options.size_bytes};
    return {std::begin(kSizes), std::end(kSizes)};
}

std::vector<std::size_t> roots_for(Operation operation, const std::vector<std::size_t>& roots,
                                   const PlanOptions& options) {
    if (!has_root(operation)) return {0};
    if (options.root) return {*options.root};
    // For the other patterns, the first root shows as much as all roots.
    return operation == Operation::broadcast ? roots : std::vector<std::size_t>{roots.front()};
}

} // namespace

ShownPlan one_plan(const eco::Network& network, const PlanOptions& options) {
    const Operation operation = options.operation.value_or(Operation::broadcast);
    return make(network, operation, options.pattern.empty() ? kEco : options.pattern,
                options.root.value_or(0),
                operation == Operation::barrier ? 0 : options.size_bytes.value_or(kUsualSize));
}

std::vector<ShownPlan> many_plans(const eco::Network& network, const std::vector<std::size_t>& roots,
                                  const PlanOptions& options) {
    const bool is_one = options.operation && !options.pattern.empty();
    std::vector<ShownPlan> plans;
    std::size_t messages = 0;
    bool too_large = false;
    const auto add = [&](Operation operation, std::size_t root) {
        for (const std::uint64_t size : sizes_for(operation, options))
            for (const std::string& pattern : patterns_for(operation, options)) {
                ShownPlan shown = make(network, operation, pattern, root, size);
                const std::size_t more = shown.plan.messages.size();
                if (!is_one && (more > kMostMessages || messages + more > kMostMessagesInAll)) {
                    too_large = true;
                    continue;
                }
                messages += more;
                plans.push_back(std::move(shown));
            }
    };
    // Each operation has its first root before any has its second.
    std::size_t most_roots = 1;
    for (std::size_t turn = 0; turn < most_roots; ++turn)
        for (const Operation operation : eco::kOperations) {
            if (options.operation && *options.operation != operation) continue;
            const auto mine = roots_for(operation, roots, options);
            most_roots = std::max(most_roots, mine.size());
            if (turn < mine.size()) add(operation, mine[turn]);
        }
    if (plans.empty() && too_large)
        throw Error(
            Status::too_large,
            fmt::format("among {} hosts each plan by {} has more than {} messages, which no page of many "
                        "plans holds: name one operation with --operation",
                        network.size(), options.pattern.empty() ? "any pattern" : options.pattern,
                        kMostMessages));
    if (plans.empty())
        throw Error(Status::unsupported,
                    fmt::format("{} does not suit {}: leave --pattern out to see those that do",
                                options.pattern,
                                options.operation ? to_string(*options.operation) : "any operation"));
    return plans;
}

bool has_root(Operation operation) {
    return operation == Operation::broadcast || operation == Operation::scatter ||
           operation == Operation::gather || operation == Operation::reduce;
}

Operation operation_of(const std::string& name) {
    std::vector<std::string_view> names;
    for (const Operation each : eco::kOperations) {
        if (to_string(each) == name) return each;
        names.push_back(to_string(each));
    }
    throw Error(Status::bad_argument,
                fmt::format("--operation takes one of {}, not \"{}\"", fmt::join(names, ", "), name));
}

void check_pattern(const std::string& name) {
    std::vector<std::string_view> names{kEco};
    for (const eco::Pattern each : eco::kPatterns) names.push_back(to_string(each));
    if (std::find(names.begin(), names.end(), name) == names.end())
        throw Error(Status::bad_argument,
                    fmt::format("--pattern takes one of {}, not \"{}\"", fmt::join(names, ", "), name));
}

} // namespace plexus::tools::show
