// SPDX-License-Identifier: BSD-3-Clause
// Every operation by every pattern that suits it, over each method, against a sequential
// reference: random sizes, all roots, in place and not, orders that count and that do not.
#include "eco/group/party.h"
#include "eco/topology/networks.h"
#include "support/arguments.h"

#include <filesystem>
#include <numeric>

namespace operations_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

namespace {

/// What member m contributes at place i of draw d: the same on every member's word.
std::int64_t value(int draw, Rank member, std::size_t i) {
    return static_cast<std::int64_t>((member + 1) * 1'000'003ull * (i + 1) +
                                     static_cast<std::uint64_t>(draw) * 77) %
           9973;
}

/// An affine map: composition is associative and does not commute.
struct Affine {
    std::uint32_t scale;
    std::uint32_t offset;
    bool operator==(const Affine&) const = default;
};
struct Compose {
    Affine operator()(const Affine& a, const Affine& b) const {
        return {a.scale * b.scale, a.offset * b.scale + b.offset};
    }
};
Affine affine(int draw, Rank member, std::size_t i) {
    const auto seed = static_cast<std::uint32_t>(value(draw, member, i));
    return {2 * seed + 1, seed ^ 0x5bd1u};
}

template <class T, class Make>
std::vector<T> filled(std::size_t size, Make make) {
    std::vector<T> out(size);
    for (std::size_t i = 0; i < size; ++i) out[i] = make(i);
    return out;
}

/// Contributions of members [first, end) to place i, combined in their order.
template <class T, class Make, class Op>
T folded(Rank first, Rank end, std::size_t i, Make make, Op op) {
    T sum = make(first, i);
    for (Rank member = first + 1; member < end; ++member) sum = op(sum, make(member, i));
    return sum;
}

constexpr Operation kCombining[] = {Operation::reduce, Operation::all_reduce, Operation::reduce_scatter,
                                    Operation::scan, Operation::exclusive_scan};

/// All operations that move and combine `T`, once; what went wrong.
template <class T, class Make, class Op>
std::string round_of(const Group& all, int draw, Rank root, std::size_t n, Make make, Op op,
                     Operation operation) {
    const Rank me = all.rank();
    const Rank members = all.size();
    const auto mine = filled<T>(n, [&](std::size_t i) { return make(me, i); });
    const auto whole = [&](Rank member) {
        return filled<T>(n, [&](std::size_t i) { return make(member, i); });
    };
    const auto whole_of_all = [&] {
        std::vector<T> out;
        for (Rank member = 0; member < members; ++member) {
            const auto part = whole(member);
            out.insert(out.end(), part.begin(), part.end());
        }
        return out;
    };
    const auto wrong = [&](const char* what) {
        return std::string(what) + " is wrong for " + std::to_string(n) + " elements, root " +
               std::to_string(root) + ", draw " + std::to_string(draw);
    };
    const auto reference = [&](Rank first, Rank end) {
        return filled<T>(n, [&](std::size_t i) { return folded<T>(first, end, i, make, op); });
    };
    switch (operation) {
    case Operation::broadcast: {
        auto data = me == root ? mine : std::vector<T>(n);
        all.broadcast(std::span(data), root);
        if (data != whole(root)) return wrong("broadcast");
        break;
    }
    case Operation::scatter: {
        auto from = me == root ? whole_of_all() : std::vector<T>();
        std::vector<T> got(n);
        all.scatter(std::span(from), std::span(got), root);
        if (got != mine) return wrong("scatter");
        if (me == root) {
            all.scatter(std::span(from), std::span(from).subspan(me * n, n), root);
            if (from != whole_of_all()) return wrong("scatter in place");
        } else {
            all.scatter(std::span<const T>(), std::span(got), root);
            if (got != mine) return wrong("scatter in place");
        }
        break;
    }
    case Operation::gather: {
        std::vector<T> got(me == root ? n * members : 0);
        all.gather(std::span(mine), std::span(got), root);
        if (me == root && got != whole_of_all()) return wrong("gather");
        const auto own = me == root ? std::span(got).subspan(me * n, n) : std::span(got);
        std::fill(got.begin(), got.end(), T{});
        std::copy_n(mine.begin(), own.size(), own.begin());
        all.gather(me == root ? std::span<const T>(own) : std::span<const T>(mine), std::span(got), root);
        if (me == root && got != whole_of_all()) return wrong("gather in place");
        break;
    }
    case Operation::all_gather: {
        std::vector<T> got(n * members);
        all.all_gather(std::span(mine), std::span(got));
        if (got != whole_of_all()) return wrong("all_gather");
        std::fill(got.begin(), got.end(), T{});
        std::copy(mine.begin(), mine.end(), got.begin() + static_cast<std::ptrdiff_t>(me * n));
        all.all_gather(std::span(got));
        if (got != whole_of_all()) return wrong("all_gather in place");
        break;
    }
    case Operation::all_to_all: {
        const auto cell = [&](Rank from, Rank to, std::size_t i) { return make(from * 31 + to, i); };
        auto out =
            filled<T>(n * members, [&](std::size_t i) { return cell(me, static_cast<Rank>(i / n), i % n); });
        const auto due =
            filled<T>(n * members, [&](std::size_t i) { return cell(static_cast<Rank>(i / n), me, i % n); });
        std::vector<T> in(n * members);
        all.all_to_all(std::span(out), std::span(in));
        if (in != due) return wrong("all_to_all");
        all.all_to_all(std::span(out));
        if (out != due) return wrong("all_to_all in place");
        break;
    }
    case Operation::reduce: {
        std::vector<T> got(me == root ? n : 0);
        all.reduce(std::span(mine), std::span(got), op, root);
        if (me == root && got != reference(0, members)) return wrong("reduce");
        auto data = mine;
        all.reduce(std::span(data), op, root);
        if (data != (me == root ? reference(0, members) : mine)) return wrong("reduce in place");
        break;
    }
    case Operation::all_reduce: {
        std::vector<T> got(n);
        all.all_reduce(std::span(mine), std::span(got), op);
        if (got != reference(0, members)) return wrong("all_reduce");
        auto data = mine;
        all.all_reduce(std::span(data), op);
        if (data != got) return wrong("all_reduce in place");
        break;
    }
    case Operation::reduce_scatter: {
        const auto cell = [&](Rank from, std::size_t i) { return make(from, i); };
        const auto from = filled<T>(n * members, [&](std::size_t i) { return cell(me, i); });
        std::vector<T> got(n);
        all.reduce_scatter(std::span(from), std::span(got), op);
        if (got != filled<T>(n, [&](std::size_t i) { return folded<T>(0, members, me * n + i, cell, op); }))
            return wrong("reduce_scatter");
        break;
    }
    case Operation::scan: {
        auto data = mine;
        std::vector<T> got(n);
        all.scan(std::span(mine), std::span(got), op);
        all.scan(std::span(data), op);
        if (got != reference(0, me + 1) || data != got) return wrong("scan");
        break;
    }
    case Operation::exclusive_scan: {
        auto data = mine;
        all.exclusive_scan(std::span(data), op);
        if (data != (me == 0 ? mine : reference(0, me))) return wrong("exclusive_scan");
        break;
    }
    case Operation::barrier:
        all.barrier();
        break;
    }
    return {};
}

std::string rounds(const Group& all, const Group& group, Operation operation, int draws, std::size_t largest,
                   std::uint64_t seed) {
    Random random(seed);
    for (int draw = 0; draw < draws; ++draw) {
        const auto root = static_cast<Rank>(random() % all.size());
        const std::size_t n = draw == 0 ? 0 : draw == 1 ? 1 : random() % largest;
        const auto numbers = [&](Rank member, std::size_t i) { return value(draw, member, i); };
        std::string bad = round_of<std::int64_t>(group, draw, root, n, numbers, std::plus<>{}, operation);
        if (!bad.empty()) return bad;
        const auto bytes = [&](Rank member, std::size_t i) {
            return static_cast<std::uint8_t>(value(draw, member, i));
        };
        bad = round_of<std::uint8_t>(group, draw, root, n, bytes, Max{}, operation);
        if (!bad.empty()) return bad;
    }
    return {};
}

} // namespace

TEST_CASE("every operation by every pattern gives what the sequential reference gives") {
    const std::string methods = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    const Rank members = GENERATE(1u, 2u, 3u, 4u, 7u, 9u);
    CAPTURE(methods, members);
    Party party(members, methods);
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              for (const Operation operation : kOperations)
                  for (const Pattern pattern : kPatterns) {
                      if (!supports(pattern, operation)) continue;
                      for (const std::uint64_t halve_from : {std::uint64_t{0}, UINT64_MAX}) {
                          if (pattern != Pattern::butterfly && halve_from == 0) continue;
                          const Group group = all.with(AlgorithmOptions{pattern, 3, 64, halve_from});
                          std::string bad =
                              rounds(all, group, operation, 4, 300, static_cast<std::uint64_t>(pattern));
                          if (!bad.empty())
                              return std::string(to_string(pattern)) + " " +
                                     std::string(to_string(operation)) + ": " + bad;
                      }
                  }
              return {};
          })) == "");
}

TEST_CASE("every operation by the pattern that a group takes by itself, sizes from nothing to large") {
    const std::string methods = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    const Rank members = GENERATE(2u, 5u);
    CAPTURE(methods, members);
    Party party(members, methods);
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              for (const Operation operation : kOperations)
                  if (std::string bad = rounds(all, all, operation, 6, kSanitized ? 15'000 : 60'000, 7);
                      !bad.empty())
                      return bad;
              return {};
          })) == "");
}

TEST_CASE("every operation through shared memory, sizes from nothing to large") {
    const std::string methods = GENERATE(as<std::string>{}, "local", "shm");
    const Rank members = GENERATE(2u, 3u, 8u);
    CAPTURE(methods, members);
    Party party(members, methods);
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              const Group group = all.with(Algorithm::memory());
              for (const std::size_t largest : {9, 3000, kSanitized ? 12'000 : 60'000}) {
                  for (const Operation operation : kOperations)
                      if (std::string bad = rounds(all, group, operation, 5, largest, largest); !bad.empty())
                          return bad;
                  const auto make = [&](Rank member, std::size_t i) { return affine(1, member, i); };
                  for (const Operation operation : kCombining)
                      for (Rank root = 0; root < all.size(); ++root)
                          if (std::string bad =
                                  round_of<Affine>(group, 1, root, largest, make, Compose{}, operation);
                              !bad.empty())
                              return bad;
              }
              return {};
          })) == "");
}

TEST_CASE("every operation where members of several hosts share memory on each, of all sizes") {
    const std::string_view hosts = GENERATE("aab", "abab", "aaabbbbc", "cbbaaab");
    const std::string methods = GENERATE(as<std::string>{}, "local", "shm");
    CAPTURE(hosts, methods);
    Party party(static_cast<Rank>(hosts.size()), methods);
    CHECK(complaints(party.run_with(on_hosts(hosts), [](const Group& all) -> std::string {
              for (const Operation operation : kOperations)
                  if (std::string bad = rounds(all, all, operation, 4, 3000, 5); !bad.empty()) return bad;
              // Those that do something there, from and to everyone; and one whose order counts.
              const auto numbers = [&](Rank member, std::size_t i) { return value(1, member, i); };
              const auto make = [&](Rank member, std::size_t i) { return affine(1, member, i); };
              for (const std::size_t elements : {1, 3000, 32'768, 32'769})
                  for (Rank root = 0; root < all.size(); root += kSanitized ? 3 : 1)
                      for (const Operation operation :
                           {Operation::broadcast, Operation::reduce, Operation::all_reduce}) {
                          std::string bad = round_of<std::int64_t>(all, 1, root, elements, numbers,
                                                                   std::plus<>{}, operation);
                          bad += round_of<Affine>(all, 1, root, elements % 3001, make, Compose{}, operation);
                          if (!bad.empty()) return bad;
                      }
              return {};
          })) == "");
}

// In a run of its own: it needs the module that breaks links.
TEST_CASE("every operation over links that break, stall and refuse", "[.faults]") {
    const std::string plan = GENERATE(as<std::string>{}, "faults?drop_link_every=60&seed=3",
                                      "faults?again_every=3&seed=4", "faults?delay=1 ms&withhold=2");
    CAPTURE(plan);
    Values more{{"progress.close_timeout", "500 ms"}};
    more["module_path"] = std::filesystem::path(arguments().objects.at("faults")).parent_path().string();
    const auto broken = expect_warning(""); // what the plan does is in the log
    Party party(4, plan, more);
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              for (const Operation operation : kOperations)
                  if (std::string bad = rounds(all, all, operation, 4, 20'000, 7); !bad.empty()) return bad;
              all.barrier();
              return {};
          })) == "");
}

TEST_CASE("an operation that does not commute is carried out in the order of ranks") {
    const Rank members = GENERATE(1u, 2u, 5u, 8u);
    Party party(members, "local");
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              for (const Operation operation : kCombining)
                  for (const Pattern pattern : kPatterns) {
                      if (!supports(pattern, operation) || pattern == Pattern::ring) continue;
                      for (Rank root = 0; root < all.size(); ++root) {
                          const auto make = [&](Rank member, std::size_t i) { return affine(1, member, i); };
                          const Group group =
                              all.with(AlgorithmOptions{pattern, 3, 64, root % 2 == 0 ? 0 : UINT64_MAX});
                          std::string bad = round_of<Affine>(group, 1, root, 19, make, Compose{}, operation);
                          if (!bad.empty()) return std::string(to_string(pattern)) + ": " + bad;
                      }
                  }
              return {};
          })) == "");
}

} // namespace operations_test
