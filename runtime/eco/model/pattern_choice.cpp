// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/pattern_choice.h"

#include "model/play.h"
#include "plan/builder.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace plexus::eco {
namespace {

constexpr std::uint64_t kLeastSegment = 256;
constexpr std::uint64_t kMostChainMessages = 1 << 18;
constexpr Rank kMostInRounds = 128;
constexpr Rank kMostInPairs = 1024; // of an all_to_all, where other patterns send several times the bytes
constexpr std::uint32_t kArities[] = {2, 3, 4, 8};

constexpr Pattern kOrder[] = {Pattern::star, Pattern::binomial,  Pattern::tree,  Pattern::chain,
                              Pattern::ring, Pattern::butterfly, Pattern::bruck, Pattern::pairwise};
static_assert(std::size(kOrder) == std::size(kPatterns));

class Candidates {
  public:
    Candidates(const Model& model, const PlanRequest& request)
      : model_(model)
      , request_(request) {}

    std::vector<PatternTime> take() {
        for (const Pattern pattern : kOrder)
            if (suits(pattern) && !is_endless(pattern)) add(pattern);
        if (out_.empty())
            for (const Pattern pattern : kOrder)
                if (suits(pattern)) add(pattern);
        return std::move(out_);
    }

  private:
    bool suits(Pattern pattern) const {
        const bool keeps_order = request_.commutative || !reduces(request_.operation);
        return supports(pattern, request_.operation) && (pattern != Pattern::ring || keeps_order);
    }
    bool is_endless(Pattern pattern) const {
        const Rank most = request_.operation == Operation::all_to_all ? kMostInPairs : kMostInRounds;
        return request_.members > most && (pattern == Pattern::ring || pattern == Pattern::pairwise);
    }
    PatternTime timed(const AlgorithmOptions& options) const {
        return {options, predict_s(model_, request_, options)};
    }

    void add(Pattern pattern) {
        AlgorithmOptions options;
        options.pattern = pattern;
        if (pattern == Pattern::chain) {
            out_.push_back(best_chain());
        } else if (pattern == Pattern::tree) {
            for (const std::uint32_t arity : kArities) {
                options.arity = arity;
                if (arity + 1 < request_.members || arity == kArities[0]) out_.push_back(timed(options));
            }
        } else if (pattern == Pattern::butterfly) {
            options.halve_from_bytes = 0;
            out_.push_back(timed(options));
            options.halve_from_bytes = UINT64_MAX;
            if (request_.operation == Operation::all_reduce) out_.push_back(timed(options));
        } else {
            out_.push_back(timed(options));
        }
    }

    PatternTime best_chain() const {
        const std::uint64_t bytes = request_.elements * request_.element_bytes;
        AlgorithmOptions options;
        options.pattern = Pattern::chain;
        options.segment_bytes = std::max<std::uint64_t>(bytes, 1);
        PatternTime best = timed(options);
        if (bytes <= kLeastSegment || !has_parts(request_.operation)) return best;
        for (std::uint64_t segment = std::bit_floor(bytes - 1); segment >= kLeastSegment; segment /= 2) {
            if (bytes / segment > kMostChainMessages / request_.members) break;
            options.segment_bytes = segment;
            const PatternTime here = timed(options);
            if (is_earlier(here.time_s, best.time_s)) best = here;
        }
        return best;
    }

    const Model& model_;
    const PlanRequest& request_;
    std::vector<PatternTime> out_;
};

} // namespace

std::vector<PatternTime> predict_patterns(const Model& model, const PlanRequest& request) {
    check(model);
    Builder(request, 1); // refuses what makes no sense
    return Candidates(model, request).take();
}

const PatternTime& earliest(const std::vector<PatternTime>& among) noexcept {
    const PatternTime* best = &among.front();
    for (const PatternTime& each : among)
        if (is_earlier(each.time_s, best->time_s)) best = &each;
    return *best;
}

} // namespace plexus::eco
