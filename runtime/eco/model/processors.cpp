// SPDX-License-Identifier: BSD-3-Clause
// The two models that know each processor: their messages are sums of parameters. One unknown of the first
// processor is left out, since adding to all processors and taking away from the network changes no sum; then
// the least processor gets 0.
#include "model/least_squares.h"
#include "model/parameters.h"
#include "topology/refuse.h"

#include <algorithm>
#include <utility>

namespace plexus::eco {
namespace {

constexpr std::size_t kMostUnknowns = 512;
constexpr char kNotTold[] = "the measured pairs do not tell processors and network apart: it takes three "
                            "processors, each with each, and two sizes";

std::size_t processors_of(const Sample& sample, std::size_t unknowns_each) {
    std::size_t out = 0;
    for (const MeasuredMessage& each : sample.messages)
        out = std::max({out, each.message.sender + 1, each.message.receiver + 1});
    if (out < 3) refuse_sample(kNotTold);
    if (out > kMostUnknowns / unknowns_each)
        refuse(Status::bad_argument, "{} processors are too many to be told apart: it takes up to {}", out,
               kMostUnknowns / unknowns_each);
    return out;
}

void check_pair(const ModelMessage& message) {
    if (message.sender == message.receiver)
        refuse(Status::bad_argument, "a message from processor {} to itself was measured", message.sender);
}

std::vector<double> solved(const LeastSquares& equations) {
    auto out = equations.solve();
    if (!out) refuse_sample(kNotTold);
    return std::move(*out);
}

/// The unknowns `first`, … of processors from the second on; what is taken from all is added to `network`.
std::vector<double> with_least_zero(const std::vector<double>& solution, std::size_t first,
                                    std::size_t processors, double scale, double& network) {
    std::vector<double> out{0};
    for (std::size_t place = 1; place < processors; ++place) out.push_back(solution[first + place - 1]);
    const double least = *std::min_element(out.begin(), out.end());
    for (double& each : out) each = settled(each - least, scale);
    network += 2 * least;
    return out;
}

} // namespace

Cappello cappello_of(const Sample& sample) {
    rising_times(sample.messages, 2);
    const std::size_t processors = processors_of(sample, 1);
    std::size_t levels = 0;
    for (const MeasuredMessage& each : sample.messages) levels = std::max(levels, each.message.level + 1);
    if (levels > kMostUnknowns) refuse(Status::bad_argument, "{} levels are too many", levels);
    const std::size_t network = processors - 1; // two unknowns of each level from here on
    LeastSquares equations(network + 2 * levels);
    for (const auto& [message, time] : sample.messages) {
        check_pair(message);
        std::vector<Term> terms;
        for (const std::size_t end : {message.sender, message.receiver})
            if (end > 0) terms.push_back({end - 1, 1 / time});
        terms.push_back({network + 2 * message.level, 1 / time});
        terms.push_back({network + 2 * message.level + 1, static_cast<double>(message.bytes) / time});
        equations.add(terms, 1);
    }
    const std::vector<double> solution = solved(equations);
    const double scale = sample.messages.front().time_s;
    double taken = 0;
    Cappello out{with_least_zero(solution, 0, processors, scale, taken), {}};
    for (std::size_t level = 0; level < levels; ++level) {
        const double per_byte = solution[network + 2 * level + 1];
        if (!(per_byte > 0)) refuse_sample("the time does not rise with size: there is no bandwidth");
        out.levels.push_back({settled(solution[network + 2 * level] + taken, scale), 1 / per_byte});
    }
    return out;
}

Lastovetsky lastovetsky_of(const Sample& sample) {
    const TimeBySize times = rising_times(sample.messages, 2);
    const std::size_t processors = processors_of(sample, 2);
    const std::size_t others = processors - 1;
    LeastSquares equations(2 * others + 2);
    for (const auto& [message, time] : sample.messages) {
        check_pair(message);
        const double per_byte = static_cast<double>(message.bytes) / time;
        std::vector<Term> terms{{2 * others, 1 / time}, {2 * others + 1, per_byte}};
        for (const std::size_t end : {message.sender, message.receiver})
            if (end > 0) {
                terms.push_back({end - 1, 1 / time});
                terms.push_back({others + end - 1, per_byte});
            }
        equations.add(terms, 1);
    }
    const std::vector<double> solution = solved(equations);
    const double scale = times.begin()->second;
    double latency = solution[2 * others];
    double network = solution[2 * others + 1];
    const auto fixed = with_least_zero(solution, 0, processors, scale, latency);
    const double byte_scale = times.rbegin()->second / static_cast<double>(times.rbegin()->first);
    const auto per_byte = with_least_zero(solution, others, processors, byte_scale, network);
    if (!(network > 0)) refuse_sample("the time does not rise with size: there is no bandwidth");
    Lastovetsky out{{}, settled(latency, scale), 1 / network};
    for (std::size_t place = 0; place < processors; ++place)
        out.processors.push_back({fixed[place], per_byte[place]});
    return out;
}

} // namespace plexus::eco
