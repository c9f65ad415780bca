// SPDX-License-Identifier: BSD-3-Clause
// Operations that combine, with a function whose order counts: contributions are combined in the order of
// ranks, from the left.
#include "unit/eco_host/members.h"

namespace reductions_test {

using namespace plexus::testing;
using plexus::eco::Operation;

namespace {

/// x -> a x + b over the numbers modulo 2^32. Composing two of them does not commute.
struct Affine {
    std::uint32_t a = 1;
    std::uint32_t b = 0;
    bool operator==(const Affine&) const = default;
};
struct Compose {
    Affine operator()(const Affine& first, const Affine& then) const {
        return {then.a * first.a, then.a * first.b + then.b};
    }
};
using Values = std::vector<Affine>;

Values of_member(Rank member, std::size_t count) {
    Values out(count);
    for (std::size_t i = 0; i < count; ++i)
        out[i] = {2 * member + 3, static_cast<std::uint32_t>(member * 977 + i)};
    return out;
}

/// What members 0 … `end` - 1 come to.
Values combined(Rank end, std::size_t count) {
    Values out = of_member(0, count);
    for (Rank member = 1; member < end; ++member) {
        const Values more = of_member(member, count);
        for (std::size_t i = 0; i < count; ++i) out[i] = Compose()(out[i], more[i]);
    }
    return out;
}

Values part_of(const Values& all, Rank member, std::size_t each) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(member * each);
    return {begin, begin + static_cast<std::ptrdiff_t>(each)};
}

std::string all_operations(SharedArena& arena, Rank root, std::size_t count) {
    const Rank me = arena.me();
    const Rank members = arena.members();
    const Values mine = of_member(me, count);
    const Values due = combined(members, count);
    const auto call = [&](Operation operation, const Values& send, Values& receive) {
        plexus::eco::host::run(arena, args_of(operation, root, send, receive,
                                              plexus::eco::detail::combine_by<Affine>(Compose())));
    };
    Values sum(me == root ? count : 0);
    call(Operation::reduce, mine, sum);
    if (me == root && sum != due) return "reduce";

    sum.assign(count, {});
    call(Operation::all_reduce, mine, sum);
    if (sum != due) return "all_reduce";
    sum = mine;
    call(Operation::all_reduce, sum, sum);
    if (sum != due) return "all_reduce in place";

    Values part(count);
    call(Operation::reduce_scatter, of_member(me, count * members), part);
    if (part != part_of(combined(members, count * members), me, count)) return "reduce_scatter";

    sum.assign(count, {});
    call(Operation::scan, mine, sum);
    if (sum != combined(me + 1, count)) return "scan";
    sum = mine;
    call(Operation::scan, sum, sum);
    if (sum != combined(me + 1, count)) return "scan in place";

    const Values before(count, {8, 9});
    sum = before;
    call(Operation::exclusive_scan, mine, sum);
    return sum == (me == 0 ? before : combined(me, count)) ? "" : "exclusive_scan";
}

} // namespace

TEST_CASE("contributions are combined in the order of ranks, for all sizes and roots") {
    const Rank count = GENERATE(Rank{2}, Rank{3}, Rank{4}, Rank{7});
    const bool crowded = GENERATE(false, true);
    CAPTURE(count, crowded);
    Members members(count, crowded);
    CHECK(members.complaints([&](SharedArena& arena) -> std::string {
        for (const std::size_t values : {0, 1, 6, 7, 300, 1'500, 20'000})
            for (const Rank root : {Rank{0}, arena.members() - 1})
                if (const std::string bad = all_operations(arena, root, values); !bad.empty())
                    return bad + " of " + std::to_string(values) + " to " + std::to_string(root);
        return {};
    }) == "");
}

TEST_CASE(
    "elements of which one of each member fills a slot can be combined, larger ones are refused before") {
    struct Large {
        std::array<std::uint32_t, 8192> numbers; // two of them fill a slot
    };
    Members members(2);
    const std::vector<Large> some(3);
    std::vector<Large> sums(3);
    const auto args = args_of(Operation::all_reduce, 0, some, sums);
    CHECK(plexus::eco::host::supports(args, 2));
    CHECK_FALSE(plexus::eco::host::supports(args, 3));
    CHECK(members.complaints([](SharedArena& arena) -> std::string {
        const auto add = [](const Large& one, const Large& other) {
            Large out = one;
            for (std::size_t i = 0; i < out.numbers.size(); ++i) out.numbers[i] += other.numbers[i];
            return out;
        };
        std::vector<Large> mine(3);
        for (std::size_t i = 0; i < mine.size(); ++i)
            mine[i].numbers.fill(static_cast<std::uint32_t>(i + arena.me()));
        std::vector<Large> sum(3);
        plexus::eco::host::run(
            arena, args_of(Operation::all_reduce, 0, mine, sum, plexus::eco::detail::combine_by<Large>(add)));
        for (std::size_t i = 0; i < sum.size(); ++i)
            if (sum[i].numbers.front() != 2 * i + 1 || sum[i].numbers.back() != 2 * i + 1)
                return "it is wrong";
        return {};
    }) == "");
}

} // namespace reductions_test
