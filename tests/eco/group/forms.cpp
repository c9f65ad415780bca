// SPDX-License-Identifier: BSD-3-Clause
// The forms of a call: blocking, with futures, prepared; lengths of their own; values and archived
// objects; groups out of groups, and several of them in several threads.
#include "eco/group/party.h"

#include "plexus/eco/grid.h"

#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <numeric>

namespace forms_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

static_assert(Plain<double> && !Plain<int*> && !Plain<std::string_view> && !Plain<std::span<int>>);

TEST_CASE("a group broadcasts and meets at a barrier") {
    const std::string methods = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    const Rank members = GENERATE(1u, 2u, 3u, 5u);
    CAPTURE(methods, members);
    Party party(members, methods);
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              for (Rank root = 0; root < all.size(); ++root)
                  for (const std::size_t size : {0, 1, 7, 100'000}) {
                      std::vector<int> data(size);
                      if (all.rank() == root) std::iota(data.begin(), data.end(), static_cast<int>(root));
                      all.broadcast(std::span(data), root);
                      for (std::size_t i = 0; i < size; ++i)
                          if (data[i] != static_cast<int>(root + i))
                              return "wrong element " + std::to_string(i);
                      all.barrier();
                  }
              double sum = all.all_reduce(1.0 + all.rank(), std::plus<>{});
              if (sum != all.size() * (all.size() + 1) / 2.0) return "wrong sum";
              return {};
          })) == "");
}

TEST_CASE("elements may need more than the alignment of a message") {
    const std::string methods = GENERATE(as<std::string>{}, "local", "tcp");
    CAPTURE(methods);
    Party party(3, methods);
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              for (const std::size_t size : {1, 5, 20'000}) {
                  std::vector<long double> data(size, 0.5L + all.rank());
                  all.all_reduce(std::span(data), std::plus<>{});
                  if (data.front() != 4.5L || data.back() != 4.5L) return "wrong sum";
              }
              return {};
          })) == "");
}

TEST_CASE("several calls of one group may be under way at once") {
    const std::string methods = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(methods);
    Party party(4, methods);
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              constexpr std::size_t kCalls = 40;
              std::vector<std::vector<std::uint64_t>> data(kCalls);
              std::vector<Future<void>> open;
              for (std::size_t call = 0; call < kCalls; ++call) {
                  data[call].assign(1 + call * 37, call + all.rank());
                  open.push_back(call % 2 == 0 ? all.async().all_reduce(std::span(data[call]), std::plus<>{})
                                               : all.async().broadcast(std::span(data[call]), call % 4));
              }
              for (std::size_t back = kCalls; back-- > 0;) within(std::move(open[back]));
              for (std::size_t call = 0; call < kCalls; ++call)
                  for (const std::uint64_t each : data[call])
                      if (each != (call % 2 == 0 ? 4 * call + 6 : call + call % 4))
                          return "call " + std::to_string(call) + " is wrong";
              return {};
          })) == "");
}

TEST_CASE("calls with futures may be larger than what handlers can send at once") {
    const std::string methods = GENERATE(as<std::string>{}, "shm", "tcp");
    CAPTURE(methods);
    Party party(4, methods, {{"limits.handler_queue", "200 KiB"}});
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              std::vector<std::uint32_t> data(500'000, 1 + all.rank());
              const std::vector<std::uint32_t> mine(500'000, all.rank());
              std::vector<std::uint32_t> whole(4 * mine.size());
              for (int call = 0; call < 3; ++call) {
                  Future<void> chain = all.with(Pattern::chain).async().broadcast(std::span(data));
                  Future<void> ring =
                      all.with(Pattern::ring).async().all_gather(std::span(mine), std::span(whole));
                  within(std::move(chain));
                  within(std::move(ring));
              }
              return data.back() == 1 && whole.back() == 3 ? "" : "what came is wrong";
          })) == "");
}

TEST_CASE("a prepared call runs any number of times") {
    Party party(3, "shm");
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              std::vector<int> data(100);
              PersistentCollective sum = all.prepare().all_reduce(std::span(data), std::plus<>{});
              PersistentCollective other = std::move(sum);
              for (int run = 0; run < 50; ++run) {
                  std::fill(data.begin(), data.end(), run);
                  if (run % 2 == 0) {
                      other.run();
                  } else {
                      within(other.start());
                  }
                  if (data.front() != 3 * run || data.back() != 3 * run) return "run " + std::to_string(run);
              }
              return {};
          })) == "");
}

TEST_CASE("parts may have lengths of their own, and displacements") {
    const Rank members = GENERATE(1u, 2u, 5u, 8u);
    const std::string methods = GENERATE(as<std::string>{}, "local", "tcp");
    CAPTURE(members, methods);
    Party party(members, methods);
    CHECK(
        complaints(party.run([](const Group& all) -> std::string {
            const Rank me = all.rank();
            const Rank size = all.size();
            std::vector<std::uint64_t> counts(size);
            std::vector<std::uint64_t> displacements(size); // back to front, with gaps
            std::uint64_t total = 0;
            for (Rank member = 0; member < size; ++member) counts[member] = (member * 7 + 3) % 11;
            for (Rank member = size; member-- > 0;) {
                displacements[member] = total;
                total += counts[member] + 1;
            }
            const std::vector<std::uint32_t> mine(counts[me], me + 1);
            const auto good = [&](const std::vector<std::uint32_t>& whole) {
                for (Rank member = 0; member < size; ++member)
                    for (std::uint64_t i = 0; i < counts[member]; ++i)
                        if (whole[displacements[member] + i] != member + 1) return false;
                return true;
            };
            for (Rank root = 0; root < size; ++root) {
                std::vector<std::uint32_t> whole(me == root ? total : 0);
                const Layout layout = me == root ? Layout{counts, displacements} : Layout{};
                all.gather_v(std::span(mine), std::span(whole), layout, root);
                if (me == root && !good(whole)) return "gather_v";
                std::vector<std::uint32_t> back(counts[me]);
                all.scatter_v(std::span(whole), layout, std::span(back), root);
                if (back != mine) return "scatter_v";
            }
            for (const Algorithm& pattern : {Algorithm(), Algorithm(Pattern::bruck), Algorithm(Pattern::ring),
                                             Algorithm(Pattern::binomial), Algorithm(Pattern::pairwise)}) {
                std::vector<std::uint32_t> whole(total);
                all.with(pattern).all_gather_v(std::span(mine), std::span(whole),
                                               Layout{counts, displacements});
                if (!good(whole)) return "all_gather_v";
            }
            // Member i sends j (i + j) % 4 elements.
            std::vector<std::uint64_t> out_counts(size);
            for (Rank member = 0; member < size; ++member) out_counts[member] = (me + member) % 4;
            const auto length = std::accumulate(out_counts.begin(), out_counts.end(), std::uint64_t{0});
            std::vector<std::uint32_t> out(length, me);
            std::vector<std::uint32_t> in(length);
            all.all_to_all_v(std::span(out), Layout{out_counts, {}}, std::span(in), Layout{out_counts, {}});
            std::size_t at = 0;
            for (Rank member = 0; member < size; ++member)
                for (std::uint64_t i = 0; i < out_counts[member]; ++i)
                    if (in[at++] != member) return "all_to_all_v";
            const auto sum_of = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
            const std::vector<std::uint32_t> contribution(sum_of, me);
            std::vector<std::uint32_t> part(counts[me]);
            all.reduce_scatter_v(std::span(contribution), Layout{counts, {}}, std::span(part), std::plus<>{});
            for (const std::uint32_t each : part)
                if (each != size * (size - 1) / 2) return "reduce_scatter_v";
            return {};
        })) == "");
}

TEST_CASE("values of archived types are broadcast, gathered and scattered") {
    Party party(3, "local, tcp");
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              using Book = std::map<std::string, std::vector<int>>;
              const auto page = [](Rank rank) {
                  return Book{{std::string(rank + 1, 'x'), std::vector<int>(rank, 7)}};
              };
              Book book = all.rank() == 1 ? page(5) : Book();
              all.broadcast(book, 1);
              if (book != page(5)) return "broadcast";
              const std::vector<Book> due{page(0), page(1), page(2)};
              if (all.all_gather(page(all.rank())) != due) return "all_gather";
              if (all.gather(page(all.rank()), 2) != (all.rank() == 2 ? due : std::vector<Book>()))
                  return "gather";
              if (all.scatter(all.rank() == 0 ? due : std::vector<Book>()) != page(all.rank()))
                  return "scatter";
              return {};
          })) == "");
}

TEST_CASE("groups come out of groups; ranks are translated; messages never mix") {
    Party party(6, "local");
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              const Rank me = all.rank();
              const Group half = all.split(me % 2, -static_cast<std::int64_t>(me)); // ranks turned round
              if (half.size() != 3 || half.rank() != 2 - me / 2) return "split";
              if (half.rank_in(all, half.rank()) != me || all.rank_in(half, me) != half.rank())
                  return "rank_in";
              if (all.rank_in(half, (me + 1) % 6)) return "rank_in of another";
              if (all.split(me == 4 ? Group::kNoColour : 1) ? me == 4 : me != 4) return "no colour";
              const Group twin = all.dup();
              // Each of these groups in a thread of its own, all at once.
              std::vector<std::string> said(3);
              std::vector<std::thread> threads;
              std::size_t place = 0;
              for (const Group* group : {&all, &half, &twin})
                  threads.emplace_back([&, group, place = place++] {
                      const Rank members = group->size();
                      for (std::uint64_t call = 0; call < 200; ++call) {
                          std::vector<std::uint64_t> data(1 + call % 90, call * 10 + place);
                          group->all_reduce(std::span(data), std::plus<>{});
                          if (data.back() != members * (call * 10 + place)) said[place] = "a call went wrong";
                      }
                  });
              for (std::thread& each : threads) each.join();
              return said[0] + said[1] + said[2];
          })) == "");
}

TEST_CASE("neighbours on rings and grids exchange") {
    Party party(6, "local");
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              const auto [left, right] = all.ring().neighbours();
              const auto lefts = all.all_gather(left);
              if (lefts[right] != all.rank()) return "the ring is torn";
              const Grid torus(all, {{2, 3}, {true, false}});
              const Rank mine = all.rank();
              Rank got = 99;
              torus.shift(1, 1, std::span(&mine, 1), std::span(&got, 1));
              const auto from = torus.neighbour(1, -1);
              if (got != from.value_or(99)) return "shift";
              Rank above = 99;
              Rank below = 99;
              torus.exchange(0, std::span(&mine, 1), std::span(&mine, 1), std::span(&below, 1),
                             std::span(&above, 1));
              if (below != torus.neighbour(0, -1) || above != torus.neighbour(0, 1) || below != above)
                  return "exchange";
              return {};
          })) == "");
}

} // namespace forms_test
