// SPDX-License-Identifier: BSD-3-Clause
// Butterflies: partners whose places differ in one bit. Places are those of the largest power
// of two; of the first members, where there are more, each two share one: the even one hands
// over to the odd one before, and gets the outcome after. Neighbouring places hold
// neighbouring ranks, so that contributions stay in their order.
#include "plan/builder.h"
#include "plan/patterns.h"

#include <bit>

namespace plexus::eco {
namespace {

class Butterfly {
  public:
    Butterfly(const PlanRequest& request, bool halve)
      : request_(request)
      , places_(std::bit_floor(request.members))
      , extra_(request.members - places_)
      , out_(request, halve ? places_ : 1) {}

    /// Whole vectors to each partner.
    Plan doubled_reduce() {
        fold(out_.all(), Merge::before);
        for (Rank bit = 1; bit < places_; bit <<= 1)
            exchange(
                bit, [&](Rank) { return out_.all(); }, true);
        unfold();
        return out_.finish();
    }

    Plan halved_reduce() {
        fold(out_.all(), Merge::before);
        for (Rank bit = 1; bit < places_; bit <<= 1)
            exchange(
                bit, [&](Rank place) { return part(place ^ bit, bit << 1); }, true);
        if (request_.operation == Operation::all_reduce) {
            for (Rank bit = places_ >> 1; bit > 0; bit >>= 1)
                exchange(
                    bit, [&](Rank place) { return part(place, bit << 1); }, false);
            unfold();
        } else {
            const Rank to = place_of(request_.root);
            // Half of those who still have something give it to the half that the root is in.
            for (Rank bit = places_ >> 1; bit > 0; bit >>= 1)
                for (Rank place = 0; place < places_; ++place)
                    if ((place ^ to) < (bit << 1) && ((place ^ to) & bit) != 0)
                        out_.pass(rank(place), rank(place ^ bit), part(place, bit << 1));
            if (rank(to) != request_.root) out_.pass(rank(to), request_.root, out_.all());
        }
        return out_.finish();
    }

    /// Contributions to the other half of the places go there, until each has its own. In the
    /// order of ranks the nearest partners come first, and halves are every second block.
    Plan reduce_scatter() {
        fold(out_.all(), Merge::before);
        Rank done = 0; // bits in which all who still share blocks agree
        for (Rank round = 1; round < places_; round <<= 1) {
            const Rank bit = request_.commutative ? places_ / 2 / round : round;
            exchange(
                bit, [&](Rank place) { return of_places(place ^ bit, done | bit); }, true);
            done |= bit;
        }
        for (Rank place = 0; place < extra_; ++place) out_.pass(2 * place + 1, 2 * place, {{2 * place, 1}});
        return out_.finish();
    }

    Plan broadcast() {
        const Rank from = place_of(request_.root);
        if (rank(from) != request_.root) out_.pass(request_.root, rank(from), out_.all());
        for (Rank bit = 1; bit < places_; bit <<= 1)
            for (Rank place = 0; place < places_; ++place)
                if (((place ^ from) & ~(bit - 1)) == 0)
                    out_.pass(rank(place), rank(place ^ bit), part(place ^ bit, bit << 1));
        std::vector<std::uint32_t> posted;
        for (Rank bit = places_ >> 1; bit > 0; bit >>= 1) {
            posted.clear();
            for (Rank place = 0; place < places_; ++place)
                // The partner's own part; what went down through him before he has already.
                if (((place ^ bit) ^ from) >= bit)
                    posted.push_back(out_.post(rank(place), rank(place ^ bit), part(place, bit << 1)));
            for (const std::uint32_t message : posted) out_.take(message);
        }
        for (Rank place = 0; place < extra_; ++place)
            if (2 * place != request_.root) out_.pass(2 * place + 1, 2 * place, out_.all());
        return out_.finish();
    }

    Plan all_gather() {
        for (Rank place = 0; place < extra_; ++place) out_.pass(2 * place, 2 * place + 1, {{2 * place, 1}});
        for (Rank bit = 1; bit < places_; bit <<= 1)
            exchange(
                bit, [&](Rank place) { return members_of(place & ~(bit - 1), bit); }, false);
        for (Rank place = 0; place < extra_; ++place)
            out_.pass(2 * place + 1, 2 * place, others({{2 * place, 1}}, out_.blocks()));
        return out_.finish();
    }

    Plan barrier() {
        fold({}, Merge::store);
        for (Rank bit = 1; bit < places_; bit <<= 1)
            exchange(
                bit, [](Rank) { return Blocks{}; }, false);
        unfold();
        return out_.finish();
    }

  private:
    Rank rank(Rank place) const { return place < extra_ ? 2 * place + 1 : place + extra_; }
    Rank place_of(Rank member) const { return member < 2 * extra_ ? member / 2 : member - extra_; }

    void fold(const Blocks& blocks, Merge merge) {
        for (Rank place = 0; place < extra_; ++place) out_.pass(2 * place, 2 * place + 1, blocks, merge);
    }
    void unfold() {
        for (Rank place = 0; place < extra_; ++place) out_.pass(2 * place + 1, 2 * place, out_.all());
    }

    /// Everyone sends `blocks_of(place)` to the partner at `bit`.
    template <class Choose>
    void exchange(Rank bit, Choose&& blocks_of, bool combine) {
        std::vector<std::uint32_t> posted(places_);
        for (Rank place = 0; place < places_; ++place) {
            const Merge merge = !combine ? Merge::store : (place & bit) == 0 ? Merge::before : Merge::after;
            posted[place] = out_.post(rank(place), rank(place ^ bit), blocks_of(place), merge);
        }
        for (const std::uint32_t message : posted) out_.take(message);
    }

    /// The blocks of all members that the places from `place` on have.
    Blocks members_of(Rank place, Rank places) const {
        const auto first = [&](Rank at) { return at < extra_ ? 2 * at : at + extra_; };
        return {{first(place), first(place + places) - first(place)}};
    }

    /// The blocks of all members whose places agree with `place` in these bits.
    Blocks of_places(Rank place, Rank bits) const {
        std::vector<std::uint32_t> blocks;
        for (Rank each = 0; each < places_; ++each) {
            if (((each ^ place) & bits) != 0) continue;
            blocks.push_back(rank(each));
            if (each < extra_) blocks.push_back(2 * each);
        }
        return blocks_in(std::move(blocks));
    }

    /// What is left to `place` when the vector was halved at all bits below `bits`, the lowest
    /// first: who has the bit keeps the upper half.
    Blocks part(Rank place, Rank bits) const {
        std::uint32_t first = 0;
        std::uint32_t count = places_;
        for (Rank bit = 1; bit < bits; bit <<= 1) {
            count /= 2;
            if ((place & bit) != 0) first += count;
        }
        return {{first, count}};
    }

    const PlanRequest& request_;
    const Rank places_;
    const Rank extra_;
    Builder out_;
};

} // namespace

Plan plan_butterfly(const PlanRequest& request, bool halve) {
    switch (request.operation) {
    case Operation::broadcast:
        return Butterfly(request, true).broadcast();
    case Operation::all_gather:
        return Butterfly(request, true).all_gather();
    case Operation::reduce_scatter:
        return Butterfly(request, true).reduce_scatter();
    case Operation::barrier:
        return Butterfly(request, true).barrier();
    case Operation::all_reduce:
        if (!halve) return Butterfly(request, false).doubled_reduce();
        [[fallthrough]];
    default:
        return Butterfly(request, true).halved_reduce();
    }
}

} // namespace plexus::eco
