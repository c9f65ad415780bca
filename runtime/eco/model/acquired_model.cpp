// SPDX-License-Identifier: BSD-3-Clause
// A model from the names and numbers that a map has of it.
#include "plexus/eco/acquire.h"

#include "topology/refuse.h"

#include <algorithm>
#include <string_view>

namespace plexus::eco {
namespace {

/// Takes parameters by name; what nobody took is not the model's own.
class Named {
  public:
    explicit Named(const AcquiredModel& acquired)
      : acquired_(acquired) {}

    double operator()(std::string_view name) {
        const auto found = acquired_.parameters.find(name);
        if (found == acquired_.parameters.end())
            refuse(Status::bad_argument, "{}: {} is missing", acquired_.model, name);
        ++taken_;
        return found->second;
    }
    void all_taken() const {
        if (taken_ < acquired_.parameters.size())
            refuse(Status::bad_argument, "{}: {} of its parameters are not its own", acquired_.model,
                   acquired_.parameters.size() - taken_);
    }

  private:
    const AcquiredModel& acquired_;
    std::size_t taken_ = 0;
};

std::uint64_t whole_bytes(double value, std::string_view model) {
    constexpr double kMost = 1e15;
    if (!(value >= 1 && value <= kMost))
        refuse(Status::bad_argument, "{}: packet_bytes is {}, and a packet has 1 B or more", model, value);
    return static_cast<std::uint64_t>(value);
}

LogP logp_of(Named& at, std::string_view model) {
    const double latency = at("latency_s");
    const double overhead = at("overhead_s");
    const double gap = at("gap_s");
    return {latency, overhead, gap, whole_bytes(at("packet_bytes"), model)};
}

LogGP loggp_of(Named& at) {
    const double latency = at("latency_s");
    const double overhead = at("overhead_s");
    const double gap = at("gap_s");
    return {latency, overhead, gap, at("gap_s_per_byte")};
}

PLogP plogp_of(const AcquiredLevel& level) { return {level.latency_s, level.sizes}; }

Model by_levels(const AcquiredModel& acquired) {
    if (acquired.model == to_string(ModelKind::plogp)) {
        if (acquired.levels.size() != 1)
            refuse(Status::bad_argument, "plogp: it has one level, not {}", acquired.levels.size());
        return plogp_of(acquired.levels.front());
    }
    if (acquired.model != to_string(ModelKind::steffenel))
        refuse(Status::bad_argument, "{}: it has no levels, or no Plexus knows it", acquired.model);
    Steffenel out;
    for (const AcquiredLevel& level : acquired.levels) out.levels.push_back(plogp_of(level));
    return out;
}

Model by_parameters(const AcquiredModel& acquired) {
    Named at(acquired);
    const std::string_view name = acquired.model;
    Model out;
    if (name == to_string(ModelKind::hockney)) {
        const double latency = at("latency_s");
        out = Hockney{latency, at("bytes_per_s")};
    } else if (name == to_string(ModelKind::logp)) {
        out = logp_of(at, name);
    } else if (name == to_string(ModelKind::loggp)) {
        out = loggp_of(at);
    } else if (name == to_string(ModelKind::lopc)) {
        const LogP free = logp_of(at, name);
        out = LoPC{free, at("receiver_wait_s")};
    } else if (name == to_string(ModelKind::logpc)) {
        const LogGP free = loggp_of(at);
        const double network = at("network_wait_s");
        out = LoGPC{free, network, at("receiver_wait_s")};
    } else {
        refuse(Status::bad_argument, "{}: it has no such parameters, or no Plexus knows it", name);
    }
    at.all_taken();
    return out;
}

} // namespace

Model model_of(const AcquiredModel& acquired) {
    if (!acquired.has_parameters())
        refuse(Status::bad_argument, "{}: it has no parameters: {}", acquired.model, acquired.words);
    Model out = acquired.levels.empty() ? by_parameters(acquired) : by_levels(acquired);
    check(out);
    return out;
}

} // namespace plexus::eco
