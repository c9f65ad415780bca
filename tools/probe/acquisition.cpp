// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/acquisition.h"

#include "tools/probe/typical_time.h"
#include "tools/probe/without_polling.h"

#include "plexus/eco/acquire.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace plexus::tools::probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kLoadBytes = 8 * 1024; // large beside headers, short on a slow wire
constexpr std::uint64_t kLeastBytes = 1024;    // of a map of tiny messages
constexpr double kSecondsOfAllPasses = 0.03;   // of one experiment
constexpr std::uint32_t kFewestOfAllPasses = 5;
constexpr double kLoadPatience = 2; // a load that nobody ends lasts so many patiences of the options

/// What the passes saw of one experiment: a time of each.
struct Seen {
    std::vector<double> times_s;
    eco::AcquisitionCost cost;
};

/// What one link showed.
struct LinkRecord {
    LinkParts parts;
    std::map<eco::Experiment, Seen> seen;
    std::map<eco::Experiment, std::string> failed; ///< and why: it is not tried again in this pass
};

bool is_loaded(const eco::Experiment& what) { return what.load != eco::Load::none; }

eco::Observation observation_of(const eco::Experiment& what, const Seen& seen) {
    return {typical_time(seen.times_s, is_loaded(what)), seen.cost};
}

class ModelProbe {
  public:
    ModelProbe(const ProbeOptions& options, Members& members, const eco::Map& map,
               benchmark::Progress& progress)
      : options_(options)
      , members_(members)
      , progress_(progress) {
        acquisition_.most_bytes = std::max(map.sizes_bytes().back(), kLeastBytes);
    }

    void take(const std::vector<LinkParts>& links, std::span<const std::size_t> here,
              const KeepModels& keep) {
        const auto keep_all = [&](LinkRecord& record) {
            std::vector<eco::AcquiredModel> models = models_of(record);
            for (eco::AcquiredModel& each : models) {
                each.from = here[record.parts.from];
                each.to = here[record.parts.to];
            }
            keep(models);
        };
        for (const LinkParts& parts : links) records_.push_back({parts, {}, {}});
        for (std::uint32_t pass = 1; pass <= options_.passes; ++pass)
            for (std::size_t at = 0; at < records_.size(); ++at) {
                show(at, pass);
                if (pass == 1)
                    keep_all(records_[at]);
                else
                    repeat(records_[at]);
            }
        for (LinkRecord& record : records_) keep_all(record);
    }

  private:
    const std::string& name(std::size_t member) const { return members_.measuring[member].name; }

    void show(std::size_t link, std::uint32_t pass) {
        const LinkParts& parts = records_[link].parts;
        progress_.show(fmt::format("models, link {} of {}, pass {} of {}: {} to {}", link + 1,
                                   records_.size(), pass, options_.passes, name(parts.from), name(parts.to)));
    }

    /// Experiments that were made already are not made again. Links inside come first: what lies between is
    /// Steffenel's next level.
    std::vector<eco::AcquiredModel> models_of(LinkRecord& record) {
        const eco::Observe observe = [&](const eco::Experiment& what) { return observed(record, what); };
        eco::AcquisitionOptions options = acquisition_;
        const auto lower = levels_.find(record.parts.subnet);
        if (!record.parts.inside && lower != levels_.end()) options.lower_levels = lower->second;
        std::vector<eco::AcquiredModel> out;
        for (const eco::ModelKind kind : eco::acquired_kinds()) {
            out.push_back(eco::acquire(kind, observe, options));
            if (record.parts.inside && kind == eco::ModelKind::plogp && out.back().has_parameters())
                levels_[record.parts.subnet] = out.back().levels;
        }
        return out;
    }

    eco::Observation observed(LinkRecord& record, const eco::Experiment& what) {
        if (const auto known = record.seen.find(what); known != record.seen.end())
            return observation_of(what, known->second);
        if (const auto failed = record.failed.find(what); failed != record.failed.end())
            throw Error(Status::unsupported, failed->second);
        try {
            const eco::Observation first = made(record.parts, what);
            record.seen[what] = {{first.time_s}, first.cost};
            return first;
        } catch (const Error& error) {
            record.failed[what] = error.what();
            throw;
        }
    }

    /// A further pass: all that was seen again, and what failed, or was not asked for because something else
    /// failed.
    void repeat(LinkRecord& record) {
        record.failed.clear();
        for (auto& [what, known] : record.seen) {
            try {
                const eco::Observation again = made(record.parts, what);
                known.times_s.push_back(again.time_s);
                known.cost.messages += again.cost.messages;
                known.cost.bytes += again.cost.bytes;
                known.cost.seconds += again.cost.seconds;
            } catch (const Error&) {
                // What the earlier passes saw stands.
            }
        }
        models_of(record);
    }

    /// With its load, which lasts from before its first message until after its last, or it fails.
    eco::Observation made(const LinkParts& parts, const eco::Experiment& what) {
        const auto start = Clock::now();
        std::vector<std::size_t> loading;
        eco::Observation out;
        std::string failure;
        try {
            begin(what.load, parts, loading);
            out = tried(parts, what);
        } catch (const Error& error) { failure = error.what(); }
        for (const std::size_t member : loading) {
            const std::string why = end(member, out.cost);
            if (failure.empty() && !why.empty())
                failure = fmt::format("{} made no load to the end: {}", name(member), why);
        }
        out.cost.seconds = std::chrono::duration<double>(Clock::now() - start).count();
        if (!failure.empty()) throw Error(Status::unsupported, failure);
        return out;
    }

    eco::Observation tried(const LinkParts& parts, const eco::Experiment& what) {
        const Trial trial{static_cast<std::uint8_t>(what.quantity),
                          what.bytes,
                          kSecondsOfAllPasses / options_.passes,
                          (kFewestOfAllPasses + options_.passes - 1) / options_.passes,
                          is_loaded(what),
                          options_.patience_s};
        Member& one = members_.measuring[parts.from];
        const TrialTime seen =
            asked(parts.from, [&] { return one.station.call(attempt, member(parts.to).station, trial); });
        return {seen.time_s, {seen.messages, seen.bytes, 0}};
    }

    /// Who sends to whom meanwhile.
    std::vector<eco::HostPair> loads_of(eco::Load load, const LinkParts& parts) const {
        std::vector<eco::HostPair> out;
        switch (load) {
        case eco::Load::none:
            return out;
        case eco::Load::receiver:
            for (const std::size_t sender : parts.senders) out.push_back({sender, parts.to});
            break;
        case eco::Load::network:
            for (const eco::HostPair& pair : parts.others) out.insert(out.end(), {pair, {pair.b, pair.a}});
            break;
        case eco::Load::same_way:
            out = parts.others;
            break;
        }
        if (out.empty())
            throw Error(Status::unsupported, load == eco::Load::receiver
                                                 ? "no other host is there to load the receiver"
                                                 : "no other pair of hosts is there to load the network");
        return out;
    }

    void begin(eco::Load load, const LinkParts& parts, std::vector<std::size_t>& loading) {
        for (const eco::HostPair& pair : loads_of(load, parts)) {
            loading.push_back(pair.a);
            asked(pair.a, [&] {
                return member(pair.a).station.call(begin_load, member(pair.b).station, kLoadBytes,
                                                   kLoadPatience * options_.patience_s);
            });
        }
    }

    /// Why there was no load until now; empty: there was.
    std::string end(std::size_t loader, eco::AcquisitionCost& cost) {
        const auto call = [&] { return members_.measuring[loader].station.call(end_load); };
        try {
            if (members_.measuring[loader].lost) static_cast<void>(call()); // it may go on one day
            const TrialTime sent = asked(loader, call);
            cost.messages += sent.messages;
            cost.bytes += sent.bytes;
        } catch (const Error& error) { return error.what(); }
        return {};
    }

    const Member& member(std::size_t at) const {
        const Member& out = members_.measuring[at];
        if (out.lost) throw Error(Status::peer_lost, out.name + " is lost");
        return out;
    }

    /// The answer of one member, within the patience of the options.
    template <class Call>
    auto asked(std::size_t who, Call&& call) -> decltype(call().get()) {
        member(who);
        auto answer = without_polling(call());
        const auto patience = std::chrono::duration<double>(options_.patience_s);
        if (answer.wait_for(patience) != std::future_status::ready) {
            members_.measuring[who].station.send(abandon);
            if (answer.wait_for(std::min(patience, std::chrono::duration<double>(5))) !=
                std::future_status::ready)
                members_.measuring[who].lost = true;
            throw Error(Status::timed_out, fmt::format("{}: no answer within {:g} s (--patience)", name(who),
                                                       options_.patience_s));
        }
        return answer.get();
    }

    const ProbeOptions& options_;
    Members& members_;
    benchmark::Progress& progress_;
    eco::AcquisitionOptions acquisition_;
    std::vector<LinkRecord> records_;
    std::map<std::size_t, std::vector<eco::AcquiredLevel>> levels_; // pLogP inside each subnet
};

} // namespace

void acquire_models(const ProbeOptions& options, Members& members, const eco::Map& map,
                    const eco::Partition& subnets, std::span<const std::size_t> here,
                    benchmark::Progress& progress, const KeepModels& keep) {
    ModelProbe(options, members, map, progress).take(links_of(subnets, here), here, keep);
}

} // namespace plexus::tools::probe
