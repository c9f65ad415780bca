// SPDX-License-Identifier: BSD-3-Clause
// Runs a plan on sets: where blocks are moved, the set of those that a member has; where they
// are combined, the set of those who have contributed; at a barrier, of those who are known
// to have come.
#include "plan/bits.h"
#include "plan/builder.h"
#include "plan/run.h"

#include <algorithm>
#include <fmt/format.h>

namespace plexus::eco {
namespace {

template <class Do>
void each_block(const Plan& plan, const Message& message, Do&& what) {
    for (const BlockRange& range : plan.blocks_of(message))
        for (std::uint32_t block = range.first; block < range.first + range.count; ++block) what(block);
}

std::size_t expected_blocks(const Plan& plan) {
    const std::size_t members = plan.members;
    if (plan.operation == Operation::barrier) return 0;
    return plan.operation == Operation::all_to_all ? members * members : members;
}

/// Blocks that are only moved.
class Moving {
  public:
    explicit Moving(const Plan& plan)
      : plan_(plan)
      , has_(plan.members, plan.block_elements.size()) {
        each_place([&](Rank member, std::uint32_t block) {
            if (starts_with(member, block)) has_.set(member, block);
        });
    }

    std::string send(const Message& message) const {
        std::string bad;
        each_block(plan_, message, [&](std::uint32_t block) {
            if (!has_.has(message.from, block))
                bad = fmt::format("member {} sends block {} to {} and does not have it", message.from, block,
                                  message.to);
        });
        return bad;
    }

    std::string take(const Message& message, std::uint32_t) {
        std::string bad;
        if (message.merge != Merge::store) bad = "a block is combined that is only to be moved";
        each_block(plan_, message, [&](std::uint32_t block) {
            if (has_.has(message.to, block))
                bad = fmt::format("member {} gets block {} from {} and has it already", message.to, block,
                                  message.from);
            has_.set(message.to, block);
        });
        return bad;
    }

    std::string missing(Proof&) const {
        std::string bad;
        each_place([&](Rank member, std::uint32_t block) {
            if (due(member, block) && !has_.has(member, block))
                bad = fmt::format("member {} never gets block {}", member, block);
        });
        return bad;
    }

  private:
    template <class Do>
    void each_place(Do&& what) const {
        for (Rank member = 0; member < plan_.members; ++member)
            for (std::uint32_t block = 0; block < plan_.block_elements.size(); ++block) what(member, block);
    }
    bool starts_with(Rank member, std::uint32_t block) const {
        switch (plan_.operation) {
        case Operation::broadcast:
        case Operation::scatter:
            return member == plan_.root;
        case Operation::all_to_all:
            return block / plan_.members == member;
        default:
            return block == member;
        }
    }
    bool due(Rank member, std::uint32_t block) const {
        switch (plan_.operation) {
        case Operation::scatter:
            return block == member;
        case Operation::gather:
            return member == plan_.root;
        case Operation::all_to_all:
            return block % plan_.members == member;
        default:
            return true;
        }
    }

    const Plan& plan_;
    Bits has_;
};

/// Blocks that are combined. A value is whose contributions it has, each once; `in_order`
/// says that they were combined by rising rank.
class Combining {
  public:
    explicit Combining(const Plan& plan)
      : plan_(plan)
      , blocks_(plan.block_elements.size())
      , who_(plan.members * blocks_, plan.members)
      , values_(plan.members * blocks_) {
        for (Rank member = 0; member < plan.members; ++member)
            for (std::size_t block = 0; block < blocks_; ++block) {
                who_.set(member * blocks_ + block, member);
                values_[member * blocks_ + block] = {member, member, 1, true};
            }
        travelling_.resize(plan.messages.size());
    }

    std::string send(const Message& message) {
        Travelling& copy = travelling_[static_cast<std::size_t>(&message - plan_.messages.data())];
        each_block(plan_, message, [&](std::uint32_t block) {
            const std::size_t place = message.from * blocks_ + block;
            copy.who.insert(copy.who.end(), who_.row(place), who_.row(place) + who_.words());
            copy.values.push_back(values_[place]);
        });
        return {};
    }

    std::string take(const Message& message, std::uint32_t number) {
        std::string bad;
        Travelling copy = std::move(travelling_[number]);
        std::size_t at = 0;
        each_block(plan_, message, [&](std::uint32_t block) {
            const std::size_t place = message.to * blocks_ + block;
            const Value& value = copy.values[at];
            const std::uint64_t* who = copy.who.data() + at++ * who_.words();
            std::string why = message.merge == Merge::store ? store(place, value, who)
                                                            : combine(place, value, who, message.merge);
            if (!why.empty())
                bad = fmt::format("block {} from {} to {}: {}", block, message.from, message.to, why);
        });
        return bad;
    }

    std::string missing(Proof& proof) const {
        proof.rank_order = true;
        for (Rank member = 0; member < plan_.members; ++member) {
            if (plan_.operation == Operation::reduce && member != plan_.root) continue;
            if (scans(plan_.operation)) {
                if (std::string bad = missing_in_scan(member); !bad.empty()) return bad;
                continue;
            }
            for (std::size_t block = 0; block < blocks_; ++block) {
                if (plan_.operation == Operation::reduce_scatter && block != member) continue;
                const Value& value = values_[member * blocks_ + block];
                if (value.count != plan_.members)
                    return fmt::format("member {} ends with {} of {} contributions to block {}", member,
                                       value.count, plan_.members, block);
                proof.rank_order = proof.rank_order && value.in_order;
            }
        }
        return {};
    }

  private:
    struct Value {
        Rank first, last; ///< of an order that rises
        Rank count;
        bool in_order;
    };
    struct Travelling {
        std::vector<std::uint64_t> who;
        std::vector<Value> values;
    };

    /// Those before it, in their order, and itself where the scan includes it.
    std::string missing_in_scan(Rank member) const {
        const Rank due = member + (plan_.operation == Operation::scan ? 1 : 0);
        if (due == 0) return {};
        for (std::size_t block = 0; block < blocks_; ++block) {
            const Value& value = values_[member * blocks_ + block];
            if (value.first != 0 || value.count != due || value.last + 1 != due || !value.in_order)
                return fmt::format(
                    "member {} ends with contributions {} to {} to block {}, {} in all, and is due 0 to {}",
                    member, value.first, value.last, block, value.count, due - 1);
        }
        return {};
    }

    /// What comes may replace what is there if it has the same contributions and more.
    std::string store(std::size_t place, const Value& value, const std::uint64_t* who) {
        // An exclusive scan begins with the contribution of the member before instead of its own.
        const bool shifted = plan_.operation == Operation::exclusive_scan && value.count == 1 &&
                             values_[place].count == 1 && values_[place].first != value.first;
        if (!shifted && values_[place].count == plan_.members) return "the outcome is there already";
        if (!shifted && !has_more(who_.row(place), who)) return "a part of the outcome replaces another";
        values_[place] = value;
        std::copy(who, who + who_.words(), who_.row(place));
        return {};
    }

    bool has_more(const std::uint64_t* one, const std::uint64_t* other) const {
        bool more = false;
        for (std::size_t word = 0; word < who_.words(); ++word) {
            if ((one[word] & ~other[word]) != 0) return false;
            more = more || one[word] != other[word];
        }
        return more;
    }

    std::string combine(std::size_t place, const Value& value, const std::uint64_t* who, Merge merge) {
        std::uint64_t* mine = who_.row(place);
        for (std::size_t word = 0; word < who_.words(); ++word) {
            if ((mine[word] & who[word]) != 0) return "a contribution would count twice";
            mine[word] |= who[word];
        }
        const Value& left = merge == Merge::before ? value : values_[place];
        const Value& right = merge == Merge::before ? values_[place] : value;
        values_[place] = {left.first, right.last, left.count + right.count,
                          left.in_order && right.in_order && left.last < right.first};
        return {};
    }

    const Plan& plan_;
    std::size_t blocks_;
    Bits who_;
    std::vector<Value> values_;
    std::vector<Travelling> travelling_;
};

/// Nobody leaves before everybody is known to have come.
class Meeting {
  public:
    explicit Meeting(const Plan& plan)
      : plan_(plan)
      , knows_(plan.members, plan.members)
      , travelling_(plan.messages.size()) {
        for (Rank member = 0; member < plan.members; ++member) knows_.set(member, member);
    }

    std::string send(const Message& message) {
        travelling_[static_cast<std::size_t>(&message - plan_.messages.data())].assign(
            knows_.row(message.from), knows_.row(message.from) + knows_.words());
        return {};
    }
    std::string take(const Message& message, std::uint32_t number) {
        for (std::size_t word = 0; word < knows_.words(); ++word)
            knows_.row(message.to)[word] |= travelling_[number][word];
        return {};
    }
    std::string missing(Proof&) const {
        for (Rank member = 0; member < plan_.members; ++member)
            for (Rank other = 0; other < plan_.members; ++other)
                if (!knows_.has(member, other))
                    return fmt::format("member {} leaves and cannot know that {} has come", member, other);
        return {};
    }

  private:
    const Plan& plan_;
    Bits knows_;
    std::vector<std::vector<std::uint64_t>> travelling_;
};

template <class State>
Proof prove_with(const Plan& plan) {
    Proof proof;
    State state(plan);
    const auto go_on = [&](std::string bad) {
        proof.broken = std::move(bad);
        return proof.broken.empty();
    };
    std::string stuck = run(
        plan, [&](std::uint32_t message) { return go_on(state.send(plan.messages[message])); },
        [&](std::uint32_t message) { return go_on(state.take(plan.messages[message], message)); });
    if (proof) proof.broken = std::move(stuck);
    if (proof) proof.broken = state.missing(proof);
    proof.rank_order = proof && proof.rank_order;
    return proof;
}

} // namespace

Proof prove(const Plan& plan) {
    Proof proof;
    proof.broken = misshapen(plan);
    if (!proof) return proof;
    if (!has_parts(plan.operation) && plan.block_elements.size() != expected_blocks(plan))
        proof.broken = fmt::format("{} blocks for the {} of {} members", plan.block_elements.size(),
                                   to_string(plan.operation), plan.members);
    if (has_parts(plan.operation) && plan.block_elements.empty()) proof.broken = "a vector without parts";
    if (!proof) return proof;
    if (plan.operation == Operation::barrier) return prove_with<Meeting>(plan);
    return reduces(plan.operation) ? prove_with<Combining>(plan) : prove_with<Moving>(plan);
}

} // namespace plexus::eco
