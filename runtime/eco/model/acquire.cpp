// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/acquire.h"

#include "model/parameters.h"
#include "topology/refuse.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>

namespace plexus::eco {
namespace {

constexpr std::uint64_t kFirstBytes = 64;
constexpr std::uint64_t kLeastInterval = 32;

/// One model's experiments: each is made once, and their costs add up.
class Experiments {
  public:
    explicit Experiments(const Observe& observe)
      : observe_(observe) {}

    double operator()(Quantity quantity, std::uint64_t bytes, Load load = Load::none) {
        const Experiment experiment{quantity, load, bytes};
        const auto [known, is_new] = times_.try_emplace(experiment, 0);
        if (!is_new) return known->second;
        const Observation seen = observe_(experiment);
        cost_.messages += seen.cost.messages;
        cost_.bytes += seen.cost.bytes;
        cost_.seconds += seen.cost.seconds;
        if (!(seen.time_s >= 0) || std::isinf(seen.time_s))
            refuse(Status::bad_argument, "an experiment with {} B gave {} s: times are from 0 up", bytes,
                   seen.time_s);
        return known->second = seen.time_s;
    }
    const AcquisitionCost& cost() const noexcept { return cost_; }

  private:
    const Observe& observe_;
    std::map<Experiment, double> times_;
    AcquisitionCost cost_;
};

double further_bytes(std::uint64_t bytes) {
    return static_cast<double>(std::max<std::uint64_t>(bytes, 1) - 1);
}

/// `whole_s` of a message of `bytes` without what its ends take.
double without_overheads(double whole_s, double both_s, std::uint64_t bytes) {
    const double latency = settled(whole_s - both_s, whole_s);
    if (latency < 0)
        refuse(Status::bad_argument, "a message of {} B takes {:.3g} s, and its overheads are {:.3g} s",
               bytes, whole_s, both_s);
    return latency;
}

/// Latency, overhead and gap, as LogP and LogGP have them.
struct SmallMessage {
    double latency_s;
    double overhead_s;
    double gap_s;
};

SmallMessage small_message(Experiments& at, std::uint64_t bytes) {
    const double both = at(Quantity::send, bytes) + at(Quantity::receive, bytes);
    return {without_overheads(at(Quantity::ping_pong, bytes), both, bytes), both / 2,
            at(Quantity::gap, bytes)};
}

void acquire_hockney(Experiments& at, const AcquisitionOptions& options, AcquiredModel& out) {
    const double small = at(Quantity::ping_pong, 0);
    const double large = at(Quantity::ping_pong, options.most_bytes);
    if (!(large > small))
        refuse(Status::bad_argument, "{} B take no longer than an empty message: there is no bandwidth",
               options.most_bytes);
    out.parameters = {{"latency_s", small},
                      {"bytes_per_s", static_cast<double>(options.most_bytes) / (large - small)}};
}

void acquire_logp(Experiments& at, const AcquisitionOptions& options, AcquiredModel& out) {
    const SmallMessage packet = small_message(at, options.packet_bytes);
    out.parameters = {{"latency_s", packet.latency_s},
                      {"overhead_s", packet.overhead_s},
                      {"gap_s", packet.gap_s},
                      {"packet_bytes", static_cast<double>(options.packet_bytes)}};
}

void acquire_loggp(Experiments& at, const AcquisitionOptions& options, AcquiredModel& out) {
    const SmallMessage small = small_message(at, 0);
    const double longer = at(Quantity::ping_pong, options.most_bytes) - at(Quantity::ping_pong, 0);
    if (longer < 0)
        refuse(Status::bad_argument, "{} B take less time than an empty message", options.most_bytes);
    out.parameters = {{"latency_s", small.latency_s},
                      {"overhead_s", small.overhead_s},
                      {"gap_s", small.gap_s},
                      {"gap_s_per_byte", longer / further_bytes(options.most_bytes)}};
}

/// What half a round trip takes longer under load. What rounding and a clock make negative is 0, and is said.
double wait_under(Load load, Experiments& at, std::uint64_t bytes, std::string& words) {
    const double longer = at(Quantity::ping_pong, bytes, load) - at(Quantity::ping_pong, bytes);
    if (longer < 0) words = "a message under load was no slower";
    return std::max(longer, 0.0);
}

void acquire_lopc(Experiments& at, const AcquisitionOptions& options, AcquiredModel& out) {
    acquire_logp(at, options, out);
    // The load is on one of the two ends, so a round trip waits once and its half has half of the wait.
    out.parameters["receiver_wait_s"] = 2 * wait_under(Load::receiver, at, options.packet_bytes, out.words);
}

void acquire_logpc(Experiments& at, const AcquisitionOptions& options, AcquiredModel& out) {
    acquire_loggp(at, options, out);
    const double network = (wait_under(Load::network, at, 0, out.words) +
                            wait_under(Load::network, at, options.most_bytes, out.words)) /
                           2;
    const double both = wait_under(Load::receiver, at, 0, out.words) +
                        wait_under(Load::receiver, at, options.most_bytes, out.words);
    out.parameters["network_wait_s"] = network;
    out.parameters["receiver_wait_s"] = std::max(both - network, 0.0);
}

/// The gap of each size: round trips with an empty reply differ by gaps alone.
class GapTable {
  public:
    GapTable(Experiments& at, const AcquisitionOptions& options)
      : at_(at)
      , options_(options)
      , empty_gap_s_(at(Quantity::gap, 0))
      , empty_trip_s_(at(Quantity::round_trip, 0)) {
        if (empty_gap_s_ > empty_trip_s_ / 2)
            refuse(Status::bad_argument,
                   "empty messages in a row take {:.3g} s each, and one alone {:.3g} s: there is no latency",
                   empty_gap_s_, empty_trip_s_ / 2);
    }

    AcquiredLevel take(std::string& words) {
        std::uint64_t before = 0;
        add(0);
        for (std::uint64_t bytes = std::min(kFirstBytes, options_.most_bytes);;
             bytes = bytes > options_.most_bytes / 2 ? options_.most_bytes : bytes * 2) {
            add(bytes);
            refine(before, bytes);
            if (bytes == options_.most_bytes) break;
            before = bytes;
        }
        AcquiredLevel out{latency_s(), {}};
        for (const auto& [bytes, times] : sizes_) out.sizes.push_back(times);
        words = words_;
        return out;
    }

    /// With the gaps that a load leaves: its waits count as gap.
    AcquiredLevel under(Load load, const AcquiredLevel& free) {
        AcquiredLevel out = free;
        for (SizedTimes& each : out.sizes)
            each.gap_s = std::max(each.gap_s,
                                  at_(Quantity::round_trip, each.bytes, load) - empty_trip_s_ + empty_gap_s_);
        return out;
    }

  private:
    double latency_s() const { return settled(empty_trip_s_ / 2 - empty_gap_s_, empty_trip_s_); }

    const SizedTimes& add(std::uint64_t bytes) {
        const auto [place, is_new] = sizes_.try_emplace(bytes);
        if (!is_new) return place->second;
        SizedTimes& out = place->second;
        out = {bytes, at_(Quantity::send, bytes), at_(Quantity::receive, bytes),
               at_(Quantity::round_trip, bytes) - empty_trip_s_ + empty_gap_s_};
        const double busy = std::max(out.send_overhead_s, out.receive_overhead_s);
        if (out.gap_s < busy) words_ = "where a gap was shorter than an overhead, the overhead counts";
        out.gap_s = std::max(out.gap_s, busy);
        return out;
    }

    bool is_straight(std::uint64_t low, std::uint64_t high) const {
        const auto middle = sizes_.find(low);
        if (middle == sizes_.begin()) return true;
        const auto& [first, one] = *std::prev(middle);
        const double slope = (middle->second.gap_s - one.gap_s) / static_cast<double>(low - first);
        const double extrapolated = middle->second.gap_s + slope * static_cast<double>(high - low);
        const double gap = sizes_.at(high).gap_s;
        return std::abs(extrapolated - gap) <= options_.tolerance * gap;
    }

    /// Both ends are known.
    void refine(std::uint64_t low, std::uint64_t high) {
        const auto least =
            std::max(static_cast<double>(kLeastInterval), options_.tolerance * static_cast<double>(high));
        if (is_straight(low, high) || static_cast<double>(high - low) <= least) return;
        if (sizes_.size() >= options_.most_sizes) {
            words_ = fmt::format("{} sizes did not suffice for lines of the stated tolerance",
                                 options_.most_sizes);
            return;
        }
        const std::uint64_t middle = low + (high - low) / 2;
        add(middle);
        refine(low, middle);
        refine(middle, high);
    }

    Experiments& at_;
    const AcquisitionOptions& options_;
    double empty_gap_s_;
    double empty_trip_s_;
    std::map<std::uint64_t, SizedTimes> sizes_;
    std::string words_;
};

void acquire_plogp(Experiments& at, const AcquisitionOptions& options, AcquiredModel& out) {
    out.levels.push_back(GapTable(at, options).take(out.words));
}

void acquire_steffenel(Experiments& at, const AcquisitionOptions& options, AcquiredModel& out) {
    if (options.lower_levels.empty()) refuse_sample("one level was measured: that is plogp");
    GapTable table(at, options);
    const AcquiredLevel mine = table.take(out.words);
    const AcquiredLevel loaded = table.under(Load::same_way, mine);
    out.levels = options.lower_levels;
    out.levels.push_back(loaded);
}

using Procedure = void (*)(Experiments&, const AcquisitionOptions&, AcquiredModel&);

/// Null: there is none on one link.
Procedure procedure_of(ModelKind kind) {
    switch (kind) {
    case ModelKind::hockney:
        return acquire_hockney;
    case ModelKind::logp:
        return acquire_logp;
    case ModelKind::loggp:
        return acquire_loggp;
    case ModelKind::lopc:
        return acquire_lopc;
    case ModelKind::logpc:
        return acquire_logpc;
    case ModelKind::plogp:
        return acquire_plogp;
    case ModelKind::steffenel:
        return acquire_steffenel;
    case ModelKind::cappello:
    case ModelKind::lastovetsky:
        break;
    }
    return nullptr;
}

} // namespace

std::vector<ModelKind> acquired_kinds() {
    std::vector<ModelKind> out;
    for (const ModelKind kind : kModelKinds)
        if (procedure_of(kind) != nullptr) out.push_back(kind);
    return out;
}

AcquiredModel acquire(ModelKind kind, const Observe& observe, const AcquisitionOptions& options) {
    const Procedure procedure = procedure_of(kind);
    if (procedure == nullptr)
        refuse(Status::bad_argument, "{} is not acquired on one link: fit it to the messages of a cluster",
               to_string(kind));
    if (options.most_bytes < 2 || options.packet_bytes == 0 || !(options.tolerance > 0))
        refuse(Status::bad_argument, "models are acquired with messages of 2 B or more, packets of 1 B or "
                                     "more and a tolerance above 0");
    AcquiredModel out;
    Experiments at(observe);
    try {
        procedure(at, options, out);
        out.model = to_string(kind);
        model_of(out);
    } catch (const std::exception& error) {
        out = {};
        out.words = error.what();
    }
    out.model = to_string(kind);
    out.cost = at.cost();
    return out;
}

} // namespace plexus::eco
