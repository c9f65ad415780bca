// SPDX-License-Identifier: BSD-3-Clause
// Operations that move blocks, on members of one process, for sizes on both sides of every limit.
#include "unit/eco_host/members.h"

#include <numeric>

namespace data_movement_test {

using namespace plexus::testing;
using plexus::eco::Layout;
using plexus::eco::Operation;

namespace {

using Numbers = std::vector<std::uint32_t>;
using Counts = std::vector<std::uint64_t>;

std::uint32_t number(std::size_t from, std::size_t to, std::size_t index) {
    return static_cast<std::uint32_t>(from * 1'000'003 + to * 10'007 + index);
}

/// What `from` has for `to`, `count` of it.
Numbers block(Rank from, Rank to, std::size_t count) {
    Numbers out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = number(from, to, i);
    return out;
}
void append(Numbers& to, const Numbers& more) { to.insert(to.end(), more.begin(), more.end()); }

/// Every operation with equal parts, once. Empty: all members got what they should.
std::string all_operations(SharedArena& arena, Rank root, std::size_t count) {
    const Rank members = arena.members();
    const Rank me = arena.me();
    const auto call = [&](Operation operation, const Numbers& send, Numbers& receive) {
        plexus::eco::host::run(arena, args_of(operation, root, send, receive));
    };
    const Numbers nothing;
    Numbers none;
    call(Operation::barrier, nothing, none);

    Numbers data = me == root ? block(root, 0, count) : Numbers(count);
    plexus::eco::host::run(arena, args_of(Operation::broadcast, root, data, data));
    if (data != block(root, 0, count)) return "broadcast";

    Numbers all;
    for (Rank to = 0; to < members; ++to) append(all, block(root, to, count));
    Numbers mine(count);
    call(Operation::scatter, me == root ? all : nothing, mine);
    if (mine != block(root, me, count)) return "scatter";

    Numbers due;
    for (Rank from = 0; from < members; ++from) append(due, block(from, 0, count));
    Numbers gathered(me == root ? due.size() : 0);
    call(Operation::gather, block(me, 0, count), gathered);
    if (me == root && gathered != due) return "gather";

    gathered.assign(due.size(), 0);
    call(Operation::all_gather, block(me, 0, count), gathered);
    if (gathered != due) return "all_gather";

    Numbers out;
    due.clear();
    for (Rank other = 0; other < members; ++other) {
        append(out, block(me, other, count));
        append(due, block(other, me, count));
    }
    Numbers in(out.size());
    call(Operation::all_to_all, out, in);
    if (in != due) return "all_to_all";
    plexus::eco::host::run(arena, args_of(Operation::all_to_all, root, out, out)); // in place
    return out == due ? "" : "all_to_all in place";
}

/// The v forms: member m has m + base numbers for each other, members beyond `last` none.
std::string forms_of_any_length(SharedArena& arena, Rank root, std::size_t base) {
    const Rank members = arena.members();
    const Rank me = arena.me();
    const auto count_of = [&](Rank member) { return member == members - 1 ? 0 : base + member; };
    Counts counts;
    Counts displacements(members);
    std::uint64_t total = 0;
    for (Rank member = 0; member < members; ++member) counts.push_back(count_of(member));
    for (Rank member = members; member-- > 0; total += counts[member] + 1) displacements[member] = total;
    const Layout layout{counts, displacements}; // back to front, with gaps
    const auto placed = [&](Rank from, bool own) {
        Numbers out(total);
        for (Rank member = 0; member < members; ++member) {
            const Numbers part = own ? block(member, 0, counts[member]) : block(from, member, counts[member]);
            std::copy(part.begin(), part.end(),
                      out.begin() + static_cast<std::ptrdiff_t>(displacements[member]));
        }
        return out;
    };
    Numbers whole(me == root ? total : 0);
    const Numbers own = block(me, 0, counts[me]);
    auto args = args_of(Operation::gather, root, own, whole);
    args.varied = true;
    if (me == root) args.receive_layout = layout;
    plexus::eco::host::run(arena, args);
    if (me == root && whole != placed(0, true)) return "gather_v";

    Numbers mine(counts[me]);
    const Numbers parts = me == root ? placed(root, false) : Numbers();
    args = args_of(Operation::scatter, root, parts, mine);
    args.varied = true;
    if (me == root) args.send_layout = layout;
    plexus::eco::host::run(arena, args);
    if (mine != block(root, me, counts[me])) return "scatter_v";

    whole.assign(total, 0);
    args = args_of(Operation::all_gather, root, own, whole);
    args.varied = true;
    args.receive_layout = layout;
    plexus::eco::host::run(arena, args);
    if (whole != placed(0, true)) return "all_gather_v";

    // Everyone sends member m as much as counts[m], and gets its own count of each.
    const Counts alike(members, counts[me]);
    const Numbers out = placed(me, false);
    Numbers in(members * counts[me]);
    args = args_of(Operation::all_to_all, root, out, in);
    args.varied = true;
    args.send_layout = layout;
    args.receive_layout = {alike, {}};
    plexus::eco::host::run(arena, args);
    Numbers due;
    for (Rank from = 0; from < members; ++from) append(due, block(from, me, counts[me]));
    return in == due ? "" : "all_to_all_v";
}

} // namespace

TEST_CASE("operations that move equal parts are right for all sizes, roots, and ways through memory") {
    const Rank count = GENERATE(Rank{2}, Rank{3}, Rank{4});
    const bool crowded = GENERATE(false, true);
    const bool fetching = GENERATE(false, true);
    CAPTURE(count, crowded, fetching);
    Members members(count, crowded);
    if (fetching) members.allow_fetching();
    CHECK(members.complaints([&](SharedArena& arena) -> std::string {
        for (const std::size_t numbers : {0, 1, 12, 13, 500, 17'000, 100'000})
            for (const Rank root : {Rank{0}, arena.members() - 1})
                if (const std::string bad = all_operations(arena, root, numbers); !bad.empty())
                    return bad + " of " + std::to_string(numbers) + " from " + std::to_string(root);
        return {};
    }) == "");
}

TEST_CASE("parts of any length are right, also those without any bytes") {
    const Rank count = GENERATE(Rank{2}, Rank{3}, Rank{4});
    const bool fetching = GENERATE(false, true);
    CAPTURE(count, fetching);
    Members members(count);
    if (fetching) members.allow_fetching();
    CHECK(members.complaints([&](SharedArena& arena) -> std::string {
        for (const std::size_t base : {0, 1, 7, 3'000, 20'000, 100'000})
            for (Rank root = 0; root < arena.members(); ++root)
                if (const std::string bad = forms_of_any_length(arena, root, base); !bad.empty())
                    return bad + " of " + std::to_string(base) + " from " + std::to_string(root);
        return {};
    }) == "");
}

TEST_CASE("a part that has another length than its receiver expects is named before anything is copied") {
    Members members(3);
    const auto said = members.run([](SharedArena& arena) -> std::string {
        const Counts counts(3, 2);
        const Numbers mine(arena.me() == 2 ? 3 : 2); // the root expects two
        Numbers whole(arena.me() == 0 ? 6 : 0, 9);
        auto args = args_of(Operation::gather, 0, mine, whole);
        args.varied = true;
        if (arena.me() == 0) args.receive_layout = {counts, {}};
        try {
            plexus::eco::host::run(arena, args);
        } catch (const plexus::eco::host::LengthMismatch& found) {
            const bool untouched = whole == Numbers(6, 9);
            return "member " + std::to_string(found.member) + " sent " + std::to_string(found.sent) + " of " +
                   std::to_string(found.expected) + (untouched ? "" : ", and something was copied");
        }
        return {};
    });
    CHECK(said[0] == "member 2 sent 12 of 8");
}

} // namespace data_movement_test
