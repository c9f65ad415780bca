// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/paper.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace plexus::tools::schedule {
namespace {

// Order of cells: OAB, AAB, OAS, AAS.
constexpr PaperRow kTable1[] = {
    {"omega-8", {{{"3", 100, "<1s"}, {"7", 100, "<1s"}, {"7", 100, "<1s"}, {"7", 100, "<1s"}}}},
    {"omega-16", {{{"4", 100, "8s"}, {"16/15", 50, "23s"}, {"15", 100, "<1s"}, {"16/15", 100, "4m6s"}}}},
    {"butterfly-8", {{{"3", 100, "<1s"}, {"7", 100, "<1s"}, {"7", 100, "<1s"}, {"7", 100, "8s"}}}},
    {"butterfly-16", {{{"4", 100, "7s"}, {"16/15", 50, "16s"}, {"15", 100, "<1s"}, {"16/15", 80, "23m18s"}}}},
    {"clos-12", {{{"4", 100, "3s"}, {"12/11", 100, "7s"}, {"11", 100, "<1s"}, {"12/11", 100, "16m53s"}}}},
    {"clos-16", {{{"4", 100, "8s"}, {"16/15", 80, "2m6s"}, {"15", 100, "<1s"}, {"16/15", 40, "1h27s"}}}},
};

constexpr PaperRow kTable3[] = {
    {"btree-4", {{{"2", 100, "<1s"}, {"3", 100, "<1s"}, {"3", 100, "<1s"}, {"4", 100, "<1s"}}}},
    {"btree-8", {{{"3", 100, "<1s"}, {"8", 100, "32s"}, {"7", 100, "<1s"}, {"16", 100, "6s"}}}},
    {"btree-16", {{{"4", 100, "4s"}, {"20*", 50, "6m13s"}, {"15", 100, "<1s"}, {"64", 100, "26s"}}}},
    {"btree-32", {{{"5", 100, "25s"}, {"64*", 10, "35m14s"}, {"31", 100, "<1s"}, {"256", 90, "9m32s"}}}},
    {"ftree-4", {{{"2", 100, "<1s"}, {"3", 100, "<1s"}, {"3", 100, "<1s"}, {"3", 100, "<1s"}}}},
    {"ftree-8", {{{"3", 100, "<1s"}, {"7", 100, "8m41s"}, {"7", 100, "<1s"}, {"7", 80, "12s"}}}},
    {"ftree-16", {{{"4", 100, "5s"}, {"15", 100, "11m1s"}, {"15", 100, "<1s"}, {"15", 70, "6m16s"}}}},
    {"ftree-32", {{{"5", 100, "18s"}, {"31", 100, "52h4m"}, {"31", 100, "<1s"}, {"32*", 30, "31m21s"}}}},
    {"fbtree-7", {{{"3/2/2", 100, "<1s"}, {"7", 100, "<1s"}, {"6/4/3", 100, "<1s"}, {"12", 100, "1s"}}}},
    {"fbtree-15",
     {{{"3/3/3/3", 100, "7s"}, {"15", 90, "13m4s"}, {"14/12/8/7", 100, "<1s"}, {"56", 100, "1h24m"}}}},
    {"fbtree-31",
     {{{"4/4/4/4/4", 100, "38s"},
       {"31", 80, "2h11m"},
       {"30/28/24/16/15", 100, "<1s"},
       {"240", 100, "23h43s"}}}},
    {"fbtree-63",
     {{{"5/5/5/5/5/5", 100, "1m2s"},
       {"64", 20, "13h42s"},
       {"62/60/56/50/48/32", 100, "<1s"},
       {"992", 50, "6d8h"}}}},
};

bool is_by_level(const PaperRow& row, eco::CollectiveKind kind) {
    return row.network.starts_with("fbtree") &&
           (kind == eco::CollectiveKind::oab || kind == eco::CollectiveKind::oas);
}

} // namespace

std::span<const PaperRow> paper_rows(int table) {
    if (table == 1) return kTable1;
    if (table == 3) return kTable3;
    throw std::out_of_range("the paper has no such table");
}

std::vector<std::uint32_t> paper_roots(const PaperRow& row, eco::CollectiveKind kind) {
    if (!is_by_level(row, kind)) return {0};
    std::vector<std::uint32_t> out; // the first vertex of each level, which are numbered from the root down
    const std::string_view text = row.cell(kind).rounds;
    for (auto level = static_cast<std::uint32_t>(1 + std::count(text.begin(), text.end(), '/')); level > 0;
         --level)
        out.push_back((std::uint32_t{1} << (level - 1)) - 1);
    return out;
}

std::vector<std::uint32_t> paper_rounds(const PaperRow& row, eco::CollectiveKind kind) {
    std::vector<std::uint32_t> out;
    std::string_view rest = row.cell(kind).rounds;
    do {
        std::uint32_t rounds = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), rounds);
        out.push_back(rounds);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
    } while (is_by_level(row, kind) && !rest.empty());
    return out;
}

} // namespace plexus::tools::schedule
