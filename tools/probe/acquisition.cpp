// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/acquisition.h"

#include "tools/probe/without_polling.h"

#include "plexus/eco/acquire.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace plexus::tools::probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kLoadBytes = 8 * 1024; // large beside headers, short on a slow wire
constexpr std::uint64_t kLeastBytes = 1024;    // of a map of tiny messages
constexpr double kSecondsOfAllPasses = 0.03;   // of one experiment

/// What one link showed.
struct LinkRecord {
    LinkParts parts;
    std::map<eco::Experiment, eco::Observation> seen;
    std::map<eco::Experiment, std::string> failed; ///< and why: it is not tried again
};

class ModelProbe {
  public:
    ModelProbe(const ProbeOptions& options, Members& members, const eco::Map& map,
               benchmark::Progress& progress)
      : options_(options)
      , members_(members)
      , progress_(progress) {
        acquisition_.most_bytes = std::max(map.sizes_bytes().back(), kLeastBytes);
    }

    std::vector<eco::AcquiredModel> take(const std::vector<LinkParts>& links,
                                         std::span<const std::size_t> here) {
        for (const LinkParts& parts : links) records_.push_back({parts, {}, {}});
        for (std::uint32_t pass = 1; pass <= options_.passes; ++pass)
            for (std::size_t at = 0; at < records_.size(); ++at) {
                show(at, pass);
                if (pass == 1)
                    models_of(records_[at]);
                else
                    repeat(records_[at]);
            }
        std::vector<eco::AcquiredModel> out;
        for (LinkRecord& record : records_)
            for (eco::AcquiredModel& each : models_of(record)) {
                each.from = here[record.parts.from];
                each.to = here[record.parts.to];
                out.push_back(std::move(each));
            }
        return out;
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
        if (const auto known = record.seen.find(what); known != record.seen.end()) return known->second;
        if (const auto failed = record.failed.find(what); failed != record.failed.end())
            throw Error(Status::unsupported, failed->second);
        try {
            return record.seen[what] = made(record.parts, what);
        } catch (const Error& error) {
            record.failed[what] = error.what();
            throw;
        }
    }

    void repeat(LinkRecord& record) {
        for (auto& [what, known] : record.seen) {
            try {
                const eco::Observation again = made(record.parts, what);
                known.time_s = std::min(known.time_s, again.time_s);
                known.cost.messages += again.cost.messages;
                known.cost.bytes += again.cost.bytes;
                known.cost.seconds += again.cost.seconds;
            } catch (const Error&) {
                // What the earlier passes saw stands.
            }
        }
    }

    eco::Observation made(const LinkParts& parts, const eco::Experiment& what) {
        const auto start = Clock::now();
        std::vector<std::size_t> loading;
        eco::Observation out;
        std::exception_ptr failure;
        try {
            begin(what.load, parts, loading);
            out = tried(parts, what);
        } catch (const Error&) { failure = std::current_exception(); }
        for (const std::size_t member : loading) end(member, out.cost);
        out.cost.seconds = std::chrono::duration<double>(Clock::now() - start).count();
        if (failure) std::rethrow_exception(failure);
        return out;
    }

    eco::Observation tried(const LinkParts& parts, const eco::Experiment& what) {
        const Trial trial{static_cast<std::uint8_t>(what.quantity), what.bytes,
                          kSecondsOfAllPasses / options_.passes};
        Member& one = members_.measuring[parts.from];
        const TrialTime seen =
            asked(parts.from, [&] { return one.station.call(attempt, member(parts.to).station, trial); });
        return {seen.time_s, {seen.messages, seen.bytes, 0}};
    }

    void begin(eco::Load load, const LinkParts& parts, std::vector<std::size_t>& loading) {
        std::vector<eco::HostPair> pairs;
        if (load == eco::Load::network) pairs = parts.others;
        if (load == eco::Load::receiver)
            for (const std::size_t sender : parts.senders) pairs.push_back({sender, parts.to});
        if (load != eco::Load::none && pairs.empty())
            throw Error(Status::unsupported, load == eco::Load::network
                                                 ? "no other pair of hosts is there to load the network"
                                                 : "no other host is there to load the receiver");
        for (const eco::HostPair& pair : pairs) {
            loading.push_back(pair.a);
            asked(pair.a, [&] {
                return member(pair.a).station.call(begin_load, member(pair.b).station, kLoadBytes);
            });
        }
    }

    void end(std::size_t loader, eco::AcquisitionCost& cost) {
        try {
            const TrialTime sent = asked(loader, [&] { return member(loader).station.call(end_load); });
            cost.messages += sent.messages;
            cost.bytes += sent.bytes;
        } catch (const Error&) {
            // The load failed, or its station is lost: what was measured under it stands for less load.
        }
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

std::vector<eco::AcquiredModel> acquire_models(const ProbeOptions& options, Members& members,
                                               const eco::Map& map, const eco::Partition& subnets,
                                               std::span<const std::size_t> here,
                                               benchmark::Progress& progress) {
    return ModelProbe(options, members, map, progress).take(links_of(subnets, here), here);
}

} // namespace plexus::tools::probe
