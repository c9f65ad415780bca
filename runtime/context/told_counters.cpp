// SPDX-License-Identifier: BSD-3-Clause
#include "context/told_counters.h"

#include "base/crypto.h"
#include "base/log.h"
#include "context/core.h"
#include "counters/decode.h"
#include "counters/layout.h"
#include "plexus/counters.h"

#include <algorithm>
#include <cstddef>

namespace plexus {

/// What the pointers name. There is nothing in it: the handler knows its context.
struct PublishedCounters {};

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

inline constexpr Request<std::vector<std::uint64_t>(PublishedCounters&)> kRead{"plexus.counters.read"};

/// For a sample. The context's thread for counters needs no more unless its process gets no processor.
constexpr auto kSampleTime = 400ms;
/// Names that are looked for are seen within this time.
constexpr auto kLookAgain = 10ms;
/// Whoever says that its job is larger is not believed.
constexpr std::uint32_t kMostRanks = 1 << 16;
/// So many are asked if rank 0, which knows how many there are, does not answer.
constexpr std::uint32_t kRanksUnknown = 16;

std::string name_of(std::uint32_t rank) { return fmt::format("plexus.counters.{}", rank); }

/// With the zeros at their end that are not sent. @error bad_archive
Result<counters::Decoded> decode(std::vector<std::uint64_t> words) {
    constexpr std::size_t kWords = offsetof(counters::Header, words) / sizeof(std::uint64_t);
    if (words.size() > kWords && words[kWords] <= counters::kMostBytes / sizeof(std::uint64_t) &&
        words[kWords] > words.size())
        words.resize(words[kWords]);
    return counters::decode(words);
}

/// One context that is asked.
struct Asked {
    std::uint32_t rank;
    Future<GlobalPointer<PublishedCounters>> where;
    bool is_looked_up = false;
    std::optional<Future<std::vector<std::uint64_t>>> answer{};
};

class Round {
  public:
    Round(Context& here, std::vector<std::string>& refused)
      : here_(here)
      , refused_(refused) {}

    /// Ranks from `first` to `last` - 1. Names that nobody has published are waited for together, for half of
    /// the time. `all`: each of these is known to be in the job, and told of if it has no name.
    void ask(std::uint32_t first, std::uint32_t last, Clock::time_point end, bool all) {
        const auto now = Clock::now();
        const Deadline published = deadline(std::max<Clock::duration>((end - now) / 2, 1ms));
        for (std::uint32_t rank = first; rank < last; ++rank)
            asked_.push_back({rank, here_.lookup<PublishedCounters>(name_of(rank), published)});
        while (const Asked* const unknown = call_those_found(end, all))
            (void)unknown->where.wait_for(kLookAgain);
        for (Asked& each : asked_)
            if (each.answer)
                attempt(each.rank, true, [&] {
                    counters::Decoded read = decode(each.answer->get()).value();
                    seen_.push_back({std::move(read.label), {std::move(read.tables), read.sampled_at, true}});
                });
        asked_.clear();
    }
    std::vector<SeenContext>& seen() noexcept { return seen_; }

  private:
    /// One whose name is still being looked for; null: none.
    const Asked* call_those_found(Clock::time_point end, bool all) {
        const Asked* unknown = nullptr;
        for (Asked& each : asked_) {
            if (each.is_looked_up) continue;
            if (!each.where.ready()) {
                unknown = &each;
                continue;
            }
            each.is_looked_up = true;
            attempt(each.rank, all, [&] {
                const auto pointer = each.where.get();
                attempt(each.rank, true, [&] {
                    const auto left = std::max<Clock::duration>(end - Clock::now(), 1ms);
                    each.answer = pointer.with(deadline(left)).call(kRead);
                });
            });
        }
        return unknown;
    }

    template <class Try>
    void attempt(std::uint32_t rank, bool told, Try&& work) {
        try {
            work();
        } catch (const Error& error) {
            if (told) refused_.push_back(fmt::format("rank {}: {}", rank, error.what()));
        }
    }

    Context& here_;
    std::vector<std::string>& refused_;
    std::vector<Asked> asked_;
    std::vector<SeenContext> seen_;
};

} // namespace

std::vector<SeenContext> read_counters(Context& here, std::chrono::milliseconds patience,
                                       std::vector<std::string>& refused) {
    Round round(here, refused);
    const auto begin = Clock::now();
    round.ask(0, 1, begin + patience / 2, true);
    const bool is_known = !round.seen().empty();
    const std::uint32_t ranks =
        is_known ? std::min(round.seen().front().label.size, kMostRanks) : kRanksUnknown;
    round.ask(1, ranks, begin + patience, is_known);
    return std::move(round.seen());
}

namespace detail {

void tell_counters(Core& core, const std::shared_ptr<counters::Publisher>& publisher) {
    static PublishedCounters nothing;
    try {
        core.dispatcher().server().handlers().install(
            kRead.info(), make_handler(kRead, true, [weak = std::weak_ptr(publisher)](PublishedCounters&) {
                const auto here = weak.lock();
                if (here == nullptr) throw Error(Status::closed, "the context is closing");
                return here->words(Clock::now() + kSampleTime).value();
            }));
        Target target;
        while (target.key == 0) crypto::fill_random(&target.key, sizeof target.key);
        target = core.dispatcher().server().objects().add(&nothing, 0, object_type<PublishedCounters>(),
                                                          target.key);
        target.context = core.id();
        core.directory()
            .publish(name_of(core.job().rank), PointerBase(target, core.own_way()).save())
            .value();
    } catch (const Error& error) {
        log::info("counters", "plexus top will not see this context over the network: {}", error.what());
    }
}

} // namespace detail
} // namespace plexus
